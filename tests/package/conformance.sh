# SPDX-License-Identifier: MIT
# qkvec_add_conformance(): somebody else's kernel, one test for each vector.
. "$(dirname "$0")/helper.sh"

examples=$SOURCE/tests/kernels/examples
ctest=$(dirname "$CMAKE")/ctest
configure() {
    "$CMAKE" -S "$SOURCE/tests/consumer/conformance" -B build -G "$GENERATOR" -D CMAKE_PREFIX_PATH="$PREFIX" \
        -D CMAKE_C_COMPILER="$CC" -D CMAKE_C_FLAGS="$FLAGS" -D EXAMPLES="$1" > log 2>&1 || { cat log; fail "configuring"; }
    "$CMAKE" --build build > log 2>&1 || { cat log; fail "building"; }
}
tests() { (cd build && "$ctest" "$@") > log 2>&1; }

configure "$examples"
tests -j2 --output-on-failure --output-junit "$work/report.xml" || { cat log; fail "running"; }
grep -q "100% tests passed" log || fail "not all tests passed"
grep -q "qkvec.my_kernel.float32.bias_kv.bias .*Skipped" log || fail "what the kernel skips is no skipped test"
grep -q 'testcase name="qkvec.my_kernel.float32.core.answer"' report.xml || fail "no test of a vector in the JUnit file"
tests -N -L '^quick$' && [ "$(grep -c 'Test *#' log)" = 2 ] || fail "wanted two tests with the label quick"
tests -N -L '^core$' -R '^qkvec.my_core' && [ "$(grep -c 'Test *#' log)" -gt 3 ] || fail "wanted a test for each vector of core"

# A kernel that is wrong makes its tests fail.
mkdir wrong
sed 's/sqrtf((float)D)/sqrtf((float)E)/' "$examples/plain.c" > wrong/plain.c
cp "$examples/core.c" wrong
configure "$work/wrong"
if tests -R '^qkvec.my_kernel.float32.core.answer$'; then fail "a wrong kernel passed"; fi
grep -q "1 tests failed out of 1" log || { cat log; fail "a wrong kernel"; }
