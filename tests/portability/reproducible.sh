# SPDX-License-Identifier: MIT
# Two builds of one commit, in other directories, by other names, at another
# time: every installed file is the same. sh reproducible.sh [DIR]
. "$(dirname "$0")/helper.sh"
needs cmake cmake
export SOURCE_DATE_EPOCH=1700000000

build() {
    mkdir -p "$(dirname "$1")"
    cp -R "$source" "$1"
    rm -rf "$1"/build*
    quietly cmake -S "$1" -B "$2" -D BUILD_TESTING=OFF -D CMAKE_INSTALL_PREFIX=/usr
    quietly cmake --build "$2" -j "$3"
    DESTDIR="$work/$4" quietly cmake --install "$2"
}
rm -rf first second here "a longer way" "elsewhere built"    # of an earlier run
build here here/build "$(nproc)" first
(umask 077; TZ=Pacific/Auckland build "a longer way/to go" "elsewhere built" 1 second)

(cd first && find . -type f | sort) > names
(cd second && find . -type f | sort) > other_names
cmp -s names other_names || fail "other files: $(diff names other_names)"
[ "$(wc -l < names)" -gt 150 ] || fail "only $(wc -l < names) files"
while IFS= read -r name; do
    cmp "first/$name" "second/$name" || fail "$name differs"
done < names
echo "$(wc -l < names | tr -d ' ') files, all the same"
