# SPDX-License-Identifier: MIT
# cpack makes a .deb that installs and runs.
. "$(dirname "$0")/helper.sh"
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
[ -e root/usr/share/man/man1/qkvec.1 ] || fail "no man page"
