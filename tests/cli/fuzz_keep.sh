#!/usr/bin/env bash
# xlm-mpi: make fuzz-keep: what campaigns of fuzzing have found, and their hours, in the repository. A stand-in for libFuzzer
# merges. SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
replay=$XLM_BUILD/tests/fuzz/links
source=$XLM_SOURCE/tests/fuzz
[ -x "$replay" ] || { echo "left out: fuzz targets need cmocka" >&2; exit 77; }
tables=$scratch/tree/tests/fuzz
mkdir -p "$tables/seeds" build inputs/links
cp -r "$source/seeds/links" "$tables/seeds/"
head -n 1 "$source/hours.tsv" >"$tables/hours.tsv"
head -n 1 "$source/campaigns.tsv" >"$tables/campaigns.tsv"
# It takes every input whose bytes are not there yet.
cat >build/links <<'END'
#!/bin/sh
[ -z "$MERGE_FAILS" ] || { echo 'merge: interrupted'; exit 72; }
while case $1 in -*) true ;; *) false ;; esac; do shift; done
into=$1
shift
known=$(sha1sum "$into"/* | cut -d ' ' -f 1)
for file in $(find "$@" -type f); do
    digest=$(sha1sum <"$file" | cut -d ' ' -f 1)
    case $known in *$digest*) ;; *) cp "$file" "$into/$digest" && touch -d "@$$" "$into/$digest" ;; esac
done
END
chmod +x build/links
# keep: as make does, with the names of 40 more targets, among which a megabyte is divided.
keep() {
    XLM_SOURCE=$scratch/tree XLM_FUZZ_DIRECTORY=$scratch/build XLM_FUZZ_INPUTS=$scratch/inputs bash "$source/keep.sh" links \
        $(seq -f target%g 40)
}
# campaign DATE TARGET SECONDS PROCESSOR TRIED FOUND
campaign() {
    [ -e inputs/campaign.tsv ] || head -n 1 "$tables/hours.tsv" >inputs/campaign.tsv
    printf '%s\tv1\t%s\t%s\t%s\t%s\t77\t5\t%s\n' "$@" >>inputs/campaign.tsv
}
# replayed N: the archive has N inputs, none of which fails.
replayed() {
    "$replay" "$tables/kept/links.tar.xz" >replay.log 2>&1 && grep -qx "$1 inputs, 0 failed" replay.log ||
        fail "$1 inputs are not replayed: $(tail -n 3 replay.log)"
}

expect 66 'there is no such campaign' keep
seed=$(find "$tables/seeds/links" -type f | head -n 1)
cp "$seed" inputs/links/seed
printf '0-0 1-1\n' >inputs/links/one
printf '0-0 x\n' >inputs/links/two
awk 'BEGIN { for (i = 0; i < 1025; i++) printf "0-0 " }' >inputs/links/large
campaign 2026-01-01T00:00:00Z links 1800 900.5 1000 links-crash-1
campaign 2026-01-01T01:00:00Z target3 1800 900 500 -
MERGE_FAILS=1 expect 70 'links: its inputs cannot be kept; nothing is changed' keep
[ ! -e "$tables/kept" ] && [ -e inputs/campaign.tsv ] || fail "a merge that failed changed something"
logged keep.log keep
replayed 2
grep -q '^1 campaigns: 0.500 hours of processor time; inputs: 2, 2 of them new, in [0-9]* bytes$' keep.log ||
    fail "$(cat keep.log)"
printf '2026-01-01T01:00:00Z\tv1\t0.500\t1.000\t1500\t2\t2\t1\n' | cmp - <(sed 1d "$tables/campaigns.tsv") ||
    fail "$(cat "$tables/campaigns.tsv")"
cp "$tables/kept/links.tar.xz" first.tar.xz
expect 66 'there is no such campaign' keep

# The next one adds an input, of which there are two, and hours. What is kept is kept without the campaign's directory too.
rm -r inputs/links
mkdir inputs/links
printf '7-7\n' >inputs/links/three
campaign 2026-01-02T00:00:00Z links 60 30 10 -
logged keep.log keep
replayed 3
campaign 2026-01-02T00:01:00Z links 40 20 10 'exit code 77'
cp "$tables/kept/links.tar.xz" second.tar.xz
logged keep.log keep
cmp second.tar.xz "$tables/kept/links.tar.xz" || fail "the same inputs make another archive"
printf '%s\tv1\t%s\t%s\t%s\t%s\t77\t%s\t%s\n' 2026-01-02T00:01:00Z links 1900 950 1020 3 2 \
    2026-01-01T01:00:00Z target3 1800 900 500 0 0 |
    cmp - <(sed 1d "$tables/hours.tsv") || fail "$(cat "$tables/hours.tsv")"
[ "$(sed 1d "$tables/campaigns.tsv" | cut -f 6 | paste -sd ' ')" = '2 1 0' ] || fail "new: $(cat "$tables/campaigns.tsv")"

# An archive has its share: of inputs that cannot be compressed to it, the smallest.
awk 'BEGIN { srand(5)
    for (n = 3000; n < 4000; n += 100) {
        line = ""
        for (i = 0; i < n; i++) line = line sprintf("%c", 33 + int(rand() * 90))
        print line >("inputs/links/" n)
    } }'
campaign 2026-01-03T00:00:00Z links 1 1 1 -
logged keep.log keep
size=$(stat -c %s "$tables/kept/links.tar.xz")
[ "$size" -le $((1048576 / 41)) ] && [ "$size" -gt 15000 ] || fail "the archive has $size bytes"
largest=$(tar -tvf "$tables/kept/links.tar.xz" | awk '$3 > most { most = $3 } END { print most }')
[ "$largest" -gt 3000 ] && [ "$largest" -lt 3900 ] || fail "the largest input has $largest bytes"

# Damaged archives, and those with larger inputs, are no test that passes.
head -c 150 first.tar.xz >damaged.tar.xz
expect 65 'damaged.tar.xz: ' "$replay" damaged.tar.xz
mkdir more
awk 'BEGIN { for (i = 0; i < 5000; i++) printf "x" }' >more/large
tar -cJf large.tar.xz -C more large
expect 134 'at most 4096 bytes' bash -c 'ulimit -c 0; "$1" large.tar.xz; exit $?' - "$replay"

# Those of the repository.
size=$(cat "$source"/kept/*.tar.xz | wc -c)
[ "$size" -gt 0 ] && [ "$size" -le 1048576 ] || fail "inputs of campaigns have $size bytes, more than a megabyte"
awk -F'\t' 'FNR == 1 { table++; next } table == 1 { hours += $3; slack += 0.01 } table == 2 { seconds += $5 }
    END { exit !(hours > 0 && hours - seconds / 3600 < slack && seconds / 3600 - hours < slack) }' \
    "$source/campaigns.tsv" "$source/hours.tsv" || fail "the hours of campaigns are not those of targets"

# What a target has kept stays after a campaign of others, when its own program may be of an older library.
cp "$tables/kept/links.tar.xz" last.tar.xz
campaign 2026-01-04T00:00:00Z target3 1 1 1 -
MERGE_FAILS=1 logged keep.log keep
cmp last.tar.xz "$tables/kept/links.tar.xz" || fail "a campaign of another target changed what is kept"
finish
