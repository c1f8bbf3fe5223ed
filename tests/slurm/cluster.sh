#!/bin/bash
# xlm-mpi: a small Slurm cluster on this machine, for tests. SPDX-License-Identifier: GPL-3.0-or-later
#
#   tests/slurm/cluster.sh start DIRECTORY [NODES]   daemons with all their state in DIRECTORY (default: 2 nodes)
#   tests/slurm/cluster.sh lose DIRECTORY NODE [SIGNAL]   ends all of a node at once: its slurmd, and the processes of its jobs.
#       SIGNAL is KILL, after which connections to the node are closed, or STOP, after which nothing is heard of it any more
#   tests/slurm/cluster.sh stop DIRECTORY            ends when the daemons have ended
#   tests/slurm/cluster.sh show DIRECTORY            jobs, nodes and the last lines of the logs, for a failed test
#
# Every node is a slurmd of its own on the loopback address. After start, SLURM_CONF=DIRECTORY/slurm.conf is what
# sbatch, srun and scontrol need. No authentication: the daemons listen for this machine only, and only during a test.
# Slurm holds a requeued job back until its old credential has expired (cred_expire); a node refuses it before.
# Exit code 77 (skip) where Slurm is not installed or its daemons may not run.
set -eu

skip() {
    echo "SKIP: $*" >&2
    exit 77
}

write_configuration() { # DIRECTORY NODES
    local directory=$1 nodes=$2 node port user cpus
    user=$(id -un)
    cpus=$(nproc)
    # Ten ports for each process number, so that two tests side by side do not meet.
    port=$((20000 + $$ % 2000 * 10))
    cat >"$directory/slurm.conf" <<END
ClusterName=xlmtest
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmctldPort=$port
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/none
AuthInfo=cred_expire=5
CredType=cred/none
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=batch_sched_delay=1,sched_interval=1,sched_min_interval=100000,bf_interval=1
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
JobRequeue=1
KillWait=20
SlurmdTimeout=10
MinJobAge=600
ReturnToService=2
StateSaveLocation=$directory/state
SlurmdSpoolDir=$directory/spool.%n
TmpFS=$directory/tmp.%n
SlurmctldPidFile=$directory/slurmctld.pid
SlurmdPidFile=$directory/slurmd.%n.pid
SlurmctldLogFile=$directory/slurmctld.log
SlurmdLogFile=$directory/slurmd.%n.log
SlurmdParameters=config_overrides
END
    for ((node = 1; node <= nodes; node++)); do
        mkdir -p "$directory/spool.n$node" "$directory/tmp.n$node"
        echo "NodeName=n$node NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 Port=$((port + node)) CPUs=$cpus" \
            "CoresPerSocket=$cpus"
    done >>"$directory/slurm.conf"
    echo "PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP" >>"$directory/slurm.conf"
}

start() { # DIRECTORY NODES
    local directory=$1 nodes=$2 node attempt program
    PATH=$PATH:/usr/sbin:/sbin
    for program in slurmctld slurmd sbatch; do
        command -v $program >/dev/null || skip "no $program (Debian/Ubuntu: slurm-wlm)"
    done
    [ "$(id -u)" -eq 0 ] || skip "slurmd wants root"
    mkdir -p "$directory/state"
    write_configuration "$directory" "$nodes"
    export SLURM_CONF=$directory/slurm.conf
    slurmctld -i || skip "slurmctld does not start here: $(tail -n 1 "$directory/slurmctld.log")"
    for ((node = 1; node <= nodes; node++)); do
        slurmd -N "n$node" || skip "slurmd does not start here: $(tail -n 1 "$directory/slurmd.n$node.log")"
    done
    for ((attempt = 0; attempt < 1000; attempt++)); do # five minutes: on a busy machine the test is not to vanish
        if [ "$(sinfo -h -t idle -o %D 2>/dev/null || true)" = "$nodes" ]; then return; fi
        sleep 0.3
    done
    sinfo >&2 || true
    stop "$directory"
    skip "the nodes do not come up here"
}

# processes_of DIRECTORY NODE: those of jobs on the node, children before their parents, then slurmstepds and the slurmd.
processes_of() {
    local file process at depth
    local -A parent=() daemons=()
    for file in $(grep -slzxF "SLURMD_NODENAME=$2" /proc/[0-9]*/environ | xargs -r grep -slzxF "SLURM_CONF=$1/slurm.conf"); do
        process=${file%/environ} process=${process#/proc/}
        at=$(sed -n 's/^PPid:[[:blank:]]*//p' "/proc/$process/status" 2>/dev/null) || continue
        parent[$process]=$at
        case $(cat "/proc/$at/comm" 2>/dev/null) in slurmstepd*) daemons[$at]=1 ;; esac
    done
    for process in "${!parent[@]}"; do
        for ((depth = 0, at = process; ${parent[$at]-0} > 0; depth++)); do at=${parent[$at]}; done
        echo "$depth $process"
    done | sort -rn | cut -d' ' -f2
    for process in "${!daemons[@]}"; do echo "$process"; done
    cat "$1/slurmd.$2.pid"
}

lose() { # DIRECTORY NODE SIGNAL
    local processes
    mapfile -t processes < <(processes_of "$1" "$2")
    # All are stopped before the first ends, so that none tells of the end of another, as the child of srun does. Children end
    # before their parents, because a stopped process continues when the last parent outside its group is gone.
    kill -STOP "${processes[@]}" || true
    kill "-$3" "${processes[@]}" || true
}

stop() { # DIRECTORY
    local file pid
    for file in "$1"/slurmd.*.pid "$1"/slurmctld.pid; do
        if [ ! -s "$file" ]; then continue; fi
        pid=$(cat "$file")
        kill "$pid" 2>/dev/null || continue
        timeout 20 tail --pid="$pid" -s 0.1 -f /dev/null || kill -KILL "$pid" 2>/dev/null || true
    done
}

show() { # DIRECTORY
    export SLURM_CONF=$1/slurm.conf
    scontrol show job || true
    sinfo -N -l || true
    sinfo -R || true
    tail -n 40 "$1"/*.log
}

case ${1-} in
start) start "$2" "${3-2}" ;;
lose) lose "$2" "$3" "${4-KILL}" ;;
stop) stop "$2" ;;
show) show "$2" ;;
*)
    echo "usage: $0 start DIRECTORY [NODES] | lose DIRECTORY NODE [SIGNAL] | stop DIRECTORY | show DIRECTORY" >&2
    exit 64
    ;;
esac
