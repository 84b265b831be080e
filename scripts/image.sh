#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# image.sh: print the path of the base initramfs, built once per content.
#
# It holds a userland for guests: static busybox, the benchmark programs, and
# the libraries those need. Nothing of the project is in it; what changes
# between runs (command, scheduler) travels in a second archive that vm.sh
# appends, for the kernel accepts archives one after another. Beside NAME.cpio
# lies NAME.list, the files in it, so that vm.sh packs no library twice.
#
# Not compressed: unpacking costs an emulated CPU more than reading.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
prog='x image'
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$here/lib.sh"

cache=$cache_root/images
tmp=

# Must be there; deps.sh sees to it.
required="bash hackbench tbench tbench_srv stress-ng chrt taskset setpriv
nsenter unshare setsid prlimit flock lscpu dmesg"
# Taken along where the machine has them.
optional="bpftool numactl cyclictest strace uclampset ionice renice env
timeout sleep date stdbuf nice stat"
# What tbench replays; programs look for it in the working directory or here.
data="/usr/share/dbench/client.txt"

program_paths() {
	for p in $required; do
		command -v "$p" || die 1 "no $p on this machine; ./x deps installs it"
	done
	for p in $optional; do
		command -v "$p" || true
	done
}

static_busybox() {
	for b in /bin/busybox /usr/bin/busybox; do
		if [ -x "$b" ] && ! ldd "$b" >/dev/null 2>&1; then
			echo "$b"
			return
		fi
	done
	die 1 "no statically linked busybox; ./x deps installs one"
}

# hash_inputs FILE...: names the image. Size and time of change stand in for
# the contents: hashing 60 MB would cost every start half a second.
hash_inputs() {
	{
		sha256sum <"$0"
		stat -L -c '%n %s %Y' "$@"
	} | sha256sum | cut -c1-16
}

# put FILE: copy into the tree under its own path, links resolved.
put() {
	mkdir -p "$tmp/root$(dirname "$1")"
	cp -L "$1" "$tmp/root$1"
}

# Applets have a directory of their own, last in PATH, so that a program
# of the same name wins.
put_busybox() {
	mkdir -p "$tmp/root/bin" "$tmp/root/usr/lib/busybox"
	cp "$1" "$tmp/root/bin/busybox"
	for applet in $("$1" --list); do
		ln -s /bin/busybox "$tmp/root/usr/lib/busybox/$applet"
	done
	ln -s busybox "$tmp/root/bin/sh"
	ln -s /usr/bin/bash "$tmp/root/bin/bash"
	# Scripts start with "#!/usr/bin/env"; ln fails where env was copied.
	ln -s /bin/busybox "$tmp/root/usr/bin/env" 2>/dev/null || true
}

put_etc() {
	mkdir -p "$tmp/root/etc" "$tmp/root/root" "$tmp/root/home/user"
	cat >"$tmp/root/etc/passwd" <<-END
		root:x:0:0:root:/root:/bin/sh
		user:x:1000:1000:user:/home/user:/bin/sh
		nobody:x:65534:65534:nobody:/:/bin/sh
	END
	cat >"$tmp/root/etc/group" <<-END
		root:x:0:
		user:x:1000:
		nogroup:x:65534:
	END
	printf 'passwd: files\ngroup: files\nhosts: files\n' >"$tmp/root/etc/nsswitch.conf"
	printf '127.0.0.1 localhost sibling\n' >"$tmp/root/etc/hosts"
}

# build NAME BUSYBOX FILE...
build() {
	name=$1
	busybox=$2
	shift 2
	say "building the guest's base image"
	# Those of programs since upgraded; what is used is touched below.
	find "$cache" -name 'base-*' -mtime +14 -delete
	tmp=$(mktemp -d)
	mkdir -p "$tmp/root/usr/bin"
	for f in "$@"; do
		# One directory for all programs: /bin and /usr/bin are one on
		# some machines and two on others.
		case $f in
		*/bin/* | */sbin/*) cp -L "$f" "$tmp/root/usr/bin/" ;;
		*) put "$f" ;;
		esac
	done
	put_busybox "$busybox"
	put_etc
	(
		cd "$tmp/root"
		find . | sort | cpio -o -H newc --quiet -R 0:0 >"$tmp/image"
		find . ! -type d | sed 's/^\.//' >"$tmp/list"
	)
	mv "$tmp/list" "$cache/$name.list"
	# The archive last: its presence says that the pair is complete.
	cp "$tmp/image" "$cache/.$name.$$"
	mv "$cache/.$name.$$" "$cache/$name.cpio"
}

trap '[ -z "$tmp" ] || rm -rf "$tmp"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

mkdir -p "$cache"
busybox=$(static_busybox)
programs=$(program_paths)
# Paths of system programs and libraries hold no blanks.
# shellcheck disable=SC2046,SC2086
set -- $programs $("$here/libs.sh" $programs)
for f in $data; do
	[ ! -e "$f" ] || set -- "$@" "$f"
done
name=base-$(hash_inputs "$busybox" "$@")
if [ ! -e "$cache/$name.cpio" ]; then
	exec 9>"$cache/.lock"
	flock 9
	[ -e "$cache/$name.cpio" ] || build "$name" "$busybox" "$@" 9>&-
	exec 9>&-
fi
touch "$cache/$name.cpio" "$cache/$name.list"
printf '%s\n' "$cache/$name.cpio"
