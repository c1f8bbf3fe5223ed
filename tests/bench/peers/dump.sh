#!/usr/bin/env bash
# xlm-mpi: a step of several small models computed again by PyTorch in double precision. SPDX-License-Identifier: GPL-3.0-or-later
. "$XLM_SOURCE/tests/small.sh"
python=/usr/bin/python3
"$python" -c 'import torch, h5py' 2>/dev/null || { echo "skipped: needs python3-torch and python3-h5py"; exit 0; }
small_corpus

check() { "$python" "$XLM_SOURCE/tests/bench/peers/check_dump.py" "$@"; }
# dumped CONF [OPTION...]: 30 updates, so that weights are not those of the start, and the step after them.
dumped() {
    local conf=$1
    shift
    rm -rf out
    xlm_train "$conf" "$@" --set train.steps=30 --resume never >log 2>&1 &&
        xlm_train "$conf" "$@" --resume auto --dump-step step.h5 >log 2>&1 || { fail "$conf $*: $(tail -3 log)"; return 1; }
    echo "$conf $*"
}
# compare CONF KEY=VALUE...
compare() {
    local conf=$1 arguments=() setting
    shift
    for setting in "$@"; do arguments+=(--set "$setting"); done
    dumped "$conf" ${arguments[@]+"${arguments[@]}"} &&
        { check step.h5 ${links[@]+"${links[@]}"} || fail "$conf $*"; }
}
links=() # a corpus and its alignment, to compare a stream's links with
compare job.conf model.head=bert model.attention_heads=1
compare job.conf model.head=xlm model.vocabulary_chunk=3
compare job.conf model.position_type=sinusoidal model.token_types=true
compare job.conf model.embedding_size=8 model.share_layers=true model.position_offset=0
compare job.conf model.embedding_size=8 model.head=xlm model.feed_forward_size=50

# Adapters: LoRA beside all linear layers, bottleneck adapters stacked, invertible ones.
adapter() { printf '[adapter %s]\n' "$1"; shift; printf '%s\n' "$@"; }
{
    cat job.conf
    printf '\n'
    adapter lora 'rank = 3' 'targets = query,key,value,attention_output,intermediate,feed_forward_output'
    adapter language 'kind = bottleneck' 'size = 5' 'invertible = true'
    adapter task 'kind = bottleneck'
    adapter dialect 'kind = bottleneck' 'size = 3' 'invertible = true'
} >adapters.conf
compare adapters.conf
compare adapters.conf model.embedding_size=9 model.head=xlm

# Objectives with a dictionary: align over all of it, and dict-mlm in both forms.
tr ' ' '\n' <text.en | sort -u | grep -v '^\.$' | while read -r word; do
    echo "$word $(echo "$word" | sed 's/[aeiou]/y&/g')"
done >words.txt
xlm_dict corpus.h5 --source en --target xx --text words.txt --subwords first -o dict.h5 2>log || fail "$(cat log)"
{ cat job.conf; printf '\n[objective align]\ndictionary = dict.h5\nweight = 10\n'; } >align.conf
compare align.conf
compare align.conf model.embedding_size=8 "objective align.begin=31" # takes no part yet
sed 's/^\[stream text\]/&\ndictionary = dict.h5\nmask = 0.4/; s/^\[objective mlm\]/[objective dict]\nplugin = dict-mlm/' \
    align.conf >dict.conf
compare dict.conf "stream text.switching=0.5"
compare dict.conf "objective dict.predict=translation" "stream text.switching=0"
sed 's/^\[stream pairs\]/&\ndictionary = dict.h5\nswitching = 0.5/; s/^plugin = mlm/plugin = dict-mlm/' job.conf >pairs.conf
compare pairs.conf

# Word alignment labelled by the model: several pairs a sequence, one, all that its options say.
{ cat job.conf; printf '\n[objective dwa]\nstream = pairs\nlabel_layer = 1\n'; } >dwa.conf
compare dwa.conf
compare dwa.conf "stream pairs.form=bert" model.language_embeddings=false "objective dwa.filter=off" "objective dwa.layer=1"
compare dwa.conf "stream pairs.mask=0.4" "objective dwa.mu=0.5" "objective dwa.epsilon=0.5" "objective dwa.alpha=0.6" \
    "objective dwa.itermax_iterations=3" "objective dwa.sinkhorn_iterations=1" "objective dwa.label_layer=2"

compare dwa.conf "objective dwa.queries=unmasked" "stream pairs.form=bert" model.language_embeddings=false
compare dwa.conf "objective dwa.queries=all-aligned" "train.seed=5000000000"

# A momentum encoder and its queue, not yet full and full, beside tlm and alone.
{ cat job.conf; printf '\n[objective moco]\nstream = pairs\nqueue = 100\nprojection = 20\nmomentum = 0.9\n'; } |
    sed 's/^type = parallel/&\nform = bert\nshuffle_sides = true/' >moco.conf
compare moco.conf
compare moco.conf "objective moco.queue=1000" "objective moco.layer=1" model.token_types=true model.position_offset=0
compare moco.conf "stream pairs.form=xlm" "objective moco.temperature=0.5" "objective moco.weight=0.3"

# Counts of neighbours, in both forms, on monolingual and parallel text, beside mlm and alone.
xlm_cooc corpus.h5 -o cooc.h5 --window 3 >log 2>&1 || fail "$(tail -3 log)"
{ cat job.conf; printf '\n[objective gc]\nstream = text\ncooccurrence = cooc.h5\n'; } >gc.conf
compare gc.conf
compare gc.conf "objective gc.form=embedding" "objective gc.window=3" "objective gc.exponent=0.4" "objective gc.weight=0.5"
compare gc.conf "objective gc.stream=pairs" "objective gc.x_max=1000" "objective mlm.begin=31" "objective tlm.begin=31"

# The order of two segments, beside mlm and gc on words and spans, and alone.
{ cat gc.conf; printf '\n[objective sop]\nstream = text\n'; } >sop.conf
compare sop.conf model.token_types=true "stream text.mask_unit=span"
compare sop.conf model.token_types=true model.embedding_size=8 model.share_layers=true model.activation=gelu_tanh \
    "stream text.mask_unit=ngram" "objective gc.begin=31" "objective sop.weight=3"

# Words predicted from those aligned to them: links as the alignment has them, some masked words without.
xlm_align corpus.h5 --split all --alignment links.h5 --method diagonal --iterations 1 --symmetrise intersection >log 2>&1 ||
    fail "$(tail -n 3 log)"
{ sed 's/^type = parallel/&\nform = bert\nalignments = links.h5\nmask = 0.3/' job.conf
  printf '\n[objective weam]\nstream = pairs\n'; } >weam.conf
links=(corpus.h5 links.h5)
compare weam.conf model.language_embeddings=false
compare weam.conf "stream pairs.shuffle_sides=true" "objective weam.lambda=0.5" "objective weam.multilingual=model"
compare weam.conf model.embedding_size=8 model.head=xlm "stream pairs.languages=xx-en"
compare dwa.conf "stream pairs.alignments=links.h5" "stream pairs.shuffle_sides=true"
links=()

# A decoder, and causal attention: pairs in both directions, pairs and text with noise; beside mlm and alone.
{ sed 's/^layers = .*/&\ndecoder_layers = 3/; s/^type = parallel/&\nform = bert\nshuffle_sides = true/
       /^.objective mlm/,$d' job.conf
  printf '\n[objective clm]\nstream = text\n'
  printf '\n[objective translate]\nplugin = seq2seq\nstream = pairs\nweight = 0.5\n'; } >decoder.conf
noise() { printf "stream $1.%s\n" mask=0 noise_shuffle=3 noise_drop=0.2 noise_blank=0.2; }
mapfile -t pairs_noise < <(noise pairs)
mapfile -t text_noise < <(noise text)
compare decoder.conf model.dropout=0.1
compare decoder.conf model.head=xlm model.embedding_size=8 "stream pairs.shuffle_sides=false" model.language_embeddings=false
compare decoder.conf model.language_embeddings=false model.language_tokens=true
compare decoder.conf model.share_embeddings=false model.embedding_size=8
compare decoder.conf "stream pairs.form=xlm" model.share_layers=true model.token_types=true model.position_type=sinusoidal
compare decoder.conf "${pairs_noise[@]}" "${text_noise[@]}" "stream pairs.form=xlm" model.position_offset=0 \
    model.attention_heads=1
sed '/^.stream text/,/^$/d; s/^stream = text/stream = pairs/' decoder.conf >one.conf
compare one.conf model.decoder_layers=1 "${pairs_noise[@]}"
{ sed '/^.objective clm/,/^stream/d' decoder.conf
  printf '\n[objective denoise]\nplugin = seq2seq\nstream = text\n'; } >denoise.conf
compare denoise.conf "${text_noise[@]}"
compare denoise.conf "${text_noise[@]}" model.share_layers=true model.embedding_size=8 model.activation=gelu_tanh
{ sed 's/^layers = .*/&\ndecoder_layers = 2/' job.conf
  printf '\n[objective nmt]\nplugin = seq2seq\nstream = pairs\n[objective clm]\nstream = text\n'; } >beside.conf
compare beside.conf

# Fragments: alone, in spans, beside mlm and gc.
{ sed 's/^layers = .*/&\ndecoder_layers = 2/; /^.stream text/,$d' job.conf
  printf '[stream text]\nbatch = 16\nlength = 48\njoin_sentences = false\nmask_unit = fragment\nmask = 0.5\n'
  printf '[objective mass]\nstream = text\n'; } >mass.conf
compare mass.conf model.dropout=0.1
compare mass.conf "stream text.span=2" model.head=xlm model.embedding_size=8 model.position_type=sinusoidal
{ cat mass.conf; printf '[objective mlm]\nstream = text\nweight = 0.5\n[objective gc]\nstream = text\ncooccurrence = cooc.h5\n'; } \
    >fragments.conf
compare fragments.conf model.share_layers=true
compare fragments.conf "stream text.span=1" model.token_types=true
# Translations of the model's own translations, greedy and sampled, beside denoising.
{ sed 's/^layers = .*/&\ndecoder_layers = 2/; /^.stream text/,$d' job.conf
  printf '[stream text]\nbatch = 16\nlength = 48\njoin_sentences = false\nmask = 0\n'
  printf '[objective back]\nplugin = back-translation\nstream = text\nsource_languages = en,xx\n'; } >back.conf
compare back.conf
compare back.conf model.share_embeddings=false
compare back.conf model.head=xlm model.embedding_size=8 model.share_layers=true "objective back.label_smoothing=0.1"
{ cat back.conf; printf '[objective denoise]\nplugin = seq2seq\nstream = text\n'; } >both.conf
compare both.conf "${text_noise[@]}" model.language_embeddings=false model.language_tokens=true
compare both.conf "${text_noise[@]}" "objective back.temperature=0.7" "objective back.top_k=10"
# Label smoothing.
compare job.conf "objective mlm.label_smoothing=0.1" "objective tlm.label_smoothing=0.3"
compare decoder.conf "objective clm.label_smoothing=0.1" "objective translate.label_smoothing=0.1"
compare mass.conf "objective mass.label_smoothing=0.2"
compare decoder.conf "objective translate.label_smoothing=1" model.head=xlm model.vocabulary_chunk=7

# Differences are found, and unknown objectives are reported.
if dumped dwa.conf; then
    "$python" - <<'PYTHON' || fail "step.h5 cannot be changed"
import h5py
with h5py.File("step.h5", "r+") as f:
    options = f["objectives/dwa/loss"].attrs
    options["options"] = options["options"].replace(b"label_layer = 1", b"label_layer = 0")
PYTHON
    expect 1 '' check step.h5
fi
# wrong CHANGE: check_dump.py with this change finds that losses and gradients of step.h5 differ.
wrong() {
    PYTHONPATH="$XLM_SOURCE/tests/bench/peers" PYTHONDONTWRITEBYTECODE=1 "$python" - <<PYTHON >wrong.log 2>&1
import sys
import torch
import check_dump
from check_dump import Encoder, Objective
$1
sys.exit(check_dump.main("step.h5"))
PYTHON
    [ $? -eq 1 ] && grep -q 'DIFFERS loss' wrong.log && grep -q 'DIFFERS gradient' wrong.log || fail "$1: $(tail -n 3 wrong.log)"
}
if compare decoder.conf "${pairs_noise[@]}"; then
    wrong 'Encoder.hidden_from = lambda self, n: torch.zeros(n, n, dtype=torch.bool)'
    wrong 'Encoder.hidden_from = lambda self, n: torch.ones(n, n, dtype=torch.bool).triu(2)'
    wrong 'decode = Encoder.decode; Encoder.decode = lambda self, b, source: decode(self, b, b)'
    wrong 'side = Objective.side; Objective.side = lambda self, kind, text: side(self, kind, self.read())'
fi
if compare back.conf; then
    wrong 'decode = Encoder.decode; Encoder.decode = lambda self, b, source: decode(self, b, b)'
fi
if compare mass.conf; then
    wrong 'Objective.seen = lambda self: None'
fi
if dumped dict.conf --set "stream text.switching=0.5"; then
    "$python" - <<'PYTHON' || fail "step.h5 cannot be changed"
import h5py, shutil
def change(name, path, at, add):
    shutil.copy("step.h5", name)
    with h5py.File(name, "r+") as f:
        f[path][at] = f[path][at] + add
change("gradient.h5", "gradients/embeddings/word/weight", (7, 3), 1.0)
change("pairs.h5", "dictionaries/0", (0, 0), 1)
change("loss.h5", "objectives/align/loss", 0, 0.01)
shutil.copy("step.h5", "switched.h5")
with h5py.File("switched.h5", "r+") as f:
    b = f["streams/text/batch"]
    row = int((b["languages"][...] != b["text_languages"][...]).nonzero()[0][0])
    b["languages"][row] = b["text_languages"][row]
shutil.copy("step.h5", "foreign.h5")
with h5py.File("foreign.h5", "r+") as f:
    f["objectives/align/loss"].attrs["plugin"] = "./mine.so"
PYTHON
    for changed in gradient pairs loss switched; do
        expect 1 '' check $changed.h5
        grep -q DIFFERENT expect.out || fail "$changed: $(cat expect.out)"
    done
    expect 2 '' check foreign.h5
    grep -q 'NOT CHECKED: align (plugin ./mine.so)' expect.out || fail "foreign: $(cat expect.out)"
fi

# Fine-tuning.
awk '{ for (i = 1; i <= NF; i++) print $i "\t" (length($i) > 4 ? "long" : "short"); print "" }' text.en >tags.tsv
printf '%s\n' '[tune]' 'model = out/latest' 'train = tags.tsv' 'dev = tags.tsv' 'language = en' 'output = tag' 'length = 48' \
    '[task tagging]' >tune.conf
xlm_tune tune.conf --dump-step step.h5 >log 2>&1 && check step.h5 || fail "tune: $(tail -3 log)"
finish
