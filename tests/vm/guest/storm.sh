#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# storm.sh SECONDS SETS: so many random settings a second for so long, under
# hackbench and a hog per CPU.
set -eu
# shellcheck source-path=SCRIPTDIR source=lib.sh
. /vmtest/lib.sh

start_sibling storm
hackbench -g 2 -f 5 -l 100000000 >/dev/null 2>&1 &
bench=$!
scx_sibling load hogs -n 4 --seconds 100000 >/dev/null 2>&1 &
hogs=$!
result=$(timeout $(($1 * 10)) tune_storm "$1" "$2") || die "the storm broke off ($?)"
echo "result $result"
kill "$bench" "$hogs" 2>/dev/null || true
health
stop_sibling
