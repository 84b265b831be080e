/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef __SIBLING_POLICY_WAKE_WIDE_H
#define __SIBLING_POLICY_WAKE_WIDE_H

/*
 * wake_wide(): a waker that switches between many wakees, more than fit its
 * LLC, would pull them all onto one cache. @waker_flips and @wakee_flips count
 * how often each changed whom it wakes, halved every second.
 */
static __always_inline bool wake_wide(u32 waker_flips, u32 wakee_flips, u32 llc_cpus)
{
	u32 most = waker_flips, least = wakee_flips;

	if (most < least) {
		most = wakee_flips;
		least = waker_flips;
	}
	return least >= llc_cpus && most >= least * llc_cpus;
}

#endif
