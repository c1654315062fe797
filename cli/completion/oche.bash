# SPDX-License-Identifier: Apache-2.0
# Completion of oche's command line in bash. What there is to choose from comes from the program's
# own --help, so that it is never out of date.

# The keys of a scenario, as --set and --vary take them.
_oche_keys() {
    "$1" run --show-defaults 2>/dev/null | awk '
        /^[a-z]/ { section = substr($1, 1, index($1, ":") - 1) "."
                   if (/^[a-z]+: \(a list\)/) section = substr(section, 1, length(section) - 1) "[0]." }
        /^At the root/ { section = "" }
        /^  name: / { print substr(section, 1, length(section) - 1) } # a name for the section
        /^      every key of / { # of a section within another
            of = $4; without = $0
            sub(/;.*/, "", of); sub(/.* but /, "", without); sub(/;.*/, "", without)
            for (i = 1; i <= count; i++) {
                key = substr(keys[i], length(of) + 2)
                if (index(keys[i], of ".") == 1 && !index(", " without ", ", ", " key ", "))
                    print section key } }
        /^    [a-z]/ { keys[++count] = section $1; print section $1
                       key = section $1 # a list of one entry needs no number
                       if (sub(/\[0\]/, "", key)) print key }'
}

# The values of a key that has names for values.
_oche_values() {
    local key
    key=$(sed 's/\[[0-9]*\]//; s/\.[0-9][0-9]*\./\./' <<<"$2") # without the number of an entry
    "$1" run --show-defaults 2>/dev/null | awk -v "key=$key" '
        /^[a-z]/ { section = substr($1, 1, index($1, ":") - 1) "." }
        /^At the root/ { section = "" }
        /^  (type|name): / { named = section substr($1, 1, length($1) - 1)
                             if (named == key || named == key ".name") print $2 }
        /^    [a-z]/ && section $1 == key {
            if ($2 == "bool") print "true\nfalse"
            if ($2 == "choice") { sub(/^[^;]*; /, ""); gsub(/, /, "\n"); print } }' | sort -u
}

# The names that a line of `oche exec --help` lists: "Recovery: go_back_0, …".
_oche_named() {
    "$1" exec --help 2>/dev/null | awk -v "line=$2: " '
        /^$/ { on = 0 }
        index($0, line) == 1 { on = 1; $0 = substr($0, length(line) + 1) }
        on && /^[A-Z]/ { exit }
        on { gsub(/[,.]/, " "); print }'
}

# The names of metrics, with the ranges of sizes and the places in those that have them.
_oche_metrics() {
    "$1" sweep --metrics 2>/dev/null | awk '
        /^[A-Z]+: / { of = substr($1, 1, length($1) - 1); sub(/ \(.*/, ""); ranges[of] = $0; next }
        NF > 0 { names[++count] = $1 }
        END { for (i = 1; i <= count; i++) {
                  of = ""
                  for (range in ranges) if (index(names[i], range)) of = range
                  if (of == "") { print names[i]; continue }
                  parts = split(ranges[of], part, " ")
                  for (p = 2; p <= parts; p++) {
                      name = names[i]; sub(of, part[p], name)
                      if (of != "PORT") print name } } }'
}

# Sets `option` and `key` if the word is (a part of) the value in --set KEY=VALUE.
_oche_in_value() {
    local at=$COMP_CWORD
    [ "${COMP_WORDS[at]}" = = ] || at=$((at - 1)) # bash cuts words at "="
    [ "$at" -gt 2 ] && [ "${COMP_WORDS[at]}" = = ] || return 1
    key=${COMP_WORDS[at - 1]} option=${COMP_WORDS[at - 2]}
    [ "$option" != = ] || option=${COMP_WORDS[at - 3]}
}

_oche() {
    local program=${COMP_WORDS[0]} command=${COMP_WORDS[1]} word=${COMP_WORDS[COMP_CWORD]}
    local before=${COMP_WORDS[COMP_CWORD - 1]} choices="" option="" key="" first=""

    if _oche_in_value; then
        case $option in
        --set | -s | --vary | -v | --compare | -c)
            [ "$word" != = ] || word=
            if [ "$option" != --set ] && [ "$option" != -s ] && [[ $word == *,* ]]; then
                first=${word%,*}, # values before this one
            fi
            choices=$(_oche_values "$program" "$key")
            mapfile -t COMPREPLY < <(compgen -P "$first" -W "$choices" -- "${word#"$first"}")
            return ;;
        esac
    fi
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
        --metric | -m)
            [ "$command" = sweep ] && choices=$(_oche_metrics "$program") ;;
        --until-stable)
            choices=$(_oche_metrics "$program" |
                      grep -E '^(goodput|utilisation\..*mean|(fct|slowdown)\..*(mean|p[0-9.]+))$') ;;
        --cc)
            [ "$command" = exec ] && choices=$(_oche_named "$program" "Congestion control") ;;
        --nic)
            [ "$command" = exec ] && choices=$("$program" nic 2>/dev/null | awk '/^$/ { exit } { print $1 }') ;;
        --recovery)
            [ "$command" = exec ] && choices=$(_oche_named "$program" Recovery) ;;
        --to)
            [ "$command" = export ] && choices="htsim hpcc" ;;
        --preset | -P)
            [ "$command" = buffers ] &&
                choices=$("$program" buffers --list-presets 2>/dev/null |
                          awk 'NR > 2 && /^$/ { exit } NR > 2 { print $1 }') ;;
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
            run:* | sweep:* | fluid:* | export:*) # the scenarios that come with oche, and files
                [[ $word == */* ]] ||
                    choices=$("$program" run --list 2>/dev/null | awk '/^$/ { exit } { print $1 }')
                compopt -o filenames 2>/dev/null || true
                mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$word"; compgen -f -- "$word")
                return ;;
            esac ;;
        esac
    fi
    mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$word")
}
complete -o default -F _oche oche
