#!/usr/bin/env bash
# xlm-mpi: models of every architecture to transformers' directories and back, to the bit; published tokenizers; what is refused.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long
small_corpus

# model NAME [KEY=VALUE...]: NAME.h5, a model of one step.
model() {
    local name=$1 arguments=() setting
    shift
    for setting in model.layers=2 model.hidden_size=16 model.positions=48 "$@"; do arguments+=(--set "$setting"); done
    logged "$name.log" ranks 1 xlm_train job.conf "${arguments[@]}" --set train.steps=1 --set "train.output=$name.run"
    cp -L "$name.run/latest" "$name.h5"
}
# whole NAME TYPE: NAME.h5 becomes a directory of this type, and comes back with the same bits, also as a directory.
whole() {
    local part
    logged "$1.export" xlm_convert "$1.h5" -o "$1"
    grep -q "\"model_type\": \"$2\"" "$1/config.json" || fail "$1 is $(grep model_type "$1/config.json")"
    logged "$1.import" xlm_convert "$1" -o "$1.back.h5"
    same_objects "$1.h5" "$1.back.h5" /model /vocabulary /languages >diff.log 2>&1 ||
        fail "$1, there and back: $(head -n 3 diff.log)"
    for part in /job/pair_form /job/translations; do
        [ -n "$(attribute $part "$1.h5")" ] && [ "$(attribute $part "$1.h5")" = "$(attribute $part "$1.back.h5")" ] ||
            fail "$1, there and back: $part is $(attribute $part "$1.back.h5")"
    done
    logged "$1.again" xlm_convert "$1.back.h5" -o "$1.twice"
    cmp "$1/model.safetensors" "$1.twice/model.safetensors" && cmp "$1/config.json" "$1.twice/config.json" ||
        fail "$1: the second directory is another"
}
# tensor NAME DIR: is there one of this name, and how large?
tensor() { head -c 20000 "$2/model.safetensors" | tr '{}' '\n\n' | grep -a -A1 -F "\"$1\":" | grep -a -o '"shape":\[[0-9,]*\]'; }
has() { [ "$(tensor "$1" "$2")" = "\"shape\":[$3]" ] || fail "$2: $1 is $(tensor "$1" "$2"), not [$3]"; }

model bert model.position_offset=0 model.token_types=true model.language_embeddings=false model.layer_norm_epsilon=1e-12
V=$(attribute /model/vocabulary bert.h5)
whole bert bert
R=$(sed -n 's/.*"vocab_size": \([0-9]*\).*/\1/p' bert/config.json) # with rows of subwords that tokenizer.json needs besides
[ "$R" -gt "$V" ] || fail "bert: $R rows for $V subwords"
has bert.encoder.layer.1.attention.self.query.weight bert 16,16
has bert.embeddings.token_type_embeddings.weight bert 2,16
has cls.predictions.transform.LayerNorm.bias bert 16
grep -q '"layer_norm_eps": 1e-12' bert/config.json && grep -q '"max_position_embeddings": 48' bert/config.json ||
    fail "bert: $(cat bert/config.json)"
model roberta model.language_embeddings=false
whole roberta xlm-roberta
has roberta.embeddings.position_embeddings.weight roberta 50,16
has roberta.embeddings.token_type_embeddings.weight roberta 1,16
has lm_head.bias roberta "$R"
model xl model.language_embeddings=false model.norm=pre model.final_norm=true model.embedding_norm=false
whole xl xlm-roberta-xl
has roberta.encoder.layer.1.attention.self_attn_layer_norm.bias xl 16
has roberta.encoder.LayerNorm.weight xl 16
model between model.language_embeddings=false model.norm=pre model.embedding_norm=false # no final norm
expect 65 'xlm-roberta has not norms before the sublayers, xlm-roberta-xl has not layers without a final norm,' \
    xlm_convert between.h5 -o between
modern=(model.language_embeddings=false model.norm=pre model.final_norm=true model.first_norm=false model.norm_biases=false
    model.linear_biases=false model.position_type=rotary model.rotary_theta=160000
    model.gated_feed_forward=true model.layers=4 model.position_offset=0)
model modernbert "${modern[@]}" model.attention_window=6 model.global_attention_every=3 \
    model.rotary_theta_local=10000
whole modernbert modernbert
has model.layers.1.attn.Wqkv.weight modernbert 48,16
has model.layers.1.mlp.Wi.weight modernbert 128,16
has model.final_norm.weight modernbert 16
has decoder.bias modernbert "$R"
[ -z "$(tensor model.layers.0.attn_norm.weight modernbert)" ] || fail "modernbert: a norm before the first attention"
grep -q '"local_attention": 6' modernbert/config.json && grep -q '"global_rope_theta": 160000.0' modernbert/config.json ||
    fail "modernbert: $(cat modernbert/config.json)"
model modern-biases "${modern[@]}" model.norm_biases=true model.linear_biases=true # no window
whole modern-biases modernbert
has model.layers.1.attn.Wqkv.bias modern-biases 48
model modern-window "${modern[@]}" model.attention_window=6
expect 65 'modernbert has not a window in the first layer' xlm_convert modern-window.h5 -o none
# wrong NAME TEXT SED: config.json of modernbert changed by SED is refused with this text.
wrong() {
    rm -rf "$1"
    cp -r modernbert "$1"
    sed -i "$3" "$1/config.json"
    expect 65 "$2" xlm_convert "$1" -o none.h5
}
wrong scaled '"rope_scaling" is not null' 's/"norm_bias"/"rope_scaling": {"type": "linear", "factor": 2}, &/'
wrong yarn 'rope_type for full_attention' 's/"norm_bias"/"rope_parameters": {"full_attention": {"rope_type": "yarn"}}, &/'
wrong list '"rope_parameters" is not an object' 's/"norm_bias"/"rope_parameters": [], &/'
wrong activation '"hidden_activation" is "mish"' 's/"hidden_activation": "gelu"/"hidden_activation": "mish"/'
wrong in-head '"classifier_activation" is "relu"' 's/"classifier_activation": "gelu"/"classifier_activation": "relu"/'
wrong bias '"mlp_bias" differs from attention_bias' 's/"mlp_bias": false/"mlp_bias": true/'
wrong decoder '"decoder_bias" is false' 's/"decoder_bias": true/"decoder_bias": false/'
wrong types '"layer_types" does not say' \
    's/"norm_bias"/"layer_types": ["full_attention", "sliding_attention", "full_attention", "full_attention"], &/'
# The base of the wavelengths inside of windows: null is that of the other layers, and no such key is 10,000.
for local in '160000 "local_rope_theta": null' '10000 "other_key": 1'; do
    rm -rf modern-local
    cp -r modernbert modern-local
    sed -i "s/\"local_rope_theta\": [0-9.]*/${local#* }/" modern-local/config.json
    logged modern-local.log xlm_convert modern-local -o modern-local.h5
    is_near "$(attribute /model/rotary_theta_local modern-local.h5)" "${local%% *}" 0.1 ||
        fail "$local: $(attribute /model/rotary_theta_local modern-local.h5)"
done
# Fine-tuned for a task that ours are not fine-tuned for: the head is left out.
cp -r modernbert modern-task
sed -i 's/ModernBertForMaskedLM/ModernBertForMultipleChoice/' modern-task/config.json
LC_ALL=C sed -i 's/"decoder.bias":/"classif.bias":/' modern-task/model.safetensors
logged modern-task.log xlm_convert modern-task -o modern-task.h5
grep -q 'left out.*head.dense.weight' modern-task.log || fail "modern-task: $(cat modern-task.log)"
[ "$(attribute /model/head modern-task.h5)" = '"none"' ] || fail "modern-task: $(attribute /model/head modern-task.h5)"
model xlm model.position_offset=0 model.head=xlm
whole xlm xlm
has transformer.lang_embeddings.weight xlm 2,16
has transformer.layer_norm2.1.weight xlm 16
has pred_layer.proj.bias xlm "$R"
grep -q '"lang2id": {' xlm/config.json || fail "xlm: no names of languages"
# Of pairs that a configuration says are translated, those of the model's languages are taken.
cp -r xlm pairs
sed -i 's/"translations": ""/"translations": "xx-en,en-yy"/' pairs/config.json
logged pairs.import xlm_convert pairs -o pairs.h5
[ "$(attribute /job/translations pairs.h5)" = '"xx-en"' ] || fail "translations: $(attribute /job/translations pairs.h5)"
sed -i 's/"xx-en,en-yy"/"en-yy"/' pairs/config.json
logged pairs.import xlm_convert pairs -o pairs.h5
h5dump -a /job/translations pairs.h5 >pairs.dump 2>&1 && fail "translations of other languages: $(cat pairs.dump)"
model albert model.position_offset=0 model.language_embeddings=false model.embedding_size=8 model.share_layers=true \
    model.activation=gelu_tanh
whole albert albert
has albert.encoder.albert_layer_groups.0.albert_layers.0.ffn.weight albert 64,16
has albert.encoder.embedding_hidden_mapping_in.weight albert 16,8
grep -q '"hidden_act": "gelu_new"' albert/config.json || fail "albert: $(grep hidden_act albert/config.json)"
# Layers of their own, and a mapping that is the identity: another form of ALBERT, by the name that the head asks for.
model groups model.position_offset=0 model.language_embeddings=false model.embedding_size=8
whole groups albert
has albert.encoder.albert_layer_groups.1.albert_layers.0.ffn.weight groups 64,16
model square model.position_offset=0 model.language_embeddings=false model.share_layers=true
whole square albert
has albert.encoder.embedding_hidden_mapping_in.weight square 16,16
model sinusoids model.position_offset=0 model.head=xlm model.position_type=sinusoidal
whole sinusoids xlm

# Our tools read what came back; a run starts from it.
for name in bert roberta xl modernbert albert; do
    xlm_fill $name.back.h5 "the <mask> ." >back.out 2>&1 && xlm_fill $name.h5 "the <mask> ." | cmp - back.out ||
        fail "$name: fill"
done
logged start.log ranks 2 xlm_train job.conf --set train.start=xlm.back.h5 --set train.steps=2 --set train.output=started \
    --set model.layers=2 --set model.hidden_size=16 --set model.positions=48 --set model.head=xlm --set model.position_offset=0
# The card, and the tokenizer.
grep -q '^pipeline_tag: fill-mask' xlm/README.md && grep -q 'XLMWithLMHeadModel.from_pretrained' xlm/README.md &&
    grep -q 'lang2id\["en"\]' xlm/README.md || fail "card: $(cat xlm/README.md)"
grep -q '"mask_token": "<mask>"' bert/tokenizer_config.json || fail "tokenizer: $(cat bert/tokenizer_config.json)"

# Published: WordPiece, names of old models, without a head, with a row that no token has, and names of languages.
cp -r bert published
rm published/xlm_vocabulary.h5 published/tokenizer.json published/tokenizer_config.json published/special_tokens_map.json
LC_ALL=C sed -i -e 's/LayerNorm.weight":/LayerNorm.gamma" :/g' -e 's/LayerNorm.bias":/LayerNorm.beta":/g' \
    -e 's/"cls.predictions/"pooler.predicti/g' published/model.safetensors
{ printf '%s\n' '[PAD]' '[UNK]' '[CLS]' '[SEP]' '[MASK]' the house a '##b'; seq 100 999; } | head -n $((R - 1)) \
    >published/vocab.txt
logged published.log xlm_convert published -o published.h5 --languages de,fr
grep -q 'left out.*pooler.predicti' published.log && grep -q '1 rows of the word embeddings have no token' published.log ||
    fail "what is left out: $(cat published.log)"
same_objects published.h5 bert.h5 /model/encoder >diff.log 2>&1 || fail "names of old models: $(head -n 3 diff.log)"
[ "$(attribute /model/head published.h5)" = '"none"' ] || fail "without a head: $(attribute /model/head published.h5)"
h5dump -d /languages published.h5 | grep -q '"de", "fr"' || fail "languages: $(h5dump -d /languages published.h5)"
# The row without a token has a name that is no word: text leaves it out, HDF5 does not, and no word is near it.
logged rows.log xlm_embed export published.h5 -o rows.vec
[ "$(grep -c 'warning: 1 subwords left out: rows that no token has' rows.log)" -eq 1 ] || fail "a row without a token: $(<rows.log)"
logged rows.log xlm_embed export published.h5 -o rows.h5
! grep -q '\[row' rows.vec && [ "$(head -n 1 rows.vec)" = "$((R - 6)) 16" ] && [ "$(wc -l <rows.vec)" -eq $((R - 5)) ] &&
    [ "$(strings /words rows.h5 | grep -c '^\[row [0-9]*\]$')" -eq 1 ] || fail "a row without a token: $(grep -n '\[row' rows.vec)"
for file in published.h5 rows.vec rows.h5; do
    logged near.log xlm_embed neighbours $file the -n 1000 -k 0
    grep -q house near.log && ! grep -q '\[row' near.log || fail "neighbours of $file: $(grep -e house -e '\[row' near.log)"
done
# Nor is it guessed.
cp -r published headed
LC_ALL=C sed -i 's/"pooler.predicti/"cls.predictions/g' headed/model.safetensors
logged headed.log xlm_convert headed -o headed.h5
echo 'the [MASK] house' | xlm_fill headed.h5 --top 1000 >guesses 2>fill.log || fail "xlm_fill: $(tail -n 2 fill.log)"
grep -q '  the$' guesses && ! grep -q '\[row' guesses || fail "a row without a token is guessed: $(grep -e the -e '\[row' guesses)"
expect 64 'name 2, "",' xlm_convert published -o none.h5 --languages de,,fr

only_in_check_all

# Heads of tasks: there and back with the same bits, and the same predictions; what no head of theirs computes is left out.
phrases text.en | head -n 400 >tags.tsv
awk 'NR <= 60 { print (/the/ ? "with" : "without") "\t" $0 }' text.en >classes.tsv
printf '%s' '{"version": "1.1", "data": [{"title": "t", "paragraphs": [' >answers.json
awk 'NR <= 20 { n = split($0, w, " ")
    printf "%s{\"context\": \"%s\", \"qas\": [{\"id\": \"q%d\", \"question\": \"%s ?\",", (NR > 1 ? ", " : ""), $0, NR, w[2]
    printf " \"answers\": [{\"text\": \"%s\", \"answer_start\": 0}]}]}", w[1] }' text.en >>answers.json
printf ']}]}' >>answers.json
# tune MODEL TASK FILE [OPTION]: MODEL.h5 is fine-tuned, and becomes the directory $name.
tune() {
    name=$1.$2${4:+.dense}${5-}
    printf '[tune]\nmodel = %s.h5\nlength = 48\ntrain = %s\ndev = %s\nlanguage = en\noutput = %s.run\nepochs = 1\n[task %s]\n%s\n' \
        "$1" "$3" "$3" "$name" "$2" "${4-}" >tune.conf
    logged "$name.tune" ranks 1 xlm_tune tune.conf
    logged "$name.export" xlm_convert "$name.run/latest" -o "$name"
}
# task MODEL TASK FILE CLASS [OPTION]: the directory has this class, and what comes back is the same model with the same head,
# options and labels: all that predictions depend on. The first of each task predicts with both.
declare -A predicted
settings_of() { h5dump -a /task/name -a /task/language -a /task/length -a /task/options "$1" | sed 1d; }
task() {
    local name part parts=()
    tune "$1" "$2" "$3" "${5-}"
    grep -q "\"$4\"" "$name/config.json" && ! grep -q 'left out: ' "$name.export" || fail "$name: $(cat "$name.export")"
    logged "$name.import" xlm_convert "$name" -o "$name.back.h5"
    grep -q 'left out, since' "$name.import" && fail "$name: $(cat "$name.import")"
    for part in $(h5ls "$name.run/latest/objectives/$2" | awk '/weight|bias/ { print $1 }'); do
        parts+=("/objectives/$2/$part")
    done
    same_objects "$name.run/latest" "$name.back.h5" /model /vocabulary /languages /task/labels /task/languages "${parts[@]}" \
        >diff.log 2>&1 ||
        fail "$name: $(head -n 3 diff.log)"
    settings_of "$name.run/latest" >settings
    grep -q '(0): ' settings && cmp settings <(settings_of "$name.back.h5") || fail "$name: other settings: $(cat settings)"
    [ -z "${predicted[$2]-}" ] || return 0
    predicted[$2]=yes
    logged eval.log xlm_eval "$name.run/latest" --test "en:$3" --predictions predicted.1
    logged eval.log xlm_eval "$name.back.h5" --test "en:$3" --predictions predicted.2
    [ -s predicted.1 ] && cmp predicted.1 predicted.2 || fail "$name: other predictions"
}
task bert tagging tags.tsv BertForTokenClassification
task roberta tagging tags.tsv XLMRobertaForTokenClassification
task albert tagging tags.tsv AlbertForTokenClassification
task xlm tagging tags.tsv XLMForTokenClassification
task bert classification classes.tsv BertForSequenceClassification 'head = dense'
task roberta classification classes.tsv XLMRobertaForSequenceClassification 'head = dense'
task albert classification classes.tsv AlbertForSequenceClassification 'head = dense'
task xlm classification classes.tsv XLMForSequenceClassification
task bert answering answers.json BertForQuestionAnswering
task roberta answering answers.json XLMRobertaForQuestionAnswering
task albert answering answers.json AlbertForQuestionAnswering
task xlm answering answers.json XLMForQuestionAnsweringSimple
# Of several languages of training, the gaps of the others are to that one of them which is tested; what comes back has them all.
printf '%s\n' '[tune]' 'model = roberta.h5' 'length = 48' 'train = en:tags.tsv,xx:tags.tsv' 'dev = en:tags.tsv' \
    'output = two.run' 'epochs = 1' '[task tagging]' >two.conf
logged two.tune ranks 1 xlm_tune two.conf
logged two.export xlm_convert two.run/latest -o two
logged two.import xlm_convert two -o two.back.h5
same_objects two.run/latest two.back.h5 /task/languages >diff.log 2>&1 || fail "two languages: $(head -n 3 diff.log)"
[ "$(strings /task/languages two.back.h5 | paste -s -d ' ')" = 'en xx' ] || fail "two languages: $(h5dump -g /task two.back.h5)"
for model in two.run/latest two.back.h5; do
    logged eval.log xlm_eval $model --test xx:tags.tsv --test en:tags.tsv --csv "${model%%/*}.csv"
done
grep -q '^xx,gap,' two.run.csv && cmp two.run.csv two.back.h5.csv || fail "gaps: $(cat two.run.csv two.back.h5.csv)"
# Those that the vocabulary has, each once, are taken; what is no name is none.
sed -i '/"languages": \[/,/\]/c\    "languages": ["yy", "xx", 7, "xx"]' two/config.json
logged two.import xlm_convert two -o some.h5
[ "$(strings /task/languages some.h5)" = xx ] || fail "one language of two is known: $(h5dump -g /task some.h5)"
sed -i 's/"languages": .*/"languages": {"xx": 1}/' two/config.json
logged two.import xlm_convert two -o some.h5
! h5ls some.h5/task | grep -q languages || fail "no languages: $(h5dump -g /task some.h5)"
# ModernBERT's heads, with and without biases, of the first token and of the mean of all.
task modernbert tagging tags.tsv ModernBertForTokenClassification 'head = dense_norm'
task modernbert answering answers.json ModernBertForQuestionAnswering 'head = dense_norm'
task modernbert classification classes.tsv ModernBertForSequenceClassification 'head = dense_norm'
grep -q '"classifier_pooling": "cls"' modernbert.classification.dense/config.json || fail "pooling of the first token"
has head.norm.weight modernbert.classification.dense 16
has classifier.bias modernbert.answering.dense 2
[ -z "$(tensor head.dense.bias modernbert.tagging.dense)" ] || fail "modernbert has no biases"
task modern-biases classification classes.tsv ModernBertForSequenceClassification $'head = dense_norm\npooling = mean'
name=modern-biases.classification.dense
grep -q '"classifier_pooling": "mean"' $name/config.json || fail "pooling of all tokens"
has head.dense.bias $name 16
has head.norm.bias $name 16
# A head for words that was kept would have the same tensors, and is left out.
sed -i '/^model/s/=.*/= modernbert.h5/; s/^output.*/output = kept.run/; s/^epochs/keep_head = true\n&/; s/^pooling.*//' tune.conf
logged kept.tune xlm_tune tune.conf
logged kept.export xlm_convert kept.run/latest -o kept
grep -q 'the head for words is left out' kept.export && grep -q 'The head for words' kept/README.md || fail "$(cat kept.export)"
logged import.log xlm_convert kept -o kept.back.h5
[ "$(attribute /model/head kept.run/latest)" = '"bert"' ] && [ "$(attribute /model/head kept.back.h5)" = '"none"' ] ||
    fail "the head for words is $(attribute /model/head kept.back.h5)"
# As from others, without our record of the task; with a pooling that is not known the head is left out by name.
cp -r $name alone
sed -i 's/"xlm_mpi_task"/"other"/' alone/config.json
logged import.log xlm_convert alone -o alone.h5
h5dump -a /task/options alone.h5 | grep -q 'head = dense_norm' && h5dump -a /task/options alone.h5 | grep -q 'pooling = mean' ||
    fail "alone: $(h5dump -a /task/options alone.h5)"
same_objects $name.run/latest alone.h5 /objectives >diff.log 2>&1 || fail "alone: $(head -n 3 diff.log)"
sed -i 's/"classifier_pooling": "mean"/"classifier_pooling": "max"/' alone/config.json
logged import.log xlm_convert alone -o alone.max.h5
grep -q 'head of ModernBertForSequenceClassification is left out: .*"classifier_pooling" is "max"' import.log ||
    fail "max: $(cat import.log)"
# separated N WHAT: without our record of the task, the model of the directory alone has so many separators.
separated() {
    sed -i 's/"xlm_mpi_task"/"other"/' alone/config.json
    logged import.log xlm_convert alone -o alone.h5
    [ "$(h5dump -a /task/options alone.h5 | grep -c 'separators = 2')" -eq $(($1 - 1)) ] ||
        fail "$2: $(h5dump -a /task/options alone.h5)"
}
# fresh DIR: becomes the directory alone; without: its tokenizer is to be another one.
fresh() { rm -rf alone && cp -r "$1" alone; }
without() { rm -f alone/xlm_vocabulary.h5 alone/tokenizer.json alone/tokenizer_config.json alone/special_tokens_map.json; }
# Separators are those of tokenizer.json, whatever the kind of model; otherwise those that go with its special tokens.
fresh roberta.classification.dense
separated 1 "one in the template, for a model of XLM-R's kind"
for processor in '{"type": "RobertaProcessing"}' '{"type": "Sequence", "processors": [{"type": "RobertaProcessing"}]}'; do
    sed -i "s/\"post_processor\": {/\"post_processor\": $processor, \"other\": {/" alone/tokenizer.json
    separated 2 "$processor"
    sed -i 's/"post_processor": .*, "other": {/"post_processor": {/' alone/tokenizer.json
done
without
{ printf '%s\n' '[CLS]' '[PAD]' '[SEP]' '[UNK]' '[MASK]'; seq 100 999; } | head -n "$R" >alone/vocab.txt
separated 1 "WordPiece, for a model of XLM-R's kind"
tune bert classification classes.tsv $'head = dense\nseparators = 2' .two
fresh "$name"
separated 2 "two in the template, for a model of BERT's kind"
sed -i "s/\"post_processor\": {/\"post_processor\": {\"type\": \"BertProcessing\"}, \"other\": {/" alone/tokenizer.json
separated 1 BertProcessing
without
{
    printf '{"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3, "<mask>": 4'
    seq -f '%.0f' 5 $((R - 1)) | sed 's/.*/, "x&": &/' | tr -d '\n'
    printf '}\n'
} >alone/vocab.json
printf '#version: 0.2\n' >alone/merges.txt
separated 2 "RoBERTa's special tokens, for a model of BERT's kind"
# A model with another head is converted without it; the log and the card say so.
tune bert classification classes.tsv
tune xlm classification classes.tsv 'head = dense'
for name in bert.classification xlm.classification.dense; do
    grep -q 'parameters of the task classification are left out' $name.export && grep -q 'fine-tuned for classification' \
        $name/README.md && grep -q '"BertModel"\|"XLMModel"' $name/config.json || fail "$name: $(cat $name.export)"
done
has bert.pooler.dense.weight bert.classification.dense 16,16
has classifier.out_proj.weight roberta.classification.dense 2,16
has sequence_summary.summary.weight xlm.classification 2,16
has qa_outputs.bias bert.answering 2
grep -q '"0": "with' bert.classification.dense/config.json || fail "id2label: $(cat bert.classification.dense/config.json)"
grep -q '^pipeline_tag: text-classification' bert.classification.dense/README.md ||
    fail "card: $(cat bert.classification.dense/README.md)"

# Input that is refused; no file is left.
mkdir none
# change FILE EXPRESSION PATTERN [CODE]: of bert/FILE, to be refused.
change() {
    rm -rf changed
    cp -r bert changed
    LC_ALL=C sed -i "$2" "changed/$1"
    expect "${4-65}" "^xlm_convert: .*$3" xlm_convert changed -o none/model.h5
    once '^xlm_convert: '
    nothing_in none
}
change config.json 's/"bert"/"gpt2"/' \
    'config.json: "model_type" is "gpt2"; known here are roberta, xlm-roberta, xlm-roberta-xl, bert, albert, xlm'
change config.json 's/"model_type".*//; s/"BertForMaskedLM"/"T5Model"/' 'config.json: "model_type" is ""'
change config.json 's/"hidden_size": 16/"hidden_size": 24/' 'is \[[0-9]*, 16\], and config.json makes it \[[0-9]*, 24\]'
change config.json 's/"hidden_size": 16/"hidden_size": 16.5/' '"hidden_size" is not a whole number'
change config.json 's/"hidden_size": 16/"hidden_size": "16"/' '"hidden_size" is not a whole number'
change config.json 's/"hidden_size".*//' '"hidden_size" is missing'
change config.json 's/_attention_heads": 4/_attention_heads": 3/' 'config.json: attention_heads = 3 does not divide'
change config.json 's/"num_hidden_layers": 2/"num_hidden_layers": 1/' 'encoder.layer.1.* is not one of a bert model of 1 layers'
change config.json 's/"num_hidden_layers": 2/"num_hidden_layers": 3/' \
    'no tensor "bert.encoder.layer.2.attention.self.query.weight"'
change config.json 's/"num_hidden_layers": 2/"num_hidden_layers": -2/' 'layers = -2'
change config.json 's/"gelu"/"relu"/' '"hidden_act" is "relu"; known here are "gelu" and "gelu_new"'
change config.json 's/"absolute"/"relative_key"/' '"position_embedding_type" is "relative_key"'
change config.json 's/"type_vocab_size": 2/"type_vocab_size": 4/' '"type_vocab_size" is 4'
for rows in $((R + 1)) 2000000000; do # which no vocabulary is made for
    change config.json "s/\"vocab_size\": $R/\"vocab_size\": $rows/" "is \[$R, 16\], and config.json makes it \[$rows, 16\]"
done
change config.json 's/{/{{/' 'config.json:1: not JSON'
change model.safetensors 's/layer.1.output.dense.weight/layer.7.output.dense.weight/' \
    'no tensor "bert.encoder.layer.1.output.dense.weight"'
change model.safetensors 's/bert.embeddings.word_/bert.embeddings.wort_/' 'no tensor "bert.embeddings.word_embeddings.weight"'
change model.safetensors 's/"cls.predictions.bias"/"cls.predictions.diet"/' 'no tensor "cls.predictions.bias"'
rm -rf changed && cp -r bert changed
size=$(stat -c %s bert/model.safetensors)
printf '\377\377\377\177' | dd of=changed/model.safetensors bs=1 seek=$((size - 4 * R)) conv=notrunc 2>dd.log
expect 65 'is not a number' xlm_convert changed -o none/model.h5
nothing_in none
truncate -s -4 changed/model.safetensors
expect 65 'model.safetensors' xlm_convert changed -o none/model.h5
rm changed/config.json && cp bert/model.safetensors changed
expect 66 'config.json' xlm_convert changed -o none/model.h5
rm changed/model.safetensors && : >changed/pytorch_model.bin
expect 65 'pickled' xlm_convert changed -o none/model.h5
: >model.pt
expect 65 'model.pt: a pickled file' xlm_convert model.pt -o none/model.h5
rm changed/* && : >changed/tf_model.h5
expect 65 'changed: its weights are in tf_model.h5' xlm_convert changed -o none/model.h5
# Without git-lfs a clone has texts in place of large files.
pointer() { printf 'version https://git-lfs.github.com/spec/v1\noid sha256:%064d\nsize 995526\n' 7; }
rm -rf changed && cp -r bert changed
pointer >changed/model.safetensors
expect 65 'changed/model.safetensors: .*git lfs pull' xlm_convert changed -o none/model.h5
rm -rf changed && cp -r published changed
pointer >changed/vocab.txt
expect 65 'changed/vocab.txt: .*git lfs pull' xlm_convert changed -o none/model.h5
expect 65 'changed/vocab.txt: .*git lfs pull' xlm_prep --tokenizer changed --mono en=text.en -o none/corpus.h5
nothing_in none
# A byte order mark is no part of the first token; few tokens are those of another model.
{ printf '\357\273\277'; cat published/vocab.txt; } >changed/vocab.txt
logged marked.log xlm_convert changed -o marked.h5 --languages de,fr
same_objects marked.h5 published.h5 /vocabulary >diff.log 2>&1 || fail "byte order mark: $(head -n 3 diff.log)"
head -n 20 published/vocab.txt >changed/vocab.txt
logged few.log xlm_convert changed -o few.h5
grep -q "warning: .* $((R - 20)) of $R rows .* is this the tokenizer" few.log || fail "few tokens: $(cat few.log)"
# Languages of config.json have names that ours can have; those of the command line must.
rm -rf changed && cp -r xlm changed
rm changed/xlm_vocabulary.h5
sed -i 's/"en": 0/"zh-yue": 0/' changed/config.json
logged names.log xlm_convert changed -o names.h5
[ "$(strings /languages names.h5 | paste -s)" = "$(printf 'zh_yue\txx')" ] || fail "names: $(strings /languages names.h5)"
expect 64 'name 2, " fr"' xlm_convert published -o none/model.h5 --languages 'de, fr'
rm -rf changed && cp -r bert changed
rm changed/xlm_vocabulary.h5 changed/tokenizer.json
expect 65 'no tokenizer that is known' xlm_convert changed -o none/model.h5
nothing_in none
model both model.position_offset=0
expect 65 'no architecture of transformers can hold the model: .*bert has not language embeddings' xlm_convert both.h5 -o none/dir
nothing_in none
expect 65 'bert/config.json: a published model is a directory' xlm_convert bert/config.json -o none/model.h5
expect 73 'xlm: is not a regular file' xlm_convert bert -o xlm
expect 64 'x.h5: bert.h5 is a model file' xlm_convert bert.h5 -o none/x.h5
expect 64 'the output is a model file' xlm_convert bert -o none/model.safetensors
expect 64 '--new-rows is for' xlm_convert bert.h5 --new-rows draw -o none/dir
expect 73 'bert: is there already' xlm_convert bert.h5 -o bert
expect 66 'missing.h5' xlm_convert missing.h5 -o none/dir
expect 65 'corpus.h5' xlm_convert corpus.h5 -o none/dir
expect 64 'one model is needed' xlm_convert -o none/dir
expect 64 'no output given' xlm_convert bert
expect 64 'not a directory' xlm_convert bert.h5 -o none/dir --languages de
nothing_in none
finish
