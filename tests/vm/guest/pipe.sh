#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# pipe.sh: what a wake-up costs on the fair class and on sibling, one boot.
set -eu
# shellcheck source-path=SCRIPTDIR source=lib.sh
. /vmtest/lib.sh

# all NAME
all() {
	for place in same smt core llc unbound; do
		measure "$1.$place" pipe --place "$place" --warmup 500 --loops 3000
	done
	measure "$1.rr" rr --transactions 2000
}

# What the boot left to do must not fall into the first figure.
sleep 10
measure warmup pipe --place same
all fair
start_sibling sibling -v
sed -n 's/.* program \(sibling_[a-z_]*\): \([0-9]*\) instructions verified.*/verified.\1 \2/p' \
	"$work/errors"
all sibling
health
stop_sibling
