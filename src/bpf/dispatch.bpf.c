/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ops.dispatch: the local DSQ is empty and the running task, if it still runs,
 * has used up its slice. Own queue first, then evening out, then new-idle pull.
 */
#include "port/pull.h"
#include "policy/pull.h"

#define PULL_TASKS	32	/* queued tasks one pull looks at */

/*
 * In a map and not on the stack: the search is five calls deep, and the 7.3
 * verifier's stack liveness loses words of a caller's frame over that.
 * Dispatch does not nest on a CPU, so one each is enough.
 */
static struct pull_req pull_reqs[MAX_CPUS] __attribute__((aligned(64)));

static __always_inline struct pull_req *pull_req_init(s32 cpu, u64 now_ns)
{
	struct pull_req *r = &pull_reqs[port_index(cpu, MAX_CPUS)];

	r->cpu = cpu;
	r->features = live.v[TUN_FEATURES];
	r->hot_ns = 0;
	r->min_wait_ns = 0;
	r->min_running = 0;
	r->now_ns = now_ns;
	return r;
}

/*
 * Move the first task of @src's queue that may run on r->cpu, is not cache-hot
 * and waited long enough. Mask and migration state are read here, at the move:
 * they may have changed since the task was queued.
 */
port_fn bool port_pull(const struct pull_req *r port_nonnull, s32 src)
{
	const struct rq *rq = cpu_rq(src);
	struct task_struct *p;
	bool taken = port_taken(src);
	u32 seen = 0;
	u64 now;

	/*
	 * Not its clock_task, which stands still between two ticks under a hog: all
	 * that was preempted there since would look hot.
	 */
	now = scx_bpf_now() - (rq->clock - rq->clock_task);
	bpf_for_each(scx_dsq, p, src, 0) {
		u64 since = now - p->se.exec_start;

		if (seen++ >= PULL_TASKS)
			break;
		if (!bpf_cpumask_test_cpu(r->cpu, p->cpus_ptr) || p->migration_disabled)
			continue;
		if (taken)
			goto move;
		/* exec_start is when it last ran; two CPUs' clocks may be a little apart. */
		if ((s64)since >= 0 && pull_too_hot(r->features, since, r->hot_ns))
			continue;
		if ((s64)since < (s64)r->min_wait_ns)
			continue;
move:
		if (scx_bpf_dsq_move(BPF_FOR_EACH_ITER, p, SCX_DSQ_LOCAL, 0))
			return true;
	}
	return false;
}

/*
 * Should @prev go on rather than the head of the queue? The kernel hands the
 * CPU to whatever is dispatched here without looking at virtual times, so
 * weights would have no effect between two tasks if this did not.
 */
static __always_inline bool prev_goes_on(struct task_struct *prev, s32 cpu, struct cpu_state *cs,
					 u32 nr, u64 head_vtime)
{
	struct task_ctx *tc = task_ctx_peek(prev);
	u64 vtime;

	if (!tc || !tc->charged_ns)
		return false;
	/*
	 * Clamped like a queued one: its virtual time may date from long before it
	 * last found an idle CPU, and unclamped it would go on until it caught up.
	 */
	vtime = vtime_clamp(queue_vtime(prev, tc, cpu, cs), cs->vtime_ns, live.v[TUN_SLICE],
			    prev->scx.weight, nr);
	scx_bpf_task_set_dsq_vtime(prev, vtime);
	return vtime_before(vtime, head_vtime);
}

/* Run own queued work. True when the next task is decided. */
static __noinline bool dispatch_own(s32 cpu, const struct rq *rq, struct cpu_state *cs,
				    struct task_struct *prev, bool prev_runs)
{
	struct task_struct *head = __COMPAT_scx_bpf_dsq_peek(cpu);
	u64 slice_ns = live.v[TUN_SLICE], head_vtime;
	u32 nr = rq->scx.nr_running;

	if (!head)
		return false;
	head_vtime = head->scx.dsq_vtime;
	queue_advance(cs, rq, nr);
	if (prev_runs && prev_goes_on(prev, cpu, cs, nr, head_vtime)) {
		queue_advance_to(cs, prev->scx.dsq_vtime - slice_ns);
		scx_bpf_task_set_slice(prev, vtime_slice(slice_ns, live.v[TUN_SLICE_MIN],
							 prev->scx.weight, nr));
		stat_inc(STAT_KEEP);
		return true;
	}
	queue_advance_to(cs, head_vtime);
	if (!scx_bpf_dsq_move_to_local(cpu, 0))
		return false;
	if (nr == 1 && !prev_runs)
		overload_clear(cpu, cs);
	return true;
}

/* Does another thread of the core run something? */
static __always_inline bool core_shared(const struct cpu_topo *t)
{
	const struct llc_topo *llc;
	u64 bits;

	if (!t->has_smt)
		return false;
	if (t->sibling != NO_CPU)
		return !port_cpu_idle(t->sibling);
	llc = port_llc(t->llc);
	bits = t->smt_bits & ~(1ULL << (t->llc_bit & 63));
	port_for(i, LLC_CPUS, llc && bits) {
		if (!port_cpu_idle(llc->cpus[port_index(port_ctz(bits), LLC_CPUS)]))
			return true;
		bits &= bits - 1;
	}
	return false;
}

/* A running task shares its core while a wholly idle one is in reach. */
static __always_inline bool should_spread(struct task_struct *prev, const struct cpu_topo *t)
{
	const struct node_topo *n = port_node(t->node);
	u64 features = live.v[TUN_FEATURES];

	if (!feature(features, FEAT_SPREAD_CORES) || !feature(features, FEAT_IDLE_CORE))
		return false;
	if (prev->nr_cpus_allowed == 1 || !n || !core_shared(t))
		return false;
	port_for(i, CPU_WORDS, true) {
		u32 w = n->span.first + i;

		if (w > n->span.last || w >= CPU_WORDS)
			break;
		if (n->span.mask[port_index(w, CPU_WORDS)] & port_idle_word(w, true) &
		    port_allowed_word((const struct port_task *)prev, w))
			return true;
	}
	return false;
}

/* @prev is alone here and goes on, unless the machine is uneven and it is time to look. */
static __noinline void dispatch_prev(s32 cpu, struct task_struct *prev, bool look)
{
	const struct cpu_topo *t = port_cpu_topo(cpu);

	/* Left without a slice, the kernel hands it to ops.enqueue with ENQ_LAST. */
	if (look && t && t->valid && should_spread(prev, t))
		return;
	scx_bpf_task_set_slice(prev, live.v[TUN_SLICE]);
	stat_inc(STAT_KEEP);
}

/*
 * Is a look at the rest of the machine due? A task that yields in a loop comes
 * by here each time, and must not be moved or searched for each time.
 */
static __always_inline bool balance_due(struct cpu_state *cs, u64 now)
{
	if ((s64)(now - cs->next_balance_ns) < 0)
		return false;
	cs->next_balance_ns = now + live.v[TUN_BALANCE_INTERVAL];
	return true;
}

/*
 * A pulled task goes to the local DSQ, ahead of the own queue. So with somebody
 * waiting here it is pulled every other time at most, and not past a task that
 * is owed: one pinned here could wait for as long as the others have a surplus.
 */
static __always_inline bool balance_fair(s32 cpu, struct cpu_state *cs)
{
	struct task_struct *head;

	if (cs->balanced) {
		cs->balanced = 0;
		return false;
	}
	head = __COMPAT_scx_bpf_dsq_peek(cpu);
	return !head || !vtime_before(head->scx.dsq_vtime + live.v[TUN_SLICE] / 4, cs->vtime_ns);
}

static __noinline bool dispatch_balance(s32 cpu, const struct rq *rq, struct cpu_state *cs,
					s32 waiting)
{
	const struct cpu_topo *t = port_cpu_topo(cpu);
	struct pull_req *r;

	if (!t || !t->valid || !feature(live.v[TUN_FEATURES], FEAT_BUSY_BALANCE))
		return false;
	if (waiting > 0 && !balance_fair(cpu, cs))
		return false;
	r = pull_req_init(cpu, rq->clock);
	if (!busy_balance(r, t, &live, rq->scx.nr_running))
		return false;
	cs->balanced = 1;
	return true;
}

static __noinline bool dispatch_newidle(s32 cpu, const struct rq *rq, struct cpu_state *cs)
{
	const struct cpu_topo *t = port_cpu_topo(cpu);
	u32 force = cs->force_pull;
	struct pull_req *r;

	if (!feature(live.v[TUN_FEATURES], FEAT_NEWIDLE) || !t || !t->valid)
		return false;
	r = pull_req_init(cpu, rq->clock);
	cs->force_pull = PULL_GATED;
	return newidle_balance(r, t, cs, &live, force);
}

/*
 * The CPU is about to idle: fold its last stay into the mean. The idle task's
 * exec_start moves to now when it leaves the CPU, so the length of the stay is
 * known without a stamp on the way out, where a waker waits for it.
 */
static __always_inline void idle_fold(const struct rq *rq, struct cpu_state *cs)
{
	u64 since = cs->idle_since_ns, stay;

	if (!since)
		return;
	stay = rq->idle->se.exec_start - since;
	/* Not run since: a spurious wake-up, the stay goes on. */
	if ((s64)stay <= 0)
		return;
	cs->idle_since_ns = 0;
	cs->avg_idle_ns = avg_idle_update(cs->avg_idle_ns, stay, &live);
}

static __always_inline void dispatch_idle(s32 cpu, const struct rq *rq, struct cpu_state *cs)
{
	if (cs->overloaded)
		overload_clear(cpu, cs);
	idle_fold(rq, cs);
	if (overload_anywhere(port_topo_of(cpu)->node) && dispatch_newidle(cpu, rq, cs))
		return;
	cs->force_pull = PULL_GATED;
	if (!cs->idle_since_ns)
		cs->idle_since_ns = rq->clock_task;
}

/* Somebody runs or waits here. True when it is decided who is next. */
static __noinline bool dispatch_busy(s32 cpu, const struct rq *rq, struct cpu_state *cs,
				     struct task_struct *prev)
{
	bool prev_runs = prev && (prev->scx.flags & SCX_TASK_QUEUED);
	s32 waiting = rq->scx.nr_running - prev_runs;
	bool look;

	/*
	 * Also when the last task went to sleep: where short tasks preempt long ones
	 * all the time, no slice ever ends. But not past a newcomer that preempts.
	 */
	if (!prev_runs)
		cs->preempting = 0;
	look = !cs->preempting && balance_due(cs, rq->clock);
	if (waiting <= 0 && cs->overloaded)
		overload_clear(cpu, cs);
	if (look && dispatch_balance(cpu, rq, cs, waiting))
		return true;
	if (waiting > 0 && dispatch_own(cpu, rq, cs, prev, prev_runs))
		return true;
	if (!prev_runs)
		return false;
	dispatch_prev(cpu, prev, look);
	return true;
}

void BPF_STRUCT_OPS(sibling_dispatch, s32 cpu, struct task_struct *prev)
{
	struct cpu_state *cs = &cpu_state[port_index(cpu, MAX_CPUS)];
	const struct rq *rq = cpu_rq(cpu);

	if (rq->scx.nr_running && dispatch_busy(cpu, rq, cs, prev))
		return;
	dispatch_idle(cpu, rq, cs);
}
