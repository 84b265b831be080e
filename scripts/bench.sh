#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# bench.sh fastpath: guest instructions per operation, fair class against
# scx_sibling and others, all in one boot.
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

		  --json             one object: {"rows":[{"name":…,"arm":…,
		                     "instructions":…,"ratio":…},…]}
		  --smp, --kernel, --nodes, --mem, --timeout   as for ./x vm

		pipe: one loop of two processes; rr: a TCP request and its answer;
		hackbench: a message; schbench: a request to a woken worker; tbench: a
		megabyte. The ratio is to the fair class.
	END
}

# table: from lines "NAME<tab>ARM-NUMBER<tab>INSTRUCTIONS".
table() {
	awk -F '\t' -v arms="$arms" '
		BEGIN { n = split(arms, arm, "\t") }
		!($1 in seen) { seen[$1] = 1; order[++rows] = $1 }
		{ cost[$1, $2] = $3 }
		END {
			printf "%-14s", "instructions"
			for (a = 1; a <= n; a++) printf " %16s", arm[a]
			print ""
			for (r = 1; r <= rows; r++) {
				printf "%-14s", order[r]
				for (a = 1; a <= n; a++) {
					c = cost[order[r], a]
					if (a == 1) printf " %16d", c
					else printf " %9d %6.3f", c, c / cost[order[r], 1]
				}
				print ""
			}
		}'
}

json() {
	awk -F '\t' -v arms="$arms" '
		BEGIN { n = split(arms, arm, "\t"); printf "{\"rows\":[" }
		$2 == 1 { fair[$1] = $3 }
		{
			printf "%s{\"name\":\"%s\",\"arm\":\"%s\",\"instructions\":%d,\"ratio\":%.4f}", \
				sep, $1, arm[$2], $3, $3 / fair[$1]
			sep = ","
		}
		END { print "]}" }'
}

# keep VALUE...: for the VM, one argument a line.
keep() {
	printf '%s\n' "$@" >>"$tmp/options"
}

case ${1:-} in
fastpath) ;;
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
arms=$(printf 'fair\tsibling')
printf 'fair\nsibling\n' >"$tmp/commands"
keep --timeout 1500
while [ $# -gt 0 ]; do
	case $1 in
	--json) format=json ;;
	--smp | --kernel | --nodes | --mem | --timeout)
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
set -- "$@" -- /guest/fastpath.sh
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
"$format" <"$tmp/rows"
