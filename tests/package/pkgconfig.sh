# SPDX-License-Identifier: MIT
# pkg-config, shared and static.
. "$(dirname "$0")/helper.sh"
needs pkg-config

export PKG_CONFIG_PATH="$PREFIX/$LIBDIR/pkgconfig"
[ "$(pkg-config --modversion qkvec)" = "$VERSION" ] || fail "another version"
eval "\"\$CC\" $FLAGS -std=c99 -Wall -Wextra -Wpedantic -Werror \"\$SOURCE/tests/consumer/main.c\" -o shared \
      $(pkg-config --cflags --libs qkvec)"
LD_LIBRARY_PATH="$PREFIX/$LIBDIR" ./shared || fail "shared"

if [ -e "$PREFIX/$LIBDIR/libqkvec.a" ]; then
    # the linker prefers a shared library of the same name
    mkdir alone
    cp "$PREFIX/$LIBDIR/libqkvec.a" alone
    eval "\"\$CC\" $FLAGS -std=c99 \"\$SOURCE/tests/consumer/main.c\" -o static -Lalone $(pkg-config --static --cflags --libs qkvec)"
    QKVEC_VECTORS="$(pkg-config --variable=vectors qkvec | sed 's/\\ / /g')" ./static || fail "static"
fi
