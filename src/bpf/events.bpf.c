/* SPDX-License-Identifier: GPL-2.0-only */
/* What happens beside the fast path: ticks, and CPUs taken by other classes. */
#include "queue.bpf.h"
#include "policy/place.h"

/*
 * Send an idle CPU for a task that waits on @cpu. The CPU searches with the gate
 * open: that the task still waits has shown the expectation wrong.
 */
static __noinline void send_idle_cpu(s32 cpu, u32 force)
{
	struct task_struct *head = __COMPAT_scx_bpf_dsq_peek(cpu);
	struct place_req r = {
		.features = &live.v[TUN_FEATURES],
		.prev = cpu,
		.waker = cpu,
	};
	struct cpu_state *dst_state;
	struct rq *rq = cpu_rq(cpu);
	s32 dst;

	if (!head || head->nr_cpus_allowed == 1)
		return;
	/* Nobody would be allowed to take it yet. */
	if (force < PULL_ANY && rq &&
	    rq->clock_task - head->se.exec_start < live.v[TUN_MIGRATION_COST_LLC])
		return;
	/* It may leave the queue and exit while its mask is looked at. */
	head = bpf_task_acquire(head);
	if (!head)
		return;
	r.task = (const struct port_task *)head;
	dst = place_fork(&r);
	bpf_task_release(head);
	if (dst < 0)
		return;
	dst_state = cpu_state_of(dst);
	if (dst_state)
		dst_state->force_pull = force;
	stat_inc(STAT_RESCUE);
	scx_bpf_kick_cpu(dst, 0);
}

#define SYNC_DISBELIEF_NS	100000000ULL	/* what one late waker costs the CPU's others */

/* Wake-ups look for CPUs with background work only where a tick lately met some. */
static __noinline void note_sched_idle(s32 cpu)
{
	const struct cpu_topo *t = port_cpu_topo(cpu);
	u64 now = scx_bpf_now();
	u32 llc;

	if (!t || !t->valid)
		return;
	llc = t->llc;
	if (llc < MAX_LLCS && now - llc_state[llc].sched_idle_seen_ns > SCHED_IDLE_SEEN_NS / 8)
		llc_state[llc].sched_idle_seen_ns = now;
}

/*
 * What waits in the local DSQ was put there in the belief that @p soon makes
 * room: a sync waker that works on, or a task bound to the CPU with nobody else
 * waiting. It no longer holds once @p ran for a least slice.
 */
static __noinline void make_way(struct cpu_state *cs, struct task_struct *p)
{
	if (p->scx.slice + live.v[TUN_SLICE_MIN] > live.v[TUN_SLICE])
		return;
	scx_bpf_task_set_slice(p, 0);
	if (!cs->sync_stacked)
		return;
	stat_inc(STAT_SYNC_LATE);
	cs->sync_after_ns = scx_bpf_now() + SYNC_DISBELIEF_NS;
}

/*
 * A CPU going idle and a waker queueing a task can miss each other (the idle bit
 * is set after the last look at the hints), and the gate may have kept a CPU
 * from fetching what then waited longer than expected. Either way no task waits
 * beside an idle CPU for longer than a tick. One load when nobody waits.
 */
void BPF_STRUCT_OPS(sibling_tick, struct task_struct *p)
{
	s32 cpu = bpf_get_smp_processor_id();
	struct cpu_state *cs = cpu_state_of(cpu);

	struct rq *rq = cpu_rq(cpu);

	if (!cs || !rq)
		return;
	if (rq->scx.local_dsq.nr)
		make_way(cs, p);
	cs->sync_stacked = 0;
	if (cs->overloaded)
		send_idle_cpu(cpu, PULL_WAITED);
	if (p->policy == SCHED_IDLE)
		note_sched_idle(cpu);
}

/*
 * A real-time or deadline task took the CPU. What stood ready to run comes back
 * through ops.enqueue, which finds it another place; for what waits in the
 * queue an idle CPU is sent, and busy ones see it in the hints.
 */
void BPF_STRUCT_OPS(sibling_cpu_release, s32 cpu, struct scx_cpu_release_args *args)
{
	struct cpu_state *cs = cpu_state_of(cpu);

	stat_inc(STAT_RT_RELEASE);
	if (cs && cs->overloaded)
		send_idle_cpu(cpu, PULL_ANY);
	scx_bpf_reenqueue_local();
}
