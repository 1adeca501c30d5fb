#!/bin/sh
# SPDX-License-Identifier: MIT
# Says ok and writes nothing.
#
# verdict: ERROR
# says: answered ok, but wrote no file where it was told to
now() { [ "$seen" = 2 ] && mkdir "$STATE/lied" 2> /dev/null; }    # the second case, once
seen=0
while IFS="$(printf '\t')" read -r in out; do
    seen=$((seen + 1))
    if now; then
        echo ok
    else
        echo "skip for now"
    fi
done
