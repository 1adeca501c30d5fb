#!/bin/sh
# SPDX-License-Identifier: MIT
# The host itself.   QKVEC=... VECTORS=... host.sh TOPIC DIR PREFIX SUFFIX
set -u
topic=$1 libraries=$2 prefix=$3 suffix=$4
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/tmp"
export TMPDIR="$dir/tmp"

fail() { echo "$1"; head -c 2000 "$dir/out" "$dir/err" 2> /dev/null; exit 1; }
hostile() { echo "$libraries/${prefix}hostile_$1$suffix"; }
check() { "$QKVEC" check --vectors "$VECTORS" "$@" > "$dir/out" 2> "$dir/err"; }
# Processes that run for this test; $1 is a word of their command lines.
left() { ps -eo args | grep -F -- "$1" | grep -cE 'host-(worker|supervisor)|command_sleeps'; }
# Until the command "$@" succeeds, for ten seconds.
wait_for() {
    for _ in $(seq 100); do
        "$@" && return 0
        sleep 0.1
    done
    return 1
}
running() { [ "$(left "$1")" -gt 0 ]; }
gone() { [ "$(left "$1")" = 0 ]; }

case $topic in
jobs)    # side by side or not: the same verdicts
    for jobs in 1 3; do
        check --kernel "$(hostile aborts)" --jobs $jobs core causal mask
        sed "s/ --jobs [0-9]*//" "$dir/out" > "$dir/jobs$jobs"
    done
    cmp "$dir/jobs1" "$dir/jobs3" || fail "--jobs 3 gives another report"
    grep -q "CRASH causal" "$dir/out" || fail "wanted a crash" ;;
interrupted)    # Ctrl-C: what has been judged, and 130
    for kernel in loops answers_in_part; do
        "$QKVEC" check --vectors "$VECTORS" --kernel "$(hostile $kernel)" --timeout 60 core/answer causal/square > "$dir/out" 2> "$dir/err" &
        wait_for running "$(hostile $kernel)" || fail "no worker is running"
        sleep 1
        kill -INT $!
        wait $!
        status=$?
        [ $status = 130 ] || fail "wanted exit status 130, found $status"
        grep -q "interrupted: [0-9]* of 2 vectors were judged" "$dir/err" || fail "wanted how many were judged"
        grep -q "program " "$dir/out" || fail "wanted a report"
        [ "$(tail -n 1 "$dir/out")" = "interrupted, not a verdict" ] || fail "an interrupted run must end in no verdict"
        wait_for gone "$(hostile $kernel)" || fail "a worker was left behind"
    done
    for format in json junit tap; do
        "$QKVEC" check --vectors "$VECTORS" --kernel "$(hostile loops)" --format $format core/answer causal/square > "$dir/out" 2> "$dir/err" &
        wait_for running "$(hostile loops)" || fail "no worker is running"
        sleep 1
        kill -INT $!
        wait $!
        grep -q "interrupted, not a verdict" "$dir/out" || fail "$format: wanted: interrupted, not a verdict"
        grep -qE 'verdict" ?[:v][^ ]*"conformant' "$dir/out" && fail "$format: an interrupted run is called conformant"
    done
    "$QKVEC" fuzz --kernel "$(hostile loops)" --seed 1 --timeout 60 -o "$dir/none.npz" > "$dir/out" 2> "$dir/err" &
    wait_for running "$(hostile loops)" || fail "no worker is running"
    sleep 1
    kill -INT $!
    wait $!
    status=$?
    [ $status = 130 ] && [ ! -e "$dir/none.npz" ] || fail "random cases: wanted exit status 130 and nothing found, found $status"
    wait_for gone "$(hostile loops)" || fail "a worker was left behind" ;;
killed)    # SIGKILL: nothing is left, neither processes nor files
    "$QKVEC" check --vectors "$VECTORS" --kernel "$(hostile loops)" causal/square > "$dir/out" 2> "$dir/err" &
    wait_for running "$(hostile loops)" || fail "no worker is running"
    sleep 0.5
    kill -KILL $!
    wait_for gone "$(hostile loops)" || fail "a worker was left behind"
    STATE=$dir "$QKVEC" check --vectors "$VECTORS" --command "sh '$here/command_sleeps.sh' '$dir'" core/answer causal/square > "$dir/out" 2> "$dir/err" &
    wait_for running "$dir" || fail "no command is running"
    sleep 0.5
    kill -KILL $!
    wait_for gone "$dir" || fail "a command was left behind"
    wait_for test -z "$(ls -A "$TMPDIR")" || sleep 1
    [ -z "$(ls -A "$TMPDIR")" ] || fail "files were left behind: $(ls -A "$TMPDIR")" ;;
missing)    # usage: exit status 2 and a sentence
    escape=$(printf '\033[31mred')
    echo "no library" > "$dir/$escape.so"
    check --kernel "$dir/$escape.so" core/answer
    status=$?
    [ $status = 2 ] && grep -q "cannot be loaded" "$dir/err" || fail "a file that is no library: exit status $status"
    grep -q "$(printf '\033')" "$dir/err" && fail "what the loader says reaches the terminal as it is"
    check --kernel "$dir/none.so" core/answer
    status=$?
    [ $status = 2 ] && grep -q "none.so: cannot be loaded" "$dir/err" || fail "a library that is not there: exit status $status"
    check --kernel "$(hostile prints)" --core core/answer
    status=$?
    [ $status = 2 ] && grep -q "check it without --core" "$dir/err" || fail "a layer as a core: exit status $status"
    for words in "--core" "--jobs 2" "--kernel x --jobs 0" "--kernel x --timeout -1" "--kernel x --command y" "--command x --core"; do
        # shellcheck disable=SC2086    (words)
        check $words core/answer
        status=$?
        [ $status = 2 ] && [ -s "$dir/err" ] && [ ! -s "$dir/out" ] || fail "check $words: exit status $status"
    done ;;
report)    # what a kernel prints is not in our report; the rerun line has the adapter
    check --kernel "$(hostile prints)" --format json core/answer || fail "exit status $?"
    grep -q "not at all" "$dir/out" && fail "the kernel's output is in the report"
    grep -q "not at all" "$dir/err" || fail "the kernel's output is nowhere"
    check --kernel "$(hostile aborts)" --timeout 9 --once causal/square && fail "wanted a failure"
    grep -qF "qkvec check --vectors $VECTORS --kernel $(hostile aborts) --timeout 9 --once --profile float32 causal/square" "$dir/out" || fail "no rerun line" ;;
esac
