#!/bin/sh
# SPDX-License-Identifier: MIT
# Fails with a reason.
#
# verdict: ERROR
# says: the command says that it failed: no such device
now() { [ "$seen" = 2 ] && mkdir "$STATE/lied" 2> /dev/null; }    # the second case, once
seen=0
while IFS="$(printf '\t')" read -r in out; do
    seen=$((seen + 1))
    if now; then
        echo "fail no such device"
    else
        echo "skip for now"
    fi
done
