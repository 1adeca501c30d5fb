# SPDX-License-Identifier: MIT
. "$(dirname "$0")/helper.sh"

expect 0 list
empty err
same "$(wc -l < out | tr -d ' ')" "$(grep -c '"sha256"' "$VECTORS/index.json")" "lines of list"
says out "core/answer	N=2 L=4 S=4 E=24 H=3 D=8"
cut -f 1 out > names
sort -c names || complain "list is not sorted"
awk -F '\t' 'NF != 7 { exit 1 }' out || complain "not seven columns everywhere"

expect 0 list --names
cmp -s out names || complain "list --names has other names"

# patterns: one, a category, globs, several, overlapping, a path
expect 0 list --names core/answer
same "$(cat out)" core/answer "list core/answer"
expect 0 list --names core
same "$(cat out)" "$(grep '^core/' names)" "list core"
expect 0 list --names 'core/*'
same "$(cat out)" "$(grep '^core/' names)" "list core/*"
expect 0 list --names '*/*' core core/answer
cmp -s out names || complain "overlapping patterns list a vector twice"
expect 0 list --names "$VECTORS/core/answer.npz"
same "$(cat out)" core/answer "a vector of the corpus by its path"
cp "$VECTORS/core/answer.npz" mine.npz
expect 0 list mine.npz core/self
same "$(cut -f 1 out)" "core/self
mine.npz" "a file outside comes last"

# versions of the corpus: all up to one, or those that one added
expect 0 list --corpus 1.0.0
same "$(wc -l < out | tr -d ' ')" 145 "lines of list --corpus 1.0.0"
cut -f 7 out | sort -u > since
same "$(cat since)" 1.0.0 "the last column of list --corpus 1.0.0"
expect 0 list --names --corpus 1.0.0
mv out old
expect 0 list --names --since 1.1.0
mv out added
grep -q '^fully_masked/self_row$' added || complain "fully_masked/self_row is not of 1.1.0"
sort old added | cmp -s - names || complain "1.0.0 and what was added since are not all"
expect 0 list --names --since 1.1.0 --corpus 1.0.0
empty out
for option in --corpus --since; do
    expect 2 list $option 9.9.9
    says err "9.9.9: no such version of the corpus; wanted 1.0.0 or 1.1.0"
    empty out
done

expect 0 list fully_masked/first_row
says out zero_rows
expect 2 list core/no_such_vector
says err "qkvec: core/no_such_vector: no vector of that name, and no file"
empty out
expect 2 list 'nothing*'
expect 0 list --help
says out "usage: qkvec list" "--names"
finish
