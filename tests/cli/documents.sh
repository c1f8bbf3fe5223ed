#!/usr/bin/env bash
# xlm-mpi: the documents are true where that can be tried: links, keys and recipes of job files, what is installed.
# SPDX-License-Identifier: GPL-3.0-or-later
. "$XLM_SOURCE/tests/small.sh"
cd "$XLM_SOURCE" || exit 99

# headings FILE: its headings as the places of links: lower case, blanks are hyphens, punctuation goes.
headings() { sed -n 's/^##* *//p' "$1" | tr '[:upper:] ' '[:lower:]-' | tr -d "'\"\`.,:;*()[]?!/="; }
declare -A places
for document in README.md HACKING.md SECURITY.md docs/*.md; do places[$document]=$(headings "$document"); done
# has_heading FILE PLACE
has_heading() {
    [ -n "${places[$1]-}" ] || places[$1]=$(headings "$1")
    [[ $'\n'${places[$1]}$'\n' == *$'\n'"$2"$'\n'* ]]
}

# broken FILE: complaints about its links, one a line.
broken() {
    local target place
    grep -oE '\]\([^)]+\)' "$1" | grep -v '://' | sed 's/^](//; s/)$//' | while IFS='#' read -r target place; do
        if [ -z "$target" ]; then target=$1
        elif [[ $1 == */* ]]; then target=${1%/*}/$target
        fi
        if [ ! -s "$target" ]; then echo "$1: no $target"
        elif [ -n "$place" ] && ! has_heading "$target" "$place"; then echo "$1: $target has no heading $place"
        fi
    done
}

for document in README.md HACKING.md SECURITY.md docs/*.md; do
    complaints=$(broken "$document")
    [ -z "$complaints" ] || fail "$complaints"
    grep -qE "^[[:blank:]]+$document( |\$)" docs/local.mk || fail "$document is not installed: docs/local.mk"
    case $document in
    docs/README.md | README.md) ;;
    *)
        grep -qF -e "](${document#docs/})" -e "](../$document)" docs/README.md || fail "docs/README.md does not name $document" ;;
    esac
done
[ "$(wc -l <README.md)" -le 150 ] || fail "README.md has $(wc -l <README.md) lines"

# Places that links from elsewhere may lead to stay: none of docs/manual/anchors is gone.
# gone FILE: those that are.
gone() {
    local document place
    grep -v '^#' "$1" | while IFS='#' read -r document place; do
        has_heading "$document" "$place" || grep -qF "<a id=\"$place\"></a>" "$document" || echo "$document#$place"
    done
}
complaints=$(gone docs/manual/anchors)
[ -z "$complaints" ] || fail "these places are gone: $complaints"
[ "$(grep -c '#' docs/manual/anchors)" -ge 170 ] || fail "docs/manual/anchors lists too few places"
echo 'docs/jobs.md#no-such-heading' >"$scratch/anchors"
[ "$(gone "$scratch/anchors")" = docs/jobs.md#no-such-heading ] || fail "a place that is gone is not found"

# Every key of a job file is in docs/jobs.md, but for those of plugins.
grep -oE '`[a-z_0-9]+`' docs/jobs.md | tr -d '`' | sort -u >"$scratch/named"
for section in model train "stream NAME" "stage NAME" "objective NAME"; do
    xlm_train --help-job | awk -v section="[$section]" '/^\[/ { here = $0 == section }
            here && /^  [a-z_0-9]+  / { print $1 }' | sort -u >"$scratch/keys"
    [ "$(wc -l <"$scratch/keys")" -ge 2 ] || fail "--help-job has no keys in [$section]"
    missing=$(comm -23 "$scratch/keys" "$scratch/named")
    [ -z "$missing" ] || fail "docs/jobs.md does not name these keys of [$section]: $missing"
done

# Every objective has its paper in CITATION.cff, as README.md says.
# uncited FILE: objectives that no reference names.
uncited() {
    local name
    for name in src/losses/*.c; do
        name=$(basename "$name" .c)
        grep -qE "^    notes: \"(.*[ ,])?objective $name[ ,\"]" "$1" || echo "$name"
    done
}
complaints=$(uncited CITATION.cff)
[ -z "$complaints" ] || fail "CITATION.cff names no paper of the objectives: $complaints"
sed 's/objective sop/sop/' CITATION.cff >"$scratch/other.cff"
[ "$(uncited "$scratch/other.cff")" = sop ] || fail "an objective without a paper is not found: $(uncited "$scratch/other.cff")"

# Who is warned of libhdf5 in tests/fuzz/README.md is not to read elsewhere that HDF5 files of strangers are safe.
# called_safe FILE: lines that say so; a page that does not name the library says nothing of its errors.
called_safe() {
    grep -nE 'HDF5.*safe to read; may be refused' "$1"
    tr '\n' ' ' <"$1" | grep -q 'HDF5.*parses a file.s metadata before anything of ours is called' ||
        echo "$1 does not warn of libhdf5"
}
for document in docs/trust.md SECURITY.md tests/fuzz/README.md; do
    complaints=$(called_safe "$document" | sed "s,^,$document: ,")
    [ -z "$complaints" ] || fail "$complaints"
done
printf '| corpora (HDF5) | data | safe to read; may be refused |\n' >"$scratch/page.md"
[ "$(called_safe "$scratch/page.md" | wc -l)" -eq 2 ] || fail "a page that calls HDF5 files safe is not found"

# Messages and help name options that there are; others are those of mpiexec and of SQuAD's script.
for program in src/tools/xlm_*.c; do "$(basename "$program" .c)" --help; done >"$scratch/help"
sed -nE 's/^  (-[a-zA-Z], )?(--[a-z0-9-]+).*/\2/p' "$scratch/help" | sort -u >"$scratch/options"
[ "$(wc -l <"$scratch/options")" -ge 150 ] || fail "few options: $(wc -l <"$scratch/options")"
# unknown FOLDER: names of options in the strings of its sources that no program has.
unknown() {
    find "$1" -name '*.c' ! -path '*/report/*' -exec grep -hoE '"([^"\\]|\\.)*"' {} + |
        grep -oE -e '(^|[^a-z<!-])--[a-z][a-z0-9-]+' | grep -oE -e '--[a-z0-9-]*[a-z0-9]' | sort -u |
        grep -vxE -e '--(bind-to|map-by|oversubscribe|na-prob-file)' | comm -23 - "$scratch/options"
}
complaints=$(unknown src)
[ -z "$complaints" ] || fail "no program has these options, which messages name: $complaints"
mkdir "$scratch/source" && echo '"count fewer (xlm_cooc --min-count, --max-vocabulary)"' >"$scratch/source/a.c"
[ "$(unknown "$scratch/source")" = --max-vocabulary ] || fail "an option that does not exist is not found"
# Threads are chosen in one place (gemm/hardware.c), so all programs say the same of their default.
[ "$(grep -cE '^  --threads=N ' "$scratch/help")" -ge 5 ] || fail "few programs have --threads"
complaints=$(grep -E '^  --threads=N ' "$scratch/help" | grep -v 'OMP_NUM_THREADS, or the cores that the rank may use')
[ -z "$complaints" ] || fail "--threads has another default than these say: $complaints"

# The header of stages names what an annotation cannot be called.
taken=$(sed -n '/ taken\[\] = /,/;/p' src/stream/stage_plugins.c | grep -o '"[a-z_]*"' | tr -d '"')
[ "$(wc -w <<<"$taken")" -ge 10 ] || fail "few reserved names of annotations: $taken"
sed -n '/^\/\* An annotation/,/xlm_stage_annotation;/p' include/xlm/stage.h >"$scratch/annotation"
complaints=$(for name in $taken; do grep -qw "$name" "$scratch/annotation" || echo "$name"; done)
[ -z "$complaints" ] || fail "xlm/stage.h does not say that these are reserved: $complaints"

# docs/stability.md has the formats and numbers of the source.
# unlisted FILE: complaints about formats that its table lacks, and about numbers of the table that the source does not have.
unlisted() {
    local version name
    grep -rhoE '"xlm-mpi [a-z0-9 -]+"' src --include='*.[ch]' | tr -d '"' | sort -u | while read -r name; do
        grep -qE "^\\|.*\`$name\`" "$1" || echo "the table lacks $name"
    done
    sed -nE 's/^\|.*\| ([0-9]+) \|.*\| `(XLM_[A-Z_]+_VERSION)` \|$/\2 \1/p
        s/.*`(XLM_[A-Z_]+ABI[A-Z_]*)` = ([0-9]+).* `(XLM_[A-Z_]+ABI)` = ([0-9]+).*/\1 \2\n\3 \4/p' "$1" |
        while read -r name version; do
            grep -rqE "(#define $name|[ {]$name =) $version( |,|\$)" src include || echo "$name is not $version in the source"
        done
}
complaints=$(unlisted docs/stability.md)
[ -z "$complaints" ] || fail "docs/stability.md: $complaints"
sed -e '/co-occurrence/d' -e 's/ 2 | for other/ 3 | for other/' -e 's/FLOAT` = 14/FLOAT` = 13/' docs/stability.md >"$scratch/page.md"
[ "$(unlisted "$scratch/page.md" | wc -l)" -eq 3 ] || fail "other formats are not found: $(unlisted "$scratch/page.md")"

# The recipes of docs/jobs.md are job files, on a corpus with their languages.
cd "$scratch" || exit 99
logged prep.log xlm_prep --mono en=text.en --mono de=text.xx --para en-de=text.en,text.xx --words space --bpe 120 -o corpus.h5
printf 'house hyoyusye\nred ryed\n' >pairs.txt
logged align.log xlm_align corpus.h5 --split all --alignment links.h5
logged dict.log xlm_dict corpus.h5 --source en --target de --text pairs.txt -o quarter.h5
logged cooc.log xlm_cooc corpus.h5 -o cooc.h5
awk '/^## / { recipes = $0 == "## Recipes"; next } !recipes { next }
    /^[^ ]/ { text = 1; next } /^    / { if (text) n++; text = 0; print substr($0, 5) >("recipe" n) }' "$XLM_SOURCE/docs/jobs.md"
for recipe in recipe*; do
    { printf '%s\n' '[model]' 'layers = 12' 'decoder_layers = 2' 'hidden_size = 32' 'attention_heads = 2' \
        'language_embeddings = true' \
        '[train]' 'corpus = corpus.h5' 'output = out' 'steps = 2'
      cat "$recipe"; } >recipe.conf
    expect 0 '' xlm_train recipe.conf --dry-run
done
[ -s recipe4 ] || fail "docs/jobs.md has fewer than four recipes"

# Every script of jobs/ explains itself, also where no program is installed.
cp -r "$XLM_SOURCE/jobs" "$scratch/jobs"
find "$scratch/jobs" -type f ! -name '*.in' -exec grep -lI '^#!' {} + >scripts
[ "$(wc -l <scripts)" -ge 20 ] || fail "jobs/ has few scripts: $(cat scripts)"
while read -r script; do
    expect 0 '' env PATH="$(getconf PATH)" "$script" --help
    grep -qE "^ *(Usage: )?${script##*/}( |\$)" expect.out || fail "$script --help: $(head -n 5 expect.out)"
    # Those that set runs for another script explain both.
    [[ $script != */study ]] || grep -qxF -e "$(sed -n '2s/^# //p' "$script")" expect.out ||
        fail "$script --help is that of another script"
done <scripts
cd "$XLM_SOURCE" || exit 99

# Broken links are found.
printf '# A heading, here\n[a](#a-heading-here) [b](#none) [c](none.md)\n' >"$scratch/page.md"
[ "$(broken "$scratch/page.md" | wc -l)" -eq 2 ] || fail "of three links two are broken: $(broken "$scratch/page.md")"
finish
