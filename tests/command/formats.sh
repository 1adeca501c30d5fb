# SPDX-License-Identifier: MIT
# check --format text, tap, junit, json: passes, failures, skips, nothing judged.
. "$(dirname "$0")/helper.sh"

# field JSON KEY...: what CMake's reader finds there
field() {
    file=$1
    shift
    printf 'file(READ "%s" j)\nstring(JSON v GET "${j}" %s)\nmessage("${v}")\n' "$work/$file" "$*" > field.cmake
    "$CMAKE" -P field.cmake 2>&1
}

results mixed core/answer core/self
"$EDIT" mixed/core/self.npz mixed/core/self.npz set output 0 nan
set -- --results mixed --allow-missing core/answer core/self core/cross

# text
hash=$(sed -n 's/.*"corpus_hash": *"\([0-9a-f]*\)".*/\1/p' "$VECTORS/index.json" | head -n 1)
expect 1 check "$@"
grep -Eq '^core +3 +1 +1 +1 ' out || complain "no row of the category"
says out "FAIL core/self" "skip core/cross" "not conformant" "sha256 $hash"
printf '\033' > escape
grep -qF -f escape out && complain "colours in a pipe"

# tap
expect 1 check --format tap "$@"
same "$(head -n 1 out)" "TAP version 13" "the first line of TAP"
says out "1..3" "ok 1 - core/answer" "ok 2 - core/cross # SKIP" "not ok 3 - core/self" "  ---" "  ..."
expect 2 check --format tap --results mixed --allow-missing core/cross
says out "Bail out!"

# junit
expect 1 check --format junit "$@"
says out '<?xml version="1.0" encoding="UTF-8"?>' 'tests="3" failures="1" errors="0" skipped="1"' \
    '<testcase classname="core" name="core/answer"/>' '<failure type="fail"' '<skipped message='
if command -v python3 > /dev/null; then
    python3 -c 'import sys, xml.dom.minidom as d; assert len(d.parse(sys.argv[1]).getElementsByTagName("testcase")) == 3' out \
        || complain "not well-formed XML"
fi
expect 2 check --format junit --results mixed --allow-missing core/cross
says out 'errors="1"'

# json
expect 1 check --format json "$@"
same "$(field out format)" 1 "format"
same "$(field out certificate profile)" float32 "profile"
same "$(field out certificate kernel)" mixed "kernel"
same "$(field out certificate program)" "$VERSION" "program"
same "$(field out certificate passed) $(field out certificate failed) $(field out certificate skipped)" "1 1 1" "counts"
same "$(field out results 0 vector) $(field out results 0 verdict)" "core/answer pass" "first result"
same "$(field out results 1 verdict)" skip "second result"
same "$(field out results 2 verdict)" fail "third result"
same "$(field out results 2 first_wrong_stage)" output "first wrong stage"
same "$(field out results 2 worst stage)" output "worst stage"
same "$(field out results 2 worst index 2)" 0 "worst index"
same "$(field out results 2 worst got)" nan "a number that is not finite"
same "$(field out results 2 worst error_sigma)" inf "an infinite error"
same "$(field out results 0 meets) $(field out results 0 policy)" "float64 pytorch" "what it meets"
case $(field out diagnosis) in "["*"]") ;; *) complain "diagnosis is no array" ;; esac
expect 2 check --format json --results mixed --allow-missing core/cross
same "$(field out certificate verdict)" "nothing was judged" "the verdict on nothing"

expect 2 check --format yaml core/answer
says err "qkvec: yaml: no such format"
empty out
finish
