#!/bin/bash
# xlm-mpi: text from manuals in several languages: xlm_pair_html, and jobs/corpora/libreoffice-help with a made-up archive.
# SPDX-License-Identifier: GPL-3.0-or-later
set -eu
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
cd "$work"

fail() {
    echo "FAIL: $*"
    exit 1
}
# expect_exit CODE WORDS COMMAND...: ends with CODE and one message that has WORDS in it.
expect_exit() {
    local code=$1 words=$2 status=0
    shift 2
    "$@" >stdout 2>stderr || status=$?
    [ "$status" -eq "$code" ] || { cat stderr; fail "exit code $status instead of $code: $*"; }
    grep -qF -e "$words" stderr || { cat stderr; fail "no \"$words\" in the message of: $*"; }
}
expect_file() {
    cat >expected
    diff expected "$1" || fail "$1 is not as expected"
}
# page FILE BODY
page() {
    mkdir -p "$(dirname "$1")"
    printf '<!DOCTYPE html>\n<html><head><title>t</title></head><body>%s</body></html>\n' "$2" >"$1"
}

# In the order of bytes: B.html, a.html, a/z.html, none.html.
page en/B.html '<h1 id=h>House</h1><p id=same>Calc</p><p id=new>Not translated.</p><p id=e></p><p id=only>English only.</p>'
page de/B.html '<h1 id=h>Haus</h1><p id=same>Calc</p><p id=new>Not translated.</p><p id=e>Mehr.</p><p id=more>Nur deutsch.</p>'
page fr/B.html '<h1 id=h>Maison</h1><p id=new>Pas traduit.</p>'
page en/a.html '<p id=d>One</p><p id=d>Two</p><p id=r>House</p><p id=t>Three &amp;&nbsp;<b>f<i>our</i></b></p>'\
'<p id=u>x</p><p id=u>y</p>'
page de/a.html '<p id=t>Drei &amp; <b>vier</b></p><p id=d>Eins</p><p id=d>Zwei</p><p id=r>Haus</p><p id=u>z</p>'
page en/a/z.html '<p id=h>House</p><p id=z>Last</p>'
mkdir de/a
printf '<html><head><meta charset=iso-8859-1></head><body><p id=h>Geb\344ude</p><p id=z>Letz<u>tes</u></p></body></html>' \
    >de/a/z.html
page en/none.html '<p id=h>In English there is one page more.</p>'
page en/text.txt '<p id=h>Not a page.</p>'

echo "== pairs, in the order of paths and then of the first language's pages"
xlm_pair_html -o out en=en de=de >report
expect_file out/en-de.en <<'END'
House
One
Two
Three & four
House
Last
END
expect_file out/en-de.de <<'END'
Haus
Eins
Zwei
Drei & vier
Gebäude
Letztes
END
expect_file out/mono.en <<'END'
House
Calc
Not translated.
English only.
One
Two
Three & four
x
y
Last
In English there is one page more.
END
expect_file out/mono.de <<'END'
Haus
Calc
Not translated.
Mehr.
Nur deutsch.
Drei & vier
Eins
Zwei
z
Gebäude
Letztes
END
expect_file report <<'END'
mono.en: 11 paragraphs, 21 words from 4 pages; left out: 0 not translated, 2 repeated
mono.de: 11 paragraphs, 15 words from 3 pages; left out: 0 not translated, 1 repeated
en-de: 6 pairs, 8 words en, 8 words de; left out: 2 equal, 1 repeated
END
[ "$(find out | wc -l)" -eq 5 ] || fail "more files than asked for: $(find out)"

echo "== what equals the original is not translated"
xlm_pair_html -o original --original en en=en de=de fr=fr >report
cmp original/en-de.en out/en-de.en && cmp original/mono.en out/mono.en
! grep -e Calc -e Not original/mono.de || fail "English text in mono.de"
printf 'Haus\n' | expect_file original/de-fr.de
printf 'Maison\n' | expect_file original/de-fr.fr
printf 'House\nNot translated.\n' | expect_file original/en-fr.en
grep -q '^de-fr: 1 pairs, 1 words de, 1 words fr; left out: 0 equal, 1 not translated, 0 repeated$' report || fail "$(cat report)"
xlm_pair_html -o other --original en=en de=de fr=fr >report
cmp original/de-fr.fr other/de-fr.fr
[ "$(cd other && echo ./*)" = './de-fr.de ./de-fr.fr ./mono.de ./mono.fr' ] || fail "$(ls other)"

echo "== one language: its text alone; faults are counted"
page broken/a.html '<p id=a>Black & white <p id=b>R&D</b>'
xlm_pair_html -o one en=broken >report
printf 'Black & white\nR&D\n' | expect_file one/mono.en
grep -q 'from 1 pages, 1 of them with errors' report || fail "$(cat report)"

echo "== wrong use"
xlm_pair_html --help | grep -q 'LANG=ROOT' || fail "--help"
xlm_pair_html --version | head -n 1 | grep -q '^xlm_pair_html (xlm-mpi) ' || fail "--version"
expect_exit 64 'LANG=ROOT' xlm_pair_html -o bad
expect_exit 64 '--output' xlm_pair_html en=en de=de
expect_exit 64 'LANG=ROOT' xlm_pair_html -o bad en
expect_exit 64 'LANG=ROOT' xlm_pair_html -o bad en=
expect_exit 64 'given twice' xlm_pair_html -o bad en=en en=de
expect_exit 64 'pt-br' xlm_pair_html -o bad en=en pt-br=de
expect_exit 64 'fr=DIR' xlm_pair_html -o bad --original fr en=en de=de
expect_exit 64 'given twice' xlm_pair_html -o bad --original en=en en=en
expect_exit 66 'nowhere' xlm_pair_html -o bad en=en de=nowhere
mkdir empty
expect_exit 65 'no page' xlm_pair_html -o bad en=en de=empty
page strange/other.html '<p id=h>Haus</p>'
expect_exit 65 'same manual' xlm_pair_html -o bad en=en de=strange
page bare/B.html '<p>no id</p>'
expect_exit 65 'no paragraph with an id' xlm_pair_html -o bad de=bare
[ ! -e bad ] || fail "output in spite of errors: $(find bad)"

echo "== outputs that cannot be written: none is left"
expect_exit 73 'B.html' xlm_pair_html -o en/B.html/out en=en de=de
mkdir -p taken/mono.de
expect_exit 73 'mono.de' xlm_pair_html -o taken en=en de=de
[ "$(find taken -type f | wc -l)" -eq 0 ] || fail "left: $(find taken)"
page large/a.html "<p id=t>$(head -c 300000 /dev/zero | tr '\0' x)</p>"
expect_exit 74 'room' bash -c 'ulimit -f 100; exec xlm_pair_html -o limited en=en xx=large'
[ "$(find limited -type f | wc -l)" -eq 0 ] || fail "left: $(find limited)"

# ---- the script, with an apt-get and an apt-cache of our own ----

if ! command -v dpkg-deb >/dev/null; then
    echo "no dpkg-deb here: libreoffice-help is not tested"
    exit 0
fi
script=$XLM_BUILD/jobs/corpora/libreoffice-help
export ARCHIVE=$work/archive TMPDIR=$work/tmp
mkdir -p "$ARCHIVE" "$TMPDIR" bin

# package CODE DIRECTORY PAGES: a package of help.
package() {
    local root=$work/package/$1
    rm -rf "$root"
    mkdir -p "$root/DEBIAN" "$root/usr/share/libreoffice/help/$2/text" "$root/usr/share/libreoffice/help/media"
    {
        printf 'Package: libreoffice-help-%s\nVersion: 4:1.0-1\nArchitecture: all\n' "$1"
        printf 'Maintainer: nobody <n@example.org>\nDescription: help\n'
    } >"$root/DEBIAN/control"
    cp -r "$3/." "$root/usr/share/libreoffice/help/$2/text"
    dpkg-deb --root-owner-group -Znone -b "$root" "$ARCHIVE/libreoffice-help-$1_4%3a1.0-1_all.deb" >/dev/null
}
package en-us en-US en
package de de de
package pt-br pt-BR fr

# State of the made-up machine: $ARCHIVE/no-lists, $ARCHIVE/old-lists and $ARCHIVE/offline are there or not.
cat >bin/apt-get <<'END'
#!/bin/sh
echo "apt-get $*" >>"$ARCHIVE/calls"
own=no
while :; do
    case $1 in
    -o) case $2 in Dir::State::lists=*) own=${2#*=} ;; esac; shift 2 ;;
    -*) shift ;;
    *) break ;;
    esac
done
command=$1
shift
case $command in
update) [ $own != no ] && [ -d $own/partial ] || exit 100; [ -e "$ARCHIVE/offline" ] || touch $own/read ;;
download)
    if [ -e "$ARCHIVE/offline" ]; then echo "E: Failed to fetch: Temporary failure resolving" >&2; exit 100; fi
    if [ -e "$ARCHIVE/old-lists" ] && [ $own = no ]; then echo "E: 404 Not Found" >&2; exit 100; fi
    for name; do cp "$ARCHIVE/${name}"_*.deb . || exit 100; done ;;
*) exit 100 ;;
esac
END
cat >bin/apt-cache <<'END'
#!/bin/sh
own=no
while [ "$1" = -o ]; do
    case $2 in Dir::State::lists=*) own=${2#*=} ;; esac
    shift 2
done
if [ $own = no ]; then [ -e "$ARCHIVE/no-lists" ]; else [ ! -e $own/read ]; fi && exit 0
case $1 in
pkgnames) printf '%s\n' libreoffice-help-common; ls "$ARCHIVE" | sed -n 's/_.*deb$//p' ;;
search) echo 'libreoffice-help-common - office productivity suite -- common files for LibreOffice help'
        echo 'libreoffice-help-pt-br - office productivity suite -- Portuguese_brazilian help' ;;
esac
END
chmod +x bin/*
PATH=$work/bin:$PATH
expect_tidy() {
    [ -z "$(ls -A "$TMPDIR")" ] || fail "left behind: $(find "$TMPDIR")"
    [ ! -e bad ] || fail "output in spite of errors: $(find bad)"
}

echo "== libreoffice-help: help pages as packages"
sh "$script" -o help en de >report || fail "libreoffice-help en de"
for file in en-de.en en-de.de mono.en; do cmp "help/$file" "original/$file"; done
grep -q '^en-de: 6 pairs' report || fail "$(cat report)"
expect_tidy
sh "$script" --output=translations pt-BR DE >report
printf 'Maison\n' | expect_file translations/pt_br-de.pt_br
printf 'Haus\n' | expect_file translations/pt_br-de.de
[ ! -e translations/mono.en ] || fail "English was not asked for"
expect_tidy
sh "$script" --list >list
printf 'pt-br\tPortuguese brazilian\n' | expect_file list

echo "== packages that are kept are not fetched again"
sh "$script" -k kept -o help2 de en >report
[ "$(cd kept && echo ./*)" = './libreoffice-help-de_4%3a1.0-1_all.deb ./libreoffice-help-en-us_4%3a1.0-1_all.deb' ] ||
    fail "$(ls -A kept)"
: >"$ARCHIVE/calls"
touch "$ARCHIVE/offline" "$ARCHIVE/no-lists"
sh "$script" -k kept -o help3 de en >report
cmp help2/de-en.en help3/de-en.en
[ ! -s "$ARCHIVE/calls" ] || fail "apt-get was called: $(cat "$ARCHIVE/calls")"
package=kept/libreoffice-help-de_4%3a1.0-1_all.deb
head -c 200 "$package" >part
mv part "$package"
expect_exit 65 'not a whole Debian package' sh "$script" -k kept -o bad de en
expect_tidy

echo "== no network, package lists missing or old"
expect_exit 69 "run 'apt-get update'" sh "$script" -o bad en de
expect_tidy
rm "$ARCHIVE/no-lists"
expect_exit 69 'Temporary failure resolving' sh "$script" -o bad en de
grep -q "run 'apt-get update'" stderr || fail "$(cat stderr)"
expect_tidy
rm "$ARCHIVE/offline"
for state in no-lists old-lists; do
    touch "$ARCHIVE/$state"
    sh "$script" -o "help-$state" en de >report 2>stderr || fail "$state: $(cat stderr)"
    grep -q 'package lists into a temporary directory' stderr || fail "$(cat stderr)"
    cmp "help-$state/en-de.de" help/en-de.de
    expect_tidy
    rm "$ARCHIVE/$state"
done

echo "== libreoffice-help: wrong use, and what is missing"
expect_exit 64 'there are de en-us pt-br' sh "$script" -o bad en xx
expect_exit 64 'no language' sh "$script" -o bad
expect_exit 64 'not a language' sh "$script" -o bad en 'd e'
expect_exit 64 'given twice: en-us' sh "$script" -o bad en en-us
expect_exit 64 '--wrong' sh "$script" --wrong en
expect_exit 64 '-o takes' sh "$script" en -o
expect_exit 73 'report' sh "$script" -o report en de
expect_exit 73 'report' sh "$script" -k report/kept -o bad en de
expect_exit 69 'XLM_PAIR_HTML' env XLM_PAIR_HTML="$work/none" sh "$script" -o bad en de
expect_exit 73 'temporary' env TMPDIR="$work/none" sh "$script" -o bad en de
sh "$script" --help | grep -q 'Usage: libreoffice-help' || fail "--help"
# What fails is passed on.
package en-us en-US bare
package de de bare
expect_exit 65 'no paragraph with an id' sh "$script" -o bad en de
expect_tidy

mkdir tools
for tool in sh basename cat chmod cp cut dirname find grep id ls mkdir mktemp mv readlink rm runuser sed sort tail tr uniq \
    dpkg-deb; do
    # runuser is for root alone, and not in the path of others.
    if command -v "$tool" >/dev/null; then ln -s "$(command -v "$tool")" "tools/$tool"; fi
done
expect_exit 69 'apt-get is missing' env PATH="$work/tools" sh "$script" -o bad en de
expect_tidy
rm tools/dpkg-deb
expect_exit 69 'dpkg-deb is missing' env PATH="$work/tools" sh "$script" -o bad en de
expect_tidy

echo "== stopped half-way"
cat >bin/apt-get <<'END'
#!/bin/sh
touch "$ARCHIVE/started"
until [ -e "$ARCHIVE/go" ]; do sleep 0.05; done
END
sh "$script" -o bad en de 2>stderr &
while [ ! -e "$ARCHIVE/started" ]; do sleep 0.05; done
kill -TERM $!
touch "$ARCHIVE/go"
status=0
wait $! || status=$?
[ $status -eq 143 ] || fail "exit code $status after SIGTERM"
expect_tidy
