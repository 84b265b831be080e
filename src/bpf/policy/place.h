/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which CPU a waking or new task goes to: select_idle_sibling() and beyond.
 *
 * In order, each step with the feature switch that turns it off:
 *
 *  0. woken by a partner that hands its CPU over with every wake-up: stack
 *     behind it, the CPU is as good as idle and the cache warm  SYNC
 *  1. target: the waker's CPU or prev             WA_IDLE WA_WEIGHT WAKE_WIDE SYNC
 *  2. target idle: take it. With IDLE_CORE only if its whole core idles, unless
 *     no core of the LLC does; with PREV_BEFORE_CORE in any case. A hog on the
 *     sibling costs the wakee more than a cold L1 does, on most machines.
 *  3. prev idle and sharing the LLC: likewise
 *  4. woken by a per-CPU kthread on this CPU with nobody else there: stack behind
 *     it, it is about to sleep                    KTHREAD_STACK
 *  5. the CPU used before prev: as 2              RECENT_CPU
 *  6. a wholly idle core in the LLC, cluster first  IDLE_CORE
 *  7. an idle sibling of target or prev           IDLE_SMT
 *  8. any idle CPU in the LLC                     IDLE_CPU, budget by AVG_CPU
 *     or one that runs only SCHED_IDLE work, which counts as idle for others
 *  9. node, then the other nodes by distance, while the expected wait is longer
 *     than the move costs                         WAKE_WIDEN
 * 10. queue at the target, or where no real-time task has the CPU
 *
 * The idle-core search is where the 2016 rewrite lost half of tbench on four
 * sockets: every wake-up walked the LLC to learn that no core idles. Here the
 * idle state is bit words, so the answer "none" is one AND per 64 CPUs.
 *
 * Contract: the result is allowed for the task; `claimed` says that this call
 * took the CPU's idle bit, so no other wake-up places on it. A claim does not
 * promise the CPU still idles when the task arrives (a real-time task needs no
 * bit). Plain C over the port; time is an argument.
 */
#ifndef __SIBLING_POLICY_PLACE_H
#define __SIBLING_POLICY_PLACE_H

#define PLACE_CLAIMS	4	/* candidates tried per word before giving up on it */
#define PLACE_TAKEN_LOAD	64	/* tasks a real-time one stands for */

struct place_req {
	const struct port_task *task;
	/*
	 * The live word itself: a copy would let the verifier know a switch it has
	 * seen once and follow every combination apart.
	 */
	const volatile u64 *features;
	s32 prev;
	s32 waker;		/* CPU the wake-up runs on */
	bool sync;		/* the waker says it is about to sleep */
	bool sync_partner;	/* and does so each time it wakes this task, and soon */
	bool waker_idle;	/* the wake-up comes from an interrupt on an idle CPU */
	bool kthread_waker;	/* the waker is a per-CPU kthread */
	bool wakee_sched_idle;	/* SCHED_IDLE does not preempt SCHED_IDLE */
	bool fork;
};

static __always_inline bool place_on(const struct place_req *r, u32 feature)
{
	return *r->features & (1ULL << feature);
}

/* Allowed and not isolated against the task. */
static __always_inline bool place_usable(const struct port_task *task, s32 cpu)
{
	const struct cpu_topo *t = port_cpu_topo(cpu);

	return t && t->valid && port_allowed(task, cpu);
}

static __always_inline bool shares_llc(s32 a, s32 b)
{
	const struct cpu_topo *ta = port_cpu_topo(a), *tb = port_cpu_topo(b);

	return ta && tb && ta->valid && tb->valid && ta->llc == tb->llc;
}

/* Runnable tasks there; one of a higher class counts for many, it does not share. */
static __always_inline u32 place_load(s32 cpu)
{
	return port_nr_running(cpu) + (port_taken(cpu) ? PLACE_TAKEN_LOAD : 0);
}

/* Step 1 before wake_wide(): does the waker's CPU attract the wakee? */
static __always_inline bool place_wake_affine(const struct place_req *r)
{
	if (place_on(r, FEAT_WA_IDLE)) {
		/* An interrupt on an idle CPU: its cache is no warmer than prev's. */
		if (port_cpu_idle(r->waker) && shares_llc(r->waker, r->prev))
			return !port_cpu_idle(r->prev);
		if (r->sync && place_on(r, FEAT_SYNC) && port_nr_running(r->waker) == 1)
			return true;
		if (port_cpu_idle(r->prev))
			return false;
	}
	return place_on(r, FEAT_WA_WEIGHT) &&
	       place_load(r->waker) < place_load(r->prev);
}

/*
 * A CPU for a task that may use neither prev nor the waker's: one that is
 * scheduled on, as the mask holds offline and isolated CPUs too; failing that
 * prev, for a task bound to isolated ones.
 */
port_fn s32 place_anywhere(const struct port_task *task port_trusted, s32 prev)
{
	const struct node_topo *first = port_node(0);

	if (!first)
		return port_any_allowed(task);
	port_for(n, MAX_NODES, n <= first->nr_others) {
		const struct node_topo *node = port_node(n);

		if (!node)
			break;
		port_for(w, CPU_WORDS, w <= node->span.last) {
			u64 bits = node->span.mask[port_index(w, CPU_WORDS)] &
				   port_allowed_word(task, w);

			if (bits)
				return w * 64 + port_ctz(bits);
		}
	}
	return port_allowed(task, prev) ? prev : port_any_allowed(task);
}

/* Step 1, wake_affine(): the target is @r->waker or @r->prev. */
static __always_inline s32 place_target(const struct place_req *r, bool prev_ok)
{
	bool waker_ok = r->waker == r->prev ? prev_ok : place_usable(r->task, r->waker);

	if (!prev_ok)
		return waker_ok ? r->waker : place_anywhere(r->task, r->prev);
	if (!waker_ok || r->waker == r->prev || !place_wake_affine(r))
		return r->prev;
	if (place_on(r, FEAT_WAKE_WIDE) && port_wake_wide(r->task))
		return r->prev;
	return r->waker;
}

/* Step 0. */
static __always_inline bool place_stack(const struct place_req *r, bool prev_ok)
{
	return r->sync_partner && place_on(r, FEAT_SYNC) && port_nr_running(r->waker) == 1 &&
	       (r->waker == r->prev ? prev_ok : place_usable(r->task, r->waker));
}

/* Claim @cpu if it idles and, with @core, its siblings do too. */
static __always_inline bool place_try(s32 cpu, bool core)
{
	if (core ? !port_core_idle(cpu) : !port_cpu_idle(cpu))
		return false;
	return port_claim(cpu);
}

/*
 * Claim one of @bits in word @w, beginning behind @start so that wakers of
 * different targets do not race for the same lowest CPU.
 */
port_fn s32 place_claim_word(u64 bits, u32 w, u32 start)
{
	u32 shift = start & 63;

	bits = bits >> shift | (shift ? bits << (64 - shift) : 0);
	port_for(i, PLACE_CLAIMS, bits) {
		s32 cpu = w * 64 + ((port_ctz(bits) + shift) & 63);

		/* The bit may be set still with a single-CPU task just put there. */
		if (port_cpu_idle(cpu) && port_claim(cpu))
			return cpu;
		bits &= bits - 1;
	}
	return -1;
}

/*
 * A set of CPUs by number: an LLC's, or with PLACE_NODE added a node's, out of
 * which a search leaves the LLC it starts from: that has been searched, or a
 * switch says not to.
 */
#define PLACE_NODE	MAX_LLCS

static __always_inline const struct span *place_span(u32 set)
{
	const struct node_topo *n;
	const struct llc_topo *llc;

	if (set < PLACE_NODE) {
		llc = port_llc(set);
		return llc ? &llc->span : NULL;
	}
	n = port_node(set - PLACE_NODE);
	return n ? &n->span : NULL;
}

/*
 * Claim an idle CPU (@core: of a wholly idle core) out of @set that the task
 * may use, looking at no more than @budget words, @near's first. Returns the
 * CPU or -1.
 */
port_fn s32 place_search(const struct port_task *task port_trusted, u32 set, u32 core,
			 u32 budget, s32 near)
{
	const struct cpu_topo *t = set < PLACE_NODE ? NULL : port_cpu_topo(near);
	const struct span *span = place_span(set), *own = t && t->valid ? place_span(t->llc) : NULL;
	u32 start = (u32)near / 64;

	if (!span)
		return -1;
	if (start < span->first || start > span->last)
		start = span->first;
	port_for(i, CPU_WORDS, i < budget) {
		u32 w = start + i;
		u64 bits;
		s32 cpu;

		if (i > (u32)(span->last - span->first))
			break;
		if (w > span->last)
			w -= span->last - span->first + 1;
		if (w >= CPU_WORDS)
			break;
		bits = span->mask[port_index(w, CPU_WORDS)];
		if (own)
			bits &= ~own->mask[port_index(w, CPU_WORDS)];
		if (bits)
			bits &= port_idle_word(w, core);
		if (bits)
			bits &= port_allowed_word(task, w);
		if (!bits)
			continue;
		cpu = place_claim_word(bits, w, w == (u32)near / 64 ? near + 1 : 0);
		if (cpu >= 0)
			return cpu;
	}
	return -1;
}

/* Is there anything for place_search() to find? The cheap "no". */
port_fn bool place_any(const struct port_task *task port_trusted, u32 set, u32 core)
{
	const struct span *span = place_span(set);

	if (!span)
		return false;
	port_for(i, CPU_WORDS, true) {
		u32 w = span->first + i;

		if (w > span->last || w >= CPU_WORDS)
			break;
		if (span->mask[port_index(w, CPU_WORDS)] & port_idle_word(w, core) &
		    port_allowed_word(task, w))
			return true;
	}
	return false;
}

/* A wholly idle core or an idle thread among the CPUs @bits of an LLC. */
port_fn s32 place_near(const struct port_task *task port_trusted, u32 llc_id, u64 bits, u32 core)
{
	const struct llc_topo *llc = port_llc(llc_id);

	if (!llc)
		return -1;
	port_for(i, LLC_CPUS, bits) {
		s32 cpu = llc->cpus[port_index(port_ctz(bits), LLC_CPUS)];

		if (port_allowed(task, cpu) && place_try(cpu, core))
			return cpu;
		bits &= bits - 1;
	}
	return -1;
}

/*
 * Words one LLC search may look at. AVG_CPU is the 2016 idea (SIS_AVG_CPU, then
 * SIS_PROP and SIS_UTIL): a CPU that never idles long gains nothing from a wide
 * search. Idling for half a microsecond pays for a word, for eight for all 16.
 */
static __always_inline u32 place_budget(const struct place_req *r, u32 scan_budget,
					u64 avg_idle_ns)
{
	u64 words = avg_idle_ns / 512;

	if (!place_on(r, FEAT_AVG_CPU) || words >= scan_budget)
		return scan_budget;
	return words ? words : 1;
}

/* Step 6 in the LLC of @target, whose topology is @t. */
static __always_inline s32 place_core_in_llc(const struct place_req *r, const struct cpu_topo *t,
					     s32 target, u32 budget)
{
	if (t->cluster_bits != t->smt_bits && t->cluster_bits != t->llc_bits) {
		s32 cpu = place_near(r->task, t->llc, t->cluster_bits & ~t->smt_bits, true);

		if (cpu >= 0)
			return cpu;
	}
	return place_search(r->task, t->llc, true, budget, target);
}

/* Steps 7 and 8. */
static __always_inline s32 place_thread_in_llc(const struct place_req *r, const struct cpu_topo *t,
					       s32 target, u32 budget, u32 *step)
{
	if (place_on(r, FEAT_IDLE_SMT) && t->has_smt) {
		s32 cpu = place_near(r->task, t->llc, t->smt_bits, false);

		*step = STAT_PLACE_SMT;
		if (cpu < 0 && r->prev != target && shares_llc(r->prev, target)) {
			const struct cpu_topo *tp = port_cpu_topo(r->prev);

			if (tp)
				cpu = place_near(r->task, tp->llc, tp->smt_bits, false);
		}
		if (cpu >= 0)
			return cpu;
	}
	if (!place_on(r, FEAT_IDLE_CPU))
		return -1;
	*step = STAT_PLACE_CPU;
	return place_search(r->task, t->llc, false, budget, target);
}

/* An idle CPU of @set, with @cores a whole core first. */
static __always_inline s32 place_in(const struct port_task *task, u32 set, u32 cores, s32 near)
{
	s32 cpu = cores ? place_search(task, set, true, CPU_WORDS, near) : -1;

	return cpu >= 0 ? cpu : place_search(task, set, false, CPU_WORDS, near);
}

/*
 * Step 9. @wait_ns on the target is taken at its worst, the running task's
 * slice and one least slice for each that waits: an idle CPU left idle because
 * of a hopeful guess is what users notice. @cores: in each node whole cores first.
 */
port_fn s32 place_beyond_llc(const struct port_task *task port_trusted, s32 target, u64 wait_ns,
			     u32 cores)
{
	const struct cpu_topo *ct = port_cpu_topo(target);
	u64 max_level = port_tunable(TUN_WAKE_MAX_LEVEL);
	const struct node_topo *n;
	s32 cpu;

	if (!ct || !ct->valid || max_level < LEVEL_NODE ||
	    wait_ns <= port_tunable(TUN_MIGRATION_COST_NODE))
		return -1;
	cpu = place_in(task, PLACE_NODE + ct->node, cores, target);
	if (cpu >= 0)
		return cpu;
	n = port_node(ct->node);
	if (!n || max_level < LEVEL_SYSTEM || wait_ns <= port_tunable(TUN_MIGRATION_COST_SYSTEM))
		return -1;
	port_for(i, MAX_NODES, i < n->nr_others) {
		u32 set = PLACE_NODE + n->others[port_index(i, MAX_NODES)];

		cpu = place_in(task, set, cores, target);
		if (cpu >= 0)
			return cpu;
	}
	return -1;
}

/* One round of place_fork(), for whole cores or for threads. */
port_fn s32 place_widening(const struct port_task *task port_trusted, s32 prev, u32 core)
{
	const struct cpu_topo *ct = port_cpu_topo(prev);
	u64 max_level = port_tunable(TUN_WAKE_MAX_LEVEL);
	const struct node_topo *n;
	s32 cpu;

	if (!ct || !ct->valid)
		return -1;
	cpu = place_search(task, ct->llc, core, CPU_WORDS, prev);
	if (cpu >= 0 || max_level < LEVEL_NODE)
		return cpu;
	cpu = place_search(task, PLACE_NODE + ct->node, core, CPU_WORDS, prev);
	n = port_node(ct->node);
	if (cpu >= 0 || max_level < LEVEL_SYSTEM || !n)
		return cpu;
	port_for(i, MAX_NODES, i < n->nr_others) {
		u32 set = PLACE_NODE + n->others[port_index(i, MAX_NODES)];

		cpu = place_search(task, set, core, CPU_WORDS, prev);
		if (cpu >= 0)
			return cpu;
	}
	return -1;
}

/*
 * A runnable task that need not wait where it is, as long as the wait is worth
 * the move: its own LLC first, a whole core before a thread.
 */
port_fn s32 place_move(const struct port_task *task port_trusted, s32 prev, u64 wait_ns, u32 cores)
{
	const struct cpu_topo *ct = port_cpu_topo(prev);
	s32 cpu;

	if (!ct || !ct->valid)
		return -1;
	cpu = place_in(task, ct->llc, cores, prev);
	return cpu >= 0 ? cpu : place_beyond_llc(task, prev, wait_ns, cores);
}

/* A wholly idle core in the node for a task that shares its own. */
port_fn s32 place_spread(const struct port_task *task port_trusted, s32 prev)
{
	const struct cpu_topo *ct = port_cpu_topo(prev);
	s32 cpu;

	if (!ct || !ct->valid)
		return -1;
	cpu = place_search(task, ct->llc, true, CPU_WORDS, prev);
	if (cpu >= 0 || port_tunable(TUN_WAKE_MAX_LEVEL) < LEVEL_NODE)
		return cpu;
	return place_search(task, PLACE_NODE + ct->node, true, CPU_WORDS, prev);
}

/*
 * A new task has no cache to keep: the idlest place in the widest level that
 * pays, a whole core first (sched_balance_find_dst_cpu()). The LLC before the
 * node and the node before the system, since its parent's data is near.
 */
static __always_inline s32 place_fork(const struct place_req *r)
{
	s32 cpu = -1;

	if (place_on(r, FEAT_IDLE_CORE))
		cpu = place_widening(r->task, r->prev, true);
	return cpu >= 0 ? cpu : place_widening(r->task, r->prev, false);
}

/* Steps 2, 3 and 5, once for whole cores and once for any idle thread. */
static __always_inline s32 place_known(const struct place_req *r, s32 target, bool prev_ok,
				       bool core, u32 *step)
{
	*step = STAT_PLACE_TARGET;
	if (place_try(target, core))
		return target;
	*step = STAT_PLACE_PREV;
	if (prev_ok && r->prev != target && shares_llc(r->prev, target) &&
	    place_try(r->prev, core))
		return r->prev;
	return -1;
}

/* Step 5. */
static __always_inline s32 place_recent(const struct place_req *r, s32 target, bool core,
					u32 *step)
{
	s32 recent;

	if (!place_on(r, FEAT_RECENT_CPU))
		return -1;
	*step = STAT_PLACE_RECENT;
	recent = port_recent(r->task);
	if (recent >= 0 && recent != r->prev && recent != target &&
	    shares_llc(recent, target) && port_allowed(r->task, recent) &&
	    place_try(recent, core))
		return recent;
	return -1;
}

/*
 * Step 10 where a real-time or deadline task has the target: the least loaded
 * CPU of its LLC, as waiting behind that one has no end in sight.
 */
port_fn s32 place_off_taken(const struct port_task *task port_trusted, s32 target)
{
	const struct cpu_topo *t = port_cpu_topo(target);
	const struct llc_topo *llc;
	u32 least = PLACE_TAKEN_LOAD;
	s32 best = target;
	u64 bits;

	if (!t || !t->valid)
		return target;
	llc = port_llc(t->llc);
	if (!llc)
		return target;
	bits = t->llc_bits;
	port_for(i, LLC_CPUS, bits) {
		s32 cpu = llc->cpus[port_index(port_ctz(bits), LLC_CPUS)];
		u32 load = place_load(cpu);

		bits &= bits - 1;
		if (load < least && port_allowed(task, cpu)) {
			least = load;
			best = cpu;
		}
	}
	return best;
}

/* A CPU of the target's LLC that runs only SCHED_IDLE work, itself first, or -1. */
port_fn s32 place_over_sched_idle(const struct port_task *task port_trusted, s32 target)
{
	const struct cpu_topo *t = port_cpu_topo(target);
	const struct llc_topo *llc;
	u64 bits;

	if (!t || !t->valid || !port_sched_idle_seen(t->llc))
		return -1;
	if (port_sched_idle_only(target))
		return target;
	llc = port_llc(t->llc);
	if (!llc)
		return -1;
	bits = t->llc_bits;
	port_for(i, LLC_CPUS, bits) {
		s32 cpu = llc->cpus[port_index(port_ctz(bits), LLC_CPUS)];

		if (port_sched_idle_only(cpu) && port_allowed(task, cpu))
			return cpu;
		bits &= bits - 1;
	}
	return -1;
}

#endif
