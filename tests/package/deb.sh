# SPDX-License-Identifier: MIT
# cpack makes a .deb that installs, runs and follows Debian's policy; where it
# cannot, it says so.
. "$(dirname "$0")/helper.sh"

# Without dpkg-shlibdeps: a .tar.gz, and the reason why there is no .deb.
sed -e 's/^set(CPACK_QKVEC_NO_DEB .*/set(CPACK_QKVEC_NO_DEB "no .deb is made: PROBE")/' "$BUILD/CPackConfig.cmake" > without.cmake
"$CPACK" -G TGZ -B "$work/tgz" --config without.cmake > log 2>&1 || { cat log; fail "cpack -G TGZ"; }
ls tgz/*.tar.gz > /dev/null || fail "no .tar.gz"
grep -q "no .deb is made: PROBE" log || fail "cpack does not say that there is no .deb: $(cat log)"
needs dpkg-deb
needs dpkg-shlibdeps
needs file

"$CPACK" -G DEB -B "$work/packed" --config "$BUILD/CPackConfig.cmake" > log 2>&1 || { cat log; fail "cpack"; }
deb=$(ls packed/*.deb)
dpkg-deb --info "$deb" > info
grep -q "^ Package: qkvec$" info || fail "$(cat info)"
grep -q "^ Version: $VERSION" info || fail "$(cat info)"
grep -q "^ Depends: .*libc6.*zlib1g\|^ Depends: .*zlib1g.*libc6" info || fail "dependencies: $(cat info)"

dpkg-deb -x "$deb" root
root/usr/bin/qkvec check core > out || { cat out; fail "the packed program judges otherwise"; }
[ -e root/usr/lib/libqkvec.so ] || fail "no library"
[ -e root/usr/share/man/man1/qkvec.1.gz ] || fail "no man page"

# The static library finds the vectors where the package puts them.
if [ "$(id -u)" = 0 ] && "$CC" -static $FLAGS -I root/usr/include "$SOURCE/tests/package/where.c" -o root/where \
        -L root/usr/lib -l:libqkvec.a -lz -lm 2> log; then
    chroot root /where > out || { cat out; fail "the static library does not find the packaged vectors"; }
else
    echo "not tried: a static program in a chroot (needs root and static libraries)"
fi

if command -v lintian > /dev/null; then
    lintian --no-cfg --allow-root --fail-on error "$deb" > out 2>&1 || { cat out; fail "lintian"; }
else
    echo "not checked by lintian, which is not here"
fi
