# SPDX-License-Identifier: MIT
# check --results: what is judged right, what is wrong and what is said about it.
. "$(dirname "$0")/helper.sh"

# the round trip
results good core/answer core/self fully_masked/first_row
expect 0 check --results good core/answer core/self fully_masked/first_row
empty err
says out "3 passed, 0 failed, 0 skipped" "kernel             good" "profile            float32" "output in 3"
expect 0 check --results good --profile float64 core/answer

# any other answer that the vector lists
mkdir -p zero/fully_masked
"$QKVEC" run --policy zero_rows -o zero/fully_masked/first_row.npz fully_masked/first_row
expect 0 check --results zero fully_masked/first_row
says out "one of the accepted answers"

# edited NAME EDIT...: good/core/answer with edits, judged under float32
edited() {
    rm -rf bad
    mkdir -p bad/core
    "$EDIT" good/core/answer.npz bad/core/answer.npz "$@" || complain "edit $*"
    expect "$want" check --results bad core/answer
}

want=0
edited keep output
says out "attn_weights not judged"
edited keep output single output            # rounded to float, as a kernel would write it
says out "1 passed"
expect 1 check --results bad --profile float64 core/answer
says out "You asked for float64; these results are float32."
edited rename attn_weights my_weights       # a member of no known name is told, and does no harm
says out my_weights

want=1
edited set output 7 99
says out "FAIL core/answer" "first wrong stage  output" "output[0,0,7]: got 99" "sigma" \
    "again              qkvec check --results bad --profile float32 core/answer" "not conformant"
edited set output 100 nan
says out "got nan"
edited set scores 0 99
says out "first wrong stage  scores"
edited transpose output                     # (L,N,E)
says out "(4, 2, 24)" "(2, 4, 24)" "transpose"
edited drop output
says out "output" "not given"
edited keep output rename output my_output  # a file without any stage
says out "FAIL core/answer"
edited keep output add extra set extra 0 1 drop output
says out "FAIL core/answer"

rm -rf bad
mkdir -p bad/core
echo "no archive" > bad/core/answer.npz
expect 1 check --results bad core/answer
says out "FAIL core/answer"

# files that are missing, and files that are too many
expect 1 check --results good core/answer core/cross
says out "FAIL core/cross" "1 passed, 1 failed"
expect 0 check --results good --allow-missing core/answer core/cross
says out "skip core/cross" "1 passed, 0 failed, 1 skipped"
mkdir -p good/cores
cp good/core/answer.npz good/cores/anser.npz
cp good/core/answer.npz good/stray.npz
expect 0 check --results good core/answer
says err "qkvec: good/cores/anser.npz: belongs to no vector" "qkvec: good/stray.npz: belongs to no vector"
lacks err "good/core/self.npz"

# nothing judged is never a pass
mkdir nothing
expect 2 check --results nothing --allow-missing core/answer
says err "nothing was judged"
says out "nothing was judged"
expect 1 check --results nothing core/answer
expect 2 check --results no_such_dir core/answer
says err "qkvec: no_such_dir: the results' directory cannot be read"

# the line that it prints works
results "it's here" core/answer
"$EDIT" "it's here/core/answer.npz" "it's here/core/answer.npz" set output 0 99
expect 1 check --results "it's here" core
again=$(grep 'again .*core/answer' out | tail -n 1 | sed 's/.*again *qkvec/"$QKVEC"/')
eval "$again" > again
status=$?
same $status 1 "exit status of: $again"
last=$again
says again "got 99" "0 passed, 1 failed"
finish
