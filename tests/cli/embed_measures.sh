#!/usr/bin/env bash
# xlm-mpi: retrieval of sentences and of a dictionary's subwords, computed again from exported vectors and the model's file.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long
small_corpus --para en-xx=text.en,text.xx --bpe 400
logged train.log xlm_train job.conf --set train.steps=60
for word in the old red small green tall quick quiet house river teacher garden window student book mountain \
    sees finds opens likes paints follows; do
    echo "$word $(echo "$word" | sed 's/[aeiou]/y&/g')"
done >en-xx.txt
printf 'house ryiver\nred byook\nold tyall\ngreen ryed\nriver smyall\nfinds syeyes\n' >>en-xx.txt # second translations
logged dict.log xlm_dict corpus.h5 --source en --target xx --text en-xx.txt --share 0.5 -o dict.h5

# The answers, by the definition. Input: lines "query SIDE CLASS x ..." in pools of so many, SIDE 0 or 1; of two sides' sentence
# number i one is right for the other, and so are those of its CLASS. Prints accuracies by cosine and by CSLS, from side 0, from
# side 1.
cat >retrieve.awk <<'AWK'
function cosine(i, j,    c, s) { s = 0; for (c = 1; c <= d; c++) s += x[0, i, c] * x[1, j, c]; return s }
# The mean of the k largest of near[1 ... m].
function mean_of_largest(m, k,    t, i, best, sum, n) {
    sum = n = 0
    for (t = 0; t < k && t < m; t++) {
        best = 0
        for (i = 1; i <= m; i++) if (i in near && (!best || near[i] > near[best])) best = i
        sum += near[best]; n++; delete near[best]
    }
    return n ? sum / n : 0
}
{
    side = $1; i = ++number[side]; class[side, i] = $2; d = NF - 2; length2 = 0
    for (c = 1; c <= d; c++) length2 += $(c + 2) ^ 2
    for (c = 1; c <= d; c++) x[side, i, c] = length2 > 0 ? $(c + 2) / sqrt(length2) : 0
}
END {
    n = number[0]
    if (!pool) pool = n
    used = int(n / pool) * pool
    for (begin = 1; begin <= used; begin += pool) {
        end = begin + pool - 1
        for (i = begin; i <= end; i++) for (j = begin; j <= end; j++) cos_[i, j] = cosine(i, j)
        for (i = begin; i <= end; i++) {
            for (j = begin; j <= end; j++) near[j - begin + 1] = cos_[i, j]
            r[0, i] = mean_of_largest(pool, k)
            for (j = begin; j <= end; j++) near[j - begin + 1] = cos_[j, i]
            r[1, i] = mean_of_largest(pool, k)
        }
        for (from = 0; from < 2; from++) for (csls = 0; csls < 2; csls++) for (i = begin; i <= end; i++) {
            best = other = -9
            for (j = begin; j <= end; j++) {
                score = from == 0 ? cos_[i, j] : cos_[j, i]
                if (csls) score = 2 * score - r[!from, j]
                if (class[!from, j] == class[!from, i]) { if (score > best) best = score }
                else if (score > other) other = score
            }
            right[from, csls] += best > other + 2e-6
        }
    }
    printf "%.6f,%.6f %.6f,%.6f\n", right[0, 0] / used, right[0, 1] / used, right[1, 0] / used, right[1, 1] / used
}
AWK
# by_hand POOL K LAYER [EXPORT-OPTION...]: of the texts test.en and test.xx.
by_hand() {
    local pool=$1 k=$2 layer=$3 side=0 language
    shift 3
    for language in en xx; do
        xlm_embed export out/latest --language $language --text test.$language --layer "$layer" "$@" 2>export.log |
            paste -d ' ' <(tr ' ' '_' <test.$language) - | sed "s/^/$side /"
        side=1
    done | awk -v pool="$pool" -v k="$k" -f retrieve.awk
}
# here CSV LAYER VECTOR: the same four numbers.
here() {
    awk -F, -v layer="$2" -v vector="$3" '
        $1 == layer && $2 == vector { printf "%s%s,%s", (n++ ? " " : ""), $7, $8 } END { print "" }' "$1"
}

# ---- sentences of two texts, some of which occur twice ----
{ sed -n '1,70p;3p;5p' text.en; } >test.en
{ sed -n '1,70p;3p;6p' text.xx; } >test.xx
for n in 1 2 4; do
    ranks $n xlm_embed retrieval out/latest test.en test.xx --csv $n.csv >$n.out 2>$n.log || fail "$n ranks: $(cat $n.log)"
    cmp $n.out 1.out && cmp $n.csv 1.csv || fail "$n ranks: another result"
done
grep -q 'target and .* source sentences occur more than once' 1.log || fail "repeated sentences: $(cat 1.log)"
[ "$(wc -l <1.csv)" -eq 13 ] && [ "$(cut -d, -f5,6 1.csv | sort -u | wc -l)" -eq 2 ] || fail "the table: $(cat 1.csv)"
for layer in 0 1 2; do
    wanted=$(by_hand 0 10 $layer)
    [ "$(here 1.csv $layer mean)" = "$wanted" ] || fail "mean of layer $layer: $(here 1.csv $layer mean), by hand: $wanted"
    wanted=$(by_hand 0 10 $layer --pooling first --special-tokens)
    [ "$(here 1.csv $layer '<s>')" = "$wanted" ] || fail "<s> of layer $layer: $(here 1.csv $layer '<s>'), by hand: $wanted"
done
# <s> alone is the same in every sentence.
[ "$(here 1.csv 0 '<s>')" = '0.000000,0.000000 0.000000,0.000000' ] || fail "<s> of layer 0 tells sentences apart"
ranks 3 xlm_embed retrieval out/latest test.en test.xx --pool 10 -k 3 --csv pool.csv >pool.out 2>pool.log ||
    fail "pools: $(cat pool.log)"
for layer in 0 1 2; do
    wanted=$(by_hand 10 3 $layer)
    [ "$(here pool.csv $layer mean)" = "$wanted" ] || fail "pools, layer $layer: $(cat pool.csv), by hand: $wanted"
done
[ "$(cut -d, -f7,8 pool.csv | sort -u | wc -l)" -gt 4 ] || fail "all the same: $(cat pool.csv)"
grep -q '2 pairs after the last whole pool of 10' pool.log && sed -n 2p pool.csv | grep -q ',70,10,' ||
    fail "pools: $(cat pool.log pool.csv)"

# ---- of a corpus: the held-out pairs ----
for language in en xx; do decode corpus.h5 held_out $language >all.$language; done
pairs_of /held_out/parallel/en-xx/links corpus.h5 >links
awk '{ print $1 + 1 }' links | while read -r i; do sed -n "${i}p" all.en; done >held.en
awk '{ print $2 + 1 }' links | while read -r i; do sed -n "${i}p" all.xx; done >held.xx
ranks 2 xlm_embed retrieval out/latest corpus.h5 --csv corpus.csv >corpus.out 2>corpus.log || fail "$(cat corpus.log)"
gzip held.xx
xlm_embed retrieval out/latest held.en held.xx.gz --languages en,xx --csv text.csv >text.out 2>text.log || fail "$(cat text.log)"
cmp corpus.csv text.csv && cmp corpus.out text.out || fail "a corpus and its text differ: $(cat corpus.csv text.csv)"
[ "$(sed -n 2p corpus.csv | cut -d, -f5)" -eq "$(wc -l <links)" ] || fail "not all held-out pairs: $(cat corpus.csv)"
logged train.out xlm_embed retrieval out/latest corpus.h5 --split train --layer 2 --threads 2
grep -q "^$(pairs_of /train/parallel/en-xx/links corpus.h5 | wc -l) pairs" train.out || fail "pairs of train: $(cat train.out)"

# Pairs that the model cannot read.
{ cat test.en; paste -s -d' ' text.en; echo; } >long.en
{ cat test.xx; head -n 1 text.xx; head -n 1 text.xx; } >long.xx
xlm_embed retrieval out/latest long.en long.xx --csv long.csv >long.out 2>long.log || fail "$(cat long.log)"
grep -q 'warning: 2 of 74 pairs are left out' long.log && cmp long.csv 1.csv || fail "long pairs: $(cat long.log)"

# ---- the dictionary ----
# dictionary_by_hand LANGUAGE_EMBEDDINGS [corpus]: lines as of the csv.
dictionary_by_hand() {
    numbers /model/embeddings/word/weight out/latest >word
    numbers /model/embeddings/language/weight out/latest >language
    : >candidates
    [ $# -eq 1 ] || for side in 0 1; do
        names=(en xx)
        numbers "/train/text/${names[$side]}/tokens" corpus.h5 | awk '$1 > 4' | sort -un | sed "s/^/$side /" >>candidates
    done
    { pairs_of /dictionary/pairs dict.h5 | sed 's/$/ 1/'; pairs_of /dictionary/left_out dict.h5 | sed 's/$/ 0/'; } >pairs
    awk -v d=32 -v added="$1" -v k=10 '
        function vector(side, id,    c, l) {
            l = 0
            for (c = 0; c < d; c++) {
                x[side, id, c] = word[id * d + c] + (added == "true" ? language[side * d + c] : 0)
                l += x[side, id, c] ^ 2
            }
            for (c = 0; c < d; c++) x[side, id, c] /= sqrt(l)
        }
        function cosine(s, t,    c, sum) { sum = 0; for (c = 0; c < d; c++) sum += x[0, s, c] * x[1, t, c]; return sum }
        function neighbours(side, id,    i, t, m, sum, best) {
            delete near
            for (i in token) {
                split(i, p, SUBSEP)
                if (p[1] == side || p[2] == id && !((id, id) in translation)) continue
                near[p[2]] = side == 0 ? cosine(id, p[2]) : cosine(p[2], id)
            }
            sum = m = 0
            for (t = 0; t < k; t++) {
                best = ""
                for (i in near) if (best == "" || near[i] > near[best]) best = i
                if (best == "") break
                sum += near[best]; m++; delete near[best]
            }
            return m ? sum / m : 0
        }
        function add(g,    n) {
            n = ++pairs[g]; first[g, n] = $1; second[g, n] = $2; sum_of[g] += cosine($1, $2)
        }
        function shuffled(g,    i, j, sum) {
            for (i = 1; i <= pairs[g]; i++) for (j = 1; j <= pairs[g]; j++) sum += cosine(first[g, i], second[g, j])
            return sum / pairs[g] ^ 2
        }
        FILENAME == "word" { word[words++] = $1; next }
        FILENAME == "language" { language[languages++] = $1; next }
        FILENAME == "candidates" { token[$1, $2]; vector($1, $2); next }
        {
            token[0, $1]; token[1, $2]; vector(0, $1); vector(1, $2)
            translation[$1, $2]; group = $3 ? "in dictionary" : "left out"
            member["all", 0, $1]; member["all", 1, $2]; member[group, 0, $1]; member[group, 1, $2]
            add("all"); add(group)
        }
        END {
            for (i in token) { split(i, q, SUBSEP); n[q[1]]++; r[q[1], q[2]] = neighbours(q[1], q[2]) } # which changes p
            for (i in token) {
                split(i, p, SUBSEP); from = p[1]; id = p[2]
                if (!(("all", from, id) in member)) continue
                best[0] = best[1] = other[0] = other[1] = -9
                for (j in token) {
                    split(j, q, SUBSEP)
                    if (q[1] == from) continue
                    s = from ? q[2] : id; t = from ? id : q[2]
                    if (!((s, t) in translation) && s == t) continue
                    for (csls = 0; csls < 2; csls++) {
                        v = csls ? 2 * cosine(s, t) - r[!from, q[2]] : cosine(s, t)
                        if ((s, t) in translation) { if (v > best[csls]) best[csls] = v }
                        else if (v > other[csls]) other[csls] = v
                    }
                }
                for (g in pairs) if ((g, from, id) in member) {
                    if (g == "left out" && ("in dictionary", from, id) in member) { both++; continue }
                    count[g, from]++
                    for (csls = 0; csls < 2; csls++) right[g, from, csls] += best[csls] > other[csls] + 2e-6
                }
            }
            split("all,in dictionary,left out", order, ",")
            for (o = 1; o <= 3; o++) for (from = 0; from < 2; from++) {
                g = order[o]
                if (!from) any = shuffled(g)
                printf "%s,%s,%d,%.6f,%.6f,%d,%d,%.6f,%.6f\n", g, from ? "xx,en" : "en,xx", pairs[g], sum_of[g] / pairs[g], any,
                    count[g, from], n[!from], right[g, from, 0] / count[g, from], right[g, from, 1] / count[g, from]
            }
            print both + 0 >"both"
        }' word language candidates pairs
}
for form in 'true corpus' 'true' 'false corpus'; do
    read -r language corpus <<<"$form"
    option=$([ "$language" = true ] || echo --words-alone)
    # shellcheck disable=SC2086 # one argument or none
    for n in 1 4; do
        ranks $n xlm_embed dictionary out/latest dict.h5 ${corpus:+corpus.h5} $option --csv d$n.csv >d$n.out 2>d$n.log ||
            fail "$n ranks: $(cat d$n.log)"
        cmp d$n.out d1.out && cmp d$n.csv d1.csv || fail "$form, $n ranks: another result"
    done
    # shellcheck disable=SC2086
    dictionary_by_hand $language $corpus >hand
    sed 1d d1.csv >got
    same_numbers got hand 2e-6 || fail "$form: $(cat got), by hand: $(cat hand)"
done
# Of a word that has another translation in the dictionary nothing is measured by those left out.
printf '%s\n' 'the thye' 'house thye' >two.txt
logged two.log xlm_dict corpus.h5 --source en --target xx --text two.txt --subwords first --share 0.5 -o two.h5
xlm_embed dictionary out/latest two.h5 --csv two.csv >two.out 2>two.log || fail "$(cat two.log)"
grep -q '^left out,en,xx,1,[-0-9.,]*,1,[0-9]*,[0-9.]*,[0-9.]*$' two.csv &&
    grep -q '^left out,xx,en,1,[-0-9.]*,[-0-9.]*,0,[0-9]*,,$' two.csv && grep -q '^left out .* xx-en  *0  *[0-9]*  *-  *-$' two.out ||
    fail "no words: $(cat two.csv two.out)"
[ "$(cat both)" -gt 0 ] || fail "no word of both dictionaries"
[ "$(sed -n 2p d1.out | awk '{ print $2, $5, $6 }')" = "$(wc -l <pairs) en-xx 22" ] || fail "the table: $(cat d1.out)"

# ---- what is wrong ----
expect 64 'retrieval takes a checkpoint, and a corpus or two texts' xlm_embed retrieval out/latest
expect 64 '--layer=3: the model of out/latest has 2 layers' ranks 2 xlm_embed retrieval out/latest test.en test.xx --layer 3
expect 64 '--layer=last: must be the number' xlm_embed retrieval out/latest test.en test.xx --layer last
expect 64 '--pool=73: test.en has 72 pairs' ranks 2 xlm_embed retrieval out/latest test.en test.xx --pool 73
expect 64 '--pool=-1' xlm_embed retrieval out/latest test.en test.xx --pool=-1
expect 64 '--neighbours=0: must be from 1' xlm_embed retrieval out/latest test.en test.xx --neighbours 0
expect 64 '--split is only for a corpus' xlm_embed retrieval out/latest test.en test.xx --split train
expect 64 '--split=dev: must be' xlm_embed retrieval out/latest corpus.h5 --split dev
expect 64 'no language "fr"; it has en, xx' xlm_embed retrieval out/latest test.en test.xx --languages en,fr
cp test.en other
expect 64 'say --languages SOURCE,TARGET' xlm_embed retrieval out/latest other test.xx
expect 64 'corpus.h5: is HDF5, not text' xlm_embed retrieval out/latest corpus.h5 test.xx
expect 66 'none.en' ranks 2 xlm_embed retrieval out/latest none.en test.xx
expect 66 'none.h5' xlm_embed retrieval none.h5 test.en test.xx
head -n 3 test.xx >short.xx
expect 65 'short.xx' xlm_embed retrieval out/latest test.en short.xx
printf '\n\n' >empty.en
expect 65 'empty.en: has no pair that the model can read' ranks 2 xlm_embed retrieval out/latest empty.en empty.en \
    --languages en,xx
expect 64 'test.en: is both input and output' xlm_embed retrieval out/latest test.en test.xx --csv test.en
expect 73 'no-such-directory' ranks 2 xlm_embed retrieval out/latest test.en test.xx --csv no-such-directory/a.csv
expect 64 'dictionary takes a checkpoint, a dictionary' xlm_embed dictionary out/latest
expect 64 '--neighbours=1001' xlm_embed dictionary out/latest dict.h5 --neighbours 1001
expect 66 'none.h5' ranks 2 xlm_embed dictionary out/latest none.h5
expect 65 'corpus.h5' xlm_embed dictionary out/latest corpus.h5
expect 64 'dict.h5' xlm_embed dictionary out/latest dict.h5 --csv dict.h5
xlm_prep --mono en=text.en --mono xx=text.xx --para en-xx=text.en,text.xx --words space --bpe 100 --held-out 0.1 -o other.h5 \
    >prep.log 2>&1 || fail "$(cat prep.log)"
expect 65 'other subwords or languages than other.h5' ranks 2 xlm_embed dictionary out/latest dict.h5 other.h5
# A corpus like the model has more languages: the remedies are those that help.
logged like.log xlm_prep --like out/latest --mono de=text.en --para en-de=text.en,text.xx -o more.h5
logged dict.log xlm_dict more.h5 --source en --target de --text en-xx.txt -o more-dict.h5
expect 65 '--add-languages de -o' ranks 2 xlm_embed dictionary out/latest more-dict.h5 more.h5
expect 65 '--add-languages de -o' xlm_embed alignment out/latest more-dict.h5 more.h5
expect 65 'more-dict.h5: .* target language, de, is not here: xlm_convert MODEL --add-languages' \
    xlm_embed dictionary out/latest more-dict.h5
logged convert.log xlm_convert out/latest --add-languages de -o more-model.h5
logged more.log xlm_embed dictionary more-model.h5 more-dict.h5 more.h5
logged more.log xlm_embed alignment more-model.h5 more-dict.h5 more.h5
# The other way round it does not.
expect 65 'its languages are en,xx,de, there they are en,xx); prepare the text with xlm_prep --like more-model.h5' \
    xlm_embed dictionary more-model.h5 dict.h5 corpus.h5
expect 65 'another vocabulary or other languages than other.h5' ranks 2 xlm_embed retrieval out/latest other.h5
finish
