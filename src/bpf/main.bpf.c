/* SPDX-License-Identifier: GPL-2.0-only */
/* The ops table, init and exit; every callback lives with its concern. */
#include "state.bpf.h"
#include <scx/user_exit_info.bpf.h>

char _license[] SEC("license") = "GPL";

UEI_DEFINE(uei);

/* Defined in the other objects; the raw context type is what BTF must match. */
extern s32 sibling_select_cpu(unsigned long long *ctx);
extern void sibling_enqueue(unsigned long long *ctx);
extern void sibling_dispatch(unsigned long long *ctx);
extern void sibling_tick(unsigned long long *ctx);
extern void sibling_cpu_release(unsigned long long *ctx);

s32 BPF_STRUCT_OPS_SLEEPABLE(sibling_init)
{
	u32 cpu;

	bpf_for(cpu, 0, nr_cpu_ids) {
		struct cpu_state *cs = cpu_state_of(cpu);
		s32 ret;

		if (!cs)
			break;
		kernel_addr.rq[cpu & (MAX_CPUS - 1)] = (u64)bpf_per_cpu_ptr(&runqueues, cpu);
		cs->avg_idle_ns = AVG_IDLE_CAP_LEAST_NS;
		for (u32 i = 0; i < LEVEL_NR; i++)
			cs->dice_ratio[i] = NEWIDLE_RATIO_START;
		ret = scx_bpf_create_dsq(cpu, -1);
		if (ret) {
			scx_bpf_error("queue of CPU %u: error %d", cpu, ret);
			return ret;
		}
	}
	WRITE_ONCE(live.state, RUN_SCHEDULING);
	return 0;
}

void BPF_STRUCT_OPS(sibling_exit, struct scx_exit_info *ei)
{
	/* Here and not by the loader, which may be dead: tools must not take a leftover map for live. */
	WRITE_ONCE(live.state, RUN_ENDED);
	UEI_RECORD(uei, ei);
}

SCX_OPS_DEFINE(sibling_ops,
	       .select_cpu	= (void *)sibling_select_cpu,
	       .enqueue		= (void *)sibling_enqueue,
	       .dispatch	= (void *)sibling_dispatch,
	       .tick		= (void *)sibling_tick,
	       .cpu_release	= (void *)sibling_cpu_release,
	       .init		= (void *)sibling_init,
	       .exit		= (void *)sibling_exit,
	       .flags		= SCX_OPS_ENQ_LAST,
	       .timeout_ms	= 30000,
	       .name		= "sibling");
