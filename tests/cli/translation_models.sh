#!/usr/bin/env bash
# xlm-mpi: models of M2M100's, NLLB's and Marian's form and tokenizers: made, trained, converted there and back, translating.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long

logged unigram.log xlm_prep --unigram 70 --mono en=text.en --mono xx=text.xx -o own.h5 --write-codes own.model
logged unigram.log xlm_prep --unigram 40 --mono xx=text.xx -o xx.h5 --write-codes xx.model
published_pieces own.model >pieces.model
published_pieces xx.model >xx-pieces.model
# ids BEFORE... -- AFTER...: a vocab.json of these tokens around the pieces of both models.
ids() {
    { while [ "$1" != -- ]; do echo "$1"; shift; done
        for file in own.h5 xx.h5; do strings /vocabulary/words $file; done | grep -v '^<.*>$' | awk '!seen[$0]++'
        shift; [ $# -eq 0 ] || printf '%s\n' "$@"; } |
        awk 'BEGIN { printf "{" } END { print "}" }
            { gsub(/["\\]/, "\\\\&"); printf "%s\"%s\": %d", (NR > 1 ? ", " : ""), $0, NR - 1 }'
}
mkdir m2m100 nllb marian none
cp pieces.model m2m100/sentencepiece.bpe.model
cp pieces.model nllb/sentencepiece.bpe.model
cp pieces.model marian/source.spm
cp xx-pieces.model marian/target.spm
ids '<s>' '<pad>' '</s>' '<unk>' -- >m2m100/vocab.json
ids '</s>' '<unk>' -- '<pad>' >marian/vocab.json
echo '{"tokenizer_class": "M2M100Tokenizer", "additional_special_tokens": ["__de__", "__en__", "__xx__"]}' \
    >m2m100/tokenizer_config.json
echo '{"tokenizer_class": "NllbTokenizer"}' >nllb/tokenizer_config.json
echo '{"additional_special_tokens": ["deu_Latn", {"content": "eng_Latn"}, "xxx_Latn"]}' >nllb/special_tokens_map.json
echo '{"tokenizer_class": "MarianTokenizer", "source_lang": "en", "target_lang": "xx"}' >marian/tokenizer_config.json

m2m=('norm = pre' 'final_norm = true' 'position_type = sinusoidal_fairseq' 'output_bias = false' 'activation = relu')
mar=('position_type = sinusoidal_halves' 'position_offset = 0' 'activation = swish')
both=('decoder_layers = 2' 'embedding_norm = false' 'scale_embeddings = true' 'head = xlm' 'encode_bos = false')

# counted FILE: the counts of the vocabulary are those of the text to train on, with the tokens of languages and without <unk>.
counted() {
    local text
    for text in $(h5ls "$1/train/text" | cut -d' ' -f1); do numbers "/train/text/$text/tokens" "$1"; done | sort -n | uniq -c |
        awk 'FILENAME == "-" { if (word[$2] != "<unk>") print $2, $1; next } { word[n++] = $0 }' \
            <(strings /vocabulary/words "$1") - >seen.txt
    numbers /vocabulary/counts "$1" | awk '$1 > 0 { print NR - 1, $1 }' | diff - seen.txt >diff.log ||
        fail "counts of $1 are not of its text: $(head -n 6 diff.log)"
}
# model KIND LANGUAGE LANGUAGE KEY=VALUE...
model() {
    local kind=$1 en=$2 xx=$3 part n eos pad
    shift 3
    logged prep.log xlm_prep --tokenizer "$kind" --mono "$en=text.en" --mono "$xx=text.xx" --para "$en-$xx=text.en,text.xx" \
        --held-out 0.05 -o "$kind.h5"
    counted "$kind.h5"
    eight_steps 2 -e '/^.stream text/,$d' -e "s/^.model./&\n$(printf '%s\\n' "${both[@]}" "$@")/" \
        -e "s/^corpus = .*/corpus = $kind.h5/; /^language_embeddings/d; /^head/d" >"$kind.conf"
    sed -i '1,/^head = xlm/!{/^head/d}' "$kind.conf"
    printf '%s\n' '[stream pairs]' 'type = parallel' 'form = bert' 'shuffle_sides = true' 'batch = 8' 'length = 64' 'mask = 0.3' \
        'noise_shuffle = 0' '[objective nmt]' 'plugin = seq2seq' 'stream = pairs' '[objective tlm]' 'plugin = mlm' 'stream = pairs' \
        >>"$kind.conf"
    # (nllb has the keys of m2m100)
    if [ "$kind" = nllb ]; then trained "$kind.conf" "$kind-run-1" 1; else reproduced "$kind.conf" "$kind-run" 2; fi
    # There and back: the same model, in the same words.
    logged export.log xlm_convert "$kind-run-1/latest" -o "$kind.there"
    # By its configuration transformers decode as xlm_translate does.
    tr -d '\n ' <"$kind.there/config.json" >settings
    eos=$(sed 's/.*"eos_token_id":\([0-9]*\).*/\1/' settings) pad=$(sed 's/.*"pad_token_id":\([0-9]*\).*/\1/' settings)
    grep -q "\"forced_eos_token_id\":$eos[,}]" settings && grep -q "\"bad_words_ids\":\[\[$pad\]\]" settings ||
        fail "$kind: how it ends: $(cat settings)"
    logged import.log xlm_convert "$kind.there" -o "$kind.own.h5"
    for part in /job/pair_form /job/translations; do # both directions, whatever the tokenizer says
        [ "$(attribute $part "$kind-run-1/latest")" = "$(attribute $part "$kind.own.h5")" ] ||
            fail "$kind: $part is $(attribute $part "$kind.own.h5")"
    done
    [ "$(attribute /job/translations "$kind.own.h5")" = "\"$en-$xx,$xx-$en\"" ] || fail "$kind: one direction"
    # As published.
    rm "$kind.there/xlm_vocabulary.h5"
    sed -i 's/"xlm_mpi_pairs"/"other"/' "$kind.there/config.json"
    logged import.log xlm_convert "$kind.there" -o "$kind.back.h5"
    for part in /model /vocabulary/words; do
        same_objects "$kind-run-1/latest" "$kind.own.h5" $part >diff.log 2>&1 || fail "$kind: $part: $(head -3 diff.log)"
    done
    for part in /model /vocabulary/words /languages; do
        same_objects "$kind.own.h5" "$kind.back.h5" $part >diff.log 2>&1 || [ "$kind $part" = "m2m100 /languages" ] ||
            [ "$kind $part" = "nllb /languages" ] || fail "$kind, its own files alone: $part: $(head -3 diff.log)"
    done
    # Translations, on any number of ranks.
    { head -n 20 text.en; echo; tail -n 5 text.en; } >lines
    for n in 1 2; do
        logged translate.log ranks $n xlm_translate "$kind.back.h5" --from "$en" --to "$xx" --beam 3 --scores \
            --alignment "$kind.links.$n" -o "$kind.out.$n" lines
    done
    cmp "$kind.out.1" "$kind.out.2" && cmp "$kind.links.1" "$kind.links.2" || fail "$kind: 2 ranks translate otherwise"
    [ "$(wc -l <"$kind.out.1")" -eq 26 ] && [ "$(sed -n 21p "$kind.out.1" | cut -f2)" = '' ] || fail "$kind: $(cat "$kind.out.1")"
    grep -q -e '__' -e '_Latn' "$kind.out.1" && fail "$kind: tokens of languages are in the text: $(head -n 3 "$kind.out.1")"
    for n in states attention; do
        logged links.log xlm_translate "$kind.back.h5" --from "$en" --to "$xx" --sample --alignment "$kind.$n" lines -o drawn \
            $([ $n = attention ] || echo --alignment-method=argmax)
        paste -d '|' lines drawn "$kind.$n" | awk -F'|' '{ words = split($1, w, " "); n = split($3, l, " ")
            for (i = 1; i <= n; i++) { split(l[i], end, "-"); bad = bad || end[1] >= words || end[2] >= split($2, w, " ") }
            all += n } END { exit bad || all == 0 }' ||
            fail "$kind: links by $n of other words: $(head -n 2 "$kind.$n")"
    done
}
model m2m100 en xx "${m2m[@]}"
model nllb eng_Latn xxx_Latn "${m2m[@]}"
model marian en xx "${mar[@]}"
# without_tokenizer DIR: transformers have none for it, no file promises one, and the card does not load one.
without_tokenizer() {
    [ ! -e "$1/tokenizer_config.json" ] && [ ! -e "$1/special_tokens_map.json" ] && [ -s "$1/xlm_vocabulary.h5" ] ||
        fail "$1: files of a tokenizer: $(ls "$1")"
    grep -q 'give them the ids' "$1/README.md" && ! grep -q AutoTokenizer "$1/README.md" || fail "$1: $(cat "$1/README.md")"
}
refuse 64 'write-codes: text of xx is segmented by a model of its own' \
    xlm_prep --tokenizer marian --mono en=text.en --write-codes none/codes -o none/c.h5
grep -q AutoTokenizer marian.there/README.md || fail "no tokenizer on the card: $(cat marian.there/README.md)"
# A third language is divided as the first; transformers have no tokenizer for this.
logged more.log xlm_convert marian.back.h5 --add-languages fr -o more.h5
logged more.log xlm_convert more.h5 -o more.there
grep -q 'no tokenizer that divides text of xx by a model of its own' more.log || fail "no word of it: $(cat more.log)"
[ ! -e more.there/tokenizer.json ] && [ ! -e more.there/source.spm ] || fail "a tokenizer: $(ls more.there)"
without_tokenizer more.there
logged more.log xlm_convert more.there -o again.h5
for part in /model /vocabulary /languages; do
    same_objects more.h5 again.h5 $part >diff.log 2>&1 || fail "marian with three languages: $part: $(head -3 diff.log)"
done
# Marian's tokenizer says what its models translate.
[ "$(attribute /job/translations marian.back.h5)" = '"en-xx"' ] || fail "translations: $(attribute /job/translations marian.back.h5)"
logged warn.log xlm_translate marian.back.h5 lines
grep -q 'not trained' warn.log && fail "a warning without languages: $(cat warn.log)"
while IFS='|' read -r languages words; do
    # shellcheck disable=SC2086
    xlm_translate marian.back.h5 $languages lines >/dev/null 2>warn.log
    grep -q "warning: marian.back.h5: its run was not trained to translate $words, only en-xx" warn.log ||
        fail "no warning, $languages: $(cat warn.log)"
done <<'PAIRS'
--from xx --to en|xx into en
--from xx|xx
--to en|into en
PAIRS

wrong() { # KIND FILE SED PATTERN
    rm -rf bad
    cp -r "$1.there" bad
    sed -i "$3" "bad/$2"
    cmp -s "$1.there/$2" "bad/$2" && fail "$3 changes nothing in $2"
    expect 65 "$4" xlm_convert bad -o none/m.h5
    nothing_in none
}

# ---- tokens of languages ----
head -n 2 text.en >two
id() { awk -v word="$2" '$0 == word { print NR - 1 }' <(strings /vocabulary/words "$1"); } # FILE WORD
[ "$(attribute /vocabulary/language_form nllb.h5)" = '"*"' ] || fail "form: $(attribute /vocabulary/language_form nllb.h5)"
for pair in 'm2m100 en __en__' 'm2m100 xx __xx__' 'nllb eng_Latn eng_Latn' 'nllb xxx_Latn xxx_Latn'; do
    read -r kind language token <<<"$pair"
    numbers "/train/text/$language/tokens" "$kind.h5" >tokens
    numbers "/train/text/$language/offsets" "$kind.h5" | awk -v id="$(id "$kind.h5" "$token")" '
        FILENAME != "-" { token[n++] = $1; next } $1 < n { starts++; bad = bad || token[$1] != id }
        END { for (i = 0; i < n; i++) all += token[i] == id; exit bad || starts == 0 || all != starts }' tokens - ||
        fail "$pair: not every sentence begins with its token, or there are others"
done
# Words and subwords that are encoded begin with it as lines do.
encoded() { logged embed.log xlm_embed export m2m100.back.h5 --layer 2 "${@:2}" -o "encoded.$1.h5"; }
printf '%s\n' house the river >words
for language in en xx; do
    encoded $language.words -l $language --words words
    encoded $language.text -l $language --text words
    encoded $language -l $language
    same_objects encoded.$language.words.h5 encoded.$language.text.h5 /vectors >diff.log 2>&1 ||
        fail "words in $language are not encoded as lines: $(head -n 3 diff.log)"
done
for what in .words ''; do
    same_objects "encoded.en$what.h5" "encoded.xx$what.h5" /vectors >diff.log 2>&1 &&
        fail "en and xx have the same vectors: encoded.en$what.h5"
done
# So do sentences whose words are tagged; without a language nothing says which token.
for file in text.en text.xx; do
    head -n 60 $file | awk '{ for (i = 1; i <= NF; i++) print $i "\t" (length($i) > 3 ? "LONG" : "SHORT"); print "" }' >tags.${file#*.}
done
printf '[tune]\nmodel = m2m100.back.h5\ntrain = en:tags.en\ndev = en:tags.en\noutput = tag\nepochs = 1\nlength = 32\n[task tagging]\n' \
    >tag.conf
logged tag.log xlm_tune tag.conf
logged eval.log xlm_eval tag/best --test en:tags.en --test xx:tags.xx --predictions tagged
logged dump.log xlm_tune tag.conf --dump-step tag.h5 --set tune.output=dump
numbers "$(h5ls -r tag.h5 | awk '$1 ~ "/ids$" { print $1; exit }')" tag.h5 | grep -qx "$(id m2m100.h5 __en__)" ||
    fail "sentences in en do not begin with __en__"
expect 78 'the model has tokens of languages; give language = NAME in .tune. (one of ' \
    xlm_tune tag.conf --set tune.train=tags.en --set tune.output=none
# They are not predicted by mlm, and kept by --keep.
logged dump.log xlm_train m2m100.conf --dump-step step.h5 --set train.output=dump
for token in __en__ __xx__; do
    numbers /streams/pairs/batch/targets step.h5 | grep -qx "$(id m2m100.h5 $token)" && fail "$token is predicted"
done
# A monolingual sentence that is cut begins with it, and the parts that do not are left out.
sed -n '1,/^\[stream pairs\]/{/^\[stream/d;p}' m2m100.conf >cut.conf
printf '%s\n' '[stream text]' 'batch = 16' 'length = 10' 'mask = 0' 'noise_blank = 0.2' '[objective denoise]' 'plugin = seq2seq' \
    'stream = text' >>cut.conf
logged cut.log xlm_train cut.conf --dump-step cut.h5 --set train.output=dump
grep -q 'sentences whose end is left out: [1-9]' cut.log || fail "no sentence is cut: $(cat cut.log)"
paste -d' ' <(numbers /streams/text/batch/original cut.h5) <(numbers /streams/text/batch/positions cut.h5) |
    awk '$2 == 1 { print $1 }' | sort -u >begins
[ "$(xargs <begins)" = "$(printf '%s\n' "$(id m2m100.h5 __en__)" "$(id m2m100.h5 __xx__)" | sort -u | xargs)" ] ||
    fail "instances begin with $(xargs <begins)"
head -n 3 text.en >three
logged prep.log xlm_prep --like m2m100.back.h5 --mono en=three --held-out 0 -o few.h5
logged keep.log xlm_convert m2m100.back.h5 --keep few.h5 -o kept.h5
for token in __de__ __en__ __xx__; do [ -n "$(id kept.h5 $token)" ] || fail "--keep dropped $token"; done
logged kept.log xlm_translate kept.h5 --from en --to xx two
expect 65 'vocabulary with one segmenter, and this one has two .text of xx' xlm_convert marian.back.h5 --keep marian.h5 -o none/k.h5
# Parts of a line that is cut each begin with the token: log-probabilities of parts add up to that of the line.
sed -n 1p text.en >line
scored() { xlm_translate m2m100.back.h5 --from en --to xx --beam 1 --scores --length-penalty 0 "$@" 2>>scored.log | cut -f1; }
length=$(($(xlm_prep --like m2m100.back.h5 --mono en=line --held-out 0 -o line.h5 >prep.log 2>&1; numbers /train/text/en/tokens line.h5 |
    wc -l) + 1)) # one subword too many, with <s> and </s>
scored --long-lines cut --length "$length" line >whole.score
for ((k = 1; k < $(wc -w <line); k++)); do
    { cut -d' ' -f"-$k" line; cut -d' ' -f"$((k + 1))-" line; } >two.parts
    scored two.parts | awk '{ sum += $1 } END { printf "%.5f\n", sum }'
done >parts.scores
# The shortest parts are one subword beside the token; there are none without.
timeout 60 xlm_translate m2m100.back.h5 --from en --to xx --beam 1 --long-lines cut --length 4 line >short.out 2>short.log ||
    fail "--length 4: $(tail -n 3 short.log)"
expect 64 'sentences of 3 tokens have no place for a word' timeout 60 xlm_translate m2m100.back.h5 --from en --to xx \
    --long-lines cut --length 3 line
grep -q 'lines of more than .* were divided' scored.log || fail "the line was not cut: $(cat scored.log)"
awk 'NR == FNR { whole = $1; next } { d = $1 - whole; near = near || (d < 1e-4 && d > -1e-4) } END { exit !near }' \
    whole.score parts.scores || fail "cut: $(cat whole.score), not one of: $(paste -sd ' ' parts.scores)"
# What transformers reads beside the weights.
grep -q '^# A model that translates' m2m100.there/README.md && grep -q 'src_lang="de"' m2m100.there/README.md ||
    fail "the model card: $(cat m2m100.there/README.md)"
tr -d '\n ' <nllb.there/tokenizer_config.json | grep -q "\"$(id nllb.h5 eng_Latn)\":{\"content\":\"eng_Latn\"" ||
    fail "no ids of languages: $(cat nllb.there/tokenizer_config.json)"
cp -r m2m100.there padded
sed -i 's/"pad_token_id": *[0-9]*/"pad_token_id": 9223372036854775807/' padded/config.json
expect 65 'padded/config.json: "pad_token_id" is 9223372036854775807, but the vocabulary has' xlm_convert padded -o padded.h5
# Adapters learn beside such a model.
{ sed 's/^output = .*/&\nstart = m2m100.back.h5/' m2m100.conf; printf '[adapter one]\nrank = 2\n'; } >adapter.conf
logged adapter.log xlm_train adapter.conf --set train.output=adapted
logged merge.log xlm_convert adapted/latest --merge-adapters -o merged.h5
[ "$(attribute /job/translations merged.h5)" = '"en-xx,xx-en"' ] || fail "merged: $(attribute /job/translations merged.h5)"
# Both languages are asked for, and only those that have a token are known.
expect 64 'the model has tokens of languages; give --from' xlm_translate m2m100.back.h5 two
expect 64 '--to=fr: the model has no such language' xlm_translate m2m100.back.h5 --from en --to fr two
refuse 65 'names like eng_Latn, of a language and a script, and `en` is none' xlm_prep --tokenizer nllb --mono en=text.en -o none/c.h5
for key in pad_token_id eos_token_id decoder_start_token_id; do
    wrong nllb config.json "s/\"$key\": [0-9]*/\"$key\": 9/" "\"$key\" is 9, and the tokenizer has .* for it, of id"
done
echo zebra >zebra
expect 65 'this one has two .text of xx' xlm_convert marian.back.h5 --add-words zebra -o none/z.h5
logged words.log xlm_convert m2m100.back.h5 --add-words zebra -o zebra.h5
logged words.log xlm_convert zebra.h5 -o zebra.there
grep -q 'no tokenizer whose tokens of languages are where this vocabulary has them' words.log || fail "no word of it: $(cat words.log)"
without_tokenizer zebra.there
expect 64 'the model has .*--language' xlm_fill m2m100.back.h5 'the <mask> .'
expect 64 '--language NAME' xlm_embed export m2m100.back.h5 --text two -o none/v.h5
expect 64 'the model has tokens of languages; say --languages' xlm_align --checkpoint m2m100.back.h5 two two
# Links and neighbours in a corpus that was made like the model, whose counts and languages are not those of the model's own.
logged prep.log xlm_prep --like m2m100.back.h5 --para xx-en=text.xx,text.en --held-out 0.1 -o like.h5
logged links.log xlm_align like.h5 --checkpoint m2m100.back.h5 --split held-out -o like.links
logged links-2.log ranks 2 xlm_align like.h5 --checkpoint m2m100.back.h5 --split held-out -o like-2.links
cmp like.links like-2.links && [ "$(grep -c '[0-9]-[0-9]' like.links)" -gt 20 ] ||
    fail "links of a corpus made like the model: $(head -n 3 like.links)"
ranks 2 xlm_embed retrieval m2m100.back.h5 like.h5 >retrieval.out 2>&1 && grep -q 'xx' retrieval.out || fail "$(cat retrieval.out)"
# The pairs of a corpus, whose sentences begin with the tokens, are aligned and found as those of the same text; the tokens are
# no words, have no links and are not pooled.
paste text.en text.xx | awk -F '\t' '!en[$1]++ && !xx[$2]++' | head -n 60 >distinct
cut -f1 distinct >distinct.en
cut -f2 distinct >distinct.xx
trained m2m100.conf far 1 --set train.learning_rate=0.1 --set train.warmup=0 # whose states differ by more
logged prep.log xlm_prep --like m2m100.back.h5 --para en-xx=distinct.en,distinct.xx --held-out 0 -o distinct.h5
for form in together apart; do
    logged links.log xlm_align distinct.h5 --split train --checkpoint far/latest --encode $form --layer 2 -o corpus.links \
        --matrices corpus.matrices --alignment corpus.alignment
    logged links.log xlm_align distinct.en distinct.xx --checkpoint far/latest --encode $form --layer 2 -o text.links \
        --matrices text.matrices
    cmp corpus.links text.links && grep -q '[0-9]-[0-9]' text.links || fail "--encode $form: other links of a corpus"
    for part in /rows /columns /layer.2 /source /target; do
        same_objects corpus.matrices text.matrices $part >diff.log 2>&1 || fail "--encode $form: $part: $(head -n 3 diff.log)"
    done
done
logged links.log xlm_align distinct.h5 --split train --method diagonal --alignment counted.alignment
for file in corpus counted; do
    for side in source target; do
        numbers /pairs/en-xx/train/$side $file.alignment | sort -u >linked
        grep -qx 1 linked && ! grep -qx 0 linked || fail "$file.alignment: links of the token of a language: $(head -n 3 linked)"
    done
done
# nearest OPTION...: the share of sentences whose translation has the nearest vector of xlm_embed export, by cosine: the least and
# the most that it is whatever is taken for a tie, for both directions.
nearest() {
    for language in en xx; do
        xlm_embed export far/latest --language $language --text distinct.$language --layer 2 "$@" 2>>export.log
    done | awk '{ for (c = 1; c <= NF; c++) size[NR] += $c ^ 2; for (c = 1; c <= NF; c++) x[NR, c] = $c / sqrt(size[NR]) }
        END { n = NR / 2
            for (i = 1; i <= n; i++) for (j = 1; j <= n; j++) for (c = 1; c <= NF; c++) cosine[i, j] += x[i, c] * x[n + j, c]
            for (from = 0; from < 2; from++) { least = most = 0
                for (i = 1; i <= n; i++) { other = -9
                    for (j = 1; j <= n; j++) { s = from ? cosine[j, i] : cosine[i, j]; if (j != i && s > other) other = s }
                    least += cosine[i, i] > other + 2e-6; most += cosine[i, i] > other }
                print least / n - 1e-6, most / n + 1e-6 } }'
}
# found VECTOR "OPTION..." "OPTION...": by xlm_embed retrieval of the corpus and of the text with these options, and by export.
found() {
    # shellcheck disable=SC2086 # options
    {
        logged retrieval.log xlm_embed retrieval far/latest distinct.h5 --split train --layer 2 $2 --csv corpus.csv
        logged retrieval.log xlm_embed retrieval far/latest distinct.en distinct.xx --layer 2 $2 --csv text.csv
        nearest $3 >nearest
    }
    cmp corpus.csv text.csv || fail "retrieval $2: $(cat corpus.csv text.csv)"
    awk -F, -v vector="$1" '$2 == vector { print $7 }' corpus.csv | paste -d ' ' - nearest |
        awk '{ n++; bad = bad || $1 < $2 || $1 > $3 } END { exit bad || n != 2 }' ||
        fail "$1 $2: $(cat corpus.csv), by export $(cat nearest)"
}
# In layer 0 the token has the same state in all sentences, and their first words have different ones.
xlm_embed export far/latest --language en --text distinct.en --layer 0 --pooling first 2>>export.log | sort -u >first
[ "$(wc -l <first)" -gt 1 ] || fail "the token of a language is pooled: $(cat first export.log)"
found mean '' ''
found '<s>' '' '--pooling first --special-tokens'
for pooling in mean first max; do
    for special in '' ' --special-tokens'; do found $pooling "--pooling $pooling$special" "--pooling $pooling$special"; done
done
refuse 65 'no token `__fr__` of the language fr' xlm_prep --tokenizer m2m100 --mono fr=text.en -o none/c.h5
# Each side of Marian's corpora is in the pieces of its own model: `xx` has none but those of the second.
strings /vocabulary/words marian.h5 >words
numbers /train/text/xx/tokens marian.h5 | awk 'NR == FNR { word[FNR - 1] = $0; next } { print word[$1] }' words - | sort -u >used
strings /vocabulary/words xx.h5 | sort -u >second
comm -23 used second | grep -v '^<unk>$' >other
[ ! -s other ] || fail "text of xx has pieces of the other model: $(head -n 3 other)"
comm -13 second <(numbers /train/text/en/tokens marian.h5 | awk 'NR == FNR { word[FNR - 1] = $0; next } { print word[$1] }' words - |
    sort -u) | grep -q . || fail "text of en has no pieces of its own"

# ---- a table of positions beside the weights, in numbers of half the size: sinusoids, rounded, or refused ----
# table TYPE DIGITS FORM: sinusoids with DIGITS binary digits after the first, as numbers of TYPE, F16 or BF16. FORM: halves,
# sines before cosines, as Marian has them, or turn, by turns.
table() {
    awk -v type="$1" -v digits="$2" -v form="$3" -v rows="$positions" -v d="$width" 'BEGIN {
        own = type == "F16" ? 10 : 7
        smallest = type == "F16" ? -14 : -126
        bias = type == "F16" ? 15 : 127
        for (p = 0; p < rows; p++)
            for (i = 0; i < d; i++) {
                pair = form == "halves" ? i % (d / 2) : int(i / 2)
                angle = p / exp(2 * pair / d * log(10000))
                value = (form == "halves" ? i < d / 2 : i % 2 == 0) ? sin(angle) : cos(angle)
                size = value < 0 ? -value : value
                for (e = 0; size < 2 ^ e && e > smallest; e--);
                size = int(size / 2 ^ (e - digits) + 0.5) * 2 ^ (e - digits)  # a number of so many digits
                normal = size >= 2 ^ e
                bits = normal ? (e + bias) * 2 ^ own + (size / 2 ^ e - 1) * 2 ^ own : size / 2 ^ (e - own)
                bits = int(bits) + (value < 0 ? 2 ^ 15 : 0)
                printf "\\%03o\\%03o", bits % 256, int(bits / 256)
            }
    }'
}
# Older files have the number of extra learned positions, of which there are none, and of layers that training drops.
cp -r marian.there older
sed -i 's/"static_position_embeddings": true/&, "extra_pos_embeddings": 53685/; s/"encoder_layerdrop": [0-9.]*/"encoder_layerdrop": 0.25/' older/config.json
logged older.log xlm_convert older -o older.h5
same_objects marian.own.h5 older.h5 /model >diff.log 2>&1 || fail "extra_pos_embeddings: $(head -n 3 diff.log)"
grep -q 'encoder_layerdrop is 0.25; here no layers are dropped' older.log || fail "layerdrop: $(cat older.log)"
positions=$(sed -n 's/.*"max_position_embeddings": \([0-9]*\).*/\1/p' marian.there/config.json)
width=$(sed -n 's/.*"d_model": \([0-9]*\).*/\1/p' marian.there/config.json)
name=model.encoder.embed_positions.weight
# positioned TYPE DIGITS FORM: the model with this table in a file of its own, in folder bad.
positioned() {
    local head
    rm -rf bad
    cp -r marian.there bad
    mv bad/model.safetensors bad/weights.safetensors
    head=$(printf '{"%s":{"dtype":"%s","shape":[%d,%d],"data_offsets":[0,%d]}}' $name "$1" "$positions" "$width" \
        $((2 * positions * width)))
    # shellcheck disable=SC2059 # it is octal
    { printf "\\$(printf %03o ${#head})\\0\\0\\0\\0\\0\\0\\0%s" "$head"; printf "$(table "$@")"; } >bad/positions.safetensors
    { echo '{"weight_map": {'
        grep -aoE '"[A-Za-z0-9_.]+": ?\{"dtype"' bad/weights.safetensors | sed 's/": *{.*/": "weights.safetensors",/'
        printf '"%s": "positions.safetensors"}}\n' $name; } >bad/model.safetensors.index.json
}
for type in 'F16 10' 'BF16 7'; do
    # shellcheck disable=SC2086 # two words
    positioned $type halves
    logged import.log xlm_convert bad -o positioned.h5
    same_objects marian.own.h5 positioned.h5 /model >diff.log 2>&1 || fail "positions of $type: $(head -n 3 diff.log)"
    # shellcheck disable=SC2086 # two words
    positioned $type turn
    expect 65 'config.json says that positions are sinusoids, and the tensor has others' xlm_convert bad -o none/m.h5
done
# F16 has three digits more than BF16.
positioned F16 7 halves
expect 65 'config.json says that positions are sinusoids, and the tensor has others' xlm_convert bad -o none/m.h5
nothing_in none

# ---- what else is wrong is refused by name ----
settings=tokenizer_config.json
wrong marian model.safetensors 's/"final_logits_bias"/"lm_head.bias"     /' 'tensor "lm_head.bias" is not one of a marian model'
wrong m2m100 config.json 's/"decoder_ffn_dim": [0-9]*/"decoder_ffn_dim": 3/' '"decoder_ffn_dim" is 3, and encoder_ffn_dim'
wrong m2m100 config.json 's/"decoder_attention_heads": [0-9]*/"decoder_attention_heads": 1/' '"decoder_attention_heads" is 1, and'
wrong m2m100 config.json 's/"relu"/"tanh"/' '"activation_function" is "tanh"; known here are'
wrong m2m100 config.json 's/"decoder_layers": 2/"decoder_layers": 0/' '"decoder_layers" is not a number of at least 1'
wrong m2m100 config.json 's/"decoder_layers": 2/"decoder_layers": 3/' 'no tensor "model.decoder.layers.2.self_attn.q_proj.weight"'
wrong m2m100 config.json 's/"tie_word_embeddings": true/"tie_word_embeddings": false/' '"tie_word_embeddings" is false'
wrong marian config.json 's/"is_encoder_decoder"/"share_encoder_decoder_embeddings": false, &/' \
    '"share_encoder_decoder_embeddings" is false'
wrong marian config.json 's/"is_encoder_decoder"/"normalize_before": true, &/' '"normalize_before" is true, which is not known here'
wrong marian $settings 's/"target_lang": "xx"/"target_lang": "en"/' '"source_lang" and "target_lang" are both `en`'
rm -rf named
cp -r marian.there named
sed -i 's/"source_lang": "en"/"source_lang": "cat+oci"/' named/$settings
rm named/xlm_vocabulary.h5 2>/dev/null || :
logged named.log xlm_convert named -o named.h5
[ "$(strings /languages named.h5 | paste -sd ' ')" = 'cat_oci xx' ] || fail "Marian's names: $(strings /languages named.h5)"
expect 64 'a tokenizer for each of 2 languages: give the source' xlm_convert named --languages en -o none/m.h5
wrong m2m100 $settings 's/__de__/de/' 'additional token 1, `de`, is not the name of a language in the form __\*__'
wrong m2m100 $settings 's/"additional_special_tokens"/"none"/' 'names no tokens of languages'
wrong nllb $settings 's/xxx_Latn/eng_Latn/' 'additional token 3, `eng_Latn`'
rm -rf bad
cp -r marian.there bad
rm bad/target.spm
expect 65 'bad/target.spm: is missing; a tokenizer of Marian has' xlm_convert bad -o none/m.h5
finish
