#!/usr/bin/env bash
# xlm-mpi: make fuzz: which inputs have failed, and what a campaign writes of them. Stand-ins compile and fuzz.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"

# What it is asked to compile is the target.
cat >compile <<'END'
#!/bin/sh
while [ "$1" != -o ]; do shift; done
cp "$TARGET" "$2"
END
# It writes the input that it fails on, of that KIND, and ends with STATUS; with that input alone it ends with AGAIN.
cat >target <<'END'
#!/bin/sh
case $1 in -*) ;; *) echo "again: $1"; exit "$AGAIN" ;; esac
echo 'INFO: Loaded 2 modules'
echo '#9 DONE cov: 5 ft: 77 corp: 1'
if [ -n "$KIND" ]; then
    echo x >"failed/links-$KIND-1"
    echo '==1== ERROR: libFuzzer: it failed'
    echo "Test unit written to failed/links-$KIND-1"
fi
echo 'stat::number_of_executed_units: 12'
exit "$STATUS"
END
chmod +x compile target
unset XLM_FUZZ_TOTAL XLM_FUZZ_INPUTS
export CLANG=$scratch/compile TARGET=$scratch/target SOURCES='' CPPFLAGS='' LIBS='' XLM_FUZZ_DIRECTORY=$scratch/fuzz
# fuzzed CODE KIND STATUS AGAIN
fuzzed() {
    rm -rf fuzz
    KIND=$2 STATUS=$3 AGAIN=$4 expect "$1" '' bash "$XLM_SOURCE/tests/fuzz/run.sh" 1 1 links
}
# found TEXT: the campaign's last column, after 12 inputs and with 77 features.
found() {
    printf '2\tlinks\t12\t77\t%s\n' "$1" |
        cmp - <(awk -F'\t' -v OFS='\t' 'END { print NR, $3, $6, $7, $9 }' fuzz/inputs/campaign.tsv) ||
        fail "not '$1': $(cat fuzz/inputs/campaign.tsv)"
}

fuzzed 0 '' 0 1
grep -qx 'links: 12 inputs, none failed' expect.out || fail "none failed: $(cat expect.out expect.err)"
found -
fuzzed 1 crash 77 0
grep -q '^links: FAILED: ==1== ERROR.* failed/links-crash-1$' expect.out && [ -s fuzz/failed/links-crash-1 ] ||
    fail "a crash: $(cat expect.out expect.err)"
found links-crash-1
# A time-out is one if the input takes that long alone too.
fuzzed 1 timeout 70 1
grep -q '^links: FAILED: .* failed/links-timeout-1$' expect.out && [ -s fuzz/failed/links-timeout-1 ] ||
    fail "a time-out: $(cat expect.out expect.err)"
found links-timeout-1
fuzzed 0 timeout 70 0
grep -qx 'links: ended after 12 inputs by one that took 60 s of the clock, but less of the processor' expect.out &&
    [ ! -e fuzz/failed/links-timeout-1 ] && grep -qx 'again: failed/links-timeout-1' fuzz/links.again.log ||
    fail "a busy machine: $(cat expect.out expect.err)"
found -
fuzzed 0 '' 72 1
grep -qx 'links: interrupted after 12 inputs' expect.out || fail "interrupted: $(cat expect.out expect.err)"
# One campaign at a time works in a build, and with the same inputs; what is left of one that was killed holds nobody up.
cp target short
sed -i '/^echo .INFO/i echo $PPID >here; until [ -e ../go ]; do sleep 0.1; done' target
rm -rf fuzz
KIND='' STATUS=0 AGAIN=1 bash "$XLM_SOURCE/tests/fuzz/run.sh" 1 1 links >first.out 2>&1 &
first=$!
until [ -e fuzz/here ]; do sleep 0.1; kill -0 $first || break; done
cp fuzz/inputs/campaign.tsv before.tsv
while read -r folder inputs; do
    XLM_FUZZ_DIRECTORY=$scratch/$folder XLM_FUZZ_INPUTS=$scratch/$inputs \
        expect 73 "^make fuzz: $scratch/fuzz.*: process $first works there" \
        timeout 60 bash "$XLM_SOURCE/tests/fuzz/run.sh" 1 1 links
done <<'FOLDERS'
fuzz fuzz/inputs
fuzz inputs
other fuzz/inputs
FOLDERS
XLM_SOURCE=$scratch expect 73 "^make fuzz-keep: $scratch/fuzz/inputs: process $first works there" \
    bash "$XLM_SOURCE/tests/fuzz/keep.sh" links
cmp before.tsv fuzz/inputs/campaign.tsv || fail "a campaign that was refused wrote: $(cat fuzz/inputs/campaign.tsv)"
touch go
wait $first || fail "the first campaign: $(cat first.out)"
found -
mv short target
KIND='' STATUS=0 AGAIN=1 expect 0 '' bash "$XLM_SOURCE/tests/fuzz/run.sh" 1 1 links
[ "$(wc -l <fuzz/inputs/campaign.tsv)" -eq 3 ] || fail "after it: $(cat fuzz/inputs/campaign.tsv expect.err)"
# Without flock none begins, and it does not say that another works there.
mkdir tools
for tool in bash mkdir; do ln -s "$(command -v $tool)" tools; done
expect 69 '^make fuzz: needs flock' env PATH="$PWD/tools" bash "$XLM_SOURCE/tests/fuzz/run.sh" 1 1 links
# A target that was linked with a library without coverage tries nothing.
sed -i 's/Loaded 2 modules/Loaded 1 modules/' target
fuzzed 1 '' 0 1
grep -q '^links: FAILED: ran without the instrumented library' expect.out || fail "one module: $(cat expect.out expect.err)"
finish
