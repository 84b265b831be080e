/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The port of policy/pull.h: the overload hints, how many wait where, a clock and
 * dice. The move itself, port_pull(), is in dispatch.bpf.c: it needs the kernel's
 * iterator over a queue.
 */
#ifndef __SIBLING_PORT_PULL_H
#define __SIBLING_PORT_PULL_H

#include "../queue.bpf.h"

static __always_inline u64 port_clock(void)
{
	return bpf_ktime_get_ns();
}

static __always_inline u32 port_random(void)
{
	return bpf_get_prandom_u32();
}

static __always_inline u64 port_llc_overload(u32 llc)
{
	return llc < MAX_LLCS ? READ_ONCE(llc_state[port_index(llc, MAX_LLCS)].overload) : 0;
}

static __always_inline u64 port_llc_taken(u32 llc)
{
	return llc < MAX_LLCS ? READ_ONCE(llc_state[port_index(llc, MAX_LLCS)].taken) : 0;
}

static __always_inline void port_taken_over(u32 llc, u64 bits)
{
	if (llc < MAX_LLCS)
		__sync_fetch_and_and(&llc_state[port_index(llc, MAX_LLCS)].taken, ~bits);
}

static __always_inline u64 port_node_overload(u32 node)
{
	return node < MAX_NODES ? READ_ONCE(node_state[port_index(node, MAX_NODES)].overload) : 0;
}

static __always_inline u32 port_waiting(s32 cpu)
{
	return queue_waiting(cpu_rq(cpu));
}

/* Something was woken here while a search ran. */
static __always_inline bool port_own_work(s32 cpu)
{
	return cpu_rq(cpu)->nr_running;
}

struct pull_req;
bool port_pull(const struct pull_req *r port_nonnull, s32 src);

#endif
