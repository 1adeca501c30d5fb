#!/bin/sh
# SPDX-License-Identifier: MIT
# Closes its standard output and goes on.
#
# verdict: CRASH|TIMEOUT
# says: (the command ended without an|no) answer
# options: --timeout 1
now() { [ "$seen" = 2 ] && mkdir "$STATE/lied" 2> /dev/null; }    # the second case, once
seen=0
while IFS="$(printf '\t')" read -r in out; do
    seen=$((seen + 1))
    if now; then
        exec >&-
        sleep 1000
    else
        echo "skip for now"
    fi
done
