#!/usr/bin/env bash
# xlm-mpi: fine-tuning jobs of the papers: each is a good job for files of the names that it has, and tries what its paper tried.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long
xlm_prep --mono en=text.en --mono de=text.xx --words space --bpe 120 --held-out 0.1 -o corpus.h5 >prep.log 2>&1 ||
    { cat prep.log >&2; exit 99; }
one_step model.conf 2 16 2
logged model.log xlm_train model.conf

# Files as the tasks read them.
sed -n 1,50p text.en >part
phrases part >tagged
awk -F '\t' 'NF == 0 { n = 0; print ""; next }
    { printf "%d\t%s\t_\t%s\t_\t_\t_\t_\t_\tNER=%s\n", ++n, $1, $2 == "O" ? "VERB" : "NOUN", $2 }' tagged >conllu
awk 'BEGIN { split("entailment neutral contradiction", class, " ") } { print class[NR % 3 + 1] "\t" $0 "\t" $1 " " $2 }' part >pairs
questions part >questions
# file_for TASK NAME: makes a file of this name for the task.
file_for() {
    mkdir -p "$(dirname "$2")"
    case $1:$2 in
    tagging:*.conllu) cp conllu "$2" ;;
    tagging:*) cp tagged "$2" ;;
    classification:*) cp pairs "$2" ;;
    answering:*) cp questions "$2" ;;
    esac
}

checked=0
for job in "$XLM_SOURCE"/jobs/*/*.conf; do
    grep -q '^\[tune\]' "$job" || continue
    task=$(sed -n 's/^\[task \(.*\)\]$/\1/p' "$job")
    for item in $(sed -n 's/^\(train\|dev\) = //p' "$job" | tr ',' ' '); do file_for "$task" "${item#*:}"; done
    name=${job#"$XLM_SOURCE/jobs/"}
    logged dry.log xlm_tune "$job" --set tune.model=model/latest --dry-run
    grep -q '^time: ' dry.log || fail "$name: $(cat dry.log)"
    checked=$((checked + 1))
done
[ "$checked" -ge 20 ] || fail "only $checked jobs"

# XTREME takes SQuAD's rules for XQuAD and TyDiQA in all languages; MLQA has its own, in English too.
rules() { # JOB DEV RULES
    logged dry.log xlm_tune "$XLM_SOURCE/jobs/$1.conf" --set tune.model=model/latest --set "tune.dev=$2" --dry-run
    grep -q "^dev: .* by the rules of $3\$" dry.log || fail "$1: answers in $2 are not compared by $3: $(cat dry.log)"
}
rules xlm-align/xquad de:dev-v1.1.json SQuAD
rules xlm-align/tydiqa de:dev-v1.1.json SQuAD
for job in xlm-align mlm-gc ppa weam; do rules $job/mlqa en:dev-v1.1.json 'MLQA en'; done

# tried JOB NUMBER: so many settings.
tried() {
    XLM_LAUNCH=env logged grid.log "$XLM_SOURCE/jobs/grid" --dry-run --seeds 1 "grid-${1//\//-}" "$XLM_SOURCE/jobs/$1.conf"
    [ "$(grep -c '^xlm_tune ' grid.log)" -eq "$2" ] || fail "$1: not $2 settings: $(cat grid.log)"
}
# Table 12 of XLM-Align.
tried xlm-align/pos 9
tried xlm-align/ner 5
tried xlm-align/xquad 3
tried xlm-align/mlqa 9
tried xlm-align/tydiqa 8
tried xlm-align/xnli 4
tried xlm-align/paws-x 2
for rate in 5e-6 6e-6 7e-6 8e-6 9e-6; do
    grep -q "^learning_rate = $rate$" "grid-xlm-align-ner/learning_rate=$rate-seed-1.conf" || fail "ner, $rate"
done
tried mlm-gc/xnli 3
tried ppa/xnli 1
finish
