/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Beyond the LLC: wake-ups that would wait for long, new tasks, and runnable ones
 * that need not stay where they are. One cost table with new-idle balance: a
 * move across a level must be worth the wait it saves.
 */
#ifndef __SIBLING_POLICY_PLACE_FAR_H
#define __SIBLING_POLICY_PLACE_FAR_H

#include "place_search.h"

/*
 * An idle CPU of @set, with @cores a whole core first. On a full machine the
 * answer is no, and costs one look instead of two searches.
 */
port_fn s32 place_in(const struct port_task *task port_trusted, u32 set, u32 cores, s32 near)
{
	s32 cpu = -1;

	if (!place_any(task, set, false))
		return -1;
	if (cores)
		cpu = place_search(task, set, true, CPU_WORDS, near);
	return cpu >= 0 ? cpu : place_search(task, set, false, CPU_WORDS, near);
}

/* What place_beyond_llc() says where it looked: unlike -1, it knows that nothing idles. */
#define PLACE_NONE_FAR	(-2)

/*
 * Step 9. @wait_ns on the target is taken at its worst, the running task's
 * slice and one least slice for each that waits: an idle CPU left idle because
 * of a hopeful guess is what users notice. @cores: in each node whole cores first.
 * Returns the CPU, PLACE_NONE_FAR or, where the wait does not pay for all levels, -1.
 */
port_fn s32 place_beyond_llc(const struct port_task *task port_trusted, s32 target, u64 wait_ns,
			     u32 cores)
{
	const struct cpu_topo *ct = port_cpu_topo(target);
	u64 max_level = port_tunable(TUN_WAKE_MAX_LEVEL);
	const struct node_topo *n;
	s32 cpu;

	if (!ct || !ct->valid || max_level < LEVEL_NODE ||
	    wait_ns <= port_tunable(TUN_MIGRATION_COST_NODE))
		return -1;
	n = port_node(ct->node);
	if (!n)
		return -1;
	if (n->nr_llcs > 1) {
		cpu = place_in(task, PLACE_NODE + ct->node, cores, target);
		if (cpu >= 0)
			return cpu;
	}
	if (!n->nr_others)
		return PLACE_NONE_FAR;
	if (max_level < LEVEL_SYSTEM || wait_ns <= port_tunable(TUN_MIGRATION_COST_SYSTEM))
		return -1;
	port_for(i, MAX_NODES, i < n->nr_others) {
		u32 set = PLACE_NODE + n->others[port_index(i, MAX_NODES)];

		cpu = place_in(task, set, cores, target);
		if (cpu >= 0)
			return cpu;
	}
	return PLACE_NONE_FAR;
}

/* One round of place_fork(), for whole cores or for threads. */
port_fn s32 place_widening(const struct port_task *task port_trusted, s32 prev, u32 core)
{
	const struct cpu_topo *ct = port_cpu_topo(prev);
	u64 max_level = port_tunable(TUN_WAKE_MAX_LEVEL);
	const struct node_topo *n;
	s32 cpu;

	if (!ct || !ct->valid)
		return -1;
	cpu = place_search(task, ct->llc, core, CPU_WORDS, prev);
	if (cpu >= 0 || max_level < LEVEL_NODE)
		return cpu;
	cpu = place_search(task, PLACE_NODE + ct->node, core, CPU_WORDS, prev);
	n = port_node(ct->node);
	if (cpu >= 0 || max_level < LEVEL_SYSTEM || !n)
		return cpu;
	port_for(i, MAX_NODES, i < n->nr_others) {
		u32 set = PLACE_NODE + n->others[port_index(i, MAX_NODES)];

		cpu = place_search(task, set, core, CPU_WORDS, prev);
		if (cpu >= 0)
			return cpu;
	}
	return -1;
}

/*
 * A runnable task that need not wait where it is, as long as the wait is worth
 * the move: its own LLC first, a whole core before a thread.
 */
port_fn s32 place_move(const struct port_task *task port_trusted, s32 prev, u64 wait_ns, u32 cores)
{
	const struct cpu_topo *ct = port_cpu_topo(prev);
	s32 cpu;

	if (!ct || !ct->valid)
		return -1;
	cpu = place_in(task, ct->llc, cores, prev);
	return cpu >= 0 ? cpu : place_beyond_llc(task, prev, wait_ns, cores);
}

/* A wholly idle core in the node for a task that shares its own. */
port_fn s32 place_spread(const struct port_task *task port_trusted, s32 prev)
{
	const struct cpu_topo *ct = port_cpu_topo(prev);
	s32 cpu;

	if (!ct || !ct->valid)
		return -1;
	cpu = place_search(task, ct->llc, true, CPU_WORDS, prev);
	if (cpu >= 0 || port_tunable(TUN_WAKE_MAX_LEVEL) < LEVEL_NODE)
		return cpu;
	return place_search(task, PLACE_NODE + ct->node, true, CPU_WORDS, prev);
}

/*
 * A new task has no cache to keep: the idlest place in the widest level that
 * pays, a whole core first (sched_balance_find_dst_cpu()). The LLC before the
 * node and the node before the system, since its parent's data is near.
 */
static __always_inline s32 place_fork(const struct place_req *r)
{
	s32 cpu = -1;

	if (place_on(r, FEAT_IDLE_CORE))
		cpu = place_widening(r->task, r->prev, true);
	return cpu >= 0 ? cpu : place_widening(r->task, r->prev, false);
}

#endif
