#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# hogs16.sh: twelve hogs; then a real-time task takes the CPU of one of them.
set -eu
# shellcheck source-path=SCRIPTDIR source=lib.sh
. /vmtest/lib.sh

# hog_cpus: the CPU of each running hog.
hog_cpus() {
	awk '$2 == "(sib-hog)" && $3 == "R" { print $39 }' /proc/[0-9]*/stat 2>/dev/null
}

start_sibling sibling
measure twelve hogs -n 12 --seconds 0.6 --settle-ms 300

timeout 60 scx_sibling load hogs -n 12 --seconds 0.8 --settle-ms 300 --sample-ms 0 --json >"$work/hogs" &
hogs=$!
tries=200
while [ "$(hog_cpus | wc -l)" -lt 12 ]; do
	tries=$((tries - 1))
	[ "$tries" -gt 0 ] || die "the hogs do not run"
	sleep 0.02
done
sleep 0.4
cpu=$(hog_cpus | head -n 1)
measure rt rt-hog --cpu "$cpu" --seconds 0.3
wait "$hogs" || die "the hogs failed ($?)"
echo "beside $(cat "$work/hogs")"
health
stop_sibling
