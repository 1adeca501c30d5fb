#!/bin/sh
# SPDX-License-Identifier: MIT
# two_speeds.sh BOTH PLAIN: the program that may use AVX2 and the one that may not print the same bits.
set -eu
both=$("$1") plain=$("$2")
test "$(printf '%s\n' "$both" | wc -l)" -eq 21
test "$both" = "$plain" || { printf 'with two speeds:\n%s\nwith one:\n%s\n' "$both" "$plain" >&2; exit 1; }
