# SPDX-License-Identifier: MIT
# export --c-header: headers that compile without a warning and hold the numbers.
. "$(dirname "$0")/helper.sh"

strict="-std=c11 -Wall -Wextra -Wpedantic -Werror"
expect 0 export --c-header core/answer
empty err
cp out answer.h
expect 0 export --c-header -o again.h core/answer
empty out
cmp -s answer.h again.h || complain "-o writes something else"
says answer.h "#define QKVEC_N_OF_CORE_ANSWER 2" "#define QKVEC_D_OF_CORE_ANSWER 8" "static const float qkvec_query_of_core_answer[192]" \
    "static const double qkvec_output_of_core_answer[192]" "static const double qkvec_sigma_output_of_core_answer[192]"

# Attention over its numbers, in float, matches; with a head too many in the scale it does not.
cat > main.c <<'END'
#include "answer.h"
#include "answer.h"
#include "masked.h"
#include <stdio.h>

#define E QKVEC_E_OF_CORE_ANSWER
#define D QKVEC_D_OF_CORE_ANSWER
#define L QKVEC_L_OF_CORE_ANSWER
#ifndef SCALE
#define SCALE D
#endif

static void project(float *y, const float *x, const float *w, const float *b)
{
    for (int e = 0; e < E; e++) {
        y[e] = b[e];
        for (int c = 0; c < E; c++) y[e] += x[c] * w[e * E + c];
    }
}

int main(void)
{
    int wrong = 0;
    for (int n = 0; n < QKVEC_N_OF_CORE_ANSWER; n++) {
        float q[L][E], k[L][E], v[L][E];
        for (int i = 0; i < L; i++) {
            const float *w = qkvec_in_proj_weight_of_core_answer, *b = qkvec_in_proj_bias_of_core_answer;
            project(q[i], qkvec_query_of_core_answer + (n * L + i) * E, w, b);
            project(k[i], qkvec_key_of_core_answer + (n * L + i) * E, w + E * E, b + E);
            project(v[i], qkvec_value_of_core_answer + (n * L + i) * E, w + 2 * E * E, b + 2 * E);
        }
        for (int i = 0; i < L; i++) {
            float merged[E] = { 0 }, out[E];
            for (int h = 0; h < QKVEC_H_OF_CORE_ANSWER; h++) {
                float p[L], sum = 0;
                for (int j = 0; j < L; j++) {
                    float s = 0;
                    for (int d = h * D; d < h * D + D; d++) s += q[i][d] * k[j][d];
                    sum += p[j] = expf(s / sqrtf(SCALE));
                }
                for (int j = 0; j < L; j++)
                    for (int d = h * D; d < h * D + D; d++) merged[d] += p[j] / sum * v[j][d];
            }
            project(out, merged, qkvec_out_proj_weight_of_core_answer, qkvec_out_proj_bias_of_core_answer);
            for (int e = 0; e < E; e++) {
                int m = (n * L + i) * E + e;
                if (!(fabs(out[e] - qkvec_output_of_core_answer[m])
                      <= QKVEC_SIGMAS_OF_CORE_ANSWER * qkvec_sigma_output_of_core_answer[m] + QKVEC_FLOOR_OF_CORE_ANSWER))
                    wrong++;
            }
        }
    }
    printf("%d wrong\n", wrong);
    return wrong > 0 || !isnan(qkvec_output_of_fully_masked_first_row[0]);
}
END
expect 0 export --c-header -o masked.h fully_masked/first_row
says masked.h NAN INFINITY "qkvec_alt_zero_rows_output_of_fully_masked_first_row[" "qkvec_alt_zero_rows_sigma_output_of_fully_masked_first_row["
compile() {
    "$CC" $strict "$@" 2> err || { complain "does not compile: $*"; head -n 5 err; }
}
compile -o right main.c -lm
./right > said || complain "attention over the header's numbers does not match"
compile -DSCALE=E -o scaled main.c -lm
./scaled > said && complain "a wrong scale matches"

# Every vector is exported. All small headers compile, and side by side: what is
# large has nothing in it that the small ones have not, and takes a minute.
"$QKVEC" list --names > names
while read -r name; do
    header=$(echo "$name" | tr / -).h
    [ "$name" = deep_masks/row_minus_2e9 ] && continue                       # for float64 only, which no header holds
    "$QKVEC" export --c-header -o "$header" "$name" || complain "export $name"
    [ "$(wc -c < "$header")" -gt 300000 ] || echo "#include \"$header\""
done < names > all.c
[ "$(wc -l < all.c)" -gt 100 ] || complain "only $(wc -l < all.c) headers are small"
compile -fsyntax-only all.c

# float16: the numbers that such a kernel is given
expect 0 export --c-header --profile float16 core/answer
says out "under float16"

expect 2 export core/answer
says err "--c-header"
expect 2 export --c-header
expect 2 export --c-header --profile no_such core/answer
expect 2 export --c-header -o no/such/dir.h core/answer
says err "qkvec: no/such/dir.h: "
expect 0 export --help
says out "usage: qkvec export"
finish
