/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Estimates what more threads would gain. A run in one thread, over a network of many shards,
 * records how many events each shard has in each window. Assume that all events take equally long
 * and that each of fewer threads has some of the shards. Then it follows when each thread would
 * finish each window: with a barrier after each window, or if a thread waits only for threads to
 * which it has links.
 */
#ifndef OCHE_SIM_NETWORK_SCHEDULE_H
#define OCHE_SIM_NETWORK_SCHEDULE_H

#include "core/base.h"

struct oche_network;

#define OCHE_SCHEDULE_MOST 64 /* shards */
#define OCHE_SCHEDULE_WAYS 6  /* 2, 4, … 64 threads */
/*
 * The cost of reporting a window to other threads, in events, if an event takes 100 ns: no cost;
 * about the cost between two threads of one machine; about the cost of a message between two
 * machines.
 */
#define OCHE_SCHEDULE_COSTS 3
extern const double oche_schedule_costs[OCHE_SCHEDULE_COSTS];

/* So many threads, with shards in order. */
struct oche_schedule_way {
    uint32_t threads;
    double all;        /* events */
    double most;       /* events of the busiest thread in each window, summed over windows */
    double busiest;    /* events of the thread that has most of them in the whole run */
    uint64_t crossing; /* packets between threads */
    double links;      /* mean number of threads that a thread has links to */
    /* How many times as fast as one thread, by cost. */
    double barrier[OCHE_SCHEDULE_COSTS], neighbours[OCHE_SCHEDULE_COSTS];
};

struct oche_schedule;

/* Makes a record for a network whose links are made. Keeps the pointer to it. */
struct oche_schedule *oche_schedule_create(const struct oche_network *network);
void oche_schedule_free(struct oche_schedule *schedule); /* NULL: does nothing */

/* Adds a window that all shards have run and not yet collected. */
void oche_schedule_window(struct oche_schedule *schedule);

uint64_t oche_schedule_windows(const struct oche_schedule *schedule);
/*
 * Fills `ways` with the results. Returns their number: one for each number of threads below the
 * number of shards, and one for as many threads as shards.
 */
unsigned oche_schedule_ways(const struct oche_schedule *schedule,
                            struct oche_schedule_way ways[OCHE_SCHEDULE_WAYS]);

#endif
