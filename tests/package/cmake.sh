# SPDX-License-Identifier: MIT
# find_package(qkvec).
. "$(dirname "$0")/helper.sh"

"$CMAKE" -S "$SOURCE/tests/consumer" -B "build dir" -G "$GENERATOR" -D CMAKE_PREFIX_PATH="$PREFIX" -D CMAKE_C_COMPILER="$CC" \
    -D CMAKE_C_FLAGS="$FLAGS" > log 2>&1 || { cat log; fail "configuring"; }
"$CMAKE" --build "build dir" > log 2>&1 || { cat log; fail "building"; }
cd "build dir"
"$(dirname "$CMAKE")/ctest" --output-on-failure || fail "running"

# other versions are refused
cd "$work"
mkdir old
printf 'cmake_minimum_required(VERSION 3.21)\nproject(old NONE)\nfind_package(qkvec 0.0.9 REQUIRED)\n' > old/CMakeLists.txt
if "$CMAKE" -S old -B old/build -D CMAKE_PREFIX_PATH="$PREFIX" > log 2>&1; then
    fail "version $VERSION is taken for 0.0.9"
fi
