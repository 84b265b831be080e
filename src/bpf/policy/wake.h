/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The order of the steps listed in place.h. Kept apart from the steps so that
 * the order can be read on one screen.
 */
#ifndef __SIBLING_POLICY_WAKE_H
#define __SIBLING_POLICY_WAKE_H

#include "place.h"

/* Steps 5 to 8 with the target's LLC known to have something idle. */
static __always_inline s32 wake_in_llc(const struct place_req *r, const struct tunables *t,
		       const struct cpu_topo *ct, const struct llc_topo *llc, s32 target,
		       bool prev_ok, bool whole, u32 *step)
{
	u32 budget = place_budget(r, t->v[TUN_WAKE_SCAN_BUDGET], port_avg_idle(target));
	s32 cpu;

	if (whole) {
		*step = STAT_PLACE_CORE;
		cpu = place_core_in_llc(r, ct, llc, target, budget);
		if (cpu >= 0)
			return cpu;
		cpu = place_known(r, target, prev_ok, false, step);
		if (cpu >= 0)
			return cpu;
		cpu = place_recent(r, target, false, step);
		if (cpu >= 0)
			return cpu;
	} else if (place_on(r, FEAT_IDLE_CORE)) {
		*step = STAT_PLACE_CORE;
		cpu = place_core_in_llc(r, ct, llc, target, budget);
		if (cpu >= 0)
			return cpu;
	}
	return place_thread_in_llc(r, ct, llc, target, budget, step);
}

/*
 * Place a waking task. Fills @res; res->cpu is always allowed and never < 0
 * unless the task may run nowhere.
 */
static bool place_wake(const struct place_req *r, const struct tunables *t,
		       struct place_res *res)
{
	bool prev_ok = place_usable(r, r->prev);
	bool whole = place_on(r, FEAT_IDLE_CORE) && !place_on(r, FEAT_PREV_BEFORE_CORE);
	const struct cpu_topo *ct;
	const struct llc_topo *llc;
	s32 cpu, target;

	res->claimed = res->stacked = false;
	/*
	 * The common case first: a running waker cannot be an idle target, so
	 * whatever step 1 would say, an idle prev in its LLC is next in line.
	 */
	if (prev_ok && r->waker != r->prev && shares_llc(r->waker, r->prev) &&
	    !port_cpu_idle(r->waker) && place_try(r->prev, whole)) {
		res->step = STAT_PLACE_PREV;
		cpu = r->prev;
		goto claimed;
	}

	target = place_target(r, prev_ok);
	ct = port_cpu_topo(target);
	res->cpu = target;
	res->step = STAT_PLACE_QUEUE;
	if (!ct || !ct->valid)
		return false;

	cpu = place_known(r, target, prev_ok, whole, &res->step);
	if (cpu >= 0)
		goto claimed;

	if (place_on(r, FEAT_KTHREAD_STACK) && r->kthread_waker && r->waker == r->prev &&
	    prev_ok && port_nr_running(r->waker) <= 1) {
		res->cpu = r->waker;
		res->step = STAT_PLACE_KTHREAD;
		res->stacked = true;
		return true;
	}
	cpu = place_recent(r, target, whole, &res->step);
	if (cpu >= 0)
		goto claimed;

	llc = port_llc(ct->llc);
	if (!llc)
		return false;
	if (place_any(r, &llc->span, false)) {
		cpu = wake_in_llc(r, t, ct, llc, target, prev_ok, whole, &res->step);
		if (cpu >= 0)
			goto claimed;
	}
	if (place_on(r, FEAT_WAKE_WIDEN)) {
		cpu = place_beyond_llc(r, t, target, port_wait_ns(target), &res->step);
		if (cpu >= 0)
			goto claimed;
	}
	cpu = place_over_sched_idle(r, target);
	if (cpu >= 0) {
		res->cpu = cpu;
		res->step = STAT_PLACE_SCHED_IDLE;
		res->stacked = true;
		return true;
	}
	res->step = STAT_PLACE_QUEUE;
	return true;
claimed:
	res->cpu = cpu;
	res->claimed = true;
	return true;
}

#endif
