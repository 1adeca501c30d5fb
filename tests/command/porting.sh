# SPDX-License-Identifier: MIT
# docs/porting.md and its translation: the commands print what the pages say,
# and the lines in Python compute it.
. "$(dirname "$0")/helper.sh"

docs=$VECTORS/../docs
cp "$VECTORS"/../tests/checkpoints/*.* .

# Every console block of a page, run and printed the way the page shows it.
replay() {
    awk '/^```console$/ { inside = 1; next } /^```$/ { if (inside) print "---"; inside = 0 } inside && /^\$ / { print substr($0, 3) }' "$1" |
    while read -r line; do
        if [ "$line" = --- ]; then
            echo ---
            continue
        fi
        echo "\$ $line"
        eval "set -- $line"
        shift
        "$QKVEC" "$@" < /dev/null 2>&1 | tr '\t' ' ' | sed 's/ *$//'
    done
}

for page in porting.md porting.zh.md; do
    awk '/^```console$/ { inside = 1; next } /^```$/ { if (inside) print "---"; inside = 0 } inside' "$docs/$page" | tr '\t' ' ' > says
    replay "$docs/$page" > does
    last="$page"
    if [ "$(grep -c '^\$ qkvec' does)" -lt 5 ]; then
        complain "$page: fewer than 5 commands"
    fi
    diff says does > differences || {
        complain "$page: the program prints something else (gen/porting.py --write \$QKVEC, if that is right)"
        head -n 30 differences
    }
done

# The layer's matrices and their number of lines are the same in both languages.
for language in console python; do
    for page in porting.md porting.zh.md; do
        awk -v language="$language" '$0 == "```" language { inside = 1 } /^```$/ { inside = 0 } inside' "$docs/$page" |
            sed 's/ *#.*//; s/""".*"""//' > "$page.$language"
    done
    cmp -s "porting.md.$language" "porting.zh.md.$language" || complain "the $language blocks of the two pages differ"
done

python=${PYTHON:-python3}
if "$python" -c 'import numpy' 2> /dev/null; then
    "$python" "$VECTORS/../gen/porting.py" || complain "gen/porting.py"
else
    echo "SKIPPED: the lines in Python (no numpy)"
fi
finish
