#!/usr/bin/env bash
# xlm-mpi: training over a network of 10 and of 1 Gbit/s, made of network namespaces on this machine.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Two ranks of one thread, each on a "host" of its own: a namespace with one veth pair to a bridge in a third, from where mpiexec
# starts Open MPI's daemons through tests/bench/netns_agent.sh. What a host sends is shaped. The kernel is the same for all, so
# this has the bandwidth of such a network, not its latency. It also shows what `xlm_train --plan` predicts for two nodes of one
# rank, measured on one. More hosts than cores share them, so that only the seconds of messages that are waited for are comparable
# then, and those only where a step has little else.
#
# XLM_BENCH_STEPS  steps of a run (6); the first two do not count
# XLM_BENCH_HOSTS  number of hosts (2)
# XLM_BENCH_RATES  Gbit/s ("10 1")
# XLM_BENCH_MODEL  layers, width and heads ("8 512 8")
set -euo pipefail
. "$XLM_SOURCE/tests/bench/table.sh"
number=${XLM_BENCH_HOSTS:-2}
section "training over a network, model ${XLM_BENCH_MODEL:-8 512 8}, $number hosts of 1 rank x 1 thread, beside --plan"
skip() { skipped "network" "$1"; exit 0; }
[[ $(id -u) -eq 0 ]] || skip "needs root"
for tool in ip tc; do
    command -v $tool >/dev/null || skip "needs $tool (Debian: iproute2)"
done
read -ra mpiexec <<<"${XLM_MPIEXEC:-mpiexec}"
"${mpiexec[@]}" --version 2>/dev/null | grep -q OpenRTE || skip "needs Open MPI 4"
# shellcheck source=tests/bench/roberta-8.sh
. "$XLM_SOURCE/tests/bench/roberta-8.sh"

network=10.213.7 # seen in the namespaces only
switch=xlm-switch-$$
mapfile -t hosts < <(seq -f "$network.%g" "$number")
[[ ! -e /run/netns/${hosts[0]} ]] ||
    skip "there is a namespace ${hosts[0]}: another run, or one that was killed (ip netns delete)"
work=$(mktemp -d)
clean() {
    local namespace
    for namespace in "${hosts[@]}" "$switch"; do ip netns delete "$namespace" 2>/dev/null || true; done # and all devices in it
    rm -rf "$work"
}
trap clean EXIT
trap 'exit 1' INT TERM HUP

shape() { # HOST RATE
    tc -n "$1" qdisc replace dev wire root tbf rate "$2" burst 512kb latency 50ms
}

make_network() {
    ip netns add "$switch" &&
        ip -n "$switch" link set lo up &&
        ip -n "$switch" link add bridge type bridge &&
        ip -n "$switch" address add "$network.254/24" dev bridge &&
        ip -n "$switch" link set bridge up || return
    local host port
    for host in "${hosts[@]}"; do
        port=port${host##*.}
        ip netns add "$host" &&
            ip -n "$host" link set lo up &&
            ip -n "$host" link add wire type veth peer name "$port" netns "$switch" &&
            ip -n "$host" address add "$host/24" dev wire &&
            ip -n "$host" link set wire up &&
            ip -n "$switch" link set "$port" master bridge up &&
            shape "$host" 10gbit && tc -n "$host" qdisc delete dev wire root &&
            ip netns exec "$host" unshare --uts true || return
    done
}
make_network 2>"$work/error" || skip "no network namespaces here: $(head -n 1 "$work/error")"

# over_wire NAME: trains on both hosts.
over_wire() {
    local launcher
    # The daemons get this environment from the agent.
    launcher=(ip netns exec "$switch" "${mpiexec[@]}" --mca plm rsh --mca plm_rsh_agent "$XLM_SOURCE/tests/bench/netns_agent.sh"
        --mca btl "self,tcp" --mca btl_tcp_if_include "$network.0/24" --mca oob_tcp_if_include "$network.0/24"
        -x PATH -x XLM_PLUGIN_PATH --host "$(IFS=,; echo "${hosts[*]}")" --map-by node --bind-to none)
    train "$work" "$1" "$number" 1 --profile --set "train.micro_batches=$number"
}

# planned GBIT: tokens/s of so many nodes of one rank, and the seconds of a step in which messages are waited for.
planned() {
    xlm_train "$work/job.conf" --set train.threads=1 --set "train.micro_batches=$number" --plan --ranks="$number" \
        --network="$1" >"$work/plan" 2>"$work/plan.log" || { tail -n 3 "$work/plan.log" >&2; return 1; }
    cat "$work/plan" >&2
    awk -v ranks="$number" '$1 == ranks && NF == 9 { print $4, $3 * $7 / 100 }' "$work/plan"
}

# waited LOG: these seconds, by a run's profile.
waited() {
    awk '/^(gradients|parameters): .* under way for / {
            for (i = 2; i < NF; i++)
                if ($(i + 1) == "ms,")
                    seconds += $i / 1000 * (1 - $(i + 2) / 100)
        }
        END { printf "%.3f\n", seconds }' "$1"
}

read -r -a model <<<"${XLM_BENCH_MODEL:-8 512 8}"
made_job "$work" "${XLM_BENCH_STEPS:-6}" "${model[@]}" 40000
for gbit in ${XLM_BENCH_RATES:-10 1}; do
    for host in "${hosts[@]}"; do shape "$host" "${gbit}gbit"; done
    read -r predicted waiting < <(planned "$gbit")
    over_wire "wire-$gbit"
    measured=$(rate "$work/wire-$gbit/metrics.csv" 2)
    grep -e '^gradients:' -e '^parameters:' "$work/wire-$gbit.log" >&2 || true
    row "$gbit Gbit/s, plan off by" "$predicted tokens/s planned" "$measured tokens/s" "$(off "$predicted" "$measured")" "<= 0.2"
    row "  messages waited for" "$waiting s planned" "$(waited "$work/wire-$gbit.log") s measured" \
        "$(off "$waiting" "$(waited "$work/wire-$gbit.log")")" "<= 0.1"
    row "  reduce-scatter during the backward pass" "$(hidden "$work/wire-$gbit.log")" "" ""
done
