# xlm-mpi: test text translated and scored, for the studies of translation; sourced. SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# score METRIC HYPOTHESES REFERENCE: the score, in per cent, as xlm_bleu computes it.
score() {
    local json
    json=$(xlm_bleu "$2" "$3" --metric "$1" --width 4 --json) || return
    sed -n 's/^ *"score": \([-+.e0-9]*\),\{0,1\}$/\1/p' <<<"$json"
}
# translated CHECKPOINT FROM TO TEXT OUTPUT: with the launcher of jobs/runs.sh, unless OUTPUT is there.
# shellcheck disable=SC2154
translated() {
    [[ ! -e $5 ]] || return 0
    "${launcher[@]}" xlm_translate "$1" --from "$2" --to "$3" --long-lines cut "$4" -o "$5"
}
