/* SPDX-License-Identifier: Apache-2.0 */
/* htsim's connection matrices in memory, between their reader and the schedule made of them. */
#ifndef OCHE_SIM_GRAPH_HTSIM_MATRIX_H
#define OCHE_SIM_GRAPH_HTSIM_MATRIX_H

#include "params/text_input.h"
#include "sim/graph/schedule_file.h"

#define OCHE_HTSIM_NONE UINT32_MAX
#define OCHE_HTSIM_MOST (UINT32_C(1) << 30) /* connections, and triggers, are fewer */

struct oche_htsim_connection {
    uint64_t start_ps, size;
    uint32_t src, dst;
    uint32_t trigger; /* that starts it: index, or NONE; at first the id */
    uint32_t send_done, recv_done;
    uint32_t place; /* among the connections that its trigger starts, in the file's order */
    unsigned line;
};

enum oche_htsim_type {
    OCHE_HTSIM_ONESHOT,
    OCHE_HTSIM_MULTISHOT,
    OCHE_HTSIM_BARRIER,
    OCHE_HTSIM_TYPES
};

struct oche_htsim_trigger {
    uint32_t id;
    uint32_t type;    /* enum oche_htsim_type */
    uint32_t needs;   /* firings, of a oneshot or barrier */
    uint32_t fired;   /* connections that fire it */
    uint32_t targets; /* connections that it starts */
    uint32_t home;    /* rank at which it is; NONE: it starts nothing */
    unsigned line;
};

struct oche_htsim_matrix {
    struct oche_text_input input;
    uint32_t nodes;
    uint64_t said_connections, said_triggers, said_failures;
    struct oche_htsim_connection *connections;
    struct oche_htsim_trigger *triggers;
    struct oche_schedule_failure *failures;
    uint32_t connection_count, connection_room, trigger_count, trigger_room;
    uint32_t failure_count, failure_room;
    uint32_t prios, reused, remote, never; /* for the remark */
};

/*
 * Reads a matrix whose `input` has begun, and checks that its triggers can fire. Returns false with
 * an error at a line. The lists are the caller's to free in any case.
 */
bool oche_htsim_read(struct oche_htsim_matrix *matrix);

/* True if a connection never starts, as its multishot trigger is fired too seldom. */
static inline bool oche_htsim_never(const struct oche_htsim_matrix *matrix,
                                    const struct oche_htsim_connection *connection)
{
    const struct oche_htsim_trigger *trigger =
        connection->trigger == OCHE_HTSIM_NONE ? NULL : &matrix->triggers[connection->trigger];

    return trigger != NULL && trigger->type == OCHE_HTSIM_MULTISHOT &&
           connection->place >= trigger->fired;
}

#endif
