#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# newidle.sh: what CPUs going idle pull, and from how far, by the costs set.
#
# For 2 LLCs of CPUs 0-3 and 4-7. Wake-ups are told to stay in their LLC: the
# first has more work than CPUs, all of it free to move. On the CPUs of the
# second, sleepers tied to it decide how long a CPU expects to idle. The time a
# search takes is left out of the gate: where time is instructions, those of all
# CPUs, it is not that of the search.
set -eu
# shellcheck source-path=SCRIPTDIR source=lib.sh
. /vmtest/lib.sh

# A cgroup holds the free work in the first LLC until all of it is there.
group=/sys/fs/cgroup/messages
echo +cpuset >/sys/fs/cgroup/cgroup.subtree_control
mkdir $group

# until_there N CMD...: until the command prints N lines or more.
until_there() {
	want=$1
	shift
	tries=200
	until [ "$("$@" | wc -l)" -ge "$want" ]; do
		tries=$((tries - 1))
		[ "$tries" -gt 0 ] || die "the load does not start"
		sleep 0.01
	done
}

sleepers() {
	grep -lx sib-sleeper /proc/[0-9]*/comm 2>/dev/null
}

# run NAME SLEEP_US [ARG]...
run() {
	name=$1
	sleep_us=$2
	shift 2
	start_sibling "$name" --set wake.max_level=2 --set NO_NEWIDLE_MEASURED_COST "$@"
	# First and last: without them CPUs expect to idle for long.
	timeout 60 scx_sibling load sleepers -n 8 --pin 4-7 --run-us 20 --sleep-us "$sleep_us" \
		--seconds 0.8 --json >"$work/sleepers" &
	naps=$!
	until_there 8 sleepers
	echo 0-3 >$group/cpuset.cpus
	(
		echo 0 >$group/cgroup.procs
		exec timeout 60 scx_sibling load messages --groups 1 --workers 8 --work-us 100 \
			--seconds 0.5 --json >"$work/messages"
	) &
	messages=$!
	# The load, its message thread, and the workers.
	until_there 10 cat $group/cgroup.threads
	echo 0-7 >$group/cpuset.cpus
	wait "$messages" || die "the message load failed ($?)"
	alive "$naps" || die "the sleepers ended before the message load"
	wait "$naps" || die "the sleepers failed ($?)"
	echo "$name.messages $(cat "$work/messages")"
	echo "$name.sleepers $(cat "$work/sleepers")"
	health
	stop_sibling
}

# costs NS LEVEL...: the settings for these costs.
costs() {
	ns=$1
	shift
	printf -- '--set migration_cost_ns.%s='"$ns "  "$@"
}

# The CPUs of the second LLC nap for some 0.3 ms. "plain" lets them pull across
# LLCs; "dear" differs from it in the llc cost alone, ten times the default.
near='--set migration_cost_ns.node=60000'

# shellcheck disable=SC2046,SC2086 # words, on purpose
{
	run plain 500 $near
	run dear 500 $near $(costs 500000 llc)
	run naps 300 $(costs 5000000 llc node system)
	run free 300 $(costs 0 smt cluster llc node system)
}
