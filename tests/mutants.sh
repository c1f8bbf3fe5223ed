#!/usr/bin/env bash
# xlm-mpi: plant bugs, one at a time, and count those that the tests find. SPDX-License-Identifier: GPL-3.0-or-later
#
#   make mutants [MUTANTS='links_* corpus_token_bound'] [FUZZ_SECONDS=30]
#   mutants.sh --apply    only sees whether every expression applies; nothing is compiled (tests/cli/floors.sh)
#
# By `make mutants`, which sets what is built with. tests/mutants.list has the bugs, a line each: a name, a source file or a header
# of the library, a module or a program, an expression of sed that changes one line of it, and the tests that should fail then. The
# changed file alone is compiled, or what includes a header, the library, module or programs linked anew in a directory of their
# own, and the tests run with them: nothing in the build changes. With FUZZ_SECONDS the targets among the tests of a bug that no
# test finds are fuzzed for so long (as `make fuzz` does, which is run once before).
#
# 0: every change applies, and at least 9 of 10 bugs are found; 1: fewer; 65: an expression that changes no line, or several,
# makes what does not compile, a file that nothing is made of, or a test that fails without any bug.
set -u
list=$XLM_SOURCE/tests/mutants.list
jobs=${MUTANT_JOBS:-$(env -u OMP_NUM_THREADS nproc)}
seconds=${FUZZ_SECONDS:-0}
scratch=$(mktemp -d "${TMPDIR:-/tmp}/xlm-mutants-XXXXXX") || exit 73
trap 'rm -rf "$scratch"' EXIT
cd "$XLM_BUILD" || exit 73

# change NAME FILE EXPRESSION CHANGED: writes the changed file, in which one line must be another.
change() {
    local lines
    sed -E "$3" "$XLM_SOURCE/$2" >"$4" || { echo "broken: $1: sed cannot apply it to $2"; return 65; }
    lines=$(diff "$XLM_SOURCE/$2" "$4" | grep -c '^<')
    [ "$lines" -eq 1 ] || { echo "broken: $1: changes $lines lines of $2, not 1"; return 65; }
}

# link LIBRARY DIRECTORY: libxlm or libxlm_double, with the objects of DIRECTORY/objects in place of the build's.
link() {
    local objects=() name base all=$OBJECTS
    [ "$1" = libxlm ] || all=$DOUBLE_OBJECTS
    for name in $all; do
        base=${name##*/}
        if [ -e "$2/objects/${name%.lo}.o" ]; then objects+=("$2/objects/${name%.lo}.o")
        else objects+=("${name%/*}/.libs/${base%.lo}.o"); fi
    done
    $LINK -shared -Wl,-soname,"$1.so.0" -o "$2/$1.so.0" "${objects[@]}" $LIBS
}

# link_program NAME DIRECTORY: into DIRECTORY/bin, from the build's objects, but those of DIRECTORY/objects, and DIRECTORY's libxlm.
link_program() {
    local objects=() item
    for item in $PROGRAM_OBJECTS; do
        case $item in
        "$1="*)
            item=${item#*=}
            if [ -e "$2/objects/$item" ]; then item=$2/objects/$item; fi
            objects+=("$item") ;;
        esac
    done
    mkdir -p "$2/bin" && $LINK -o "$2/bin/$1" "${objects[@]}" "$2/libxlm.so.0" $LIBS
}

# compile SOURCE OBJECT DIRECTORY [FLAG...]: from DIRECTORY/tree into DIRECTORY/objects; what it includes is from the tree first.
compile() {
    local object=$3/objects/$2 tree=$3/tree
    mkdir -p "${object%/*}" || return 1
    # Definitions are quoted for the shell.
    eval "$XLM_CC -iquote '$tree/src' -I'$tree/include' -I'$tree/src' ${COMPILE#"$XLM_CC"} ${*:4} -w -fPIC -DPIC" \
        -c -o '"$object" "$tree/$1"'
}

# sources FILE: what is compiled again when it changes; of a header, all sources that the compiler has found to include it.
sources() {
    case $1 in
    *.h) grep -lE "(^| |/)${1//./[.]}( |:|\$)" src/*/.deps/*.P*o |
        sed -E 's,\.deps/(libxlm_double_la-)?(.*)\.P.?o$,\2.c,' | sort -u ;;
    *) echo "$1" ;;
    esac
}

# build FILE DIRECTORY: what is made of the file as it is in DIRECTORY/tree: the libraries (tests in double precision have their
# own), in DIRECTORY/losses a module, in DIRECTORY/bin programs. An error when nothing is made of it: no test could fail then.
build() {
    local source name double item used='' doubles='' module=''
    for source in $(sources "$1"); do
        name=${source%.c} double=${source%/*}/libxlm_double_la-$(basename "$source" .c)
        compile "$source" "$name.o" "$2" || return 1
        case " $OBJECTS " in *" $name.lo "*) used=yes ;; esac
        case " $MODULES " in *" $name.la "*) used=yes module+=" $name" ;; esac
        case " $DOUBLE_OBJECTS " in
        *" $double.lo "*)
            used=yes doubles=yes
            compile "$source" "$double.o" "$2" -DXLM_DOUBLE || return 1 ;;
        esac
    done
    link libxlm "$2" || return 1
    [ -z "$doubles" ] || link libxlm_double "$2" || return 1
    for name in $module; do
        # Its symbols are those of the program's libxlm.
        mkdir -p "$2/losses" && $LINK -shared -o "$2/losses/${name##*/}.so" "$2/objects/$name.o" || return 1
    done
    for item in $PROGRAM_OBJECTS; do
        [ -e "$2/objects/${item#*=}" ] || continue
        used=yes
        [ -e "$2/bin/${item%%=*}" ] || link_program "${item%%=*}" "$2" || return 1
    done
    [ -n "$used" ] || { echo "error: no library, module or program is made of $1"; return 1; }
}

# run TEST DIRECTORY LOG: with what is in the directory. Programs of the installed kind, which scripts start, find the library by
# preloading.
run() {
    local -x XLM_PLUGIN_PATH=$2/losses:$XLM_PLUGIN_PATH PATH=$2/bin:$PATH
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
    rm -rf "$made/inputs" "$made/failed" "$made/cases" "$made/lock" "$made"/*.log "$made"/probe* "$made/libxlm.so.0" \
        "$made/$target" "$made/${3%.c}".[do]
    XLM_SOURCE=$tree XLM_FUZZ_DIRECTORY=$made bash "$tree/tests/fuzz/run.sh" "$seconds" 1 "$target" >"$tree/fuzz.log" 2>&1
    [ -n "$(ls -A "$made/failed" 2>/dev/null)" ]
}

# plant TREE FILE CHANGED: a tree of links with one other file.
plant() { mkdir "$1" && cp -rs "$XLM_SOURCE/src" "$XLM_SOURCE/include" "$1/" && rm "$1/$2" && cp "$3" "$1/$2"; }

# plant_tests TREE: also the tests that are fuzzed.
plant_tests() {
    mkdir "$1/tests" && cp -rs "$XLM_SOURCE/tests/fuzz" "$XLM_SOURCE/tests/unit" "$XLM_SOURCE/tests/mpi" \
        "$XLM_SOURCE/tests/sanitizers.supp" "$1/tests/"
}

# try NAME FILE EXPRESSION TESTS: prints the line of the table.
try() {
    local name=$1 file=$2 expression=$3 tests=$4 directory=$scratch/$1 changed found='' test
    mkdir "$directory"
    changed=$directory/$(basename "$file")
    change "$name" "$file" "$expression" "$changed" || return
    if ! { plant "$directory/tree" "$file" "$changed" && build "$file" "$directory"; } >"$directory/log" 2>&1; then
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
        plant_tests "$directory/tree" || return 73
        for test in $tests; do
            case $test in tests/fuzz/*) if fuzz "$test" "$directory/tree" "$file"; then found="make fuzz: $test" && break; fi ;; esac
            rm -rf "$directory/tree/build"
        done
    fi
    printf '%-28s %s\n' "$name" "${found:-MISSED}"
    rm -rf "$directory"
    [ -n "$found" ]
}

# ---- with --apply: does every expression apply? ----

if [ "${1-}" = --apply ]; then
    broken=0 read=0
    while IFS=$'\t' read -r name file expression tests; do
        case $name in '' | '#'*) continue ;; esac
        read=$((read + 1))
        change "$name" "$file" "$expression" "$scratch/changed" || broken=65
    done <"$list"
    [ "$read" -gt 0 ] || { echo "no mutants were read"; exit 65; }
    exit "$broken"
fi

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
    {
        try "$name" "$file" "$expression" "$tests" >"$scratch/results/$name" 2>&1 </dev/null
        echo $? >"$scratch/results/$name.code"
        cat "$scratch/results/$name"
    } &
done <"$list"
wait
found=0 broken=0
for name in "${names[@]}"; do
    case $(cat "$scratch/results/$name.code") in
    0) found=$((found + 1)) ;;
    1) ;;
    *) broken=$((broken + 1)) ;;
    esac
done
echo "${#names[@]} mutants: $found found, $((${#names[@]} - found - broken)) missed, $broken broken"
[ $broken -eq 0 ] || exit 65
[ $((10 * found)) -ge $((9 * ${#names[@]})) ]
