#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# refuses.sh: starts that cannot succeed, and what they leave behind.
set -eu
# shellcheck source-path=SCRIPTDIR source=lib.sh
. /vmtest/lib.sh

# try NAME CMD...: exit status and text of a start, and of "check" beside it.
try() {
	name=$1
	shift
	status=0
	timeout 60 "$@" scx_sibling >"$work/try" 2>&1 || status=$?
	echo "$name.exit $status"
	text "$name.text" "$(cat "$work/try")"
	status=0
	timeout 60 "$@" scx_sibling check >"$work/try" 2>&1 || status=$?
	echo "$name.check_exit $status"
	text "$name.check" "$(cat "$work/try")"
}

# hide DIR NAME: try without what is below DIR.
hide() {
	mount -t tmpfs tmpfs "$1"
	try "$2"
	umount "$1"
	[ -e "$state" ] || die "$1 does not come back"
}

# monitor NAME: does the statistics socket answer?
monitor() {
	timeout 30 scx_sibling --monitor 0.2 >"$work/monitor" 2>&1 &
	client=$!
	tries=400
	until grep -q placed "$work/monitor"; do
		tries=$((tries - 1))
		[ "$tries" -gt 0 ] || break
		sleep 0.05
	done
	kill "$client"
	wait "$client" || true
	text "$1" "$(head -n 1 "$work/monitor")"
}

before=$(cat "$seq")
# By its path: the shell has a smaller setpriv of its own.
try user /usr/bin/setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps -all
hide /sys/kernel/btf btf
hide /sys/kernel kernel
text untouched "$(cat "$state") $(($(cat "$seq") - before))"

start_sibling first
text first.ops "$(cat /sys/kernel/sched_ext/root/ops)"
monitor first.monitor
try second
monitor first.monitor_after
health
stop_sibling

# A killed loader leaves its socket behind.
start_sibling killed
kill -9 "$scheduler"
wait "$scheduler" || true
until_is disabled "$state" 20 || die "still $(cat "$state") after kill -9"
start_sibling again
monitor again.monitor
health
stop_sibling
