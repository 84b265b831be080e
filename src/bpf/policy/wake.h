/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The order of the steps listed in place.h. Kept apart from the steps so that
 * the order can be read on one screen.
 */
#ifndef __SIBLING_POLICY_WAKE_H
#define __SIBLING_POLICY_WAKE_H

#include "place.h"
#include "place_far.h"

#define FAR_WORDS_FREE		2	/* a look at so many is as cheap as one at an LLC */
#define FAR_WORD_PAUSE_NS	80000	/* rest for each word of a look that found nothing */

/*
 * Steps 5 to 8 in the target's LLC, where @cores and @threads idle: the latter
 * looked for only where there are none of the former.
 */
static __always_inline s32 wake_in_llc(const struct place_req *r, const struct cpu_topo *ct,
				       s32 target, bool prev_near, bool whole,
				       const struct place_idle *cores, struct place_idle threads,
				       struct place_res *res)
{
	u32 budget = port_tunable(TUN_WAKE_SCAN_BUDGET);
	s32 cpu;

	if (place_on(r, FEAT_AVG_CPU))
		budget = place_budget(budget, port_avg_idle(target));
	cpu = place_recent(r, target, whole, &res->step);
	if (cpu >= 0)
		return cpu;
	if (cores->any) {
		res->step = STAT_PLACE_CORE;
		res->core = PLACE_CORE_WHOLE;
		cpu = place_core_in_llc(r, ct, target, cores, budget);
		if (cpu >= 0)
			return cpu;
		res->core = PLACE_CORE_UNKNOWN;
		threads = place_llc_idle(r->task, ct, target, false);
	}
	if (whole) {
		cpu = place_known(r, target, prev_near, false, &res->step);
		if (cpu >= 0)
			return cpu;
		cpu = place_recent(r, target, false, &res->step);
		if (cpu >= 0)
			return cpu;
	}
	return place_thread_in_llc(r, ct, target, &threads, budget, &res->step);
}

/* The task goes straight behind what runs on @cpu. */
static __always_inline s32 wake_stack(struct place_res *res, s32 cpu, u32 step)
{
	res->cpu = cpu;
	res->step = step;
	res->stacked = true;
	return -1;
}

/*
 * Step 9. A full machine is the larger the dearer to search, and stays full for
 * a while: there a waker's CPU that found nothing does not look again at once. A
 * CPU that idles meanwhile fetches for itself what is worth fetching. What a
 * task bound to few CPUs finds says nothing of others.
 */
static __always_inline s32 wake_beyond(const struct place_req *r, const struct cpu_topo *ct,
				       s32 target, struct place_res *res)
{
	s32 cpu;

	if (res->far_after_ns && (s64)(port_now() - res->far_after_ns) < 0) {
		port_stat(STAT_WAKE_FAR_PAUSED, 1);
		return PLACE_NONE_FAR;
	}
	cpu = place_beyond_llc(r->task, target, port_wait_ns(target), place_on(r, FEAT_IDLE_CORE));
	if (cpu >= 0)
		res->step = port_topo_of(cpu)->node == ct->node ? STAT_PLACE_NODE :
								  STAT_PLACE_SYSTEM;
	else if (cpu == PLACE_NONE_FAR && port_cpu_words() > FAR_WORDS_FREE &&
		 port_unbound(r->task))
		res->far_after_ns = port_now() + port_cpu_words() * FAR_WORD_PAUSE_NS;
	return cpu;
}

/*
 * Steps 4 to 9. Returns the CPU claimed, or -1 with @res telling what to do
 * instead.
 */
static __always_inline s32 wake_search(const struct place_req *r, const struct cpu_topo *ct,
				       s32 target, bool prev_near, bool whole,
				       const struct place_idle *cores, struct place_res *res)
{
	struct place_idle threads = {};
	s32 cpu;

	if (r->kthread_waker && place_on(r, FEAT_KTHREAD_STACK) && r->waker == r->prev &&
	    prev_near && port_nr_running(r->waker) == 1)
		return wake_stack(res, r->waker, STAT_PLACE_KTHREAD);
	if (!cores->any)
		threads = place_llc_idle(r->task, ct, target, false);
	if (cores->any || threads.any) {
		cpu = wake_in_llc(r, ct, target, prev_near, whole, cores, threads, res);
		if (cpu >= 0)
			return cpu;
	}
	res->core = PLACE_CORE_UNKNOWN;
	cpu = r->wakee_sched_idle ? -1 : place_over_sched_idle(r->task, target);
	if (cpu >= 0)
		return wake_stack(res, cpu, STAT_PLACE_SCHED_IDLE);
	if (place_on(r, FEAT_WAKE_WIDEN)) {
		cpu = wake_beyond(r, ct, target, res);
		if (cpu >= 0)
			return cpu;
		res->none_idle = cpu == PLACE_NONE_FAR && !cores->any && !threads.any;
	}
	res->cpu = port_taken(target) ? place_off_taken(r->task, target) : target;
	res->step = STAT_PLACE_QUEUE;
	return -1;
}

/*
 * Place a waking task. Fills @res; res->cpu is always allowed and never < 0
 * unless the task may run nowhere.
 */
static void place_wake(const struct place_req *r, struct place_res *res)
{
	bool prev_ok = place_usable(r->task, r->prev), near = shares_llc(r->waker, r->prev);
	bool whole = place_on(r, FEAT_IDLE_CORE) && !place_on(r, FEAT_PREV_BEFORE_CORE);
	struct place_idle cores = {};
	const struct cpu_topo *ct;
	s32 cpu, target;

	res->claimed = res->stacked = res->none_idle = false;
	res->core = whole ? PLACE_CORE_WHOLE : PLACE_CORE_UNKNOWN;
	if (place_stack(r, prev_ok)) {
		wake_stack(res, r->waker, STAT_PLACE_SYNC);
		return;
	}
	/*
	 * The common case first: a running waker cannot be an idle target, so
	 * whatever step 1 would say, an idle prev in its LLC is next in line.
	 */
	if (prev_ok && near && r->waker != r->prev && !r->waker_idle && place_try(r->prev, whole)) {
		res->step = STAT_PLACE_PREV;
		cpu = r->prev;
		goto claimed;
	}

	target = place_target(r, prev_ok, near);
	ct = port_cpu_topo(target);
	res->cpu = target;
	res->step = STAT_PLACE_QUEUE;
	if (!ct || !ct->valid) {
		/* Bound to isolated CPUs: nothing is known of them but who idles. */
		cpu = port_claim_any(r->task);
		if (cpu >= 0)
			res->step = STAT_PLACE_CPU;
	} else {
		/* The cheap "no": without a whole core in the LLC nobody looks for one. */
		if (place_on(r, FEAT_IDLE_CORE))
			cores = place_llc_idle(r->task, ct, target, true);
		if (whole && !cores.any) {
			whole = false;
			res->core = PLACE_CORE_NONE;
		}
		/* Target and prev are the waker's and prev, or prev may not be used. */
		near = prev_ok && near;
		cpu = place_known(r, target, near, whole, &res->step);
		if (cpu < 0)
			cpu = wake_search(r, ct, target, near, whole, &cores, res);
	}
	if (cpu < 0)
		return;
claimed:
	res->cpu = cpu;
	res->claimed = true;
}

#endif
