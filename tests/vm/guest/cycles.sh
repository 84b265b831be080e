#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# cycles.sh N: load and unload N times under load.
set -eu
# shellcheck source-path=SCRIPTDIR source=lib.sh
. /vmtest/lib.sh
cycles=$1

load_forever() {
	trap 'kill $!; exit 0' TERM
	while :; do
		timeout 60 "$@" >/dev/null 2>&1 &
		wait $! || touch "$work/load_failed"
	done
}

load_forever scx_sibling load sleepers -n 8 --run-us 200 --sleep-us 2000 --seconds 5 &
loads=$!
load_forever scx_sibling load forks --seconds 5 &
loads="$loads $!"
# Ahead of the loads, which keep both CPUs busy: what is tested is the start, not the wait.
renice -n -15 -p $$ >/dev/null
first=$(cat "$seq")
done=0
while [ "$done" -lt "$cycles" ]; do
	start_sibling "cycle"
	bad=$(health | sed 's/^[^ ]* //')
	[ "$bad" = '"ok"' ] || die "cycle $done: $bad"
	interrupt
	[ "$status" = 0 ] || die "cycle $done: exit $status: $(cat "$work/errors")"
	[ "$(cat "$state")" = disabled ] || die "cycle $done: state $(cat "$state")"
	done=$((done + 1))
done
# shellcheck disable=SC2086
kill -TERM $loads
# shellcheck disable=SC2086
wait $loads || true
echo "enabled $(($(cat "$seq") - first))"
echo "seconds $(cut -d. -f1 /proc/uptime)"
echo "load_failed $([ -e "$work/load_failed" ] && echo true || echo false)"
text log "$(bad_lines)"
