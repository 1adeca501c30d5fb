#!/bin/sh
# SPDX-License-Identifier: MIT
# can_fail.sh WEAVE LINKS QKVEC SOURCE: a page that is stale or broken is told
# with its line, and written anew it is right again.
weave=$1 links=$2 qkvec=$3 source=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
page=$work/page.md
wrong=0

# tells STATUS TEXT: weave --check ends so and says this
tells() {
    "$weave" --check "$page" "$qkvec" "$source" > "$work/out" 2>&1
    status=$?
    if [ $status != "$1" ] || ! grep -qF -e "$2" "$work/out"; then
        echo "WRONG: status $status, wanted $1 and: $2"
        cat "$work/out"
        wrong=$((wrong + 1))
    fi
}
fresh() {
    cp "$source/docs/walkthrough.md" "$page"
    [ "$("$weave" --check "$page" "$qkvec" "$source" && echo right)" = right ] || { echo "WRONG: the page itself is stale"; exit 1; }
}
# spoil SED: change the page, and name the first line that changed
spoil() {
    sed -e "$1" "$page" > "$work/new"
    line=$(cmp "$page" "$work/new" | sed 's/.*line //')
    [ "$line" ] || { echo "WRONG: nothing to spoil by $1"; wrong=$((wrong + 1)); }
    mv "$work/new" "$page"
}

for change in 's/^   2   2   0   1  |/   2   2   0   3  |/' 's/= h \* D + d\]/= h * D - d]/; s/(n \* T + t) \* E + h \* D + d\];/(n * T + t) * E + d];/' \
    's/^- sum \/ (real)H/- sum \/ H/' 's/^PyTorch                   A0  A0/PyTorch                   A0  B0/' 's/ vectors 1\([0-9]*\) reject/ vectors 9\1 reject/' \
    's/^| `output` | (2, 4, 24) | \(.*\) | [0-9.]* |$/| `output` | (2, 4, 24) | \1 | 9.9 |/'; do
    fresh
    spoil "$change"
    tells 1 "page.md:$line: stale"
    "$weave" "$page" "$qkvec" "$source"
    cmp "$page" "$source/docs/walkthrough.md" || wrong=$((wrong + 1))
done

printf 'a\n<!-- code: no_such_function -->\n<!-- end -->\n' > "$page"
tells 1 "page.md:2: mha.c has no function no_such_function"
printf '<!-- mistake: no_such_mistake -->\n<!-- end -->\n' > "$page"
tells 1 'page.md:1: faults.txt has no "no_such_mistake"'
printf '<!-- nonsense: x -->\n<!-- end -->\n' > "$page"
tells 1 'page.md:1: there is no directive "nonsense"'
printf '<!-- run: qkvec show no/such -->\n<!-- end -->\n' > "$page"
tells 1 "page.md:1: the command ends with status 2"
printf '<!-- code: split -->\ntext\n' > "$page"
tells 1 "has no <!-- end -->"

# a link that leads nowhere, an anchor that is not there, a page that nobody links
mkdir -p "$work/site/docs" "$work/site/vectors"
{
    for k in 1 2 3 4 5 6 7 8 9; do printf '[a](docs/a.md#the-one--only) '; done
    printf '\n[b](docs/b.md)\n[c](docs/a.md#two)\n```\n[d](nowhere)\n```\n`[e](nowhere)` <https://example.com>\n'
} > "$work/site/README.md"
printf '# The one & only\n' > "$work/site/docs/a.md"
printf '# Lost\n' > "$work/site/docs/lost.md"
touch "$work/site/vectors/README.md"
"$links" "$work/site" > "$work/out" && wrong=$((wrong + 1))
for text in "README.md:2: nothing is at docs/b.md" "README.md:3: docs/a.md has no heading #two" "docs/lost.md: README.md does not lead here" ", 3 wrong"; do
    grep -qF -e "$text" "$work/out" || { echo "WRONG: links does not say: $text"; cat "$work/out"; wrong=$((wrong + 1)); }
done
[ $wrong = 0 ] || echo "$wrong wrong"
exit $((wrong > 0))
