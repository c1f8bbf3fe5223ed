#!/bin/bash
# xlm-mpi: what `make install` leaves is whole, usable by others, and goes away again. SPDX-License-Identifier: GPL-3.0-or-later
set -eu
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
unset MAKEFLAGS MFLAGS MAKELEVEL PKG_CONFIG_SYSROOT_DIR

fail() {
    echo "FAIL: $*"
    exit 1
}
make_in_build() { make -s --no-print-directory -C "$XLM_BUILD" DESTDIR="$root" "$@"; }

make_in_build install >/dev/null || fail "make install"
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
for module in "$plugins"/*.so "$root$libdir/libxlm.so" "$root$bindir"/*; do
    if readelf -d "$module" | grep -E 'R(UN)?PATH' | grep -F -e "$XLM_BUILD" -e "$root"; then
        fail "$module looks for libraries in the build tree"
    fi
done

echo "== public headers stand alone, in strict C11 and in C++"
for header in "$root$includedir"/xlm/*.h; do
    name=xlm/$(basename "$header")
    # shellcheck disable=SC2046 # flags are words
    echo "#include <$name>" | $XLM_CC -std=c11 -pedantic-errors -Wall -Wextra -Werror $(of_package --cflags) \
        -x c -fsyntax-only - || fail "<$name> does not compile alone"
    if command -v c++ >/dev/null; then
        # shellcheck disable=SC2046
        echo "#include <$name>" | c++ -Wall -Wextra -Werror $(of_package --cflags) -x c++ -fsyntax-only - ||
            fail "<$name> does not compile in C++"
    fi
done

echo "== the library shows only names that begin with xlm_"
others=$(nm -D --defined-only "$root$libdir/libxlm.so" | awk '{ print $3 }' | grep -v -e '^xlm_' -e '^__odr_asan' || true)
[ -z "$others" ] || fail "libxlm.so also exports: $others"

echo "== uninstall leaves no file"
make_in_build uninstall >/dev/null || fail "make uninstall"
left=$(find "$root" ! -type d)
[ -z "$left" ] || fail "make uninstall left: $left"
