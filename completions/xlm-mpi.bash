# xlm-mpi: completion of the xlm_* programs in bash. SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# This file knows nothing about the programs: options and commands are read from --help, sections and keys of job files from
# --help-job, with the plugins that are found at the time. Each is called once per session. Sections with names, such as [stream
# text], are read from the job file on the command line.

declare -gA _xlm_help _xlm_keys

# The output of `PROGRAM --help`, in $help.
_xlm_ask_help() {
    help=${_xlm_help[$1]-}
    [[ -n $help ]] || help=$("$1" --help 2>/dev/null) || return
    _xlm_help[$1]=$help
}

# The output of `PROGRAM --help-job`, in $keys, as lines "SECTION;PLUGIN;KEY;VALUES". SECTION: "train", or "stream NAME" for a
# section that the job names. PLUGIN: the one that has the key, or nothing. VALUES: "adamw|adam|lamb", or nothing.
_xlm_ask_keys() {
    keys=${_xlm_keys[$1]-}
    [[ -n $keys ]] || keys=$("$1" --help-job 2>/dev/null | awk -v OFS=';' '
        /^\[/ {
            plugin = section = $0
            if (!sub(/.* with plugin = /, "", plugin)) plugin = ""
            gsub(/^\[|\].*/, "", section)
        }
        /^  [a-z]/ && $2 ~ /^(integer|number|flag|text|choice|list|piecewise)$/ {
            values = ""
            for (i = 3; i <= 4; i++)
                if ($i ~ /^[a-z0-9._-]+([|][a-z0-9._-]+)+$/) values = $i
            print section, plugin, $1, values
        }') || return
    _xlm_keys[$1]=$keys
}

# Sections of one kind in a job file, as lines "KIND NAME;PLUGIN".
_xlm_sections() { # KIND FILE
    [[ -r $2 ]] && awk -v kind="$1" '
        function flush() { if (name != "") print kind " " name ";" plugin; name = "" }
        /^[ \t]*\[/ {
            flush()
            gsub(/^[ \t]*\[[ \t]*|[ \t]*\].*/, "")
            if (sub("^" kind "[ \t]+", "")) name = plugin = $0
        }
        /^[ \t]*plugin[ \t]*=/ {
            plugin = $0
            sub(/^[^=]*=[ \t]*/, "", plugin)
            sub(/[ \t]+$/, "", plugin)
        }
        END { flush() }' "$2"
}

# Arguments of --set, in $found: "SECTION.KEY=", and "SECTION.KEY=VALUE" for a key that is complete.
_xlm_settings() { # PROGRAM JOB-FILE WORD
    local section plugin key values name named value
    # Of "train", or of "stream NAME": lines "SECTION;PLUGIN" of the sections that there are. The job file is read once for each.
    local -A present=()
    _xlm_ask_keys "$1" && [[ -n $keys ]] || return
    while IFS=';' read -r section plugin key values; do
        if [[ $section != *' NAME' ]]; then
            present[$section]="$section;"
        elif [[ ! -v present[$section] ]]; then
            present[$section]=$(_xlm_sections "${section% NAME}" "$2")
        fi
        while IFS=';' read -r name named; do
            [[ -n $name && (-z $plugin || $plugin == "$named") ]] || continue
            if [[ $3 == "$name.$key="* ]]; then
                for value in ${values//|/ }; do found+=("$name.$key=$value"); done
            else
                found+=("$name.$key=")
            fi
        done <<<"${present[$section]}"
    done <<<"$keys"
}

# Values of an option, in $found: the words in "--resume=auto|FILE|never" that are not placeholders.
_xlm_values() { # OPTION
    local values
    values=$(sed -n "s/^  \(-., \)\{0,1\}$1=\([^ ]*\).*/\2/p" <<<"$help")
    for values in ${values//|/ }; do
        [[ $values != "${values,,}" ]] || found+=("$values")
    done
}

_xlm() {
    local program=$1 help keys word=${COMP_WORDS[COMP_CWORD]} before job='' known quote='' part
    local at=$COMP_CWORD found=()
    COMPREPLY=()
    _xlm_ask_help "$program" || return
    # Bash splits words at "=": join this one again, and find the word before it.
    while ((at > 1)) && [[ $word == =* || ${COMP_WORDS[at - 1]} == = ]]; do
        at=$((at - 1))
        word=${COMP_WORDS[at]}$word
    done
    before=${COMP_WORDS[at - 1]}
    if [[ $word == --*=* ]]; then
        before=${word%%=*}
        word=${word#*=}
    fi
    case $word in [\"\']*) quote=${word:0:1} word=${word:1} ;; esac
    for part in "${COMP_WORDS[@]:1:at - 1}"; do
        [[ $part == -* || ! -f $part ]] || job=${job:-$part}
    done

    case $before in
    --set | -s)
        _xlm_settings "$program" "$job" "$word"
        compopt -o nospace 2>/dev/null ;;
    --help-job)
        mapfile -t found < <(_xlm_ask_keys "$program" && cut -d ';' -f 2 <<<"$keys" | sort -u | sed '/^$/d') ;;
    -*)
        _xlm_values "$before" ;;
    esac
    if [[ ${#found[@]} -eq 0 && $word == -* ]]; then
        mapfile -t found < <(grep -o -e '^  -., --[a-z-]*=\{0,1\}' -e '^  --[a-z-]*=\{0,1\}' <<<"$help" | grep -o -e '--.*')
        compopt -o nospace 2>/dev/null
        for part in "${!found[@]}"; do [[ ${found[part]} == *= ]] || found[part]+=' '; done
    elif [[ ${#found[@]} -eq 0 && $at -eq 1 ]]; then
        # Commands: lower-case words at the beginning of the usage.
        mapfile -t found < <(sed -n '1s/^[^]]*\] *//p' <<<"$help" | tr '|' '\n' | sed -n 's/^ *\([a-z][a-z-]*\)\( .*\|$\)/\1/p')
    fi

    # Readline replaces the word from the last "=" on; a blank needs quotes.
    for known in "${found[@]}"; do
        [[ $known == "$word"* ]] || continue
        if [[ -n $quote ]]; then
            COMPREPLY+=("$known")
        elif [[ $word == *=* ]]; then
            COMPREPLY+=("${known#"${word%=*}="}")
        elif [[ $known == *' '*[!\ ]* ]]; then
            COMPREPLY+=("\"$known")
        else
            COMPREPLY+=("$known")
        fi
    done
}
complete -o default -F _xlm xlm_align xlm_bleu xlm_compare xlm_convert xlm_cooc xlm_dict xlm_embed xlm_eval xlm_fill xlm_prep xlm_report xlm_spearman xlm_train xlm_translate xlm_tune
