#!/bin/sh
# SPDX-License-Identifier: MIT
# Skips everything: nothing was judged, which is no pass.
#
# verdict: NONE
# says: nothing was judged
while read -r line; do
    echo "skip $line"
done
