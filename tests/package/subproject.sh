# SPDX-License-Identifier: MIT
# add_subdirectory() and FetchContent give the program, the libraries and
# qkvec_add_conformance(), and nothing of the tests, pages and packages.
. "$(dirname "$0")/helper.sh"

ctest=$(dirname "$CMAKE")/ctest
configure() {    # DIR OPTION...
    dir=$1
    shift
    "$CMAKE" -S "$SOURCE/tests/consumer/subproject" -B "$dir" -G "$GENERATOR" -D QKVEC_SOURCE="$SOURCE" \
        -D CMAKE_C_COMPILER="$CC" -D CMAKE_C_FLAGS="$FLAGS" "$@" > log 2>&1 || { cat log; fail "configuring"; }
}
only_theirs() {
    (cd "$1" && "$ctest" -N) > list
    [ "$(grep -c 'Test *#' list)" = 2 ] || fail "$1: wanted their two tests: $(cat list)"
    "$CMAKE" --build "$1" --target help > targets || true
    if grep -wE "docs|bench|man|consumer|weave|test_npz" targets; then fail "$1: targets of ours"; fi
    # install() of the parent is the parent's alone
    "$CMAKE" --install "$1" --prefix "$work/prefix" > log 2>&1 || { cat log; fail "installing"; }
    [ ! -e "$work/prefix" ] || fail "$1: installs $(find "$work/prefix" | head -3)"
}

configure added -D ADD=ON
only_theirs added
configure fetched
only_theirs fetched
"$CMAKE" --build fetched -j 2 --target qkvec my_core > log 2>&1 || { tail -20 log; fail "building"; }
(cd fetched && "$ctest" --output-on-failure) > log 2>&1 || { cat log; fail "running"; }
