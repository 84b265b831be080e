/* SPDX-License-Identifier: GPL-2.0-only */
/* The one home of all maps and globals; state.bpf.h declares them. */
#include "state.bpf.h"

/* Non-zero so that the verifier sees the programs whole without a loader. */
const volatile u32 nr_cpu_ids = 8;
const volatile u32 nr_nodes = 8;
const volatile struct cpu_topo cpu_topo[MAX_CPUS] __attribute__((aligned(64)));
const volatile struct llc_topo llc_topo[MAX_LLCS];
const volatile struct node_topo node_topo[MAX_NODES];

volatile u32 loop_start;
struct tunables live SEC(".data.tun");

struct kernel_addr kernel_addr __attribute__((aligned(64)));
struct cpu_state cpu_state[MAX_CPUS] __attribute__((aligned(64)));
struct cpu_stats cpu_stats[MAX_CPUS] __attribute__((aligned(64)));
struct cpu_sample cpu_samples[MAX_CPUS];
struct llc_state llc_state[MAX_LLCS] __attribute__((aligned(64)));
struct node_state node_state[MAX_NODES] __attribute__((aligned(64)));

struct task_ctx_map task_ctxs SEC(".maps");

/* The skeleton exports types only where something reachable has them. */
volatile enum sibling_limits abi_limits;
volatile enum level_id abi_level;
volatile enum stat_id abi_stat;
volatile enum tun_id abi_tun;
volatile enum feature_id abi_feature;
volatile enum run_state abi_run;
