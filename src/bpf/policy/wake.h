/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The order of the steps listed in place.h. Kept apart from the steps so that
 * the order can be read on one screen.
 */
#ifndef __SIBLING_POLICY_WAKE_H
#define __SIBLING_POLICY_WAKE_H

#include "place.h"
#include "place_far.h"

/*
 * Steps 5 to 8 with the target's LLC known to have something idle; @cores: a
 * whole core.
 */
static __always_inline s32 wake_in_llc(const struct place_req *r, const struct cpu_topo *ct,
				       s32 target, bool prev_ok, bool whole, bool cores,
				       struct place_res *res)
{
	u32 budget = place_budget(r, port_tunable(TUN_WAKE_SCAN_BUDGET), port_avg_idle(target));
	s32 cpu;

	cpu = place_recent(r, target, whole, &res->step);
	if (cpu >= 0)
		return cpu;
	if (cores) {
		res->step = STAT_PLACE_CORE;
		res->core = PLACE_CORE_WHOLE;
		cpu = place_core_in_llc(r, ct, target, budget);
		if (cpu >= 0)
			return cpu;
		res->core = PLACE_CORE_UNKNOWN;
	}
	if (whole) {
		cpu = place_known(r, target, prev_ok, false, &res->step);
		if (cpu >= 0)
			return cpu;
		cpu = place_recent(r, target, false, &res->step);
		if (cpu >= 0)
			return cpu;
	}
	return place_thread_in_llc(r, ct, target, budget, &res->step);
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
 * Steps 4 to 9. Returns the CPU claimed, or -1 with @res telling what to do
 * instead.
 */
static __always_inline s32 wake_search(const struct place_req *r, const struct cpu_topo *ct,
				       s32 target, bool prev_ok, bool whole, bool cores,
				       struct place_res *res)
{
	s32 cpu;

	if (place_on(r, FEAT_KTHREAD_STACK) && r->kthread_waker && r->waker == r->prev &&
	    prev_ok && port_nr_running(r->waker) == 1)
		return wake_stack(res, r->waker, STAT_PLACE_KTHREAD);
	if (cores || place_any(r->task, ct->llc, false)) {
		cpu = wake_in_llc(r, ct, target, prev_ok, whole, cores, res);
		if (cpu >= 0)
			return cpu;
	}
	res->core = PLACE_CORE_UNKNOWN;
	cpu = r->wakee_sched_idle ? -1 : place_over_sched_idle(r->task, target);
	if (cpu >= 0)
		return wake_stack(res, cpu, STAT_PLACE_SCHED_IDLE);
	if (place_on(r, FEAT_WAKE_WIDEN)) {
		const struct cpu_topo *far;

		cpu = place_beyond_llc(r->task, target, port_wait_ns(target),
				       place_on(r, FEAT_IDLE_CORE));
		far = port_cpu_topo(cpu);
		res->step = far && far->node == ct->node ? STAT_PLACE_NODE : STAT_PLACE_SYSTEM;
		if (cpu >= 0)
			return cpu;
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
	bool prev_ok = place_usable(r->task, r->prev);
	bool whole = place_on(r, FEAT_IDLE_CORE) && !place_on(r, FEAT_PREV_BEFORE_CORE);
	bool cores = false;
	const struct cpu_topo *ct;
	s32 cpu, target;

	res->claimed = res->stacked = false;
	res->core = whole ? PLACE_CORE_WHOLE : PLACE_CORE_UNKNOWN;
	if (place_stack(r, prev_ok)) {
		wake_stack(res, r->waker, STAT_PLACE_SYNC);
		return;
	}
	/*
	 * The common case first: a running waker cannot be an idle target, so
	 * whatever step 1 would say, an idle prev in its LLC is next in line.
	 */
	if (prev_ok && r->waker != r->prev && shares_llc(r->waker, r->prev) &&
	    !r->waker_idle && place_try(r->prev, whole)) {
		res->step = STAT_PLACE_PREV;
		cpu = r->prev;
		goto claimed;
	}

	target = place_target(r, prev_ok);
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
		cores = place_on(r, FEAT_IDLE_CORE) && place_any(r->task, ct->llc, true);
		if (whole && !cores) {
			whole = false;
			res->core = PLACE_CORE_NONE;
		}
		cpu = place_known(r, target, prev_ok, whole, &res->step);
		if (cpu < 0)
			cpu = wake_search(r, ct, target, prev_ok, whole, cores, res);
	}
	if (cpu < 0)
		return;
claimed:
	res->cpu = cpu;
	res->claimed = true;
}

#endif
