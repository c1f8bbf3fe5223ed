#!/usr/bin/env bash
# xlm-mpi: xlm_prep --tokenizer against the library tokenizers of Hugging Face. SPDX-License-Identifier: GPL-3.0-or-later
#
#   tokenizers.sh DIR TEXT [MODULES]   DIR: with tokenizer.json; TEXT: lines with something to see; MODULES: node_modules with the
#                                      package tokenizers (npm install tokenizers); by default that of the present directory
#
# xlm_prep, node and h5dump in PATH. Compares the ids of all lines, without the special tokens around them. Text that spells
# special tokens ("<s>", "<mask>") differs: to xlm_prep it is text.
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
node "$work/ids.js" "${3-node_modules}" "$1/tokenizer.json" "$2" >"$work/theirs"
xlm_prep --tokenizer "$1" --mono en="$2" --held-out 0 -o "$work/corpus.h5" >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
numbers() {
    h5dump -d "/train/text/en/$1" -y -w 1 "$work/corpus.h5" | sed -n '/DATA {/,/}/{s/^ *\([0-9]*\),\{0,1\}$/\1/p}' | grep .
}
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
