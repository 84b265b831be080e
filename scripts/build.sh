#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# build.sh: compile the scheduler. One profile serves for everything, tests
# included: the dependencies take minutes, and are compiled once.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
prog='x build'
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$here/lib.sh"

"$here/deps.sh" build
cd "$here/.."
[ -x "$(target_dir .)/release/scx_sibling" ] ||
	say "compiling; the first time takes about 6 minutes on 2 cores and 2 GB of disk"
exec cargo build --release --locked
