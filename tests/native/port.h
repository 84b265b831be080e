/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The port, host side: the same functions as src/bpf/port/port.h over a
 * synthetic machine, one per thread so that tests run in parallel.
 *
 * The topology tables are the loader's own; an entry the policy may not use has
 * LLC and node 0xffff, so that using it all the same aborts. Any other number
 * that BPF would quietly mask or answer with NULL aborts too. -1 is "no CPU"
 * and answered as BPF answers it.
 *
 * What the kernel keeps apart is kept apart: the idle bit (who may claim) and
 * nr_running (what a look at the run queue says). One thread, so races are
 * scripted: `lose_claims` says how many of the next claims find that another
 * waker was first.
 */
#ifndef __SIBLING_PORT_H
#define __SIBLING_PORT_H

#define HOST_THREADS	8	/* most threads of a core */
#define HOST_PULLS	1024	/* pulls remembered */

/* What a test reads and sets of one CPU; tests/native_common has the same list. */
enum host_field {
	HOST_IDLE,		/* the kernel's idle bit */
	HOST_RUNNING,		/* running and queued tasks */
	HOST_WAITING,		/* queued tasks that may move */
	HOST_AVG_IDLE,		/* ns */
	HOST_WAIT,		/* ns a newcomer has to wait */
	HOST_SCHED_IDLE,	/* its one task is SCHED_IDLE */
	HOST_TAKEN,		/* a real-time task runs */
	HOST_UNMOVABLE,		/* a pull finds nothing it may move */
	HOST_SINCE_RAN,		/* ns since the first waiting task ran */
	HOST_NOTED,		/* the hint that a real-time task has it; set along with TAKEN */
	HOST_FIELDS,
};

/* Of the whole machine. */
enum host_global {
	HOST_LOSE_CLAIMS,	/* so many next claims are lost */
	HOST_CLAIMS,		/* claims tried */
	HOST_WAKER,		/* the CPU that runs the wake-up */
	HOST_CLOCK,		/* ns */
	HOST_CLOCK_STEP,	/* added at each look at the clock */
	HOST_PULL_COUNT,	/* pulls tried */
	HOST_OWN_WORK_AT,	/* the puller has work of its own from this pull on */
	HOST_LOOKS,		/* looks at a CPU's waiting tasks */
	HOST_GLOBALS,
};

struct host_pull {
	s32 src;
	u32 min_running;
	u64 hot_ns;
	u64 min_wait_ns;
};

struct port_task {
	u64 allowed[CPU_WORDS];
	s32 recent;		/* -1: none */
	u32 waker_flips;
	u32 wakee_flips;
	u32 pad;
};

struct host_machine {
	const struct cpu_topo *cpus;
	const struct llc_topo *llcs;
	const struct node_topo *nodes;
	const struct tunables *tunables;	/* of the placement under way */
	u32 nr_cpus, nr_llcs, nr_nodes;
	u64 cpu[MAX_CPUS][HOST_FIELDS];
	u16 core[MAX_CPUS][HOST_THREADS];	/* online threads, NO_CPU at the end */
	u64 idle[CPU_WORDS], idle_core[CPU_WORDS];
	u64 global[HOST_GLOBALS];
	u64 stale_llc[MAX_LLCS];		/* overload bits with nothing waiting */
	u64 stale_node[MAX_NODES];
	u32 random;				/* what port_random() says */
	u64 stats[STAT_NR];
	struct host_pull pulls[HOST_PULLS];
};

static _Thread_local struct host_machine host;

#define port_fn			static
#define port_trusted
#define port_nonnull
#define port_tunable(id)	(host.tunables->v[host_below(id, TUN_NR)])
#define port_ctz(x)		__builtin_ctzll(x)
#define port_for(i, n, more)	for (u32 i = 0; i < (u32)(n) && (more); i++)
#define port_index(i, size)	host_below(i, size)
#define port_level(i)		host_below(i, LEVEL_NR)

static u32 host_below(u32 i, u32 size)
{
	if (i >= size)
		abort();
	return i;
}

static u64 *host_cpu(s32 cpu)
{
	return host.cpu[host_below(cpu, MAX_CPUS)];
}

static bool host_bit(const u64 *words, s32 cpu)
{
	return words[host_below(cpu, MAX_CPUS) / 64] >> (cpu & 63) & 1;
}

/* The kernel's core bits: set while all threads idle, gone with the first claim. */
static void host_core_update(s32 cpu)
{
	const u16 *core = host.core[host_below(cpu, MAX_CPUS)];
	bool all = true;

	for (u32 i = 0; i < HOST_THREADS && core[i] != NO_CPU; i++)
		all = all && host_bit(host.idle, core[i]);
	for (u32 i = 0; i < HOST_THREADS && core[i] != NO_CPU; i++) {
		u64 bit = 1ULL << (core[i] & 63);

		if (all)
			host.idle_core[core[i] / 64] |= bit;
		else
			host.idle_core[core[i] / 64] &= ~bit;
	}
}

static void host_idle_set(s32 cpu, bool idle)
{
	u64 bit = 1ULL << (cpu & 63), *word = &host.idle[host_below(cpu, MAX_CPUS) / 64];

	*word = idle ? *word | bit : *word & ~bit;
	host_core_update(cpu);
}

static const struct cpu_topo *port_cpu_topo(s32 cpu)
{
	static const struct cpu_topo none = { .llc = 0xffff, .node = 0xffff };

	if (cpu == -1)
		return NULL;
	return host_below(cpu, MAX_CPUS) < host.nr_cpus ? &host.cpus[cpu] : &none;
}

static const struct cpu_topo *port_topo_of(s32 cpu)
{
	return port_cpu_topo(host_below(cpu, MAX_CPUS));
}

static const struct llc_topo *port_llc(u32 llc)
{
	return &host.llcs[host_below(llc, host.nr_llcs)];
}

static const struct node_topo *port_node(u32 node)
{
	return &host.nodes[host_below(node, host.nr_nodes)];
}

static u64 port_idle_word(u32 w, bool core)
{
	return (core ? host.idle_core : host.idle)[host_below(w, CPU_WORDS)];
}

static bool port_allowed(const struct port_task *t, s32 cpu)
{
	return host_bit(t->allowed, cpu);
}

static u64 port_allowed_word(const struct port_task *t, u32 w)
{
	return t->allowed[host_below(w, CPU_WORDS)];
}

static u32 port_cpu_words(void)
{
	return (host.nr_cpus + 63) / 64;
}

static bool port_unbound(const struct port_task *t)
{
	for (u32 w = 0; w < CPU_WORDS; w++)
		if (~t->allowed[w])
			return false;
	return true;
}

static s32 port_any_allowed(const struct port_task *t)
{
	for (u32 w = 0; w < CPU_WORDS; w++)
		if (t->allowed[w])
			return w * 64 + port_ctz(t->allowed[w]);
	return -1;
}

static u32 port_nr_running(s32 cpu)
{
	return cpu == -1 ? 0 : host_cpu(cpu)[HOST_RUNNING];
}

static bool port_taken(s32 cpu)
{
	return cpu != -1 && host_cpu(cpu)[HOST_TAKEN];
}

static bool port_cpu_idle(s32 cpu)
{
	return cpu != -1 && !host_cpu(cpu)[HOST_RUNNING];
}

static bool port_core_idle(s32 cpu)
{
	const struct cpu_topo *t = port_cpu_topo(cpu);

	if (!t || !port_cpu_idle(cpu))
		return false;
	if (t->sibling != NO_CPU)
		return port_cpu_idle(t->sibling);
	return !t->has_smt || host_bit(host.idle_core, cpu);
}

static bool port_claim(s32 cpu)
{
	bool was_idle = host_bit(host.idle, cpu);

	host.global[HOST_CLAIMS]++;
	host_idle_set(cpu, false);
	if (was_idle && host.global[HOST_LOSE_CLAIMS]) {
		host.global[HOST_LOSE_CLAIMS]--;
		was_idle = false;
	}
	if (!was_idle)
		host.stats[STAT_CLAIM_LOST]++;
	return was_idle;
}

static bool port_claim(s32 cpu);

static s32 port_claim_any(const struct port_task *t)
{
	for (u32 cpu = 0; cpu < MAX_CPUS; cpu++)
		if (host_bit(t->allowed, cpu) && host_bit(host.idle, cpu) && port_claim(cpu))
			return cpu;
	return -1;
}

static u64 port_avg_idle(s32 cpu)
{
	return host_cpu(cpu)[HOST_AVG_IDLE];
}

static s32 port_recent(const struct port_task *t)
{
	return t->recent;
}

static bool port_wake_wide(const struct port_task *t)
{
	const struct cpu_topo *ct = port_cpu_topo(host.global[HOST_WAKER]);

	return ct && ct->valid &&
	       wake_wide(t->waker_flips, t->wakee_flips, port_llc(ct->llc)->nr_cpus);
}

static u64 port_wait_ns(s32 cpu)
{
	return host_cpu(cpu)[HOST_WAIT];
}

static bool port_sched_idle_only(s32 cpu)
{
	return host_cpu(cpu)[HOST_RUNNING] == 1 && host_cpu(cpu)[HOST_SCHED_IDLE];
}

static bool port_sched_idle_seen(u32 llc)
{
	const struct llc_topo *l = port_llc(llc);

	for (u32 i = 0; i < l->nr_cpus; i++)
		if (host_cpu(l->cpus[i])[HOST_SCHED_IDLE])
			return true;
	return false;
}

static u64 port_llc_taken(u32 llc)
{
	const struct llc_topo *t = port_llc(llc);
	u64 bits = 0;

	for (u32 i = 0; i < t->nr_cpus; i++)
		if (host_cpu(t->cpus[i])[HOST_NOTED])
			bits |= 1ULL << i;
	return bits;
}

static void port_taken_over(u32 llc, u64 bits)
{
	const struct llc_topo *t = port_llc(llc);

	for (u32 i = 0; i < t->nr_cpus; i++)
		if (bits >> i & 1)
			host_cpu(t->cpus[i])[HOST_NOTED] = 0;
}

static void port_note_taken(s32 cpu)
{
	host_cpu(cpu)[HOST_NOTED] = 1;
}

static u32 port_random(void)
{
	return host.random;
}

static u64 port_now(void)
{
	return host.global[HOST_CLOCK];
}

static u64 port_clock(void)
{
	u64 now = host.global[HOST_CLOCK];

	host.global[HOST_CLOCK] += host.global[HOST_CLOCK_STEP];
	return now;
}

static void port_stat(u32 id, u64 n)
{
	host.stats[host_below(id, STAT_NR)] += n;
}

static u64 port_llc_overload(u32 llc)
{
	const struct llc_topo *l = port_llc(llc);
	u64 bits = host.stale_llc[llc];

	for (u32 i = 0; i < l->nr_cpus; i++)
		if (host_cpu(l->cpus[i])[HOST_WAITING])
			bits |= 1ULL << i;
	return bits;
}

static u64 port_node_overload(u32 node)
{
	const struct node_topo *n = port_node(node);
	u64 bits = host.stale_node[node];

	for (u32 i = 0; i < n->nr_llcs; i++)
		if (port_llc_overload(n->llcs[i]))
			bits |= 1ULL << i;
	return bits;
}

static u32 port_waiting(s32 cpu)
{
	host.global[HOST_LOOKS]++;
	return host_cpu(cpu)[HOST_WAITING];
}

static bool port_own_work(s32 cpu)
{
	return host_cpu(cpu)[HOST_RUNNING];
}

/* Defined behind the policy, which has the request's type. */
struct pull_req;
static bool port_pull(const struct pull_req *r, s32 src);

#endif
