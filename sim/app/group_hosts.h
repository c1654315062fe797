/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hosts of a group of short flows: a receiver and different senders, drawn anew for each group,
 * or one of a number of sets that are drawn once.
 */
#ifndef OCHE_SIM_APP_GROUP_HOSTS_H
#define OCHE_SIM_APP_GROUP_HOSTS_H

#include "sim/app/sender_pool.h"
#include "sim/app/app.h"

/* The hosts that two fixed sets must not have in common. */
enum oche_disjoint { OCHE_DISJOINT_NONE, OCHE_DISJOINT_RECEIVERS, OCHE_DISJOINT_HOSTS };

struct oche_group_hosts {
    const struct oche_workload_facts *facts; /* not owned */
    uint64_t sets;                           /* 0: each group is drawn anew */
    uint32_t degree;
    enum oche_disjoint disjoint;
    struct oche_sender_pool pool;
    uint32_t *order; /* all hosts in random order; NULL without `disjoint` */
    /* set of the last group that began; without sets: the group's number */
    uint64_t set;
    uint32_t receiver;         /* receiver of the last group that began */
    uint32_t *senders;         /* the senders of the last group: `degree` hosts */
    struct oche_random random; /* the last group's stream */
};

/*
 * Returns true if there are hosts enough for `sets` groups of `degree` senders; else false with an
 * error that names the parameter (degree, groups or disjoint).
 */
bool oche_group_hosts_fit(uint64_t sets, uint64_t degree, enum oche_disjoint disjoint,
                          uint32_t host_count, struct oche_error *error);

/* Prepares to draw, from streams of `facts`. Returns false without memory; free it all the same. */
bool oche_group_hosts_make(struct oche_group_hosts *hosts, const struct oche_workload_facts *facts,
                           uint64_t sets, uint32_t degree, enum oche_disjoint disjoint);
void oche_group_hosts_free(struct oche_group_hosts *hosts);

/*
 * Draws the receiver of the group with this number (from 0), and sets random to the stream that
 * the group's other properties come from.
 */
void oche_group_hosts_begin(struct oche_group_hosts *hosts, uint64_t number);
/* Draws the senders of the group that was begun, from random. */
void oche_group_hosts_draw_senders(struct oche_group_hosts *hosts);

#endif
