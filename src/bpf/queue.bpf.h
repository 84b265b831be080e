/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The virtual-time queue of a CPU: one user DSQ per CPU, its id the CPU number.
 *
 * A task queued on a CPU belongs to that CPU's runqueue until another CPU pulls
 * it, so the kernel's own counters tell how many wait; no second count is kept
 * that could drift.
 */
#ifndef __SIBLING_QUEUE_BPF_H
#define __SIBLING_QUEUE_BPF_H

#include "port/port.h"

/* Tasks in @rq's queue: all of sched_ext's but the running one and the local DSQ's. */
static __always_inline u32 queue_waiting(const struct rq *rq)
{
	u32 nr = rq->scx.nr_running, seen = rq->scx.local_dsq.nr;

	seen += rq->curr->scx.flags & SCX_TASK_QUEUED ? 1 : 0;
	return nr > seen ? nr - seen : 0;
}

/*
 * The CPU's virtual time moves with the clock, divided among the @nr_running
 * who share it. Were it moved by picks alone, a stream of new or short tasks
 * placed behind it would keep it standing and starve whoever is ahead.
 */
static __always_inline void queue_advance(struct cpu_state *cs, const struct rq *rq, u32 nr_running)
{
	u64 now_ns = rq->clock, delta = now_ns - cs->picked_ns;

	cs->picked_ns = now_ns;
	if ((s64)delta > 0)
		cs->vtime_ns += nr_running > 1 ? delta / nr_running : delta;
}

/*
 * Nor may it fall behind who is picked: where light tasks share the CPU, the
 * clock divided by their number is too slow.
 */
static __always_inline void queue_advance_to(struct cpu_state *cs, u64 picked_vtime)
{
	if (vtime_before(cs->vtime_ns, picked_vtime))
		cs->vtime_ns = picked_vtime;
}

/*
 * The virtual time of @p on @cpu, what it ran since it was last charged
 * included. CPUs' virtual times are unrelated: coming from another CPU, it
 * stands to this one's as it stood to that one's.
 */
static __always_inline u64 queue_vtime(struct task_struct *p, struct task_ctx *tc, s32 cpu,
				       struct cpu_state *cs)
{
	u64 ran = p->se.sum_exec_runtime, vtime = p->scx.dsq_vtime;

	vtime += vtime_scale(ran - tc->charged_ns, p->scx.weight);
	tc->charged_ns = ran;
	if (tc->queue_cpu != cpu) {
		vtime += cs->vtime_ns -
			 cpu_state[port_index(tc->queue_cpu, MAX_CPUS)].vtime_ns;
		tc->queue_cpu = cpu;
	}
	return vtime;
}

/* Own bit of the overload hints, see llc_state. */
static __always_inline void overload_set(s32 cpu, struct cpu_state *cs)
{
	const struct cpu_topo *t = port_cpu_topo(cpu);
	u32 llc, node;
	u64 old;

	if (cs->overloaded || !t || !t->valid)
		return;
	llc = t->llc;
	node = t->node;
	if (llc >= MAX_LLCS || node >= MAX_NODES)
		return;
	cs->overloaded = 1;
	old = __sync_fetch_and_or(&llc_state[llc].overload, 1ULL << (t->llc_bit & 63));
	if (!old)
		__sync_fetch_and_or(&node_state[node].overload, 1ULL << (t->node_bit & 63));
}

static __noinline __attribute__((unused)) void overload_clear(s32 cpu, struct cpu_state *cs)
{
	const struct cpu_topo *t = port_cpu_topo(cpu);
	u64 bit, node_bit, old;
	u32 llc, node;

	if (!cs->overloaded || !t || !t->valid)
		return;
	llc = t->llc;
	node = t->node;
	if (llc >= MAX_LLCS || node >= MAX_NODES)
		return;
	cs->overloaded = 0;
	bit = 1ULL << (t->llc_bit & 63);
	node_bit = 1ULL << (t->node_bit & 63);
	old = __sync_fetch_and_and(&llc_state[llc].overload, ~bit);
	if (old != bit)
		return;
	__sync_fetch_and_and(&node_state[node].overload, ~node_bit);
	/* Another CPU may have set its bit, seen the node's, and left it to us. */
	if (READ_ONCE(llc_state[llc].overload))
		__sync_fetch_and_or(&node_state[node].overload, node_bit);
}

static __noinline bool overload_elsewhere(void)
{
	port_for(i, MAX_NODES, i < nr_nodes) {
		if (READ_ONCE(node_state[port_index(i, MAX_NODES)].overload))
			return true;
	}
	return false;
}

/* Does anybody wait anywhere? One load on a machine of one node. */
static __always_inline bool overload_anywhere(u32 node)
{
	if (READ_ONCE(node_state[port_index(node, MAX_NODES)].overload))
		return true;
	return nr_nodes > 1 && overload_elsewhere();
}

#endif
