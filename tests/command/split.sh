# SPDX-License-Identifier: MIT
# split: attention layers of a checkpoint, and their q, k and v.
. "$(dirname "$0")/helper.sh"

checkpoints=$VECTORS/../tests/checkpoints
cp "$checkpoints"/*.pt "$checkpoints"/*.safetensors "$checkpoints"/encoder.npz .
tab=$(printf '\t')
layer=transformer_encoder.layers.0.self_attn

# ---- the list ----

for file in lm.pt lm_1.13.pt legacy.pt lm.safetensors; do
    expect 0 split $file
    same "$(cat out)" "transformer_encoder.layers.0.self_attn${tab}E=24${tab}packed (72, 24)${tab}bias${tab}float32${tab}2400
transformer_encoder.layers.1.self_attn${tab}E=24${tab}packed (72, 24)${tab}bias${tab}float32${tab}2400" "split $file"
    empty err
done
expect 0 split nested.pt
says out "model.module.layers.0.self_attn${tab}E=12"
expect 0 split transformer.pt
says out "encoder.layers.0.self_attn" "decoder.layers.0.self_attn" "decoder.layers.0.multihead_attn"
same "$(wc -l < out)" 3 "layers of transformer.pt"
expect 0 split separate.pt
says out "first${tab}E=12 Ek=10 Ev=14${tab}separate (12, 12)${tab}bias, bias_k, bias_v${tab}float32${tab}648" \
         "second${tab}E=12 Ek=8 Ev=8${tab}separate (12, 12)${tab}no bias${tab}float32${tab}480"
expect 0 split types.pt
says out "f16${tab}" float16 bfloat16 float32 float64
expect 0 split symmetric.pt
says out ".${tab}E=6"
expect 0 split foreign.pt
says out "gpt2.h.0.attn${tab}E=12${tab}packed (12, 36)${tab}bias${tab}float32${tab}624${tab}GPT-2" "separate (12, 12)${tab}bias${tab}float32${tab}624${tab}Llama"
expect 0 split python2.pt
says out "a${tab}E=4${tab}packed (12, 4)${tab}bias${tab}float32${tab}60"
expect 0 split encoder.npz
says out "layers.1.self_attn"

# ---- a layer ----

expect 0 split lm.pt $layer -o a.npz
empty out
expect 0 split -o b.npz -- lm.pt layers.0.self_attn
cmp -s a.npz b.npz || complain "the end of a prefix names another layer"
expect 0 split lm.pt $layer.in_proj_weight -o b.npz
cmp -s a.npz b.npz || complain "the key of the weight names another layer"
for file in lm_1.13.pt legacy.pt lm.safetensors; do
    expect 0 split $file $layer -o b.npz
    cmp -s a.npz b.npz || complain "$file: not the matrices of lm.pt"
done
expect 0 split --exact lm.pt $layer
says out "q_weight <f4 (24, 24)" "k_bias <f4 (24,)" "v_weight_t <f4 (24, 24)"
same "$(grep -c '<f4' out)" 9 "arrays of a layer"
expect 0 split types.pt f16
says out "q_weight <f2 (12, 12)"
expect 0 split types.pt bf16
says out "q_weight <f4 (12, 12)"
expect 0 split types.pt f64
says out "q_weight <f8 (12, 12)"
expect 0 split separate.pt first
says out "k_weight <f4 (12, 10)" "k_weight_t <f4 (10, 12)" "v_weight_t <f4 (14, 12)" "bias_k <f4 (1, 1, 12)" "q_bias"
expect 0 split separate.pt second
lacks out bias

# The same layer in every layout.
expect 0 split foreign.pt timm.blocks.0.attn -o wanted.npz
for options in "megatron.layers.0.attention --heads 3" "megatron1.layers.0.attention --layout qkv,element" "gpt2.h.0.attn" \
               "blocks --layout qkv,blocks" "kqv --layout kqv" "llama.self_attn"; do
    expect 0 split foreign.pt $options -o got.npz
    cmp -s got.npz wanted.npz || complain "$last: other matrices"
done
expect 0 split foreign.pt kqv -o got.npz
cmp -s got.npz wanted.npz && complain "another order gives the same matrices"

# ---- grouped queries, and the evidence that decides ----

cp "$checkpoints"/*.npz "$checkpoints"/*.json .
expect 2 split grouped.pt    # one of its layers cannot be read
says out "llama${tab}E=16 H/G=2${tab}separate (16, 16)${tab}no bias${tab}float32${tab}768${tab}Llama" "one${tab}E=16 H/G=4" \
         "normed${tab}E=16 H/G=2${tab}separate (16, 16)${tab}no bias${tab}float32${tab}768${tab}Llama${tab} not used: q_norm.weight" \
         "refused by split, which says why"
says err "qkvec: grouped.pt: mixed: mixed.v_proj.bias has 3 elements, wanted 8"
expect 0 split grouped.pt llama -o wanted.npz
expect 0 split grouped.pt llama
says out "q_weight <f4 (16, 16)" "k_weight <f4 (8, 16)" "v_weight <f4 (8, 16)" "k_weight_t <f4 (16, 8)"
for options in meta phi3 "exaone --layout qkv,rows" "exaone --heads 4 --kv-heads 2" "t5 --layout qkv" "internlm --layout qkv,head --heads 4" \
               "falcon --layout qkv,head --kv-heads 2 --heads 4" normed \
               "mine --name q=ask --name k=look --name v=take --name=out=give --layout qkv,rows"; do
    rm -f got.npz
    expect 0 split grouped.pt $options -o got.npz
    cmp -s got.npz wanted.npz || complain "$last: other matrices"
done
expect 0 split grouped.pt one --heads 4
says out "k_weight <f4 (4, 16)"
expect 0 split grouped.pt normed
says err "qkvec: grouped.pt: normed: not used, though part of its attention: q_norm.weight"
expect 2 split grouped.pt exaone
says err "k of shape (8, 16) fits two readings: grouped queries, H/G = 2, stored (out,in); or kdim 8, vdim 8, stored (in,out)"
expect 2 split grouped.pt internlm
says err "by its names the layout is qkv,head (InternLM2) or qkv (gpt-fast)"
expect 2 split grouped.pt uneven
says err "the shapes mean kdim 16, vdim 8, stored (in,out), which layers of Llama do not have"
expect 2 split grouped.pt llama --heads 3
says err "3 heads do not divide the 16 outputs of q and 8 of k"
expect 2 split grouped.pt llama --heads 2 --kv-heads 2
expect 2 split grouped.pt phi3 --layout qkv,element
says err "cannot be cut into 16 portions"
expect 2 split grouped.pt phi3 --layout qkv,side
says err "a layout of equal q, k and v"
expect 2 split grouped.pt falcon --layout qkv,head
says err "give --heads H"
expect 2 split grouped.pt mine
expect 2 split grouped.pt mine --name q=ask
says err "wanted either qkv or all of q, k and v"
expect 2 split grouped.pt mine --name ask
says err "no name of a part"

# config.json beside the file
echo '{"model_type": "internlm2", "hidden_size": 16, "num_attention_heads": 4, "num_key_value_heads": 2}' > config.json
expect 2 split grouped.pt
says out "llama${tab}E=16 H=4 G=2 D=4"
for name in exaone internlm; do
    rm -f got.npz
    expect 0 split grouped.pt $name -o got.npz
    cmp -s got.npz wanted.npz || complain "$last: other matrices"
done
expect 2 split grouped.pt one
says err "config.json beside it: 4 heads, 2 of k"
echo '{"hidden_size": 16, "num_attention_heads": 6, "num_key_value_heads": 2}' > config.json
expect 2 split grouped.pt llama
says err "config.json beside it: 6 heads"
echo '{"text_config": {"hidden_size": 16, "num_attention_heads": 4, "num_key_value_heads": 2}, "num_attention_heads": null, "x": [1, {"y": 2}]}' > config.json
expect 0 split grouped.pt exaone
echo '{"hidden_size": 16,' > config.json
expect 2 split grouped.pt llama
says err "config.json beside it: bad JSON in line"
rm config.json

# Biases beside a packed weight, shards, names of TensorFlow.
expect 0 split foreign.pt timm.blocks.0.attn -o wanted.npz
expect 0 split kinds.pt
says out "beit${tab}E=12${tab}packed (36, 12)${tab}bias of q, v${tab}float32${tab}612${tab}BEiT${tab} not used: relative_position_bias_table" "not used: qkv.bias_mask"
expect 0 split kinds.pt beit
says out "q_bias <f4 (12,)" "v_bias <f4 (12,)"
lacks out k_bias
says err "not used, though part of its attention: relative_position_bias_table"
expect 2 split kinds.pt ranks
says err "by its names the layout is qvk,shards=4 (CodeGen)"
for options in "tensorflow.npz bert/attention" "tensorflow.npz vit/attention"; do
    rm -f got.npz
    expect 0 split $options -o got.npz
    cmp -s got.npz wanted.npz || complain "$last: other matrices"
done
expect 0 split kinds.pt plain -o wanted.npz
expect 0 split kinds.pt ranks --layout qvk,shards=2 -o got.npz
cmp -s got.npz wanted.npz || complain "$last: other matrices"
expect 2 split kinds.pt ranks --layout qvk,shards=5
says err "cannot be cut into 5 portions"

# ---- objects beside the tensors, shards of files, other formats ----

expect 0 split training.pt
says out "model${tab}E=8${tab}packed (24, 8)"
says err "neither read nor built: args (argparse.Namespace), loss (numpy" "seen (__builtin__.set), started (datetime.datetime)"
expect 0 split lm.pt $layer -o wanted.npz
expect 0 split sharded.safetensors.index.json $layer -o got.npz
cmp -s got.npz wanted.npz || complain "an index: other matrices"
rm sharded-2-of-2.safetensors
expect 2 split sharded.safetensors.index.json
says err "sharded-2-of-2.safetensors: cannot be opened"
cp lm.safetensors sharded-2-of-2.safetensors
sed 's/sharded-2-of-2/..\/lm/' sharded.safetensors.index.json > outside.json
expect 2 split outside.json
says err "weight_map: found the file ../lm.safetensors, wanted one in the folder of the index"
sed 's/sharded-2-of-2.safetensors/inside.json/' sharded.safetensors.index.json > inside.json
expect 2 split inside.json
says err "inside.json: an index of files, wanted one file"
sed 's/self_attn.in_proj_bias/self_attn.no_bias/' sharded.safetensors.index.json > missing.json
expect 2 split missing.json
says err "self_attn.no_bias: the index names the file"
echo '{}' > empty.json
expect 2 split empty.json
says err "JSON without a weight_map"
printf '\211HDF\r\n\032\n0000' > a.h5
expect 2 split a.h5
says err "an HDF5 file (.h5 of Keras), which is not read; convert it in Python: import h5py"
printf 'GGUF0000' > a.gguf
expect 2 split a.gguf
says err "a GGUF file" "gguf.GGUFReader"
printf '\201\246params\200' > a.msgpack
expect 2 split a.msgpack
says err "a msgpack file (Flax)" "msgpack_restore"
printf '\010\010\022\007pytorch' > a.onnx
expect 2 split a.onnx
says err "an ONNX file" "numpy_helper"

# ---- complaints ----

expect 0 split --help
says out "usage: qkvec split" "--layout"
expect 2 split
says err "qkvec: split: name a checkpoint"
expect 2 split lm.pt $layer more
expect 2 split lm.pt -o x.npz
says err "these options need a LAYER"
expect 2 split no_such_file.pt
says err "qkvec: no_such_file.pt: cannot be opened"
expect 2 split .
says err "qkvec: .: is a directory"
expect 2 split lm.pt no_such_layer
says err "qkvec: lm.pt: no_such_layer: no such attention layer among the 2 of this file"
expect 2 split lm.pt self_attn
says err "self_attn: names 2 attention layers"
expect 2 split lm.pt $layer -o no_such_dir/x.npz
says err "qkvec: no_such_dir/x.npz: cannot be written"
expect 2 split lm.pt $layer --layout qk
says err "qkvec: qk: no such layout"
expect 2 split lm.pt $layer --heads 5
says err "5 heads do not divide the 24 outputs of q and 24 of k"
expect 2 split lm.pt $layer --heads 0
expect 2 split lm.pt $layer --heads 3x
expect 2 split foreign.pt megatron.layers.0.attention
says err "head by head: give --heads H"
expect 2 split foreign.pt llama.self_attn --layout qkv,columns
says err "a layout of packed weights"

# Nothing is executed, and nothing is believed; each sentence names file, member, found and wanted.
expect 2 split code.pt
says err "qkvec: code.pt: a/data.pkl: at byte 22: found the name os.system, which runs code; wanted only tensors in dicts"
[ ! -e pwned ] || complain "code.pt was executed"
head -c 20000 lm.pt > cut.pt
expect 2 split cut.pt
says err "qkvec: cut.pt: a ZIP archive without its end: truncated"
head -c 30000 legacy.pt > cut.pt
expect 2 split cut.pt
says err "qkvec: cut.pt: storage " "the file has"
head -c 30000 lm.safetensors > cut.safetensors
expect 2 split cut.safetensors
says err "qkvec: cut.safetensors: " "bytes"
cp "$VECTORS/core/answer.npz" vector.npz
expect 0 split vector.npz    # a vector is a state_dict with more in it
says out ".${tab}E=24"
: > nothing.pt
expect 2 split nothing.pt
says err "qkvec: nothing.pt: empty, wanted a file of torch.save, safetensors or npz"
finish
