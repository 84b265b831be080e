#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# stress.sh SECONDS: everything at once; whatever was started has to finish.
set -eu
# shellcheck source-path=SCRIPTDIR source=lib.sh
. /vmtest/lib.sh
seconds=$1
limit=$((seconds * 4 + 60))
# Older versions of stress-ng have no --cpu-sched, which changes policies and
# priorities at random; the nearest they have changes policies.
policies=cpu-sched
stress-ng --help | grep -q -e "--$policies" || policies=schedpolicy

# hackbenches: one after the other until the time is over.
hackbenches() {
	end=$(($(cut -d. -f1 /proc/uptime) + seconds))
	while [ "$(cut -d. -f1 /proc/uptime)" -lt "$end" ]; do
		timeout "$limit" hackbench -l 50 -g 2 -f 10 >/dev/null || return 1
	done
}

# background NAME CMD...
background() {
	name=$1
	shift
	("$@" >"$work/$name.out" 2>&1 || echo "$name ($?): $(tail -n 3 "$work/$name.out")" >>"$work/failed") &
	jobs="$jobs $!"
}

: >"$work/failed"
jobs=
start_sibling sibling
background hackbench hackbenches
background stress timeout "$limit" stress-ng -t "$seconds" \
	"--$policies" 2 --affinity 2 --affinity-rand --fork 2
background hogs timeout "$limit" scx_sibling load hogs -n 2 --pin-each 1,2 --seconds "$seconds" \
	--sample-ms 0
background waiter timeout "$limit" scx_sibling load waiter --cpu 1 --seconds "$seconds" \
	--period-us 10000 --json
for job in $jobs; do
	wait "$job" || true
done
text failed "$(cat "$work/failed")"
echo "waiter $(grep '^{' "$work/waiter.out" || echo null)"
health
stop_sibling
