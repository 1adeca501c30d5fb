# SPDX-License-Identifier: MIT
# bash completion: subcommands, options, values, vectors.
. "$(dirname "$0")/helper.sh"
needs bash

touch kernel.so
PATH="$PREFIX/bin:$PATH" bash -u -c '
    . "$PREFIX/share/bash-completion/completions/qkvec"
    complete -p qkvec > /dev/null || exit 1
    # proposes WANTED WORD...: the last word is being completed
    proposes() {
        wanted=$1
        shift
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        _qkvec qkvec "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
        if [ "$(printf "%s\n" "${COMPREPLY[@]-}" | sort | tr "\n" " ")" != "$wanted " ]; then
            echo "WRONG: $* proposes: ${COMPREPLY[*]-}, wanted $wanted"
            exit 1
        fi
    }
    proposes "check" qkvec ch
    proposes "--help --version" qkvec --
    proposes "--names" qkvec list --n
    proposes "--profile" qkvec check --p
    proposes "float16 float32 float64" qkvec check --profile f
    proposes "json junit tap text" qkvec check --format ""
    proposes "core/answer" qkvec show core/an
    proposes "kernel.so" qkvec check --kernel ke
    proposes "" qkvec check --profile x
    proposes "kernel.so" qkvec split ke
' || fail "see above"
