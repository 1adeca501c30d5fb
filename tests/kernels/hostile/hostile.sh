#!/bin/sh
# SPDX-License-Identifier: MIT
# A kernel gets the verdict that its first comment says, for the case that it lies
# about and for no other; and nothing of it is left behind.
#   QKVEC=... VECTORS=... hostile.sh KERNEL.c LIBRARY
#   QKVEC=... VECTORS=... hostile.sh KERNEL.sh
# verdict: CRASH FAIL TIMEOUT ERROR    one vector gets it, the others pass (a command: are skipped)
#          PASS SKIPS ALL NONE         honest; skips alone; every vector fails; exit status 2
set -u
source=$1 library=${2:-}
told() { sed -n "s/^ *[*#] $1: *//p" "$source" | head -1; }
verdict=$(told verdict) says=$(told says) options=$(told options) vectors=$(told vectors)
: "${vectors:=core/answer causal/square core/self}"
case $options in
*--memory*)
    if [ -n "${SANITIZE:-}" ]; then
        echo "SKIPPED: a sanitizer's own memory is beyond any limit of address space"
        exit 77
    fi ;;
esac
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/tmp" "$dir/state"
export TMPDIR="$dir/tmp" STATE="$dir/state"

fail() {
    echo "$1"
    echo "--- standard output"; cat "$dir/out"
    echo "--- standard error"; head -c 2000 "$dir/err"
    exit 1
}
run() {
    "$QKVEC" check --vectors "$VECTORS" --all "$@" > "$dir/out" 2> "$dir/err"
    status=$?
}

# shellcheck disable=SC2086    (words)
if [ -n "$library" ]; then
    others="$(($(echo "$vectors" | wc -w) - 1)) passed, 1 failed, 0 skipped" mark=$library
    run --kernel "$library" $options $vectors
else
    others="0 passed, 1 failed, $(($(echo "$vectors" | wc -w) - 1)) skipped" mark=$TMPDIR
    run --command "sh '$source'" $options $vectors
fi
count=$(grep -cE '^(FAIL|CRASH|TIMEOUT|ERROR) ' "$dir/out")
case $verdict in
PASS)
    [ $status = 0 ] || fail "it is honest, yet the exit status is $status" ;;
SKIPS)
    [ "$status $count" = "2 0" ] || fail "it skips everything, yet the exit status is $status" ;;
NONE)
    [ $status = 2 ] || fail "wanted exit status 2, found $status"
    grep -qE -- "$says" "$dir/err" || fail "wanted on standard error: $says" ;;
ALL)
    [ "$status $count" = "1 $(echo "$vectors" | wc -w)" ] || fail "wanted failures alone and exit status 1, found $count and $status"
    grep -qE -- "$says" "$dir/out" || fail "wanted: $says" ;;
*)
    [ $status = 1 ] || fail "wanted exit status 1, found $status"
    grep -qE -- "^($verdict) [a-z0-9_/]*: .*($says)" "$dir/out" || fail "wanted: $verdict ... $says"
    [ "$count" = 1 ] || fail "wanted one vector that does not pass, found $count"
    grep -q " $others" "$dir/out" || fail "the run did not go on: wanted $others"
    grep -E "^($verdict) " "$dir/out" ;;
esac
left=$(ps -eo args 2> /dev/null | grep -F -- "$mark" | grep -cE 'host-(worker|supervisor)|hostile/command')
[ "$left" = 0 ] || fail "$left processes were left behind"
[ -z "$(ls -A "$TMPDIR")" ] || fail "files were left behind: $(ls -A "$TMPDIR")"
