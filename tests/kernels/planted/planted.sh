#!/bin/sh
# SPDX-License-Identifier: MIT
# A planted fault is rejected by the stored vectors, found by random cases and made small.
#   QKVEC=... VECTORS=... planted.sh NAME LIBRARY      NAME none: the honest kernel
set -u
name=$1 library=$2 cases=20000 profile=float32

# The numbers that the small case may have: a fault that needs many keys, channels or queries leaves them.
case $name in
channel_64) most=18000 ;;                               # four weights of 65 x 65
causal_63) most=5000 ;;                                 # a mask of 64 x 64
keys_512 | sum_*float16) most=1200 ;;
tile_left | query_64 | int16_score | keys_64 | keys_12? | padding_128) most=700 ;;
*) most=100 ;;
esac
case $name in
sum_float16) profile=float16 ;;
sum_bfloat16) profile=bfloat16 ;;
esac
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

if [ "$name" = none ]; then
    expect 0 "the stored vectors accept it" check --vectors "$VECTORS" --kernel "$library" --random 0
    grep -Eq ' 0 failed, [01] skipped' "$dir/out" || { echo "more than the one vector for float64 was not judged"; tail -n 5 "$dir/out"; exit 1; }
    for profile in float32 float16 bfloat16; do
        expect 0 "random cases accept it" fuzz --kernel "$library" --profile $profile --seed 1 --count 3000
    done
    exit
fi
[ "$name" = keys_512 ] || expect 1 "the stored vectors reject it" check --vectors "$VECTORS" --kernel "$library" --profile $profile --random 0
expect 1 "random cases find it" fuzz --kernel "$library" --profile $profile --seed 1 --count $cases -o "$small"
grep -E ' cases: |^case ' "$dir/out"
expect 1 "the small case shows it again" check --kernel "$library" --profile $profile "$small"
expect 0 "the reference passes the small case" check "$small"

# Inputs are <f4 or |b1, the configuration has no dimensions, and stages are <f8.
expect 0 "the small case can be read" show "$small"
numbers=$(sed -n '/^members/,$p' "$dir/out" | sed -n 's/.* [<|][fb][41]  *(\(.*\))$/\1/p' | tr -d ' ' | sed 's/,$//' |
    awk -F, '{ product = 1; for (k = 1; k <= NF; k++) product *= $k; sum += product } END { print sum + 0 }')
echo "$numbers numbers in all inputs"
[ "$numbers" -gt 0 ] && [ "$numbers" -le $most ] || { echo "wanted 1 to $most"; exit 1; }
