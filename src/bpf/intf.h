/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The shared header: what the BPF side, the loader and the native tests agree
 * on. Fixed-width fields only, every enum named (the skeleton exports named
 * types alone). Needs u8 … u64 and s32 declared before it.
 */
#ifndef __SIBLING_INTF_H
#define __SIBLING_INTF_H

enum sibling_limits {
	MAX_CPUS	= 1024,
	CPU_WORDS	= MAX_CPUS / 64,
	MAX_LLCS	= 1024,
	MAX_NODES	= 64,
	LLC_CPUS	= 64,	/* an LLC with more CPUs is handled in parts of 64 */
	NODE_LLCS	= 64,	/* likewise LLCs of a node */
	NO_CPU		= 0xffff,
};

/* Nested CPU sets around a CPU, nearest first; see topology/chain.rs. */
enum level_id {
	LEVEL_SMT,
	LEVEL_CLUSTER,
	LEVEL_LLC,
	LEVEL_NODE,
	LEVEL_SYSTEM,
	LEVEL_NR,
};

#define STAT(id, name, unit, meaning)			STAT_##id,
#define STAT_REASON(id, group, reason, unit, meaning)	STAT_##id,
#define STAT_LEVEL(id, name, unit, meaning)	STAT_##id, STAT_##id##_END = STAT_##id + LEVEL_NR - 1,
enum stat_id {
#include "stats.def"
	STAT_NR,
};
#undef STAT
#undef STAT_REASON
#undef STAT_LEVEL

#define TUNABLE(id, name, dfl, min, max, unit, meaning)	TUN_##id,
#define FEATURE(id, dfl, meaning)
enum tun_id {
#include "tunables.def"
	TUN_FEATURES,		/* bit mask by enum feature_id */
	TUN_NR,
};
#undef TUNABLE
#undef FEATURE

#define TUNABLE(id, name, dfl, min, max, unit, meaning)
#define FEATURE(id, dfl, meaning)	FEAT_##id,
enum feature_id {
#include "tunables.def"
	FEAT_NR,
};
#undef TUNABLE
#undef FEATURE

enum run_state {
	RUN_NEVER,
	RUN_SCHEDULING,
	RUN_ENDED,	/* for whatever reason, the loader's death included */
};

/*
 * Live tunables, in a map that tools in user space have mapped. Each is one
 * aligned word of its own: a reader takes a word once per callback, so a writer
 * needs no lock and no reader sees half a value. What precedes the words stays
 * where it is in all versions: from it a tool knows whose words these are.
 */
struct tunables {
	u64 table;	/* hash of the rows of tunables.def these words belong to */
	u64 state;	/* enum run_state, written by ops.init and ops.exit */
	u64 pid;	/* of the loader */
	u64 pad[5];
	u64 v[TUN_NR];
};

/* Where a CPU stands. `*_bits` number the CPUs of the LLC, see llc_topo.cpus. */
struct cpu_topo {
	u16 llc;
	u16 node;
	u8 valid;
	u8 llc_bit;
	u8 node_bit;		/* its LLC's place in node_topo.llcs */
	u8 has_smt;		/* has a sibling thread, isolated ones too */
	u64 smt_bits;		/* self included, as in the two below */
	u64 cluster_bits;
	u64 llc_bits;
	u16 sibling;		/* the one other thread of an SMT2 core, or NO_CPU */
	u16 word2;		/* the second word of CPU numbers its LLC has CPUs in */
	u8 wide;		/* and it has some in more than two: go by llc_topo.span */
	u8 pad[3];
	/* The LLC's CPUs by number in the CPU's own word of 64 and in word2. */
	u64 word_mask;
	u64 word2_mask;
	u64 pad2;
};

/* A set of CPUs by number, isolated ones left out, as words to scan. */
struct span {
	u16 first;		/* first and last word in use */
	u16 last;
	u16 pad[2];
	u64 mask[CPU_WORDS];
};

struct llc_topo {
	u16 nr_cpus;
	u16 node;
	u16 node_bit;
	u16 pad;
	u16 cpus[LLC_CPUS];	/* CPU number by bit */
	struct span span;
};

struct node_topo {
	u16 nr_llcs;
	u16 nr_others;
	u16 pad[2];
	u16 llcs[NODE_LLCS];	/* LLC by bit */
	u16 others[MAX_NODES];	/* other nodes, nearest first */
	struct span span;
};

/*
 * One CPU's state. Written under that CPU's rq lock or by the wake-ups that run
 * on it, but for force_pull, a byte of its own that any CPU's tick may write.
 */
struct cpu_state {
	u64 idle_since_ns;	/* when it last went idle, in rq->clock_task; 0: counted */
	u64 avg_idle_ns;	/* running mean, weight 1/8 */
	u64 vtime_ns;		/* virtual time of the last task picked here */
	u64 picked_ns;		/* when vtime_ns last moved */
	u64 next_balance_ns;
	u64 sync_pair;		/* pids of the last sync wake-up's two, the lower one high */
	u64 sync_after_ns;	/* the sync hint is not believed here before that */
	u8 overloaded;		/* own bit in llc_state.overload is set */
	u8 force_pull;		/* what the next new-idle search may disregard, see pull.h */
	u8 preempting;		/* the running task was told to make way */
	u8 balanced;		/* the last task picked here jumped the queue */
	u8 sync_stacked;	/* a wakee was put behind its waker since the last tick */
	u8 pad[3];
	/* Per level; touched by new-idle searches only. */
	u64 pull_cost_ns[LEVEL_NR];
	u64 pull_cost_stamp_ns[LEVEL_NR];
	u32 dice_calls[LEVEL_NR];
	u32 dice_hits[LEVEL_NR];
	u32 dice_ratio[LEVEL_NR];
	u32 dice_pad;
	u64 dice_free_ns[LEVEL_NR];
	u64 pad2[4];
};

/* Overload hints: set by the enqueuer, cleared by the owner; a cache line each. */
struct llc_state {
	u64 overload;		/* bit: that CPU has tasks waiting */
	u64 sched_idle_seen_ns;	/* when a tick last met a SCHED_IDLE task here */
	u64 taken;		/* bit: a real-time task took that CPU, and may have it still */
	u64 pad[5];
};

struct node_state {
	u64 overload;		/* bit: that LLC has some overload bit set */
	u64 pad[7];
};

struct cpu_stats {
	u64 cnt[STAT_NR];
};

/* What a reader of statistics is told of a CPU; written by sample.bpf.c when asked. */
struct cpu_sample {
	u64 idle_ns;		/* how long it has idled; 0: it does not, or not since before the load */
	u32 nr_running;		/* runnable tasks of all classes */
	u32 pad;
};

/* What is known of the core of a claimed CPU. */
enum place_core {
	PLACE_CORE_UNKNOWN,
	PLACE_CORE_WHOLE,	/* wholly idle */
	PLACE_CORE_NONE,	/* none in the LLC was */
};

/* What a placement came to; kept per CPU, see select.bpf.c. */
struct place_res {
	s32 cpu;
	u32 step;		/* enum stat_id of the deciding step */
	u32 claimed;		/* the idle bit of `cpu` was taken */
	u32 stacked;		/* goes straight behind the running task */
	u32 core;		/* enum place_core */
	u32 none_idle;		/* a search has just shown that no CPU in reach idles */
	u64 far_after_ns;	/* outlasts the placement: no look beyond the LLC before that */
	u32 pad[8];
};

_Static_assert(sizeof(struct cpu_topo) == 64, "one cache line per CPU");
_Static_assert(sizeof(struct llc_state) == 64, "one cache line per LLC");
_Static_assert(sizeof(struct node_state) == 64, "one cache line per node");
_Static_assert(__builtin_offsetof(struct cpu_state, pull_cost_ns) == 64,
	       "the fast path stays in the first cache line");
_Static_assert(TUN_MIGRATION_COST_SMT == 0 &&
	       (int)TUN_MIGRATION_COST_SYSTEM == (int)LEVEL_SYSTEM,
	       "migration costs are indexed by level");
_Static_assert(__builtin_offsetof(struct tunables, v) == 64,
	       "older and newer tools find the words here");
_Static_assert(FEAT_NR <= 64, "features fit one word");

#endif
