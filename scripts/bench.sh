#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# bench.sh fastpath: guest instructions per operation, fair class against
# scx_sibling and others, all in one boot.
# bench.sh scale: those of scx_sibling on machines of several sizes.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
prog='x bench'
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$here/lib.sh"

usage() {
	cat <<-'END'
		usage: ./x bench fastpath [OPTION]... [PEER]...
		Boots a VM in instruction mode and counts guest instructions per operation
		for the fair class, scx_sibling, and each PEER: the path of another
		sched_ext scheduler's binary, with its arguments ("path --option").

		  --repeat N         count everything N times, arm after arm each time;
		                     medians, and the range as ratios
		  --json             one object: {"rows":[{"name":…,"arm":…,"instructions":…,
		                     "ratio":…,"runs":…,"least":…,"most":…},…],
		                     "failed":[{"arm":…,"why":…},…]}
		  --smp, --kernel, --nodes, --mem, --timeout   as for ./x vm

		pipe: one loop of two processes; rr: a TCP request and its answer;
		hackbench: a message; schbench: a request to a woken worker; tbench: a
		megabyte. The ratio is to the fair class. Loads that leave the choice of CPU
		to the scheduler differ by several percent from run to run: use --repeat 3.
		An arm that does not load, or is thrown out, is told as failed, the others
		go on, and the exit status is 1.

		       ./x bench scale [--json] [--repeat N] [SIZE]...
		The same of scx_sibling on machines of 2, 8, 16 and 64 CPUs, or of those
		of them that are named, one boot each; the ratio is to 8 CPUs.
	END
}

# keep VALUE...: for the VM, one argument a line.
keep() {
	printf '%s\n' "$@" >>"$tmp/options"
}

case ${1:-} in
fastpath) ;;
scale) shift && exec "$here/bench_scale.sh" "$@" ;;
-h | --help) usage && exit 0 ;;
*) usage >&2 && exit 2 ;;
esac
shift
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
: >"$tmp/options"
format=table
repeat=1
arms=$(printf 'fair\tsibling')
printf 'fair\nsibling\n' >"$tmp/commands"
timeout=
while [ $# -gt 0 ]; do
	case $1 in
	--json) format=json ;;
	--repeat)
		[ $# -ge 2 ] || die 2 "$1 needs a value"
		case $2 in
		'' | *[!0-9]* | 0 | ????*) die 2 "--repeat: $2 is no number from 1 to 999" ;;
		esac
		repeat=$2
		shift
		;;
	--timeout)
		[ $# -ge 2 ] || die 2 "$1 needs a value"
		timeout=$2
		shift
		;;
	--smp | --kernel | --nodes | --mem)
		[ $# -ge 2 ] || die 2 "$1 needs a value"
		keep "$1" "$2"
		shift
		;;
	-h | --help) usage && exit 0 ;;
	-*) die 2 "no option $1; see ./x bench --help" ;;
	*)
		program=${1%% *}
		[ -x "$program" ] || die 2 "no program $program"
		name=$(basename "$program")
		keep --copy "$program:/usr/local/bin/$name"
		arms=$(printf '%s\t%s' "$arms" "$name")
		echo "$name${1#"$program"}" >>"$tmp/commands"
		;;
	esac
	shift
done

set --
while IFS= read -r option; do
	set -- "$@" "$option"
done <"$tmp/options"
# Twice to thrice what an arm takes on an idle host.
arms_nr=$(wc -l <"$tmp/commands")
set -- "$@" --timeout "${timeout:-$((300 + 240 * repeat * arms_nr))}" -- \
	/guest/fastpath.sh all "$repeat"
while IFS= read -r command; do
	set -- "$@" "$command"
done <"$tmp/commands"
# Where several CPUs are busy an older QEMU delivers their interrupts late, in
# instruction mode too.
qemu=$("$here/qemu.sh") || qemu='qemu-system-x86_64'
case $qemu in
/*) PATH=$(dirname "$qemu"):$PATH ;;
esac
"$here/vm.sh" --icount "$@" >"$tmp/rows"
awk -v arms="$arms" -v format="$format" -f "$here/bench_rows.awk" "$tmp/rows"
! grep -q '^failed' "$tmp/rows"
