/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ops.enqueue: tasks that no wake-up placed on an idle CPU. Those allowed on one
 * CPU only come here without ops.select_cpu; those whose slice ended or whose
 * CPU was taken by another class come here to find a new place.
 */
#include "queue.bpf.h"
#include "policy/place.h"

/* What of its run time the task running on @cpu was charged for; false: never charged. */
static __always_inline bool curr_charged(struct rq *rq, s32 cpu, u64 *charged_ns)
{
	struct task_struct *curr;
	struct task_ctx *tc = NULL;

	if (bpf_ksym_exists(scx_bpf_cpu_curr)) {
		curr = scx_bpf_cpu_curr(cpu);
		tc = curr ? task_ctx_peek(curr) : NULL;
		if (tc)
			*charged_ns = tc->charged_ns;
		return tc;
	}
	/* Before 6.18 rq->curr is no pointer the storage accepts; go by its pid. */
	curr = bpf_task_from_pid(rq->curr->pid);
	if (!curr)
		return false;
	tc = task_ctx_peek(curr);
	if (tc)
		*charged_ns = tc->charged_ns;
	bpf_task_release(curr);
	return tc;
}

/* Virtual time of the task running on @rq, its current stretch included. */
static __always_inline u64 curr_vtime(struct rq *rq, s32 cpu, u64 floor)
{
	struct task_struct *curr = rq->curr;
	u64 vtime = floor, ran = rq->clock_task - curr->se.exec_start, charged_ns = 0;

	if (curr_charged(rq, cpu, &charged_ns)) {
		vtime = curr->scx.dsq_vtime;
		ran += curr->se.sum_exec_runtime - charged_ns;
	}
	vtime += vtime_scale(ran, curr->scx.weight);
	return vtime_before(vtime, floor) ? floor : vtime;
}

/*
 * Should @p, at @vtime, preempt what @rq runs? Asked only once the running task
 * had a granularity's worth of its slice, which spares ping-pong loads, whose
 * waker is about to sleep, the look-ups.
 */
static __noinline bool should_preempt(struct rq *rq, s32 cpu, struct task_struct *p, u64 vtime,
				      u64 floor)
{
	struct task_struct *curr = rq->curr;
	u64 gran = live.v[TUN_WAKEUP_GRANULARITY], slice = live.v[TUN_SLICE];
	u64 ran = rq->clock_task - curr->se.exec_start;

	if (!feature(live.v[TUN_FEATURES], FEAT_WAKEUP_PREEMPTION))
		return false;
	if (!(curr->scx.flags & SCX_TASK_QUEUED) || curr->prio < MAX_RT_PRIO)
		return false;
	if (curr->policy == SCHED_IDLE && p->policy != SCHED_IDLE)
		return true;
	if (p->policy == SCHED_IDLE || p->policy == SCHED_BATCH)
		return false;
	if (curr->scx.slice < slice)
		ran += slice - curr->scx.slice;
	if (ran < gran)
		return false;
	return vtime_preempts(vtime, curr_vtime(rq, cpu, floor), gran);
}

/*
 * A single-CPU task wakes. It leaves the CPU's idle bit to the kernel: until the
 * CPU has left idle, others are kept away by nr_running, which counts this task
 * already. With nobody waiting there is no order to keep: straight behind the
 * running task.
 */
static __always_inline bool enqueue_pinned(struct task_struct *p, struct rq *rq, s32 cpu,
					   u64 enq_flags)
{
	struct cpu_state *cs;
	u64 slice_ns = live.v[TUN_SLICE];

	if (rq->nr_running <= 1) {
		stat_inc(STAT_PINNED_IDLE);
		scx_bpf_dsq_insert(p, SCX_DSQ_LOCAL, slice_ns, enq_flags);
		return true;
	}
	if (queue_waiting(rq) > 1 || rq->scx.local_dsq.nr)
		return false;
	cs = cpu_state_of(cpu);
	if (!cs)
		return false;
	stat_inc(STAT_PINNED_LONE);
	if (should_preempt(rq, cpu, p, cs->vtime_ns - slice_ns, cs->vtime_ns)) {
		stat_inc(STAT_PREEMPT);
		cs->preempting = 1;
		enq_flags |= SCX_ENQ_PREEMPT;
	}
	scx_bpf_dsq_insert(p, SCX_DSQ_LOCAL, slice_ns, enq_flags);
	return true;
}

/*
 * A runnable task that would have to queue, or must leave its CPU: any idle CPU
 * it may use, a wholly idle core first.
 */
static __noinline bool enqueue_idle(struct task_struct *p, s32 cpu, u64 enq_flags)
{
	struct place_req r = {
		.task = (const struct port_task *)p,
		.features = &live.v[TUN_FEATURES],
		.prev = cpu,
		.waker = cpu,
	};
	s32 dst = place_fork(&r);

	if (dst < 0 || dst == cpu)
		return false;
	stat_inc(enq_flags & SCX_ENQ_LAST ? STAT_SPREAD : STAT_REQUEUE_IDLE);
	scx_bpf_dsq_insert(p, SCX_DSQ_LOCAL_ON | dst, live.v[TUN_SLICE],
			   enq_flags & ~SCX_ENQ_LAST);
	return true;
}

/*
 * Did the task just put on this CPU's queue make way for a woken one? Those run
 * for microseconds as a rule: what made way is better off waiting than moving,
 * and a tick sends an idle CPU for it if the guess was wrong.
 */
static __always_inline bool was_preempted(s32 cpu)
{
	struct cpu_state *cs = cpu_state_of(cpu);

	if (!cs || !cs->preempting)
		return false;
	cs->preempting = 0;
	return true;
}

/* Queue @p by virtual time on its CPU. */
static __noinline void enqueue_queue(struct task_struct *p, struct rq *rq, s32 cpu, u64 enq_flags)
{
	struct cpu_state *cs = cpu_state_of(cpu);
	struct task_ctx *tc = task_ctx_peek(p);
	u64 slice_ns = live.v[TUN_SLICE];
	u64 vtime, slice = 0;

	if (!cs)
		return;
	if (tc) {
		vtime = vtime_clamp(queue_charge(p, tc), cs->vtime_ns, slice_ns, p->scx.weight);
	} else {
		/* First time in a queue: no credit, no debt. */
		vtime = cs->vtime_ns;
		tc = task_ctx_make(p);
		if (tc)
			tc->charged_ns = p->se.sum_exec_runtime;
	}
	/* A task thrown out by another class keeps the rest of its slice, never a new one. */
	if (!(enq_flags & SCX_ENQ_REENQ) || !p->scx.slice)
		slice = vtime_slice(slice_ns, live.v[TUN_SLICE_MIN], rq->scx.nr_running);
	if (p->nr_cpus_allowed > 1)
		overload_set(cpu, cs);
	stat_inc(STAT_QUEUED);
	scx_bpf_dsq_insert_vtime(p, cpu, slice, vtime, enq_flags);
	if ((enq_flags & SCX_ENQ_WAKEUP) && should_preempt(rq, cpu, p, vtime, cs->vtime_ns)) {
		stat_inc(STAT_PREEMPT);
		cs->preempting = 1;
		scx_bpf_kick_cpu(cpu, SCX_KICK_PREEMPT);
	}
}

void BPF_STRUCT_OPS(sibling_enqueue, struct task_struct *p, u64 enq_flags)
{
	s32 cpu = p->thread_info.cpu;
	struct rq *rq = cpu_rq(cpu);

	if (!rq)
		return;
	if (p->nr_cpus_allowed == 1) {
		if ((enq_flags & SCX_ENQ_WAKEUP) && enqueue_pinned(p, rq, cpu, enq_flags))
			return;
	} else if (!(enq_flags & SCX_ENQ_WAKEUP)) {
		if (enq_flags & SCX_ENQ_REENQ)
			stat_inc(STAT_RT_REQUEUE);
		if (!was_preempted(cpu) && enqueue_idle(p, cpu, enq_flags))
			return;
	}
	if (enq_flags & SCX_ENQ_LAST) {
		/* Nobody else here and no better place: go on. */
		scx_bpf_dsq_insert(p, SCX_DSQ_LOCAL, live.v[TUN_SLICE], enq_flags);
		return;
	}
	enqueue_queue(p, rq, cpu, enq_flags);
}
