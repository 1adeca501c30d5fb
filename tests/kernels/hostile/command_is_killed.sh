#!/bin/sh
# SPDX-License-Identifier: MIT
# Is killed in the middle of a case.
#
# verdict: CRASH
# says: the command ended without an answer: (SIGKILL|exit status 137)
now() { [ "$seen" = 2 ] && mkdir "$STATE/lied" 2> /dev/null; }    # the second case, once
seen=0
while IFS="$(printf '\t')" read -r in out; do
    seen=$((seen + 1))
    if now; then
        kill -9 $$
    else
        echo "skip for now"
    fi
done
