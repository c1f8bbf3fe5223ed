#!/usr/bin/env bash
# xlm-mpi: list the errors of readers that no replayed input reaches. SPDX-License-Identifier: GPL-3.0-or-later
#
#   make fuzz-messages [READERS='src/corpus/corpus_file.c'] [FUZZ='corpus'] [MESSAGE_TESTS='tests/unit/corpus_test']
#
# The readers are compiled once more for gcov, the library is linked with them in a directory of its own, and the targets are run
# on their seeds, regressions and cases. A line that makes an error and was never executed is printed, and how many there are.
set -u
scratch=$(mktemp -d "${TMPDIR:-/tmp}/xlm-messages-XXXXXX") || exit 73
trap 'rm -rf "$scratch"' EXIT
cd "$XLM_BUILD" || exit 73
gcov=${GCOV:-gcov}
command -v "$gcov" >/dev/null || { echo "make fuzz-messages needs gcc with gcov" >&2; exit 69; }

objects=" $OBJECTS "
link=()
for file in $READERS; do
    object=$scratch/${file//\//_}
    eval "$COMPILE -w -O0 -U_FORTIFY_SOURCE --coverage -fPIC -DPIC" -c -o '"${object%.c}.o" "$XLM_SOURCE/$file"' \
        >"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 65; }
    objects=${objects/ ${file%.c}.lo / }
    link+=("${object%.c}.o")
done
for name in $objects; do link+=("${name%/*}/.libs/$(basename "$name" .lo).o"); done
$LINK -shared --coverage -Wl,-soname,libxlm.so.0 -o "$scratch/libxlm.so.0" "${link[@]}" $LIBS || exit 65
for test in $TESTS; do
    LD_LIBRARY_PATH=$scratch${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} sh "$XLM_SOURCE/tests/run.sh" "./$test" \
        >"$scratch/log" 2>&1 || { tail -5 "$scratch/log"; echo "$test fails" >&2; exit 65; }
done

all=0 missed=0
cd "$scratch" && ln -s "$XLM_SOURCE/src" . || exit 73 # the compiler may have written a relative name
for file in $READERS; do
    name=${file//\//_}
    "$gcov" -o "$scratch" "${name%.c}.o" >/dev/null 2>&1
    report=$(basename "$file").gcov
    [ -e "$report" ] || continue
    # gcov's fields: times, line, source. What makes an error: the function, and those that the readers have for it.
    awk -v FS=: -v file="$file" '
        { source = $0; sub(/^[^:]*:[^:]*:/, "", source) }
        source ~ /(xlm_error_set|xlm_error_at|store_error|xlm_word_store_refuse|refuse|refuse_[a-z]+|damaged|bad|bad_pair|fail_at|other_corpus)\(/ &&
        source !~ /^(static|bool|const|G_GNUC)/ && $1 !~ /-/ {
            all++
            if ($1 ~ /#|=/) { missed++; sub(/^ +/, "", source); printf "%s:%d: %s\n", file, $2, substr(source, 1, 100) }
        }
        END { printf "%d %d\n", all, missed > "/dev/stderr" }' "$report" 2>count
    read -r here unseen <count
    all=$((all + here)) missed=$((missed + unseen))
    rm -f "$report"
done
echo "$missed of $all errors are not reached"
