#!/bin/sh
# SPDX-License-Identifier: MIT
# Writes its input: an archive without an output.
#
# verdict: FAIL
# says: output: not given
now() { [ "$seen" = 2 ] && mkdir "$STATE/lied" 2> /dev/null; }    # the second case, once
seen=0
while IFS="$(printf '\t')" read -r in out; do
    seen=$((seen + 1))
    if now; then
        cp "$in" "$out"
        echo ok
    else
        echo "skip for now"
    fi
done
