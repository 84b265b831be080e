/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Searching and claiming idle CPUs: what the steps of place.h and the rules of
 * place_far.h are made of.
 *
 * The idle-core search is where the 2016 rewrite lost half of tbench on four
 * sockets: every wake-up walked the LLC to learn that no core idles. Here the
 * idle state is bit words, so the answer "none" is one AND per 64 CPUs.
 */
#ifndef __SIBLING_POLICY_PLACE_SEARCH_H
#define __SIBLING_POLICY_PLACE_SEARCH_H

#define PLACE_CLAIMS	4	/* candidates tried per word before giving up on it */

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
};

static __always_inline bool place_on(const struct place_req *r, u32 feature)
{
	return *r->features & (1ULL << feature);
}

/* Allowed and not isolated against the task. */
static __always_inline bool place_usable(const struct port_task *task, s32 cpu)
{
	return port_topo_of(cpu)->valid && port_allowed(task, cpu);
}

static __always_inline bool shares_llc(s32 a, s32 b)
{
	const struct cpu_topo *ta = port_topo_of(a), *tb = port_topo_of(b);

	return ta->valid && tb->valid && ta->llc == tb->llc;
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

/* The candidates of @set in word @w. */
static __always_inline u64 place_word(const struct port_task *task, const struct span *span,
				      const struct span *own, u32 w, bool core)
{
	u64 bits = span->mask[port_index(w, CPU_WORDS)];

	if (own)
		bits &= ~own->mask[port_index(w, CPU_WORDS)];
	if (bits)
		bits &= port_idle_word(w, core);
	if (bits)
		bits &= port_allowed_word(task, w);
	return bits;
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
		bits = place_word(task, span, own, w, core);
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

/* What idles in an LLC and the task may use: CPUs by number in its two words. */
struct place_idle {
	u64 bits;		/* in the word of the CPU looked from */
	u64 bits2;		/* in cpu_topo.word2 */
	bool any;		/* there is something, in a third word maybe */
};

/* The idle threads or with @core wholly idle cores in the LLC of @cpu, whose topology is @t. */
static __always_inline struct place_idle place_llc_idle(const struct port_task *task,
							const struct cpu_topo *t, s32 cpu,
							bool core)
{
	struct place_idle idle = { .bits = t->word_mask & port_idle_word((u32)cpu / 64, core) };

	if (idle.bits)
		idle.bits &= port_allowed_word(task, (u32)cpu / 64);
	if (t->word2_mask) {
		idle.bits2 = t->word2_mask & port_idle_word(t->word2, core);
		if (idle.bits2)
			idle.bits2 &= port_allowed_word(task, t->word2);
	}
	idle.any = idle.bits | idle.bits2;
	if (!idle.any && t->wide)
		idle.any = place_any(task, t->llc, core);
	return idle;
}

/* Claim one of @idle, as place_llc_idle() found it, looking at no more than @budget words. */
static __always_inline s32 place_llc_claim(const struct port_task *task, const struct cpu_topo *t,
					   s32 cpu, const struct place_idle *idle, bool core,
					   u32 budget)
{
	s32 found = -1;

	if (t->wide)
		return place_search(task, t->llc, core, budget, cpu);
	if (idle->bits)
		found = place_claim_word(idle->bits, (u32)cpu / 64, cpu + 1);
	if (found < 0 && idle->bits2 && budget > 1)
		found = place_claim_word(idle->bits2, t->word2, 0);
	return found;
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

#endif
