#!/usr/bin/env bash
# xlm-mpi: models of SentencePiece with converted models: the files that transformers read, and what comes back of them alone.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long
text=(--mono en=text.en --mono xx=text.xx --para en-xx=text.en,text.xx --held-out 0.1)
tiny=(--set model.layers=1 --set model.hidden_size=16 --set model.positions=48 --set model.language_embeddings=false)

# whole NAME FILE CLASS [SETTING...]: a model of NAME.h5, a corpus, becomes a directory with this file, for a tokenizer of this
# class; without our own file of the vocabulary it comes back with the same subwords, which cut text as before.
whole() {
    local name=$1 file=$2 class=$3
    shift 3
    logged train.log xlm_train job.conf "${tiny[@]}" "$@" --set train.corpus="$name.h5" --set train.steps=1 \
        --set "train.output=$name.run"
    logged "$name.export" xlm_convert "$name.run/latest" -o "$name.dir"
    [ -s "$name.dir/$file" ] || fail "$name: no $file: $(ls "$name.dir")"
    grep -q "\"tokenizer_class\": \"$class\"" "$name.dir/tokenizer_config.json" ||
        fail "$name: $(cat "$name.dir/tokenizer_config.json")"
    rm "$name.dir/xlm_vocabulary.h5"
    logged import.log xlm_convert "$name.dir" -o "$name.back.h5"
    cmp <(strings /vocabulary/words "$name.h5") <(strings /vocabulary/words "$name.back.h5") || fail "$name: other subwords"
    for special in bos pad eos unk mask; do
        [ "$(attribute /vocabulary/$special "$name.h5")" = "$(attribute /vocabulary/$special "$name.back.h5")" ] ||
            fail "$name: $special is $(attribute /vocabulary/$special "$name.back.h5")"
    done
    logged prep.log xlm_prep --like "$name.back.h5" "${text[@]}" -o "$name.again.h5"
    for split in train held_out; do
        h5diff "$name.h5" "$name.again.h5" /$split/text/en/tokens /$split/text/en/tokens >diff.log 2>&1 ||
            fail "$name: $split: $(head -n 3 diff.log)"
    done
    logged "$name.twice" xlm_convert "$name.back.h5" -o "$name.dir2"
    cmp "$name.dir/$file" "$name.dir2/$file" || fail "$name: another $file the second time"
}

# Our own numbers of subwords fit no class but tokenizer.json's.
logged unigram.log xlm_prep --unigram 60 "${text[@]}" -o own.h5 --write-codes own.model
whole own tokenizer.json PreTrainedTokenizerFast
grep -q '"type": "Unigram"' own.dir/tokenizer.json && grep -q '"precompiled_charsmap"' own.dir/tokenizer.json ||
    fail "tokenizer.json: $(head -c 500 own.dir/tokenizer.json)"
# A model whose first three pieces are special, as those of XLM-R: <unk>, <s>, </s>.
xlm_pieces() { printf '\n\007\n\003<s>\030\003\n\010\n\004</s>\030\003'; }
{ head -c $((2 + $(head -c 2 own.model | tail -c 1 | od -An -tu1))) own.model; xlm_pieces
    tail -c +$((3 + $(head -c 2 own.model | tail -c 1 | od -An -tu1))) own.model; } >three.model
mkdir xlmr albert
cp three.model xlmr/sentencepiece.bpe.model
printf '{"tokenizer_class": "XLMRobertaTokenizer"}' >xlmr/tokenizer_config.json
logged prep.log xlm_prep --tokenizer xlmr "${text[@]}" -o fairseq.h5
whole fairseq sentencepiece.bpe.model XLMRobertaTokenizer
cmp three.model fairseq.dir/sentencepiece.bpe.model || fail "sentencepiece.bpe.model is another one"
# ALBERT's rules of text come back with its model.
cp three.model albert/spiece.model
printf '{"tokenizer_class": "AlbertTokenizer", "keep_accents": true}' >albert/tokenizer_config.json
logged prep.log xlm_prep --tokenizer albert "${text[@]}" -o albert.h5
whole albert spiece.model AlbertTokenizer --set model.position_offset=0 --set model.share_layers=true --set model.embedding_size=8
cmp three.model albert.dir/spiece.model || fail "spiece.model is another one"
grep -q '"do_lower_case": true' albert.dir/tokenizer_config.json &&
    grep -q '"keep_accents": true' albert.dir/tokenizer_config.json ||
    fail "rules: $(cat albert.dir/tokenizer_config.json)"
# With a word more, behind the mask, it has other ids, and gets tokenizer.json, with these rules as steps; the card says so.
echo redhouse >word.txt
logged more.log xlm_convert albert.back.h5 --add-words word.txt -o more.h5
logged more.log xlm_convert more.h5 -o more
grep -q '"Lowercase"' more/tokenizer.json && ! grep -q '"NFKD"' more/tokenizer.json &&
    grep -q "ALBERT's fast kind" more/README.md ||
    fail "with a word more: $(ls more; head -c 600 more/tokenizer.json; cat more/README.md)"
# ALBERT's tokenizer.json alone: quotation marks, Form KD, marks, lower case, and then the map.
mkdir fast
quote='{"type": "Replace", "pattern": {"String": "%s"}, "content": "\\\\""}, '
steps=$(printf "$quote$quote" '``' "''")'{"type": "NFKD"}, {"type": "StripAccents"}, {"type": "Lowercase"},'
sed "s/\"normalizers\": \[/& $steps/" own.dir/tokenizer.json >fast/tokenizer.json
printf '%s\n' 'THE  ``Rivér'"''"' ΣΑΣ हिन्दी' >marks.1
printf '%s\n' 'the "river" σασ हनद' >marks.2
for n in 1 2; do
    logged prep.log xlm_prep --tokenizer fast --mono en=marks.$n --held-out 0 -o marks.$n.h5
    numbers /train/text/en/tokens marks.$n.h5 >ids.$n
done
[ -s ids.1 ] && cmp ids.1 ids.2 || fail "ALBERT's tokenizer.json: $(paste -s ids.1) and $(paste -s ids.2)"
logged prep.log xlm_prep --tokenizer fast "${text[@]}" -o fast.h5
whole fast tokenizer.json PreTrainedTokenizerFast
grep -q '"StripAccents"' fast.dir/tokenizer.json && ! grep -q 'fast kind' fast.dir/README.md || fail "$(cat fast.dir/README.md)"
mkdir none
for change in 's/{"type": "StripAccents"}, //' 's/{"type": "NFKD"}/{"type": "NFC"}/' "s/, \"pattern\": {\"String\": \"''\"}//"; do
    rm -rf other
    mkdir other
    sed "$change" fast/tokenizer.json >other/tokenizer.json
    refuse 65 'other/tokenizer.json: its normalizer is neither' xlm_prep --tokenizer other "${text[@]}" -o none/c.h5
done
sed -i 's/"add_prefix_space": true/"add_prefix_space": false/' fast/tokenizer.json
refuse 65 'its pre_tokenizer is not' xlm_prep --tokenizer fast "${text[@]}" -o none/c.h5
nothing_in none
finish
