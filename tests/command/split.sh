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
