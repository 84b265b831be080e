#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# libs.sh FILE...: the shared libraries the given programs load, one a line.
# Files that are no dynamic programs have none.
set -eu

# ldd prints "NAME => PATH (ADDRESS)", for the loader "PATH (ADDRESS)", and
# fails when one of the files is static.
{ ldd "$@" 2>/dev/null || true; } |
	sed -n 's|^[^/]*\(/[^ ]*\) (0x.*|\1|p' | sort -u
