#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# hotplug.sh TIMES BURST: take a CPU away and give it back, under load. After
# every BURST times the scheduler has to be back.
set -eu
# shellcheck source-path=SCRIPTDIR source=lib.sh
. /vmtest/lib.sh
times=$1
burst=$2
cpu=/sys/devices/system/cpu/cpu3/online

start_sibling sibling
first=$(cat "$seq")
timeout 900 scx_sibling load sleepers -n 8 --run-us 200 --sleep-us 2000 --seconds 900 >/dev/null &
load=$!
i=0
while [ "$i" -lt "$times" ]; do
	echo 0 >$cpu || die "CPU 3 does not go ($i)"
	echo 1 >$cpu || die "CPU 3 does not come back ($i)"
	i=$((i + 1))
	[ $((i % burst)) = 0 ] || continue
	# It may still be on its way out: the start count tells.
	until_is enabled "$state" 120 || die "not back after $i times: $(cat "$work/errors")"
	alive "$scheduler" || die "the loader is gone after $i times: $(cat "$work/errors")"
done
# The topology the scheduler now has is that of all CPUs: work on CPU 3 runs.
measure after waiter --cpu 3 --seconds 0.5
echo "restarts $(($(cat "$seq") - first))"
alive "$load" || die "the load ended"
kill "$load"
wait "$load" || true
text log "$(bad_lines)"
text errors "$(cat "$work/errors")"
stop_sibling
