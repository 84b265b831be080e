/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Declarations of everything the BPF objects share, and the bounded look-ups.
 * Defined once, in state.bpf.c.
 */
#ifndef __SIBLING_STATE_BPF_H
#define __SIBLING_STATE_BPF_H

#include <scx/common.bpf.h>
#include <scx/compat.bpf.h>
#include <bpf_experimental.h>
#include "intf.h"
#include "policy/vtime.h"
#include "policy/newidle.h"
#include "policy/wake_wide.h"

/* Macros in the kernel, hence not in its BTF. */
#define SCHED_BATCH	3
#define SCHED_IDLE	5
#define MAX_RT_PRIO	100

#define SCHED_IDLE_SEEN_NS	1000000000ULL	/* how long a tick's finding is believed */

/* Where the kernel keeps what the fast path reads; never written once filled in. */
struct kernel_addr {
	u64 idle_mask[2];	/* the idle threads, the idle cores */
	u64 pad[6];
	u64 rq[MAX_CPUS];
};

/* Fixed at load, written by the loader between open and load. */
extern const volatile u32 nr_cpu_ids;
extern const volatile u32 nr_nodes;
extern const volatile struct cpu_topo cpu_topo[MAX_CPUS];
extern const volatile struct llc_topo llc_topo[MAX_LLCS];
extern const volatile struct node_topo node_topo[MAX_NODES];

extern volatile u32 loop_start;	/* always 0, see port_for() */
extern struct tunables live;
extern struct kernel_addr kernel_addr;
extern struct cpu_state cpu_state[MAX_CPUS];
extern struct cpu_stats cpu_stats[MAX_CPUS];
extern struct cpu_sample cpu_samples[MAX_CPUS];
extern struct llc_state llc_state[MAX_LLCS];
extern struct node_state node_state[MAX_NODES];

/* Made when a task first has to queue: tasks that always find an idle CPU have none. */
struct task_ctx {
	u64 charged_ns;		/* se.sum_exec_runtime already in the virtual time */
	u32 queue_cpu;		/* whose virtual time it is */
	u32 recent_cpu;		/* CPU before the previous one, plus one; 0: none */
	s32 last_wakee;		/* pid, for wake_wide() */
	u32 wakee_flips;	/* changes of wakee */
	u32 wakee_flip_second;	/* in which the flips were last halved */
	u32 pad;
};

struct task_ctx_map {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct task_ctx);
};
extern struct task_ctx_map task_ctxs SEC(".maps");

static __always_inline bool feature(u64 features, u32 id)
{
	return features & (1ULL << id);
}

static __always_inline struct cpu_state *cpu_state_of(s32 cpu)
{
	u32 i = cpu;

	/*
	 * The mask repeats the test: without the barrier the compiler drops it
	 * and with the test alone the verifier loses the bound across a spill.
	 */
	if (i >= MAX_CPUS)
		return NULL;
	barrier_var(i);
	return &cpu_state[i & (MAX_CPUS - 1)];
}

/*
 * The CPU's runqueue, to read from: a load instead of a call. What a number
 * beyond the machine reads as is zero, as any address the kernel has not mapped.
 */
static __always_inline const struct rq *cpu_rq(s32 cpu)
{
	u32 i = cpu;

	barrier_var(i);
	return bpf_core_cast((const void *)kernel_addr.rq[i & (MAX_CPUS - 1)], struct rq);
}

static __always_inline void stat_add(u32 id, u64 n)
{
	u32 cpu = bpf_get_smp_processor_id();

	barrier_var(cpu);
	cpu &= MAX_CPUS - 1;
	if (id < STAT_NR)
		cpu_stats[cpu].cnt[id] += n;
}

static __always_inline void stat_inc(u32 id)
{
	stat_add(id, 1);
}

static __always_inline struct task_ctx *task_ctx_peek(struct task_struct *p)
{
	return bpf_task_storage_get(&task_ctxs, p, NULL, 0);
}

static __always_inline struct task_ctx *task_ctx_make(struct task_struct *p)
{
	return bpf_task_storage_get(&task_ctxs, p, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
}

#endif
