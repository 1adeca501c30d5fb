#!/bin/sh
# SPDX-License-Identifier: MIT
# Prints what was meant for the screen.
#
# verdict: ERROR
# says: answered "loading the model"; wanted ok, skip REASON or fail REASON
now() { [ "$seen" = 2 ] && mkdir "$STATE/lied" 2> /dev/null; }    # the second case, once
seen=0
while IFS="$(printf '\t')" read -r in out; do
    seen=$((seen + 1))
    if now; then
        echo "loading the model"
    else
        echo "skip for now"
    fi
done
