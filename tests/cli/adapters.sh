#!/usr/bin/env bash
# xlm-mpi: adapters learn beside a model that stays as it is, are merged into it, and go to PEFT and back.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long
small_corpus
sed -i '/^language_embeddings/d' job.conf

# shellcheck source=tests/adapters.sh
. "$XLM_SOURCE/tests/adapters.sh"

# ---- LoRA beside models of each kind ----
learn bert "$(section one 'rank = 3' 'alpha = 6' 'dropout = 0.1')" 'dropout = 0'
learn modern "$(section some 'rank = 2' 'targets = query,key,value,attention_output,intermediate,feed_forward_output'
    section others 'rank = 1' 'targets = key,feed_forward_output')" \
    'norm = pre' 'final_norm = true' 'first_norm = false' 'norm_biases = false' 'linear_biases = false' \
    'position_type = rotary' 'gated_feed_forward = true' 'attention_window = 8' 'global_attention_every = 2'
# From a trained adapter, since A has no gradient where B is zero.
# (of mlm alone: the adapters are the same beside tlm)
sed "/^.stream pairs/,/^\$/d; /^.objective tlm/,/^\$/d" modern.conf >modern-mlm.conf
right_gradients modern-mlm.conf --set train.output=modern-check --set train.start=modern-1/latest --set train.micro_batches=8 \
    --set "stream text.length=24"
[ "$(attribute /model/adapters bert-1/latest)" = '"one"' ] || fail "the file names $(attribute /model/adapters bert-1/latest)"
[ "$(attribute /model/adapters/one/targets bert-1/latest)" = '"query,value"' ] || fail "targets in the file"

# B begins with zeros, A with its distribution, and both learn.
numbers /model/adapters/one/encoder/layer.1/attention/value/lora_b bert-1/latest | awk '$1 != 0 { n++ } END { exit n < 10 }' ||
    fail "lora_b did not learn"
numbers /model/adapters/one/encoder/layer.1/attention/query/lora_a bert-1/latest |
    awk '{ if ($1 > m) m = $1; if (-$1 > m) m = -$1 } END { exit !(m > 0.1 && m < 0.3) }' ||
    fail "lora_a is not from its distribution"

# ---- merged, a model computes the same ----
vectors() { logged embed.log xlm_embed export "$1" --text text.en --layer 2 -o "$2"; }
close_to() { # A B MOST
    paste <(tr ' ' '\n' <"$1") <(tr ' ' '\n' <"$2") | awk -v most="$3" '
        $1 != $2 && $1 + 0 == $1 { d = $1 - $2; if (d < 0) d = -d; if (d > most) bad++ } { n++ } END { exit bad || n < 1000 }'
}
for name in bert modern; do
    logged merge.log xlm_convert "$name-1/latest" --merge-adapters -o "$name-merged.h5"
    vectors "$name-1/latest" "$name-adapted.txt"
    vectors "$name-merged.h5" "$name-merged.txt"
    vectors "$name-base/latest" "$name-base.txt"
    close_to "$name-adapted.txt" "$name-merged.txt" 2e-5 || fail "$name: merged, the model computes something else"
    ! close_to "$name-adapted.txt" "$name-base.txt" 2e-5 || fail "$name: the adapter changed nothing"
    ! h5ls -r "$name-merged.h5" | grep -q adapters || fail "$name: the merged model has adapters"
done

# ---- fine-tuning: the head learns too; an adapter of the model that has no section stays as it is ----
phrases text.en >train.tsv
cat >tune.conf <<'JOB'
[tune]
model = bert-base/latest
train = train.tsv
dev = train.tsv
language = en
output = tag
epochs = 1
batch = 64
length = 24
learning_rate = 1e-2
dropout = 0
[task tagging]
[adapter tags]
rank = 2
JOB
logged tune.log xlm_tune tune.conf
kept_body bert-base/latest tag/best
logged tune-2.log ranks 2 xlm_tune tune.conf --set tune.output=tag-2
[ "$(digest tag/best)" = "$(digest tag-2/best)" ] || fail "xlm_tune: other bits on 2 ranks"
logged merge.log xlm_convert tag/best --merge-adapters -o tag.h5
logged eval.log xlm_eval tag/best --test en:train.tsv --csv adapted.csv
logged eval.log xlm_eval tag.h5 --test en:train.tsv --csv merged.csv
cmp <(grep -v '^checkpoint' adapted.csv | sed 's/tag[^,]*,//') <(grep -v '^checkpoint' merged.csv | sed 's/tag[^,]*,//') ||
    fail "xlm_eval: other scores of the merged model"
# A head that is drawn where an adapter learns is frozen, so that no objective trains it.
trained bert.conf headless 1 --set train.start=tag.h5 --set model.head=bert --set train.steps=1
grep -q 'warning: drawn, and frozen .*: lm_head/' headless.log && ! grep -q 'a new one is drawn' headless.log ||
    fail "a head that stays random: $(grep -A4 'started from' headless.log)"
sed 's/^model = .*/model = bert-1\/latest/; s/^output = .*/output = stacked/' tune.conf >stacked.conf
logged stacked.log xlm_tune stacked.conf
same_objects bert-1/latest stacked/best /model/adapters/one/encoder/layer.0/attention/query/lora_b >diff.log 2>&1 ||
    fail "an adapter without section was changed: $(head -n 3 diff.log)"
[ "$(attribute /model/adapters stacked/best)" = '"one,tags"' ] || fail "stacked: $(attribute /model/adapters stacked/best)"

only_in_check_all

# ---- PEFT: there and back, the same bits ----
logged peft.log xlm_convert bert-1/latest --adapter one -o peft
[ "$(stat -c %s peft/adapter_model.safetensors)" -lt 8000 ] || fail "the adapter is large"
logged peft.log xlm_convert bert-base/latest --add-adapter peft --adapter back -o back.h5
for linear in encoder/layer.0/attention/query encoder/layer.1/attention/value; do
    for what in lora_a lora_b; do
        numbers "/model/adapters/one/$linear/$what" bert-1/latest >there
        [ -s there ] && numbers "/model/adapters/back/$linear/$what" back.h5 | cmp -s there - ||
            fail "PEFT: $linear/$what is not the same"
    done
done
vectors back.h5 back.txt
close_to bert-adapted.txt back.txt 0 || fail "PEFT: the model computes something else"
changed() { # SED PATTERN
    rm -rf changed
    cp -r peft changed
    sed -i "$1" changed/adapter_config.json
    expect 65 "$2" xlm_convert bert-base/latest --add-adapter changed -o none.h5
    [ ! -e none.h5 ] || fail "a model was written"
}
changed 's/{/{"use_dora": true, /' '"use_dora" is true'
changed 's/{/{"modules_to_save": ["lm_head"], /' '"modules_to_save" is \["lm_head"\]'
changed 's/"none"/"all"/' '"bias" is "all"'
for start in pissa pissa_niter_16 olora corda loftq; do
    changed "s/{/{\"init_lora_weights\": \"$start\", /" "\"init_lora_weights\" is \"$start\", which changes the model"
done
changed 's/"LORA"/"IA3"/' '"peft_type" is "IA3"'
changed 's/"r": 3/"r": 4/' 'lora_A.weight" is not 4 x 16'
changed 's/"r": 3/"r": 0/' '"r" is 0'
changed 's/"lora_dropout": [0-9.]*/"lora_dropout": 1.5/' '"lora_dropout" is 1.5, not from 0 to below 1'
changed 's/{/[/' 'not JSON\|no configuration of an adapter'
changed 's/"lora_alpha": [0-9.]*/"lora_alpha": 1.5e308, "use_rslora": true/' '"lora_alpha" is too large'
cp peft/adapter_config.json changed
sed -i 's/{/{"use_qalora": false, "qalora_group_size": 16, "arrow_config": null, "init_lora_weights": "gaussian", /' changed/adapter_config.json
logged newer.log xlm_convert bert-base/latest --add-adapter changed -o newer.h5
rm changed/adapter_model.safetensors
cp peft/adapter_config.json changed
expect 66 'adapter_model.safetensors' xlm_convert bert-base/latest --add-adapter changed -o none.h5
expect 66 'has no adapter_config.json' xlm_convert bert-base/latest --add-adapter . -o none.h5

# Beside the one layer that computes query, key and value in their ModernBERT: A is of all three, B has the rows of each in turn.
floats() { for ((i = 0; i < $2; i++)); do printf "$1"; done; } # BYTES NUMBER
mkdir fused
sed 's/"r": 3/"r": 1/; s/"target_modules": \[[^]]*\]/"target_modules": ["Wqkv"]/' peft/adapter_config.json \
    >fused/adapter_config.json
header='{' at=0
for layer in 0 1; do
    module=base_model.model.model.layers.$layer.attn.Wqkv
    header+="\"$module.lora_A.weight\":{\"dtype\":\"F32\",\"shape\":[1,16],\"data_offsets\":[$at,$((at + 64))]},"
    header+="\"$module.lora_B.weight\":{\"dtype\":\"F32\",\"shape\":[48,1],\"data_offsets\":[$((at + 64)),$((at + 256))]},"
    at=$((at + 256))
done
header=${header%,}'}'
while [ $((${#header} % 8)) -ne 0 ]; do header+=' '; done
{
    # shellcheck disable=SC2059 # bytes
    printf "\\$(printf '%03o' $((${#header} % 256)))\\$(printf '%03o' $((${#header} / 256)))\0\0\0\0\0\0"
    printf '%s' "$header"
    for layer in 0 1; do
        floats '\0\0\200\077' 16 # 1
        floats '\0\0\0\100' 16   # 2
        floats '\0\0\100\100' 16 # 3
        floats '\0\0\200\100' 16 # 4
    done
} >fused/adapter_model.safetensors
logged fused.log xlm_convert modern-base/latest --add-adapter fused --adapter fused -o fused.h5
for layer in 0 1; do
    for value in query:2 key:3 value:4; do
        path=/model/adapters/fused/encoder/layer.$layer/attention/${value%:*}
        [ "$(numbers "$path/lora_a" fused.h5 | sort | uniq -c | xargs)" = "16 1" ] || fail "fused: $path/lora_a"
        [ "$(numbers "$path/lora_b" fused.h5 | sort | uniq -c | xargs)" = "16 ${value#*:}" ] || fail "fused: $path/lora_b"
    done
done
expect 65 'is of one layer in a modernbert model' xlm_convert fused.h5 --adapter fused -o none
expect 65 'the model has no adapters' xlm_convert bert-base/latest --merge-adapters -o none.h5
expect 64 'no adapter other' xlm_convert bert-1/latest --adapter other -o none
expect 64 'cannot be combined' xlm_convert bert-1/latest --merge-adapters --adapter one -o none
expect 65 'it has adapters, .*merge LoRA into the model first' xlm_convert bert-1/latest -o none

# ---- mistakes ----
wrong() { # PATTERN SED
    sed "$2" bert.conf >wrong.conf
    job_refused "$1" wrong.conf
}
wrong 'targets: "queri" is not one of query,key,value' 's/^alpha.*/targets = queri/'
wrong 'rank' 's/^rank.*/rank = 0/'
wrong 'alpha = 0 multiplies all that it adds by 0' 's/^alpha.*/alpha = 0/'
wrong 'kind' 's/^rank.*/kind = prefix/'
wrong 'rnak' 's/^rank/rnak/'
wrong 'freeze is for runs in which no adapter learns' 's/^micro_batches.*/&\nfreeze = 1/'
wrong 'learn = false is for an adapter of the model' 's/^rank.*/learn = false/'
wrong 'names are of letters' 's/^\[adapter one/[adapter o.ne/'
sed 's/^start.*/start = bert-1\/latest/; s/^rank.*/rank = 4/' bert.conf >wrong.conf
refused_on=2 job_refused 'has another adapter of this name: rank = 3 there, 4 here' wrong.conf
trained bert.conf bert-off 1 --set train.steps=4
expect 65 'adapter one of its model and of the job' xlm_train bert.conf --set train.output=bert-off --set 'adapter one.alpha=2'
finish
