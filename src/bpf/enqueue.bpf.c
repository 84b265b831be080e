/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ops.enqueue: tasks that no wake-up placed on an idle CPU. Those allowed on one
 * CPU only come here without ops.select_cpu; those whose slice ended or whose
 * CPU was taken by another class come here to find a new place.
 */
#include "queue.bpf.h"
#include "policy/place_far.h"

/* What of its run time the task running on @cpu was charged for; false: never charged. */
static __always_inline bool curr_charged(const struct rq *rq, s32 cpu, u64 *charged_ns)
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
static __always_inline u64 curr_vtime(const struct rq *rq, s32 cpu, u64 floor)
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
 * May @p preempt what @rq runs at all? 1 yes, 0 no, -1 virtual time decides. That
 * is only asked once the running task had a granularity's worth of its slice,
 * which spares ping-pong loads, whose waker is about to sleep, the look-ups; the
 * tick asks again.
 */
static __always_inline s32 may_preempt(const struct rq *rq, struct task_struct *p)
{
	struct task_struct *curr = rq->curr;
	u64 slice = live.v[TUN_SLICE], ran = rq->clock_task - curr->se.exec_start;

	if (!feature(live.v[TUN_FEATURES], FEAT_WAKEUP_PREEMPTION))
		return 0;
	if (!(curr->scx.flags & SCX_TASK_QUEUED) || curr->prio < MAX_RT_PRIO)
		return 0;
	if (curr->policy == SCHED_IDLE && p->policy != SCHED_IDLE)
		return 1;
	if (p->policy == SCHED_IDLE || p->policy == SCHED_BATCH)
		return 0;
	if (curr->scx.slice < slice)
		ran += slice - curr->scx.slice;
	return ran < live.v[TUN_WAKEUP_GRANULARITY] ? 0 : -1;
}

/* Should @p, at @vtime, preempt what @rq runs? */
static __noinline bool should_preempt(const struct rq *rq, s32 cpu, struct task_struct *p,
				      u64 vtime, u64 floor)
{
	s32 may = may_preempt(rq, p);

	if (may >= 0)
		return may;
	return vtime_preempts(vtime, curr_vtime(rq, cpu, floor),
			      live.v[TUN_WAKEUP_GRANULARITY]);
}

/*
 * A single-CPU task wakes. It leaves the CPU's idle bit to the kernel: until the
 * CPU has left idle, others are kept away by nr_running, which counts this task
 * already. With nobody waiting and no debt there is no order to keep: straight
 * behind the running task.
 */
static __always_inline bool enqueue_pinned(struct task_struct *p, const struct rq *rq, s32 cpu,
					   u64 enq_flags)
{
	u64 slice_ns = live.v[TUN_SLICE], vtime;
	struct cpu_state *cs;
	struct task_ctx *tc;

	if (rq->nr_running <= 1) {
		stat_inc(STAT_PINNED_IDLE);
		scx_bpf_dsq_insert(p, SCX_DSQ_LOCAL, slice_ns, enq_flags);
		return true;
	}
	if (queue_waiting(rq) > 1 || rq->scx.local_dsq.nr)
		return false;
	cs = &cpu_state[port_index(cpu, MAX_CPUS)];
	vtime = cs->vtime_ns - slice_ns;
	/* A task that never queued has neither credit nor debt on record. */
	tc = task_ctx_peek(p);
	if (tc) {
		queue_advance(cs, rq, rq->scx.nr_running - 1);
		vtime = vtime_clamp(queue_vtime(p, tc, cpu, cs), cs->vtime_ns, slice_ns,
				    p->scx.weight, rq->scx.nr_running);
		scx_bpf_task_set_dsq_vtime(p, vtime);
		if (vtime_before(cs->vtime_ns, vtime))
			return false;
	}
	stat_inc(STAT_PINNED_LONE);
	if (should_preempt(rq, cpu, p, vtime, cs->vtime_ns)) {
		stat_inc(STAT_PREEMPT);
		cs->preempting = 1;
		enq_flags |= SCX_ENQ_PREEMPT;
	}
	scx_bpf_dsq_insert(p, SCX_DSQ_LOCAL, slice_ns, enq_flags);
	return true;
}

/*
 * A running task whose slice ended, or one whose CPU was taken: somewhere it need
 * not wait. One that is alone here moves for a wholly idle core only.
 */
static __noinline bool enqueue_idle(struct task_struct *p, s32 cpu, u64 enq_flags)
{
	const struct port_task *task = (const struct port_task *)p;
	s32 dst;

	if (enq_flags & SCX_ENQ_LAST)
		dst = place_spread(task, cpu);
	else
		dst = place_move(task, cpu, port_wait_ns(cpu),
				 feature(live.v[TUN_FEATURES], FEAT_IDLE_CORE));
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
	struct cpu_state *cs = &cpu_state[port_index(cpu, MAX_CPUS)];
	bool preempted = cs->preempting;

	cs->preempting = 0;
	return preempted;
}

/*
 * Bound to its CPU. Before 6.14 tasks with migration disabled come here too; with
 * p running, one of the count is the BPF prologue's own, on every such kernel.
 */
static __always_inline bool is_bound(struct task_struct *p)
{
	if (p->nr_cpus_allowed == 1)
		return true;
	if (bpf_core_enum_value_exists(enum scx_ops_flags, SCX_OPS_ENQ_MIGRATION_DISABLED))
		return false;
	return p->migration_disabled > (p == bpf_get_current_task_btf());
}

/* Queue @p by virtual time on its CPU. */
static __noinline void enqueue_queue(struct task_struct *p, const struct rq *rq, s32 cpu,
				     u64 enq_flags)
{
	struct cpu_state *cs = &cpu_state[port_index(cpu, MAX_CPUS)];
	struct task_ctx *tc = task_ctx_peek(p);
	u64 slice_ns = live.v[TUN_SLICE];
	u32 nr = rq->scx.nr_running;
	u64 vtime, slice = 0;

	/* So far without the newcomer. */
	queue_advance(cs, rq, nr - 1);
	if (tc && tc->charged_ns) {
		vtime = vtime_clamp(queue_vtime(p, tc, cpu, cs), cs->vtime_ns, slice_ns,
				    p->scx.weight, nr);
	} else {
		/* First time in a queue: no credit, no debt. */
		vtime = cs->vtime_ns;
		tc = task_ctx_make(p);
		if (tc) {
			tc->charged_ns = p->se.sum_exec_runtime;
			tc->queue_cpu = cpu;
		}
	}
	/* A task thrown out by another class keeps the rest of its slice, never a new one. */
	if (!(enq_flags & SCX_ENQ_REENQ) || !p->scx.slice)
		slice = vtime_slice(slice_ns, live.v[TUN_SLICE_MIN], p->scx.weight, nr);
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
	const struct rq *rq = cpu_rq(cpu);

	if (is_bound(p)) {
		if ((enq_flags & SCX_ENQ_WAKEUP) && enqueue_pinned(p, rq, cpu, enq_flags))
			return;
	} else if (!(enq_flags & (SCX_ENQ_WAKEUP | SCX_ENQ_CPU_SELECTED))) {
		if (enq_flags & SCX_ENQ_REENQ)
			stat_inc(STAT_RT_REQUEUE);
		if (!was_preempted(cpu) && enqueue_idle(p, cpu, enq_flags))
			return;
	}
	if (enq_flags & SCX_ENQ_LAST) {
		/* Nobody else here and no better place: go on. */
		scx_bpf_dsq_insert(p, SCX_DSQ_LOCAL, live.v[TUN_SLICE], enq_flags);
		/* Kernels before 7.3 may have settled on idling by now. */
		scx_bpf_kick_cpu(cpu, 0);
		return;
	}
	enqueue_queue(p, rq, cpu, enq_flags);
}
