#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# live.sh: the tunables of a running scheduler as its users meet them, from the
# first command to a killed loader.
set -eu
# shellcheck source-path=SCRIPTDIR source=lib.sh
. /vmtest/lib.sh

# said NAME CMD...: its exit code and all it printed.
said() {
	said=$1
	shift
	code=0
	"$@" >"$work/said" 2>&1 || code=$?
	echo "$said.code $code"
	text "$said.says" "$(cat "$work/said")"
}

tune() {
	scx_sibling tune "$@"
}

nobody() {
	su nobody -s /bin/sh -c "$1"
}

# until_says WORD CMD...: until the command prints the word.
until_says() {
	word=$1
	shift
	tries=200
	until "$@" 2>&1 | grep -q "$word"; do
		tries=$((tries - 1))
		[ "$tries" -gt 0 ] || die "$*: never says $word"
		sleep 0.05
	done
}

said before.tune scx_sibling tune list
said before.status scx_sibling status

printf 'slice_ns = "10ms"\nSYNC = false\n' >"$work/settings.toml"
start_sibling live --config "$work/settings.toml" --set NO_AVG_CPU
until_says sibling scx_sibling status
said start tune diff
said status scx_sibling status
said set tune set slice_ns=7ms NO_IDLE_CORE migration_cost_ns.llc=0.5ms wake.sync_run_ns=off
said get tune get slice_ns IDLE_CORE migration_cost_ns.llc wake.sync_run_ns
said both tune set slice_ns=8ms slice_ns=1h
said range tune set balance.imbalance_pct=5
said name tune set IDEL_CORE
said pair tune set slice_ns=1ms
said kept tune get slice_ns IDLE_CORE
text json "$(tune list --json | grep -c '"name"')"

# A watcher sees what others do.
tune watch >"$work/watched" 2>&1 &
watcher=$!
# It says nothing at its start: change things until it has seen one.
flip() {
	tune set wake.max_level=2
	sleep 0.1
	tune reset wake.max_level
	cat "$work/watched"
}
until_says "wake.max_level=2  (was 4)" flip
kill -0 "$watcher"

said save tune save "$work/saved.toml"
tune reset
said reset tune diff
said load tune load "$work/saved.toml"
said loaded tune diff

# A disk with no room leaves the old file.
mkdir "$work/small"
mount -t tmpfs -o size=8k tmpfs "$work/small"
tune save "$work/small/f"
cp "$work/small/f" "$work/first"
tune set slice_ns=9ms
dd if=/dev/zero of="$work/small/fill" bs=4k 2>/dev/null || true
said full tune save "$work/small/f"
if cmp -s "$work/first" "$work/small/f"; then
	text full.file same
else
	text full.file changed
fi
said full.rest ls "$work/small"

said nobody.list nobody "scx_sibling tune list"
said nobody.set nobody "scx_sibling tune set slice_ns=5ms"
said nobody.status nobody "scx_sibling status"
said nobody.map nobody "cat /sys/fs/bpf/scx_sibling/tunables"
said second scx_sibling
said after.second tune get slice_ns

# The file again: what it names is set, what it no longer names is default.
printf 'slice_ns = "6ms"\n' >"$work/settings.toml"
kill -HUP "$scheduler"
until_says slice_ns=6000000 tune get slice_ns
said hup tune get slice_ns SYNC IDLE_CORE
printf 'slice_ns = 5ms\nFOO = 1\n' >"$work/settings.toml"
kill -HUP "$scheduler"
until_says "not read again" cat "$work/errors"
said hup.bad tune get slice_ns

# A restart after hotplug keeps what was set live.
loads=$(cat "$seq")
echo 0 >/sys/devices/system/cpu/cpu3/online
tries=1200
until [ "$(cat "$seq")" -gt "$loads" ] && [ "$(cat "$state")" = enabled ]; do
	tries=$((tries - 1))
	[ "$tries" -gt 0 ] || die "not enabled again after the hotplug"
	sleep 0.05
done
said hotplug tune get slice_ns SYNC IDLE_CORE
until_says "2 loads" scx_sibling status
echo 1 >/sys/devices/system/cpu/cpu3/online
until_says "3 loads" scx_sibling status

# A killed loader.
kill -9 "$scheduler"
until_is disabled "$state" 20 || die "still loaded without its loader"
until_says "has ended" cat "$work/watched"
said killed.tune tune list
said killed.status scx_sibling status
start_sibling again
until_says sibling scx_sibling status
said again tune diff
stop_sibling
said stopped.status scx_sibling status
said stopped.pins ls /sys/fs/bpf/scx_sibling
