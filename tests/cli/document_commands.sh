#!/usr/bin/env bash
# xlm-mpi: the commands of README.md and docs/ run, page by page, in folders that have what the pages speak of: small texts,
# corpora, runs. SPDX-License-Identifier: GPL-3.0-or-later
#
# A block with commands is run unless a comment before it, which readers do not see, says why not: <!-- not run: REASON -->. The
# commands are those of the page but for sizes (ranks, steps, merges). Blocks of a job file that come before commands are written to
# the file that these name. docs/tutorial.md and docs/translation.md, whose blocks are ```sh, are run by tests of their own.
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long
cd "$XLM_SOURCE" || exit 99

# blocks PAGE FOLDER: each block of the page that has commands: FOLDER/NUMBER.sh with its commands, FOLDER/NUMBER.conf with the job
# before them; or FOLDER/NUMBER.left with the reason why it is not run.
blocks() {
    mkdir -p "$2"
    awk -v folder="$2" '
        function ends() {
            if (commands != "") {
                file = sprintf("%s/%02d", folder, ++number)
                if (reason != "") { print reason >(file ".left"); close(file ".left") }
                else {
                    printf "%s", commands >(file ".sh"); close(file ".sh")
                    if (job != "") { printf "%s", job >(file ".conf"); close(file ".conf") }
                }
                reason = ""
            } else if (lines) reason = ""
            commands = job = ""; lines = 0
        }
        function add(line) {
            lines++
            # Programs of others are not started.
            if (line ~ /^(python3|tensorboard|sbatch) /) { commands = commands "# " line "\n"; return }
            if (commands != "" || line ~ /^(\.\/|\. |(XLM|RUNS|LD|START)[A-Z_]*=|xlm_[a-z]+ |mpiexec |h5dump |jobs\/[^ :]+ )/ ||
                line ~ /^(make|export|module|for|git|cat) /)
                commands = commands line "\n"
            else if (job != "" || line ~ /^\[/) job = job line "\n"
        }
        /^<!-- not run: .* -->$/ {
            ends()
            reason = $0; sub(/^<!-- not run: /, "", reason); sub(/ -->$/, "", reason)
            blank = 1
            next
        }
        /^```/ { if (fence) { fence = 0; ends() } else { ends(); fence = 1; shell = $0 == "```sh" } blank = 0; next }
        fence { if (shell) add($0); next }
        /^    / && (blank || lines) { add(substr($0, 5)); blank = 0; next }
        /^$/ { blank = 1; if (commands != "") commands = commands "\n"; else if (job != "") job = job "\n"; next }
        { ends(); reason = ""; blank = 0 }
        END { ends() }' "$1"
}
mkdir "$scratch/blocks"
for page in README.md HACKING.md docs/*.md; do
    case $page in
    docs/tutorial.md | docs/translation.md) sed '/^```sh/,/^```$/d' "$page" ;;
    *) cat "$page" ;;
    esac >"$scratch/page.md"
    blocks "$scratch/page.md" "$scratch/blocks/$(basename "$page" .md)"
done
cd "$scratch" || exit 99
[ "$(find blocks -name '*.sh' | wc -l)" -ge 50 ] || fail "blocks were not found: $(find blocks -name '*.sh' | wc -l)"
left=$(find blocks -name '*.left' | wc -l)
[ "$left" -le 40 ] || fail "more blocks are left out than before: $left"
find blocks -name '*.left' | while read -r file; do
    # A reason says what is missing, and which test does it instead.
    grep -qE '(^this is make check|needs|hours|installs|a cluster|starts all)' "$file" || echo "$file: $(cat "$file")"
    for test in $(grep -oE 'tests/[a-z_/]+(\.sh)?' "$file"); do [ -e "$XLM_SOURCE/$test" ] || echo "$file: there is no $test"; done
done >reasons
[ ! -s reasons ] || fail "blocks are left out without reason: $(cat reasons)"
if [ "${XLM_LIST_BLOCKS-}" = 1 ]; then grep -H . $(find blocks -name '*.left' | sort); fi

# ---- what the pages speak of ----
mkdir -p world/muse && cd world || exit 99
ln -s "$XLM_SOURCE/jobs" jobs
cp ../text.en text.en
sed 's/hyoyusye/Haus/g; s/ryivyer/Hund/g' ../text.xx >text.de
for name in wiki europarl pairs train today test dev crawl web news; do
    head -n 300 text.en >$name.en
    head -n 300 text.de >$name.de
done
for name in wiki.en wiki.de news.en text.de; do gzip -kf "$name"; done
cp news.de news.fr && gzip -kf news.fr
xz -kf web.en
zstd -qf crawl.en -o crawl.en.zst 2>/dev/null || cp crawl.en crawl.en.zst
logged ../prep.log xlm_prep --mono en=text.en --mono de=text.de --para en-de=text.en,text.de --words space --held-out 0.1 \
    --bpe 150 -o corpus.h5
cp corpus.h5 a.h5
cat >job.conf <<'END'
[model]
layers = 12
hidden_size = 8
attention_heads = 2
positions = 512
language_embeddings = true
head = xlm
[train]
corpus = corpus.h5
output = run1
steps = 2
evaluate_instances = 4
evaluate_every = 0
[stream text]
batch = 4
length = 48
[stream pairs]
type = parallel
batch = 4
length = 64
[objective mlm]
stream = text
[objective tlm]
plugin = mlm
stream = pairs
END
logged ../run1.log xlm_train job.conf --set train.steps=1
for run in run0 run2 run3; do cp -r run1 $run; done
cp -L run1/latest run1/checkpoint-00080000.h5
cp -L run1/latest run1/checkpoint-00090000.h5
# Words and their translations, in the forms of the pages' files.
tr ' ' '\n' <text.en | sort -u | grep -v '^\.$' |
    sed 'h; s/[aeiou]/y&/g; s/hyoyusye/Haus/; s/ryivyer/Hund/; H; x; s/\n/ /' >words
cp words muse/en-de.txt
awk '{ print $2, $1 }' words >de-en
for name in en-de.0-5000 en-de.5000-6500; do cp words $name.txt; done
for name in de-en.0-5000 de-en.5000-6500; do cp de-en $name.txt; done
cut -d' ' -f1 words >words.en
cut -d' ' -f2 words >words.de
awk '{ w[NR] = $1 } END { for (i = 1; i < NR; i++) printf "%s\t%s\t%d\n", w[i], w[i + 1], i % 5 }' words >EN_WS-353-ALL.txt
cp EN_WS-353-ALL.txt EN_SIMLEX-999.txt
awk '{ e[NR] = $1; d[NR] = $2 } END { for (i = 1; i < NR; i++) printf "%s\t%s\t%d\n", e[i], d[i + 1], i % 5 }' words \
    >EN_DE_SEMEVAL17.txt
cut -f1,2 EN_DE_SEMEVAL17.txt >en-de.test.data.txt
cut -f3 EN_DE_SEMEVAL17.txt >en-de.test.gold.txt
printf ': mixed\nhouse river teacher garden\nred green old small\n' >questions-words.txt
logged ../dict.log xlm_dict corpus.h5 --source en --target de --text words --subwords first -o en-de.h5
cp en-de.h5 quarter.h5
logged ../vectors.log xlm_embed export run1/latest --language en --words words.en -o en.vec
logged ../vectors.log xlm_embed export run1/latest --language de --words words.de -o de.vec
logged ../vectors.log xlm_embed export run1/latest --language en -o vectors.h5
cp vectors.h5 counted.h5
logged ../map.log xlm_embed map run1/latest --dictionary en-de.h5 --perplexity 4 --coordinates map.h5
logged ../cooc.log xlm_cooc corpus.h5 -o cooc.h5
logged ../align.log xlm_align corpus.h5 --languages en,de --alignment alignment.h5
logged ../align.log xlm_align test.en test.de -o links.txt
awk '{ for (i = 1; i <= NF; i++) { split($i, p, "-"); print NR, p[1] + 1, p[2] + 1 } }' links.txt >gold.naacl
printf 'checkpoint,step,measure,layer,detail,source,target,value\nrun1/latest,1,aer,4,,en,de,30\n' >measure.csv
# Labelled text in all its forms, and questions.
for part in train dev test; do
    head -n 24 text.en >$part.text
    task_files $part
    mv $part.tsv $part-en.tsv
    cp $part-en.tsv $part-de.tsv
    awk -F'\t' 'NF == 2 { printf "%d\t%s\t_\t%s\t_\t_\t%d\t_\t_\t_\n", ++n, $1, ($2 == "O" ? "VERB" : "NOUN"), (n > 1 ? 1 : 0) }
        NF == 0 { print ""; n = 0 }' $part-en.tsv >$part.conllu
done
for language in en de es; do cp test.conllu $language.conllu; done
for part in train dev test; do gzip -c $part.conllu >en_ewt-ud-$part.conllu.gz; done
gzip -c test.conllu >de_gsd-ud-test.conllu.gz
cp train.classes multinli_1.0_train.txt
for language in en de; do cp dev.classes xnli.dev.$language; cp test.classes xnli.test.$language; done
for part in dev test; do for language in en de; do cp $part.classes xnli.$part.tsv; done; done
cp train.json train-v1.1.json
cp dev.json dev-v1.1.json
for file in xquad.en xquad.de test-context-de-question-de; do cp test.json $file.json; done
cat >pos.conf <<'END'
[tune]
model = run1/latest
train = en_ewt-ud-train.conllu.gz
dev = en_ewt-ud-dev.conllu.gz
language = en
output = pos
epochs = 1
batch = 8
length = 64
[task tagging]
END
# Translations beside references; sentences with numbers, and those of them that translate one another.
for file in output.de newstest.de base.de gc.de mass.de output.tok.de newstest.tok.de output.zh test.zh.0 test.zh.1; do
    head -n 50 text.de >$file
done
sed -i '1s/ .*/ nothing/' output.de base.de output.tok.de
for part in test training; do
    for language in en de; do
        head -n 60 text.$language | awk -v l=$language '{ printf "%s-%06d\t%s\n", l, NR, $0 }' >de-en.$part.$language
    done
    awk 'NR <= 30 { printf "de-%06d\ten-%06d\n", NR, NR }' text.en >de-en.$part.gold
done
for language in deu eng; do head -n 40 "text.$([ $language = deu ] && echo de || echo en)" >tatoeba.deu-eng.$language; done
# A dictionary of dictd: one entry.
printf 'red\n   ryed\n' >freedict.dict
printf 'red\tA\tM\n' >freedict.index
cd .. || exit 99

# ---- the commands ----
# The first command of each program starts 2 ranks, the others one, which needs no mpiexec.
mkdir bin
cat >bin/mpiexec <<'WRAPPER'
#!/bin/sh
while [ "$1" != -n ]; do shift; done
shift 2
[ ! -e "$0.$1" ] || exec "$@"
touch "$0.$1"
XLM_MPIEXEC=$started_by exec sh "$XLM_SOURCE/tests/mpirun.sh" 2 "$@"
WRAPPER
chmod +x bin/mpiexec
started_by=$(command -v "${XLM_MPIEXEC:-mpiexec}")
export started_by
# sizes: the page's numbers, made small; a job of training without [model] gets one narrow layer and few held-out
# instances, one of tuning that does not say how many epochs gets one.
sizes() {
    awk '{ all = all $0 "\n" }
        END {
            model = "\n[model]\nlayers = 1\nhidden_size = 32\nattention_heads = 2"
            if (all !~ /\n\[model\]\n/) sub(/\n\[train\]\n/, model "&evaluate_instances = 8\n", all)
            if (all !~ /\nepochs = /) sub(/\[tune\]\n/, "&epochs = 1\n", all)
            printf "%s", all
        }' |
        sed -E -e 's/--bpe [0-9]+/--bpe 120/g; s/^(steps =) [0-9]+/\1 2/; s/^(epochs =) [0-9]+/\1 1/; s/^(batch =) [0-9]+/\1 8/' \
        -e 's/train\.steps=[0-9]+/train.steps=4/; s/--rank 300 --shift 5/--rank 8 --shift 1/; s/--pool 1000/--pool 20/' \
        -e 's/--count (1000|2000)/--count 20 --perplexity 4/; s/--ranks=2,16,64,256/--ranks=2,16/; s/--pair 17/--pair 3/' \
        -e 's/checkpoint-00001000/checkpoint-00000001/' \
        -e 's/(xlm_embed map .*--sentences .*)-o/\1--perplexity 4 -o/' \
        -e 's/(xlm_embed map .*--sentences .*)--coordinates/\1--perplexity 4 --coordinates/' \
        -e 's#/usr/share/dictd/freedict-eng-deu#freedict#; s/ --test es:es.conllu//' \
        -e 's/--seeds 1,2,3,4,5/--seeds 1/; s/learning_rate=1e-5,2e-5,3e-5/learning_rate=1e-5,2e-5/'
}
ran=0
for block in blocks/*/*.sh; do
    job=${block%.sh}.conf
    cp -r world here
    case $block in */word-alignment/*) rm here/en-de.h5 ;; # a model of an aligner has this name there
    */README/*) rm -r here/run1 ;; # it begins
    esac
    if [ -s "$job" ]; then
        conf=$(grep -oE 'xlm_(tune|train) [a-z0-9_-]+\.conf' "$block" | sed -n '1s/.* //p')
        [ -n "$conf" ] || fail "$block: no command reads the job before it"
        sizes <"$job" >"here/$conf"
    fi
    sizes <"$block" >here/.commands
    # A job that the commands write is also checked as it is on the page, with all its sizes.
    sed "0,/^cat >job.conf <<'END'\$/d; /^END\$/,\$d" "$block" >here/page.conf
    [ ! -s here/page.conf ] || (cd here && xlm_train page.conf --dry-run --set train.output=page) >page.log 2>&1 ||
        fail "${block#blocks/}: its job as it is on the page: $(tail -n 3 page.log)"
    (cd here && XLM_MPIEXEC=$scratch/bin/mpiexec PATH=$scratch/bin:$PATH timeout "${XLM_TEST_TIMEOUT:-600}" \
        bash -eu -o pipefail -x .commands) >block.log 2>&1 </dev/null ||
        fail "${block#blocks/}: $(grep -E '^(\+ |xlm_|.*commands)' block.log | tail -n 3)"
    ran=$((ran + $(grep -cE '^(xlm_|mpiexec |h5dump |jobs/)' here/.commands)))
    rm -rf here
done
[ "$ran" -ge 80 ] || fail "only $ran commands were run"

# Keys of job files in all blocks are keys.
for program in xlm_train xlm_tune; do "$program" --help-job; done | grep -oE '^  [a-z_0-9]+  ' | tr -d ' ' | sort -u >known
grep -hE '^    [a-z_0-9]+ = ' "$XLM_SOURCE"/docs/*.md | awk '{ print $1 }' | sort -u | grep -vxF -f known >unknown
[ ! -s unknown ] || fail "blocks have keys that no program has: $(tr '\n' ' ' <unknown)"

# A block that fails, and one without a mark, are found.
printf 'Text:\n\n    xlm_fill none.h5 x\n\n<!-- not run: hours -->\n\n    make study\n\nMore:\n\n    make study\n' >page.md
blocks page.md found
[ "$(ls found | tr '\n' ' ')" = '01.sh 02.left 03.sh ' ] || fail "of a page these blocks were found: $(ls found | tr '\n' ' ')"
finish
