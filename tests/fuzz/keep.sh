#!/usr/bin/env bash
# xlm-mpi: take into the repository what a campaign of fuzzing has found and how long it took; see README.md beside this.
# SPDX-License-Identifier: GPL-3.0-or-later
#
#   tests/fuzz/keep.sh TARGET...       by `make fuzz-keep FUZZ_INPUTS=DIRECTORY`, after `make fuzz` with the same; all targets
#
# kept/TARGET.tar.xz gets the smallest inputs that together reach every edge of the code that seeds, regressions and cases do not
# reach: of those in it, and those that the campaign has found. All archives together have at most a megabyte, an archive its
# share, and the largest inputs are left out of one that would have more. hours.tsv has a line for each target, to which those of
# the campaign's own table are added, and campaigns.tsv a line for each campaign. Nothing is changed before all archives are made;
# the campaign's table is then put aside, so that its hours are not counted twice.
set -u
# shellcheck source=tests/fuzz/lock.sh
. "${BASH_SOURCE[0]%/*}/lock.sh"
share=$((1048576 / $#)) largest=4096
directory=${XLM_FUZZ_DIRECTORY:-$XLM_BUILD/fuzz}
inputs=${XLM_FUZZ_INPUTS:-$directory/inputs}
here=$XLM_SOURCE/tests/fuzz
campaign=$inputs/campaign.tsv
[ -s "$campaign" ] || { echo "$campaign: there is no such campaign; \`make fuzz TOTAL=SECONDS\` is one" >&2; exit 66; }
lock 'make fuzz-keep' "$inputs"
scratch=$(mktemp -d "${TMPDIR:-/tmp}/xlm-fuzz-keep-XXXXXX") || exit 73
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/kept" "$scratch/before" || exit 73

# merge TARGET INPUTS...: the smallest of these inputs that together reach what its seeds, regressions and cases do not, in the
# directory of its name. Of a time or a size only whether an edge is reached counts, not how often.
merge() {
    local target=$1 known=() file
    shift
    mkdir "$target" || return 1
    for file in "$here/seeds/$target" "$here/regressions/$target" "$here/cases/$target.cases"; do
        if [ -e "$file" ]; then known+=("$file"); fi
    done
    [ ${#known[@]} -eq 0 ] || "$XLM_BUILD/tests/fuzz/$target" -w "$target" "${known[@]}" || return 1
    "$directory/$target" -merge=1 -use_counters=0 -max_len=$largest -timeout=60 -rss_limit_mb=1024 -malloc_limit_mb=512 \
        -artifact_prefix="$scratch/failed-" "$target" "$@" >"$target.log" 2>&1 || { tail -n 5 "$target.log" >&2; return 1; }
    rm -f "$target"/case-*
}
# pack DIRECTORY ARCHIVE: the same bytes of the same inputs, as many of the smallest as fit.
pack() {
    local n
    find "$1" -type f -size -$((largest + 1))c -printf '%s %f\n' | LC_ALL=C sort -n | cut -d ' ' -f 2 >"$1.list"
    n=$(wc -l <"$1.list")
    while [ "$n" -gt 0 ]; do
        head -n "$n" "$1.list" | tar -c -C "$1" --format=ustar --mtime=@0 --owner=0 --group=0 --numeric-owner \
            --mode=644 --no-recursion -T - | xz -9e >"$2" || return 1
        [ "$(stat -c %s "$2")" -gt "$share" ] || break
        n=$((n * 9 / 10))
    done
    [ "$n" -gt 0 ] || rm -f "$2"
}
# names ARCHIVE: of the inputs in it, which are their digests.
names() { if [ -e "$1" ]; then tar -tf "$1"; fi; }

# tried TARGET: in this campaign. The program of another may be of an older library, with which its inputs reach nothing.
tried() { awk -F'\t' -v target="$1" 'FNR > 1 && $3 == target { n++ } END { exit n == 0 }' "$campaign"; }

cd "$scratch" || exit 73
new=0
for target; do
    archive=$here/kept/$target.tar.xz
    if [ -d "$inputs/$target" ] && tried "$target"; then
        mkdir "before/$target"
        [ ! -e "$archive" ] || tar -xf "$archive" -C "before/$target" || exit 65
        merge "$target" "before/$target" "$inputs/$target" && pack "$target" "kept/$target.tar.xz" || {
            echo "$target: its inputs cannot be kept; nothing is changed" >&2
            exit 70
        }
        new=$((new + $(comm -13 <(names "$archive" | sort) <(names "kept/$target.tar.xz" | sort) | wc -l)))
        archive=$scratch/kept/$target.tar.xz
    fi
    printf '%s\t%s\n' "$target" "$(names "$archive" | wc -l)"
done >counts

# Both tables of targets have the same columns, except that the last is a number in hours.tsv, and else the name of an input or -.
head -n 1 "$here/hours.tsv" >hours && awk -F'\t' -v OFS='\t' 'FILENAME == "counts" { kept[$1] = $2; next }
    FNR == 1 { tables++; next }
    {
        date[$3] = $1; version[$3] = $2; clock[$3] += $4; processor[$3] += $5; tried[$3] += $6
        if ($7 != "-") features[$3] = $7
        found[$3] += tables == 1 ? $9 : $9 != "-"
    }
    END {
        for (t in date) {
            printf "%s\t%s\t%s\t%.0f\t%.0f\t", date[t], version[t], t, clock[t], processor[t]
            printf "%.0f\t%d\t%d\t%d\n", tried[t], features[t], kept[t], found[t]
        }
    }' counts "$here/hours.tsv" "$campaign" | LC_ALL=C sort -t $'\t' -k 3,3 >>hours || exit 73
awk -F'\t' -v new="$new" 'FILENAME == "counts" { kept += $2; next }
    FNR > 1 { date = $1; version = $2; clock += $4; processor += $5; tried += $6; found += $9 != "-" }
    END {
        printf "%s\t%s\t%.3f\t%.3f\t%.0f\t%d\t%d\t%d\n", date, version, processor / 3600, clock / 3600, tried, new, kept, found
    }' counts "$campaign" >row || exit 73
for target; do
    [ ! -d "$inputs/$target" ] || ! tried "$target" || rm -f "$here/kept/$target.tar.xz"
done
mkdir -p "$here/kept" && find kept -name '*.tar.xz' -exec mv -t "$here/kept" {} + && cat hours >"$here/hours.tsv" &&
    cat row >>"$here/campaigns.tsv" && mv "$campaign" "$inputs/campaign-$(cut -f 1 row | tr -d :).tsv" || exit 73
awk -F'\t' 'FNR > 1 { hours += $3; n++ } END { printf "%d campaigns: %.3f hours of processor time; ", n, hours }' \
    "$here/campaigns.tsv"
echo "inputs: $(awk '{ n += $2 } END { print n }' counts), $new of them new, in $(cat "$here"/kept/*.tar.xz | wc -c) bytes"
