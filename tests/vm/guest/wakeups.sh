#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# wakeups.sh: a load with idle and half idle cores, with and without IDLE_CORE.
set -eu
# shellcheck source-path=SCRIPTDIR source=lib.sh
. /vmtest/lib.sh

# run NAME [ARG]...
run() {
	name=$1
	shift
	start_sibling "$name" "$@"
	# One half idle and one idle core in each LLC.
	timeout 60 scx_sibling load hogs -n 2 --pin-each 1,5 --seconds 1 --sample-ms 0 >/dev/null &
	hogs=$!
	measure "$name.sleepers" sleepers -n 4 --run-us 40 --sleep-us 300 --seconds 0.3
	measure "$name.messages" messages --groups 1 --workers 3 --work-us 40 --seconds 0.3
	wait "$hogs" || die "the hogs failed ($?)"
	health
	stop_sibling
}

run core
run thread --set NO_IDLE_CORE
