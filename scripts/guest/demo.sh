#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# demo.sh: watch scx_sibling schedule a mixed load for about 20 seconds.
#
# Needs root, a kernel with sched_ext, scx_sibling and hackbench in PATH.
# Leaves the system as it was: on the kernel's fair class. Any step that goes
# wrong makes the exit status non-zero.
set -eu

seconds=18
ops=/sys/kernel/sched_ext/root/ops
state=/sys/kernel/sched_ext/state
scheduler=
load=

say() {
	printf '== %s\n' "$*"
}

die() {
	printf 'demo: %s\n' "$*" >&2
	exit 1
}

# stop PID: as Ctrl-C does it. The shell starts background jobs with SIGINT
# ignored; the scheduler's own handler undoes that.
stop() {
	kill -INT "$1" 2>/dev/null || true
	tries=300
	while kill -0 "$1" 2>/dev/null; do
		tries=$((tries - 1))
		[ "$tries" -gt 0 ] || die "scx_sibling does not stop on SIGINT"
		sleep 0.1
	done
	wait "$1"
}

# shellcheck disable=SC2317 # reached through a trap
cleanup() {
	touch "$dir/stop"
	# shellcheck disable=SC2086
	kill $load $scheduler 2>/dev/null || true
	rm -rf "$dir"
}

# wakeup_cost FILE: microseconds per loop of two processes that wake each
# other through pipes.
wakeup_cost() {
	timeout 60 scx_sibling load pipe --loops 3000 >"$1" || die "the pipe load failed"
	sed -n 's|^ *\([0-9]*\.[0-9]\)[0-9]* usecs/loop.*|\1|p' "$1" | tail -n 1 | grep . ||
		die "the pipe load printed no figure"
}

# until_disabled: the kernel takes a moment to move every task back.
until_disabled() {
	tries=50
	while [ "$(cat "$state")" != disabled ]; do
		tries=$((tries - 1))
		[ "$tries" -gt 0 ] || return 1
		sleep 0.1
	done
}

# until_enabled: the scheduler is on when the kernel says so.
until_enabled() {
	tries=300
	while [ "$tries" -gt 0 ]; do
		kill -0 "$scheduler" 2>/dev/null || return 1
		case $(cat "$state" "$ops" 2>/dev/null | tr '\n' ' ') in
		"enabled sibling"*) return 0 ;;
		esac
		sleep 0.1
		tries=$((tries - 1))
	done
	return 1
}

# repeat CMD...: until the demonstration's time is over. In the background,
# because a shell that waits for a foreground command takes no signal.
repeat() {
	trap 'kill $!; exit 1' TERM
	while [ ! -e "$dir/stop" ]; do
		timeout 60 "$@" >/dev/null &
		wait $! || return 1
	done
}

# mixed_load: three kinds of work at once; a file tells of each that failed.
mixed_load() {
	scx_sibling load hogs -n 4 --seconds "$seconds" >/dev/null &
	hogs=$!
	(repeat scx_sibling load pipe --loops 3000 || touch "$dir/failed.pipe") &
	load="$hogs $!"
	(repeat hackbench -l 200 -g 2 -f 10 || touch "$dir/failed.hackbench") &
	load="$load $!"
	wait "$hogs" || touch "$dir/failed.hogs"
	touch "$dir/stop"
	# shellcheck disable=SC2086
	wait $load || true
	load=
	for name in hogs pipe hackbench; do
		[ ! -e "$dir/failed.$name" ] || die "the $name load failed"
	done
}

[ -r "$state" ] || die "this kernel has no sched_ext ($state is missing)"
[ "$(cat "$state")" = disabled ] ||
	die "another sched_ext scheduler is loaded: $(cat "$ops" 2>/dev/null || cat "$state")"
dir=$(mktemp -d)
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

say "kernel $(uname -r), $(nproc) CPUs, on the kernel's fair class"
fair=$(wakeup_cost "$dir/fair")
say "wake-up cost, fair class: $fair us per pipe loop"

say "starting scx_sibling (verifying takes seconds in a VM); statistics every 2 s"
scx_sibling --stats 2 --summary &
scheduler=$!
until_enabled || die "scx_sibling did not come up within 30 s (state: $(cat "$state"))"
say "on $(cat "$ops"), state $(cat "$state"): for $seconds s 4 hogs, a pipe ping-pong, hackbench"
mixed_load
say "the load has ended; wake-up cost once more"
sibling=$(wakeup_cost "$dir/sibling")
[ "$(cat "$state")" = enabled ] || die "the scheduler was thrown out under load"

say "stopping scx_sibling"
status=0
stop "$scheduler" || status=$?
scheduler=
[ "$status" = 0 ] || die "scx_sibling ended with status $status"
say "wake-up cost, us per pipe loop: sibling $sibling, fair $fair"
if grep -q '^flags.* hypervisor' /proc/cpuinfo; then
	say "in a VM: these times depend on what else the host does; compare no speed by them"
fi
until_disabled || die "the scheduler stopped, but sched_ext is $(cat "$state")"
say "sched_ext is disabled again: the system is on the fair class"
