# SPDX-License-Identifier: MIT
# For the scripts beside it: . "$(dirname "$0")/helper.sh"
# The environment names QKVEC (the program), EDIT, CC, CMAKE, VECTORS, VERSION.
# Each script works in an empty directory of its own and ends with finish.

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
unset NO_COLOR
export QKVEC_VECTORS="$VECTORS" LC_ALL=C
wrong=0

complain() {
    echo "WRONG: $*"
    wrong=$((wrong + 1))
}

# expect STATUS ARGUMENT...: run qkvec; its output is in ./out and ./err
expect() {
    wanted=$1
    shift
    "$QKVEC" "$@" > out 2> err
    status=$?
    last="qkvec $*"
    if [ $status != "$wanted" ]; then
        complain "$last: exit status $status, wanted $wanted"
        head -n 30 out err
    fi
}

# says FILE TEXT...: each text is in the file
says() {
    file=$1
    shift
    for text in "$@"; do
        if ! grep -qF -e "$text" "$file"; then
            complain "$last: $file does not say: $text"
            head -n 30 "$file"
        fi
    done
}

# lacks FILE TEXT...: none of them is
lacks() {
    file=$1
    shift
    for text in "$@"; do
        if grep -qF -e "$text" "$file"; then
            complain "$last: $file says: $text"
        fi
    done
}

# empty FILE
empty() {
    if [ -s "$1" ]; then
        complain "$last: $1 is not empty"
        head -n 10 "$1"
    fi
}

# same ACTUAL WANTED WHAT
same() {
    [ "$1" = "$2" ] || complain "$3: found '$1', wanted '$2'"
}

# results DIR NAME...: what the reference makes of these vectors
results() {
    dir=$1
    shift
    for name in "$@"; do
        mkdir -p "$dir/$(dirname "$name")"
        "$QKVEC" run -o "$dir/$name.npz" "$name" || complain "qkvec run -o $dir/$name.npz"
    done
}

finish() {
    [ $wrong = 0 ] || echo "$wrong wrong"
    exit $((wrong > 0))
}
