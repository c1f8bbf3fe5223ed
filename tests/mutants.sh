#!/usr/bin/env bash
# xlm-mpi: plant bugs, one at a time, and count those that the tests find. SPDX-License-Identifier: GPL-3.0-or-later
#
#   make mutants [MUTANTS='links_* corpus_token_bound'] [FUZZ_SECONDS=30]
#
# By `make mutants`, which sets what is built with. tests/mutants.list has the bugs, a line each: a name, a file of the library,
# an expression of sed that changes one line of it, and the tests that should fail then. The changed file alone is compiled, the
# library linked anew in a directory of its own, and the tests run with it: nothing in the build changes. With FUZZ_SECONDS the
# targets among the tests of a bug that no test finds are fuzzed for so long (as `make fuzz` does, which is run once before).
#
# 0: every change applies, and at least 9 of 10 bugs are found; 1: fewer; 65: an expression that changes no line, or several,
# makes what does not compile, or a test that fails without any bug.
set -u
list=$XLM_SOURCE/tests/mutants.list
jobs=${MUTANT_JOBS:-$(env -u OMP_NUM_THREADS nproc)}
seconds=${FUZZ_SECONDS:-0}
scratch=$(mktemp -d "${TMPDIR:-/tmp}/xlm-mutants-XXXXXX") || exit 73
trap 'rm -rf "$scratch"' EXIT
cd "$XLM_BUILD" || exit 73

# link LIBRARY DIRECTORY [NAME OBJECT]: libxlm or libxlm_double, with one object in place of the one of that name.
link() {
    local objects=() name all=$OBJECTS
    [ "$1" = libxlm ] || all=$DOUBLE_OBJECTS
    for name in $all; do
        if [ "$name" = "${3-}" ]; then objects+=("$4"); else objects+=("${name%/*}/.libs/$(basename "$name" .lo).o"); fi
    done
    $LINK -shared -Wl,-soname,"$1.so.0" -o "$2/$1.so.0" "${objects[@]}" $LIBS
}

# build FILE CHANGED DIRECTORY: the libraries with the changed file in them; tests in double precision have their own.
build() {
    local name=${1%.c}.lo double=${1%/*}/libxlm_double_la-$(basename "$1" .c).lo
    # Definitions are quoted for the shell. What the file includes by "" is beside the original.
    eval "$COMPILE -w -fPIC -DPIC" -iquote '"$XLM_SOURCE/${1%/*}"' -c -o '"$3/changed.o" "$2"' &&
        link libxlm "$3" "$name" "$3/changed.o" || return 1
    case " $DOUBLE_OBJECTS " in
    *" $double "*)
        eval "$COMPILE -DXLM_DOUBLE -w -fPIC -DPIC" -iquote '"$XLM_SOURCE/${1%/*}"' -c -o '"$3/double.o" "$2"' &&
            link libxlm_double "$3" "$double" "$3/double.o" ;;
    esac
}

# run TEST DIRECTORY LOG: with the library of the directory. Programs of the installed kind, which scripts start, find it by
# preloading.
run() {
    case $1 in
    *.sh) LD_PRELOAD=$2/libxlm.so.0 timeout 600 bash "$XLM_SOURCE/$1" >"$3" 2>&1 ;;
    *) LD_LIBRARY_PATH=$2${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} timeout 300 sh "$XLM_SOURCE/tests/run.sh" "./$1" >"$3" 2>&1 ;;
    esac
}

# fuzz TEST TREE FILE: look for an input with the mutant's library; 0: found. Files of the build are links, and those that are
# made anew are removed first.
fuzz() {
    local target=${1##*/} tree=$2 made=$2/build
    mkdir "$made"
    cp -al "$XLM_BUILD/fuzz/." "$made/" || return 1
    rm -rf "$made/inputs" "$made/failed" "$made/cases" "$made"/*.log "$made"/probe* "$made/libxlm.so.0" "$made/$target" \
        "$made/${3%.c}".[do]
    XLM_SOURCE=$tree XLM_FUZZ_DIRECTORY=$made bash "$tree/tests/fuzz/run.sh" "$seconds" 1 "$target" >"$tree/fuzz.log" 2>&1
    [ -n "$(ls -A "$made/failed" 2>/dev/null)" ]
}

# A tree of links with one other file.
plant() {
    mkdir "$1" && cp -rs "$XLM_SOURCE/src" "$XLM_SOURCE/include" "$1/" && mkdir "$1/tests" &&
        cp -rs "$XLM_SOURCE/tests/fuzz" "$XLM_SOURCE/tests/unit" "$XLM_SOURCE/tests/mpi" "$XLM_SOURCE/tests/sanitizers.supp" \
            "$1/tests/" && rm "$1/$2" && cp "$3" "$1/$2"
}

# try NAME FILE EXPRESSION TESTS: writes the line of the table into NAME.result.
try() {
    local name=$1 file=$2 expression=$3 tests=$4 directory=$scratch/$1 changed found='' test
    mkdir "$directory"
    changed=$directory/$(basename "$file")
    sed -E "$expression" "$XLM_SOURCE/$file" >"$changed" || return 65
    if [ "$(diff "$XLM_SOURCE/$file" "$changed" | grep -c '^<')" != 1 ]; then
        echo "broken: $name: changes $(diff "$XLM_SOURCE/$file" "$changed" | grep -c '^<') lines of $file, not 1"
        return 65
    fi
    if ! build "$file" "$changed" "$directory" >"$directory/log" 2>&1; then
        echo "broken: $name: $(grep -m 1 error "$directory/log")"
        return 65
    fi
    for test in $tests; do
        if ! run "$test" "$directory" "$directory/log"; then
            found=$test
            break
        fi
    done
    if [ -z "$found" ] && [ "$seconds" -gt 0 ]; then
        plant "$directory/tree" "$file" "$changed" || return 73
        for test in $tests; do
            case $test in tests/fuzz/*) if fuzz "$test" "$directory/tree" "$file"; then found="make fuzz: $test" && break; fi ;; esac
            rm -rf "$directory/tree/build"
        done
    fi
    printf '%-28s %s\n' "$name" "${found:-MISSED}"
    rm -rf "$directory"
    [ -n "$found" ]
}

# ---- which, and do the tests pass without them? ----

wanted() {
    local pattern
    [ -n "${MUTANTS-}" ] || return 0
    for pattern in $MUTANTS; do
        # shellcheck disable=SC2254 # a pattern
        case $1 in $pattern) return 0 ;; esac
    done
    return 1
}

names=() all_tests=''
while IFS=$'\t' read -r name file expression tests; do
    case $name in '' | '#'*) continue ;; esac
    wanted "$name" || continue
    names+=("$name")
    all_tests+=" $tests"
done <"$list"
if [ ${#names[@]} -eq 0 ]; then
    echo "no mutant of tests/mutants.list is one of: ${MUTANTS-}" >&2
    exit 64
fi
mkdir "$scratch/plain" "$scratch/results"
if ! link libxlm "$scratch/plain" || ! link libxlm_double "$scratch/plain"; then
    echo "the library cannot be linked; make it first" >&2
    exit 65
fi
for test in $(printf '%s\n' $all_tests | sort -u); do
    while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n; done
    { run "$test" "$scratch/plain" "$scratch/${test//\//_}" || echo "$test" >>"$scratch/bad"; } &
done
wait
if [ -e "$scratch/bad" ]; then
    while read -r test; do
        echo "$test fails without any mutant:"
        tail -5 "$scratch/${test//\//_}"
    done <"$scratch/bad"
    exit 65
fi

# ---- each ----

while IFS=$'\t' read -r name file expression tests; do
    case $name in '' | '#'*) continue ;; esac
    wanted "$name" || continue
    while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n; done
    # mpiexec of a test would read the rest of the list.
    { try "$name" "$file" "$expression" "$tests" >"$scratch/results/$name" 2>&1 </dev/null; echo $? >"$scratch/results/$name.code"; } &
done <"$list"
wait
found=0 broken=0
for name in "${names[@]}"; do
    cat "$scratch/results/$name"
    case $(cat "$scratch/results/$name.code") in
    0) found=$((found + 1)) ;;
    1) ;;
    *) broken=$((broken + 1)) ;;
    esac
done
echo "${#names[@]} mutants: $found found, $((${#names[@]} - found - broken)) missed, $broken broken"
[ $broken -eq 0 ] || exit 65
[ $((10 * found)) -ge $((9 * ${#names[@]})) ]
