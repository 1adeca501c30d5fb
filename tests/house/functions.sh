#!/bin/sh
# SPDX-License-Identifier: MIT
# Check that functions are short and take few parameters.
#   functions.sh DIR...
# No function of a .c or .h file is longer than 60 lines or takes more than eight
# parameters, unless the comment above it gives the reason: "long because ..." or
# "parameters because ...".
set -eu

# Print "FILE:LINE NAME: what is wrong" for the files named on standard input.
# The tree's style decides: a definition begins in column 1, its braces stand alone there.
wrong() {
    xargs awk '
        FNR == 1 { comment = ""; signature = ""; inside = 0 }
        inside {
            lines++
            if ($0 ~ /^}/) {
                if (lines > 60 && comment !~ /long because/)
                    printf "%s:%d %s: %d lines, wanted at most 60\n", FILENAME, start, name, lines
                if (parameters > 8 && comment !~ /parameters because/)
                    printf "%s:%d %s: %d parameters, wanted at most 8\n", FILENAME, start, name, parameters
                inside = 0
                comment = signature = ""
            }
            next
        }
        $0 == "{" && signature ~ /\(/ {
            inside = 1
            lines = 1
            name = signature
            sub(/\(.*/, "", name)
            sub(/.*[ *]/, "", name)
            sub(/^[^(]*\(/, "", signature)
            depth = 0
            parameters = 1
            for (i = 1; i <= length(signature); i++) {
                c = substr(signature, i, 1)
                depth += (c == "(") - (c == ")")
                parameters += c == "," && depth == 0
            }
            next
        }
        /^(\/\*| \*)/ { comment = comment " " $0; signature = ""; next }
        /^[a-zA-Z_].*[;=]|^[}#]/ { comment = signature = ""; next }
        /^[a-zA-Z_]/ { signature = $0; start = FNR; next }
        /^[[:space:]]+[^[:space:]]/ { if (signature != "") signature = signature $0; next }
        { comment = signature = "" }'
}

# The rule must be able to fail, and to pass.
probe=$(mktemp -d)
trap 'rm -rf "$probe"' EXIT
body() { awk -v n="$1" 'BEGIN { for (i = 0; i < n; i++) print "    x++;" }'; }
{
    printf 'static int sixty(int x)\n{\n'; body 58; printf '}\n\n'
    printf 'int sixty_one(int x)\n{\n'; body 59; printf '}\n\n'
    printf '/* Count. It is long because it counts. */\nint reason(int x)\n{\n'; body 59; printf '}\n\n'
    printf 'void eight(int a, int b, int c, int d,\n           int (*e)(int, int), int f, int g, int h)\n{\n}\n\n'
    printf 'void nine(int a, int b, int c, int d,\n          int e, int f, int g, int h, int i)\n{\n}\n'
} > "$probe/a.c"
found=$(echo "$probe/a.c" | wrong | sed 's/^[^ ]* //')
wanted='sixty_one: 61 lines, wanted at most 60
nine: 9 parameters, wanted at most 8'
if [ "$found" != "$wanted" ]; then
    echo "the probe gives: $found"
    exit 1
fi

found=$(find "$@" -name '*.[ch]' | sort | sed 's/.*/"&"/' | wrong)
if [ -n "$found" ]; then
    echo "$found"
    exit 1
fi
