/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Locks whose rules clang checks when it compiles (-Wthread-safety); gcc sees plain mutexes.
 *
 *   static struct oche_lock lock = OCHE_LOCK_INITIALIZER;
 *   static unsigned count OCHE_GUARDED_BY(lock);     count is read and written under the lock
 *   static void add(void) OCHE_NEEDS(lock);          the caller has the lock
 *
 * In C a member of a struct cannot name another member as its lock. Members name the kind of their
 * lock instead (OCHE_LOCK_KIND), a declaration without an object. The compiler then checks that a
 * lock of this kind is held, but not if it is the lock of the same struct.
 */
#ifndef OCHE_DEVICE_HOST_LOCK_H
#define OCHE_DEVICE_HOST_LOCK_H

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

#ifdef __clang__
#define OCHE_LOCK_ATTRIBUTE(text) __attribute__((text))
#else
#define OCHE_LOCK_ATTRIBUTE(text)
#endif

/* For a variable or a member: it is accessed under the lock. */
#define OCHE_GUARDED_BY(lock) OCHE_LOCK_ATTRIBUTE(guarded_by(lock))
/* For a function: its caller has the lock, before and after. */
#define OCHE_NEEDS(...) OCHE_LOCK_ATTRIBUTE(requires_capability(__VA_ARGS__))
/* For a function: it takes or releases the lock. */
#define OCHE_TAKES(...)    OCHE_LOCK_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define OCHE_RELEASES(...) OCHE_LOCK_ATTRIBUTE(release_capability(__VA_ARGS__))
/* For a function: it has taken the lock if it returns true. */
#define OCHE_TRIES(...) OCHE_LOCK_ATTRIBUTE(try_acquire_capability(true, __VA_ARGS__))
/* For a function that the compiler cannot check; a comment gives the reason. */
#define OCHE_UNCHECKED OCHE_LOCK_ATTRIBUTE(no_thread_safety_analysis)

struct OCHE_LOCK_ATTRIBUTE(capability("lock")) oche_lock {
    pthread_mutex_t mutex;
};

#define OCHE_LOCK_INITIALIZER                                                                      \
    {                                                                                              \
        PTHREAD_MUTEX_INITIALIZER                                                                  \
    }
#define OCHE_LOCK_KIND(kind) extern struct oche_lock kind

OCHE_UNCHECKED static inline void oche_lock_take(struct oche_lock *lock) OCHE_TAKES(lock)
{
    pthread_mutex_lock(&lock->mutex);
}

OCHE_UNCHECKED static inline void oche_lock_release(struct oche_lock *lock) OCHE_RELEASES(lock)
{
    pthread_mutex_unlock(&lock->mutex);
}

/* Gives up at this time of the clock (CLOCK_REALTIME). Returns true if it has the lock. */
OCHE_UNCHECKED static inline bool oche_lock_take_until(struct oche_lock *lock,
                                                       const struct timespec *end) OCHE_TRIES(lock)
{
    return pthread_mutex_timedlock(&lock->mutex, end) == 0;
}

#endif
