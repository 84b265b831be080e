/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which CPU a waking or new task goes to: select_idle_sibling() and beyond.
 *
 * In order, each step with the feature switch that turns it off:
 *
 *  0. woken by a partner that hands its CPU over with every wake-up: stack
 *     behind it, the CPU is as good as idle and the cache warm  SYNC
 *  1. target: the waker's CPU or prev             WA_IDLE WA_WEIGHT WAKE_WIDE SYNC
 *  2. target idle: take it. With IDLE_CORE only if its whole core idles, unless
 *     no core of the LLC does; with PREV_BEFORE_CORE in any case. A hog on the
 *     sibling costs the wakee more than a cold L1 does, on most machines.
 *  3. prev idle and sharing the LLC: likewise
 *  4. woken by a per-CPU kthread on this CPU with nobody else there: stack behind
 *     it, it is about to sleep                    KTHREAD_STACK
 *  5. the CPU used before prev: as 2              RECENT_CPU
 *  6. a wholly idle core in the LLC, cluster first  IDLE_CORE
 *  7. an idle sibling of target or prev           IDLE_SMT
 *  8. any idle CPU in the LLC                     IDLE_CPU, budget by AVG_CPU
 *     or one that runs only SCHED_IDLE work, which counts as idle for others
 *  9. node, then the other nodes by distance, while the expected wait is longer
 *     than the move costs; on a large machine not at once again where nothing
 *     was found                                   WAKE_WIDEN
 * 10. queue at the target, or where no real-time task has the CPU
 *
 * Contract: the result is allowed for the task; `claimed` says that this call
 * took the CPU's idle bit, so no other wake-up places on it. A claim does not
 * promise the CPU still idles when the task arrives (a real-time task needs no
 * bit). Plain C over the port; time is an argument.
 */
#ifndef __SIBLING_POLICY_PLACE_H
#define __SIBLING_POLICY_PLACE_H

#include "place_search.h"

#define PLACE_TAKEN_LOAD	64	/* tasks a real-time one stands for */

/* Runnable tasks there; one of a higher class counts for many, it does not share. */
static __always_inline u32 place_load(s32 cpu)
{
	return port_nr_running(cpu) + (port_taken(cpu) ? PLACE_TAKEN_LOAD : 0);
}

/* Step 1 before wake_wide(): does the waker's CPU, with @near in prev's LLC, attract the wakee? */
static __always_inline bool place_wake_affine(const struct place_req *r, bool near)
{
	if (place_on(r, FEAT_WA_IDLE)) {
		/* An interrupt on an idle CPU: its cache is no warmer than prev's. */
		if (r->waker_idle && near && port_cpu_idle(r->waker))
			return !port_cpu_idle(r->prev);
		if (r->sync && place_on(r, FEAT_SYNC) && port_nr_running(r->waker) == 1)
			return true;
		if (port_cpu_idle(r->prev))
			return false;
	}
	return place_on(r, FEAT_WA_WEIGHT) &&
	       place_load(r->waker) < place_load(r->prev);
}

/*
 * A CPU for a task that may use neither prev nor the waker's: one that is
 * scheduled on, as the mask holds offline and isolated CPUs too; failing that
 * prev, for a task bound to isolated ones.
 */
port_fn s32 place_anywhere(const struct port_task *task port_trusted, s32 prev)
{
	const struct node_topo *first = port_node(0);

	if (!first)
		return port_any_allowed(task);
	port_for(n, MAX_NODES, n <= first->nr_others) {
		const struct node_topo *node = port_node(n);

		if (!node)
			break;
		port_for(w, CPU_WORDS, w <= node->span.last) {
			u64 bits = node->span.mask[port_index(w, CPU_WORDS)] &
				   port_allowed_word(task, w);

			if (bits)
				return w * 64 + port_ctz(bits);
		}
	}
	return port_allowed(task, prev) ? prev : port_any_allowed(task);
}

/* Step 1, wake_affine(): the target is @r->waker or @r->prev. */
static __always_inline s32 place_target(const struct place_req *r, bool prev_ok, bool near)
{
	bool waker_ok = r->waker == r->prev ? prev_ok : place_usable(r->task, r->waker);

	if (!prev_ok)
		return waker_ok ? r->waker : place_anywhere(r->task, r->prev);
	if (!waker_ok || r->waker == r->prev || !place_wake_affine(r, near))
		return r->prev;
	if (place_on(r, FEAT_WAKE_WIDE) && port_wake_wide(r->task))
		return r->prev;
	return r->waker;
}

/* Step 0. */
static __always_inline bool place_stack(const struct place_req *r, bool prev_ok)
{
	return r->sync_partner && place_on(r, FEAT_SYNC) && port_nr_running(r->waker) == 1 &&
	       (r->waker == r->prev ? prev_ok : place_usable(r->task, r->waker));
}

/*
 * Words one LLC search may look at. AVG_CPU is the 2016 idea (SIS_AVG_CPU, then
 * SIS_PROP and SIS_UTIL): a CPU that never idles long gains nothing from a wide
 * search. Idling for half a microsecond pays for a word, for eight for all 16.
 */
static __always_inline u32 place_budget(u32 scan_budget, u64 avg_idle_ns)
{
	u64 words = avg_idle_ns / 512;

	if (words >= scan_budget)
		return scan_budget;
	return words ? words : 1;
}

/* Step 6 in the LLC of @target, whose topology is @t; @cores idle there. */
static __always_inline s32 place_core_in_llc(const struct place_req *r, const struct cpu_topo *t,
					     s32 target, const struct place_idle *cores,
					     u32 budget)
{
	if (t->cluster_bits != t->smt_bits && t->cluster_bits != t->llc_bits) {
		s32 cpu = place_near(r->task, t->llc, t->cluster_bits & ~t->smt_bits, true);

		if (cpu >= 0)
			return cpu;
	}
	return place_llc_claim(r->task, t, target, cores, true, budget);
}

/* Steps 7 and 8; @threads idle there. */
static __always_inline s32 place_thread_in_llc(const struct place_req *r, const struct cpu_topo *t,
					       s32 target, const struct place_idle *threads,
					       u32 budget, u32 *step)
{
	if (place_on(r, FEAT_IDLE_SMT) && t->has_smt) {
		s32 cpu = place_near(r->task, t->llc, t->smt_bits, false);

		*step = STAT_PLACE_SMT;
		if (cpu < 0 && r->prev != target && shares_llc(r->prev, target)) {
			const struct cpu_topo *tp = port_cpu_topo(r->prev);

			if (tp)
				cpu = place_near(r->task, tp->llc, tp->smt_bits, false);
		}
		if (cpu >= 0)
			return cpu;
	}
	if (!place_on(r, FEAT_IDLE_CPU))
		return -1;
	*step = STAT_PLACE_CPU;
	return place_llc_claim(r->task, t, target, threads, false, budget);
}

/*
 * Steps 2 and 3, once for whole cores and once for any idle thread. @prev_near: prev
 * may be used and shares the target's LLC.
 */
static __always_inline s32 place_known(const struct place_req *r, s32 target, bool prev_near,
				       bool core, u32 *step)
{
	*step = STAT_PLACE_TARGET;
	if (place_try(target, core))
		return target;
	*step = STAT_PLACE_PREV;
	if (prev_near && r->prev != target && place_try(r->prev, core))
		return r->prev;
	return -1;
}

/* Step 5. */
static __always_inline s32 place_recent(const struct place_req *r, s32 target, bool core,
					u32 *step)
{
	s32 recent;

	if (!place_on(r, FEAT_RECENT_CPU))
		return -1;
	*step = STAT_PLACE_RECENT;
	recent = port_recent(r->task);
	if (recent >= 0 && recent != r->prev && recent != target &&
	    shares_llc(recent, target) && port_allowed(r->task, recent) &&
	    place_try(recent, core))
		return recent;
	return -1;
}

/*
 * Step 10 where a real-time or deadline task has the target: the least loaded
 * CPU of its LLC, as waiting behind that one has no end in sight.
 */
port_fn s32 place_off_taken(const struct port_task *task port_trusted, s32 target)
{
	const struct cpu_topo *t = port_cpu_topo(target);
	const struct llc_topo *llc;
	u32 least = PLACE_TAKEN_LOAD;
	s32 best = target;
	u64 bits;

	if (!t || !t->valid)
		return target;
	llc = port_llc(t->llc);
	if (!llc)
		return target;
	bits = t->llc_bits;
	port_for(i, LLC_CPUS, bits) {
		s32 cpu = llc->cpus[port_index(port_ctz(bits), LLC_CPUS)];
		u32 load = place_load(cpu);

		bits &= bits - 1;
		if (load < least && port_allowed(task, cpu)) {
			least = load;
			best = cpu;
		}
	}
	/* The kernel tells of a task that it takes the CPU from, not of an idle CPU. */
	if (best == target)
		port_note_taken(target);
	return best;
}

/* A CPU of the target's LLC that runs only SCHED_IDLE work, itself first, or -1. */
port_fn s32 place_over_sched_idle(const struct port_task *task port_trusted, s32 target)
{
	const struct cpu_topo *t = port_cpu_topo(target);
	const struct llc_topo *llc;
	u64 bits;

	if (!t || !t->valid || !port_sched_idle_seen(t->llc))
		return -1;
	if (port_sched_idle_only(target))
		return target;
	llc = port_llc(t->llc);
	if (!llc)
		return -1;
	bits = t->llc_bits;
	port_for(i, LLC_CPUS, bits) {
		s32 cpu = llc->cpus[port_index(port_ctz(bits), LLC_CPUS)];

		if (port_sched_idle_only(cpu) && port_allowed(task, cpu))
			return cpu;
		bits &= bits - 1;
	}
	return -1;
}

#endif
