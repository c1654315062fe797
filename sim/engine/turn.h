/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A count that one thread raises and others wait for. Who waits looks at it all the time for a
 * while, then lets others run between looks, then sleeps: so what comes soon costs no system call,
 * and what comes late, or from a thread that has no processor, costs little of one.
 *
 * The thread that raises it publishes by that whatever it wrote before.
 */
#ifndef OCHE_SIM_ENGINE_TURN_H
#define OCHE_SIM_ENGINE_TURN_H

#include <stdatomic.h>

#include "core/base.h"

struct oche_turn {
    _Atomic uint32_t count;    /* may wrap, as sequence numbers do: a later count may be smaller */
    _Atomic uint32_t sleepers; /* threads that sleep, or are about to */
};

/* Returns the time of a clock that only goes on. */
uint64_t oche_clock_ns(void);

/* Raises the count, and wakes who sleeps. By one thread alone. */
void oche_turn_raise(struct oche_turn *turn, uint32_t count);

/* For oche_turn_await alone: looks for `spin_ns` before it sleeps. */
void oche_turn_wait(struct oche_turn *turn, uint32_t count, uint64_t spin_ns);

/* True if the count is at `count`, or beyond. */
static inline bool oche_turn_is(struct oche_turn *turn, uint32_t count)
{
    return (int32_t)(atomic_load_explicit(&turn->count, memory_order_acquire) - count) >= 0;
}

/* Waits until the count is at `count`, or beyond; with `spin_ns` 0 asleep. */
static inline void oche_turn_await(struct oche_turn *turn, uint32_t count, uint64_t spin_ns)
{
    if (!oche_turn_is(turn, count))
        oche_turn_wait(turn, count, spin_ns);
}

#endif
