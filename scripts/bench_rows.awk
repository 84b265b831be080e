# SPDX-License-Identifier: GPL-2.0-only
# What the guest counted, as a table or, with -v format=json, as an object.
#
# Lines "NAME<tab>ARM-NUMBER<tab>INSTRUCTIONS", several for a name and arm where
# the loads were repeated, or "failed<tab>ARM-NUMBER<tab>WHY". -v arms: the arms'
# names, tab-separated; the first is what the others are compared with.
# Medians; ratios of medians; ranges are those of the single counts.

# number N of the counts of a row and arm, in order of size
function nth(row, a, n) {
	return sorted[row, a, n]
}

function sort_counts(row, a,    n, i, j, v) {
	n = runs[row, a]
	for (i = 1; i <= n; i++) {
		v = counts[row, a, i]
		for (j = i - 1; j >= 1 && sorted[row, a, j] > v; j--)
			sorted[row, a, j + 1] = sorted[row, a, j]
		sorted[row, a, j + 1] = v
	}
}

function median(row, a,    n) {
	n = runs[row, a]
	return n % 2 ? nth(row, a, (n + 1) / 2) : (nth(row, a, n / 2) + nth(row, a, n / 2 + 1)) / 2
}

# no ratio where the first arm has no count
function ratio(count, row) {
	return runs[row, 1] ? count / median(row, 1) : 0
}

function cell(row, a,    text) {
	if (!runs[row, a])
		return "failed"
	text = sprintf("%d", median(row, a))
	if (a > 1)
		text = text sprintf(" %6.3f", ratio(median(row, a), row))
	if (most > 1 && a == 1)
		text = text sprintf(" %+.1f%% %+.1f%%", 100 * (nth(row, a, 1) / median(row, a) - 1),
			100 * (nth(row, a, runs[row, a]) / median(row, a) - 1))
	else if (most > 1)
		text = text sprintf(" %.3f-%.3f", ratio(nth(row, a, 1), row),
			ratio(nth(row, a, runs[row, a]), row))
	return text
}

# as a JSON string; the replacements of gsub differ in what they make of backslashes
function quote(text,    i, c, out) {
	for (i = 1; i <= length(text); i++) {
		c = substr(text, i, 1)
		out = out (c ~ /[[:cntrl:]]/ ? " " : c == "\\" || c == "\"" ? "\\" c : c)
	}
	return "\"" out "\""
}

function print_table(    r, a, width) {
	width = most > 1 ? 28 : 17
	printf "%-14s", "instructions"
	for (a = 1; a <= n_arms; a++) printf " %" width "s", arm[a]
	print ""
	for (r = 1; r <= n_rows; r++) {
		printf "%-14s", name[r]
		for (a = 1; a <= n_arms; a++) printf " %" width "s", cell(name[r], a)
		print ""
	}
	for (a = 1; a <= n_arms; a++)
		if (a in failed) print "failed: " arm[a] ": " failed[a]
}

function print_json(    r, a, row, sep) {
	printf "{\"rows\":["
	for (a = 1; a <= n_arms; a++) {
		for (r = 1; r <= n_rows; r++) {
			row = name[r]
			if (!runs[row, a]) continue
			printf "%s{\"name\":%s,\"arm\":%s,\"instructions\":%d,\"ratio\":%.4f,", sep,
				quote(row), quote(arm[a]), median(row, a), ratio(median(row, a), row)
			printf "\"runs\":%d,\"least\":%d,\"most\":%d}", runs[row, a], nth(row, a, 1),
				nth(row, a, runs[row, a])
			sep = ","
		}
	}
	printf "],\"failed\":["
	sep = ""
	for (a = 1; a <= n_arms; a++) {
		if (!(a in failed)) continue
		printf "%s{\"arm\":%s,\"why\":%s}", sep, quote(arm[a]), quote(failed[a])
		sep = ","
	}
	print "]}"
}

BEGIN {
	FS = "\t"
	n_arms = split(arms, arm, "\t")
}

$1 == "failed" {
	failed[$2] = $3
	next
}

{
	if (!($1 in seen)) {
		seen[$1] = 1
		name[++n_rows] = $1
	}
	counts[$1, $2, ++runs[$1, $2]] = $3
	if (runs[$1, $2] > most) most = runs[$1, $2]
}

END {
	for (r = 1; r <= n_rows; r++)
		for (a = 1; a <= n_arms; a++) sort_counts(name[r], a)
	if (format == "json") print_json()
	else print_table()
}
