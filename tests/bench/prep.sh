#!/usr/bin/env bash
# xlm-mpi: speed and memory of xlm_prep. SPDX-License-Identifier: GPL-3.0-or-later
#
# BENCH_TEXT         a text, a sentence a line; else some is made: 1,500,000 forms by Zipf's law, not all ASCII, 100 MB
# BENCH_WORDS        different words of the text of which memory is measured (5000000; 100000000 takes half an hour)
# XLM_BENCH_ROUNDS   rounds (3); the shortest processor time counts
#
# Whole processes on one core, from reading the text to the finished corpus: user and system time, with the digests of the inputs.
set -euo pipefail
. "$XLM_SOURCE/tests/bench/table.sh"
in_scratch
export OMP_NUM_THREADS=1

# A tenth of the letters has two bytes.
make_text() {
    awk 'BEGIN {
        srand(3); split("a e i o u en er in ung te ro sta li men kon ver de mi pre tion ö é ß ц ж", syllable, " ")
        letters = "bcdfghjklmnprstvwz"
        for (w = 1; w <= 1500000; w++)
            for (s = 2 + int(4 * rand()); s > 0; s--)
                word[w] = word[w] substr(letters, 1 + int(18 * rand()), 1) syllable[1 + int(25 * rand())]
        for (size = 0; size < 100000000; size += length(line) + 1) {
            line = ""
            for (n = 8 + int(25 * rand()); n > 0; n--)
                line = line word[1 + int(exp(log(1500000) * rand()))] " "
            print line "."
        }
    }'
}

# Processor seconds of a command, the shortest of the rounds, in $seconds.
measure() {
    local round
    TIMEFORMAT='%U %S'
    for ((round = 0; round < ${XLM_BENCH_ROUNDS:-3}; round++)); do
        { time "$@" >log 2>&1; } 2>>times || { cat log >&2; return 1; }
    done
    seconds=$(awk '{ t = $1 + $2; if (NR == 1 || t < best) best = t } END { print best }' times)
    rm times
}
speed() { # NAME OPTION...: how many MB/s of the text
    measure xlm_prep --mono xx=text "${@:2}" -o corpus.h5
    row "$1" "$(quotient "$megabytes" "$seconds" 1) MB/s" "12 MB/s" \
        "$(awk -v mb="$megabytes" -v s="$seconds" 'BEGIN { printf "%.2f", mb / s / 12 }')" ">= 1"
}
# Megabytes that a command takes at most, in $peak.
measure_memory() {
    local status
    "$@" >log 2>&1 &
    while status=$(grep -s VmHWM "/proc/$!/status"); do
        peak=$(awk '{ printf "%.0f", $2 / 1024 }' <<<"$status")
        sleep 0.1
    done
    wait $! || { cat log >&2; return 1; }
}

if [[ -n ${BENCH_TEXT-} ]]; then cp "$BENCH_TEXT" text; else make_text >text; fi
megabytes=$(awk -v bytes="$(wc -c <text)" 'BEGIN { print bytes / 1e6 }')
section "text to a corpus, one core, 8,000 subwords"
xlm_prep --mono xx=text --bpe 8000 --write-codes codes --write-vocab vocab >log 2>&1 || { cat log >&2; exit 1; }
speed "BPE" --bpe 8000
speed "BPE from a tenth of the sentences" --bpe 8000 --sample 0.1
speed "codes and vocabulary given" --codes codes --vocab vocab
speed "unigram, from a tenth of the sentences" --unigram 8000 --sample 0.1

words=${BENCH_WORDS:-5000000}
awk -v words="$words" -f "$XLM_SOURCE/tests/bench/words.awk" >many
limit=$(awk -v words="$words" 'BEGIN { printf "%.0f", words * 2000 / 100000000 }') # 2 GB for 100 million
# --memory is for counting; a rank that encodes remembers the subwords of words, in 256 MB.
memory() { # NAME LIMIT OPTION...
    measure_memory xlm_prep --mono en=many --words space --held-out 0 "${@:3}"
    row "$words different words, $1" "$peak MB" "$2 MB" "$(quotient "$peak" "$2")" "<= 1"
}
memory "counted and learned from" "$((limit + 100))" --bpe 1000 --sample 0.01 --memory "$((limit * 3 / 4 + 8))M" \
    --write-codes codes --write-vocab vocab
memory "encoded" "$((limit + 100 + 256))" --codes codes --vocab vocab -o corpus.h5
