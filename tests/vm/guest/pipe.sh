#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# pipe.sh ROUNDS: what a wake-up costs on the fair class and on sibling, one
# boot. Names end in the number of the round.
set -eu
# shellcheck source-path=SCRIPTDIR source=lib.sh
. /vmtest/lib.sh

# all NAME FROM TO
all() {
	round=$2
	while [ "$round" -lt "$3" ]; do
		for place in same smt core llc unbound; do
			measure "$1.$place.$round" pipe --place "$place" --warmup 500 --loops 3000
		done
		measure "$1.rr.$round" rr --transactions 2000
		round=$((round + 1))
	done
}

text kernel "$(uname -r)"
# What the boot left to do must not fall into the first figure.
sleep 10
measure warmup pipe --place same
# Half of the fair class's before and half behind: a start is dear.
all fair 0 $(($1 / 2))
start_sibling sibling -v
sed -n 's/.* program \(sibling_[a-z_]*\): \([0-9]*\) instructions verified.*/verified.\1 \2/p' \
	"$work/errors"
all sibling 0 "$1"
health
stop_sibling
all fair $(($1 / 2)) "$1"
