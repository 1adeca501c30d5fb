#!/bin/sh
# SPDX-License-Identifier: MIT
# Writes a file that is none.
#
# verdict: ERROR
# says: the file that it wrote: 
now() { [ "$seen" = 2 ] && mkdir "$STATE/lied" 2> /dev/null; }    # the second case, once
seen=0
while IFS="$(printf '\t')" read -r in out; do
    seen=$((seen + 1))
    if now; then
        echo "no archive" > "$out"
        echo ok
    else
        echo "skip for now"
    fi
done
