# SPDX-License-Identifier: GPL-2.0-only
# Shared by the scripts in this directory, which source it; not run by itself.
# shellcheck shell=sh

# say TEXT... / die STATUS TEXT...: everything the tooling says about itself
# goes to stderr, because stdout belongs to the command it runs.
say() {
	printf '%s: %s\n' "${prog:-x}" "$*" >&2
}

die() {
	die_status=$1
	shift
	say "$@"
	exit "$die_status"
}

# CI machines start jobs without HOME, and without the sbin directories.
HOME=${HOME:-$(getent passwd "$(id -u)" | cut -d: -f6)}
PATH=$PATH:$HOME/.cargo/bin:/usr/local/sbin:/usr/sbin:/sbin
# libbpf-cargo looks for plain "clang", which Debian 12 does not offer in the
# version needed.
BPF_CLANG=${BPF_CLANG:-clang-19}
export HOME PATH BPF_CLANG

# Images and kernels live outside the repository: "git clean" keeps them and
# several checkouts share them.
# shellcheck disable=SC2034
cache_root=${XDG_CACHE_HOME:-$HOME/.cache}/scx_sibling

# target_dir ROOT: where cargo puts what it builds.
target_dir() {
	echo "${CARGO_TARGET_DIR:-$1/target}"
}

# parallel_qemu PROGRAM: can it emulate CPUs in parallel? See qemu.sh.
parallel_qemu() {
	version=$("$1" --version 2>/dev/null | sed -n '1s/.*version \([0-9]*\.[0-9]*\).*/\1/p')
	[ "$(printf '8.1\n%s\n' "$version" | sort -V | head -n 1)" = 8.1 ]
}
