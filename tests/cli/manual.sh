#!/usr/bin/env bash
# xlm-mpi: the manual of `make html`: its pages are valid HTML whose links lead somewhere, indexes have every key, option, exit code
# and message, figures are there, and the search finds. SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
command -v pandoc >/dev/null || { echo "left out: there is no pandoc" >&2; exit 77; }
long
manual=$XLM_SOURCE/docs/manual
# The launcher may be a command of several words.
! is_open_mpi || export XLM_MPIEXEC="${XLM_MPIEXEC:-mpiexec} --mca pml ob1"
# With a tenth of the tutorial's steps: tests/cli/tutorial.sh runs it whole.
MANUAL_SHORTER="s/^steps = 400$/steps = 40/; s/^warmup = 60$/warmup = 6/; s/^checkpoint_every = 200$/checkpoint_every = 20/
    s/train.steps=600/train.steps=60/" logged make.log "$manual/make" "$scratch/html"
[ -s html/index.html ] || finish
cd html || exit 99

# ---- pages ----
for document in "$XLM_SOURCE"/docs/*.md; do
    name=$(basename "$document" .md)
    [ "$name" != README ] || name=documents
    [ -s "$name.html" ] || fail "no page of $document"
    grep -q "href=\"$name.html\" aria-current" "$name.html" || fail "$name.html is not in its own column"
    # It is whole: its last heading is there.
    heading=$(awk '/^```/ { code = !code } !code && /^## / { sub(/^#+ /, ""); last = $0 } END { print last }' "$document" | tr -d '`')
    tr '\n' ' ' <"$name.html" | sed 's/<[^>]*>//g' >text
    grep -qF -e "$heading" text || fail "$name.html has no heading: $heading"
done
for page in "$XLM_SOURCE"/src/tools/xlm_*.c; do
    name=$(basename "$page" .c)
    [ "$name" = xlm_pair_html ] || grep -q '<h2 id="examples">' "man-$name.html" || fail "man-$name.html has no examples"
done
[ "$(grep -c '<nav id="manual-toc"' jobs.html)" -eq 1 ] && grep -q '<a href="#recipes"' jobs.html ||
    fail "jobs.html has no table of contents"
! grep -rnE '(href|src)="(https?:)?//[^"]*\.(js|css)' . || fail "pages load files from a network"
if command -v gnuplot >/dev/null; then
    for page in report tutorial; do grep -q '<svg class="plot"' $page.html || fail "$page.html has no curves"; done
    grep -q '<table class="heat"' word-alignment.html && grep -q '<img class="map"' analysis.html || fail "no heat map, or no map"
    grep -q '^\.s0{' manual.css || fail "lines of figures have no style"
fi

# ---- valid HTML. Tidy knows HTML of before aria-current and of titles inside of SVG ----
if command -v tidy >/dev/null; then
    # invalid FILE...: complaints, FILE:LINE:COLUMN: each.
    invalid() {
        for page; do tidy -e -q --gnu-emacs yes "$page"; done 2>&1 | grep -E '^[^ ]*:[0-9]+:[0-9]+: ' |
            grep -vE '"aria-current"|<title> proprietary attribute "id"|trimming empty <code>'
    }
    left=$(invalid *.html)
    [ -z "$left" ] || fail "invalid: $(echo "$left" | head -n 5)"
    sed 's#</table>##' keys.html >"$scratch/page.html"
    [ -n "$(invalid "$scratch/page.html")" ] || fail "a table without end is not found"
fi

# ---- links ----
"$manual/check" . || fail "links are broken"
cp -r . ../broken
sed -i '0,/href="#recipes"/s//href="#no-recipes"/; 0,/href="files.html/s//href="no-files.html/' ../broken/jobs.html
[ "$("$manual/check" ../broken | wc -l)" -eq 2 ] || fail "of two broken links were found: $("$manual/check" ../broken)"

mkdir ../no-awk
printf '%s\n' '#!/bin/sh' 'exit 2' >../no-awk/awk
chmod +x ../no-awk/awk
expect 70 '' env PATH="$scratch/no-awk:$PATH" "$manual/check" .

# ---- indexes ----
programs=$(cd "$XLM_SOURCE/src/tools" && printf '%s\n' xlm_*.c | sed 's/\.c$//' | grep -v '^xlm_pair_html$')
# What the programs print, a line each: `key ID TYPE DEFAULT RANGE MEANING` and `listed KEY ID`; `option PROGRAM NAME`;
# `code PROGRAM NUMBER MEANING`.
for program in xlm_train xlm_tune; do
    "$program" --help-job | awk '
        function key() { if (row != "") print "key " row; row = "" }
        !/^   / || /^ *$/ { key() }
        /^\[/ { heading = section = $0 }
        /^  with .*:$/ { section = heading " " substr($0, 3) }
        /^  [a-z_0-9]+  / {
            n = split(substr($0, 3), column, /  +/)
            id = tolower(section " " column[1]); gsub(/[^a-z0-9_]+/, "-", id); sub(/^-/, "key-", id)
            row = id " " column[2] " " column[3] (n >= 5 ? " " column[4] : "") " " column[n]; print "listed " column[1] " " id
        }
        /^   / && row != "" { sub(/^ +/, ""); row = row " " $0 }
        END { key() }'
done >printed
for program in $programs; do
    "$program" --help | awk -v program="$program" '
        function code(    i) { for (i = 1; i <= n; i++) print "code " program " " number[i] " " meaning; n = 0 }
        /^Exit codes:$/ { codes = 1; next }
        /^[^ ]/ || /^$/ { code(); codes = 0 }
        !codes && /^  (-[a-zA-Z], )?--[a-z0-9-]/ {
            name = substr($0, 3); sub(/^(-[a-zA-Z], )?--/, "", name); sub(/[=[ ].*/, "", name); print "option " program " " name
        }
        codes && /^  [0-9]/ {
            code(); meaning = substr($0, 3); sub(/^[0-9, ]+/, "", meaning)
            numbers = substr($0, 3); sub(/[^0-9, ].*/, "", numbers); sub(/ +$/, "", numbers); n = split(numbers, number, ", ")
        }
        codes && /^      / { sub(/^ +/, ""); meaning = meaning (meaning == "" ? "" : " ") $0 }
        END { code() }'
done >>printed
sort -u printed >wanted
for kind in key=100 listed=100 option=200 code=60; do
    [ "$(grep -c "^${kind%=*} " wanted)" -ge "${kind#*=}" ] || fail "few were found: $(cut -d' ' -f1 wanted | uniq -c)"
done
# indexed FOLDER [PAGE]: what its indexes say, or one of them, in the same form.
indexed() {
    local page
    for page in ${2-keys options codes}; do
        tr '\n' ' ' <"$1/$page.html" | sed 's/<tr/\n<tr/g; s/<li/\n<li/g' | awk -v page=$page -v programs="$(echo $programs)" '
            function text(s) {
                gsub(/<[^>]*>/, "", s); gsub(/&lt;/, "<", s); gsub(/&gt;/, ">", s); gsub(/&quot;/, "\"", s)
                gsub(/&amp;/, "\\&", s); gsub(/  +/, " ", s); sub(/^ /, "", s); sub(/ $/, "", s); return s
            }
            # The value of the first attribute of that beginning in s; what follows it goes into `rest`.
            function value(s, beginning,    at) {
                at = index(s, beginning); rest = at ? substr(s, at + length(beginning)) : ""
                return at ? substr(rest, 1, index(rest, "\"") - 1) : ""
            }
            page == "keys" && /^<li><code>/ {
                name = text(substr($0, 1, index($0, "</code>") - 1))
                for (rest = $0; (link = value(rest, "href=\"#key-")) != "";) print "listed " name " key-" link
            }
            !/^<tr/ || !/<td>/ { next }
            { n = split($0, cell, "</td>") }
            page == "keys" {
                id = value(cell[1], "id=\""); name = text(cell[1])
                row = text(cell[2] " " cell[3] " " cell[4] " " cell[5])
                print "key " (substr(id, length(id) - length(name)) == "-" name ? "" : "other ") id " " row
            }
            page == "options" {
                id = value(cell[1], "id=\""); name = text(cell[1])
                sub(/^(-[a-zA-Z], )?--/, "", name); sub(/[=[ ].*/, "", name)
                for (rest = cell[2]; (link = value(rest, "href=\"man-")) != "";) {
                    sub(/[.]html#option-/, " ", link)
                    print "option " (id == name ? "" : "other ") link
                    if (substr(link, index(link, " ") + 1) != name) print "option in the row of " name ": " link
                }
            }
            page == "codes" {
                numbers = split(text(cell[1]), number, ", ")
                users = split(text(cell[3]) == "all" ? programs : text(cell[3]), user, /,? /)
                for (i = 1; i <= numbers; i++) for (u = 1; u <= users; u++) print "code " user[u] " " number[i] " " text(cell[2])
            }'
    done | sort -u
}
indexed . >found
cmp -s wanted found || fail "indexes: <: printed by programs, >: in the manual: $(diff wanted found | grep '^[<>]' | head -n 5)"
# finds_fault PAGE SED: the fault that SED makes in an index. No two indexes say the same, so the others are as they were found.
mkdir ../faulty
for page in keys options codes; do indexed . $page >../faulty/$page; done
sort -u ../faulty/* | cmp -s found - || fail "indexes say something else one by one"
finds_fault() {
    sed "$2" "$1.html" >"../faulty/$1.html"
    ! cmp -s "$1.html" "../faulty/$1.html" || fail "$1.html: no fault is made by $2"
    ! indexed ../faulty "$1" | cmp -s "../faulty/$1" - || fail "$1.html: not found: $2"
}
finds_fault keys 's/id="key-tune-batch"/id="key-tune-batches"/'
finds_fault keys '/id="key-train-steps"/{ n; s/integer/number/; }'
finds_fault keys 's/number of transformer layers/number of layers/'
finds_fault keys 's/href="#key-tune-batch"/href="#key-train-batch"/'
finds_fault options 's/href="man-xlm_tune.html#option-resume"/href="man-xlm_tune.html"/'
finds_fault options 's/href="man-xlm_cooc.html#option-add"/href="man-xlm_cooc.html#option-output"/'
finds_fault codes 's#<td>78</td>#<td>77</td>#'
finds_fault codes 's#<td>129, 130, 138, 141, 143, 152</td>#<td>129, 130, 138, 141, 143</td>#'
finds_fault codes 's#<td>xlm_train, xlm_tune</td>#<td>xlm_train</td>#'
finds_fault codes 's#an input is missing#an output is missing#'
grep -oE '^<td>[0-9]+' codes.html | tr -d '<td>' >../codes
[ "$(wc -l <../codes)" -ge 14 ] && sort -nc ../codes || fail "codes.html is not in the order of codes: $(tr '\n' ' ' <../codes)"
# Every code that the sources have is in the index, and in the table of docs/troubleshooting.md.
{
    echo '#include <sysexits.h>'
    grep -rhoE '\bEX_[A-Z]+\b' "$XLM_SOURCE/src" --include='*.[ch]' | sort -u | sed 's/EX_\(.*\)/code \1 EX_\1/'
} >../sources.c
$XLM_CC -E -P ../sources.c | sed -n 's/^code //p' >../used
[ "$(wc -l <../used)" -ge 12 ] || fail "few exit codes are in src: $(cat ../used)"
while read -r name number; do
    grep -qx "$number" ../codes || fail "codes.html lacks $number, EX_$name"
    [ "$number" = 0 ] || grep -q "^| $number | " "$XLM_SOURCE/docs/troubleshooting.md" || fail "docs/troubleshooting.md lacks $number"
done <../used
rows=$(awk '/^\| (message|what is seen) / { inside = 1; next } !/^\|/ { inside = 0 } inside && !/^\|---/ { n++ } END { print n }' \
    "$XLM_SOURCE/docs/troubleshooting.md")
[ "$rows" -ge 50 ] && [ "$(grep -c '<td><a href="troubleshooting.html#' messages.html)" -eq "$rows" ] ||
    fail "messages.html has not the $rows messages of docs/troubleshooting.md"
grep -q 'unknown key "stepz"' messages.html || fail "messages.html lacks a message"

# ---- all errors and warnings: what programs print is there, under its exit code ----
# patterns PART: the messages of this part of the page, as regular expressions.
patterns() {
    sed -n "/<h2 id=\"$1\"/,/<\/ul>/{ s/^<li>\(.*\)<\/li>\$/\1/p; }" errors.html |
        sed 's/&quot;/"/g; s/&lt;/</g; s/&gt;/>/g; s/&amp;/\&/g; s/[][\.*^$+?(){}|]/\\&/g; s/…/.*/g; s/\bN\b/-?[0-9.e+-]+/g'
}
# known CODE PROGRAM ARGUMENT...: ends with this code, and its message is one of these.
known() {
    local code=0
    "${@:2}" >../message 2>&1 || code=$?
    [ "$code" -eq "$1" ] || fail "${*:2} ended with $code, not $1: $(cat ../message)"
    { patterns "exit-code-$1"; patterns several-exit-codes; } >../patterns
    sed -n "s/^$2: //p" ../message | grep -qxEf ../patterns || fail "errors.html has no such error with code $1: $(cat ../message)"
}
[ "$(grep -c '^<li>' errors.html)" -ge 1200 ] || fail "errors.html has only $(grep -c '^<li>' errors.html) messages"
printf '[train]\nsteps = many\n' >../job.conf
echo no HDF5 >../model.h5
known 64 xlm_embed ../model.h5
known 64 xlm_train ../job.conf --set train.stepz=4
known 65 xlm_fill ../model.h5 ../job.conf
known 66 xlm_cooc nosuch.h5 -o ../c.h5
known 78 xlm_train ../job.conf
! { echo 'no such error at all' | grep -qxEf ../patterns; } || fail "errors.html: everything is an error"
patterns warnings | grep -q 'trying the checkpoint before it' || fail "errors.html lacks a warning"

# ---- the search, by the pages' own functions ----
if command -v duk >/dev/null; then
    # search QUERY: the best sections, `page#anchor` a line.
    search() {
        {
            cat manual.js
            echo 'var all; function manualIndex(index) { all = index; }'
            cat search-index.js
            printf 'manualSearch(all, "%s").slice(0, 5).forEach(function (s) { print(s[0] + "#" + s[1]); });\n' "$1"
        } >../search.js
        duk ../search.js
    }
    # finds QUERY PLACE
    finds() { search "$1" >../found; grep -qxF -e "$2" ../found || fail "the search for $1 finds: $(tr '\n' ' ' <../found)"; }
    finds 'warm start' 'jobs.html#warm-start'
    finds 'Slurm' 'clusters.html#slurm'
    finds 'bottleneck mad-x' 'adapters.html#bottleneck-adapters-and-mad-x'
    finds 'exit codes' 'codes.html#'
    finds "out of memory" troubleshooting.html#stopping
    [ -z "$(search 'nosuchwordatall')" ] || fail "the search finds what is nowhere"
    [ "$(grep -c '^\["\|^manualIndex' search-index.js)" -ge 300 ] || fail "the index of the search has few sections"
fi
finish
