/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rate limiters of an adapter, which may be fewer than its connections (RoGUE sec 3.3: the
 * number of active queue pairs is limited to that of the limiters; rogue.md#r32). A connection
 * takes a limiter before it posts, and gives it back when nothing is under way. If all are taken,
 * connections wait in line. A driver has one such struct for each adapter, in its own memory; if it
 * has threads, it calls these functions under a lock.
 */
#ifndef OCHE_ROGUE_LIMITERS_H
#define OCHE_ROGUE_LIMITERS_H

#include "core/base.h"

/* A connection's place. All zero: it has no limiter and does not wait. */
struct rogue_limited {
    struct rogue_limited *next; /* in line */
    bool has, waits;
};

struct rogue_limiters {
    uint64_t most; /* limiters of the adapter; 0: any number */
    uint64_t taken;
    struct rogue_limited *first, *last; /* those that wait, in the order in which they came */
};

/* Returns true if the connection has a limiter from now on. If not, it waits in line. */
static inline bool rogue_limiters_take(struct rogue_limiters *limiters, struct rogue_limited *user)
{
    if (user->has || limiters->most == 0)
        return true;
    if (user->waits)
        return false;
    if (limiters->taken < limiters->most) { /* so nobody waits */
        limiters->taken++;
        user->has = true;
        return true;
    }
    user->waits = true;
    user->next = NULL;
    if (limiters->first == NULL)
        limiters->first = user;
    else
        limiters->last->next = user;
    limiters->last = user;
    return false;
}

/* Removes a connection that waits from the line. */
static inline void rogue_limiters_leave(struct rogue_limiters *limiters, struct rogue_limited *user)
{
    struct rogue_limited *before = NULL, *at = limiters->first;

    for (; at != NULL && at != user; at = at->next)
        before = at;
    if (at == NULL)
        return;
    if (before == NULL)
        limiters->first = user->next;
    else
        before->next = user->next;
    if (limiters->last == user)
        limiters->last = before;
    user->waits = false;
}

/*
 * The connection gives its limiter back, or leaves the line. Returns the connection that has the
 * limiter from now on, or NULL. The driver must let that connection post (rogue_pump).
 */
static inline struct rogue_limited *rogue_limiters_give(struct rogue_limiters *limiters,
                                                        struct rogue_limited *user)
{
    struct rogue_limited *next = limiters->first;

    if (!user->has) {
        rogue_limiters_leave(limiters, user);
        return NULL;
    }
    user->has = false;
    if (next == NULL) {
        limiters->taken--;
        return NULL;
    }
    limiters->first = next->next;
    if (limiters->last == next)
        limiters->last = NULL;
    next->waits = false;
    next->has = true;
    return next;
}

/* True if a connection waits for a limiter. */
static inline bool rogue_limiters_wanted(const struct rogue_limiters *limiters)
{
    return limiters->first != NULL;
}

#endif
