#!/usr/bin/env bash
# xlm-mpi: the page of benchmarks beside other programs is made of known rows; rows that are missing or not whole are refused.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
# shellcheck source=tests/bench/table.sh
. "$XLM_SOURCE/tests/bench/table.sh"
page() { bash "$XLM_SOURCE/tests/bench/page.sh" "$@"; }

{
    machine date "2026-01-02 03:04 UTC"
    for name in processor memory system compiler libraries xlm-mpi "load average before" "load average after"; do
        machine "$name" "the $name"
    done
    section "unlisted"
    row "any" 1 2 0.50
    peer fast_align "commit 123 of 2020-01-02" "FAST_ALIGN=DIR make bench" "xlm_align source | cat" "fast_align -i pairs"
    beside fast_align "alignment" s 2 5 2.50 "error rate, %: 1 and 2"
    for name in eflomal SimAlign GloVe fastBPE MUSE; do unmeasured "$name" "$name is not installed"; done
    peer PyTorch "1.13" "make bench" "xlm_train" "torch_train.py"
    beside PyTorch "steps" tokens/s 1200 1000 1.20 ""
    peer sacreBLEU "commit 45 of 2021-02-03" "SACREBLEU=DIR make bench" "the code of \`xlm_bleu\`" "sacrebleu"
    beside sacreBLEU "BLEU" s 0.5 7 14 "a|b"
    beside sacreBLEU "chrF" s 0.5 7 14 ""
} >rows
page rows >page.md || fail "known rows are refused"
has() { grep -qxF -e "$1" page.md || fail "the page lacks: $1"; }
has '| date | 2026-01-02 03:04 UTC |'
has '| load average after | the load average after |'
has '| fast_align, commit 123 of 2020-01-02 | alignment | 2 s | 5 s | 2.50 | error rate, %: 1 and 2 |'
has '| eflomal | not run: eflomal is not installed | | | | |'
has '| PyTorch, 1.13 | steps | 1200 tokens/s | 1000 tokens/s | 1.20 | not measured here |'
has '| sacreBLEU, commit 45 of 2021-02-03 | BLEU | 0.5 s | 7 s | 14 | a\|b |'
has '| fast_align | `XLM_BENCH_BESIDE=1 FAST_ALIGN=DIR make bench` | `xlm_align source \| cat` | `fast_align -i pairs` |'
has '| sacreBLEU | `XLM_BENCH_BESIDE=1 SACREBLEU=DIR make bench` | the code of `xlm_bleu` | `sacrebleu` |'
grep -q 'unlisted\|^| any' page.md && fail "rows of other benchmarks are on the page"
[ "$(grep -c 'not run:' page.md)" -eq 5 ] || fail "five programs were not run"
# Every row of a table has the columns of its head.
awk -F'|' '/^\|/ { gsub(/\\\|/, ""); if (!columns) columns = NF; if (NF != columns) { print; wrong = 1 } } !/^\|/ { columns = 0 }
    END { exit wrong }' page.md || fail "rows have other columns than their head"

# refused MESSAGE SED-EXPRESSION: what the rows so changed are refused with.
refused() {
    local code=0
    sed -E "$2" rows >changed
    cmp -s rows changed && fail "$2 changes nothing"
    page changed >out 2>log || code=$?
    [ "$code" -eq 65 ] || fail "$2: ended with $code, not 65"
    grep -qF -e "$1" log || fail "$2: $(cat log) instead of $1"
}
refused 'no rows of eflomal' '/^unmeasured\teflomal/d'
refused 'no rows of PyTorch' '/^beside\tPyTorch/d'
refused 'figures of fast_align before its version' '/^peer\tfast_align/d'
refused 'nothing says the processor' '/^machine\tprocessor/d'
refused 'not `machine NAME VALUE`' 's/^(machine\tdate).*/\1/'
refused 'not `peer PROGRAM' 's/\tfast_align -i pairs$//'
refused 'not `beside PROGRAM' 's/\terror rate.*//'
refused 'not two figures' 's/\t1200\t1000/\t1,200\t1000/'
refused 'not two figures' 's/\t1200\t1000/\t1200\t/'
refused 'not a ratio' 's/\t1\.20\t/\tfaster\t/'
refused 'is not that of' 's/\t2\.50\t/\t25\t/'
refused 'is not that of' 's/\t1\.20\t/\t9\t/'
refused 'is not that of' 's/\t1\.20\t/\t1\t/'
refused 'not `unmeasured PROGRAM WHY`' 's/^(unmeasured\tMUSE).*/\1/'
refused 'no program of this page: Moses' 's/^unmeasured\tMUSE/unmeasured\tMoses/'
refused 'a second version of fast_align' 's/^peer\tPyTorch/peer\tfast_align/'
refused 'both figures and a reason' 's/^unmeasured\tMUSE/unmeasured\tPyTorch/'
refused 'any failed' 's/^(row\tany).*/\1\tFAILED, see log/'
expect 64 'needs one file' bash "$XLM_SOURCE/tests/bench/page.sh"
expect 64 'needs one file' bash "$XLM_SOURCE/tests/bench/page.sh" none

# A benchmark whose measurement fails within a function shows no number.
cat >failing.sh <<'END'
set -euo pipefail
. "$XLM_SOURCE/tests/bench/table.sh"
rate() { false; echo 100; }
measured=$(rate)
row any "$measured"
END
expect 1 '' bash failing.sh
[ ! -s expect.out ] || fail "a failed measurement is shown: $(cat expect.out)"
# The processors are those that a program may run on, where one can be taken away.
processors >allowed
[ "$(wc -l <allowed)" -ge "$(env -u OMP_NUM_THREADS nproc)" ] || fail "processors: $(cat allowed)"
if command -v taskset >/dev/null; then
    last=$(tail -n 1 allowed)
    [ "$(taskset -c "$last" bash -c '. "$XLM_SOURCE/tests/bench/table.sh"; processors')" = "$last" ] || fail "not only $last"
fi

# The launcher is that of the MPI that was built with, with options that it knows.
launcher_of() { # VERSION
    printf '%s\n' '#!/bin/sh' "echo '$1'" >their-mpiexec
    chmod +x their-mpiexec
    env -u XLM_TEST_LAUNCHER XLM_MPIEXEC="$PWD/their-mpiexec -q" bash -euc '
        . "$XLM_SOURCE/tests/bench/roberta-8.sh"; echo "${launcher[@]}"'
}
[ "$(launcher_of 'HYDRA build details')" = "$PWD/their-mpiexec -q" ] || fail "MPICH: $(launcher_of 'HYDRA build details')"
[ "$(launcher_of 'mpiexec (OpenRTE) 4')" = "$PWD/their-mpiexec -q --oversubscribe --bind-to none" ] ||
    fail "Open MPI: $(launcher_of 'mpiexec (OpenRTE) 4')"

# The page of the repository is one of these: its head, all programs, and figures for those that were run.
document=$XLM_SOURCE/docs/benchmarks.md
grep -v '^|' page.md >text
grep -v '^|' "$document" | cmp -s text - || fail "docs/benchmarks.md has another text than tests/bench/page.sh writes: make bench-page"
for name in fast_align eflomal SimAlign GloVe fastBPE PyTorch MUSE sacreBLEU; do
    grep -qE "^\\| $name(,| \\| not run: )" "$document" || fail "docs/benchmarks.md has no row of $name"
done
finish
