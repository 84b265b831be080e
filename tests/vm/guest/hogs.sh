#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# hogs.sh: where hogs run, and how evenly.
set -eu
# shellcheck source-path=SCRIPTDIR source=lib.sh
. /vmtest/lib.sh

start_sibling sibling
measure four hogs -n 4 --seconds 0.6
measure six hogs -n 6 --seconds 0.6
measure nine hogs -n 9 --seconds 3 --sample-ms 0
measure nice hogs -n 2 --pin 0 --nice 0,5 --seconds 2 --settle-ms 200 --sample-ms 0

timeout 60 scx_sibling load hogs -n 16 --seconds 1.4 --settle-ms 100 --sample-ms 0 >/dev/null &
hogs=$!
measure pinned waiter --cpu 3 --period-us 5000 --seconds 1.1
wait "$hogs" || die "the hogs behind the pinned task failed ($?)"
health
stop_sibling
