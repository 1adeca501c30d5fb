#!/bin/sh
# SPDX-License-Identifier: MIT
# Every call of the program that can fail, made to fail, one at a time:
#   QKVEC=... VECTORS=... SHIM=... KERNEL=... WRONG=... CHECKPOINTS=... CMAKE=... inject.sh COMMAND [all]
# COMMAND is one of the cases below. Of each function the calls 1, 2, 3, 5, 8, 13, ...
# fail; with all, every call up to the last. Wanted each time: the exit status
# and output of a run in which nothing fails, or 2 and a message that accuses no
# kernel; no part of a file under its final name; no file, folder or process left.
set -u
command=$1 how=${2:-sample}
if [ -n "${SANITIZE:-}" ]; then
    echo "SKIPPED: a sanitizer replaces the same functions"
    exit 77
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkdir "$work/tmp" "$work/fixed" "$work/run"
export TMPDIR="$work/tmp" QKVEC_VECTORS="$VECTORS" LC_ALL=C
cd "$work/run" || exit 1
wrong=0 tried=0 fired=0 refused=0

# An adapter that knows one answer; a loop of the shell alone, which is fast.
mkdir -p "$work/fixed/results/core"
for name in core/answer core/self; do
    "$QKVEC" run -o "$work/fixed/results/$name.npz" "$name" || exit 1
done
cat > "$work/fixed/adapter.sh" <<S
while IFS="\$(printf '\\t')" read -r in out; do
    cp "$work/fixed/results/core/answer.npz" "\$out"
    echo ok
done
S

# What is run; out.npz and so on are files that it makes.
case $command in
run) set -- run core/answer ;;
run_o) set -- run -o out.npz core/answer ;;
show) set -- show core/answer ;;
list) set -- list core ;;
step) set -- step core/printable ;;
export) set -- export --c-header -o out.h core/answer ;;
split) set -- split "$CHECKPOINTS/encoder.pt" ;;
split_o) set -- split -o out.npz "$CHECKPOINTS/encoder.npz" "$("$QKVEC" split "$CHECKPOINTS/encoder.npz" | head -n 1 | cut -f 1)" ;;
order) set -- order "$CHECKPOINTS/encoder.pt" "$("$QKVEC" split "$CHECKPOINTS/encoder.pt" | head -n 1 | cut -f 1)" --record "$CHECKPOINTS/encoder.io.npz" ;;
check) set -- check core/answer core/self ;;
check_results) set -- check --results "$work/fixed/results" core/answer core/self ;;
check_kernel) set -- check --kernel "$KERNEL" core/answer causal/square medium ;;
check_jobs) set -- check --kernel "$KERNEL" --once --jobs 2 core/answer causal/square core/self ;;
check_wrong) set -- check --kernel "$WRONG" --once core/answer core/self ;;
check_command) set -- check --command "sh '$work/fixed/adapter.sh'" core/answer ;;
check_random) set -- check --kernel "$KERNEL" --once --random 5 core/answer ;;
fuzz) set -- fuzz --kernel "$KERNEL" --seed 1 --small --count 12 ;;
fuzz_wrong) set -- fuzz --kernel "$WRONG" --seed 1 --small --count 12 -o out.npz ;;
*) echo "no such command: $command"; exit 1 ;;
esac

complain() {
    wrong=$((wrong + 1))
    echo "WRONG: $call $n: $*"
    head -n 3 "$work/err"
}
run_with() {    # run_with NAME=VALUE...
    rm -rf "$work/run/"* "$work/fired"
    env LD_PRELOAD="$SHIM" INJECT_FIRED="$work/fired" "$@" > "$work/out" 2> "$work/err"
}

call=none n=0
run_with INJECT_COUNTS="$work/counts" "$QKVEC" "$@"
usual=$?
[ "$usual" -le 1 ] || { complain "exit status $usual though nothing failed"; exit 1; }
cp "$work/out" "$work/usual"
mkdir "$work/made"
cp -R "$work/run/." "$work/made"

# The same bytes, or archives of the same members: without memory for zlib they are stored.
same() {
    cmp -s "$1" "$2" && return
    case $1 in *.npz) ;; *) return 1 ;; esac
    rm -rf "$work/members"
    mkdir -p "$work/members/a" "$work/members/b"
    (cd "$work/members/a" && "$CMAKE" -E tar xf "$1") && (cd "$work/members/b" && "$CMAKE" -E tar xf "$2") && diff -r "$work/members/a" "$work/members/b" > /dev/null
}

check_one() {
    tried=$((tried + 1))
    run_with INJECT_CALL="$call" INJECT_NTH="$n" timeout 60 "$QKVEC" "$@"
    status=$?
    [ ! -e "$work/fired" ] || fired=$((fired + 1))
    case $status in
    "$usual") [ "$usual" = 1 ] || cmp -s "$work/out" "$work/usual" || complain "another output, and yet exit status $status" ;;
    2)
        refused=$((refused + 1))
        [ -s "$work/err" ] || complain "exit status 2 without a message"
        if [ "$usual" = 0 ] && grep -qE '^(FAIL|CRASH|TIMEOUT|ERROR) ' "$work/out"; then
            complain "a kernel is accused: $(grep -E '^(FAIL|CRASH|TIMEOUT|ERROR) ' "$work/out" | head -n 1)"
        fi ;;
    *) complain "exit status $status" ;;
    esac
    for file in $(find "$work/run" -type f); do
        name=${file#"$work/run/"}
        case $name in
        *.tmp) complain "$name is left" ;;
        *) [ -e "$work/made/$name" ] && { [ "$usual" = 1 ] || same "$file" "$work/made/$name"; } || complain "$name is not what it should be" ;;
        esac
    done
    [ -z "$(ls -A "$TMPDIR")" ] || { complain "left in TMPDIR: $(ls -A "$TMPDIR")"; rm -rf "$TMPDIR/"*; }
    left=$(ps -eo args | grep -F -- "$work" | grep -c 'host-')
    [ "$left" = 0 ] || complain "$left processes are left"
}

while read -r call count; do
    n=1 next=2
    while [ "$n" -le "$count" ]; do
        check_one "$@"
        if [ "$how" = all ]; then
            n=$((n + 1))
        else
            last=$n n=$next next=$((last + next))
        fi
    done
done < "$work/counts"
echo "$command: $tried injections, $fired of them fired, $refused ended in exit status 2, $wrong wrong"
[ "$fired" -gt 0 ] && [ $wrong = 0 ]
