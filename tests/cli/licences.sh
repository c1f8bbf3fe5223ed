#!/usr/bin/env bash
# xlm-mpi: docs/licences.md names all libraries that are linked, with the licences that Debian's packages have; CITATION.cff is of
# its form and of this version. SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
page=$XLM_SOURCE/docs/licences.md

# code_of PAGE [COLUMN]: the words between ` of its tables, or of one column of them, one a line.
code_of() {
    awk -F'|' -v column="${2-}" '/^\|/ { print column == "" ? $0 : $column }' "$1" | grep -oE '`[^`]+`' | tr -d '`'
}

# ---- libraries that the programs ask for by name ----
objects=("$XLM_BUILD"/.libs/libxlm*.so "$XLM_BUILD"/.libs/xlm_* "$XLM_BUILD"/src/losses/.libs/*.so)
needed() {
    readelf -d "$@" 2>/dev/null | sed -n 's/.*(NEEDED).*\[\(.*\)\]$/\1/p' | sort -u |
        grep -vE '^(libxlm|ld-linux|libasan|libubsan)'
}
# unnamed PAGE: those that the page does not name; the end of a name may tell the MPI or the threads (libhdf5_openmpi).
unnamed() {
    code_of "$1" 2 >named
    needed "${objects[@]}" | sed -E 's/\.so.*//; s/[-_](openmpi|mpich|openmp|pthread|mpi|train|serial)$//' | grep -vxFf named
}
[ "$(needed "${objects[@]}" | wc -l)" -ge 12 ] || fail "the libraries were not found: $(needed "${objects[@]}")"
left=$(unnamed "$page")
[ -z "$left" ] || fail "docs/licences.md does not name: $left"
sed '/SLEEF\|libsleef/d; s/`libc`, `libm`/`libc`/' "$page" >page.md
[ "$(unnamed page.md | wc -l)" -eq 2 ] || fail "libraries that are not named are not found: $(unnamed page.md)"

# ---- what Debian says ----
# other_licence PAGE: packages whose copyright file does not say what the page says.
packages=0
other_licence() {
    awk -F' *[|] *' '/^\| `lib/ && NF == 7 { print $4 "|" $5 }' "$1" | while IFS='|' read -r names text; do
        for name in $(echo "$names" | tr -d '`,'); do
            for file in /usr/share/doc/"$name"{,[0-9]*,-[0-9]*,-openmpi*,-mpich*}/copyright; do
                case $file in *-dev/* | *-doc/* | *\**) continue ;; esac
                [ -s "$file" ] || continue
                echo "$name" >>found
                tr -s ' \n' '  ' <"$file" >text # grep -q would end the pipe
                grep -qiF -e "$text" text || echo "$file: $text"
            done
        done
    done
}
if command -v dpkg-query >/dev/null; then
    : >found
    left=$(other_licence "$page")
    [ -z "$left" ] || fail "other licences than docs/licences.md says: $left"
    [ "$(sort -u found | wc -l)" -ge 14 ] || fail "copyright files were not found: $(sort -u found | tr '\n' ' ')"
    sed 's/License: BSL-1.0/License: BSL-9/' "$page" >page.md
    [ "$(other_licence page.md | wc -l)" -ge 1 ] || fail "another licence is not found"
    # All packages that are loaded, where the page says that it names them.
    # shellcheck disable=SC1091
    if (. /etc/os-release && [ "$ID$VERSION_ID" = debian12 ]) && is_open_mpi && [ "$XLM_SANITIZERS" = no ]; then
        # (as packages with and without /usr name them)
        env -u LD_LIBRARY_PATH ldd "$XLM_BUILD"/.libs/libxlm.so | awk '/=> \// { print $3 }' | xargs readlink -f |
            sed 'p; s#^/usr##' | sort -u | xargs dpkg-query -S 2>/dev/null | sed 's/:.*//' | sort -u >loaded
        [ "$(wc -l <loaded)" -ge 30 ] && grep -q '^libcurl' loaded || fail "packages were not found: $(cat loaded)"
        names=$(code_of "$page" | tr ',' '\n' | sort -u)
        while read -r package; do
            for name in $names; do
                case $package in "$name" | "$name"[0-9]* | "$name"-[0-9]* | "$name"-openmpi*) continue 2 ;; esac
            done
            fail "docs/licences.md does not name the package $package"
        done <loaded
    fi
fi

# ---- CITATION.cff: what its schema asks for (Citation File Format 1.2.0), and the version of this program ----
# uncited FILE: complaints.
uncited() {
    local key
    for key in cff-version message title authors; do grep -qE "^$key: *[^ ]|^$key:\$" "$1" || echo "no $key"; done
    grep -qx 'cff-version: 1\.2\.0' "$1" || echo "another form"
    grep -qxF "version: $(xlm_train --version | sed -n '1s/.* //p')" "$1" || echo "another version"
    awk '/\t/ || / $/ { print "white space: " $0 }
        /^[a-z]/ && !/^(cff-version|message|type|title|version|abstract|license|keywords|authors|references|doi|url|date-released):/ {
            print "unknown key: " $0 }
        /^  - type: / {
            if (references++ && !(title && author && year)) print "incomplete: " name
            title = author = year = 0; name = $0
            if ($3 !~ /^(article|conference-paper)$/) print "type: " $0 }
        /^    title: "[^"]+"$/ { title = 1; name = $0 }
        /^      - family-names: ./ { author = 1 }
        /^    year: (19|20)[0-9][0-9]$/ { year = 1 }
        END {
            if (!(title && author && year)) print "incomplete: " name
            if (references < 5) print references + 0 " references"
        }' "$1"
    # As YAML, where there is a program that reads it.
    if command -v pandoc >/dev/null; then
        { echo ---; cat "$1"; echo ---; } | pandoc -f markdown -t plain >/dev/null 2>pandoc.log || echo "not YAML: $(cat pandoc.log)"
    fi
}
left=$(uncited "$XLM_SOURCE/CITATION.cff")
[ -z "$left" ] || fail "CITATION.cff: $left"
sed -e 's/^version: .*/version: 0.9/' -e '0,/^    year:/{/^    year:/d}' -e '/^message/d' "$XLM_SOURCE/CITATION.cff" >other.cff
[ "$(uncited other.cff | wc -l)" -eq 3 ] || fail "errors of CITATION.cff are not found: $(uncited other.cff)"
finish
