#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# kernel.sh [VERSION|PATH]: print the path of a kernel image, fetched once.
#
# Without an argument: Debian's newest cloud kernel. VERSION ("7.3", "7.2.4"):
# the newest one of that version. PATH (with a slash): that file.
# The kernel's configuration lies beside the image as config-RELEASE.
#
set -eu

here=$(cd "$(dirname "$0")" && pwd)
prog='x kernel'
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$here/lib.sh"
# shellcheck source-path=SCRIPTDIR source=apt.sh
. "$here/apt.sh"

suite=trixie-backports
cache=$cache_root/kernels
# Kernels built for the tests, beside the checkout where somebody put them.
local_kernels=${SIBLING_KERNELS:-$here/../../shared/kernels}

# newest_match DIR VERSION: the newest vmlinuz-VERSION* in DIR, if any.
# "7.3" must not match 7.30, hence the list of what may follow.
newest_match() {
	for f in "$1/vmlinuz-$2" "$1/vmlinuz-$2"[.+-]*; do
		if [ -f "$f" ]; then
			printf '%s\n' "$f"
		fi
	done | sort -V | tail -n 1
}

# cached VERSION: what an earlier call fetched. The link says which image the
# archive called newest; the newest one in the cache may be of an old series
# somebody asked for by number.
cached() {
	if [ -n "$1" ]; then
		newest_match "$cache" "$1"
	elif [ -f "$cache/newest" ]; then
		readlink -f "$cache/newest"
	fi
}

# list_releases VERSION: kernel releases the archive has, oldest first.
list_releases() {
	private_apt apt-cache pkgnames linux-binary- |
		sed -n 's/^linux-binary-\([0-9].*-cloud-amd64\)$/\1/p' | sort -V |
		while read -r rel; do
			case $rel in
			"$1" | "$1"[.+-]*) echo "$rel" ;;
			*) [ -n "$1" ] || echo "$rel" ;;
			esac
		done
}

# store FROM NAME: a half-copied file must never carry the final name.
store() {
	cp "$1" "$cache/.$2.$$"
	mv "$cache/.$2.$$" "$cache/$2"
}

# fetch VERSION: download into the cache.
fetch() {
	[ "$(uname -m)" = x86_64 ] || die 3 "kernels are fetched for x86-64 only"
	have_archive ||
		die 3 "fetching a kernel needs Debian's apt-get; --kernel PATH uses an image you have"
	say "fetching Debian's ${1:-newest} cloud kernel"
	open_archive "$suite" ||
		die 1 "no mirror of this machine offers $suite (is the network up?);" \
			"--kernel PATH uses an image you have"
	rel=$(list_releases "$1" | tail -n 1)
	[ -n "$rel" ] || die 2 "$suite has no cloud kernel $1; it has" \
		"$(list_releases '' | cut -d + -f 1 | tr '\n' ' ')"
	unpack "linux-binary-$rel" || die 1 "the download failed"
	# The configuration is a convenience; an image is enough to boot.
	unpack "linux-base-$rel" 2>/dev/null || true
	config=$(find "$apt_tmp/root" -name config -o -name "config-$rel" | head -n 1)
	[ -z "$config" ] || store "$config" "config-$rel"
	image=$(find "$apt_tmp/root" -name vmlinuz -o -name "vmlinuz-$rel" | head -n 1)
	[ -n "$image" ] || die 1 "linux-binary-$rel holds no vmlinuz"
	store "$image" "vmlinuz-$rel"
	if [ -z "$1" ]; then
		ln -sf "vmlinuz-$rel" "$cache/newest"
	fi
	say "$cache/vmlinuz-$rel"
}

# from_archive VERSION: cached, else fetched by exactly one of several callers.
from_archive() {
	mkdir -p "$cache"
	image=$(cached "$1")
	if [ -z "$image" ]; then
		exec 9>"$cache/.lock"
		flock 9
		image=$(cached "$1")
		if [ -z "$image" ]; then
			fetch "$1" >&2
			image=$(cached "$1")
		fi
		exec 9>&-
	fi
	printf '%s\n' "$image"
}

# from_local VERSION: 6.12 is the oldest kernel with sched_ext, but Debian's
# build of it has the option off, so the archive is no source for it.
from_local() {
	image=$(newest_match "$local_kernels" "$1")
	[ -n "$image" ] || die 3 "no image of kernel $1 with sched_ext (Debian's has it off):" \
		"put vmlinuz-$1* into a directory and name that in SIBLING_KERNELS"
	readlink -f "$image"
}

trap close_archive EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

case ${1:-} in
*/*)
	[ -f "$1" ] || die 2 "no kernel image $1"
	printf '%s\n' "$1"
	;;
6.12*) from_local "$1" ;;
*) from_archive "${1:-}" ;;
esac
