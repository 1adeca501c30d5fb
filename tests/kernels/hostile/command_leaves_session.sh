#!/bin/sh
# SPDX-License-Identifier: MIT
# Leaves a process behind, in a session of its own.
#
# verdict: SKIPS
# says: 
now() { [ "$seen" = 2 ] && mkdir "$STATE/lied" 2> /dev/null; }    # the second case, once
seen=0
while IFS="$(printf '\t')" read -r in out; do
    seen=$((seen + 1))
    if now; then
        setsid sh -c "sleep 1000; : $TMPDIR hostile/command" > /dev/null 2>&1 < /dev/null &
        echo "skip with a child"
    else
        echo "skip for now"
    fi
done
