#!/usr/bin/env bash
# xlm-mpi: text of descriptions and manual pages: jobs/corpora/debian-text with a made-up archive.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
for tool in dpkg-deb groff; do command -v $tool >/dev/null || { echo "no $tool here" >&2; exit 77; }; done
export ARCHIVE=$PWD/archive TMPDIR=$PWD/tmp XLM_HELP=$PWD/bin/help
mkdir -p "$ARCHIVE" "$TMPDIR" bin
# is FILE: as on standard input.
is() { diff - "$1" || fail "$1 is not as expected"; }

# ---- what there is ----
cat >bin/help <<'END'
#!/bin/sh
# -o DIR en LANG
[ "$4" != xx ] || { echo 'no package libreoffice-help-xx' >&2; exit 64; }
[ ! -e "$ARCHIVE/damaged" ] || { echo 'not a whole package' >&2; exit 65; }
printf '%s\n' 'Open the file.' 'Help' >"$2/mono.en"
name=$(echo "$4" | tr - _)
printf '%s\n' 'Hilfe' 'Die Datei wird geöffnet.' >"$2/mono.$name"
echo 'Open the file.' >"$2/en-$name.en"
echo 'Die Datei wird geöffnet.' >"$2/en-$name.$name"
END
cat >archive/Translation-en <<'END'
Package: cat
Description-md5: 1
Description-en: animal that purrs a lot
 This animal sleeps on
 every sofa it finds.
 .
 It likes:
  * milk in a small bowl
  * birds of the whole garden

Package: cat-data
Description-md5: 2
Description-en: animal that purrs a lot
 Food that the animal eats.

Package: dog
Description-md5: 3
Description-en: animal that barks at cats
 No German paragraph is there.
END
cat >archive/Translation-de <<'END'
Package: cat
Description-md5: 1
Description-de: Tier, das viel schnurrt
 Dieses Tier schläft auf jedem Sofa,
 das es findet.
 .
 Es mag:
  * Milch in einer kleinen Schale
  * Vögel aus dem ganzen
    Garten hinterm Haus

Package: cat-data
Description-md5: 2
Description-de: Tier, das viel schnurrt
 Food that the animal eats.

Package: dog
Description-md5: 3
Description-de: Tier, das Katzen anbellt
 Hier ist etwas anders.
 .
 Ein Absatz mehr als dort.
END
# package NAME: of the pages in pages/NAME.
package() {
    mkdir -p "pages/$1/DEBIAN"
    printf 'Package: %s\nVersion: 1\nArchitecture: all\nMaintainer: n <n@example.org>\nDescription: pages\n' "$1" \
        >"pages/$1/DEBIAN/control"
    dpkg-deb --root-owner-group -Znone -b "pages/$1" "$ARCHIVE/$1_1_all.deb" >/dev/null
}
mkdir -p pages/manpages{,-dev,-de}/usr/share/man/man2 pages/manpages-de/usr/share/man/de/man2
printf '%s\n' '.TH mew 2' '.SH NAME' 'mew \- make a very loud sound' '.SH DESCRIPTION' 'The call makes a loud sound,' \
    'and returns.' '.PP' '.EX' 'int mew(const char *path, int flags);' '.EE' '.PP' 'Nobody has complained so far, even dogs.' |
    gzip >pages/manpages-dev/usr/share/man/man2/mew.2.gz
printf '%s\n' '.TH mew 2' '.SH BEZEICHNUNG' 'mew \- sehr lautes Geräusch machen' '.SH BESCHREIBUNG' \
    'Der Aufruf macht ein lautes Geräusch' 'und kehrt zurück.' '.PP' '.EX' 'int mew(const char *pfad, int schalter);' '.EE' \
    '.PP' 'Bisher hat sich niemand beschwert, nicht einmal Hunde.' '.SH ÜBERSETZUNG' 'Diese Seite hat niemand übersetzt.' |
    gzip >pages/manpages-de/usr/share/man/de/man2/mew.2.gz
# Of another version than the original.
printf '%s\n' '.TH purr 2' '.SH NAME' 'purr \- make a rather low sound' '.SH NOTES' 'It lasts for a long time.' \
    >pages/manpages-dev/usr/share/man/man2/purr.2
printf '%s\n' '.TH purr 2' '.SH BEZEICHNUNG' 'purr \- ein eher leises Geräusch machen' \
    >pages/manpages-de/usr/share/man/de/man2/purr.2
for name in manpages manpages-dev manpages-de; do package $name; done
for name in $(sed -n '/^manuals=(/,/)$/{s/^manuals=(//; s/)$//; p}' "$XLM_SOURCE/jobs/corpora/debian-text"); do
    [ -e "$ARCHIVE/${name}_1_all.deb" ] || cp "$ARCHIVE/manpages_1_all.deb" "$ARCHIVE/${name}_1_all.deb"
done
cat >bin/apt-get <<'END'
#!/bin/sh
while :; do
    case $1 in
    -o) case $2 in Dir::State::lists=*) lists=${2#*=} ;; Acquire::Languages=*) languages=${2#*=} ;; esac; shift 2 ;;
    -*) shift ;;
    *) break ;;
    esac
done
command=$1
shift
[ ! -e "$ARCHIVE/offline-$command" ] || { echo "E: Temporary failure resolving" >&2; exit 100; }
case $command in
update)
    [ -d "$lists/partial" ] || exit 100
    for language in $(echo "$languages" | tr , ' '); do
        [ ! -e "$ARCHIVE/Translation-$language" ] || cp "$ARCHIVE/Translation-$language" "$lists/suite_i18n_Translation-$language"
    done ;;
download) for name; do cp "$ARCHIVE/${name}"_*.deb . || exit 100; done ;;
esac
END
cat >bin/apt-cache <<'END'
#!/bin/sh
ls "$ARCHIVE" | sed -n 's/_.*deb$//p'
END
chmod +x bin/*
PATH=$PWD/bin:$PATH
text() { "$XLM_SOURCE/jobs/corpora/debian-text" "$@" >log 2>&1; }

# ---- text of all three ----
text -o out en de || fail "de: $(cat log)"
is out/mono.en <<'END'
Open the file.
Help
animal that purrs a lot
This animal sleeps on every sofa it finds.
milk in a small bowl
birds of the whole garden
Food that the animal eats.
animal that barks at cats
No German paragraph is there.
mew - make a very loud sound
The call makes a loud sound, and returns.
Nobody has complained so far, even dogs.
purr - make a rather low sound
It lasts for a long time.
END
is out/mono.de <<'END'
Hilfe
Die Datei wird geöffnet.
Tier, das viel schnurrt
Dieses Tier schläft auf jedem Sofa, das es findet.
Milch in einer kleinen Schale
Vögel aus dem ganzen Garten hinterm Haus
Tier, das Katzen anbellt
Hier ist etwas anders.
Ein Absatz mehr als dort.
mew - sehr lautes Geräusch machen
Der Aufruf macht ein lautes Geräusch und kehrt zurück.
Bisher hat sich niemand beschwert, nicht einmal Hunde.
purr - ein eher leises Geräusch machen
END
paste -d'|' out/en-de.en out/en-de.de >pairs
is pairs <<'END'
Open the file.|Die Datei wird geöffnet.
animal that purrs a lot|Tier, das viel schnurrt
This animal sleeps on every sofa it finds.|Dieses Tier schläft auf jedem Sofa, das es findet.
milk in a small bowl|Milch in einer kleinen Schale
birds of the whole garden|Vögel aus dem ganzen Garten hinterm Haus
mew - make a very loud sound|mew - sehr lautes Geräusch machen
The call makes a loud sound, and returns.|Der Aufruf macht ein lautes Geräusch und kehrt zurück.
Nobody has complained so far, even dogs.|Bisher hat sich niemand beschwert, nicht einmal Hunde.
END
grep -q "^$(wc -w <out/mono.en) words of en, $(wc -w <out/mono.de) of de\$" log || fail "words: $(cat log)"
[ "$(awk '$1 == "descriptions" { print $2, $4, $6, $7, $8, $9 }' log)" = '7 7 4 2 2 1' ] || fail "descriptions: $(cat log)"
nothing_in "$TMPDIR"
[ "$(ls -A out | wc -l)" -eq 4 ] || fail "more than four files: $(ls -A out)"

# ---- less, and nothing ----
cp archive/Translation-de archive/Translation-xx_YY
text -o part en xx-yy || fail "xx-yy: $(cat log)"
grep -q 'No manual pages in xx-yy' log || fail "manual pages: $(cat log)"
grep -q '^Hilfe$' part/mono.xx_yy && grep -q '^Tier, das Katzen anbellt$' part/mono.xx_yy || fail "xx-yy: $(cat part/mono.xx_yy)"
refused() { # CODE PATTERN OPTION...
    expect "$1" "$2" "$XLM_SOURCE/jobs/corpora/debian-text" "${@:3}"
    [ -z "$(ls none 2>/dev/null)" ] || fail "made in spite of: $2"
    nothing_in "$TMPDIR"
}
refused 64 'there is no text in xx' -o none en xx
refused 64 'other than English' -o none en-gb
refused 64 'other than English' -o none en
refused 64 '-o DIR is missing' de
refused 64 'no such option' -o none --what de
refused 64 'already the language de' -o none en de fr
refused 73 'bin/help' -o bin/help de
touch archive/damaged
refused 65 'not a whole package' -o none de
rm archive/damaged
sed 's/no package libreoffice-help-xx/give another directory/' bin/help >bin/other
chmod +x bin/other
(export XLM_HELP=$PWD/bin/other; refused 64 'give another directory' -o none en xx; finish) || failures=$((failures + 1))
(mkdir 'a b'; export TMPDIR="$PWD/a b"; refused 64 'path has no blanks' -o none de; finish) || failures=$((failures + 1))
refused 64 'has no blanks between words' -o none zh-tw
# A package that a release lacks, and one without manual pages.
rm archive/kbd_1_all.deb
mkdir -p pages/systemd
rm -f archive/systemd_1_all.deb
package systemd
(XLM_HELP=bin/help text --output=fewer de) || fail "fewer packages: $(cat log)"
grep -q '^No packages kbd, whose' log && cmp out/mono.de fewer/mono.de || fail "fewer packages: $(cat log)"
(export XLM_HELP=nowhere; refused 69 'there is no such program' -o none de; finish) || failures=$((failures + 1))
touch archive/offline-update
refused 69 'apt-get update' -o none de
mv archive/offline-update archive/offline-download
refused 69 'apt-get download' -o none de
finish
