#!/bin/sh
# SPDX-License-Identifier: MIT
# A fault that no stored vector shows is found by random cases and made small.
#   QKVEC=... VECTORS=... planted.sh NAME LIBRARY      NAME none: the honest kernel
set -u
name=$1 library=$2 cases=1500 most=100
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
small="$dir/small.npz"

# expect STATUS WHAT ARGUMENT...: run qkvec
expect() {
    wanted=$1 what=$2
    shift 2
    "$QKVEC" "$@" > "$dir/out" 2> "$dir/err"
    status=$?
    [ $status = "$wanted" ] && return
    echo "$what: qkvec $*: exit status $status, wanted $wanted"
    head -n 40 "$dir/out" "$dir/err"
    exit 1
}

expect 0 "no stored vector shows it" check --vectors "$VECTORS" --kernel "$library"
grep -q ' 0 failed, 0 skipped' "$dir/out" || { echo "not every vector was judged"; tail -n 5 "$dir/out"; exit 1; }
if [ "$name" = none ]; then
    expect 0 "random cases accept it" fuzz --kernel "$library" --seed 1 --count $cases
    exit
fi
expect 1 "random cases find it" fuzz --kernel "$library" --seed 1 --count $cases -o "$small"
grep -E ' cases: |the case: ' "$dir/out"
expect 1 "the small case shows it again" check --kernel "$library" "$small"
expect 0 "the reference passes the small case" check "$small"

# Inputs are <f4 or |b1, the configuration has no dimensions, and stages are <f8.
expect 0 "the small case can be read" show "$small"
numbers=$(sed -n '/^members/,$p' "$dir/out" | sed -n 's/.* [<|][fb][41]  *(\(.*\))$/\1/p' | tr -d ' ' | sed 's/,$//' |
    awk -F, '{ product = 1; for (k = 1; k <= NF; k++) product *= $k; sum += product } END { print sum + 0 }')
echo "$numbers numbers in all inputs"
[ "$numbers" -gt 0 ] && [ "$numbers" -le $most ] || { echo "wanted 1 to $most"; exit 1; }
