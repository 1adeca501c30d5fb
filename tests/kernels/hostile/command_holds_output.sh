#!/bin/sh
# SPDX-License-Identifier: MIT
# Ends while a child holds its standard output open.
#
# verdict: CRASH
# says: the command ended without an answer: exit status 3
# options: --timeout 30
now() { [ "$seen" = 2 ] && mkdir "$STATE/lied" 2> /dev/null; }    # the second case, once
seen=0
while IFS="$(printf '\t')" read -r in out; do
    seen=$((seen + 1))
    if now; then
        sh -c "sleep 1000; : $TMPDIR hostile/command" &
        exit 3
    else
        echo "skip for now"
    fi
done
