# SPDX-License-Identifier: Apache-2.0
# Completion of oche's command line in bash. What there is to choose from comes from the program's
# own --help, so that it is never out of date.

# The keys of a scenario, as --set and --vary take them.
_oche_keys() {
    "$1" run --show-defaults 2>/dev/null | awk '
        /^[a-z]/ { section = substr($1, 1, index($1, ":") - 1) "."
                   if (/^[a-z]+: \(a list\)/) section = substr(section, 1, length(section) - 1) "[0]." }
        /^At the root/ { section = "" }
        /^    [a-z]/ { print section $1 }'
}

_oche() {
    local program=${COMP_WORDS[0]} command=${COMP_WORDS[1]} word=${COMP_WORDS[COMP_CWORD]}
    local before=${COMP_WORDS[COMP_CWORD - 1]} choices=

    if [ "$before" = = ] && [ "$COMP_CWORD" -gt 2 ]; then # bash cuts words at "="
        before=${COMP_WORDS[COMP_CWORD - 2]}
    elif [ "$word" = = ]; then
        word=
    fi
    if [ "$COMP_CWORD" = 1 ]; then
        choices=$("$program" --help 2>/dev/null | awk '/^  [a-z]/ { print $1 }')
    else
        case $before in
        --set | -s | --vary | -v | --compare | -c)
            choices=$(_oche_keys "$program" | sort -u)
            compopt -o nospace 2>/dev/null || true # fails where nobody types
            mapfile -t COMPREPLY < <(compgen -W "$choices" -S = -- "$word")
            return ;;
        --preset | -P)
            [ "$command" = buffers ] &&
                choices=$("$program" buffers --list-presets 2>/dev/null |
                          awk 'NR > 2 && /^[a-z]/ { print $1 }') ;;
        *)
            case $command:$word in
            *:-*)
                choices=$("$program" "$command" --help 2>/dev/null |
                          grep -oE '^ +(-., )?--[a-z-]+=?' | grep -oE -- '--[a-z-]+=?')
                [[ $choices != *=* ]] || compopt -o nospace 2>/dev/null || true ;;
            reproduce:*)
                choices=$("$program" reproduce --list 2>/dev/null | awk -F: '
                    /^---/ { figures = 1; next }
                    /^$/ { figures = 0 }
                    !figures && /^[a-z0-9-]+: / { paper = $1; print paper }
                    figures && /^[a-z0-9-]+: / { print paper "/" $1 }') ;;
            esac ;;
        esac
    fi
    mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$word")
}
complete -o default -F _oche oche
