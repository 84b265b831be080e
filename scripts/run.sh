#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# run.sh: the demonstration, on this kernel where it can be, else in a VM.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
prog='x run'
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$here/lib.sh"

[ -n "${SIBLING_NO_BUILD:-}" ] || "$here/build.sh"
if [ -r /sys/kernel/sched_ext/state ] && [ "$(id -u)" = 0 ]; then
	"$here/deps.sh" vm
	PATH=$(target_dir "$root")/release:$PATH exec sh "$here/guest/demo.sh"
fi
if [ -r /sys/kernel/sched_ext/state ]; then
	say "this kernel has sched_ext, but loading a scheduler needs root; using a VM"
else
	say "this kernel has no sched_ext; using a VM"
fi
# What is built above need not be built again.
SIBLING_NO_BUILD=1 exec "$here/vm.sh" --timeout 300 -- /guest/demo.sh
