# SPDX-License-Identifier: GPL-2.0-only
# Shared by the guest scripts, which source it. They print "NAME VALUE" lines,
# VALUE being JSON, for the test to judge; what fails outright ends the script.
# shellcheck shell=sh

state=/sys/kernel/sched_ext/state
seq=/sys/kernel/sched_ext/enable_seq
work=$(mktemp -d)
scheduler=
run=
seq_before=0

die() {
	echo "guest: $*" >&2
	dmesg | tail -n 30 >&2
	exit 1
}

# text NAME STRING: as a JSON string.
text() {
	printf '%s "%s"\n' "$1" "$(printf '%s' "$2" | tr '\n\t' '  ' | sed 's/[\\"]/\\&/g')"
}

# until_is WANT FILE SECONDS: wait for a file of sysfs to hold a word.
until_is() {
	tries=$(($3 * 20))
	while [ "$(cat "$2" 2>/dev/null)" != "$1" ]; do
		tries=$((tries - 1))
		[ "$tries" -gt 0 ] || return 1
		sleep 0.05
	done
}

# alive PID: a zombie is not.
alive() {
	kill -0 "$1" 2>/dev/null && ! grep -q '^State:.Z' "/proc/$1/status" 2>/dev/null
}

# start_sibling NAME [ARG]...: returns when the kernel says that it schedules.
# NAME stands in front of all that is printed of this run.
start_sibling() {
	run=$1
	shift
	seq_before=$(cat "$seq")
	scx_sibling --summary-json "$@" >"$work/counters" 2>"$work/errors" &
	scheduler=$!
	tries=2400
	until [ "$(cat "$state")" = enabled ]; do
		tries=$((tries - 1))
		[ "$tries" -gt 0 ] || die "scx_sibling not enabled within 120 s"
		alive "$scheduler" || die "scx_sibling did not start: $(cat "$work/errors")"
		sleep 0.05
	done
}

# bad_lines: what the kernel log says about trouble. Coming and going is none,
# nor is what the kernel says of every scheduler that uses a deprecated call.
bad_lines() {
	dmesg | grep -E 'sched_ext:|BUG:|Oops|WARNING:| stall|lockup|hung' |
		grep -vE 'sched_ext: BPF scheduler .* (enabled|disabled \((unregistered from user space|unregistered from the main kernel)\))$' |
		head -n 5
}

# health: "ok", or what is wrong: state, start count, kernel log, loader.
health() {
	bad=$(bad_lines)
	if [ "$(cat "$state")" != enabled ]; then
		bad="state $(cat "$state") $bad $(cat "$work/errors")"
	elif [ "$(cat "$seq")" != $((seq_before + 1)) ]; then
		bad="enable_seq went from $seq_before to $(cat "$seq") $bad"
	elif ! alive "$scheduler"; then
		bad="the loader is gone $bad $(cat "$work/errors")"
	fi
	text "$run.health" "${bad:-ok}"
}

# interrupt: Ctrl-C to the scheduler; sets "status". What it then says of
# itself is in $work.
interrupt() {
	kill -INT "$scheduler" 2>/dev/null || true
	tries=1200
	while alive "$scheduler"; do
		tries=$((tries - 1))
		[ "$tries" -gt 0 ] || die "scx_sibling does not stop on SIGINT"
		sleep 0.05
	done
	status=0
	wait "$scheduler" || status=$?
	scheduler=
	until_is disabled "$state" 20 || true
}

# stop_sibling: prints its exit status, the state it leaves, and what it counted
# from start to stop.
stop_sibling() {
	interrupt
	echo "$run.exit $status"
	text "$run.state" "$(cat "$state")"
	[ "$status" = 0 ] || text "$run.errors" "$(cat "$work/errors")"
	printf '%s.counters %s\n' "$run" "$(grep '^{' "$work/counters" || echo null)"
}

# measure NAME LOAD...: a load of scx_sibling's, which measures itself.
measure() {
	measured=$1
	shift
	result=$(timeout 60 scx_sibling load "$@" --json) || die "load $* failed ($?)"
	echo "$measured $result"
}
