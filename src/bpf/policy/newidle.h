/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * New-idle balance: is it worth fetching work for a CPU about to idle?
 *
 * Level by level outwards a search goes on only while the CPU expects to idle
 * longer than moving a task across that distance costs (the 2018 "make
 * idle_balance smarter about topology" series gave each domain its own cost;
 * sched_balance_newidle() adds the measured cost of the search). A dice
 * weighted by past success keeps a level that never yields from being searched
 * all the time (NI_RANDOM), and a minimum rate keeps it from being forgotten
 * (NI_RATE: barrier-style loads starved without).
 */
#ifndef __SIBLING_POLICY_NEWIDLE_H
#define __SIBLING_POLICY_NEWIDLE_H

#define NEWIDLE_DICE_SIDES	1024
#define NEWIDLE_DICE_WINDOW	1024	/* calls over which success is counted */
#define NEWIDLE_RATIO_START	512	/* half: unknown */
#define NEWIDLE_FREE_NS		7812500	/* one free try this often: 128 a second */
#define NEWIDLE_COST_DECAY_NS	1000000000ULL
#define NEWIDLE_COST_MAX_NS	500000
#define AVG_IDLE_CAP_LEAST_NS	1000000

/*
 * What a CPU that was sent for a task may disregard: a tick that sees one wait
 * opens the gate, but a task that ran less than the cost of the move ago still
 * stays; where a real-time task took the CPU waiting is no choice.
 */
#define PULL_GATED	0
#define PULL_WAITED	1
#define PULL_ANY	2

/*
 * Twice the dearest migration, as the kernel caps at twice the largest balance
 * cost: one long night must not open the gate for hours of short naps.
 */
static __always_inline u64 avg_idle_cap(const struct tunables *t)
{
	u64 max = AVG_IDLE_CAP_LEAST_NS / 2;

	for (u32 i = TUN_MIGRATION_COST_SMT; i <= TUN_MIGRATION_COST_SYSTEM; i++)
		if (t->v[i] > max)
			max = t->v[i];
	return 2 * max;
}

/* Running mean with weight 1/8 of how long a CPU stayed idle, capped. */
static __always_inline u64 avg_idle_update(u64 avg_ns, u64 sample_ns, const struct tunables *t)
{
	/* A mean below the least cap stays there with a sample below it. */
	if (sample_ns > AVG_IDLE_CAP_LEAST_NS) {
		u64 cap = avg_idle_cap(t);

		if (sample_ns > cap)
			sample_ns = cap;
	}
	/* BPF before v4 has no signed division. */
	if (sample_ns >= avg_ns)
		return avg_ns + (sample_ns - avg_ns) / 8;
	return avg_ns - (avg_ns - sample_ns) / 8;
}

/* Does the gate stop the search? Both terms can be switched off. */
static __always_inline bool newidle_gated(u64 features, u64 avg_idle_ns,
					  u64 migration_cost_ns, u64 pull_cost_ns)
{
	u64 cost = 0;

	if (features & (1ULL << FEAT_NEWIDLE_FIXED_COST))
		cost += migration_cost_ns;
	if (features & (1ULL << FEAT_NEWIDLE_MEASURED_COST))
		cost += pull_cost_ns;
	return avg_idle_ns < cost;
}

/* Measured cost of a search: the maximum, decaying by about 1 % a second. */
static __always_inline void newidle_cost_update(struct cpu_state *cs, u32 level,
						u64 spent_ns, u64 now_ns)
{
	u64 cost = cs->pull_cost_ns[level];

	if (spent_ns > cost) {
		/* One interrupted search must not shut the gate for a minute. */
		cost = cost ? cost + (spent_ns - cost) / 4 : spent_ns;
		cs->pull_cost_stamp_ns[level] = now_ns;
	} else if (now_ns - cs->pull_cost_stamp_ns[level] > NEWIDLE_COST_DECAY_NS) {
		cost = cost * 253 / 256;
		cs->pull_cost_stamp_ns[level] = now_ns;
	}
	/* Above the cap of avg_idle it would stop the level for good. */
	cs->pull_cost_ns[level] = cost < NEWIDLE_COST_MAX_NS ? cost : NEWIDLE_COST_MAX_NS;
}

/* Count a call and what it was worth; every window the ratio is renewed. */
static __always_inline void newidle_dice_update(struct cpu_state *cs, u32 level, u32 worth)
{
	u32 calls = cs->dice_calls[level] + 1;
	u32 hits = cs->dice_hits[level] + worth;

	if (calls >= NEWIDLE_DICE_WINDOW) {
		cs->dice_ratio[level] = hits < NEWIDLE_DICE_SIDES ? hits : NEWIDLE_DICE_SIDES;
		calls /= 2;
		hits /= 2;
	}
	cs->dice_calls[level] = calls;
	cs->dice_hits[level] = hits;
}

/*
 * Throw the dice with the random number @rnd. Returns 0 to skip the search, or
 * what a hit counts for: a level searched one time in n counts n, so that the
 * ratio stays an estimate of all calls.
 */
static __always_inline u32 newidle_dice(struct cpu_state *cs, u32 level, u32 rnd, u64 now_ns)
{
	u32 weight = 1 + cs->dice_ratio[level];

	if (now_ns - cs->dice_free_ns[level] >= NEWIDLE_FREE_NS) {
		cs->dice_free_ns[level] = now_ns;
		return 1;
	}
	if (rnd % NEWIDLE_DICE_SIDES >= weight)
		return 0;
	return (NEWIDLE_DICE_SIDES + weight / 2) / weight;
}

/* Cache-hot: it last ran less than the cost of the move ago. */
static __always_inline bool pull_too_hot(u64 features, u64 since_ran_ns, u64 migration_cost_ns)
{
	return (features & (1ULL << FEAT_CACHE_HOT)) && since_ran_ns < migration_cost_ns;
}

/* Runnable tasks another CPU must have for one running @self to pull from it. */
static __always_inline u32 busy_threshold(u32 self, u64 imbalance_pct)
{
	u64 other = (self * imbalance_pct + 99) / 100;

	return other > self ? other : self + 1;
}

#endif
