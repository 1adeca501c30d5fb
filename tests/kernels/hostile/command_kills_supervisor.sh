#!/bin/sh
# SPDX-License-Identifier: MIT
# Kills the process between it and the judge, with a child in a session of its own.
#
# verdict: CRASH
# says: the command ended without an answer: SIGKILL
now() { [ "$seen" = 2 ] && mkdir "$STATE/lied" 2> /dev/null; }    # the second case, once
seen=0
while IFS="$(printf '\t')" read -r in out; do
    seen=$((seen + 1))
    if now; then
        setsid sh -c "sleep 1000; : $TMPDIR hostile/command" > /dev/null 2>&1 &
        kill -9 $PPID
        sleep 1000
    else
        echo "skip for now"
    fi
done
