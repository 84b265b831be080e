/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fetching waiting tasks: the walk of a CPU about to idle over its levels, and
 * the even-out of busy CPUs. Which levels pay is in newidle.h; what may move is
 * decided once more at the move itself (port_pull), because what held when the
 * task was queued may not hold any more.
 *
 * "Nothing waits there" costs one load per level: one hint word per LLC covers
 * SMT, CLUSTER and LLC, one per node its LLCs. A hint may be stale in one
 * direction only, set with nothing waiting.
 */
#ifndef __SIBLING_POLICY_PULL_H
#define __SIBLING_POLICY_PULL_H

#define PULL_SOURCES	3	/* CPUs of an LLC one search tries */
#define PULL_LLCS	8	/* LLCs of a node one search looks into */

struct pull_req {
	s32 cpu;
	u64 features;
	u64 hot_ns;		/* tasks that ran less than this ago stay */
	u64 min_wait_ns;	/* and so do those that last ran less than this ago */
	u32 min_running;	/* look only at CPUs with so many runnable tasks */
	u32 rnd;
	u64 now_ns;		/* of the runqueue's clock, for what needs no better */
	u32 pad[3];		/* one cache line each in an array by CPU */
};

/* The CPU of LLC @llc_id with most waiting tasks among @bits, or -1. */
port_fn s32 pull_busiest(const struct pull_req *r port_nonnull, u32 llc_id, u64 bits)
{
	const struct llc_topo *llc = port_llc(llc_id);
	u32 best = 0;
	s32 best_cpu = -1;

	if (!llc)
		return -1;
	port_for(i, LLC_CPUS, bits) {
		s32 cpu = llc->cpus[port_index(port_ctz(bits), LLC_CPUS)];
		u32 waiting = port_waiting(cpu);

		bits &= bits - 1;
		if (waiting > best && cpu != r->cpu &&
		    (port_nr_running(cpu) >= r->min_running || port_taken(cpu))) {
			best = waiting;
			best_cpu = cpu;
		}
	}
	return best_cpu;
}

/* Pull from the busiest CPU of @llc_id among @bits. */
port_fn bool pull_from_llc(const struct pull_req *r port_nonnull, u32 llc_id, u64 bits)
{
	bits &= port_llc_overload(llc_id);
	port_for(i, PULL_SOURCES, bits) {
		s32 cpu = pull_busiest(r, llc_id, bits);
		const struct cpu_topo *t = port_cpu_topo(cpu);

		if (cpu < 0 || !t)
			return false;
		if (port_pull(r, cpu))
			return true;
		bits &= ~(1ULL << (t->llc_bit & 63));
	}
	return false;
}

/* Pull from the LLCs @bits of @node_id, beginning at a random one. */
port_fn bool pull_from_node(const struct pull_req *r port_nonnull, u32 node_id, u64 bits)
{
	const struct node_topo *n = port_node(node_id);
	u32 nr, shift;

	if (!n)
		return false;
	/* Bits the dice did not look at, and only places that exist. */
	nr = n->nr_llcs;
	shift = nr ? (r->rnd >> 10) % nr : 0;
	bits &= port_node_overload(node_id);
	port_for(i, PULL_LLCS, bits) {
		u64 ahead = bits >> shift << shift;
		u32 b = port_ctz(ahead ? ahead : bits);

		bits &= ~(1ULL << b);
		if (pull_from_llc(r, n->llcs[port_index(b, NODE_LLCS)], ~0ULL))
			return true;
	}
	return false;
}

/* The CPUs that @level adds, in LLC bits. */
static __always_inline u64 pull_level_bits(const struct cpu_topo *t, u32 level)
{
	switch (level) {
	case LEVEL_SMT:
		return t->smt_bits & ~(1ULL << (t->llc_bit & 63));
	case LEVEL_CLUSTER:
		return t->cluster_bits & ~t->smt_bits;
	case LEVEL_LLC:
		return t->llc_bits & ~t->cluster_bits;
	}
	return 0;
}

/* Does anybody wait on the nodes beyond @node? */
port_fn bool pull_system_waiting(u32 node)
{
	const struct node_topo *n = port_node(node);

	if (!n)
		return false;
	port_for(i, MAX_NODES, i < n->nr_others) {
		if (port_node_overload(n->others[port_index(i, MAX_NODES)]))
			return true;
	}
	return false;
}

/* Does anybody wait at @level? One load but for SYSTEM. */
static __always_inline bool pull_level_waiting(const struct cpu_topo *t, u32 level)
{
	if (level <= LEVEL_LLC)
		return port_llc_overload(t->llc) & pull_level_bits(t, level);
	if (level == LEVEL_NODE)
		return port_node_overload(t->node) & ~(1ULL << (t->node_bit & 63));
	return pull_system_waiting(t->node);
}

/* Do real-time tasks have one of the CPUs @bits of an LLC? Forgets those they left. */
port_fn bool pull_taken(u32 llc_id, u64 bits)
{
	const struct llc_topo *llc = port_llc(llc_id);

	if (!llc)
		return false;
	port_for(i, LLC_CPUS, bits) {
		u32 bit = port_ctz(bits);

		if (port_taken(llc->cpus[port_index(bit, LLC_CPUS)]))
			return true;
		port_taken_over(llc_id, 1ULL << (bit & 63));
		bits &= bits - 1;
	}
	return false;
}

/*
 * Does somebody at @level, the LLC or nearer, wait behind a task of a higher
 * class? No expectation of a short idle time makes that worth waiting for.
 */
static __always_inline bool pull_level_taken(const struct cpu_topo *t, u32 level)
{
	u64 bits = port_llc_taken(t->llc) & pull_level_bits(t, level);

	return bits && pull_taken(t->llc, bits & port_llc_overload(t->llc));
}

port_fn bool pull_at_level(const struct pull_req *r port_nonnull, u32 level)
{
	const struct cpu_topo *t = port_cpu_topo(r->cpu);
	const struct node_topo *n;

	if (!t || !t->valid)
		return false;
	if (level <= LEVEL_LLC)
		return pull_from_llc(r, t->llc, pull_level_bits(t, level));
	if (level == LEVEL_NODE)
		return pull_from_node(r, t->node, ~(1ULL << (t->node_bit & 63)));
	n = port_node(t->node);
	if (!n)
		return false;
	port_for(i, MAX_NODES, i < n->nr_others) {
		if (pull_from_node(r, n->others[port_index(i, MAX_NODES)], ~0ULL))
			return true;
	}
	return false;
}

/* One level of the new-idle walk: dice, search, what it cost and brought. */
port_fn bool newidle_search(struct pull_req *r port_nonnull, struct cpu_state *cs port_nonnull,
			    u32 at_level, u32 force)
{
	u32 level = port_level(at_level);
	u32 worth = 1;
	u64 start, spent;
	bool hit;

	start = port_clock();
	r->rnd = port_random();
	if (!force && (r->features & (1ULL << FEAT_NEWIDLE_DICE))) {
		worth = newidle_dice(cs, level, r->rnd, start);
		if (!worth) {
			newidle_dice_update(cs, level, 0);
			port_stat(STAT_NEWIDLE_DICED + level, 1);
			return false;
		}
	}
	if (force >= PULL_ANY)
		r->hot_ns = 0;
	hit = pull_at_level(r, level);
	spent = port_clock() - start;

	newidle_cost_update(cs, level, spent, start);
	newidle_dice_update(cs, level, hit ? worth : 0);
	port_stat(STAT_NEWIDLE_TRY + level, 1);
	port_stat(STAT_NEWIDLE_COST_NS + level, spent);
	port_stat((hit ? STAT_NEWIDLE_PULLED : STAT_NEWIDLE_EMPTY) + level, 1);
	return hit;
}

/* What one level came to. */
enum newidle_verdict {
	NEWIDLE_ON,		/* nothing there, look farther */
	NEWIDLE_STOP,
	NEWIDLE_GOT,
};

/*
 * One level of the walk outwards. @cost is the dearest so far: a level costs no
 * less than those passed on the way out to it.
 */
static __always_inline enum newidle_verdict newidle_level(struct pull_req *r,
							  const struct cpu_topo *t,
							  struct cpu_state *cs,
							  const struct tunables *tun, u32 level,
							  u32 force, u64 *cost)
{
	if (level > tun->v[TUN_NEWIDLE_MAX_LEVEL])
		return NEWIDLE_STOP;
	if (level <= LEVEL_LLC && !pull_level_bits(t, level))
		return NEWIDLE_ON;
	if (tun->v[TUN_MIGRATION_COST_SMT + level] > *cost)
		*cost = tun->v[TUN_MIGRATION_COST_SMT + level];
	/*
	 * Waiting before gate: an idle machine must not count gated searches that
	 * had nothing to find.
	 */
	if (!pull_level_waiting(t, level))
		return NEWIDLE_ON;
	if (!force && newidle_gated(r->features, cs->avg_idle_ns, *cost, cs->pull_cost_ns[level]) &&
	    !pull_level_taken(t, level)) {
		port_stat(STAT_NEWIDLE_GATED + level, 1);
		newidle_cost_update(cs, level, 0, r->now_ns);
		return NEWIDLE_STOP;
	}
	r->hot_ns = *cost;
	if (newidle_search(r, cs, level, force))
		return NEWIDLE_GOT;
	return port_own_work(r->cpu) ? NEWIDLE_STOP : NEWIDLE_ON;
}

/*
 * A CPU is about to idle: true when something was pulled to it. @force says
 * what it may disregard, never the checks of what may move. No loop, as with
 * the level known most of each step folds away, and this runs whenever a CPU
 * idles while somebody waits anywhere.
 */
static bool newidle_balance(struct pull_req *r, const struct cpu_topo *t, struct cpu_state *cs,
			    const struct tunables *tun, u32 force)
{
	enum newidle_verdict verdict;
	u64 cost = 0;

	verdict = newidle_level(r, t, cs, tun, LEVEL_SMT, force, &cost);
	if (verdict == NEWIDLE_ON)
		verdict = newidle_level(r, t, cs, tun, LEVEL_CLUSTER, force, &cost);
	if (verdict == NEWIDLE_ON)
		verdict = newidle_level(r, t, cs, tun, LEVEL_LLC, force, &cost);
	if (verdict == NEWIDLE_ON)
		verdict = newidle_level(r, t, cs, tun, LEVEL_NODE, force, &cost);
	if (verdict == NEWIDLE_ON)
		verdict = newidle_level(r, t, cs, tun, LEVEL_SYSTEM, force, &cost);
	return verdict == NEWIDLE_GOT;
}

/*
 * A busy CPU with @self runnable tasks evens out: with N+1 hogs on N CPUs the
 * extra one must go round. The first in line that has not run for a while moves,
 * from a CPU that is busier by balance.imbalance_pct; farther levels ask for
 * longer.
 */
static bool busy_balance(struct pull_req *r, const struct cpu_topo *t,
			 const struct tunables *tun, u32 self)
{
	u64 wait_ns = tun->v[TUN_BALANCE_INTERVAL] / 4;

	r->rnd = port_random();
	r->min_running = busy_threshold(self, tun->v[TUN_BALANCE_IMBALANCE_PCT]);
	port_for(i, LEVEL_NR, true) {
		u32 level = port_level(i);

		if (level <= LEVEL_LLC && !pull_level_bits(t, level))
			continue;
		r->min_wait_ns = wait_ns << (level > LEVEL_LLC ? level - LEVEL_LLC : 0);
		r->hot_ns = tun->v[TUN_MIGRATION_COST_SMT + level];
		if (!pull_level_waiting(t, level))
			continue;
		if (pull_at_level(r, level)) {
			port_stat(STAT_BUSY_PULLED + level, 1);
			return true;
		}
	}
	return false;
}

#endif
