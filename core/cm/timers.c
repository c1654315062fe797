/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timers: a pairing heap in the connections themselves, so that a thousand connections that wait
 * cost no more than a few steps for each that changes. Fredman, Sedgewick, Sleator, Tarjan: "The
 * pairing heap", 1986.
 */
#include "core/cm/cm.h"

#include "core/cm/parts.h"

/* Puts the later of two trees below the earlier one, and returns that. Either may be NULL. */
static struct oche_cm_conn *meld(struct oche_cm_conn *a, struct oche_cm_conn *b)
{
    struct oche_cm_conn *later;

    if (a == NULL || b == NULL)
        return a != NULL ? a : b;
    later = a->due <= b->due ? b : a;
    a = later == b ? a : b;
    later->timer_link = &a->timer_child;
    later->next_timer = a->timer_child;
    if (later->next_timer != NULL)
        later->next_timer->timer_link = &later->next_timer;
    a->timer_child = later;
    a->next_timer = NULL;
    return a;
}

/* Makes one tree of a list of them: in pairs from the left, then all pairs from the right. */
static struct oche_cm_conn *meld_all(struct oche_cm_conn *first)
{
    struct oche_cm_conn *pairs = NULL, *all = NULL;

    while (first != NULL) {
        struct oche_cm_conn *second = first->next_timer;
        struct oche_cm_conn *rest = second != NULL ? second->next_timer : NULL;
        struct oche_cm_conn *pair;

        first->next_timer = NULL;
        pair = meld(first, second);
        pair->next_timer = pairs;
        pairs = pair;
        first = rest;
    }
    while (pairs != NULL) {
        struct oche_cm_conn *rest = pairs->next_timer;

        pairs->next_timer = NULL;
        all = meld(all, pairs);
        pairs = rest;
    }
    return all;
}

static void set_root(struct oche_cm *cm, struct oche_cm_conn *root)
{
    cm->timers = root;
    if (root != NULL)
        root->timer_link = &cm->timers;
}

void cm_stop_timer(struct oche_cm *cm, struct oche_cm_conn *conn)
{
    struct oche_cm_conn *below;

    if (conn->timer_link == NULL)
        return;
    *conn->timer_link = conn->next_timer;
    if (conn->next_timer != NULL)
        conn->next_timer->timer_link = conn->timer_link;
    below = meld_all(conn->timer_child);
    conn->next_timer = conn->timer_child = NULL;
    conn->timer_link = NULL;
    set_root(cm, meld(cm->timers, below));
}

void cm_start_timer(struct oche_cm *cm, struct oche_cm_conn *conn, oche_time due)
{
    cm_stop_timer(cm, conn);
    conn->due = due;
    set_root(cm, meld(cm->timers, conn));
}
