# SPDX-License-Identifier: MIT
# bash completion for qkvec(1). It asks the program, so that it is never stale.

# The values that a sentence of the program lists: "...; wanted a, b or c"
_qkvec_wanted() { "$@" 2>&1 | sed -n 's/.*; wanted //; T; s/,/ /g; s/ or / /g; p'; }

_qkvec() {
    local program=${COMP_WORDS[0]} command=${COMP_WORDS[1]} word=$2 before=$3 words=
    COMPREPLY=()
    if [ "$COMP_CWORD" = 1 ]; then
        words="--help --version $("$program" --help 2> /dev/null | sed -n 's/^  \([a-z][a-z]*\)  .*/\1/p')"
    else
        case $before in
            --profile) words=$(_qkvec_wanted "$program" check --profile '?') ;;
            --corpus | --since) words=$(_qkvec_wanted "$program" list --corpus '?') ;;
            --format) words=$(_qkvec_wanted "$program" check --format '?') ;;
            --vectors | --results) mapfile -t COMPREPLY < <(compgen -d -- "$word"); return ;;
            -o | --kernel | --record) mapfile -t COMPREPLY < <(compgen -f -- "$word"); return ;;
        esac
        if [ -z "$words" ]; then
            case $word in
                -*) words=$("$program" "$command" --help 2> /dev/null | grep -oE -e '^  (--?[a-z][a-z-]*)' | tr -d ' ') ;;
                *)
                    case $command in
                        split | order) ;;
                        *) words=$("$program" list --names 2> /dev/null) ;;
                    esac
                    mapfile -t COMPREPLY < <(compgen -f -- "$word")
                    ;;
            esac
        fi
    fi
    mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -o filenames -F _qkvec qkvec
