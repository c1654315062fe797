/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sections in which a thread must not stop, because it has a lock that the end of the process
 * needs. A signal handler that ends the process checks if it has interrupted such a section. If so,
 * the thread continues, and calls the handler again when it has left the section.
 */
#ifndef OCHE_DEVICE_HOST_CRITICAL_SECTION_H
#define OCHE_DEVICE_HOST_CRITICAL_SECTION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/base.h"

#pragma GCC visibility push(hidden)

/* Number of sections that this thread is in. A signal handler may read it at any time. */
extern __thread volatile uint32_t oche_critical_depth __attribute__((tls_model("initial-exec")));
/* Called by a thread that has left its last section, unless it is NULL. */
extern void (*_Atomic oche_critical_left)(void);

/* To be called before the lock is taken … */
static inline void oche_critical_enter(void)
{
    oche_critical_depth++;
    atomic_signal_fence(memory_order_seq_cst);
}

/* … and after it was released. */
static inline void oche_critical_leave(void)
{
    void (*left)(void);

    atomic_signal_fence(memory_order_seq_cst);
    if (--oche_critical_depth > 0)
        return;
    left = atomic_load_explicit(&oche_critical_left, memory_order_relaxed);
    if (OCHE_UNLIKELY(left != NULL))
        left();
}

#pragma GCC visibility pop

#endif
