/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NAKs of Go-Back-N and of improved Go-Back-N, checked from the trace. A packet behind a gap must
 * be answered at once if the NAK interval is over or none has begun; otherwise it must not be
 * answered. Improved Go-Back-N also repeats the NAK at the end of each interval until the packet
 * arrives. It does so only if a last packet has arrived from behind the gap
 * (error-recovery.md#nak-interval, #l3, #l4, #l8, #l11), and stops after too many checks in a row
 * without an arrival. If a packet arrives at the very time of a check, the trace may not show which
 * came first. Such a connection is ignored from then on.
 */
#include <stdlib.h>
#include <string.h>

#include "core/qp/nic.h"
#include "core/recovery/go_back_n.h"
#include "core/recovery/improved_go_back_n.h"
#include "core/wire/aeth.h"
#include "core/wire/opcode.h"
#include "tests/swarm/port_use.h"

#define MOST_CHECKS 64 /* checks in a row without an arrival */
#define U(value)    ((unsigned long long)(value))

struct receiver {
    bool judged, any; /* any: a NAK has been due */
    bool due;         /* and this one has not been sent */
    oche_time last;   /* when the last NAK was due */
    uint32_t named;   /* the PSN that the last NAK named */
    uint32_t expected;
    oche_time check; /* OCHE_NEVER: no check is due */
    uint32_t last_psn;
    unsigned checks;
    uint32_t opcode; /* of the packet that has arrived */
};

struct naks {
    struct swarm_run *run;
    struct port_use *ports;
    struct receiver *receivers; /* by connection */
    uint32_t count;
    oche_time interval;
    bool exception, checks, checks_last;
};

static void owe(struct receiver *receiver, oche_time now)
{
    receiver->any = receiver->due = true;
    receiver->last = now;
    receiver->named = receiver->expected;
}

static void run_check(const struct naks *naks, struct receiver *receiver)
{
    oche_time now = receiver->check;

    receiver->check = OCHE_NEVER;
    if (++receiver->checks > MOST_CHECKS)
        return;
    owe(receiver, now);
    receiver->check = oche_time_add(now, naks->interval);
}

/* A port that was idle must have sent a NAK that was due. */
static void check_due(struct naks *naks, uint32_t node, uint32_t connection, oche_time now)
{
    struct receiver *receiver = &naks->receivers[connection];

    if (receiver->due && port_was_free(naks->ports, node, receiver->last, now)) {
        swarm_breaks(naks->run, "nak",
                     "connection %u: NAK for %u was due at %llu ps and has not left at %llu",
                     connection, receiver->named, U(receiver->last), U(now));
        receiver->judged = false;
    }
}

/* Runs the checks that were due before `now`. */
static void catch_up(struct naks *naks, uint32_t node, uint32_t connection, oche_time now)
{
    struct receiver *receiver = &naks->receivers[connection];

    check_due(naks, node, connection, now);
    while (receiver->judged && receiver->check < now) {
        run_check(naks, receiver);
        check_due(naks, node, connection, now);
    }
}

static void on_arrived(struct naks *naks, uint32_t node, uint32_t connection,
                       const struct oche_trace_record *record)
{
    struct receiver *receiver = &naks->receivers[connection];

    /* If the port was idle, the NAK of the check would have been seen. */
    if (receiver->check == record->time && (receiver->checks >= MOST_CHECKS || receiver->due ||
                                            !port_was_free(naks->ports, node, 0, record->time)))
        receiver->judged = false;
    receiver->checks = 0;
    receiver->opcode = (uint32_t)(record->b >> 32) & 0xff;
}

static void on_behind_gap(const struct naks *naks, struct receiver *receiver,
                          const struct oche_trace_record *record)
{
    uint32_t psn = (uint32_t)record->a;

    receiver->expected = (uint32_t)record->b;
    if (!receiver->any || record->time >= oche_time_add(receiver->last, naks->interval) ||
        (naks->exception && receiver->named != receiver->expected)) {
        owe(receiver, record->time);
        if (receiver->check == record->time)
            receiver->judged = false; /* the check may find that its NAK has just been sent */
    }
    if (!naks->checks || !oche_opcode_has((uint8_t)receiver->opcode, OCHE_OP_LAST))
        return;
    if (receiver->check == OCHE_NEVER || psn > receiver->last_psn)
        receiver->last_psn = psn;
    receiver->check = oche_time_add(receiver->last, naks->interval);
}

static void on_in_order(const struct naks *naks, struct receiver *receiver,
                        const struct oche_trace_record *record)
{
    receiver->expected = (uint32_t)record->a + 1;
    receiver->due = false;
    if (receiver->check == OCHE_NEVER)
        return;
    bool missing = receiver->last_psn + naks->checks_last > receiver->expected;

    receiver->check = missing ? oche_time_add(record->time, naks->interval) : OCHE_NEVER;
}

static void on_answer(struct naks *naks, uint32_t connection,
                      const struct oche_trace_record *record)
{
    struct receiver *receiver = &naks->receivers[connection];
    bool nak = (record->b >> 24 & 0xff) == OCHE_SYNDROME_NAK_SEQUENCE;

    if (nak && !receiver->due && receiver->check == record->time)
        run_check(naks, receiver);
    if (nak != receiver->due || (nak && (uint32_t)record->a != receiver->named)) {
        swarm_breaks(naks->run, "nak", "connection %u: %s for %u at %llu ps, and a NAK is %s",
                     connection, nak ? "NAK" : "ACK", (uint32_t)record->a, U(record->time),
                     receiver->due ? "due" : "not due");
        receiver->judged = false;
    }
    receiver->due = false;
}

static void nak_event(void *context, uint32_t node, const struct oche_trace_record *record)
{
    struct naks *naks = context;
    uint32_t connection = swarm_acked_connection(naks->run, record, naks->count);

    if (connection != UINT32_MAX &&
        node == oche_world_flows(naks->run->world)->connections[connection].dst) {
        struct receiver *receiver = &naks->receivers[connection];

        if (record->kind == OCHE_TRACE_STATE && record->b == OCHE_QP_INIT)
            *receiver = (struct receiver){.judged = true, .check = OCHE_NEVER};
        if (receiver->judged)
            catch_up(naks, node, connection, record->time);
        if (receiver->judged && record->kind == OCHE_TRACE_DATA_ARRIVED)
            on_arrived(naks, node, connection, record);
        else if (receiver->judged && record->kind == OCHE_TRACE_OUT_OF_ORDER)
            on_behind_gap(naks, receiver, record);
        else if (receiver->judged && record->kind == OCHE_TRACE_DELIVERED)
            on_in_order(naks, receiver, record);
        else if (receiver->judged && record->kind == OCHE_TRACE_ACK_SENT)
            on_answer(naks, connection, record);
    }
    port_use_event(naks->ports, node, record);
}

static void free_naks(void *context)
{
    struct naks *naks = context;

    port_use_free(naks->ports);
    free(naks->receivers);
    free(naks);
}

static void *make_naks(struct swarm_run *run)
{
    const struct oche_world_config *config = oche_world_config(run->world);
    const char *name = config->recovery->name;
    bool plain = strcmp(name, "go_back_n") == 0;

    if ((!plain && strcmp(name, "improved_go_back_n") != 0) || swarm_has_late_naks(run->world))
        return NULL;
    struct port_use *ports = port_use_make(run);

    if (ports == NULL)
        return NULL;
    struct naks *naks = calloc(1, sizeof(*naks));

    OCHE_MUST(naks != NULL);
    naks->run = run;
    naks->ports = ports;
    naks->count = oche_world_flows(run->world)->connection_count;
    if (plain) {
        const struct oche_go_back_n_params *params = config->recovery_params;

        naks->interval = params->nak_interval;
        naks->exception = params->nak_exception;
    } else {
        const struct oche_improved_go_back_n_params *params = config->recovery_params;

        naks->interval = params->nak_interval;
        naks->exception = params->nak_exception;
        naks->checks = params->check_epsn;
        naks->checks_last = params->check_last;
    }
    naks->receivers = calloc(naks->count + 1, sizeof(*naks->receivers));
    OCHE_MUST(naks->receivers != NULL);
    return naks;
}

const struct swarm_rule swarm_nak_interval_rule = {
    .make = make_naks, .event = nak_event, .free = free_naks};
