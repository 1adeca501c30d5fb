# SPDX-License-Identifier: MIT
# --kernel: how a library is found.
. "$(dirname "$0")/helper.sh"

tests=$(dirname "$0")/..
"$CC" -O1 -shared -fPIC -I "$tests/../ref/include" -o libbeside.so "$tests/kernels/examples/plain.c" -lm || complain "building"

# A name without a slash is a file that is here.
expect 0 check --kernel libbeside.so core/answer
expect 0 check --kernel ./libbeside.so core/answer
mkdir below
cd below || exit 1
expect 2 check --kernel libbeside.so core/answer
says err "libbeside.so"

finish
