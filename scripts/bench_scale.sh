#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# bench_scale.sh [--json] [--repeat N] [SIZE]...: guest instructions per operation
# under scx_sibling on machines of 8, 2, 16 and 64 CPUs; see bench.sh --help.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
prog='x bench'
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$here/lib.sh"

# machine SIZE: in QEMU's terms.
machine() {
	case $1 in
	2) echo 2,sockets=1,cores=2,threads=1 ;;
	8) echo 8,sockets=2,cores=2,threads=2 ;;
	16) echo 16,sockets=2,cores=4,threads=2 ;;
	64) echo 64,sockets=4,cores=8,threads=2 ;;
	*) die 2 "no machine of $1 CPUs here, but of 2, 8, 16 and 64" ;;
	esac
}

format=table
repeat=1
sizes=
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
	-*) die 2 "no option $1; see ./x bench --help" ;;
	*)
		machine "$1" >/dev/null
		[ "$1" = 8 ] || sizes="$sizes $1"
		;;
	esac
	shift
done

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
# As for bench.sh fastpath: where several CPUs are busy an older QEMU delivers
# their interrupts late.
qemu=$("$here/qemu.sh") || qemu='qemu-system-x86_64'
case $qemu in
/*) PATH=$(dirname "$qemu"):$PATH ;;
esac
arm=0
arms=
# The first is what the others are compared with.
for size in 8 ${sizes:-2 16 64}; do
	arm=$((arm + 1))
	arms="$arms${arms:+	}$size CPUs"
	"$here/vm.sh" --icount --smp "$(machine "$size")" --timeout $((600 + 600 * repeat)) -- \
		/guest/fastpath.sh few "$repeat" sibling >"$tmp/boot"
	awk -F '\t' -v OFS='\t' -v arm="$arm" '{ $2 = arm; print }' "$tmp/boot" >>"$tmp/rows"
done
awk -v arms="$arms" -v format="$format" -f "$here/bench_rows.awk" "$tmp/rows"
! grep -q '^failed' "$tmp/rows"
