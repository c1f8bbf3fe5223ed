#!/usr/bin/env bash
# xlm-mpi: completion in bash knows every option of --help, every key of --help-job, and the sections of a job file.
# SPDX-License-Identifier: GPL-3.0-or-later
set -u
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 99
failures=0
fail() { printf 'FAIL: %s\n' "$*" >&2; failures=$((failures + 1)); }
# shellcheck source=completions/xlm-mpi.bash
. "$XLM_SOURCE/completions/xlm-mpi.bash" || exit 99

# completed WORD...: what there is for the last word, a line each; words as bash cuts them, at blanks and "=".
completed() {
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    _xlm "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
    [ ${#COMPREPLY[@]} -eq 0 ] || printf '%s\n' "${COMPREPLY[@]}"
}
# gives EXPECTED WORD...: blanks between what is expected, which has none itself.
gives() {
    local expected=$1 got
    shift
    got=$(completed "$@" | tr '\n' ' ')
    [ "$got" = "$expected${expected:+ }" ] || fail "$*: '$got' instead of '$expected'"
}

cat >job.conf <<'JOB'
[stream text]
batch = 3
[objective mlm]
stream = text
[objective near]
plugin = align
JOB

for program in bleu compare dict embed eval fill prep report spearman train tune; do
    complete -p "xlm_$program" | grep -q -e "-F _xlm " || fail "nothing for xlm_$program"
    "xlm_$program" --help | grep -o -e '^  \(-., \)\?--[a-z-]*' | sed 's/.*--/--/' | sort >options.txt
    [ "$(wc -l <options.txt)" -ge 2 ] || fail "xlm_$program --help has no options"
    completed "xlm_$program" -- | sed 's/[= ]*$//' | sort | diff options.txt - || fail "options of xlm_$program"
done
# In --help-job every key comes after two blanks and before its type.
for section in train.train model.train tune.tune; do
    program=xlm_${section#*.} section=${section%.*}
    "$program" --help-job | awk -v section="[$section]" '/^\[/ { here = $0 == section }
        here && /^  [a-z_0-9]+ +(integer|number|flag|text|choice|list) / { print $1 }' | sed "s/.*/$section.&=/" >keys.txt
    [ "$(wc -l <keys.txt)" -ge 10 ] || fail "$program --help-job has no keys in [$section]"
    completed "$program" --set "$section." | diff keys.txt - || fail "keys of [$section]"
done
gives 'train.optimiser=' xlm_train --set train.opti
gives 'adamw adam' xlm_train --set train.optimiser = ad
gives 'adamw adam' xlm_train --set = train.optimiser = ad
gives 'true false' xlm_train --set train.recompute = ''
gives '' xlm_train --set train.steps = 1
gives 'auto never' xlm_train --resume = ''
gives 'align' xlm_train --help-job = al
# The -s of a program without job files is not --set: nothing is offered, and no error is shown.
completed xlm_bleu -s '' 2>&1 | grep . && fail "-s of xlm_bleu is taken for --set"
gives 'alignment' xlm_embed al
gives 'retrieval' xlm_embed re
# A name with a blank is quoted; without a job file there are no names.
[ "$(completed xlm_train job.conf --set str | grep -c '^"stream text\.batch=$')" -eq 1 ] || fail "no stream of the job file"
[ "$(completed xlm_train job.conf --set '"stream text.bat')" = 'stream text.batch=' ] || fail "within quotes"
[ "$(completed xlm_train job.conf --set '"stream text.alp')" = 'stream text.alpha=' ] || fail "a key that may be a list of steps"
completed xlm_train --set str | grep . && fail "a stream without a job file"
completed xlm_train job.conf --set '"objective near.' | grep -q 'near.pull=$' && fail "a line of prose is taken for a key"
completed xlm_train job.conf --set '"objective near.' | grep -q 'near.dictionary=$' || fail "no key of the plugin align"
completed xlm_train job.conf --set '"objective mlm.' | grep -q 'mlm.dictionary=$' && fail "a key of align for mlm"
[ "$failures" -eq 0 ]
