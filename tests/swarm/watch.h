/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules that are judged during the run, from the trace of all nodes and the packets of all links.
 * Each rule computes the next allowed event from the events that it has seen, independently of the
 * code under test. One thread only.
 */
#ifndef OCHE_TESTS_SWARM_WATCH_H
#define OCHE_TESTS_SWARM_WATCH_H

#include "core/trace/trace.h"
#include "sim/network/network.h"
#include "tests/swarm/judge.h"

/* Notes that a rule is broken. Only the first note counts. */
void swarm_breaks(struct swarm_run *run, const char *rule, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A rule with its own state. `make` returns NULL if the rule does not apply to this world. */
struct swarm_rule {
    void *(*make)(struct swarm_run *run);
    void (*event)(void *state, uint32_t node, const struct oche_trace_record *record);
    /*
     * Optional. Port `port` (global number) has begun to send the packet, or has received it. If a
     * link loses a packet, the next event is its drop.
     */
    void (*sent)(void *state, uint32_t port, const struct oche_packet *packet, oche_time now);
    void (*arrived)(void *state, uint32_t port, const struct oche_packet *packet, oche_time now);
    void (*end)(void *state); /* optional: called at the end of the run */
    void (*free)(void *state);
};
extern const struct swarm_rule swarm_order_rule, swarm_sender_rule, swarm_dcqcn_rule,
    swarm_pfc_rule, swarm_buffer_rule, swarm_pause_time_rule, swarm_loss_rule, swarm_feedback_rule,
    swarm_credit_rule, swarm_nak_rule, swarm_nak_interval_rule;

/* Returns the connection of an event; UINT32_MAX: it belongs to none. */
static inline uint32_t swarm_connection(const struct oche_trace_record *record, uint32_t count)
{
    uint32_t connection = record->qpn - OCHE_FIRST_QPN;

    return record->qpn >= OCHE_FIRST_QPN && connection < count ? connection : UINT32_MAX;
}

/*
 * Like swarm_connection, but UINT32_MAX for connections of READs. For rules about hosts that send
 * data and get ACKs for it.
 */
static inline uint32_t swarm_acked_connection(const struct swarm_run *run,
                                              const struct oche_trace_record *record,
                                              uint32_t count)
{
    uint32_t connection = swarm_connection(record, count);

    return connection != UINT32_MAX && oche_world_flows(run->world)->connections[connection].reads
               ? UINT32_MAX
               : connection;
}

#endif
