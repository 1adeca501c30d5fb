# SPDX-License-Identifier: MIT
# -m32: the same verdicts as this machine's own program, from a program of half
# its address space. sh bits32.sh [DIR]
. "$(dirname "$0")/helper.sh"
needs cmake cmake
echo 'int main(void) { return !(sizeof(void *) == 4); }' > probe.c
cc -m32 probe.c -o probe 2> /dev/null && ./probe || skip "cc -m32 does not work here (Debian: gcc-multilib)"
printf '#include <zlib.h>\nint main(void) { return !zlibVersion(); }\n' > probe.c
cc -m32 probe.c -o probe -lz 2> /dev/null || skip "there is no zlib of 32 bits (Debian: lib32z1-dev)"

native
quietly cmake -S "$source" -B m32 -D BUILD_TESTING=OFF -D CMAKE_C_FLAGS=-m32 -D ZLIB_LIBRARY="$(cc -m32 -print-file-name=libz.so)"
quietly cmake --build m32 -j "$(nproc)"
verdicts m32/qkvec > m32.verdicts
same_verdicts native.verdicts m32.verdicts

# where doubles are wider than they should be, and SSE2 is not to be had, it is not built
if cmake -S "$source" -B x87 -D BUILD_TESTING=OFF -D QKVEC_PLAIN_DOUBLES=OFF -D QKVEC_PLAIN_DOUBLES_BY_SSE2=OFF > log 2>&1; then
    fail "it can be built with the excess precision of the 387"
fi
grep -q "excess precision" log || { tail log; fail "no reason is given"; }
