#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# deps.sh [build|test|vm]...: install what is missing (default: all three).
#
# build: what compiles the scheduler; vm: what boots it and loads it;
# test: what "./x test" uses besides. Needs are looked for as files and
# commands, so a machine that has them by other means installs nothing.
# Exit 3: something is missing and this script must not or cannot install it.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
prog='x deps'
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$here/lib.sh"

# needs GROUP: lines "COMMAND-OR-FILE PACKAGE", packages as Debian names them.
needs() {
	case $1 in
	build)
		cat <<-END
			cc gcc
			/usr/include/stdlib.h libc6-dev
			make make
			clang-19 clang-19
			pkg-config pkg-config
			/usr/include/libelf.h libelf-dev
			/usr/include/zlib.h zlib1g-dev
		END
		;;
	vm)
		cat <<-END
			qemu-system-x86_64 qemu-system-x86
			busybox busybox-static
			hackbench rt-tests
			tbench dbench
			stress-ng stress-ng
			bpftool bpftool
			cpio cpio
			setpriv util-linux
			ldd libc-bin
			bash bash
		END
		;;
	test)
		cat <<-END
			shellcheck shellcheck
			valgrind valgrind
			zstd zstd
		END
		;;
	*) die 2 "no such group: $1" ;;
	esac
}

have() {
	case $1 in
	/*) [ -e "$1" ] ;;
	*) command -v "$1" >/dev/null ;;
	esac
}

# missing GROUP...: packages to install, one a line.
missing() {
	for group in "$@"; do
		needs "$group" | while read -r what package; do
			have "$what" || echo "$package"
		done
	done | sort -u
}

as_root() {
	if [ "$(id -u)" = 0 ]; then
		"$@"
	else
		sudo "$@"
	fi
}

may_install() {
	if ! command -v apt-get >/dev/null; then
		say "this is not a Debian system"
		return 1
	fi
	if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; then
		say "neither root nor sudo here"
		return 1
	fi
}

# quiet CMD...: its output only if it fails.
quiet() {
	log=$(mktemp)
	if "$@" </dev/null >"$log" 2>&1; then
		rm -f "$log"
		return
	fi
	cat "$log" >&2
	rm -f "$log"
	return 1
}

install_packages() {
	say "installing" "$@"
	# One stale foreign source fails the update; whether the packages can be
	# had is decided by the installation itself.
	quiet as_root apt-get -q -o DPkg::Lock::Timeout=300 update || true
	quiet as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y \
		-o DPkg::Lock::Timeout=300 --no-install-recommends install "$@" ||
		die 3 "the installation failed, see above (is there a network?)"
}

check_rust() {
	need=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' "$here/../Cargo.toml")
	command -v cargo >/dev/null ||
		die 3 "no cargo: install a Rust toolchain of at least $need (https://rustup.rs)"
	found=$(cargo --version | cut -d ' ' -f 2)
	[ "$(printf '%s\n' "$need" "$found" | sort -V | head -n 1)" = "$need" ] ||
		die 3 "this Rust toolchain is $found, $need is needed (https://rustup.rs)"
}

check_rust_tools() {
	for tool in rustfmt clippy; do
		case $tool in
		clippy) cargo clippy --version >/dev/null 2>&1 && continue ;;
		*) cargo fmt --version >/dev/null 2>&1 && continue ;;
		esac
		if command -v rustup >/dev/null; then
			rustup component add "$tool" >&2
		else
			die 3 "no $tool in this Rust toolchain"
		fi
	done
}

main() {
	[ $# -gt 0 ] || set -- build test vm
	for group in "$@"; do
		needs "$group" >/dev/null
	done
	packages=$(missing "$@" | tr '\n' ' ')
	if [ -n "$packages" ]; then
		may_install || die 3 "install by hand (Debian's names): $packages"
		# One word per package, on purpose.
		# shellcheck disable=SC2086
		install_packages $packages
		packages=$(missing "$@" | tr '\n' ' ')
		[ -z "$packages" ] || die 3 "still missing after installation: $packages"
	fi
	for group in "$@"; do
		case $group in
		build) check_rust ;;
		test) check_rust_tools ;;
		esac
	done
}

main "$@"
