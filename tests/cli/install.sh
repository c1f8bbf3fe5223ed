#!/bin/bash
# xlm-mpi: what `make install` leaves is whole, usable by others, and goes away again. SPDX-License-Identifier: GPL-3.0-or-later
set -eu
root=$(mktemp -d)
work=$(mktemp -d) # beside what is installed, whose prefix may have any name
trap 'rm -rf "$root" "$work"' EXIT
unset MAKEFLAGS MFLAGS MAKELEVEL PKG_CONFIG_SYSROOT_DIR

fail() {
    echo "FAIL: $*"
    exit 1
}
make_in_build() { make -s --no-print-directory -C "$XLM_BUILD" DESTDIR="$root" "$@"; }

# It runs when all other scripts have ended (local.mk), so two jobs at a time here.
make_in_build -j2 install >/dev/null || fail "make install"
(cd "$root" && find . ! -type d | sort)

echo "== pkg-config gives the place of headers, library and objectives"
PKG_CONFIG_PATH=$(dirname "$(find "$root" -name xlm-mpi.pc)")
export PKG_CONFIG_PATH
libdir=$(pkg-config --variable=libdir xlm-mpi)
includedir=$(pkg-config --variable=includedir xlm-mpi)
of_package() { pkg-config --define-variable=libdir="$root$libdir" --define-variable=includedir="$root$includedir" "$@" xlm-mpi; }
plugins=$(of_package --variable=plugindir)
[ -f "$plugins/mlm.so" ] || fail "no mlm.so in plugindir=$plugins"

echo "== installed programs find the installed library and objectives, and need nothing of the build tree"
bindir=$(pkg-config --variable=bindir xlm-mpi)
case $libdir in
/lib | /usr/lib | /lib64 | /usr/lib64 | "/usr/lib/$($XLM_CC -print-multiarch)") ;; # the loader looks there by itself
*)
    # Also in folders of the loader's cache, such as /usr/local/lib, which are found only after ldconfig.
    for program in "$root$bindir"/*; do
        readelf -d "$program" | grep -E 'R(UN)?PATH' | grep -qF "$libdir" || fail "$program has no run path to $libdir"
    done
    ;;
esac
for module in "$plugins"/*.so "$root$libdir"/libxlm*.so "$root$bindir"/*; do
    if readelf -d "$module" | grep -E 'R(UN)?PATH' | grep -F -e "$XLM_BUILD" -e "$root"; then
        fail "$module looks for libraries in the build tree"
    fi
done

echo "== what is written at installation has no place left to fill in"
datadir=${bindir%/bin}/share
grep -rlE '@[A-Za-z_]+@' "$root$datadir" && fail "names between @ are left in these files"
grep -qF "$bindir/xlm_train" "$root$datadir"/xlm-mpi/slurm/xlm_train.sbatch || fail "xlm_train.sbatch does not know $bindir"

echo "== each program has a man page, whose examples keep their lines, and completion"
for program in "$root$bindir"/*; do
    program=$(basename "$program")
    page=$(find "$root" -name "$program.1")
    [ -s "$page" ] || fail "no man page of $program"
    for section in NAME SYNOPSIS DESCRIPTION OPTIONS EXAMPLES FILES ENVIRONMENT 'EXIT STATUS' 'SEE ALSO'; do
        grep -q -e "^\.SH \"*$section" "$page" || fail "$page has no section $section"
    done
    # Lines after two blanks that are not items: what --help shows for typing as it is.
    "$program" --help | sed -n '/^Examples:$/,/^$/s/^  //p' >"$work/examples"
    sed -n '/^\.nf$/,/^\.fi$/p' "$page" | sed -e 's/\\-/-/g' -e 's/\\e/\\/g' -e 's/^\\&//' >"$work/lines"
    [ -s "$work/examples" ] || fail "$program --help has no examples"
    while IFS= read -r line; do
        grep -qxF -e "$line" "$work/lines" || fail "$page does not keep the line: $line"
    done <"$work/examples"
    rm "$work/examples" "$work/lines"
    grep -q "^complete .* $program\( \|\$\)" "$root$datadir/bash-completion/completions/$program" ||
        fail "no completion of $program"
done
grep -qxF -e '[task tagging]' "$(find "$root" -name xlm_tune.1)" ||
    fail "the job file in xlm_tune.1 does not keep its lines"

# What runs from here on loads the library that was installed, not that of the build tree.
unset LD_LIBRARY_PATH

echo "== documents, the demonstration and the environment module"
for file in doc/xlm-mpi/README.md doc/xlm-mpi/HACKING.md doc/xlm-mpi/docs/tutorial.md doc/xlm-mpi/docs/clusters.md \
    doc/xlm-mpi/NEWS xlm-mpi/jobs/demo/demo xlm-mpi/jobs/demo/demo.conf xlm-mpi/jobs/corpora/libreoffice-help; do
    [ -s "$root$datadir/$file" ] || fail "$file is not installed"
done
# links FOLDER: from its pages to files, `PAGE FILE` a line.
links() { (cd "$1" && grep -roE '\]\([^)#: ]+' --include='*.md' . | sed -E 's/:\]\(/ /' | sort -u); }
[ "$(links "$root$datadir/doc/xlm-mpi" | wc -l)" -ge 100 ] || fail "the installed documents have hardly any links"
links "$root$datadir/doc/xlm-mpi" | while read -r page target; do
    [ -e "$root$datadir/doc/xlm-mpi/$(dirname "$page")/$target" ] || echo "$page: $target"
done >"$work/broken"
[ ! -s "$work/broken" ] || fail "links of installed documents lead nowhere: $(cat "$work/broken")"
grep -oE '`(src|tests)/[^`]*`' "$root$datadir/doc/xlm-mpi/docs/plugins.md" | tr -d '`' | sort -u >"$work/examples"
[ "$(wc -l <"$work/examples")" -ge 5 ] || fail "docs/plugins.md points to hardly any examples: $(cat "$work/examples")"
while read -r file; do
    [ -s "$root$datadir/doc/xlm-mpi/$file" ] || fail "docs/plugins.md points to $file, which is not installed"
done <"$work/examples"
module=$(find "$root$datadir/modulefiles/xlm-mpi" -type f)
[ "$(basename "$module")" = "$(pkg-config --modversion xlm-mpi)" ] || fail "the module has not the version for its name: $module"
for line in "prepend-path PATH $bindir" "prepend-path PKG_CONFIG_PATH $libdir/pkgconfig"; do
    grep -qxF "$line" "$module" || fail "$module does not say: $line"
done
# The demonstration as it is installed, up to where it looks for text; without the names of the build tree, in which it would work.
mkdir "$work/here" "$work/here/none"
(cd "$work/here" && CORPUS=none env -u XLM_BUILD -u XLM_SOURCE "$root$datadir/xlm-mpi/jobs/demo/demo" 2>&1) |
    grep -q 'expected two line-aligned files' || fail "the installed demonstration does not start"
[ -d "$work/here/xlm-demo" ] || fail "the installed demonstration does not work in the current directory: $(ls "$work/here")"
rm -r "$work/here"

echo "== public headers stand alone, in strict C11 and in C++"
# Beside what follows; each that does not is a line of this file.
stand_alone() {
    local header name flags
    read -ra flags <<<"$(of_package --cflags)"
    for header in "$root$includedir"/xlm/*.h; do
        name=xlm/$(basename "$header")
        echo "#include <$name>" | $XLM_CC -std=c11 -pedantic-errors -Wall -Wextra -Werror "${flags[@]}" -x c -fsyntax-only - ||
            echo "<$name> does not compile alone"
        ! command -v c++ >/dev/null || echo "#include <$name>" | c++ -Wall -Wextra -Werror "${flags[@]}" -x c++ -fsyntax-only - ||
            echo "<$name> does not compile in C++"
    done
}
stand_alone >"$work/headers" &
headers=$!

echo "== the libraries show only names that begin with xlm_"
for library in libxlm.so libxlm_double.so; do
    others=$(nm -D --defined-only "$root$libdir/$library" | awk '{ print $3 }' | grep -v -e '^xlm_' -e '^__odr_asan' || true)
    [ -z "$others" ] || fail "$library also exports: $others"
done

echo "== a plugin's gradients are checked in double precision, with what is installed"
block() { awk -v name="<!-- $1 -->" '$0 == name { on = 1; next } on && /^```/ { if (inside++) exit; next } inside' \
    "$root$datadir/doc/xlm-mpi/docs/plugins.md"; }
mkdir "$work/check"
(
    # A compiler may be given with its first arguments, as "ccache gcc".
    # shellcheck disable=SC2086
    cc() { $XLM_CC -Wall -Wextra -Werror ${XLM_SANITIZE_FLAGS:-} "$@"; }
    pkg-config() { command pkg-config --define-variable=libdir="$root$libdir" --define-variable=includedir="$root$includedir" "$@"; }
    # try PATTERN FACTOR [SED [SED]]: the documented objective on squares of its cosines, whose gradient has this factor, says
    # PATTERN; the program and the objective changed so.
    try() {
        block sentence-pairs.c | sed -e '/^struct pairs/,$d' >sentence-pairs.c
        block square.c | sed "s/2 \* x\[c\]/$2 * x[c]/" >>sentence-pairs.c
        block sentence-pairs.c | sed -n '/^struct pairs/,$p' | sed -e 's/xlm_scale(tape, cosines/xlm_scale(tape, square(tape, cosines)/' \
            >>sentence-pairs.c
        grep -q 'square(tape, cosines)' sentence-pairs.c && grep -q "$2 \* x\[c\]" sentence-pairs.c || fail "the example has changed"
        [ -z "${4-}" ] || { cp sentence-pairs.c plain.c && sed -i "$4" sentence-pairs.c && ! cmp -s plain.c sentence-pairs.c; } ||
            fail "the example cannot be changed by $4"
        block check.c | sed "${3-}" >check.c
        eval "$(block compile-check)" || fail "the example does not compile"
        code=0
        ./check >table 2>said || code=$?
        cat table said | tail -n 4
        grep -q "$1" said || { [ -z "$1" ] && [ ! -s said ]; } || fail "factor $2: $(cat said)"
    }
    cd "$work/check"
    # What is installed must be found without the build tree, where the tests' programs find the library.
    LD_LIBRARY_PATH=$(printf %s "${LD_LIBRARY_PATH-}" | tr : '\n' | grep -v "^$XLM_BUILD/" | paste -sd:) || :
    try '' 2
    [ "$code" -eq 0 ] && grep -q '^embeddings/word/weight  *24 x 8 ' table && ! grep -q WRONG table || fail "$(cat table)"
    try 'sentence-pairs: embeddings/word/weight.*differences of the loss give' 2.00002 # single precision hides this
    [ "$code" -eq 1 ] && grep -q 'WRONG$' table || fail "a wrong gradient passes: $(cat table)"
    try 'sentence-pairs: temperature = 0: must be' 2 's/temperature=0.2/temperature=0/'
    [ "$code" -eq 1 ] || fail "an option out of range passes"
    try 'sentence-pairs: "heat=1" is not an option' 2 's/temperature=0.2/heat=1/'
    # It knows what the batch is annotated with; an option without default must be given.
    asks='xlm_loss_stream_annotates(self->stream, "links") \&\& self->stream->alignments \&\& self->stream->dictionary != NULL'
    try '' 2 '' "/^static void declare/,/^}/s/^{/&\n    if (!($asks))\n        __builtin_trap();/"
    [ "$code" -eq 0 ] || fail "the batch's annotations are not announced"
    try 'sentence-pairs: the option temperature has no default' 2 's/"temperature=0.2", //' '/"temperature"/s/"0[.0-9]*"/NULL/'
    [ "$code" -eq 1 ] || fail "an option without default need not be given"
    try 'sentence-pairs: option "temperature": its value is not within' 2 '' 's/\.state_size = [^,]*/.state_size = 4/'
    [ "$code" -eq 1 ] || fail "an option outside of the state passes"
    pkg-config() { command pkg-config --define-variable=libdir="$root$libdir" --define-variable=includedir="$root$includedir" "$@" |
        sed 's/-DXLM_DOUBLE//'; }
    try 'plugin ABI .*-DXLM_DOUBLE' 2
    [ "$code" -eq 1 ] || fail "a class in single precision passes"
)
rm -r "$work/check"

echo "== scripts of jobs/ work where they are installed, and by a link to them"
jobsdir=$root$(pkg-config --variable=jobsdir xlm-mpi)
grep -qxF "setenv XLM_JOBS ${jobsdir#"$root"}" "$module" || fail "$module does not say where the scripts of jobs/ are"
mkdir "$work/away"
for script in measure grid demo/demo; do
    name=$(basename "$script")
    ln -s "$jobsdir/$script" "$work/away/$name"
    for path in "$jobsdir/$script" "$work/away/$name"; do
        (cd "$work/away" && "$path" --help) | grep -q "^ *$name\( \|\$\)" || fail "$path --help"
    done
done
# Without the programs in PATH they find those that were installed with them.
echo nonsense >"$work/away/model.h5"
(cd "$work/away" && PATH=/usr/bin:/bin LD_LIBRARY_PATH=$root$libdir ./measure model.h5 --corpus model.h5) >"$work/said" 2>&1 &&
    fail "the installed measure took nonsense for a model"
grep -q '^xlm_[a-z]*: .*model.h5' "$work/said" || fail "the installed measure called no program: $(cat "$work/said")"
rm -r "$work/away" "$work/said"

wait "$headers" && [ ! -s "$work/headers" ] || fail "public headers: $(cat "$work/headers")"

echo "== uninstall leaves no file and no folder, but those of others"
mkdir "$root$datadir/xlm-mpi/jobs/others"
touch "$root$datadir/xlm-mpi/jobs/others/file" "$root$bindir/theirs"
for folder in manual xlm-mpi-manual; do # the second is what make install-html fills in such a place
    mkdir -p "$root/var/www/html/$folder"
    touch "$root/var/www/html/$folder/index.html"
done
make_in_build htmldir=/var/www/html uninstall >/dev/null || fail "make uninstall"
left=$(cd "$root" && find . ! -type d | sort | tr '\n' ' ')
[ "$left" = "$(printf '%s\n' ".$bindir/theirs" ".$datadir/xlm-mpi/jobs/others/file" ./var/www/html/manual/index.html |
    sort | tr '\n' ' ')" ] ||
    fail "make uninstall left or took files: $left"
left=$(find "$root" -type d -empty)
[ -z "$left" ] || fail "make uninstall left empty folders: $left"
