#!/bin/sh
# SPDX-License-Identifier: MIT
# Check the rooms of ref/, which stand on floors.
#   rooms.sh REF CC OBJECT;OBJECT;...
# A file includes from its own room and from rooms on lower floors, and no two
# files include each other in a circle. The same holds for calls: what one object
# file takes from another, by nm.
set -eu
ref=$1 cc=$2
shift 2
set -f
IFS=';'
# shellcheck disable=SC2048,SC2086
set -- $*
unset IFS
set +f

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

# Read lines "FROM TO", each ROOM/FILE. Print each line that leads to a room
# that is not on a lower floor than its own.
upward() {
    awk -v floors="$floors" '
        BEGIN { n = split(floors, line, "\n"); for (i = 1; i <= n; i++) { split(line[i], f, " "); floor[f[2]] = f[1] } }
        { split($1, a, "/"); split($2, b, "/") }
        !(a[1] in floor) { print $1 ": a room without a floor"; next }
        !(b[1] in floor) { print $1 " -> " $2 ", which is in no room"; next }
        a[1] != b[1] && floor[b[1]] >= floor[a[1]] { print $1 " -> " $2 }'
}

# Read the same lines. Print the circles.
circles() {
    tsort 2>&1 > /dev/null | sed 's/^tsort: //'
}

# Print "FILE INCLUDED" for each #include of the tree at $1. A path without ".."
# begins in the room of its file, or in ref/ or ref/include/ (-I).
includes() (
    cd "$1"
    grep -rE --include='*.[ch]' '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' . |
        sed -E 's|^\./([^:]*):.*"([^"]*)".*|\1 \2|' |
        while read -r from to; do
            case $to in
            ../*) echo "$from ${to#../}" ;;
            */*) [ -e "include/$to" ] && echo "$from include/$to" || echo "$from $to" ;;
            *) echo "$from ${from%/*}/$to" ;;
            esac
        done
)

# Print "FILE DEFINER" for each symbol that an object takes from another one.
calls() {
    nm -A -P -g "$@" | sed -E 's|^.*/ref/([a-z]+/[^/]*\.c)\.o: ([^ ]+) ([A-Za-z]).*|\1 \2 \3|' | awk '
        NF != 3 { next }
        $3 == "U" { needs[++n] = $1 " " $2; next }
        $3 ~ /[TDBRCVS]/ { home[$2] = $1 }
        END { for (i = 1; i <= n; i++) { split(needs[i], w, " "); if (w[2] in home && home[w[2]] != w[1]) print w[1], home[w[2]] } }' |
        sort -u
}

# Print what is wrong with the tree at $1 and the objects that follow.
wrong() {
    tree=$1
    shift
    includes "$tree" | upward | sed 's/^/includes upward: /'
    includes "$tree" | circles | sed 's/^/includes: /'
    calls "$@" | upward | sed 's/^/calls upward: /'
    calls "$@" | circles | sed 's/^/calls: /'
}

# Each rule must be able to fail.
probe=$(mktemp -d)
trap 'rm -rf "$probe"' EXIT
objects=
file() {    # ROOM/FILE TEXT
    mkdir -p "$probe/ref/${1%/*}"
    printf "$2" > "$probe/ref/$1"
}
object() {    # ROOM/FILE.c TEXT
    file "$1" "$2"
    "$cc" -c -o "$probe/ref/$1.o" "$probe/ref/$1"
    objects="$objects $probe/ref/$1.o"
}
expect() {    # WHAT LINES
    # shellcheck disable=SC2086
    found=$(wrong "$probe/ref" $objects)
    if [ "$(echo "$found" | grep -c .)" != "$2" ]; then
        echo "the probe \"$1\" should give $2 lines, and gives:"
        echo "$found"
        exit 1
    fi
    rm -rf "$probe/ref"
    objects=
}
file recipe/a.c '#include "../store/npz.h"\n'
file store/b.h ' #  include "../judge/judge.h"\n'
file judge/c.c '#include "command/command.h"\n'
file library/d.c '#include "../command/plug.h"\n'
file host/e.c '#include "../report/report.h"\n'
file judge/fine.c '#include "../recipe/mha.h"\n#include "judge.h"\n'
object judge/fine.c 'int fine(void) { return 0; }\n'
expect "a file includes from a room that is not below" 5
file store/a.h '#include "b.h"\n'
file store/b.h '#include "a.h"\n'
object store/c.c 'int c(void) { return 0; }\n'
expect "two headers include each other" 3
object store/a.c 'int judged(void); int a(void) { return judged(); }\n'
object judge/b.c 'int a(void); int judged(void) { return 0; } int b(void) { return a(); }\n'
expect "store calls judge and judge calls store" 4
object store/a.c 'extern const int table[2]; int a(void) { return table[1]; }\n'
object store/b.c 'int a(void); extern const int table[2]; const int table[2] = { 1, 2 }; int b(void) { return a(); }\n'
expect "two files take from each other" 3
object judge/a.c 'int b(void); int a(void) { return b(); }\n'
object store/b.c 'int b(void) { return 0; }\n'
expect "judge calls store" 0

found=$(wrong "$ref" "$@")
if [ -n "$found" ]; then
    echo "$found"
    exit 1
fi
if [ "$(calls "$@" | wc -l)" -lt 200 ]; then
    echo "of $# objects, nm shows hardly any that takes from another"
    exit 1
fi
