#!/bin/sh
# xlm-mpi: link a program that stays in the build tree. SPDX-License-Identifier: GPL-3.0-or-later
#
#   tests/link.sh COMPILER ARGUMENT...
#
# The compiler's command, in which NAME.la, a library of the build tree, becomes the file that libtool has made of it. Libtool
# would do the same, but its script takes three times as long as the compiler, and there are some two hundred programs.
for argument; do
    shift
    case $argument in
    *.la)
        name=${argument##*/}
        directory=${argument%"$name"}.libs
        argument=$directory/${name%.la}.so
        [ -e "$argument" ] || argument=${argument%.so}.a
        ;;
    esac
    set -- "$@" "$argument"
done
exec "$@"
