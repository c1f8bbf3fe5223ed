#!/usr/bin/env bash
# xlm-mpi: training over a network of 10 and of 1 Gbit/s, made of network namespaces on this machine.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Two ranks of one thread, each on a "host" of its own: a namespace with one veth pair to a bridge in a third, from where mpiexec
# starts Open MPI's daemons through tests/bench/netns_agent.sh. What a host sends is shaped. The kernel is the same for all, so
# this has the bandwidth of such a network, not its latency. It also shows what `xlm_train --plan` predicts for two nodes of one
# rank, measured on one.
#
# XLM_BENCH_STEPS  steps of a run (6); the first two do not count
set -euo pipefail
. "$XLM_SOURCE/tests/bench/table.sh"
section "training over a network, roberta-8, 2 hosts of 1 rank x 1 thread, beside --plan"
skip() { skipped "network" "$1"; exit 0; }
[[ $(id -u) -eq 0 ]] || skip "needs root"
for tool in ip tc; do
    command -v $tool >/dev/null || skip "needs $tool (Debian: iproute2)"
done
mpiexec --version 2>/dev/null | grep -q OpenRTE || skip "needs Open MPI 4"
# shellcheck source=tests/bench/roberta-8.sh
. "$XLM_SOURCE/tests/bench/roberta-8.sh"

network=10.213.7 # seen in the namespaces only
switch=xlm-switch-$$ hosts=("$network.1" "$network.2")
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
    launcher=(ip netns exec "$switch" mpiexec --mca plm rsh --mca plm_rsh_agent "$XLM_SOURCE/tests/bench/netns_agent.sh"
        --mca btl "self,tcp" --mca btl_tcp_if_include "$network.0/24" --mca oob_tcp_if_include "$network.0/24"
        -x PATH -x XLM_PLUGIN_PATH --host "$(IFS=,; echo "${hosts[*]}")" --map-by node --bind-to none)
    train "$work" "$1" 2 1 --profile
}

# planned GBIT: tokens/s of two nodes of one rank.
planned() {
    xlm_train "$work/job.conf" --set train.threads=1 --plan --ranks=2 --network="$1" >"$work/plan" 2>"$work/plan.log" ||
        { tail -n 3 "$work/plan.log" >&2; return 1; }
    cat "$work/plan" >&2
    awk '$1 == 2 && NF == 9 { print $4 }' "$work/plan"
}

roberta_8 "$work" "${XLM_BENCH_STEPS:-6}"
for gbit in 10 1; do
    for host in "${hosts[@]}"; do shape "$host" "${gbit}gbit"; done
    predicted=$(planned $gbit)
    over_wire "wire-$gbit"
    measured=$(rate "$work/wire-$gbit/metrics.csv" 2)
    grep '^gradients:' "$work/wire-$gbit.log" >&2 || true
    row "$gbit Gbit/s, plan off by" "$predicted tokens/s planned" "$measured tokens/s" "$(off "$predicted" "$measured")" "<= 0.2"
    row "  reduce-scatter during the backward pass" "$(hidden "$work/wire-$gbit.log")" "" ""
done
