/* SPDX-License-Identifier: Apache-2.0 */
/* Raises and awaits counts. Sleep is the kernel's futex, which looks once more before it sleeps. */
#include "sim/engine/turn.h"

#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LOOKS  32 /* between two looks at the clock */
#define YIELDS 8

static inline void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb" ::: "memory");
#endif
}

uint64_t oche_clock_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void oche_turn_raise(struct oche_turn *turn, uint32_t count)
{
    /* Either we see the sleeper here, or it sees the new count before it sleeps. */
    atomic_store(&turn->count, count);
    if (OCHE_UNLIKELY(atomic_load(&turn->sleepers) > 0))
        syscall(SYS_futex, &turn->count, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* Looks for `spin_ns`, and then a few times more after others have run. */
static bool spin(struct oche_turn *turn, uint32_t count, uint64_t spin_ns)
{
    uint64_t until = 0, now;

    do {
        for (unsigned i = 0; i < LOOKS; i++) {
            if (oche_turn_is(turn, count))
                return true;
            relax();
        }
        now = oche_clock_ns();
        if (until == 0)
            until = now + spin_ns;
    } while (now < until);
    for (unsigned i = 0; i < YIELDS; i++) {
        sched_yield();
        if (oche_turn_is(turn, count))
            return true;
    }
    return false;
}

void oche_turn_wait(struct oche_turn *turn, uint32_t count, uint64_t spin_ns)
{
    if (spin_ns > 0 && spin(turn, count, spin_ns))
        return;
    atomic_fetch_add(&turn->sleepers, 1);
    for (;;) {
        uint32_t seen = atomic_load(&turn->count);

        if ((int32_t)(seen - count) >= 0)
            break;
        syscall(SYS_futex, &turn->count, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
    }
    atomic_fetch_sub(&turn->sleepers, 1);
}
