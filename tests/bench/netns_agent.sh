#!/bin/sh
# xlm-mpi: Open MPI's launch agent for tests/bench/network.sh, in place of ssh. SPDX-License-Identifier: GPL-3.0-or-later
#
#   netns_agent.sh HOST COMMAND...
#
# Runs the command in the network namespace of the host's name, with a host name of its own; like ssh, by a shell.
host=$1
shift
exec ip netns exec "$host" unshare --uts sh -c "echo $host >/proc/sys/kernel/hostname; $*"
