# SPDX-License-Identifier: MIT
# Policies: which answers are accepted, one for a whole run, and --allow.
. "$(dirname "$0")/helper.sh"

# results DIR POLICY PATTERN...: the results of the vectors by that policy
results() {
    dir=$1 policy=$2
    shift 2
    "$QKVEC" list --names "$@" > made
    while read -r name; do
        mkdir -p "$dir/${name%/*}"
        "$QKVEC" run --policy "$policy" -o "$dir/$name.npz" "$name" || complain "no results for $name by $policy"
    done < made
}

# conformant policies
for policy in pytorch zero_rows need_weights_false; do
    results "$policy" "$policy" fully_masked core/answer
    expect 0 check --results "$policy" fully_masked core/answer
    says out "  policies           $policy"
done
for policy in masked_ignored masked_filled; do
    results "$policy" "$policy" nan
    expect 0 check --results "$policy" nan
    says out "  policies           $policy"
done
expect 0 check --results zero_rows core/answer
says out "  policies           pytorch"

# the inference path is in none of the older vectors
expect 0 check --results need_weights_false --corpus 1.0.0 fully_masked
says out "  policies           zero_rows"

# others: named, rejected, accepted with --allow, in every format
results mean_rows mean_rows fully_masked core/answer
expect 1 check --results mean_rows fully_masked core/answer
says out "conformant but for rows without an open key: mean of the values, as Keras and Tokamax answer" \
    "FAIL fully_masked/item: rows without an open key: mean of the values, as Keras and Tokamax answer; accepted with --allow mean_rows"
lacks out "not conformant" "likely mistake" "no listed mistake"
expect 1 check --results mean_rows --format json fully_masked
says out '"verdict":"not conformant"' '"policies":"mean_rows"' '"but_for":"rows without an open key: mean of the values' '"is_policy":true'
expect 1 check --results mean_rows --format junit fully_masked
says out '<property name="policies" value="mean_rows"/>' "conformant but for rows without an open key: mean of the values"
expect 1 check --results mean_rows --format tap fully_masked
says out "# policies: mean_rows" "# conformant but for rows without an open key: mean of the values"
expect 0 check --results mean_rows --allow mean_rows fully_masked core/answer
says out "  policies           mean_rows"
expect 0 check --results mean_rows --allow scores_overflow,mean_rows --format json fully_masked
says out '"verdict":"conformant"' '"policies":"mean_rows"' '"but_for":null'
expect 1 check --results mean_rows --allow scores_overflow fully_masked
results mean_rows_bool mean_rows_bool fully_masked
expect 1 check --results mean_rows_bool fully_masked
says out "conformant but for rows without an open key: mean of the values, as JAX and MLX answer"
expect 0 check --results mean_rows_bool --allow mean_rows fully_masked
expect 0 check --results mean_rows_bool --allow mean_rows_bool fully_masked
expect 1 check --results mean_rows --allow mean_rows_bool fully_masked

# scores beyond the range of the type
results overflow scores_overflow softmax
expect 1 check --results overflow --profile float16 softmax
says out "conformant but for scores overflow float16 before they are scaled: NaN from |q k| > 65504 on" \
    "FAIL softmax/positive_4e4_apart: " "FAIL softmax/positive_9e3_d64: "
expect 0 check --results overflow --profile float16 --allow scores_overflow softmax
says out "  policies           scores_overflow"
results finite pytorch softmax
expect 0 check --results finite --profile float16 softmax
says out "  policies           pytorch"
expect 0 check --results finite --profile float16 --allow scores_overflow softmax
# NaN where nothing can overflow is no policy: in a wider type, or for smaller scores
expect 1 check --results overflow --profile float32 --allow scores_overflow softmax
says out "FAIL softmax/positive_9e3_d64: " "not conformant"
cp overflow/softmax/positive_9e3_d64.npz overflow/softmax/ties.npz
"$EDIT" finite/softmax/ties.npz overflow/softmax/ties.npz set output 0 nan
expect 1 check --results overflow --profile float16 --allow scores_overflow softmax/ties
says out "not conformant"

# one policy for one run
cp -R pytorch mixed
cp zero_rows/fully_masked/item.npz mixed/fully_masked/item.npz
expect 0 check --results mixed fully_masked/item
expect 0 check --results mixed fully_masked/first_row
expect 1 check --results mixed fully_masked
says out "FAIL fully_masked/item: a kernel keeps to one policy: found zero_rows in this one, pytorch in others" "not conformant"
cp mean_rows/fully_masked/item.npz mixed/fully_masked/item.npz
expect 1 check --results mixed --allow mean_rows fully_masked
says out "FAIL fully_masked/item: a kernel keeps to one policy: found mean_rows in this one, pytorch in others"

# the same with a kernel, in several processes at once, and for random cases
cat > mixing.c <<'C'
#include <math.h>
#include <string.h>
#include "qkvec/qkvec.h"
#include "qkvec/kernel.h"
/* The reference; rows without an open key are 0 (before out_proj) for items of even number. */
int qkvec_attention_core(const struct qkvec_call *c)
{
    int status = qkvec_reference(c);
    float *y = c->head_outputs, *w = c->attn_weights;
    int64_t D = c->E / c->H;
    if (c->dtype != QKVEC_FLOAT32 || c->N != 2)
        return status;
    for (int64_t m = 0; m < c->N * c->H * c->L * D; m++) if (isnan(y[m])) y[m] = 0;
    for (int64_t m = 0; w && m < c->N * c->H * c->L * c->Sx; m++) if (isnan(w[m])) w[m] = 0;
    return status;
}
C
include=$(dirname "$0")/../../ref/include
library=$(dirname "$QKVEC")
if $CC -O1 -shared -fPIC -I"$include" mixing.c -L"$library" -lqkvec -Wl,-rpath,"$library" -lm -o libmixing.so 2> cc; then
    for jobs in 1 3; do
        expect 1 check --kernel ./libmixing.so --core --once --jobs $jobs fully_masked
        says out "a kernel keeps to one policy" "not conformant"
        grep '^FAIL' out > failed.$jobs
    done
    cmp -s failed.1 failed.3 || complain "--jobs 3 finds other failures than one job"
    expect 1 fuzz --kernel ./libmixing.so --core --once --seed 1 --count 5000 -o found.npz
    says out "a kernel keeps to one policy"
else
    complain "the kernel cannot be built: $(head -n 3 cc)"
fi

# names
expect 2 check --allow mean_row core/answer
says err "qkvec: --allow: mean_row: no such policy; wanted zero_rows, need_weights_false, mean_rows, mean_rows_bool, masked_ignored, masked_filled or scores_overflow"
expect 2 check --allow mean_rows, core/answer
says err "an empty name: no such policy"
expect 2 fuzz --kernel ./libmixing.so --allow none
says err "none: no such policy"
expect 2 run --policy mean core/answer
says err "mean: no such policy; wanted pytorch, zero_rows"
finish
