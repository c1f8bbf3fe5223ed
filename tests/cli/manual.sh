#!/usr/bin/env bash
# xlm-mpi: the manual of `make html`: its pages are valid HTML whose links lead somewhere, indexes have every key, option, exit code
# and message, figures are there, and the search finds. SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
command -v pandoc >/dev/null || { echo "left out: there is no pandoc" >&2; exit 77; }
long
manual=$XLM_SOURCE/docs/manual
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

# ---- indexes ----
tr '\n' ' ' <keys.html | sed 's/<tr/\n<tr/g' >rows
for program in xlm_train xlm_tune; do
    "$program" --help-job | grep -oE '^  [a-z_0-9]+  +(integer|number|flag|choice|text|list|piecewise[a-z ]*)' | awk '{ print $1 }'
done | sort -u >keys
[ "$(wc -l <keys)" -ge 100 ] || fail "keys were not found"
awk 'FILENAME == "keys" { key[$1]; next }
    FILENAME == "rows" && match($0, /<a id="key-[a-z0-9-]*-[a-z_0-9]+"><\/a><code>[a-z_0-9]+<\/code>/) {
        text = substr($0, RSTART, RLENGTH - 7); split(text, part, "<code>"); name = part[2]
        if (index(text, "-" name "\"></a>")) row[name]
    }
    FILENAME == "keys.html" && match($0, /<li><code>[a-z_0-9]+<\/code>: <a href="#key-/) {
        text = substr($0, RSTART + 10, RLENGTH); sub(/<.*/, "", text); listed[text]
    }
    END { for (k in key) {
        if (!(k in row)) print "keys.html lacks " k
        if (!(k in listed)) print "keys.html does not list " k } }' \
    keys rows keys.html >lacks
[ ! -s lacks ] || fail "$(head -n 5 lacks)"
grep -q 'id="key-train-steps".*<td>integer</td>.*number of' rows || fail "keys.html: $(grep 'key-train-steps' rows)"
for program in "$XLM_SOURCE"/src/tools/xlm_*.c; do
    program=$(basename "$program" .c)
    [ "$program" != xlm_pair_html ] || continue
    "$program" --help >help
    grep -oE '^  (-[a-zA-Z], )?--[a-z0-9-]+' help | sed "s/.*--/option $program /"
    sed -n '/^Exit codes:/,$p' help | grep -oE '^  [0-9]+' | sed "s/^ */code $program /"
done | sort -u >wanted
[ "$(grep -c ^option wanted)" -ge 200 ] && [ "$(grep -c ^code wanted)" -ge 60 ] ||
    fail "options or codes were not found: $(cut -d' ' -f1 wanted | uniq -c)"
awk 'FILENAME == "wanted" { wanted[$0]; next }
    FILENAME == "options.html" { options = options $0 "\n" }
    FILENAME == "codes.html" { codes = codes $0 "\n" }
    END { for (w in wanted) { split(w, part)
        link = "href=\"man-" part[2] ".html#option-" part[3] "\""
        if (part[1] == "option" && !index(options, link)) print "options.html lacks " w
        if (part[1] == "code" && codes !~ ("<td>" part[3] "[,<]")) print "codes.html lacks " w } }' \
    wanted options.html codes.html >lacks
[ ! -s lacks ] || fail "$(head -n 5 lacks)"
rows=$(awk '/^\| (message|what is seen) / { inside = 1; next } !/^\|/ { inside = 0 } inside && !/^\|---/ { n++ } END { print n }' \
    "$XLM_SOURCE/docs/troubleshooting.md")
[ "$rows" -ge 50 ] && [ "$(grep -c '<td><a href="troubleshooting.html#' messages.html)" -eq "$rows" ] ||
    fail "messages.html has not the $rows messages of docs/troubleshooting.md"
grep -q 'unknown key "stepz"' messages.html || fail "messages.html lacks a message"

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
    [ -z "$(search 'nosuchwordatall')" ] || fail "the search finds what is nowhere"
    [ "$(grep -c '^\["\|^manualIndex' search-index.js)" -ge 300 ] || fail "the index of the search has few sections"
fi
finish
