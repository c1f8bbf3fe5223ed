#!/usr/bin/env bash
# xlm-mpi: training over a network of 10 and of 1 Gbit/s, made of network namespaces on this machine. SPDX-License-Identifier: GPL-3.0-or-later
#
# Two ranks of one thread, each on a "host" of its own: a namespace with one veth pair to a bridge in a third, from where mpiexec
# starts Open MPI's daemons through tests/bench/netns_agent.sh. What a host sends is shaped. The kernel is the same for all,
# so this has the bandwidth of such a network, not its latency. Bytes a step are those of a run less those of a run
# of two steps, so that start, evaluation and checkpoint do not count.
#
# XLM_BENCH_STEPS  steps of a run (8); the first two do not count
set -euo pipefail
skip() { echo "skipped: $1"; exit 0; }
[[ $(id -u) -eq 0 ]] || skip "needs root"
for tool in ip tc; do
    command -v $tool >/dev/null || skip "needs $tool (Debian: iproute2)"
done
mpiexec --version 2>/dev/null | grep -q OpenRTE || skip "needs Open MPI 4"
# shellcheck source=tests/bench/roberta-8.sh
. "$XLM_SOURCE/tests/bench/roberta-8.sh"

network=10.213.7 # seen in the namespaces only
switch=xlm-switch-$$ hosts=("$network.1" "$network.2")
[[ ! -e /run/netns/${hosts[0]} ]] || skip "there is a namespace ${hosts[0]}: another run, or one that was killed (ip netns delete)"
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

sent() { # bytes that the hosts have sent, both together
    local host
    for host in "${hosts[@]}"; do ip netns exec "$host" cat /sys/class/net/wire/statistics/tx_bytes; done | awk '{ n += $1 } END { printf "%.0f\n", n }'
}

# over_wire NAME STEPS: trains on both hosts; sets $crossed to the bytes that went over the wire.
over_wire() {
    local before launcher
    before=$(sent)
    # The daemons get this environment from the agent.
    launcher=(ip netns exec "$switch" mpiexec --mca plm rsh --mca plm_rsh_agent "$XLM_SOURCE/tests/bench/netns_agent.sh"
        --mca btl "self,tcp" --mca btl_tcp_if_include "$network.0/24" --mca oob_tcp_if_include "$network.0/24"
        -x PATH -x XLM_PLUGIN_PATH --host "$(IFS=,; echo "${hosts[*]}")" --map-by node --bind-to none)
    train "$job" "$1" 2 1 --set "train.steps=$2"
    crossed=$(($(sent) - before))
}

line() { # NAME: of a run, and how it is called
    awk -v name="$2" -v rate="$(rate "$job/$1/metrics.csv" 2)" -v bytes="${3:-}" -F, '$3 == "total" && $1 > 2 { seconds += $12; n++ }
        END { printf "%-26s %6d tokens/s  %6.3f s a step", name, rate, seconds / n
              if (bytes != "") printf "  %6.1f MB a step sent by both", bytes / 1e6; print "" }' "$job/$1/metrics.csv"
}

compare() { # NAME STEPS LAYERS WIDTH HEADS MERGES
    local host speed
    job=$work/${1// /-}
    made_job "$job" "${@:2}"
    echo "$1: $(xlm_train "$job/job.conf" --dry-run 2>&1 | grep -o '[0-9]* parameters.*')"
    train "$job" memory 2 1
    line memory "shared memory"
    for host in "${hosts[@]}"; do tc -n "$host" qdisc delete dev wire root 2>/dev/null || true; done # the last job's
    over_wire start 2
    local start=$crossed
    for speed in unshaped 10gbit 1gbit; do
        for host in "${hosts[@]}"; do
            [[ $speed == unshaped ]] || shape "$host" "$speed"
        done
        over_wire "$speed" "$2"
        line "$speed" "TCP, ${speed/gbit/ Gbit\/s}" $(((crossed - start) / ($2 - 2)))
    done
}
steps=${XLM_BENCH_STEPS:-8}
echo "load average before: $(cut -d" " -f1-3 /proc/loadavg)" # threads that wait for each other suffer most from other work
compare "4 layers x 256" "$steps" 4 256 4 8000
compare roberta-8 "$steps" 8 512 8 40000
