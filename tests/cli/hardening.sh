#!/usr/bin/env bash
# xlm-mpi: programs, library and objectives are hardened as configure says. SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long
[ "$XLM_HARDENING" != no ] || { echo "configured with --disable-hardening, or the compiler knows nothing of it" >&2; exit 77; }
command -v readelf >/dev/null || { echo "readelf is missing (Debian/Ubuntu: binutils)" >&2; exit 77; }

# Libtool keeps the programs in .libs until they are installed.
mapfile -t programs < <(find "$XLM_BUILD/.libs" -maxdepth 1 -type f -name 'xlm_*' ! -name '*.*')
mapfile -t modules < <(find "$XLM_BUILD/src/losses/.libs" -type f -name '*.so')
library=$XLM_BUILD/.libs/libxlm.so
[ ${#programs[@]} -ge 10 ] && [ ${#modules[@]} -ge 5 ] || fail "programs: ${programs[*]}; objectives: ${modules[*]}"

# symbol PATTERN FILE...: among what the files take from the C library.
symbol() { local pattern=$1; shift; readelf --dyn-syms -W "$@" | grep -qE "UND +$pattern"; }
case $XLM_HARDENING in *-z,relro,-z,now*)
    for file in "${programs[@]}" "$library" "${modules[@]}"; do
        readelf -lW "$file" | grep -q GNU_RELRO || fail "$file has no RELRO"
        readelf -dW "$file" | grep -qE 'BIND_NOW|Flags:.* NOW' || fail "$file binds lazily"
    done ;;
esac
case $XLM_HARDENING in *-pie*)
    for file in "${programs[@]}"; do
        readelf -dW "$file" | grep -q 'Flags:.* PIE' || fail "$file is not position-independent"
    done ;;
esac
case $XLM_HARDENING in *-fstack-protector-strong*) symbol '__stack_chk_fail' "$library" || fail "no stack protector" ;; esac
case $XLM_HARDENING in *-D_FORTIFY_SOURCE*) symbol '__[a-z]+_chk' "$library" || fail "not fortified" ;; esac
finish
