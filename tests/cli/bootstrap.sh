#!/usr/bin/env bash
# xlm-mpi: which packages ./bootstrap installs for which MPI, with made programs in place of apt-get and the rest.
# SPDX-License-Identifier: GPL-3.0-or-later
set -u
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 99
unset MPICC CC H5PCC MPI_CFLAGS MPI_LIBS HDF5_CFLAGS HDF5_LIBS MAKEFLAGS
failures=0
fail() { printf 'FAIL: %s\n' "$*" >&2; failures=$((failures + 1)); }

# made NAME: a program of that name, from standard input.
made() { { echo '#!/bin/sh'; cat; } >"$1" && chmod a+x "$1"; }
mkdir bin debian foreign
for program in autoreconf automake libtoolize make; do made "bin/$program" </dev/null; done
# Nothing is installed; what lies in folder debian belongs to a package.
made bin/dpkg-query <<'SH'
[ "$1" = -S ] || exit 0
case $2 in */debian/*) exit 0 ;; *) exit 1 ;; esac
SH
made bin/sudo <<'SH'
"$@"
SH
made bin/apt-get <<'SH'
[ "$2" != install ] || echo "$*" >installed
SH
echo 'echo gcc -I/usr/include/mpich -lmpich' | made debian/mpicc.mpich
echo 'echo gcc -I/usr/lib/openmpi/include -lmpi' | made debian/mpicc.openmpi
echo 'echo gcc -I/opt/mpich/include -lmpi' | made foreign/mpicc
cp "$XLM_SOURCE/bootstrap" . || exit 99
made configure </dev/null
# The rest of the machine's programs, without any MPI that it has.
for program in cat command dirname grep id nproc readlink sed sh sort tr env uname; do
    path=$(command -v "$program") && [ -x "$path" ] && ln -s "$path" bin/
done

# installs WANTED UNWANTED [NAME=VALUE]... -- [ARGUMENT]...: patterns of packages.
installs() {
    local wanted=$1 unwanted=$2 settings=()
    shift 2
    while [ "$1" != -- ]; do settings+=("$1"); shift; done
    shift
    rm -f installed
    env PATH="$scratch/bin" "${settings[@]}" sh ./bootstrap "$@" >log 2>&1 || fail "${settings[*]} bootstrap $*: $(cat log)"
    for package in $wanted; do
        grep -qw -e "$package" installed || fail "${settings[*]} bootstrap $* does not install $package: $(cat installed)"
    done
    grep -q -e "$unwanted" installed && fail "${settings[*]} bootstrap $* installs $unwanted: $(cat installed)"
}
# Who asks for help gets nothing installed.
env PATH="$scratch/bin" sh ./bootstrap --help >log 2>&1 && grep -q '^  ./bootstrap \[arguments of configure\]' log && [ ! -e installed ] ||
    fail "bootstrap --help: $(cat log)"
open='libopenmpi-dev openmpi-bin libhdf5-openmpi-dev libscalapack-openmpi-dev gcc libblis-openmp-dev'
mpich='libmpich-dev mpich libhdf5-mpich-dev libscalapack-mpich-dev gcc libblis-openmp-dev'
installs "$open" mpich --
installs "$mpich" openmpi -- MPICC=mpicc.mpich
installs "$mpich" openmpi MPICC=mpicc.mpich --
installs "$mpich" openmpi -- CC=mpicc.mpich
installs "$open libomp-dev clang" mpich -- CC=clang
installs "$open" mpich PATH="$scratch/bin:$scratch/debian" --
ln -s mpicc.mpich debian/mpicc
installs "$mpich" openmpi PATH="$scratch/bin:$scratch/debian" --
installs "$open" mpich PATH="$scratch/bin:$scratch/debian" -- MPICC=mpicc.openmpi
installs 'libmpich-dev mpich' libhdf5 PATH="$scratch/bin:$scratch/debian" -- H5PCC=/opt/bin/h5pcc
# An MPI of the user's own: none of Debian's beside it.
installs 'gcc libblis-openmp-dev' 'mpich\|openmpi' PATH="$scratch/bin:$scratch/foreign" --
grep -q 'HDF5 has to be built with it' log || fail "nothing about HDF5: $(cat log)"
[ "$failures" -eq 0 ]
