#!/bin/sh
# SPDX-License-Identifier: MIT
# Files of published versions of the corpus stay byte for byte.
#   published.sh VECTORS
set -eu

# VERSION COUNT HASH, as published; the hash is that of the lines "name sha256".
published='1.0.0 145 cf6cc360e39d49e3ef1035e181a1973d6e8c62c5c7a2987d2ce03ee789c88186'

# Compare the files of directory $1 with its lists and with the lines above.
check() (
    cd "$1" || exit 1
    echo "$published" | while read -r version count hash; do
        list=corpus-$version.sha256
        [ "$(wc -l < "$list" | tr -d ' ')" = "$count" ] || { echo "$list: found another number of files than $count"; exit 1; }
        found=$(awk '{ sub(/\.npz$/, "", $2); print $2 " " $1 }' "$list" | LC_ALL=C sort | sha256sum | cut -d ' ' -f 1)
        [ "$found" = "$hash" ] || { echo "$list: found the hash $found, wanted $hash"; exit 1; }
        sha256sum --check --quiet "$list" || exit 1
    done || exit 1
    for list in corpus-*.sha256; do
        version=${list#corpus-}
        echo "$published" | grep -q "^${version%.sha256} " || { echo "$list: published, but not listed in this script"; exit 1; }
    done
)

# The rule itself must be able to fail.
probe=$(mktemp -d)
trap 'rm -rf "$probe"' EXIT
cp -R "$1"/. "$probe"
check "$probe" > /dev/null || { echo "an unchanged copy is refused"; exit 1; }
printf x >> "$probe/core/answer.npz"
if check "$probe" > /dev/null 2>&1; then echo "an altered file is not noticed"; exit 1; fi
cp "$1/core/answer.npz" "$probe/core/answer.npz"
grep -v core/answer "$1/corpus-1.0.0.sha256" > "$probe/corpus-1.0.0.sha256"
if check "$probe" > /dev/null 2>&1; then echo "an altered list is not noticed"; exit 1; fi

check "$1"
