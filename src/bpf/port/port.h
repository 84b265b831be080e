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

/*
 * for (i = 0; i < n && more; i++), with a start the verifier cannot know and a
 * may_goto, so that it looks at the body once instead of n times. Nested loops
 * over CPUs, LLCs and nodes are beyond its limit otherwise.
 */
#define port_for(i, n, more)	for (u32 i = loop_start; i < (n) && (more) && can_loop; i++)

/*
 * An index below the power of two @size. The mask repeats a test the caller
 * made: without the barrier the compiler drops it, or strength-reduces the
 * index into a moving pointer, and the verifier loses the bound.
 */
#define port_index(i, size)	({ u32 __i = (i); barrier_var(__i); __i & ((size) - 1); })

/* The same for a level, of which there are five: the last for any beyond. */
#define port_level(i)	({ u32 __i = (i); barrier_var(__i); __i < LEVEL_NR ? __i : LEVEL_SYSTEM; })

/*
 * Functions the verifier checks once by themselves instead of once per path to
 * each call: the searches, which would multiply with every way through the
 * order of steps. Weak, as several objects bring the same ones along.
 */
#define port_fn		__weak __noinline
#define port_trusted	__arg_trusted
#define port_nonnull	__arg_nonnull

/* The policy never looks into it. */
#define port_task	task_struct

static __always_inline struct task_struct *port_to_task(const struct port_task *t)
{
	return (struct task_struct *)t;
}

static __always_inline const struct cpu_topo *port_cpu_topo(s32 cpu)
{
	u32 i = cpu;

	if (i >= MAX_CPUS)
		return NULL;
	barrier_var(i);
	return (const struct cpu_topo *)&cpu_topo[i & (MAX_CPUS - 1)];
}

/* The same for a CPU the kernel named: there is no other. */
static __always_inline const struct cpu_topo *port_topo_of(s32 cpu)
{
	return (const struct cpu_topo *)&cpu_topo[port_index(cpu, MAX_CPUS)];
}

static __always_inline const struct llc_topo *port_llc(u32 llc)
{
	if (llc >= MAX_LLCS)
		return NULL;
	barrier_var(llc);
	return (const struct llc_topo *)&llc_topo[llc & (MAX_LLCS - 1)];
}

static __always_inline const struct node_topo *port_node(u32 node)
{
	if (node >= MAX_NODES)
		return NULL;
	barrier_var(node);
	return (const struct node_topo *)&node_topo[node & (MAX_NODES - 1)];
}

/*
 * Word @w of the cpumask at @addr. The verifier takes no variable index into a
 * kernel structure, but a cast of any address to one.
 */
static __always_inline u64 cpumask_word(u64 addr, u32 w)
{
	return bpf_core_cast((const void *)addr + w * sizeof(u64), struct cpumask)->bits[0];
}

/*
 * The masks stay where they are until the scheduler is unloaded, so that their
 * addresses are asked for once: not in ops.init, as some kernels turn idle
 * tracking on after it and eject who asks before.
 */
static __noinline void idle_masks_find(void)
{
	const struct cpumask *mask;

	mask = scx_bpf_get_idle_cpumask();
	kernel_addr.idle_mask[0] = (u64)mask;
	scx_bpf_put_idle_cpumask(mask);
	mask = scx_bpf_get_idle_smtmask();
	kernel_addr.idle_mask[1] = (u64)mask;
	scx_bpf_put_idle_cpumask(mask);
}

static __always_inline u64 port_idle_word(u32 w, bool core)
{
	if (!kernel_addr.idle_mask[1])
		idle_masks_find();
	return w < CPU_WORDS && w * 64 < nr_cpu_ids ?
		       cpumask_word(kernel_addr.idle_mask[core & 1], w) : 0;
}

static __always_inline void port_stat(u32 id, u64 n)
{
	stat_add(id, n);
}

static __always_inline u64 port_now(void)
{
	return scx_bpf_now();
}

/* Words of 64 that the machine's CPU numbers take. */
static __always_inline u32 port_cpu_words(void)
{
	return (nr_cpu_ids + 63) / 64;
}

/* May the task run anywhere? */
static __always_inline bool port_unbound(const struct port_task *t)
{
	return port_to_task(t)->nr_cpus_allowed >= nr_cpu_ids;
}

/* For a CPU that exists. */
static __always_inline bool port_allowed(const struct port_task *t, s32 cpu)
{
	/* Unrestricted is the common case and costs one comparison. */
	return port_unbound(t) ||
	       bpf_cpumask_test_cpu(cpu, port_to_task(t)->cpus_ptr);
}

static __always_inline u64 port_allowed_word(const struct port_task *t, u32 w)
{
	const void *p = t;
	u64 addr;

	if (port_unbound(t))
		return ~0ULL;
	if (w >= CPU_WORDS || w * 64 >= nr_cpu_ids)
		return 0;
	/* t->cpus_ptr, read as a number and not as a pointer. */
	addr = cpumask_word((u64)p + bpf_core_field_offset(struct task_struct, cpus_ptr), 0);
	return cpumask_word(addr, w);
}

static __always_inline s32 port_any_allowed(const struct port_task *t)
{
	u32 cpu = bpf_cpumask_any_distribute(port_to_task(t)->cpus_ptr);

	return cpu < nr_cpu_ids ? (s32)cpu : -1;
}

/*
 * Nothing running or queued, of any class. A hint: the claim decides, and what is
 * no CPU cannot be claimed.
 */
static __always_inline bool port_cpu_idle(s32 cpu)
{
	return !cpu_rq(cpu)->nr_running;
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

/* Take the CPU's idle bit. */
static __always_inline bool port_claim(s32 cpu)
{
	if ((u32)cpu < nr_cpu_ids && scx_bpf_test_and_clear_cpu_idle(cpu))
		return true;
	stat_inc(STAT_CLAIM_LOST);
	return false;
}

/* Claim an idle CPU of any kind, isolated ones too, or -1. */
static __always_inline s32 port_claim_any(const struct port_task *t)
{
	return scx_bpf_pick_idle_cpu(port_to_task(t)->cpus_ptr, 0);
}

static __always_inline u32 port_nr_running(s32 cpu)
{
	return cpu_rq(cpu)->nr_running;
}

/* A real-time or deadline task runs there: what waits may wait for long. */
static __always_inline bool port_taken(s32 cpu)
{
	return cpu_rq(cpu)->curr->prio < MAX_RT_PRIO;
}

/* A real-time task has @cpu: tell CPUs going idle that whoever waits there is in need. */
static __always_inline void port_note_taken(s32 cpu)
{
	const struct cpu_topo *t = port_topo_of(cpu);
	u64 bit = 1ULL << (t->llc_bit & 63);
	u32 llc = t->llc;

	if (t->valid && llc < MAX_LLCS && !(llc_state[port_index(llc, MAX_LLCS)].taken & bit))
		__sync_fetch_and_or(&llc_state[port_index(llc, MAX_LLCS)].taken, bit);
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
port_fn bool port_wake_wide(const struct port_task *t port_trusted)
{
	struct task_struct *waker = bpf_get_current_task_btf();
	struct task_ctx *tc = task_ctx_make(waker), *wakee;
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
	const struct rq *rq = cpu_rq(cpu);
	u64 wait;

	if (!rq->nr_running)
		return 0;
	wait = rq->curr->scx.slice;
	return wait + (rq->nr_running - 1) * live.v[TUN_SLICE_MIN];
}

static __always_inline u64 port_tunable(u32 id)
{
	return id < TUN_NR ? live.v[id] : 0;
}

static __always_inline bool port_sched_idle_seen(u32 llc)
{
	u64 seen_ns = llc < MAX_LLCS ? llc_state[llc].sched_idle_seen_ns : 0;

	return seen_ns && scx_bpf_now() - seen_ns < SCHED_IDLE_SEEN_NS;
}

static __always_inline bool port_sched_idle_only(s32 cpu)
{
	const struct rq *rq = cpu_rq(cpu);

	return rq->nr_running == 1 && rq->curr->policy == SCHED_IDLE;
}

#endif
