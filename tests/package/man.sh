# SPDX-License-Identifier: MIT
# The man page says what --help says, and is no bad roff.
. "$(dirname "$0")/helper.sh"

page="$PREFIX/share/man/man1/qkvec.1" program="$PREFIX/bin/qkvec"
sed 's/\\-/-/g; s/\\&//g; s/\\e/\\/g' "$page" > plain
grep -q "qkvec $VERSION" plain || fail "another version"
commands=$("$program" --help | sed -n 's/^  \([a-z][a-z]*\)  .*/\1/p')
for command in $commands; do
    grep -qx ".SS $command" plain || fail "nothing about $command"
    "$program" $command --help > help
    while IFS= read -r line; do
        grep -qxF -e "$line" plain || fail "$command: the page lacks: $line"
    done < help
done
[ "$(grep -c '^\.SS' plain)" = "$(echo $commands | wc -w)" ] || fail "commands that there are not"

if command -v groff > /dev/null; then
    groff -ww -man -Tascii "$page" 2> warnings > /dev/null
    [ ! -s warnings ] || fail "$(cat warnings)"
else
    echo "not checked by groff, which is not here"
fi
