#!/usr/bin/env bash
# xlm-mpi: xlm_prep --tokenizer against the library tokenizers of Hugging Face. SPDX-License-Identifier: GPL-3.0-or-later
#
#   tokenizers.sh DIR TEXT [MODULES]   DIR: with tokenizer.json; TEXT: lines with something to see; MODULES: node_modules with the
#                                      package tokenizers (npm install tokenizers); by default that of the present directory
#   tokenizers.sh --modernbert TEXT [MODULES]
#                                      a tokenizer of the form of the English ModernBERT's, of merges that the library learns from
#                                      TEXT; also on lines of spaces, added tokens and letters with marks, and once more as
#                                      xlm_convert writes it
#
# xlm_prep, xlm_train, xlm_convert, node and h5dump in PATH. Compares the ids of all lines, without the special tokens around
# them. Text that spells special tokens ("<s>", "<mask>") differs: to xlm_prep it is text.
set -euo pipefail
[[ $# -ge 2 ]] || { sed -n '/^# xlm-mpi/,/^[^#]/{/^#/s/^# \{0,1\}//p}' "$0"; exit 64; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/ids.js" <<'JS'
const [modules, tokenizer, text] = process.argv.slice(2);
const { Tokenizer } = require(require('path').resolve(modules, 'tokenizers'));
(async () => {
    const t = Tokenizer.fromFile(tokenizer);
    for (const line of require('fs').readFileSync(text, 'utf8').split('\n').slice(0, -1))
        console.log(Array.from((await t.encode(line, null, { addSpecialTokens: false })).getIds()).join(' '));
})();
JS
# Ids as there: a token for addresses and a special one first, then bytes and merges, spaces from 24 down to 2, more of both
# kinds, and the special tokens with a role among the last.
cat >"$work/modernbert.js" <<'JS'
const [modules, text, directory] = process.argv.slice(2);
const fs = require('fs'), path = require('path');
const lib = require(path.resolve(modules, 'tokenizers'));
const t = new lib.Tokenizer(lib.BPE.empty());
t.setNormalizer(lib.nfcNormalizer());
t.setPreTokenizer(lib.byteLevelPreTokenizer(false));
t.train([text]);
t.save(path.join(directory, 'learned.json'));
const learned = JSON.parse(fs.readFileSync(path.join(directory, 'learned.json'), 'utf8'));
const vocab = {}, added = [];
let id = 0;
const add = (content, special, lstrip) => {
    added.push({ id: id++, content, single_word: false, lstrip: !!lstrip, rstrip: false, normalized: !special, special });
    return id - 1;
};
const put = (token) => { if (!(token in vocab)) vocab[token] = id++; };
vocab['|||IP_ADDRESS|||'] = add('|||IP_ADDRESS|||', false);
vocab['<|padding|>'] = add('<|padding|>', true);
lib.byteLevelAlphabet().sort().forEach(put);
Object.entries(learned.model.vocab).sort((a, b) => a[1] - b[1]).forEach(([token]) => put(token));
for (let n = 24; n >= 2; n--) add(' '.repeat(n), false);
add('|||EMAIL_ADDRESS|||', false);
add('|||PHONE_NUMBER|||', false);
add('<|endoftext|>', true);
const [unk, cls, sep] = ['[UNK]', '[CLS]', '[SEP]'].map((token) => add(token, true));
add('[PAD]', true);
add('[MASK]', true, true);
for (let i = 0; i < 83; i++) add(`[unused${i}]`, false);
const token = (name) => ({ SpecialToken: { id: name, type_id: 0 } });
const bytes = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true };
const entry = (name, n) => ({ id: name, ids: [n], tokens: [name] });
fs.writeFileSync(path.join(directory, 'tokenizer.json'), JSON.stringify({
    version: '1.0', truncation: null, padding: null, added_tokens: added, normalizer: { type: 'NFC' }, pre_tokenizer: bytes,
    post_processor: {
        type: 'TemplateProcessing', single: [token('[CLS]'), { Sequence: { id: 'A', type_id: 0 } }, token('[SEP]')],
        pair: [token('[CLS]'), { Sequence: { id: 'A', type_id: 0 } }, token('[SEP]'), { Sequence: { id: 'B', type_id: 0 } },
            token('[SEP]')],
        special_tokens: { '[CLS]': entry('[CLS]', cls), '[SEP]': entry('[SEP]', sep) },
    },
    decoder: bytes,
    model: { type: 'BPE', dropout: null, unk_token: null, continuing_subword_prefix: null, end_of_word_suffix: null,
        fuse_unk: false, byte_fallback: false, ignore_merges: false, vocab, merges: learned.model.merges },
}));
// Lines of parts that are drawn from a list, the same ones every time.
const parts = [' ', '  ', '   ', ' '.repeat(7), ' '.repeat(24), ' '.repeat(25), ' '.repeat(61), '\t', '\t\t', ' \t ', '\u00a0',
    '\u3000', '\u2028', '|||IP_ADDRESS|||', '|||EMAIL_ADDRESS|||', '||||PHONE_NUMBER|||', '|||IP_ADDRESS||', '[unused0]',
    '[unused1', '0]', '[unused82]', '[unused83]', 'Zoe\u0308', 'e\u0301\u0323', 'A\u030a', '\u212b', '\u1e9b\u0323',
    '\u1100\u1161\u11a8', '\uf900', '\u0344', '\u05e9\u05bc\u05c1', '\u0915\u093c', ' \u0301', '\u0301', '\ud83d\ude00', '\u200d',
    "'s", "'ll", 'word', 'Word', '12', '3.5', '--', '_', '\u0120', '\u2423', '\u2423\u2423', '\u0120\u0120', '\u00c3\u00a9',
    '\u7231\u5929'];
let seed = 1;
const draw = (n) => { seed = (Math.imul(seed, 1103515245) + 12345) >>> 0; return (seed >>> 8) % n; };
let lines = '';
for (let i = 0; i < 20000; i++) {
    let line = '';
    for (let n = 1 + draw(9); n > 0; n--) line += parts[draw(parts.length)];
    lines += /\S/u.test(line) ? line + '\n' : line + 'x\n';
}
fs.writeFileSync(path.join(directory, 'lines'), lines);
JS
numbers() {
    h5dump -d "/train/text/en/$1" -y -w 1 "$work/corpus.h5" | sed -n '/DATA {/,/}/{s/^ *\([0-9]*\),\{0,1\}$/\1/p}' | grep .
}
# compare DIR TEXT: the ids of TEXT by DIR here and there; 1: they differ. Leaves $work/corpus.h5.
compare() {
    rm -f "$work/corpus.h5"
    node "$work/ids.js" "$modules" "$1/tokenizer.json" "$2" >"$work/theirs"
    xlm_prep --tokenizer "$1" --mono en="$2" --held-out 0 -o "$work/corpus.h5" >"$work/log" 2>&1 ||
        { cat "$work/log" >&2; exit 1; }
    numbers tokens >"$work/tokens"
    numbers offsets >"$work/offsets"
    awk 'NR == FNR { end[NR - 1] = $1; lines = NR - 1; next }
        FNR == 1 { k = 1 }
        { line = line (line == "" ? "" : " ") $1; if (FNR == end[k]) { print line; line = ""; k++ } }' \
        "$work/offsets" "$work/tokens" >"$work/ours"
    paste -d '\n' "$work/theirs" "$work/ours" | awk -v theirs="$(wc -l <"$work/theirs")" -v ours="$(wc -l <"$work/ours")" '
        NR % 2 { a = $0; next }
        { n += split(a, ids, " "); if (a != $0) { different++; if (different <= 3) print "line " NR / 2 ":\n  " a "\n  " $0 } }
        END {
            print theirs " lines, " ours " here, " n " subwords, " different + 0 " lines differ"
            exit different > 0 || theirs != ours
        }'
}
modules=${3-node_modules}
if [[ $1 != --modernbert ]]; then
    compare "$1" "$2"
    exit
fi
mkdir "$work/modernbert"
node "$work/modernbert.js" "$modules" "$2" "$work/modernbert"
code=0
echo 'the text:'
compare "$work/modernbert" "$2" || code=1
echo 'drawn lines:'
compare "$work/modernbert" "$work/modernbert/lines" || code=1
cat >"$work/job.conf" <<JOB
[model]
layers = 1
hidden_size = 8
attention_heads = 1
[train]
corpus = $work/corpus.h5
output = $work/run
steps = 1
[stream text]
length = 16
batch = 2
[objective mlm]
stream = text
JOB
{ xlm_train "$work/job.conf" && xlm_convert "$work/run/latest" -o "$work/again"; } >"$work/log" 2>&1 ||
    { cat "$work/log" >&2; exit 1; }
echo 'as xlm_convert writes it, by the library and here:'
node "$work/ids.js" "$modules" "$work/modernbert/tokenizer.json" "$work/modernbert/lines" >"$work/before"
mkdir "$work/alone"
cp "$work/again/tokenizer.json" "$work/again/special_tokens_map.json" "$work/alone"
compare "$work/alone" "$work/modernbert/lines" || code=1
cmp "$work/before" "$work/theirs" || code=1
exit "$code"
