# SPDX-License-Identifier: MIT
. "$(dirname "$0")/helper.sh"

expect 0 show core/answer
empty err
says out core/answer "about " "made by" "PyTorch" "N=2 L=4 S=4 E=24 H=3 D=8" in_proj_weight "<f4  (72, 24)" "sigma.output"
grep -Eq '^  num_heads +3$' out || complain "show: no configuration"

expect 0 show core/answer attn_weights
says out "attn_weights <f8 (2, 3, 4, 4)" "[0,0]" "[1,2]"
same "$(grep -c '^\[' out)" 6 "blocks of attn_weights"
awk '/^  / { if (NF != 4) exit 1; n++ } END { exit n != 24 }' out || complain "not 24 rows of 4 weights"
# every row of a softmax sums to one
awk '/^  / { s = 0; for (k = 1; k <= NF; k++) s += $k; if (s < 0.999999 || s > 1.000001) exit 1 }' out \
    || complain "the rows do not sum to 1"

expect 0 show core/answer q_bias query sigma.output
says out "q_bias <f8 (24,)" "query <f4 (2, 4, 24)" "sigma.output <f8 (2, 4, 24)"
expect 0 show --exact core/answer output
grep -Eq '^ +-?0x1(\.[0-9a-f]+)?p[-+][0-9]+ ' out || complain "--exact is not hexadecimal"

# a stage that the file does not store is computed
"$EDIT" "$VECTORS/core/answer.npz" bare.npz drop scores drop output
expect 0 show bare.npz output scores
says out "output <f8 (2, 4, 24)" "scores <f8 (2, 3, 4, 4)"

expect 2 show core/answer no_such_stage
says err "qkvec: no_such_stage: no member and no stage of core/answer"
expect 2 show
says err "name a vector"
expect 2 show core
says err "wanted one"
expect 0 show --help
says out "usage: qkvec show"
finish
