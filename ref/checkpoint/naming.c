/* SPDX-License-Identifier: MIT */
#include "naming.h"

#include <stdio.h>
#include <string.h>

#define PACKED(name) { name ".weight", NULL, NULL }, { name ".bias", NULL, NULL }
#define PACKED_3(name, q, k, v) { name ".weight", NULL, NULL }, { q, k, v }
#define THREE(q, k, v) { q ".weight", k ".weight", v ".weight" }, { q ".bias", k ".bias", v ".bias" }
#define OUT(name) name ".weight", name ".bias"

#define G NAMED_GROUPED
#define X NAMED_CROSS

/* HF: a class of Hugging Face transformers, checked with version 5.24.0 by tests/transformers/classes.py. */
const struct naming namings[] = {
    { { "in_proj_weight", NULL, NULL }, { "in_proj_bias", NULL, NULL }, OUT("out_proj"), "", "qkv", NULL, NULL, 0,
      "torch.nn.MultiheadAttention" },
    { { "q_proj_weight", "k_proj_weight", "v_proj_weight" }, { "in_proj_bias", NULL, NULL }, OUT("out_proj"), "", "qkv", NULL, NULL, X,
      "torch.nn.MultiheadAttention with kdim or vdim" },
    { PACKED("qkv"), OUT("proj"), "timm", "qkv", NULL, NULL, 0, "timm Attention, DINO, Swin" },
    { PACKED_3("qkv", "q_bias", "k_bias", "v_bias"), OUT("proj"), "BEiT", "qkv", NULL, NULL, 0, "unilm BEiT, timm Beit and EVA" },
    { PACKED("query_key_value"), OUT("dense"), "GPT-NeoX, BLOOM, Megatron", "qkv,head", NULL, NULL, 0,
      "HF GPTNeoXAttention, BloomAttention; Megatron-LM" },
    { PACKED("query_key_value"), OUT("dense"), "Falcon", "qkv,head", "qkv", "ChatGLM", G, "HF FalconAttention; ChatGLM2 SelfAttention" },
    { PACKED("linear_qkv"), OUT("linear_proj"), "Megatron-Core", "qkv,head", NULL, NULL, G, "Megatron-Core SelfAttention" },
    { PACKED("c_attn"), OUT("c_proj"), "GPT-2", "qkv,columns", "qkv,head", "GPT-BigCode without multi_query", G,
      "HF GPT2Attention, GPTBigCodeAttention; nanoGPT; Qwen" },
    { PACKED("Wqkv"), OUT("out_proj"), "flash-attn", "qkv", NULL, NULL, G, "flash-attn MHA; HF MptAttention, DbrxAttention" },
    { PACKED("Wqkv"), OUT("Wo"), "ModernBERT", "qkv", NULL, NULL, 0, "HF ModernBertAttention" },
    { PACKED("qkv_proj"), OUT("o_proj"), "Phi-3", "qkv", NULL, NULL, G, "HF Phi3Attention; vLLM" },
    { PACKED("qkv_proj"), OUT("out_proj"), "CodeGen", "qvk,shards=4", "qkv", "another program's whole rows", G, "HF CodeGenAttention" },
    { PACKED("wqkv"), OUT("wo"), "InternLM2", "qkv,head", "qkv", "gpt-fast", G, "InternLM2Attention; gpt-fast Attention" },
    { PACKED("to_qkv"), OUT("to_out.0"), "vit-pytorch", "qkv", NULL, NULL, 0, "vit-pytorch Attention" },
    { PACKED("to_qkv"), OUT("to_out"), "vit-pytorch", "qkv", NULL, NULL, 0, "vit-pytorch Attention" },
    { PACKED("W_pack"), OUT("o_proj"), "Baichuan", "qkv", NULL, NULL, 0, "Baichuan Attention" },
    { PACKED_3("self.in_proj", "self.q_bias", "self.k_bias", "self.v_bias"), OUT("output.dense"), "DeBERTa", "qkv,head", NULL, NULL, 0,
      "HF DebertaModel DisentangledSelfAttention" },
    { THREE("q_proj", "k_proj", "v_proj"), OUT("out_proj"), "fairseq", "qkv", NULL, NULL, G | X,
      "fairseq MultiheadAttention; HF BartAttention, OPTAttention, CLIPAttention, Wav2Vec2Attention, WhisperAttention, GPTJAttention, GPTNeoAttention" },
    { THREE("q_proj", "k_proj", "v_proj"), OUT("o_proj"), "Llama", "qkv", NULL, NULL, G,
      "HF LlamaAttention, MistralAttention, Qwen2Attention, Qwen3Attention, GemmaAttention, Olmo2Attention, Starcoder2Attention" },
    { THREE("q_proj", "k_proj", "v_proj"), OUT("dense"), "Phi", "qkv", NULL, NULL, G, "HF PhiAttention" },
    { THREE("q_proj", "k_proj", "v_proj"), OUT("output_proj"), "torchtune", "qkv", NULL, NULL, G, "torchtune MultiHeadAttention; CS336 assignment 1" },
    { THREE("self.query", "self.key", "self.value"), OUT("output.dense"), "BERT", "qkv", NULL, NULL, X,
      "HF BertAttention, RobertaAttention, ElectraAttention, SwinAttention; TensorFlow BERT" },
    { THREE("self.query_proj", "self.key_proj", "self.value_proj"), OUT("output.dense"), "DeBERTa-v2", "qkv", NULL, NULL, 0, "HF DebertaV2Attention" },
    { THREE("attention.query", "attention.key", "attention.value"), OUT("output.dense"), "ViT", "qkv", NULL, NULL, 0,
      "HF ViTAttention, BeitAttention, Dinov2Attention" },
    { THREE("query", "key", "value"), OUT("dense"), "ALBERT", "qkv", NULL, NULL, 0, "HF AlbertAttention" },
    { THREE("query", "key", "value"), OUT("out"), "Flax, Whisper", "qkv", NULL, NULL, X,
      "flax.linen.MultiHeadDotProductAttention, Google ViT; OpenAI Whisper MultiHeadAttention" },
    { THREE("query", "key", "value"), OUT("attention_output"), "Keras", "qkv", NULL, NULL, X, "keras.layers.MultiHeadAttention" },
    { THREE("query_dense", "key_dense", "value_dense"), OUT("output_dense"), "Keras", "qkv", NULL, NULL, G | X,
      "keras.layers.GroupQueryAttention, KerasHub" },
    { THREE("q_lin", "k_lin", "v_lin"), OUT("out_lin"), "DistilBERT, XLM", "qkv", NULL, NULL, 0, "HF DistilBertSelfAttention, XLM MultiHeadAttention" },
    { THREE("q", "k", "v"), OUT("o"), "T5, MPNet", "qkv", NULL, NULL, 0, "HF T5Attention, MPNetSelfAttention" },
    { { "q", "k", "v" }, { NULL, NULL, NULL }, "o", NULL, "XLNet", "qkv,blocks", NULL, NULL, NAMED_3D, "HF XLNetRelativeAttention" },
    { THREE("wq", "wk", "wv"), OUT("wo"), "Llama (Meta)", "qkv", NULL, NULL, G, "Meta Llama Attention, Mistral, MLX" },
    { THREE("to_q", "to_k", "to_v"), OUT("to_out.0"), "diffusers", "qkv", NULL, NULL, X, "diffusers Attention" },
    { THREE("to_q", "to_k", "to_v"), OUT("to_out"), "x-transformers", "qkv", NULL, NULL, G | X, "x-transformers Attention" },
    { THREE("linear_q", "linear_k", "linear_v"), OUT("linear_out"), "ESPnet", "qkv", NULL, NULL, 0, "ESPnet MultiHeadedAttention" },
    { THREE("linear_query", "linear_keys", "linear_values"), OUT("final_linear"), "OpenNMT", "qkv", NULL, NULL, G, "OpenNMT-py MultiHeadedAttention" },
    { THREE("w_qs", "w_ks", "w_vs"), OUT("fc"), "attention-is-all-you-need-pytorch", "qkv", NULL, NULL, 0, "jadore801120 MultiHeadAttention" },
    { THREE("linears.0", "linears.1", "linears.2"), OUT("linears.3"), "The Annotated Transformer", "qkv", NULL, NULL, 0, "MultiHeadedAttention" },
    { THREE("W_q", "W_k", "W_v"), OUT("W_o"), "d2l", "qkv", NULL, NULL, X, "d2l.torch MultiHeadAttention" },
    { THREE("attn_q", "attn_k", "attn_v"), OUT("attn_output"), "GGUF", "qkv", NULL, NULL, G, "llama.cpp, after conversion to .npz" },
};
#undef G
#undef X
const size_t naming_count = sizeof namings / sizeof *namings;

const struct spelling spellings[SPELLINGS] = {
    { '.', "weight", 0 }, { '/', "weight", 0 }, { '.', "kernel", 1 }, { '/', "kernel", 1 }, { '.', "kernel:0", 1 }, { '/', "kernel:0", 1 },
};

const char *naming_spell(char key[NAMING_KEY], const char *name, const struct spelling *s)
{
    size_t n = name ? strlen(name) : NAMING_KEY, tail = strlen("weight");

    if (n + 8 >= NAMING_KEY)
        return NULL;
    memcpy(key, name, n + 1);
    for (char *c = key; *c; c++)
        if (*c == '.')
            *c = s->separator;
    if (n > tail && key[n - tail - 1] == s->separator && !strcmp(name + n - tail, "weight"))
        snprintf(key + n - tail, NAMING_KEY - (n - tail), "%s", s->weight);
    else if (strchr(s->weight, ':') && n > 4 && !strcmp(name + n - 4, "bias"))
        snprintf(key + n, NAMING_KEY - n, ":0");
    return key;
}

long naming_prefix(const char *key, const char *part)
{
    size_t n = strlen(key), m = strlen(part);

    if (m > n || strcmp(key + n - m, part) || (n > m && key[n - m - 1] != '.' && key[n - m - 1] != '/'))
        return -1;
    return (long)(n - m);
}

const char *naming_model_layout(const char *model_type, int multi_query)
{
    static const struct { const char *model_type, *layout; } models[] = {
        { "codegen", "qvk,shards=4" }, { "internlm2", "qkv,head" }, { "falcon", "qkv,head" }, { "chatglm", "qkv" }, { "RefinedWeb", "qkv,head" },
    };

    if (!strcmp(model_type, "gpt_bigcode"))
        return multi_query ? "qkv" : "qkv,head";
    for (size_t k = 0; k < sizeof models / sizeof *models; k++)
        if (!strcmp(model_type, models[k].model_type))
            return models[k].layout;
    return NULL;
}
