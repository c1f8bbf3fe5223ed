#!/usr/bin/env bash
# xlm-mpi: a file of src/ includes only headers of its own folder, of floors below, and of the folders of its own floor that the
# table names (HACKING.md); files do not include one another in circles; no two headers define a type of one name; bugs of
# tests/mutants.list fit the lines that they change.
# SPDX-License-Identifier: GPL-3.0-or-later
. "$XLM_SOURCE/tests/small.sh"

# Floor, folder, and folders of the same floor that it may include.
floors='
0 base
0 files base
0 options base files
1 comm
1 store comm
1 kernels
1 gemm kernels
1 tensor kernels gemm
2 text
2 bpe text
2 sentencepiece text
2 subwords text bpe sentencepiece
2 formats text
2 corpus subwords
2 nn
2 matrix
3 lexicon
3 aligners
3 stream lexicon aligners
3 synthetic
3 translation_scores
3 model
3 translation aligners
4 objective
4 losses
5 job
5 checkpoint job
5 train job checkpoint
5 run job checkpoint train
5 prep
6 tasks
6 model_aligner
6 vectors
6 retrieval vectors model_aligner
6 maps vectors retrieval
6 foreign
6 report maps model_aligner
7 program
7 commands program
7 tools program commands
'
# Only these folders may include the headers of MPI and HDF5; others use comm and store.
mpi='comm store'
hdf5='comm store'

# check FOLDER...: complaints about the includes of the files that are there, one a line. Reads `FILE:INCLUDE`.
complaints() {
    awk -F: -v floors="$floors" -v mpi=" $mpi " -v hdf5=" $hdf5 " '
        BEGIN {
            rows = split(floors, row, "\n")
            for (r = 1; r <= rows; r++) {
                words = split(row[r], word, " ")
                if (words < 2) continue
                floor[word[2]] = word[1]
                for (w = 3; w <= words; w++) beside[word[2], word[w]] = 1
            }
        }
        {
            split($1, path, "/"); own = path[1]; header = $2
            if (!(own in floor)) { print $1 ": folder " own " is on no floor"; next }
            if (header ~ /^<mpi\.h>/ && index(mpi, " " own " ") == 0) print $1 ": includes " header
            if (header ~ /^<hdf5\.h>/ && index(hdf5, " " own " ") == 0) print $1 ": includes " header
            if (header ~ /scalapack\.h/ && own != "matrix") print $1 ": includes " header "; only matrix includes ScaLAPACK"
            if (header !~ /^"/) next
            gsub(/"/, "", header)
            if (split(header, part, "/") < 2) { print $1 ": includes " header ", without its folder"; next }
            other = part[1]
            if (own == "losses") print $1 ": includes " header "; objectives use xlm/ alone"
            else if (!(other in floor)) print $1 ": includes " header ", of no folder of src"
            else if (other != own && floor[other] >= floor[own] && !((own, other) in beside))
                print $1 ": includes " header ", of floor " floor[other] "; " own " is on floor " floor[own]
        }'
}

includes() { # FOLDER: FILE:INCLUDE
    (cd "$1" && find . -name '*.[ch]' -o -name '*.cc' | sort | sed 's#^\./##' |
        xargs grep -HoE '^#include [<"][^>"]+[>"]' | sed 's/:#include /:/')
}

broken=$(includes "$XLM_SOURCE/src" | complaints)
[ -z "$broken" ] || fail "floors are broken:
$broken"
[ "$(includes "$XLM_SOURCE/src" | wc -l)" -gt 500 ] || fail "includes were not found"

# No file includes itself through others. A unit is NAME.c, NAME.h and NAME_internal.h together. No unit may include itself
# through others, nor call functions whose files call back.
in_circles() { # of lines `UNIT UNIT`, the first needs the second: those from which one comes back
    awk '
        function leads(from, to,    i) {
            if (from == to) return 1
            if (been[from] == round) return 0
            been[from] = round
            for (i = 1; i <= needs[from]; i++)
                if (leads(need[from, i], to)) return 1
            return 0
        }
        $1 != $2 && !seen[$0]++ { need[$1, ++needs[$1]] = $2; first[++n] = $1; second[n] = $2 }
        END {
            for (i = 1; i <= n; i++) {
                round++
                if (leads(second[i], first[i])) print first[i] " -> " second[i]
            }
        }' | sort
}
included_units() { # FOLDER
    includes "$1" | grep -F ':"' | sed -E 's/"//g; s/(_internal)?\.(c|cc|h)(:|$)/\3/g; s/:/ /'
}
called_units() { # FOLDER OF THE SOURCES, FOLDER OF THE OBJECTS: functions and data of other objects, but for plugins
    (cd "$2" && find . -name '*.o' ! -name 'libxlm_double*' ! -path '*/losses/*' | sed 's#^\./##' | while read -r object; do
        unit=${object%.o}
        [ ! -e "$1/${unit/.libs\//}.c" ] || echo "$object"
    done | xargs nm -PA) | awk '
        { unit = $1; sub(/\.o:$/, "", unit); sub(/\.libs\//, "", unit) }
        $3 == "U" { calls[unit " " $2] = 1 }
        $3 ~ /^[TDBRC]$/ { of[$2] = unit }
        END {
            for (call in calls) {
                split(call, word, " ")
                if (word[2] in of) print word[1], of[word[2]]
            }
        }'
}
broken=$(included_units "$XLM_SOURCE/src" | in_circles)
[ -z "$broken" ] || fail "files include one another in a circle:
$broken"
called_units "$XLM_SOURCE/src" "$XLM_BUILD/src" >called
[ "$(wc -l <called)" -gt 500 ] || fail "calls were not found"
broken=$(in_circles <called)
[ -z "$broken" ] || fail "files call one another in a circle:
$broken"
[ "$(printf '%s\n' 'a b' 'b c' 'c b' 'c d' 'd d' 'e a' | in_circles | tr '\n' ' ')" = 'b -> c c -> b ' ] || fail "circles are not found"
mkdir -p units/text && echo '#include "text/b.h"' | tee units/text/a.c >units/text/a_internal.h &&
    echo '#include "text/a_internal.h"' >units/text/b.c
[ "$(included_units units | in_circles | wc -l)" -eq 2 ] || fail "a circle by way of _internal.h is not found"

# Segmenters are known by their class alone: their own files, the table and the help of programs name them, nobody else. Files of
# tokenizers, and the types in a tokenizer.json, have names that others gave them.
names() { # NAME FOLDER
    (cd "$2" && find . -name '*.[ch]' | sed 's#^\./##' | grep -vE "^(subwords/$1[a-z_]*\.[ch]|$1/.*|subwords/segmenters\.c|tools/.*)$" |
        xargs grep -iF "$1" | grep -vF -e 'sentencepiece.bpe.model' -e '"BPE"' | cut -d: -f1 | sort -u)
}
segmenters=$(sed -n 's/^    segmenter(\([a-z_]*\)).*/\1/p' "$XLM_SOURCE/src/subwords/segmenters.c")
[ -n "$segmenters" ] || fail "the table of segmenters was not found"
for segmenter in $segmenters; do
    broken=$(names "$segmenter" "$XLM_SOURCE/src")
    [ -z "$broken" ] || fail "only its class may know the segmenter $segmenter (subwords/segmenter.h), but these name it:
$broken"
done
mkdir -p other/train && echo '/* bpe */' >other/train/new.c && echo '/* bpe */' | tee other/text.c >/dev/null
[ "$(names bpe other | sort | tr '\n' ' ')" = 'text.c train/new.c ' ] || fail "not found: $(names bpe other)"

# The public headers include only one another.
public=("$XLM_SOURCE"/include/xlm/*.h)
broken=$(grep -HnE '^#include "' "${public[@]}"; grep -HoE '^#include <(mpi|hdf5|glib)[^>]*>' "${public[@]}")
[ -z "$broken" ] || fail "public headers include what plugins need not have:
$broken"

# No two headers give one name to two types.
named_twice() { # FOLDER...
    find "$@" -name '*.h' -exec grep -hoE '^\} xlm_[a-z0-9_]+;' {} + | sort | uniq -d
}
broken=$(named_twice "$XLM_SOURCE/src" "$XLM_SOURCE/include")
[ -z "$broken" ] || fail "two headers define a type of this name:
$broken"
mkdir -p twice/a twice/b && printf '} xlm_%s;\n' one two >twice/a/a.h && echo '} xlm_two;' >twice/b/b.h
[ "$(named_twice twice)" = '} xlm_two;' ] || fail "a name of two types is not found: $(named_twice twice)"

# Every bug of tests/mutants.list still fits the line that it changes.
bash "$XLM_SOURCE/tests/mutants.sh" --apply >broken.txt 2>&1 || fail "tests/mutants.list: $(cat broken.txt)"
# Every folder with sources has one, and every objective.
without_bug() { # LIST: those that have none
    local place
    (cd "$XLM_SOURCE" && printf '%s\n' src/*/*.c | sed 's#[^/]*$##' | sort -u && printf '%s\n' src/losses/*.c) | while read -r place; do
        cut -f2 "$1" | grep -qF "$place" || echo "$place"
    done
}
broken=$(without_bug "$XLM_SOURCE/tests/mutants.list")
[ -z "$broken" ] || fail "tests/mutants.list has no bug of: $broken"
grep -vE 'src/(tensor/|losses/sop)' "$XLM_SOURCE/tests/mutants.list" >fewer.list
[ "$(without_bug fewer.list | tr '\n' ' ')" = 'src/tensor/ src/losses/sop.c ' ] || fail "not found: $(without_bug fewer.list)"

# Violations are found.
finds() { # FILE INCLUDE
    [ -n "$(echo "$1:$2" | complaints)" ] || fail "$1 may include $2"
}
finds text/words.c '"corpus/corpus.h"'
finds text/words.c '<mpi.h>'
finds lexicon/dictd.c '"stream/stream.h"'
finds losses/mlm.c '"nn/model.h"'
finds nn/model.c '"subwords/vocabulary.h"'
finds tasks/tune.c '"vectors/alignment.h"'
finds tasks/tune.c '"tune.h"'
finds vectors/alignment.c '"matrix/scalapack.h"'
finds else/file.c '"base/log.h"'
[ -z "$(echo 'stream/stream.c:"lexicon/translations.h"' | complaints)" ] || fail "streams may not read dictionaries"
finish
