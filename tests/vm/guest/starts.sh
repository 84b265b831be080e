#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# starts.sh: what machine this is; the scheduler comes, works, and goes. With
# an argument once more, with the cache directories hidden.
set -eu
# shellcheck source-path=SCRIPTDIR source=lib.sh
. /vmtest/lib.sh

# once NAME
once() {
	start_sibling "$1"
	timeout 60 hackbench -l 20 -g 1 -f 4 >/dev/null || die "hackbench failed ($?)"
	measure "$1.hogs" hogs -n 2 --seconds 0.3 --settle-ms 50
	measure "$1.messages" messages --seconds 0.3
	text "$1.ops" "$(cat /sys/kernel/sched_ext/root/ops)"
	health
	stop_sibling
}

text kernel "$(uname -r)"
text online "$(cat /sys/devices/system/cpu/online)"
text possible "$(cat /sys/devices/system/cpu/possible)"
echo "topology $(scx_sibling topology --json | tr -d '\n')"
once plain
if [ "${1:-}" = hide-caches ]; then
	for dir in /sys/devices/system/cpu/cpu[0-9]*/cache; do
		mount -t tmpfs tmpfs "$dir"
	done
	echo "topology.hidden $(scx_sibling topology --json | tr -d '\n')"
	once hidden
fi
