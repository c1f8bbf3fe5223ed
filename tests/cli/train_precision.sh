#!/usr/bin/env bash
# xlm-mpi: products in bfloat16, and by oneDNN: bits, losses, resumed runs, what is refused.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long
small_corpus

steps=40
# run NAME RANKS [OPTION...]
run() {
    local name=$1 n=$2
    shift 2
    trained job.conf "$name" "$n" --set "train.steps=$steps" --set model.hidden_size=64 "$@"
}
half=(--set train.precision=bfloat16)
# Processors without the instructions refuse, and say why.
if [[ -n ${XLM_BF16_EMULATE-} ]]; then unset XLM_BF16_EMULATE; fi
if ranks 1 xlm_train job.conf --dry-run "${half[@]}" >native.log 2>&1; then
    native=yes
else
    native=no
    grep -q 'precision = bfloat16: .*\(instructions\|AVX-512\|without oneDNN\)' native.log || fail "$(cat native.log)"
fi
expect 78 'precision = bfloat16: BLIS' ranks 1 xlm_train job.conf --dry-run "${half[@]}" --set train.gemm=blis
expect 64 'precision = int8: is not one of' ranks 1 xlm_train job.conf --dry-run --set train.precision=int8

# with_keys NAME [LINE OF [train]...]: NAME.conf, a job of eight steps.
with_keys() { eight_steps 4 -e "s/^hidden_size = .*/hidden_size = 64/" -e "s/^.train./&\n$(printf '%s\\n' "${@:2}")/" >"$1.conf"; }
# all_alike NAME [LINE OF [train]...]: eight steps have the same bits on 1, 2 and 4 ranks, with 2 threads, and when they are
# resumed.
all_alike() {
    local name=$1
    with_keys "$@"
    reproduced "$name.conf" "$name" 4
    trained "$name.conf" "$name-threads" 1 --set train.threads=2
    [ "$(digest "$name-1/latest")" = "$(digest "$name-threads/latest")" ] || fail "$name: not the same bits on 2 threads"
}
all_alike blis 'gemm = blis'
if ranks 1 xlm_train job.conf --dry-run --set train.gemm=onednn >onednn.log 2>&1; then
    all_alike onednn 'gemm = onednn'
    agree blis-1 onednn-1
    grep -q '^products: oneDNN .* in float32' onednn-1.log || fail "the log does not name oneDNN: $(grep '^BLIS' onednn-1.log)"
else
    grep -q 'gemm = onednn: .*\(AVX-512\|without oneDNN\)' onednn.log || fail "$(cat onednn.log)"
fi
# What oneDNN is forbidden to use is as if the processor did not have it: the same is refused, on any rank, and auto takes BLIS.
limited() { ONEDNN_MAX_CPU_ISA=AVX2 DNNL_MAX_CPU_ISA=AVX2 "$@"; }
limited expect 69 'gemm = onednn: ' ranks 1 xlm_train job.conf --dry-run --set train.gemm=onednn
limited expect 69 'precision = bfloat16: ' ranks 1 xlm_train job.conf --dry-run "${half[@]}"
# shellcheck disable=SC2016 # each rank's own shell
expect 69 'gemm = onednn: ' ranks 2 sh -c '[ "${OMPI_COMM_WORLD_RANK-$PMI_RANK}" != 1 ] ||
    export ONEDNN_MAX_CPU_ISA=AVX2 DNNL_MAX_CPU_ISA=AVX2; exec xlm_train job.conf --set train.gemm=onednn'
version=$(limited xlm_train --version)
for line in 'no oneDNN: ' 'gemm = auto in float32: BLIS' 'search in float32: BLIS' 'precision = bfloat16: no, '; do
    grep -q "^$line" <<<"$version" || fail "--version under a limit of oneDNN does not say $line: $version"
done
# auto in float32: where there is oneDNN, which needs AVX-512, oneDNN on Intel's processors and on AMD's from family 26 on; else
# BLIS.
like=blis
if [ -e onednn-1.log ] && awk -F': *' '/^vendor_id/ { vendor = $2 } /^cpu family/ { family = $2 }
    END { exit !(vendor == "GenuineIntel" || (vendor == "AuthenticAMD" && family >= 26)) }' /proc/cpuinfo; then
    like=onednn
fi
eight_steps 4 -e "s/^hidden_size = .*/hidden_size = 64/" >auto.conf
trained auto.conf auto 1
[ "$(digest auto/latest)" = "$(digest "$like-1/latest")" ] || fail "gemm = auto has other bits than $like"
limited trained auto.conf limited 1
[ "$(digest limited/latest)" = "$(digest blis-1/latest)" ] || fail "gemm = auto under a limit of oneDNN has other bits than BLIS"
if [[ $native = yes ]]; then
    all_alike native 'precision = bfloat16'
    grep -q '^products: oneDNN .* in bfloat16' native-1.log || fail "the log does not name bfloat16: $(grep '^BLIS' native-1.log)"
fi
# warns ENVIRONMENT OPTION...: how often a rank with this environment is named for its kernels beside one without it.
warns() {
    logged unlike.log sh "$XLM_SOURCE/tests/mpirun.sh" 1 xlm_train job.conf --dry-run "${@:2}" : \
        -n 1 env "$1" xlm_train job.conf --dry-run "${@:2}"
    grep -c 'warning: rank 1, on .* uses .*, but rank 0, on ' unlike.log || true
}
# oneDNN has other kernels for bfloat16 where there is AMX, and one for float32 with any AVX-512.
if [ $native = yes ]; then
    [ "$(warns XLM_BF16_EMULATE=1 "${half[@]}")" = 1 ] || fail "no warning of unlike products: $(cat unlike.log)"
    grep -q "in bfloat16 XLM_BF16_EMULATE=1, but .*, in bfloat16 oneDNN's brg.*set .* and ONEDNN_MAX_CPU_ISA" unlike.log ||
        fail "the warning does not name the products: $(cat unlike.log)"
    [ "$(warns XLM_BF16_EMULATE=0 "${half[@]}")" = 0 ] || fail "a warning of like products: $(cat unlike.log)"
    if grep -qw amx_bf16 /proc/cpuinfo; then
        [ "$(warns ONEDNN_MAX_CPU_ISA=AVX512_CORE_BF16 "${half[@]}")" = 1 ] || fail "no warning of AMX: $(cat unlike.log)"
    fi
fi
if [ -e onednn-1.log ]; then
    [ "$(warns ONEDNN_MAX_CPU_ISA=AVX512_CORE --set train.gemm=onednn)" = 0 ] || fail "a warning of AVX-512: $(cat unlike.log)"
fi
# The same arithmetic on any processor, by another order of sums.
export XLM_BF16_EMULATE=1
all_alike emulated 'precision = bfloat16' 'exchange = bfloat16'
[[ $native = no ]] || agree native-1 emulated-1 1e-3
agree blis-1 emulated-1 1e-2
# Gradients are rounded on any number of ranks, and so are parameters, which the line of the log and the bits show: on several ranks
# both together, on one each alone.
all_alike both 'gemm = blis' 'exchange = bfloat16' 'exchange_parameters = bfloat16'
with_keys exchanged 'gemm = blis' 'exchange = bfloat16'
trained exchanged.conf exchanged-1 1
agree blis-1 exchanged-1 1e-2
differ blis-1/latest exchanged-1/latest || fail "exchange = bfloat16 gives the bits of float32"
# Checkpoints have parameters as they were before: not all with zeros in the lower half.
with_keys rounded 'gemm = blis' 'exchange_parameters = bfloat16'
trained rounded.conf rounded-1 1
agree blis-1 rounded-1 1e-2
differ blis-1/latest rounded-1/latest || fail "exchange_parameters = bfloat16 gives the bits of float32"
h5dump -d /model/embeddings/word/weight -b LE -o rounded.bin rounded-1/latest >/dev/null
od -An -v -t x4 -w4 rounded.bin | grep -qv '0000$' || fail "a checkpoint has rounded parameters"
expect 78 'exchange = bfloat16: .*reproducible' ranks 1 xlm_train job.conf --dry-run --set train.exchange=bfloat16 \
    --set train.reproducible=false
expect 78 'exchange = bfloat16: 3 ranks' ranks 3 xlm_train job.conf --dry-run --set train.exchange=bfloat16
differ blis-1/latest emulated-1/latest || fail "precision = bfloat16 gives the bits of float32"

run float 1 --set train.gemm=blis
run half 1 "${half[@]}" --profile
grep -q '^profile of .*, products by .* in bfloat16$' half.log ||
    fail "the profile does not name bfloat16: $(grep '^profile' half.log)"
# What it learns is the same, to half a percent, and it does round.
last=$(value float $steps held_out mlm loss all)
is_between "$(awk "BEGIN { print 0.995 * $last }")" "$(value half $steps held_out mlm loss all)" \
    "$(awk "BEGIN { print 1.005 * $last }")" ||
    fail "held-out loss in bfloat16 $(value half $steps held_out mlm loss all), in float32 $last"

# A run goes on in the other precision.
for to in float32 bfloat16; do
    cp -r $([ $to = float32 ] && echo half || echo float) "to-$to"
    trained job.conf "to-$to" 2 --set train.steps=44 --set model.hidden_size=64 --set "train.precision=$to"
    grep -q 'resumed from .* at step 40' "to-$to.log" || fail "does not continue in $to: $(cat "to-$to.log")"
done

# Programs that read models.
vectors() { XLM_BF16_EMULATE=1 ranks 1 xlm_embed export float/latest --text text.en --language en --layer 2 -o "$1.txt" "${@:2}" >"$1.log" 2>&1 ||
    fail "$(cat "$1.log")"; }
vectors whole
vectors as-whole --precision=float32
vectors rounded --precision=bfloat16
cmp -s whole.txt as-whole.txt || fail "--precision=float32 is not the default of xlm_embed"
other_text whole.txt rounded.txt || fail "xlm_embed --precision=bfloat16 gives the bits of float32"
paste -d ' ' <(head -n 50 whole.txt) <(head -n 50 rounded.txt) | awk '
    NF > 10 {
        n = NF / 2; ab = aa = bb = 0
        for (i = 2; i <= n; i++) { ab += $i * $(n + i); aa += $i ^ 2; bb += $(n + i) ^ 2 }
        if (ab / sqrt(aa * bb) < 0.999) bad = 1; seen++
    }
    END { exit bad || seen < 40 }' || fail "vectors in bfloat16 are far from those in float32"
logged links.log ranks 1 xlm_align text.en text.xx --checkpoint float/latest --languages en,xx --precision bfloat16 -o links
[ "$(wc -l <links)" = "$(wc -l <text.en)" ] || fail "xlm_align --precision: $(cat links.log)"
expect 64 'precision=int8: must be float32 or bfloat16' ranks 1 xlm_embed export float/latest --layer 2 -o x.txt --precision=int8
expect 64 '.--precision are for alignment with a model' ranks 1 xlm_align text.en text.xx -o links --precision bfloat16
expect 64 '.--precision are for hidden states' ranks 1 xlm_embed export float/latest -o x.txt --precision bfloat16
[[ $native = yes ]] || XLM_BF16_EMULATE='' expect 69 'precision=bfloat16: ' ranks 1 xlm_fill float/latest --precision bfloat16 \
    'a <mask>'

# Memory for packed parameters is in the estimate.
logged plan.log ranks 1 xlm_train job.conf --dry-run "${half[@]}" --set train.steps=2 --set train.warmup=1 --set model.hidden_size=512 \
    --set model.layers=8
sed -n 's/.*parameters \([0-9.]*\), packed \([0-9.]*\),.*/\1 \2/p' plan.log | awk '{ exit !($2 > 0.9 * $1 && $2 < 1.5 * $1) }' ||
    fail "packed parameters: $(grep '^memory' plan.log)"
finish
