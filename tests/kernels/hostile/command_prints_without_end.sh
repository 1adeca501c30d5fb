#!/bin/sh
# SPDX-License-Identifier: MIT
# Gigabytes without a line.
#
# verdict: ERROR
# says: answered a line of more than 4096 bytes
now() { [ "$seen" = 2 ] && mkdir "$STATE/lied" 2> /dev/null; }    # the second case, once
seen=0
while IFS="$(printf '\t')" read -r in out; do
    seen=$((seen + 1))
    if now; then
        while :; do printf "%01000d" 0; done
    else
        echo "skip for now"
    fi
done
