# SPDX-License-Identifier: MIT
# Which vectors are judged: only those that were published, or files by path.
. "$(dirname "$0")/helper.sh"

mkdir corpus
cp -R "$VECTORS/core" "$VECTORS/index.json" corpus

expect 0 check --vectors corpus core/answer
QKVEC_VECTORS=corpus expect 0 check core/answer
QKVEC_VECTORS=no_such_dir expect 2 check core/answer
QKVEC_VECTORS=no_such_dir expect 0 check --vectors corpus core/answer
QKVEC_VECTORS= expect 0 --version        # the source tree's own
says out "corpus "
lacks out "none found"

# an altered vector is never judged, by whatever name
"$EDIT" corpus/core/answer.npz corpus/core/answer.npz set output 0 99
expect 2 check --vectors corpus core/answer
says err "qkvec: corpus/core/answer.npz: this is not the published vector: found sha256 " ", the index says "
empty out
expect 2 check --vectors corpus core
empty out
expect 2 check --vectors corpus corpus/core/answer.npz
expect 2 check --vectors corpus ./corpus//core/../core/answer.npz
expect 2 show --vectors corpus core/answer
expect 2 run --vectors corpus core/answer
expect 2 export --vectors corpus --c-header core/answer
expect 2 list --vectors corpus core/answer
expect 0 check --vectors corpus core/self

# outside the corpus the same file is judged for what it is
cp corpus/core/answer.npz mine.npz
expect 1 check mine.npz
says out "FAIL mine.npz" "got" "expected 99"
lacks out "corpus  "
cp "$VECTORS/core/answer.npz" mine.npz
expect 0 check mine.npz
QKVEC_VECTORS=no_such_dir expect 0 check mine.npz
"$EDIT" mine.npz bare.npz drop output drop attn_weights
expect 0 check bare.npz

# an older version: its vectors, its hash, in every report and in the line to run again
hash=cf6cc360e39d49e3ef1035e181a1973d6e8c62c5c7a2987d2ce03ee789c88186
expect 0 check --corpus 1.0.0
says out "1.0.0, sha256 $hash" "145 passed, 0 failed"
expect 0 check --corpus 1.0.0 --format json 'fully_masked/*'
says out "\"corpus_version\":\"1.0.0\"" "\"corpus_hash\":\"$hash\""
lacks out self_row
expect 0 check fully_masked/self_row
lacks out "$hash"
expect 2 check --corpus 1.0.0 fully_masked/self_row
says err "qkvec: fully_masked/self_row: not in corpus 1.0.0; fully_masked/self_row is there since 1.1.0"
empty out
expect 2 check --corpus 1.0.0 "$VECTORS/fully_masked/self_row.npz"
says err "not in corpus 1.0.0"
expect 2 check --corpus 1.0
says err "qkvec: 1.0: no such version of the corpus; wanted 1.0.0 or 1.1.0"
empty out
QKVEC_VECTORS=no_such_dir expect 2 check --corpus 1.0.0 mine.npz
mkdir results
expect 1 check --corpus 1.0.0 --results results core/answer
says out "qkvec check --corpus 1.0.0 --results results"

# files that are missing or are none
rm corpus/core/answer.npz
expect 2 check --vectors corpus core/answer
says err "qkvec: corpus/core/answer.npz: "
echo "no archive" > none.npz
expect 2 check none.npz
says err "qkvec: none.npz: "
expect 2 check core/self none.npz
empty out
expect 2 check .
expect 2 check --vectors corpus/index.json core/self
head -c 1000 "$VECTORS/core/self.npz" > cut.npz
expect 2 check cut.npz
says err "qkvec: cut.npz: "

# index.json: every way to be wrong is a sentence with its line
index() {
    printf "$1" > corpus/index.json
    expect 2 check --vectors corpus core/self
    says err "qkvec: corpus/index.json: $2"
}
hash=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
index '' "line 1: not the JSON of an index"
index '[]' "line 1: not the JSON of an index"
index '{"format":1,\n"vectors":[{]}' "line 2: not the JSON of an index"
index '{"format":2}' "found format 2, wanted 1"
index '{}' "found format none, wanted 1"
index '{"format":1}' "has no corpus_version or no corpus_hash"
head='"format":1,"corpus_version":"1","corpus_hash":"'$hash'"'
index "{$head,\"vectors\":[]}" "lists no vector"
index "{$head,\"vectors\":[{\"name\":\"../up\",\"sha256\":\"$hash\"}]}" "line 1: found the name '../up'"
index "{$head,\"vectors\":[{\"name\":\"a/b/c\",\"sha256\":\"$hash\"}]}" "line 1: found the name 'a/b/c'"
index "{$head,\"vectors\":[{\"name\":\"a/b\",\"sha256\":\"12\"}]}" "line 1: a/b: no sha256 of 64 digits"
one="{\"name\":\"a/b\",\"sha256\":\"$hash\"}"
index "{$head,\"vectors\":[$one,$one]}" "lists a/b twice"
index "{$head,\"vectors\":[$one]}" "its corpus_hash is not that of the vectors"
index "{$head,\"vectors\":[$one,]}" "line 1: not the JSON of an index"
index "{$head,\"vectors\":[$one],\"versions\":[{\"version\":\"2\",\"hash\":\"$hash\"}]}" "its corpus_version 1 and corpus_hash are not those"
index "{$head,\"vectors\":[$one],\"versions\":[{\"version\":\"1\"}]}" "line 1: a version without its name or its hash"
index "{$head,\"vectors\":[$one],\"versions\":[{\"version\":\"1\",\"hash\":\"$hash\"},{\"version\":\"1\",\"hash\":\"$hash\"}]}" "line 1: lists the version 1 twice"
index "{$head,\"vectors\":[{\"name\":\"a/b\",\"since\":\"3\",\"sha256\":\"$hash\"}]}" "a/b: found since 3, wanted one of its versions"
index "{$head,\"vectors\":[$one]} x" "line 1: not the JSON of an index"
finish
