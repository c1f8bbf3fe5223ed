#!/bin/sh
# xlm-mpi: a libcurl without libraries of its own, for tests. SPDX-License-Identifier: GPL-3.0-or-later
#
#   stand_in.sh DIRECTORY LIBRARY COMPILER...
#
# Debian's HDF5 can read files from S3, so every program that uses it loads libcurl and the thirty libraries that this needs in turn:
# a quarter of what a start of xlm_train takes, and half of one of h5dump. No test reads from S3. Here a library of the same name and
# with the same functions is made, which tests find first (environment.sh); one of them that is called says so and ends the program.
# LIBRARY is libxlm. DIRECTORY stays empty where no library that it loads needs libcurl, where another than HDF5's does, and where
# functions of libcurl have no version.
set -eu
directory=$1 library=$2
shift 2
new=$directory.new
rm -rf "$new"
mkdir -p "$directory" "$new"
trap 'rm -rf "$new"' EXIT
# undefined FILE...: the functions of libcurl that they call, "curl_easy_init CURL_OPENSSL_4" a line.
undefined() { nm -D --undefined-only "$@" 2>/dev/null | sed -n 's/^ *U \(curl_[a-z_]*\)@\(CURL_[A-Z0-9_]*\)$/\1 \2/p' | sort -u; }

# make_library NAME FILE: in $new, in place of the libcurl of that name in the file.
make_library() {
    nm -D --defined-only "$2" | sed -n 's/^[0-9a-f]* T \(curl_[a-z_]*\)@@\(CURL_[A-Z0-9_]*\)$/\1 \2/p' | sort -u >"$new/functions"
    version=$(sed 's/.* //' "$new/functions" | sort -u)
    [ "$(echo "$version" | wc -w)" -eq 1 ] || return 1
    echo "$version { global: curl_*; local: *; };" >"$new/versions"
    {
        echo '#include <stdio.h>'
        echo '#include <stdlib.h>'
        sed 's/ .*//; s/.*/void &(void);\nvoid &(void) { fputs("&: called in a test, where libcurl does nothing\\n", stderr); abort(); }/' \
            "$new/functions"
    } >"$new/functions.c"
}
# is_complete NAME FILE: does a program or library that loads $new/NAME find there all that it needs?
is_complete() {
    found=$(LD_LIBRARY_PATH=$new${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} ldd -r "$2" 2>&1) || return 1
    echo "$found" | grep -q "$1 => $new/" && ! echo "$found" | grep -q 'curl.*\(not found\|no version\)\|undefined symbol: curl'
}

none() { rm -f "$directory"/*; exit 0; }
loaded=$(ldd "$library" 2>/dev/null | awk '$3 ~ /^\// { print $1, $3 }') || none
name=$(echo "$loaded" | sed -n 's/^\(libcurl\.so[^ ]*\) .*/\1/p')
[ -n "$name" ] || none
curl=$(echo "$loaded" | sed -n 's/^libcurl\.so[^ ]* //p')
# shellcheck disable=SC2046 # paths of libraries, a word each
[ -z "$(undefined $(echo "$loaded" | sed -n '/^lib\(curl\|hdf5\)/!s/.* //p'))" ] || none
make_library "$name" "$curl" || none
# What was made of the same functions stays.
! cmp -s "$new/functions.c" "$directory/functions.c" || [ ! -e "$directory/$name" ] || exit 0
rm -f "$directory"/*
"$@" -shared -fPIC -o "$new/$name" -Wl,-soname,"$name" -Wl,--version-script="$new/versions" "$new/functions.c" 2>"$new/log" &&
    is_complete "$name" "$library" || exit 0
h5dump=$(command -v h5dump) && ! is_complete "$name" "$h5dump" && ldd "$h5dump" | grep -q "$name" && exit 0
mv "$new/functions.c" "$new/$name" "$directory/"
