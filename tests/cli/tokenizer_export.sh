#!/usr/bin/env bash
# xlm-mpi: models of SentencePiece with converted models: the files that transformers read, and what comes back of them alone.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long
text=(--mono en=text.en --mono xx=text.xx --para en-xx=text.en,text.xx --held-out 0.1)
tiny=(--set model.layers=1 --set model.hidden_size=16 --set model.positions=48 --set model.language_embeddings=false)

# whole NAME FILE CLASS [SETTING...]: a model of NAME.h5, a corpus, becomes a directory with this file, for a tokenizer of this class;
# without our own file of the vocabulary it comes back with the same subwords, which cut text as before.
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
grep -q '"do_lower_case": true' albert.dir/tokenizer_config.json && grep -q '"keep_accents": true' albert.dir/tokenizer_config.json ||
    fail "rules: $(cat albert.dir/tokenizer_config.json)"
finish
