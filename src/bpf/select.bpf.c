/* SPDX-License-Identifier: GPL-2.0-only */
/* ops.select_cpu: unpack, ask the policy, act on its answer, count. */
#include "port/port.h"
#include "policy/wake.h"

/*
 * In a map and not on the stack so that the verifier forgets which step decided:
 * it would follow every step's number apart to the end of the program.
 */
static struct place_res place_results[MAX_CPUS] __attribute__((aligned(64)));

/* How far @cpu is from @prev, as a level. */
static __always_inline u32 move_level(const struct cpu_topo *a, const struct cpu_topo *b)
{
	u64 bit = 1ULL << (b->llc_bit & 63);

	if (a->llc != b->llc)
		return a->node == b->node ? LEVEL_NODE : LEVEL_SYSTEM;
	if (a->smt_bits & bit)
		return LEVEL_SMT;
	return a->cluster_bits & bit ? LEVEL_CLUSTER : LEVEL_LLC;
}

/* A task changes CPU: remember the old one for RECENT_CPU, count the distance. */
static __noinline void note_move(struct task_struct *p, s32 prev, s32 cpu)
{
	const struct cpu_topo *a = port_cpu_topo(prev), *b = port_cpu_topo(cpu);
	struct task_ctx *tc = task_ctx_make(p);

	if (tc)
		tc->recent_cpu = prev + 1;
	if (a && b && a->valid && b->valid)
		stat_inc(STAT_MIGRATE + move_level(a, b));
}

/* Did the placement land beside a busy thread, and was there a better core to land on? */
static __noinline void note_core(struct task_struct *p, s32 cpu, u32 core)
{
	const struct cpu_topo *t = port_cpu_topo(cpu);

	if (!t || !t->valid || !t->has_smt)
		return;
	if (t->sibling != NO_CPU ? port_cpu_idle(t->sibling) : port_core_idle(cpu))
		return;
	stat_inc(STAT_WAKE_CORE_SHARED);
	if (core != PLACE_CORE_NONE && place_any((const struct port_task *)p, t->llc, true))
		stat_inc(STAT_WAKE_CORE_MISSED);
}

/* A queued wake-up: was there an idle CPU after all, anywhere it may run? */
static __noinline void note_queued(struct task_struct *p, s32 cpu)
{
	const struct cpu_topo *t = port_cpu_topo(cpu);

	if (t && t->valid && place_any((const struct port_task *)p, PLACE_NODE + t->node, false))
		stat_inc(STAT_WAKE_IDLE_MISSED);
}

/*
 * Do the two hand one CPU to and fro? The last sync wake-up on this CPU was
 * theirs too, so neither wakes others in between, and the waker sleeps soon: by
 * its mean stretch, for pipelines wake their partner and work on, and by the
 * present one. A pid may be used again; the worst is one tick's wait.
 */
static __noinline bool sync_partner(struct task_struct *waker, struct task_struct *p, s32 cpu)
{
	struct cpu_state *cs = cpu_state_of(cpu);
	u64 run_ns = live.v[TUN_WAKE_SYNC_RUN], now, pair;
	const struct rq *rq = cpu_rq(cpu);

	if (!cs)
		return false;
	pair = waker->pid < p->pid ? (u64)waker->pid << 32 | p->pid :
				     (u64)p->pid << 32 | waker->pid;
	if (cs->sync_pair != pair) {
		cs->sync_pair = pair;
		return false;
	}
	if (waker->se.sum_exec_runtime >= run_ns * waker->nvcsw)
		return false;
	now = scx_bpf_now();
	/* exec_start is on the task clock, which leaves interrupts out. */
	return now - rq->clock + rq->clock_task - waker->se.exec_start < run_ns &&
	       (s64)(now - cs->sync_after_ns) >= 0;
}

static __always_inline void sync_stacked(s32 cpu)
{
	struct cpu_state *cs = cpu_state_of(cpu);

	if (cs)
		cs->sync_stacked = 1;
}

static __always_inline s32 select_fork(struct place_req *r, struct task_struct *p)
{
	s32 cpu = place_fork(r);

	if (cpu < 0) {
		stat_inc(STAT_PLACE_FORK_QUEUE);
		return port_allowed(r->task, r->prev) ? r->prev : port_any_allowed(r->task);
	}
	stat_inc(STAT_PLACE_FORK);
	note_core(p, cpu, PLACE_CORE_UNKNOWN);
	scx_bpf_dsq_insert(p, SCX_DSQ_LOCAL, live.v[TUN_SLICE], 0);
	return cpu;
}

s32 BPF_STRUCT_OPS(sibling_select_cpu, struct task_struct *p, s32 prev_cpu, u64 wake_flags)
{
	struct task_struct *waker = (void *)bpf_get_current_task_btf();
	struct place_req r = {
		.task = (const struct port_task *)p,
		.features = &live.v[TUN_FEATURES],
		.prev = prev_cpu,
		.waker = bpf_get_smp_processor_id(),
		.sync = (wake_flags & SCX_WAKE_SYNC) && !(waker->flags & PF_EXITING),
		/* The idle task counts as a kthread too: it is who an interrupt finds. */
		.kthread_waker = (waker->flags & (PF_KTHREAD | PF_IDLE)) == PF_KTHREAD &&
				 waker->nr_cpus_allowed == 1,
		.waker_idle = waker->flags & PF_IDLE,
		.wakee_sched_idle = p->policy == SCHED_IDLE,
	};
	struct place_res *res = &place_results[port_index(r.waker, MAX_CPUS)];
	u64 slice_ns = live.v[TUN_SLICE];

	if (wake_flags & SCX_WAKE_FORK) {
		prev_cpu = select_fork(&r, p);
		return prev_cpu < 0 ? r.prev : prev_cpu;
	}
	if (r.sync)
		r.sync_partner = sync_partner(waker, p, r.waker);
	place_wake(&r, res);
	stat_inc(res->step);
	if (res->claimed) {
		scx_bpf_dsq_insert(p, SCX_DSQ_LOCAL, slice_ns, 0);
		if (res->core != PLACE_CORE_WHOLE)
			note_core(p, res->cpu, res->core);
	} else if (res->stacked) {
		scx_bpf_dsq_insert(p, SCX_DSQ_LOCAL, slice_ns,
				   res->step == STAT_PLACE_SCHED_IDLE ? SCX_ENQ_PREEMPT : 0);
		if (res->step == STAT_PLACE_SYNC)
			sync_stacked(r.waker);
	} else if (!res->none_idle) {
		note_queued(p, res->cpu);
	}
	if (res->cpu != prev_cpu && res->cpu >= 0)
		note_move(p, prev_cpu, res->cpu);
	/* Allowed nowhere: the kernel falls back by itself from any answer. */
	return res->cpu < 0 ? prev_cpu : res->cpu;
}
