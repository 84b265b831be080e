#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# vm.sh: boot a kernel in QEMU and run one command in it as root.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
prog='x vm'
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$here/lib.sh"
# shellcheck source-path=SCRIPTDIR source=qemu_args.sh
. "$here/qemu_args.sh"

usage() {
	cat <<-'END'
		usage: ./x vm [OPTION]... -- CMD [ARG]...
		Runs CMD as root in a VM, in a writable directory, with scx_sibling and
		the benchmark programs in PATH and scripts/guest/ as /guest. Its output
		and exit status are passed on.

		  --kernel PATH|VERSION  image, or version to fetch (7.3); default: newest
		  --smp QEMU-SMP         default 8,sockets=2,cores=2,threads=2
		  --nodes N              NUMA nodes, CPUs and memory split evenly
		  --mem SIZE             default 4G
		  --append STR           more kernel command line
		  --icount               one instruction = 1 ns of guest time, repeatable
		  --timeout S            real seconds until the VM is ended; default 300
		  --copy FILE[:PATH]     file for the guest, default into CMD's directory
		  --qemu ARG             one more argument for QEMU; repeatable
		  --console FILE         keep the kernel console's log

		Exit status: CMD's, or 124 time-out, 125 guest kernel panic, 126 no boot
		or no status from the guest, 2 wrong usage, 3 something is not installed.
	END
}

kernel=
smp=8,sockets=2,cores=2,threads=2
nodes=
mem=4G
append=
icount=
timeout=300
console=
mode=once
tmp=
vm_pid=
tail_pids=

# Ends the VM, whatever way this script ends.
# shellcheck disable=SC2317 # reached through a trap
cleanup() {
	trap '' INT TERM HUP
	# shellcheck disable=SC2086
	[ -z "$vm_pid$tail_pids" ] || kill $vm_pid $tail_pids 2>/dev/null || true
	[ -z "$vm_pid" ] || wait "$vm_pid" 2>/dev/null || true
	[ -z "$tmp" ] || rm -rf "$tmp"
}

# quote ARG: for the guest's shell, whatever bytes it holds.
quote() {
	printf '%s\n' "$1" | LC_ALL=C sed "s/'/'\\\\''/g; 1s/^/'/; \$s/\$/'/"
}

# add_file FILE GUESTPATH
add_file() {
	mkdir -p "$tmp/root$(dirname "$2")"
	cp -RL "$1" "$tmp/root$2"
}

# add_libs FILE...: libraries of programs that the base image lacks.
add_libs() {
	for lib in $("$here/libs.sh" "$@"); do
		grep -qxF "$lib" "${base%.cpio}.list" || add_file "$lib" "$lib"
	done
}

# add_copy FILE[:GUESTPATH]
add_copy() {
	case $1 in
	*:*) copy_from=${1%:*} copy_to=${1##*:} ;;
	*) copy_from=$1 copy_to=$(basename "$1") ;;
	esac
	[ -e "$copy_from" ] || die 2 "--copy: no $copy_from"
	case $copy_to in
	/*) ;;
	*) copy_to=/root/$copy_to ;;
	esac
	add_file "$copy_from" "$copy_to"
	if [ -f "$copy_from" ] && [ -x "$copy_from" ]; then
		add_libs "$copy_from"
	fi
}

add_scheduler() {
	bin=$(target_dir "$root")/release/scx_sibling
	if [ -x "$bin" ]; then
		add_file "$bin" /usr/local/bin/scx_sibling
		add_libs "$bin"
	else
		say "no $bin: the guest has no scx_sibling"
	fi
}

# settings: what the guest's init reads.
settings() {
	size=$(stty size 2>/dev/null || echo "24 80")
	printf 'mode=%s\nnodes=%s\nrows=%s\ncols=%s\n' \
		"$mode" "$nodes" "${size% *}" "${size#* }"
}

# command_script CMD...: exec, so that a command never becomes a builtin.
command_script() {
	printf 'exec'
	for arg in "$@"; do
		# The substitution drops quote's own newline, and it ends in a quote
		# mark, so none of the argument's.
		printf ' %s' "$(quote "$arg")"
	done
	echo
}

# pack CMD...: the second archive, and both together as the VM's initramfs.
pack() {
	mkdir -p "$tmp/root/etc/sibling"
	settings >"$tmp/root/etc/sibling/settings"
	command_script "$@" >"$tmp/root/etc/sibling/cmd"
	add_file "$here/guest" /guest
	add_file "$here/guest/init" /init
	config=$(dirname "$image")/config-$(basename "$image" | sed 's/^vmlinuz-//')
	[ ! -f "$config" ] || add_file "$config" /boot/config
	(cd "$tmp/root" && find . | cpio -o -H newc --quiet -R 0:0) |
		cat "$base" - >"$tmp/initrd"
	rm -rf "$tmp/root"
}

# The console's end goes to stderr; its serial line has carriage returns and
# the terminal codes of the firmware.
show_console() {
	[ -s "$tmp/console" ] || return 0
	say "the console's last lines:"
	tr -d '\r\033' <"$tmp/console" | tail -n 20 >&2
}

give_up() {
	status=$1
	shift
	say "$@"
	show_console
	exit "$status"
}

# report QEMU-STATUS: turn what happened into this script's exit status.
report() {
	line=$(grep -E '^(exit|fail) ' "$tmp/ctl" | tail -n 1) || true
	case $line in
	"exit "*) exit "${line#exit }" ;;
	"fail "*) give_up 126 "${line#fail }" ;;
	esac
	if grep -q 'Kernel panic' "$tmp/console"; then
		give_up 125 "the guest's kernel panicked"
	elif [ "$1" = 124 ] || [ "$1" = 137 ]; then
		give_up 124 "time-out: no end after $timeout s (--timeout S allows more)"
	elif [ -s "$tmp/qemu.log" ] && [ "$1" != 0 ]; then
		tail -n 20 "$tmp/qemu.log" >&2
		give_up 126 "QEMU failed (status $1)"
	elif ! grep -q '^up' "$tmp/ctl"; then
		give_up 126 "failed boot: the guest never reached its init"
	fi
	give_up 126 "the guest stopped before the command ended"
}

# follow FILE: copy it as it grows until the VM has ended. Files instead of
# pipes, so a slow reader of our output cannot stall the guest.
follow() {
	tail -q -c +1 -f -s 0.05 --pid="$vm_pid" "$1"
}

run_command_vm() {
	: >"$tmp/out"
	: >"$tmp/err"
	timeout -k 5 "$timeout" "$@" >"$tmp/qemu.log" 2>&1 </dev/null &
	vm_pid=$!
	follow "$tmp/out" &
	tail_pids=$!
	follow "$tmp/err" >&2 &
	tail_pids="$tail_pids $!"
	qemu_status=0
	wait "$vm_pid" || qemu_status=$?
	vm_pid=
	# shellcheck disable=SC2086
	wait $tail_pids || true
	tail_pids=
}

# tripped: did the emulator run into a breakpoint that the booting kernel had
# just patched over? Some boots with several CPU threads do.
tripped() {
	! grep -q '^up' "$tmp/ctl" && grep -q 'Oops: int3' "$tmp/console"
}

run_shell_vm() {
	qemu_status=0
	"$@" || qemu_status=$?
}

need_value() {
	[ "$1" -ge 2 ] || die 2 "$2 needs a value"
}

trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# Options that may come several times are kept as files: no quoting to get
# wrong. The directory is private, so VMs can run side by side.
tmp=$(mktemp -d "${TMPDIR:-/tmp}/sibling-vm.XXXXXX")
: >"$tmp/copies"
: >"$tmp/qemu"
: >"$tmp/ctl"
: >"$tmp/console"
while [ $# -gt 0 ]; do
	case $1 in
	--kernel) need_value $# "$1" && kernel=$2 ;;
	--smp) need_value $# "$1" && smp=$2 ;;
	--nodes) need_value $# "$1" && nodes=$2 ;;
	--mem) need_value $# "$1" && mem=$2 ;;
	--append) need_value $# "$1" && append="$append $2" ;;
	--timeout) need_value $# "$1" && timeout=$2 ;;
	--console) need_value $# "$1" && console=$2 ;;
	--copy) need_value $# "$1" && printf '%s\n' "$2" >>"$tmp/copies" ;;
	--qemu) need_value $# "$1" && printf '%s\n' "$2" >>"$tmp/qemu" ;;
	--icount)
		icount=1
		shift
		continue
		;;
	--shell)
		mode=shell
		shift
		continue
		;;
	-h | --help)
		usage
		exit 0
		;;
	--)
		shift
		break
		;;
	-*) die 2 "no option $1; see ./x vm --help" ;;
	*) break ;;
	esac
	shift 2
done
case $timeout in
'' | *[!0-9]* | 0) die 2 "--timeout: $timeout is no number of seconds" ;;
esac
[ $# -gt 0 ] || [ "$mode" = shell ] || die 2 "no command given; see ./x vm --help"

# First, or a missing toolchain shows only after long downloads.
[ -n "${SIBLING_NO_BUILD:-}" ] || "$here/build.sh" >&2
"$here/deps.sh" vm
image=$("$here/kernel.sh" ${kernel:+"$kernel"})
base=$("$here/image.sh")
qemu=$(choose_qemu)
add_scheduler
while read -r copy; do
	add_copy "$copy"
done <"$tmp/copies"
pack "$@"

qemu_args "$tmp/args"
set --
while IFS= read -r arg; do
	set -- "$@" "$arg"
done <"$tmp/args"
case $mode in
shell) run_shell_vm "$@" ;;
*)
	run_command_vm "$@"
	for _ in 1 2; do
		tripped || break
		say "the emulator tripped over patched code during the boot; once more"
		: >"$tmp/console"
		run_command_vm "$@"
	done
	;;
esac
[ -z "$console" ] || cp "$tmp/console" "$console"
report "$qemu_status"
