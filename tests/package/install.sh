# SPDX-License-Identifier: MIT
# cmake --install, to a prefix with a space in its name.
. "$(dirname "$0")/helper.sh"

rm -rf "$PREFIX"
"$CMAKE" --install "$BUILD" --prefix "$PREFIX" > log || { cat log; fail "cmake --install"; }
for file in bin/qkvec include/qkvec/kernel.h include/qkvec/qkvec.h "$LIBDIR/libqkvec.so" \
            "$LIBDIR/pkgconfig/qkvec.pc" "$LIBDIR/cmake/qkvec/qkvec-config.cmake" \
            share/man/man1/qkvec.1 share/bash-completion/completions/qkvec \
            share/doc/qkvec/docs/porting.md share/doc/qkvec/tests/kernels/examples/plain.c \
            share/qkvec/vectors/index.json share/qkvec/vectors/core/answer.npz share/qkvec/vectors/README.md; do
    [ -s "$PREFIX/$file" ] || fail "$file is not installed"
done
"$PREFIX/bin/qkvec" list > list
grep -q '^core/answer	' list || fail "the installed program does not find its vectors"
"$PREFIX/bin/qkvec" check core > /dev/null || fail "the installed program judges otherwise"

# nothing in it knows where it was built
grep -rlF -e "$SOURCE" -e "$BUILD" "$PREFIX" > found || true
[ ! -s found ] || fail "paths of the build in: $(cat found)"

# the pages' links lead somewhere
"$LINKS" "$PREFIX/share/doc/qkvec" > found || { cat found; fail "dead links in the installed pages"; }
