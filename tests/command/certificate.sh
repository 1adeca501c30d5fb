# SPDX-License-Identifier: MIT
# check: what the certificate says about what was judged, random cases after the
# vectors, and the order and length of the report.
. "$(dirname "$0")/helper.sh"
source=$(cd "$(dirname "$0")/../.." && pwd)
total=$("$QKVEC" list --names | wc -l)

# library NAME FILE: a kernel, as anybody would build it
library() {
    "$CC" -w -O1 -shared -fPIC -I"$source/ref/include" "$2" -lm -o "$work/$1.so" || complain "$2 does not compile"
}
library plain "$source/tests/kernels/examples/plain.c"
sed 's# / sqrtf((float)D)##' "$source/tests/kernels/examples/plain.c" > noscale.c
library noscale noscale.c
cat > empty.c <<'C'
#include <stdio.h>
#include <qkvec/kernel.h>
/* Answers only what has no numbers. */
int qkvec_kernel(const struct qkvec_call *a)
{
    if (a->N == 0) {
        *a->written = QKVEC_OUTPUT;
        return QKVEC_DONE;
    }
    snprintf(a->reason, QKVEC_REASON, "conformant, %d failed", 0);
    return QKVEC_SKIP;
}
C
library empty empty.c

# how much was judged, of what, with which switches
expect 0 check --kernel ./plain.so core/self core/cross
says out "asked for          2 of $total vectors (pattern core/self core/cross)" "scope              layer" \
    "random cases       no random case was run"
lacks out "switches"
expect 0 check --kernel ./plain.so --once 'mask/*'
says out "(pattern mask/*)" "switches           --once"
expect 0 check --kernel ./plain.so --nondeterministic core/self
says out "switches           --nondeterministic"
expect 0 check --kernel ./plain.so --format json core/self
says out '"pattern":"core/self"' "\"corpus_vectors\":$total" '"statement":"conformant"' '"random":null'
cp "$VECTORS/core/self.npz" own.npz
expect 0 check --kernel ./plain.so own.npz
says out "asked for          1 file outside of the corpus (pattern own.npz)"
expect 0 check --kernel ./plain.so own.npz core/self
says out "1 of $total vectors and 1 outside of the corpus"

# random cases: without a pattern, counted apart
expect 0 check --kernel ./plain.so
says out "asked for          $total of $total vectors" "random cases       1000 of 1000 from seed 1: "
same "$(tail -n 1 out)" conformant "the last line"
expect 0 check --kernel ./plain.so --random 20 --format tap
same "$(sed -n 2p out)" "1..$((total + 1))" "the plan of TAP"
says out "ok $((total + 1)) - random cases: 20 of 20 from seed 1"
expect 0 check --kernel ./plain.so --random 20 --format junit core/self
says out '<testsuite name="qkvec" tests="1"' '<testsuite name="qkvec random cases" tests="1" failures="0" errors="0" skipped="0">' \
    '<property name="asked for"'
expect 0 check --kernel ./plain.so --random 20 --format json core/self
says out '"random":{"seed":1,"asked":20,"judged":20,'
expect 0 check --kernel ./plain.so --random 0
says out "no random case was run"
expect 2 check --random 5
says err "--random: requires"
expect 2 check --kernel ./plain.so --random x
says err "--random: x is no whole number"

# a table of the published answers
cat > table.sh <<'S'
tab=$(printf '\t')
exec 3< names
while IFS=$tab read -r in out; do
    read -r name <&3 || name=
    cp "results/${name:-core/answer}.npz" "$out"
    echo ok
done
S
"$QKVEC" list --names > names
# shellcheck disable=SC2046    (names without blanks)
results results $(cat names)
expect 0 check --command 'sh table.sh' --once --random 0
expect 1 check --command 'sh table.sh' --once
says out "random cases       1 of 100 from seed 1: 0 passed, 1 failed" "FAIL random/0" "again              qkvec fuzz --command 'sh table.sh' --once --profile float32 --seed 1 --first 0 --count 1"
for format in tap junit; do
    expect 1 check --command 'sh table.sh' --once --format $format
    says out "random/0" "qkvec fuzz"
done

# nothing finite, and little
expect 2 check --kernel ./empty.so
says err "nothing was judged: no finite number was compared"
same "$(tail -n 1 out)" "nothing was judged" "the last line"
expect 2 fuzz --kernel ./empty.so --seed 1 --count 200
mkdir few
results few core/answer core/self
expect 0 check --results few --allow-missing
same "$(tail -n 1 out)" "conformant in what it claims: 2 of $total vectors" "the last line"
says out "switches           --allow-missing"
expect 0 check --results few --allow-missing --format json
says out '"verdict":"conformant"' "\"statement\":\"conformant in what it claims: 2 of $total vectors\""

# the end of the report: verdict, mistake, worst element, the line that judges again
expect 1 check --kernel ./noscale.so
sed -n '/^not conformant$/,$p' out > end
[ "$(wc -l < end)" -le 20 ] || complain "the conclusion has $(wc -l < end) lines"
says end "scale_none" "worst element" "again              qkvec check --kernel ./noscale.so"
says out "more vectors did not pass (--all lists them)" "skipped: skipped by the kernel: float32 without bias_kv and zero_attn only"
same "$(grep -c '^FAIL ' out)" 10 "failures told"
says out "random cases       no random case was run: a vector did not pass"
again=$(sed -n 's/^  again *qkvec/"$QKVEC"/p' end)
eval "$again" > again
same $? 1 "exit status of: $again"
expect 1 check --kernel ./noscale.so --all
same "$(grep -c '^FAIL ' out)" "$("$QKVEC" check --kernel ./noscale.so --format json | grep -c '"verdict":"fail"')" "failures told by --all"
expect 1 check --kernel ./noscale.so --format tap
says out "TAP version 13" "# likely mistake: scale_none: " "# again: qkvec check" '  again: "qkvec check --kernel ./noscale.so'
expect 1 check --kernel ./noscale.so --format junit
says out 'name="likely mistake" value="scale_none: ' 'again: qkvec check --kernel ./noscale.so --profile float32 core/answer'

if command -v prove > /dev/null; then
    "$QKVEC" check --kernel ./plain.so --format tap core > ok.tap
    prove -e cat ok.tap > out 2> err || complain "prove rejects the TAP of a conformant kernel"
    "$QKVEC" check --kernel ./noscale.so --format tap core > bad.tap
    prove -e cat bad.tap > out 2> err && complain "prove accepts the TAP of a wrong kernel"
    grep -q "Parse errors" out && complain "prove cannot parse the TAP of a wrong kernel"
fi
finish
