# SPDX-License-Identifier: MIT
# Usage, exit status, and the sentences.
. "$(dirname "$0")/helper.sh"

expect 0 --help
empty err
says out list show run check export "Exit status: 0 conformant, 1 not conformant, 2 could not judge"
cp out commands
expect 0 --version
says out "qkvec $VERSION" "corpus "
expect 2
says err "see qkvec --help"
expect 2 no_such_command
says err "qkvec: no_such_command: no such command"
empty out

for command in $(sed -n 's/^  \([a-z][a-z]*\)  .*/\1/p' commands); do
    expect 0 $command --help
    says out "usage: qkvec $command" "  qkvec $command"
    empty err
    expect 2 $command --no-such-option core/answer
    says err "qkvec: --no-such-option: no such option"
    empty out
done

for command in list show run check "export --c-header"; do
    expect 2 $command --vectors
    says err "qkvec: --vectors: needs a value"
    expect 2 $command --vectors no_such_dir core/answer
    says err "qkvec: no_such_dir/index.json: cannot be opened" "--vectors DIR"
    expect 2 $command no/such_vector
    expect 2 $command --help=yes core/answer
done

expect 0 check core/answer
says out "profile            float64" "reference"
expect 0 check --profile=float32 -- core/answer
says out "profile            float32"
expect 2 check --profile float33 core/answer
says err "qkvec: float33: no such profile"
expect 2 check --allow-missing core/answer
says err "--results"
expect 2 check --allow-missing=yes --results . core/answer
says err "takes no value"

# a report that nobody can read is none
if [ -c /dev/full ]; then
    for command in "list" "list --names" "show core/answer" "run core/answer" "check core/answer" "check --format json core/answer" \
                   "export --c-header core/answer" "--help" "--version" "check --help"; do
        "$QKVEC" $command > /dev/full 2> err
        status=$?
        last="qkvec $command > /dev/full"
        same $status 2 "exit status of: $last"
        says err "qkvec: standard output: cannot be written"
    done
fi
large=$("$QKVEC" list --names medium | head -n 1)    # prints more than a pipe holds
{ "$QKVEC" run "$large" 2> err; echo $? > status; } | true
last="qkvec run $large | true"
same "$(cat status)" 2 "exit status of: $last"
says err "qkvec: standard output: cannot be written"
finish
