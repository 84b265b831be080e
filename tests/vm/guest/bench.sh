#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# bench.sh: a small measurement as its users meet it: interrupted, resumed, killed.
set -eu
# shellcheck source-path=SCRIPTDIR source=lib.sh
. /vmtest/lib.sh

result=$work/r.jsonl

lines() {
	wc -l 2>/dev/null <"$result" || echo 0
}

# until_lines N: until the result has so many lines.
until_lines() {
	tries=1200
	until [ "$(lines)" -ge "$1" ]; do
		tries=$((tries - 1))
		[ "$tries" -gt 0 ] || die "no line $1 in the result: $(cat "$work/said")"
		alive "$bench" || die "bench ended early: $(cat "$work/said")"
		sleep 0.05
	done
}

# measure_in_background ROUNDS
measure_in_background() {
	scx_sibling bench run --load pipe:place=unbound,loops=1000 --arm fair --arm sibling \
		--arm sibling:NO_SYNC --rounds "$1" --precision 0 --out "$result" \
		>"$work/said" 2>&1 &
	bench=$!
}

# Ctrl-C once each arm has run.
measure_in_background 4
until_lines 5
kill -INT "$bench"
code=0
wait "$bench" || code=$?
echo "interrupted.code $code"
text interrupted.state "$(cat "$state")"
text interrupted.says "$(tail -n 1 "$work/said")"
echo "interrupted.lines $(lines)"
cp "$result" "$work/before"

loads=$(cat "$seq")
code=0
scx_sibling bench resume "$result" >"$work/said" 2>"$work/errors" || code=$?
echo "resumed.code $code"
text resumed.state "$(cat "$state")"
echo "resumed.lines $(lines)"
text resumed.says "$(cat "$work/said")"
head -c "$(wc -c <"$work/before")" "$result" | cmp -s - "$work/before" || die "resume changed what was there"
# Of the arms only one pair differs in more than tunables: with at most two loads a
# round sibling's settings were flipped in the running one.
echo "resumed.loads $(($(cat "$seq") - loads))"
echo "resumed.values $(grep '"record":"block"' "$result" | grep -c '"values"')"

# Killed without a chance to clean up, while a scheduler of its own is loaded.
rm "$result"
measure_in_background 50
until_is enabled "$state" 60 || die "no arm was loaded"
kill -9 "$bench"
until_is disabled "$state" 30 || die "a scheduler is left loaded"
text killed.state "$(cat "$state")"

# Another scheduler's command line, and one that does not exist.
rm -f "$result"
code=0
scx_sibling bench run --load pipe:place=unbound,loops=1000 --arm fair \
	--arm "scx:scx_sibling --set NO_SYNC" --arm scx:scx_nonexistent --rounds 2 \
	--out "$result" >"$work/said" 2>"$work/errors" || code=$?
echo "others.code $code"
text others.says "$(cat "$work/said")"
text others.state "$(cat "$state")"

# What is loaded by somebody else is left alone.
rm "$result"
start_sibling mine
code=0
scx_sibling bench run --load pipe --out "$result" >"$work/said" 2>&1 || code=$?
echo "refused.code $code"
text refused.says "$(cat "$work/said")"
health
stop_sibling
