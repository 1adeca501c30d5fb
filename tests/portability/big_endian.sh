# SPDX-License-Identifier: MIT
# s390x under qemu-user: the same verdicts from a machine of the other byte
# order. Its C library and zlib come from Debian, unpacked beside the build;
# nothing of them is installed. sh big_endian.sh [DIR]
. "$(dirname "$0")/helper.sh"
needs cmake cmake
needs clang clang    # gcc's cross compilers do not go together with gcc-multilib
needs s390x-linux-gnu-ld binutils-s390x-linux-gnu
needs dpkg-deb dpkg
needs apt-get apt
qemu=$(command -v qemu-s390x-static || command -v qemu-s390x || true)
[ "$qemu" ] || skip "there is no qemu-s390x (Debian: qemu-user-static)"

fetch() {
    mkdir -p apt/lists/partial cache/archives/partial debs
    : > apt/status
    private() {
        apt-get -q -o APT::Architecture=s390x -o APT::Architectures=s390x -o APT::Sandbox::User="$(id -un)" \
            -o Dir::State="$work/apt" -o Dir::State::status="$work/apt/status" -o Dir::Cache="$work/cache" "$@"
    }
    private update && cd debs \
        && private download libc6 libc6-dev linux-libc-dev "$(private --no-act install libgcc-12-dev > /dev/null 2>&1 && echo libgcc-12-dev || echo libgcc-14-dev)" libgcc-s1 zlib1g zlib1g-dev \
        && for deb in *.deb; do dpkg-deb -x "$deb" "$work/root"; done && cd ..
}
[ -e root/usr/include/zlib.h ] || fetch > log 2>&1 || { tail log; skip "Debian's packages for s390x cannot be had"; }

lib=$work/root/usr/lib/s390x-linux-gnu
cat > toolchain.cmake <<END
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR s390x)
set(CMAKE_SYSROOT "$work/root")
set(CMAKE_C_COMPILER clang)
set(CMAKE_C_COMPILER_TARGET s390x-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH "$work/root")
set(CMAKE_LIBRARY_ARCHITECTURE s390x-linux-gnu)
set(CMAKE_CROSSCOMPILING_EMULATOR "$qemu;-L;$work/root")
END
native
quietly cmake -S "$source" -B s390x -D BUILD_TESTING=OFF -D CMAKE_TOOLCHAIN_FILE="$work/toolchain.cmake"
quietly cmake --build s390x --target qkvec -j "$(nproc)"
file=$(od -A n -t x1 -j 5 -N 1 s390x/qkvec | tr -d ' ')
[ "$file" = 02 ] || fail "that is no big-endian program"
verdicts "$qemu" -L "$work/root" s390x/qkvec > s390x.verdicts
same_verdicts native.verdicts s390x.verdicts

# and what it writes, this machine reads
"$qemu" -L "$work/root" s390x/qkvec run --vectors "$source/vectors" core/answer -o answer.npz
mkdir -p results/core
mv answer.npz results/core
native/qkvec check --vectors "$source/vectors" --results results --profile float64 core/answer > log || { cat log; fail "its files are not ours"; }
