#!/bin/sh
# SPDX-License-Identifier: MIT
# Never answers, nor do its children.
#
# verdict: TIMEOUT
# says: no answer within 1 seconds
# options: --timeout 1
now() { [ "$seen" = 2 ] && mkdir "$STATE/lied" 2> /dev/null; }    # the second case, once
seen=0
while IFS="$(printf '\t')" read -r in out; do
    seen=$((seen + 1))
    if now; then
        sleep 1000 &
        sleep 1000
    else
        echo "skip for now"
    fi
done
