# SPDX-License-Identifier: MIT
. "$(dirname "$0")/helper.sh"

expect 0 run core/answer
empty err
for stage in q_weight q_bias q_weight_t q_proj q_heads mask scores masked_scores attn_weights \
             head_outputs merged output attn_weights_mean; do
    says out "$stage <f8 "
done
lacks out query_rows out_weight_t

# what it writes is what it prints
expect 0 run core/answer
cp out printed
expect 0 run -o answer.npz core/answer
empty out
"$QKVEC" run --exact core/answer > exact
[ "$(grep -c 0x exact)" -gt 100 ] || complain "--exact is not hexadecimal"

# a file outside, and the goldens out of sight: nothing is copied from them
"$EDIT" "$VECTORS/core/answer.npz" bare.npz drop output drop attn_weights drop scores
expect 0 run bare.npz
cmp -s out printed || complain "run looks at the stored stages"

# policies
expect 0 run fully_masked/first_row
says out nan
expect 0 run --policy zero_rows fully_masked/first_row
lacks out nan
expect 2 run --policy no_such fully_masked/first_row
says err "qkvec: no_such: no such policy"

# a file appears complete or not at all
expect 2 run -o no/such/dir.npz core/answer
says err "qkvec: no/such/dir.npz: "
mkdir dir.npz
expect 2 run -o dir.npz core/answer
says err "qkvec: dir.npz: "
ls -A | grep -q tmp && complain "a passing file was left behind"

expect 2 run
expect 2 run core/answer core/self
says err "name one vector"
expect 0 run --help
says out "usage: qkvec run"
finish
