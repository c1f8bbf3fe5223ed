#!/usr/bin/env bash
# xlm-mpi: links of the documents lead somewhere, all documents are installed, and README is short.
# SPDX-License-Identifier: GPL-3.0-or-later
. "$XLM_SOURCE/tests/small.sh"
cd "$XLM_SOURCE" || exit 99

# headings FILE: its headings as the places of links: lower case, blanks are hyphens, punctuation goes.
headings() { sed -n 's/^##* *//p' "$1" | tr '[:upper:] ' '[:lower:]-' | tr -d '.,:;*`()[]'; }

# broken FILE: complaints about its links, one a line.
broken() {
    local target place
    grep -oE '\]\([^)]+\)' "$1" | grep -v '://' | sed 's/^](//; s/)$//' | while IFS='#' read -r target place; do
        if [ -n "$target" ]; then target=$(dirname "$1")/$target; else target=$1; fi
        if [ ! -s "$target" ]; then echo "$1: no $target"
        elif [ -n "$place" ] && ! headings "$target" | grep -qxF -e "$place"; then echo "$1: $target has no heading $place"
        fi
    done
}

for document in README.md HACKING.md docs/*.md; do
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

# What is broken is found.
printf '# A heading, here\n[a](#a-heading-here) [b](#none) [c](none.md)\n' >"$scratch/page.md"
[ "$(broken "$scratch/page.md" | wc -l)" -eq 2 ] || fail "of three links two are broken: $(broken "$scratch/page.md")"
finish
