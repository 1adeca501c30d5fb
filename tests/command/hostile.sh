# SPDX-License-Identifier: MIT
# Files that mean harm, through the command: exit status 2, a sentence that
# names the file, and neither memory nor time without end.
. "$(dirname "$0")/helper.sh"

data=$(cd "$VECTORS/../tests/unit/data" && pwd)
limited() { timeout 20 sh -c 'ulimit -v 1000000; exec "$@"' sh "$@"; }
if [ "${SANITIZE:-}" = ON ]; then    # which takes the whole address space for itself
    limited() { timeout 60 "$@"; }
fi

# refused FILE SENTENCE: by every command that reads a vector
refused() {
    shown=${3-$1}
    for command in "check" "show" "run" "export --c-header" "list"; do
        limited "$QKVEC" $command "$1" > out 2> err
        status=$?
        last="qkvec $command $1"
        same $status 2 "exit status of: $last"
        says err "qkvec: $shown: $2"
        same "$(wc -l < err | tr -d ' ')" 1 "lines of: $last"
        empty out
    done
}

for file in "$data"/bad_*; do
    cp "$file" .
    refused "$(basename "$file")" ""
done
refused bad_fortran.npz "a: found Fortran order, wanted C order"
refused bad_big_endian.npz "a: found >f4, which is big endian, wanted one of <f2"
refused bad_object.npz "a: found |O, pickled Python objects"
refused bad_zip_encrypted.npz "a.npy: encrypted"
refused bad_dotdot.npz "../a: wanted a flat name"

# readable archives that are no vectors
for file in numpy numpy_types python_pipe_zip64 7z npy_3; do
    cp "$data/$file.npz" .
    refused "$file.npz" ""
done
says err "wanted"

# what is no file
mkdir directory.npz
refused directory.npz "is a directory, wanted a regular file"
refused /dev/null "is a character device, wanted a regular file"
[ ! -c /dev/zero ] || refused /dev/zero "is a character device, wanted a regular file"
mkfifo pipe.npz
refused pipe.npz "is a pipe, wanted a regular file"
refused no_such_file.npz ""
: > empty.npz
refused empty.npz "empty, wanted a ZIP archive"
cp "$VECTORS/core/answer.npz" locked.npz
chmod 000 locked.npz
if ! cat locked.npz > /dev/null 2>&1; then    # root may read anything
    refused locked.npz "cannot be opened: Permission denied"
fi
if dd if=/dev/zero of=huge.npz bs=1 count=1 seek=1073741824 2> /dev/null; then    # a hole of 1 GiB
    refused huge.npz "has 1073741825 bytes, wanted at most"
    rm huge.npz
fi

# names that a terminal would obey
cp empty.npz "$(printf 'a\033[31mb\n.npz')"
refused "$(printf 'a\033[31mb\n.npz')" "empty" "a?[31mb?.npz"

# one byte less, one byte changed, one behind: a vector is whole or refused
size=$(wc -c < "$VECTORS/core/answer.npz")
for count in 0 1 21 22 100 $((size / 2)) $((size - 1)); do
    head -c "$count" "$VECTORS/core/answer.npz" > cut.npz
    refused cut.npz ""
done
for at in 14 60 $((size / 3)) $((size / 2)) $((size - 12)); do
    { head -c "$at" "$VECTORS/core/answer.npz"; printf '\377\001'; tail -c +$((at + 3)) "$VECTORS/core/answer.npz"; } > changed.npz
    refused changed.npz ""
done
{ cat "$VECTORS/core/answer.npz"; echo; } > longer.npz
refused longer.npz "a ZIP archive without its end"

# results that mean harm are their maker's failure, not an error of ours
mkdir -p results/core
cp "$data/bad_fortran.npz" results/core/answer.npz
expect 1 check --results results core/answer
says out "found Fortran order"
rm results/core/answer.npz
mkfifo results/core/answer.npz
limited "$QKVEC" check --results results core/answer > out 2> err
same $? 1 "exit status for a pipe among the results"
says out "is a pipe, wanted a regular file"

# a file that does not fit is no file: the old one stays as it was
medium=$("$QKVEC" list --names medium | head -n 1)
echo old > kept.npz
for words in "run $medium" "export --c-header $medium"; do
    (trap '' XFSZ; ulimit -f 8; "$QKVEC" $words -o kept.npz) > out 2> err
    same $? 2 "exit status of: qkvec $words -o, on a full disk"
    last="qkvec $words -o kept.npz"
    says err "qkvec: kept.npz: cannot be written: File too large"
    same "$(cat kept.npz)" old "what the old file holds after: $last"
    (trap '' XFSZ; ulimit -f 8; "$QKVEC" $words -o new.npz) > out 2> err
    [ ! -e new.npz ] || complain "half a file after: $last"
done
# and so where nobody asked for the signal to be ignored
(ulimit -f 8; "$QKVEC" run $medium -o kept.npz) > out 2> err
same $? 2 "exit status of: qkvec run -o, with SIGXFSZ"
same "$(cat kept.npz)" old "what the old file holds"
expect 2 run core/answer -o /dev/full
says err "qkvec: /dev/full: is a character device"
ls -A | grep -q 'tmp$' && complain "a passing file was left behind: $(ls -A)"

# killed in the middle: under the final name there is nothing, or all
mkdir -p killed/medium
for k in 1 2 3 4 5 6; do
    "$QKVEC" run "$medium" -o "killed/$medium.npz" 2> /dev/null &
    sleep 0.0$k
    kill -9 $! 2> /dev/null
    wait $! 2> /dev/null
    if [ -e "killed/$medium.npz" ]; then
        expect 0 check --results killed "$medium"
        rm "killed/$medium.npz"
    fi
done
finish
