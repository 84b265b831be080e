#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# test.sh [PART...]: run the tests, cheap ones first; stop at the first part
# that fails. Parts: fmt, lint, unit, and the files of tests/ by their names.
#
# One cargo profile for everything, so the dependencies compile once.
# A test that cannot run here prints a line "SKIP reason": it counts as
# skipped, and is listed at the end.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
prog='x test'
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$here/lib.sh"

# integration: names of the test files, the slow VM tests last.
integration() {
	for f in "$root"/tests/*.rs; do
		name=$(basename "$f" .rs)
		[ ! -f "$f" ] || [ "$name" = vm ] || echo "$name"
	done
	[ ! -f "$root/tests/vm.rs" ] || echo vm
}

lint() {
	# Words, on purpose: our file names hold no blanks.
	# shellcheck disable=SC2046
	shellcheck -x x .ci/run $(find scripts -type f ! -name '*.awk') &&
		cargo clippy --release --locked --all-targets -- -D warnings
}

# cargo_test ARG...: --show-output, or the SKIP lines of passing tests stay
# inside the test harness.
cargo_test() {
	cargo test --release --locked "$@" -- --show-output
}

# prepare_vm: what the VM tests share, so that no test waits for a download
# or a lock of cargo's.
prepare_vm() {
	"$here/deps.sh" vm &&
		"$here/kernel.sh" >/dev/null &&
		"$here/image.sh" >/dev/null &&
		"$here/qemu.sh" >/dev/null &&
		cargo build --release --locked --bins --examples &&
		export SIBLING_NO_BUILD=1
}

run_part() {
	case $1 in
	fmt) cargo fmt --check ;;
	lint) lint ;;
	unit) cargo_test --lib --bins ;;
	vm) prepare_vm && cargo_test --test vm ;;
	*) cargo_test --test "$1" ;;
	esac
}

# record PART: run it, output to the terminal and to the log. A pipe hides
# the status of its first command, hence the file.
record() {
	say "part $1"
	{
		status=0
		(run_part "$1") 2>&1 || status=$?
		echo "$status" >"$tmp/status"
	} | tee -a "$tmp/log"
	[ "$(cat "$tmp/status")" = 0 ]
}

# summary: cargo counts a test that said SKIP among the passed ones. One test
# may give several reasons; it is one skipped test.
summary() {
	awk -v failed_part="$1" '
		/^---- .* stdout ----/ { test = $2 }
		/^test result: / {
			test = ""
			part++
			for (i = 3; i <= NF; i++) {
				if ($i ~ /^passed/) passed += $(i - 1)
				if ($i ~ /^failed/) failed += $(i - 1)
				if ($i ~ /^ignored/) skipped += $(i - 1)
			}
		}
		/^SKIP / {
			print
			if (test == "") skipped++
			else if (!seen[part, test]++) { skipped++; said++ }
		}
		END {
			# A part may fail without any test: lints, compile errors.
			if (failed_part != "" && failed == 0) failed = 1
			if (failed_part != "") print "failed in part " failed_part
			printf "%d passed, %d failed, %d skipped\n", passed - said, failed, skipped
		}
	' "$tmp/log"
}

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
trap 'exit 141' PIPE
: >"$tmp/log"

cd "$root"
all="fmt lint unit $(integration | tr '\n' ' ')"
if [ $# -eq 0 ] || [ "$*" = all ]; then
	# shellcheck disable=SC2086
	set -- $all
fi
for part in "$@"; do
	case " $all " in
	*" $part "*) ;;
	*) die 2 "no part $part; there are: $all" ;;
	esac
done
"$here/deps.sh" build test
failed_part=
for part in "$@"; do
	if ! record "$part"; then
		failed_part=$part
		break
	fi
done
echo
summary "$failed_part"
[ -z "$failed_part" ]
