#!/bin/sh
# SPDX-License-Identifier: MIT
# The rooms of ref/ stand above each other: recipe, store, judge, and on top of
# these library and command, which know nothing of each other. A file includes from its own room and from lower ones, never from a higher one.
#   rooms.sh REF
set -eu

# Lines that look up, of the tree at $1: "FILE:LINE:#include ...".
upward() (
    cd "$1"
    grep -rnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"([^"]*/)?(store|judge|library|command)/' recipe || true
    grep -rnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"([^"]*/)?(judge|library|command)/' store || true
    grep -rnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"([^"]*/)?(library|command)/' judge || true
    grep -rnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"([^"]*/)?command/' library || true
    grep -rnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"([^"]*/)?library/' command || true
)

# The rule itself must be able to fail.
probe=$(mktemp -d)
trap 'rm -rf "$probe"' EXIT
mkdir "$probe/recipe" "$probe/store" "$probe/judge" "$probe/library" "$probe/command"
echo '#include "../store/npz.h"' > "$probe/recipe/a.c"
echo ' #  include "../judge/judge.h"' > "$probe/store/b.h"
echo '#include "command/command.h"' > "$probe/judge/c.c"
echo '#include "../command/plug.h"' > "$probe/library/d.c"
echo '#include "../library/library.h"' > "$probe/command/e.c"
printf '#include "../recipe/mha.h"\n#include "sha256.h"\n' > "$probe/store/fine.c"
if [ "$(upward "$probe" | wc -l)" != 5 ]; then
    echo "the rule misses what it is there for:"
    upward "$probe"
    exit 1
fi

for room in recipe store judge library command; do
    ls "$1/$room"/*.c > /dev/null
done
found=$(upward "$1")
if [ -n "$found" ]; then
    echo "a lower room includes a higher one:"
    echo "$found"
    exit 1
fi
