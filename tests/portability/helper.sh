# SPDX-License-Identifier: MIT
# For the scripts beside it. Each takes a directory to build in, which is kept
# and makes the next run short (default: a passing one); exit status 77 and a
# sentence where a tool is missing.
set -eu
source=$(cd "$(dirname "$0")/../.." && pwd)
unset QKVEC_VECTORS
export LC_ALL=C
if [ $# -gt 0 ]; then
    mkdir -p "$1"
    work=$(cd "$1" && pwd)
else
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
fi
cd "$work"

skip() {
    echo "SKIPPED: $*"
    exit 77
}

fail() {
    echo "WRONG: $*"
    exit 1
}

# needs TOOL PACKAGE
needs() {
    command -v "$1" > /dev/null || skip "there is no $1 (Debian: $2)"
}

# quietly COMMAND...: its output only where it fails
quietly() {
    "$@" > log 2>&1 || { tail -n 40 log; fail "$*"; }
}

# verdicts PROGRAM...: a line for each vector and profile, with verdict and what it meets
verdicts() {
    for profile in float64 float32 tf32 float16 bfloat16; do
        "$@" check --vectors "$source/vectors" --profile $profile --format json > report || true
        sed -n 's/^{"vector":\("[^"]*","verdict":.*\),"noise":.*/\1/p' report
    done
}

# same_verdicts NATIVE OTHER
same_verdicts() {
    passed=$(grep -c '"verdict":"pass"' "$1" || true)
    [ "$passed" -gt 500 ] || fail "only $passed native verdicts pass"
    cmp -s "$1" "$2" || fail "verdicts differ: $(diff "$1" "$2" | head -n 20)"
    echo "$(wc -l < "$2" | tr -d ' ') verdicts, all the same"
}

# The program of this machine, to compare with.
native() {
    quietly cmake -S "$source" -B native -D BUILD_TESTING=OFF
    quietly cmake --build native --target qkvec -j "$(nproc)"
    verdicts native/qkvec > native.verdicts
}
