#!/usr/bin/env bash
# xlm-mpi: where configure has found no cmocka, make builds all, and make check says at once what is missing.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
unset MAKEFLAGS MFLAGS MAKELEVEL

# This build's configuration, but without cmocka.
sed -e 's/^S\["HAVE_CMOCKA_TRUE"\]=.*/S["HAVE_CMOCKA_TRUE"]="#"/' -e 's/^S\["HAVE_CMOCKA_FALSE"\]=.*/S["HAVE_CMOCKA_FALSE"]=""/' \
    "$XLM_BUILD/config.status" >config.status
# config.status writes paths as they are seen from the file's directory, so it makes the file where make will run.
makefile=$PWD/Makefile.without made_there=Makefile.without-cmocka-$$
(cd "$XLM_BUILD" && "${BASH:-bash}" "$OLDPWD/config.status" --silent --file="$made_there:Makefile.in") || fail "config.status"
mv "$XLM_BUILD/$made_there" "$makefile" || exit 99

# make_without ARGUMENT...: nothing is made (-n), with what make would run in `made', and what it says in `said'.
make_without() { "${MAKE:-make}" -n -C "$XLM_BUILD" -f "$makefile" "$@" >made 2>said; }

for goal in check check-unit recheck; do
    make_without "$goal" && fail "make $goal goes on without cmocka"
    grep -q 'needs cmocka (Debian/Ubuntu: libcmocka-dev)' said || fail "make $goal says: $(cat said)"
    grep -qE 'compile|link' made && fail "make $goal compiles first: $(head -n 3 made)"
done
# A source that has changed is compiled: by its name where it is built beside the sources, and elsewhere.
make_without -W src/base/error.c -W "$(sed -n 's/^srcdir = //p' "$makefile")/src/base/error.c" all-am ||
    fail "make without cmocka: $(cat said)"
grep -q 'libxlm_la-error\|base/error' made || fail "make without cmocka does nothing: $(head -n 3 made)"
finish
