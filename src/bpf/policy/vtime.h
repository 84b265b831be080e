/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Virtual time: who goes first on a CPU whose tasks outnumber it.
 *
 * A task's virtual time advances by its run time divided by its weight, so a
 * queue ordered by it shares the CPU by weight. Each CPU remembers the virtual
 * time of the last task it picked; a task arriving from a sleep or another CPU
 * is put near that, see vtime_clamp(), so that neither a long sleep nor a
 * change of queue gains or loses more (bounded lag, the fair class's
 * place_entity()). All arithmetic is modulo 2^64; compare with vtime_before().
 */
#ifndef __SIBLING_POLICY_VTIME_H
#define __SIBLING_POLICY_VTIME_H

#define WEIGHT_NICE_0		100		/* p->scx.weight of a nice-0 task */
#define VTIME_WAIT_MAX_NS	2000000000ULL	/* far below the watchdog's time-out */

static __always_inline bool vtime_before(u64 a, u64 b)
{
	return (s64)(a - b) < 0;
}

/* @delta_ns of run time in virtual time; @weight is 1 … 10000, 100 at nice 0. */
static __always_inline u64 vtime_scale(u64 delta_ns, u32 weight)
{
	if (weight == WEIGHT_NICE_0)
		return delta_ns;
	return delta_ns * WEIGHT_NICE_0 / (weight ? weight : 1);
}

/*
 * Clamp @vtime to [now - slice, now + 2 slices / weight]. The lower bound is what
 * sleep can save up, the same for every weight. The upper must scale with it:
 * one slice of a nice-19 task is many slices of virtual time, and cutting that
 * off would hand it a nice-0 share; two slices, as the debt of the slice just
 * run comes on top of that of the one before.
 *
 * No debt is worth more than VTIME_WAIT_MAX_NS of waiting, though: virtual time
 * moves by the clock divided by @nr_running, and a debt it cannot catch up with
 * before the watchdog fires would get the scheduler thrown out.
 */
static __always_inline u64 vtime_clamp(u64 vtime, u64 now, u64 slice_ns, u32 weight,
				       u32 nr_running)
{
	u64 most = VTIME_WAIT_MAX_NS / (nr_running ? nr_running : 1);
	u64 debt = 2 * vtime_scale(slice_ns, weight);
	u64 lo = now - slice_ns;
	u64 hi = now + (debt < most ? debt : most);

	if (vtime_before(vtime, lo))
		return lo;
	if (vtime_before(hi, vtime))
		return hi;
	return vtime;
}

/*
 * Slice for one of @nr_running tasks: shorter the more wait and the less the
 * task weighs, for what it runs it must wait for many times over; never below
 * the least.
 */
static __always_inline u64 vtime_slice(u64 slice_ns, u64 slice_min_ns, u32 weight, u32 nr_running)
{
	u64 s = nr_running > 2 ? slice_ns * 2 / nr_running : slice_ns;

	if (weight < WEIGHT_NICE_0)
		s = s * weight / WEIGHT_NICE_0;
	return s < slice_min_ns ? slice_min_ns : s;
}

/* Does a newcomer at @wakee preempt a task at @curr? */
static __always_inline bool vtime_preempts(u64 wakee, u64 curr, u64 granularity_ns)
{
	return vtime_before(wakee + granularity_ns, curr);
}

#endif
