/* SPDX-License-Identifier: GPL-2.0-only */
/* What happens beside the fast path: ticks, and CPUs taken by other classes. */
#include "queue.bpf.h"
#include "policy/place_far.h"

#define RESCUE_TASKS	16	/* queued tasks one tick looks at */

/*
 * Send an idle CPU for a task that waits on @cpu, this CPU, or one for each
 * where @force says that they wait without end. It searches with the
 * gate open: that the task still waits has shown the expectation wrong.
 */
static __noinline void send_idle_cpu(s32 cpu, const struct rq *rq, u32 force)
{
	bool cores = feature(live.v[TUN_FEATURES], FEAT_IDLE_CORE);
	struct task_struct *p;
	u32 seen = 0;
	s32 dst;

	if (!feature(live.v[TUN_FEATURES], FEAT_NEWIDLE))
		return;
	bpf_for_each(scx_dsq, p, cpu, 0) {
		u64 since = rq->clock_task - p->se.exec_start;

		if (seen++ >= RESCUE_TASKS)
			break;
		if (p->nr_cpus_allowed == 1)
			continue;
		/* Nobody would be allowed to take it yet. */
		if (force < PULL_ANY && since < live.v[TUN_MIGRATION_COST_LLC])
			continue;
		dst = place_move((const struct port_task *)p, cpu,
				 force < PULL_ANY ? since : ~0ULL, cores);
		if (dst < 0)
			continue;
		cpu_state[port_index(dst, MAX_CPUS)].force_pull = force;
		stat_inc(STAT_RESCUE);
		scx_bpf_kick_cpu(dst, 0);
		/* Where the CPU was taken no tick comes to send another. */
		if (force < PULL_ANY)
			break;
	}
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
 * A newcomer that came early in @p's slice, when virtual time was not asked, or
 * whose lead grew since: it need not wait for the slice's end.
 */
static __noinline void preempt_late(s32 cpu, const struct rq *rq, struct cpu_state *cs,
				    struct task_struct *p)
{
	struct task_struct *head = __COMPAT_scx_bpf_dsq_peek(cpu);
	struct task_ctx *tc;
	u64 vtime, ran;

	if (!head || !feature(live.v[TUN_FEATURES], FEAT_WAKEUP_PREEMPTION))
		return;
	tc = task_ctx_peek(p);
	if (!tc || !tc->charged_ns || tc->queue_cpu != cpu)
		return;
	ran = p->se.sum_exec_runtime - tc->charged_ns;
	if (ran < live.v[TUN_SLICE_MIN])
		return;
	vtime = p->scx.dsq_vtime + vtime_scale(ran, p->scx.weight);
	if (!vtime_preempts(head->scx.dsq_vtime, vtime, live.v[TUN_SLICE] / 2))
		return;
	stat_inc(STAT_PREEMPT);
	cs->preempting = 1;
	scx_bpf_task_set_slice(p, 0);
}

/*
 * A CPU going idle and a waker queueing a task can miss each other (the idle bit
 * is set after the last look at the hints), and the gate may have kept a CPU
 * from fetching what then waited longer than expected. Either way no task that
 * may move waits beside an idle CPU for longer than a tick.
 */
void BPF_STRUCT_OPS(sibling_tick, struct task_struct *p)
{
	s32 cpu = bpf_get_smp_processor_id();
	struct cpu_state *cs = &cpu_state[port_index(cpu, MAX_CPUS)];
	const struct rq *rq = cpu_rq(cpu);

	if (rq->scx.local_dsq.nr)
		make_way(cs, p);
	cs->sync_stacked = 0;
	if (cs->overloaded)
		send_idle_cpu(cpu, rq, PULL_WAITED);
	if (rq->scx.nr_running > 1)
		preempt_late(cpu, rq, cs, p);
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
	const struct rq *rq = cpu_rq(cpu);

	stat_inc(STAT_RT_RELEASE);
	port_note_taken(cpu);
	if (cpu_state[port_index(cpu, MAX_CPUS)].overloaded)
		send_idle_cpu(cpu, rq, PULL_ANY);
	scx_bpf_reenqueue_local();
}
