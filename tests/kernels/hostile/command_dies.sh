#!/bin/sh
# SPDX-License-Identifier: MIT
# Ends in the middle of a case.
#
# verdict: CRASH
# says: the command ended without an answer: exit status 3
now() { [ "$seen" = 2 ] && mkdir "$STATE/lied" 2> /dev/null; }    # the second case, once
seen=0
while IFS="$(printf '\t')" read -r in out; do
    seen=$((seen + 1))
    if now; then
        exit 3
    else
        echo "skip for now"
    fi
done
