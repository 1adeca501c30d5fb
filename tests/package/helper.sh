# SPDX-License-Identifier: MIT
# For the scripts beside it. PREFIX, with a space in it, is where package.install
# puts everything; LIBDIR is relative to it.
set -eu
unset QKVEC_VECTORS DESTDIR
export LC_ALL=C
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() {
    echo "WRONG: $*"
    exit 1
}

# needs TOOL: or the test is skipped
needs() {
    command -v "$1" > /dev/null || { echo "SKIPPED: there is no $1 here"; exit 77; }
}
