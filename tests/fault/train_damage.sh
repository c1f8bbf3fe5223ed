#!/usr/bin/env bash
# xlm-mpi: a corpus damaged in the middle: an error that names file and dataset, on all ranks, and no hang.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long
small_corpus

hex() { od -An -v -tx1 "$1" | tr -d ' \n'; }
# damage DATASET FILE: a copy of the corpus with some bytes in the middle of a dataset turned to others.
damage() {
    local at
    h5dump -d "$1" -b LE -o data.bin corpus.h5 >/dev/null || fail "no $1 in the corpus"
    at=$(printf '%s\n%s\n' "$(hex corpus.h5)" "$(hex data.bin)" | awk '
        NR == 1 { file = $0 }
        NR == 2 { n = length($0); print (index(file, substr($0, 1, n < 2000 ? n : 2000)) - 1 + int(n / 4) * 2) / 2 }')
    case $at in -* | '') fail "$1 was not found in the file"; return ;; esac
    cp corpus.h5 "$2"
    printf '\377\376\375' | dd of="$2" bs=1 seek="${at%.*}" conv=notrunc 2>/dev/null
    cmp -s corpus.h5 "$2" && fail "$2 is not damaged"
    h5dump -d "$1" "$2" >/dev/null 2>&1 && fail "$2: HDF5 does not see the damage"
}

# refused FILE DATASET: training on it ends with one message, on any number of ranks.
refused() {
    local n
    for n in 1 3; do
        expect 65 "xlm_train: $1: $2: .*damaged" ranks $n xlm_train job.conf --set "train.corpus=$1"
        once '^xlm_train: '
    done
    [ -z "$(find . -name 'checkpoint*')" ] || fail "$1: a checkpoint was left"
}

damage /train/text/en/tokens tokens.h5
refused tokens.h5 /train/text/en/tokens
damage /held_out/text/xx/tokens held-out.h5
refused held-out.h5 /held_out/text/xx/tokens
damage /held_out/text/en/offsets held-offsets.h5
refused held-offsets.h5 /held_out/text/en/offsets
damage /held_out/parallel/en-xx/links held-links.h5
refused held-links.h5 /held_out/parallel/en-xx/links
damage /train/text/en/offsets offsets.h5
refused offsets.h5 /train/text/en/offsets
damage /train/parallel/en-xx/links links.h5
refused links.h5 /train/parallel/en-xx/links

# Met in the middle of a run: the other language's text is read first. The checkpoint before stays.
logged before.log ranks 2 xlm_train job.conf --set train.steps=4 --set train.schedule=constant
before=$(cksum <"out/$(checkpoint 4)")
expect 65 "xlm_train: tokens.h5: /train/text/en/tokens: .*damaged" ranks 3 xlm_train job.conf --set train.corpus=tokens.h5 \
    --set train.schedule=constant
[ "$(cksum <out/latest)" = "$before" ] || fail "the checkpoint before has changed"
[ "$(cd out && echo *)" = "$(checkpoint 4) job.conf latest metrics.csv" ] || fail "left: $(ls out)"

# A damaged checkpoint is passed over, and replaced by that of the run that goes on from the one before it.
trained job.conf whole 1 --set train.steps=20 --set train.checkpoint_every=10
for n in 1 2; do
    cp -r whole "again-$n"
    printf 'x' | dd of="again-$n/$(checkpoint 20)" bs=1 seek=3000 conv=notrunc 2>/dev/null
    trained job.conf "again-$n" $n --set train.steps=20 --set train.checkpoint_every=10
    grep -q "warning: again-$n/$(checkpoint 20): .*damaged.*; trying the checkpoint before it" "again-$n.log" ||
        fail "again-$n: the damage is not named: $(head -n 5 "again-$n.log")"
    same_bits whole "again-$n"
done
finish
