/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The policy headers, unchanged, compiled for the build machine and exported to
 * the Rust tests. Everything else a header needs comes from port.h beside this.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef int s32;
typedef long long s64;

#undef __always_inline
#define __always_inline	inline __attribute__((always_inline))
#define __noinline	__attribute__((noinline))

#include "../../src/bpf/intf.h"
#include "../../src/bpf/policy/vtime.h"
#include "../../src/bpf/policy/newidle.h"
#include "../../src/bpf/policy/wake_wide.h"
#include "port.h"
#include "../../src/bpf/policy/pull.h"
#include "../../src/bpf/policy/wake.h"

/* As the BPF side moves a task: the checks that belong to the move itself. */
static bool port_pull(const struct pull_req *r, s32 src)
{
	u64 n = host.global[HOST_PULL_COUNT]++, *cpu = host_cpu(src);
	u64 since = cpu[HOST_SINCE_RAN];

	if (n < HOST_PULLS)
		host.pulls[n] = (struct host_pull){ src, r->min_running, r->hot_ns, r->min_wait_ns };
	if (n + 1 >= host.global[HOST_OWN_WORK_AT])
		host_cpu(r->cpu)[HOST_RUNNING] = 1;
	if (!cpu[HOST_WAITING] || cpu[HOST_UNMOVABLE])
		return false;
	if (pull_too_hot(r->features, since, r->hot_ns) || since < r->min_wait_ns)
		return false;
	cpu[HOST_WAITING]--;
	cpu[HOST_RUNNING]--;
	return true;
}

/* The machine. The tables are borrowed until host_end(). */

bool host_begin(const struct cpu_topo *cpus, u32 nr_cpus, const struct llc_topo *llcs,
		u32 nr_llcs, const struct node_topo *nodes, u32 nr_nodes)
{
	if (host.cpus)
		return false;
	memset(&host, 0, sizeof(host));
	memset(host.core, 0xff, sizeof(host.core));
	host.cpus = cpus;
	host.llcs = llcs;
	host.nodes = nodes;
	host.nr_cpus = nr_cpus;
	host.nr_llcs = nr_llcs;
	host.nr_nodes = nr_nodes;
	host.global[HOST_OWN_WORK_AT] = ~0ULL;
	return true;
}

void host_end(void)
{
	host.cpus = NULL;
}

/* The @n online threads of the core of @cpu, itself included. */
void host_core(u32 cpu, const u16 *threads, u32 n)
{
	for (u32 i = 0; i < n; i++)
		host.core[host_below(cpu, MAX_CPUS)][host_below(i, HOST_THREADS)] = threads[i];
}

u64 host_get(u32 cpu, u32 field)
{
	if (field == HOST_IDLE)
		return host_bit(host.idle, cpu);
	return host_cpu(cpu)[host_below(field, HOST_FIELDS)];
}

void host_set(u32 cpu, u32 field, u64 value)
{
	if (field == HOST_IDLE)
		host_idle_set(cpu, value);
	else
		host_cpu(cpu)[host_below(field, HOST_FIELDS)] = value;
	/* The kernel tells when a CPU is taken, not when it is given back. */
	if (field == HOST_TAKEN && value)
		port_note_taken(cpu);
}

u64 host_global_get(u32 id)
{
	return host.global[host_below(id, HOST_GLOBALS)];
}

void host_global_set(u32 id, u64 value)
{
	host.global[host_below(id, HOST_GLOBALS)] = value;
}

void host_stale(u32 llc, u64 llc_bits, u32 node, u64 node_bits)
{
	host.stale_llc[host_below(llc, MAX_LLCS)] = llc_bits;
	host.stale_node[host_below(node, MAX_NODES)] = node_bits;
}

u64 host_stat(u32 id)
{
	return host.stats[host_below(id, STAT_NR)];
}

struct host_pull host_pull_at(u32 n)
{
	return host.pulls[host_below(n, HOST_PULLS)];
}

/* Placement. */

struct host_wake {
	const struct port_task *task;
	u64 features;
	s32 prev;
	s32 waker;
	u8 sync;
	u8 sync_partner;
	u8 kthread_waker;
	u8 wakee_sched_idle;
	u8 pad[4];
};

static struct place_req host_place_req(const struct host_wake *w)
{
	return (struct place_req){
		.task = w->task,
		.features = &w->features,
		.prev = w->prev,
		.waker = w->waker,
		.sync = w->sync,
		.sync_partner = w->sync_partner,
		.waker_idle = port_cpu_idle(w->waker),
		.kthread_waker = w->kthread_waker,
		.wakee_sched_idle = w->wakee_sched_idle,
	};
}

void host_place_wake(const struct host_wake *w, const struct tunables *t, struct place_res *res)
{
	struct place_req r = host_place_req(w);

	host.global[HOST_WAKER] = w->waker;
	host.tunables = t;
	place_wake(&r, res);
}

s32 host_place_fork(const struct host_wake *w, const struct tunables *t)
{
	struct place_req r = host_place_req(w);

	host.tunables = t;
	return place_fork(&r);
}

s32 host_place_move(const struct host_wake *w, u64 wait_ns, bool cores, const struct tunables *t)
{
	host.tunables = t;
	return place_move(w->task, w->prev, wait_ns, cores);
}

s32 host_place_spread(const struct host_wake *w, const struct tunables *t)
{
	host.tunables = t;
	return place_spread(w->task, w->prev);
}

bool host_wake_wide(u32 waker_flips, u32 wakee_flips, u32 llc_cpus)
{
	return wake_wide(waker_flips, wakee_flips, llc_cpus);
}

/* New-idle and busy balance. */

bool host_newidle(s32 cpu, u32 rnd, u32 force, struct cpu_state *cs, const struct tunables *t)
{
	struct pull_req r = {
		.cpu = cpu,
		.features = t->v[TUN_FEATURES],
		.now_ns = host.global[HOST_CLOCK],
	};

	host.random = rnd;
	return newidle_balance(&r, port_cpu_topo(cpu), cs, t, force);
}

bool host_busy(s32 cpu, u32 rnd, u32 self, const struct tunables *t)
{
	struct pull_req r = { .cpu = cpu, .features = t->v[TUN_FEATURES] };

	host.random = rnd;
	return busy_balance(&r, port_cpu_topo(cpu), t, self);
}

u64 host_avg_idle_update(u64 avg_ns, u64 sample_ns, const struct tunables *t)
{
	return avg_idle_update(avg_ns, sample_ns, t);
}

bool host_newidle_gated(u64 features, u64 avg_idle_ns, u64 fixed_ns, u64 measured_ns)
{
	return newidle_gated(features, avg_idle_ns, fixed_ns, measured_ns);
}

void host_newidle_cost_update(struct cpu_state *cs, u32 level, u64 spent_ns, u64 now_ns)
{
	newidle_cost_update(cs, level, spent_ns, now_ns);
}

void host_dice_update(struct cpu_state *cs, u32 level, u32 worth)
{
	newidle_dice_update(cs, level, worth);
}

u32 host_dice(struct cpu_state *cs, u32 level, u32 rnd, u64 now_ns)
{
	return newidle_dice(cs, level, rnd, now_ns);
}

u32 host_busy_threshold(u32 self, u64 imbalance_pct)
{
	return busy_threshold(self, imbalance_pct);
}

/* Virtual time. */

bool host_vtime_before(u64 a, u64 b)
{
	return vtime_before(a, b);
}

u64 host_vtime_scale(u64 delta_ns, u32 weight)
{
	return vtime_scale(delta_ns, weight);
}

u64 host_vtime_clamp(u64 vtime, u64 now, u64 slice_ns, u32 weight, u32 nr_running)
{
	return vtime_clamp(vtime, now, slice_ns, weight, nr_running);
}

u64 host_vtime_slice(u64 slice_ns, u64 slice_min_ns, u32 weight, u32 nr_running)
{
	return vtime_slice(slice_ns, slice_min_ns, weight, nr_running);
}

bool host_vtime_preempts(u64 wakee, u64 curr, u64 granularity_ns)
{
	return vtime_preempts(wakee, curr, granularity_ns);
}
