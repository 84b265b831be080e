/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Run by the loader when somebody reads statistics: what only the kernel knows
 * of each CPU. Keeping it up to date as it changes would cost every wake-up.
 */
#include "state.bpf.h"

static __always_inline u64 idle_ns(const struct rq *rq, u64 since, u64 now)
{
	/* The task clock, which @since is in, stands still on an idle CPU. */
	u64 idle = now - rq->clock + rq->clock_task - since;

	if (!since || rq->curr != rq->idle || (s64)idle < 0)
		return 0;
	return idle;
}

SEC("syscall")
int sibling_sample(void *ctx)
{
	u64 now = scx_bpf_now();
	u32 cpu;

	bpf_for(cpu, 0, nr_cpu_ids) {
		const struct rq *rq = cpu_rq(cpu);
		struct cpu_state *cs = cpu_state_of(cpu);

		if (!cs)
			break;
		cpu_samples[cpu & (MAX_CPUS - 1)] = (struct cpu_sample){
			.idle_ns = idle_ns(rq, cs->idle_since_ns, now),
			.nr_running = rq->nr_running,
		};
	}
	return 0;
}
