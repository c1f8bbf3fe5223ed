#!/usr/bin/env bash
# xlm-mpi: what takes long with much data shows its progress, by a clock of which every look takes half a minute.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
[ "${XLM_SANITIZERS-}" != yes ] || exit 77 # their library must be loaded first
cat >clock.c <<'C'
double xlm_clock(void)
{
    static double now;
    return now += 31;
}
C
# shellcheck disable=SC2086 # a compiler with its first arguments
$XLM_CC -shared -fPIC -o clock.so clock.c || fail "clock.c does not compile"
# shows LINE... -- COMMAND...: lines that begin so.
shows() {
    local lines=() line
    while [ "$1" != -- ]; do lines+=("$1"); shift; done
    shift
    logged shown.log env LD_PRELOAD="$PWD/clock.so${LD_PRELOAD:+:$LD_PRELOAD}" "$@" --progress=log
    for line in "${lines[@]}"; do
        grep -q "^$line: [0-9.]*" shown.log || fail "$*: no progress \"$line\": $(head -n 20 shown.log)"
    done
}
small_corpus
trained job.conf base 1 --set train.steps=1

# Vectors of sentences.
for side in en xx; do sort -u "text.$side" | head -n 20 | awk -v side="$side" '{ print side "-" NR "\t" $0 }' >"some.$side"; done
shows 'reading sentences' encoding -- xlm_embed mine base/latest some.en some.xx --threshold 1
shows encoding -- xlm_embed map base/latest --sentences corpus.h5 --count 8 --perplexity 2 --iterations 1 -o map.svg
# Nearest by cosine; neighbours of the word and of the candidates; nearest by CSLS.
shows 'looking for nearest vectors' -- xlm_embed neighbours base/latest house --language en
[ "$(grep -c '^looking for nearest vectors: ' shown.log)" -ge 4 ] || fail "no progress of neighbours: $(cat shown.log)"

# Text that is added to a corpus, some of whose sentences it holds out; sentences that occur twice.
{ head -n 200 text.en; head -n 50 text.en; } >more.en
{ tail -n 200 text.xx; head -n 50 text.xx; } >more.xx
shows 'looking for lines' 'comparing sentences' 'reading earlier pairs' 'looking for held-out sentences' \
    'looking for their translations' 'counting what is left out' 'copying sentences' 'copying links' -- \
    xlm_prep --append corpus.h5 --mono en=more.en --para en-xx=more.en,more.xx --duplicates drop -o appended.h5

# Co-occurrence.
shows 'counting pairs' 'adding up pairs' 'writing counts' -- xlm_cooc corpus.h5 -o cooc.h5
finish
