#!/bin/sh
# SPDX-License-Identifier: MIT
# The cases of a seed do not depend on the number of jobs, two seeds share none,
# and a case can be judged by its number alone.
#   QKVEC=... streams.sh LIBRARY      one with a fault
set -u
library=$1
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1

fail() {
    echo "$1"
    exit 1
}

# run STATUS NAME ARGUMENT...: its output goes to NAME, the failing case to small.npz
run() {
    wanted=$1 name=$2
    shift 2
    "$QKVEC" fuzz --kernel "$library" "$@" -o small.npz > "$name" 2> err
    status=$?
    [ $status = "$wanted" ] || { cat "$name" err; fail "qkvec fuzz $*: exit status $status, wanted $wanted"; }
}

run 1 one --seed 1 --jobs 1
mv small.npz one.npz
for jobs in 2 3 8; do
    run 1 many --seed 1 --jobs $jobs
    sed "s/ --jobs $jobs//" many | cmp -s - one || { diff many one; fail "$jobs jobs: another report than that of one job"; }
    cmp -s small.npz one.npz || fail "$jobs jobs: another small case than that of one job"
done

number=$(sed -n 's/^case \([0-9]*\), made smaller.*/\1/p' one)
[ "$number" -gt 0 ] || fail "wanted a fault that case 0 does not show"
run 1 alone --seed 1 --first "$number" --count 1
cmp -s small.npz one.npz || fail "case $number alone: another small case"
run 0 before --seed 1 --count "$number"
grep -q "^$number cases: " before || fail "wanted $number cases before the one that fails"

# Two seeds: the same number is another case, and so is the next number.
for first in "0 1" "1 0" "0 2"; do
    set -- $first
    run 0 a --seed 1 --first "$1" --count 5
    run 0 b --seed 2 --first "$2" --count 5
    tail -n +2 a > a.kinds
    tail -n +2 b > b.kinds
    cmp -s a.kinds b.kinds && fail "seeds 1 and 2 have the same kinds of cases"
done

run 1 json --seed 1 --format json
grep -q "\"seed\": 1, \"first\": 0, \"small\": false, \"finite\": false, \"profile\": \"float32\", \"cases\": $((number + 1))," json || fail "JSON: the seed and the counts are missing"
grep -q "\"kinds\": {\"sizes\": {\"small\": [0-9]*, \"wide\": " json || fail "JSON: the kinds of cases are missing"
grep -q "\"failure\": {\"case\": $number, \"outcome\": \"fail\"" json || fail "JSON: the failure is missing"
run 0 small --seed 3 --small --count 50
grep -q "sizes *small 100.0 %$" small || fail "--small: wanted small sizes only"
run 0 finite --seed 3 --finite --count 100
grep -q "NaN\|infinity" finite && fail "--finite: wanted neither NaN nor infinity"
run 2 refused --seed -1
grep -q -- "--seed: -1 is no whole number; wanted 0 to 18446744073709551615" err || fail "a seed below 0: wanted an error message"
run 2 refused --format xml
grep -q "xml: no such format; wanted text or json" err || fail "a format that there is not: wanted an error message"
