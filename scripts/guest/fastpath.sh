#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# fastpath.sh LOADS ROUNDS ARM...: what scheduling costs, arm after arm in one
# boot, and all of it ROUNDS times. LOADS is "all", or "few": those that a machine
# of any size can run.
#
# An ARM is "fair", "sibling" or the command line of another sched_ext
# scheduler. Prints lines "NAME<tab>ARM-NUMBER<tab>INSTRUCTIONS", INSTRUCTIONS
# being those of the whole machine per operation, and for an arm that does not
# load or does not last "failed<tab>ARM-NUMBER<tab>WHY"; such an arm is left out
# from then on. Only in a VM of --icount, where a nanosecond of guest time is an
# instruction.
set -eu

state=/sys/kernel/sched_ext/state
work=$(mktemp -d)
arm=0

# die WHY: ends the arm, see measure. The first reason is the one.
die() {
	[ -f "$work/why" ] || printf '%s' "$*" | tr '\t\n' '  ' >"$work/why"
	exit 1
}

said() {
	grep -v '^ *$' "$work/log" | tail -n 2 | grep . || echo "it said nothing"
}

# row NAME INSTRUCTIONS: what an arm did that had been thrown out is not its own.
row() {
	case $2 in
	'' | *[!0-9]*) die "$1: no count" ;;
	esac
	[ ! -f "$work/pid" ] || [ "$(cat "$state")" = enabled ] ||
		die "$1: was thrown out: $(said)"
	printf '%s\t%s\t%s\n' "$1" "$arm" "$2"
}

# number KEY JSON
number() {
	printf '%s\n' "$2" | sed -n "s/.*\"$1\":\([0-9.]*\).*/\1/p" | grep . ||
		die "no $1 in: $2"
}

# per_us NAME KEY LOAD...: a load of scx_sibling's that tells microseconds per
# operation.
per_us() {
	name=$1 key=$2
	shift 2
	json=$(timeout 120 scx_sibling load --json "$@") || die "load $* failed"
	row "$name" "$(number "$key" "$json" | awk '{ printf "%.0f", $1 * 1000 }')"
}

# The task that opens the pipes is new each time, hence the warm-up.
pipes() {
	for place in "$@"; do
		per_us "pipe $place" us_per_loop pipe --place "$place" --warmup 500 --loops 3000
	done
}

# 2 groups of 10 senders and 10 receivers; each sender writes to each receiver.
hackbench_row() {
	loops=200
	seconds=$(timeout 120 hackbench -l "$loops" -g 2 -f 10 | sed -n 's/^Time: //p' | grep .) ||
		die "hackbench failed"
	row hackbench "$(awk -v s="$seconds" -v n=$((2 * 10 * 10 * loops)) \
		'BEGIN { printf "%.0f", s * 1e9 / n }')"
}

# Message threads and workers that only wake each other.
schbench_row() {
	json=$(timeout 120 scx_sibling load --json messages --groups 2 --workers 4 \
		--work-us 0 --seconds 0.3) || die "load messages failed"
	row schbench "$(number requests_per_s "$json" | awk '{ printf "%.0f", 1e9 / $1 }')"
}

# 4 clients; an operation is a megabyte moved.
tbench_row() {
	tbench_srv >/dev/null 2>&1 &
	server=$!
	sleep 0.2
	speed=$(timeout 120 tbench -t 2 -c /usr/share/dbench/client.txt 4 127.0.0.1 2>&1 |
		sed -n 's/^Throughput \([0-9.]*\) MB.*/\1/p' | grep .) || die "tbench failed"
	kill "$server"
	wait "$server" 2>/dev/null || true
	row tbench "$(awk -v s="$speed" 'BEGIN { printf "%.0f", 1e9 / s }')"
}

# until_state WORD
until_state() {
	tries=600
	until [ "$(cat "$state")" = "$1" ]; do
		tries=$((tries - 1))
		[ "$tries" -gt 0 ] || return 1
		# Gone without having been enabled: no use waiting.
		[ "$1" = disabled ] || kill -0 "$(cat "$work/pid")" 2>/dev/null || return 1
		sleep 0.1
	done
}

start() {
	case $1 in
	fair) return ;;
	sibling) set -- scx_sibling ;;
	esac
	# A command line, in words.
	# shellcheck disable=SC2086
	$1 >"$work/log" 2>&1 &
	echo $! >"$work/pid"
	until_state enabled || die "did not load: $(said)"
}

# stop COMMAND: whatever is left of the arm, with force if need be.
stop() {
	[ -f "$work/pid" ] || return 0
	pid=$(cat "$work/pid")
	kill -INT "$pid" 2>/dev/null || true
	until_state disabled || {
		kill -KILL "$pid" 2>/dev/null || true
		until_state disabled || {
			echo "fastpath: $1 does not go" >&2
			exit 1
		}
	}
	rm "$work/pid"
}

few() {
	pipes same core unbound
	per_us "rr unbound" us_per_transaction rr --transactions 2000
}

all() {
	pipes same smt core llc unbound
	per_us "rr unbound" us_per_transaction rr --transactions 2000
	per_us "rr bound" us_per_transaction rr --transactions 2000 --bind 0
	hackbench_row
	schbench_row
	tbench_row
}

# measure COMMAND: one arm, in a process of its own, which ends with its failure.
measure() {
	(
		start "$1"
		"$loads"
	) && return
	printf 'failed\t%s\t%s\n' "$arm" "$(cat "$work/why" 2>/dev/null || echo "for no known reason")"
	rm -f "$work/why"
	touch "$work/failed.$arm"
}

# The first load after the boot shares the machine with what the boot left.
sleep 10
scx_sibling load pipe --place same --loops 3000 >/dev/null
loads=$1
round=$2
shift 2
while [ "$round" -gt 0 ]; do
	round=$((round - 1))
	arm=0
	for command in "$@"; do
		arm=$((arm + 1))
		[ ! -f "$work/failed.$arm" ] || continue
		measure "$command"
		stop "$command"
	done
done
