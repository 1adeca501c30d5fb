# SPDX-License-Identifier: MIT
# An installation may be moved: the program finds its vectors by where it is.
. "$(dirname "$0")/helper.sh"

cp -R "$PREFIX" "elsewhere"
rm -rf "elsewhere/share/qkvec/vectors/mask" elsewhere/include
"$work/elsewhere/bin/qkvec" check --vectors "$PREFIX/share/qkvec/vectors" mask > /dev/null
if "$work/elsewhere/bin/qkvec" check mask > out 2> err; then
    fail "it looks into the old place"
fi
grep -q "^qkvec: $(pwd -P)/elsewhere/share/qkvec/vectors/mask/" err || fail "$(cat err)"

# by PATH, by a link, from another directory
mkdir links
ln -s ../elsewhere/bin/qkvec links/qkvec
for path in "$work/links" "$work/elsewhere/bin"; do
    (cd / && PATH="$path:$PATH" qkvec --version) > out
    grep -q "^corpus .* vectors" out || fail "by PATH=$path: $(cat out)"
done

# DESTDIR, as packagers do
DESTDIR="$work/stage" "$CMAKE" --install "$BUILD" --prefix /usr > log
"$work/stage/usr/bin/qkvec" --version | grep -q "^corpus .* vectors" || fail "below DESTDIR"
