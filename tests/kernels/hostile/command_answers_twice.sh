#!/bin/sh
# SPDX-License-Identifier: MIT
# Answers the same case twice.
#
# verdict: ERROR
# says: answered more than once
now() { [ "$seen" = 2 ] && mkdir "$STATE/lied" 2> /dev/null; }    # the second case, once
seen=0
while IFS="$(printf '\t')" read -r in out; do
    seen=$((seen + 1))
    if now; then
        printf "skip one\nskip two\n"
    else
        echo "skip for now"
    fi
done
