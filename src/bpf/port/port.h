/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The port, BPF side: all that the policy may ask of the world. The native
 * tests implement the same functions over a synthetic machine
 * (tests/native/port.h); which one a policy header gets is decided by the
 * include path alone.
 *
 * A bad CPU, LLC or node number yields NULL, false or 0 here and aborts in the
 * native port, so that a bounds bug is silent in neither world.
 */
#ifndef __SIBLING_PORT_H
#define __SIBLING_PORT_H

#include "../state.bpf.h"

#define port_ctz(x)	__builtin_ctzll(x)

struct port_task;	/* a task_struct, never looked into by the policy */

static __always_inline struct task_struct *port_to_task(const struct port_task *t)
{
	return (struct task_struct *)t;
}

static __always_inline const struct cpu_topo *port_cpu_topo(s32 cpu)
{
	u32 i = cpu;

	if (i >= MAX_CPUS)
		return NULL;
	return (const struct cpu_topo *)&cpu_topo[i];
}

static __always_inline const struct llc_topo *port_llc(u32 llc)
{
	if (llc >= MAX_LLCS)
		return NULL;
	return (const struct llc_topo *)&llc_topo[llc];
}

static __always_inline const struct node_topo *port_node(u32 node)
{
	if (node >= MAX_NODES)
		return NULL;
	return (const struct node_topo *)&node_topo[node];
}

/*
 * One word of a kernel cpumask. The verifier takes no variable index into a
 * kernel structure, hence the switch; the size test is a constant after
 * relocation, so words beyond the running kernel's NR_CPUS are dead code.
 */
static __noinline u64 cpumask_word(const struct cpumask *mask, u32 w)
{
#define W(i)	case i: return bpf_core_field_size(mask->bits) > (i) * 8 ? mask->bits[i] : 0;
	switch (w) {
	W(0) W(1) W(2) W(3) W(4) W(5) W(6) W(7)
	W(8) W(9) W(10) W(11) W(12) W(13) W(14) W(15)
	}
#undef W
	return 0;
}

static __always_inline u64 port_idle_word(u32 w, bool core)
{
	const struct cpumask *mask = core ? scx_bpf_get_idle_smtmask() :
					    scx_bpf_get_idle_cpumask();
	u64 word = cpumask_word(mask, w);

	scx_bpf_put_idle_cpumask(mask);
	return word;
}

static __always_inline bool port_allowed(const struct port_task *t, s32 cpu)
{
	return (u32)cpu < nr_cpu_ids && bpf_cpumask_test_cpu(cpu, port_to_task(t)->cpus_ptr);
}

static __always_inline u64 port_allowed_word(const struct port_task *t, u32 w)
{
	/* Unrestricted is the common case and costs one comparison. */
	if (port_to_task(t)->nr_cpus_allowed >= nr_cpus_usable)
		return ~0ULL;
	return cpumask_word(port_to_task(t)->cpus_ptr, w);
}

static __always_inline s32 port_any_allowed(const struct port_task *t)
{
	u32 cpu = bpf_cpumask_any_distribute(port_to_task(t)->cpus_ptr);

	return cpu < nr_cpu_ids ? (s32)cpu : -1;
}

/* Nothing running or queued, of any class; the claim decides, this only hints. */
static __always_inline bool port_cpu_idle(s32 cpu)
{
	struct rq *rq = cpu_rq(cpu);

	return rq && !rq->nr_running;
}

static __always_inline bool port_core_idle(s32 cpu)
{
	const struct cpu_topo *t = port_cpu_topo(cpu);

	if (!t || !port_cpu_idle(cpu))
		return false;
	if (t->sibling != NO_CPU)
		return port_cpu_idle(t->sibling);
	if (!t->has_smt)
		return true;
	return port_idle_word((u32)cpu / 64, true) >> (cpu & 63) & 1;
}

/* Take the CPU's idle bit; also counts how long it idled. */
static __always_inline bool port_claim(s32 cpu)
{
	if (!scx_bpf_test_and_clear_cpu_idle(cpu)) {
		stat_inc(STAT_CLAIM_LOST);
		return false;
	}
	idle_end(cpu);
	return true;
}

static __always_inline u32 port_nr_running(s32 cpu)
{
	struct rq *rq = cpu_rq(cpu);

	return rq ? rq->nr_running : 0;
}

static __always_inline u64 port_avg_idle(s32 cpu)
{
	struct cpu_state *cs = cpu_state_of(cpu);

	return cs ? cs->avg_idle_ns : 0;
}

/* The CPU the task used before its previous one, or -1. */
static __always_inline s32 port_recent(const struct port_task *t)
{
	struct task_ctx *tc = task_ctx_peek(port_to_task(t));

	return tc ? (s32)tc->recent_cpu - 1 : -1;
}

/*
 * Does the running task wake too many others to pull its wakee @t here? Counts
 * the change of wakee first (record_wakee()); asked only where the waker's CPU
 * would be the target, so pairs that stay put pay nothing.
 */
static __noinline bool port_wake_wide(const struct port_task *t)
{
	struct task_struct *waker = bpf_get_current_task_btf();
	struct task_ctx *tc = task_ctx_peek(waker), *wakee;
	const struct cpu_topo *ct = port_cpu_topo(bpf_get_smp_processor_id());
	u32 second = scx_bpf_now() >> 30;
	const struct llc_topo *llc;

	if (!tc || !ct || !ct->valid)
		return false;
	if (tc->wakee_flip_second != second) {
		tc->wakee_flip_second = second;
		tc->wakee_flips /= 2;
	}
	if (tc->last_wakee != port_to_task(t)->pid) {
		tc->last_wakee = port_to_task(t)->pid;
		tc->wakee_flips++;
	}
	wakee = task_ctx_peek(port_to_task(t));
	llc = port_llc(ct->llc);
	return llc && wake_wide(tc->wakee_flips, wakee ? wakee->wakee_flips : 0, llc->nr_cpus);
}

/* How long a newcomer may have to wait at worst. */
static __always_inline u64 port_wait_ns(s32 cpu)
{
	struct rq *rq = cpu_rq(cpu);
	u64 wait;

	if (!rq || !rq->nr_running)
		return 0;
	wait = rq->curr->scx.slice;
	return wait + (rq->nr_running - 1) * live.v[TUN_SLICE_MIN];
}

static __always_inline bool port_sched_idle_seen(u32 llc)
{
	return llc < MAX_LLCS && llc_state[llc].sched_idle_seen;
}

static __always_inline bool port_sched_idle_only(s32 cpu)
{
	struct rq *rq = cpu_rq(cpu);

	return rq && rq->nr_running == 1 && rq->curr->policy == SCHED_IDLE;
}

#endif
