#!/usr/bin/env bash
# xlm-mpi: alignment of a trained model's embeddings, worked out again from the files. SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
# Some words of both languages: those in the dictionary are no candidates for themselves.
head -n 3 text.en >>text.xx
small_corpus --bpe 400
for word in the old red small green tall quick quiet house river teacher garden window student book mountain \
    sees finds opens likes paints follows; do
    echo "$word $(echo "$word" | sed 's/[aeiou]/y&/g')"
done >en-xx.txt
echo 'house ryiver' >>en-xx.txt # a second translation
xlm_dict corpus.h5 --source en --target xx --text en-xx.txt --share 0.5 -o dict.h5 2>dict.log || { cat dict.log >&2; exit 99; }
sed -i '/^\[stream pairs\]/,$d' job.conf
printf '[objective mlm]\nstream = text\n' >>job.conf
ranks 2 xlm_train job.conf --set train.steps=30 >train.log 2>&1 || { tail -n 3 train.log >&2; exit 99; }

# by_hand LANGUAGE_EMBEDDINGS FROM TO: the table of all, in dictionary and left out, by the definition. FROM and TO:
# columns of the dictionary, and languages in the order of the corpus.
by_hand() {
    local names=(en xx)
    numbers /model/embeddings/word/weight "$model" >word
    if [ "$1" = true ]; then numbers /model/embeddings/language/weight "$model" >language; else seq 64 | sed 's/.*/0/' >language; fi
    numbers "/train/text/${names[$3]}/tokens" corpus.h5 | sort -un >candidates
    { pairs_of /dictionary/pairs dict.h5 | sed 's/$/ 1/'; pairs_of /dictionary/left_out dict.h5 | sed 's/$/ 0/'; } >pairs
    awk -v d=32 -v from="$2" -v to="$3" '
        FILENAME == "word" { e[n++] = $1; next }
        FILENAME == "language" { l[m++] = $1; next }
        FILENAME == "candidates" { candidate[$1]; next }
        {
            s = from ? $2 : $1; t = from ? $1 : $2; gold[s, t]; candidate[t]
            if (!(s in group)) source[++k] = s
            group[s] = group[s] > $3 ? group[s] : $3
        }
        END {
            for (i = 1; i <= k; i++) {
                s = source[i]; best = -2; rank = 1
                for (t in candidate) {
                    xy = xx = yy = 0
                    for (c = 0; c < d; c++) {
                        x = e[s * d + c] + l[from * d + c]; y = e[t * d + c] + l[to * d + c]
                        xy += x * y; xx += x * x; yy += y * y
                    }
                    cosine[t] = xy / sqrt(xx * yy)
                    if ((s, t) in gold && cosine[t] > best) best = cosine[t]
                }
                for (t in candidate) if (!((s, t) in gold) && t != s && cosine[t] >= best) rank++
                for (g = 0; g < 3; g++) if (g == 0 || (g == 1) == (group[s] == 1)) {
                    number[g]++; one[g] += rank <= 1; five[g] += rank <= 5; ten[g] += rank <= 10; mrr[g] += 1 / rank
                    shared[g] += s in candidate && !((s, s) in gold)
                }
            }
            split("all,in dictionary,left out", name, ",")
            for (g = 0; g < 3; g++)
                printf "%s,%d,%.6f,%.6f,%.6f,%.6f,%.6f\n", name[g + 1], number[g], one[g] / number[g], five[g] / number[g],
                    ten[g] / number[g], mrr[g] / number[g], shared[g] / number[g]
        }' word language candidates pairs
}
# near A B: the same table, numbers within 1e-5.
near() {
    paste -d, "$1" "$2" | awk -F, 'NF != 14 || $1 != $8 { exit 1 }
        { for (i = 2; i <= 7; i++) { x = $i - $(i + 7); if (x > 1e-5 || x < -1e-5) exit 1 } }'
}

check() { # MODEL LANGUAGE_EMBEDDINGS FROM TO [OPTION...]
    local name=$1 language=$2 from=$3 to=$4
    shift 4
    model=$name/latest
    by_hand "$language" "$from" "$to" >hand.csv
    for n in 1 2 4; do
        ranks $n xlm_embed alignment "$model" dict.h5 corpus.h5 --csv $n.csv "$@" >$n.out 2>$n.log ||
            fail "$n ranks: $(cat $n.log)"
        cmp $n.out 1.out && cmp $n.csv 1.csv || fail "$n ranks: another result"
    done
    sed -n 2,4p 1.csv >here.csv
    near here.csv hand.csv || fail "$name $*: $(cat here.csv), by hand: $(cat hand.csv)"
}
check out true 0 1
check out true 1 0 --reverse
logged plain.log xlm_train job.conf --set model.language_embeddings=false --set train.output=plain --set train.steps=1
check plain false 0 1

# Subwords of both languages took part, and so did others.
awk -F, 'NR == 2 { exit !($7 > 0 && $7 < 1) }' 1.csv || fail "no subword of both languages: $(cat 1.csv)"

# The bands are all there is, the table on standard output says the same, and threads change nothing.
awk -F, 'NR == 2 { all = $2 } NR > 4 { sum += $2 } END { exit !(sum == all && all == 22) }' 1.csv || fail "bands: $(cat 1.csv)"
[ "$(sed -n 2p 1.out | awk '{ print $2 }')" = 22 ] || fail "the table: $(cat 1.out)"
xlm_embed alignment plain/latest dict.h5 corpus.h5 --threads 2 2>/dev/null | cmp - 1.out || fail "two threads give another result"

# ---- what is wrong ----
xlm_prep --mono en=text.en --mono xx=text.xx --words space --bpe 100 -o other.h5 >prep.log 2>&1 || fail "$(cat prep.log)"
expect 64 'say first which command: alignment' xlm_embed
expect 64 'analogies: there is no such command; it is one of "alignment"' xlm_embed analogies out/latest
expect 64 'takes a checkpoint, a dictionary and a corpus' xlm_embed alignment out/latest dict.h5
expect 66 'none.h5' xlm_embed alignment none.h5 dict.h5 corpus.h5
expect 66 'none.h5' xlm_embed alignment out/latest none.h5 corpus.h5
expect 65 'other subwords' xlm_embed alignment out/latest dict.h5 other.h5
expect 65 'corpus.h5' xlm_embed alignment out/latest corpus.h5 corpus.h5
expect 73 'no-such-directory' xlm_embed alignment out/latest dict.h5 corpus.h5 --csv no-such-directory/a.csv
finish
