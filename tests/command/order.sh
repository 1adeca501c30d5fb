# SPDX-License-Identifier: MIT
# order: what a record proves, and what it cannot.
. "$(dirname "$0")/helper.sh"

checkpoints=$VECTORS/../tests/checkpoints
cp "$checkpoints"/*.pt "$checkpoints"/*.npz "$checkpoints"/*.safetensors .
layer=transformer_encoder.layers.0.self_attn

for file in lm.pt lm_1.13.pt legacy.pt lm.safetensors; do
    expect 0 order $file $layer --record lm.io.npz
    says out "proven: all rows of q, then of k, then of v; 3 heads; batch second." "It reproduces the output within" "the next best is" \
             "qkvec split $file $layer -o qkv.npz"
    empty err
done
expect 0 order lm.pt $layer --record lm.io.npz --heads 3
expect 1 order lm.pt $layer --record lm.io.npz --heads 2
says out "none fits: the nearest miss is" "leave out --heads"
expect 1 order lm.pt layers.1.self_attn --record lm.io.npz
expect 0 order decoder.pt multihead_attn --record=decoder.io.npz
expect 0 order types.pt bf16 --record types.bf16.io.npz
says out "bfloat16" "proven"
expect 1 order types.pt bf16 --record types.bf16.io.npz --profile float32
says out "none fits" "--profile"

# The command that it prints is the one that takes the matrices out.
expect 0 split foreign.pt timm.blocks.0.attn -o wanted.npz
for name in megatron.layers.0.attention megatron1.layers.0.attention gpt2.h.0.attn blocks kqv llama.self_attn; do
    expect 0 order foreign.pt $name --record foreign.io.npz
    says out "proven: "
    command=$(grep '^qkvec split' out)
    rm -f qkv.npz
    eval "expect 0 ${command#qkvec}"
    cmp -s qkv.npz wanted.npz || complain "$command: other matrices"
done

# Grouped queries with rotary positions and a causal mask that the record lacks.
for name in llama meta phi3 internlm falcon normed "exaone --layout qkv,rows" "qwen grouped_bias"; do
    set -- $name
    record=grouped
    if [ "$1" = qwen ]; then record=grouped_bias; set -- qwen; fi
    expect 0 order grouped.pt "$@" --record $record.io.npz
    says out "4 heads, 2 of k and v" "causal mask (not in the record); rotary positions in halves, 4 channels, base 10000" "rms error of" "the next best is"
done
expect 0 split grouped.pt llama -o wanted.npz
expect 0 order grouped.pt internlm --record grouped.io.npz
command=$(grep '^qkvec split' out)
rm -f qkv.npz
eval "expect 0 ${command#qkvec}"
cmp -s qkv.npz wanted.npz || complain "$command: other matrices"
expect 0 order kinds.pt ranks --record ranks.io.npz
says out "2 shards, each with its rows of q, of v, of k" "--layout qvk,shards=2"
expect 0 order kinds.pt beit --record foreign.io.npz    # the bias of k, which it lacks, adds the same to all scores of a row
expect 1 order kinds.pt beit --record ranks.io.npz --heads 3
says out "none fits: the nearest miss is" "not used, and a likely cause: relative_position_bias_table" "not tried: dropout" "leave out --heads"

# What the record cannot tell.
expect 1 order foreign.pt timm.blocks.0.attn --record foreign_one_key.io.npz
says out "cannot tell: 2 readings reproduce the output; with one key every weight of attention is 1"
expect 1 order symmetric.pt . --record symmetric.io.npz
says out "cannot tell: 2 readings" "alike or symmetric"

# ---- complaints ----

expect 0 order --help
says out "usage: qkvec order" "--record"
expect 2 order lm.pt $layer
says err "qkvec: order: name a checkpoint, a layer and --record"
expect 2 order lm.pt --record lm.io.npz
expect 2 order lm.pt $layer --record lm.io.npz --profile float33
says err "qkvec: float33: no such profile"
expect 2 order lm.pt $layer --record lm.io.npz --heads 5
says err "5 heads do not divide the 24 outputs of q and 24 of k"
expect 2 order lm.pt $layer --record lm.io.npz --heads -1
expect 2 order lm.pt no_such_layer --record lm.io.npz
says err "qkvec: lm.pt: no_such_layer: no such attention layer"
expect 2 order lm.pt $layer --record no_such_file.npz
says err "qkvec: no_such_file.npz: cannot be opened"
expect 2 order lm.pt $layer --record lm.pt
says err "qkvec: lm.pt: "
expect 2 order lm.pt $layer --record foreign.io.npz
says err "qkvec: foreign.io.npz: query"
expect 2 order lm.pt $layer --record wanted.npz
says err "qkvec: wanted.npz: query: missing in the record"
expect 2 order code.pt . --record lm.io.npz
says err "found the name os.system"
finish
