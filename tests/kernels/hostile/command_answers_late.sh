#!/bin/sh
# SPDX-License-Identifier: MIT
# Answers when nobody waits any more.
#
# verdict: TIMEOUT
# says: no answer within 1 seconds \(is standard output flushed
# options: --timeout 1
now() { [ "$seen" = 2 ] && mkdir "$STATE/lied" 2> /dev/null; }    # the second case, once
seen=0
while IFS="$(printf '\t')" read -r in out; do
    seen=$((seen + 1))
    if now; then
        sleep 3
        echo ok
    else
        echo "skip for now"
    fi
done
