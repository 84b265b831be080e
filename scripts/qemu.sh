#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# qemu.sh: print the QEMU to run a VM with several CPU threads.
#
# Before version 8.1 a CPU thread that translates an instruction while another
# patches it may keep the old one for ever. Guest kernels patch themselves at
# boot and whenever a sched_ext scheduler comes or goes, and about every other
# run died of a left-over breakpoint ("Oops: int3"). Where the installed QEMU
# is older, Debian's backport of a newer one is unpacked into the cache, not
# installed. Without one, vm.sh falls back to one thread for all CPUs.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
prog='x qemu'
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$here/lib.sh"
# shellcheck source-path=SCRIPTDIR source=apt.sh
. "$here/apt.sh"

cache=$cache_root/qemu
name=qemu-system-x86_64
new=$cache/root/$name

# wrapper DIR: the firmware lies where the package would not look.
wrapper() {
	cat <<-END
		#!/bin/sh
		exec '$1/usr/bin/$name' -L '$1/usr/share/qemu' -L '$1/usr/share/seabios' "\$@"
	END
}

# fetch: fails, with a reason on stderr, where there is no backport.
fetch() {
	have_archive || return 1
	codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
	[ -n "$codename" ] || return 1
	say "the installed QEMU is older than 8.1; fetching the backport for $codename"
	open_archive "$codename-backports" || return 1
	unpack qemu-system-x86 qemu-system-common qemu-system-data seabios || return 1
	wrapper "$cache/root" >"$apt_tmp/root/$name"
	chmod +x "$apt_tmp/root/$name"
	rm -rf "$cache/root" "$cache/.new"
	cp -R "$apt_tmp/root" "$cache/.new"
	mv "$cache/.new" "$cache/root"
	"$new" --version >/dev/null
}

# fetch_once: by one of several callers, and not again for a day where it
# failed: without network each VM would wait for the attempt.
fetch_once() {
	mkdir -p "$cache"
	exec 9>"$cache/.lock"
	flock 9
	if [ ! -x "$new" ] && [ -z "$(find "$cache/failed" -mtime -1 2>/dev/null)" ]; then
		fetch >&2 || touch "$cache/failed"
	fi
	exec 9>&-
}

trap close_archive EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

if ! parallel_qemu "$name"; then
	[ -x "$new" ] || fetch_once
	if parallel_qemu "$new"; then
		name=$new
	fi
fi
echo "$name"
