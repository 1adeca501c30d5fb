#!/bin/sh
# SPDX-License-Identifier: MIT
# The rooms of ref/ stand on floors: a file includes from its own room and from
# rooms on lower floors, never from its own floor's other rooms or from above.
#   rooms.sh REF
set -eu

# FLOOR ROOM, from the bottom.
floors='1 store
1 recipe
1 include
2 corpus
2 envelope
2 faults
2 onnx
3 judge
4 checkpoint
4 diagnose
5 fuzz
5 report
5 host
6 command
6 library'

# Includes that are not allowed in the tree at $1: "FILE -> ROOM".
upward() (
    cd "$1"
    grep -roE --include='*.[ch]' '^[[:space:]]*#[[:space:]]*include[[:space:]]*"(\.\./)?[a-z]+/[^"]*"' . |
        sed -E 's|^\./([a-z]+)/([^:]*):.*"(\.\./)?([a-z]+)/.*|\1 \2 \4|' |
        awk -v floors="$floors" '
            BEGIN { n = split(floors, line, "\n"); for (i = 1; i <= n; i++) { split(line[i], f, " "); floor[f[2]] = f[1] } }
            !($1 in floor) { print $1 "/" $2 ": a room without a floor"; next }
            !($3 in floor) { print $1 "/" $2 ": includes from " $3 ", which is no room"; next }
            $1 != $3 && floor[$3] >= floor[$1] { print $1 "/" $2 " -> " $3 }'
)

# The rule itself must be able to fail.
probe=$(mktemp -d)
trap 'rm -rf "$probe"' EXIT
mkdir "$probe/recipe" "$probe/store" "$probe/judge" "$probe/library" "$probe/command" "$probe/host"
echo '#include "../store/npz.h"' > "$probe/recipe/a.c"
echo ' #  include "../judge/judge.h"' > "$probe/store/b.h"
echo '#include "command/command.h"' > "$probe/judge/c.c"
echo '#include "../command/plug.h"' > "$probe/library/d.c"
echo '#include "../report/report.h"' > "$probe/host/e.c"
printf '#include "../recipe/mha.h"\n#include "sha256.h"\n' > "$probe/judge/fine.c"
if [ "$(upward "$probe" | wc -l)" != 5 ]; then
    echo "the rule misses what it is there for:"
    upward "$probe"
    exit 1
fi

found=$(upward "$1")
if [ -n "$found" ]; then
    echo "a room includes from one that is not below it:"
    echo "$found"
    exit 1
fi
