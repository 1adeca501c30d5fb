#!/bin/sh
# SPDX-License-Identifier: MIT
# The rooms of ref/ stand above each other: recipe, store, judge, command. A
# file includes from its own room and from lower ones, never from a higher one.
#   rooms.sh REF
set -eu

# Lines that look up, of the tree at $1: "FILE:LINE:#include ...".
upward() (
    cd "$1"
    grep -rnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"([^"]*/)?(store|judge|command)/' recipe || true
    grep -rnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"([^"]*/)?(judge|command)/' store || true
    grep -rnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"([^"]*/)?command/' judge || true
)

# The rule itself must be able to fail.
probe=$(mktemp -d)
trap 'rm -rf "$probe"' EXIT
mkdir "$probe/recipe" "$probe/store" "$probe/judge"
echo '#include "../store/npz.h"' > "$probe/recipe/a.c"
echo ' #  include "../judge/judge.h"' > "$probe/store/b.h"
echo '#include "command/command.h"' > "$probe/judge/c.c"
printf '#include "../recipe/mha.h"\n#include "sha256.h"\n' > "$probe/store/fine.c"
if [ "$(upward "$probe" | wc -l)" != 3 ]; then
    echo "the rule misses what it is there for:"
    upward "$probe"
    exit 1
fi

for room in recipe store judge command; do
    ls "$1/$room"/*.c > /dev/null
done
found=$(upward "$1")
if [ -n "$found" ]; then
    echo "a lower room includes a higher one:"
    echo "$found"
    exit 1
fi
