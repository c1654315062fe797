/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Causes of timeouts, in the clear case: a packet was lost, its NAK was lost, too, and nothing else
 * could have repaired the loss. Such timeouts must be counted as caused by a lost NAK.
 */
#include <stdlib.h>
#include <string.h>

#include "core/wire/aeth.h"
#include "core/wire/opcode.h"
#include "sim/world/internal.h"
#include "tests/swarm/watch.h"

struct loss {
    bool data; /* a packet was lost, the first one of the connection */
    bool nak;  /* and then the NAK for it was lost */
    bool over; /* other events have followed */
    uint32_t psn;
};

struct naks {
    struct swarm_run *run;
    struct loss *losses; /* by connection */
    uint32_t count;
    uint64_t sure; /* timeouts with a known cause */
    /* The packet that was sent or arrived last; it may be lost. */
    uint32_t qpn, psn;
    bool data, nak;
};

static void note(struct naks *naks, const struct oche_packet *packet)
{
    const struct oche_opcode_row *row = oche_opcode(packet->opcode);

    naks->data = naks->nak = false;
    if (packet->kind != OCHE_PACKET_ROCE)
        return;
    naks->qpn = packet->dest_qpn;
    naks->psn = packet->psn;
    naks->data = (row->flags & OCHE_OP_REQUEST) != 0;
    naks->nak = row->operation == OCHE_OPERATION_ACK &&
                oche_aeth_syndrome(packet) == OCHE_SYNDROME_NAK_SEQUENCE;
}

static void nak_packet(void *context, uint32_t port, const struct oche_packet *packet,
                       oche_time now)
{
    (void)port;
    (void)now;
    note(context, packet);
}

static void on_lost(struct naks *naks, struct loss *loss, const struct oche_trace_record *record)
{
    if (naks->qpn != record->qpn || naks->psn != record->b)
        return;
    if (naks->data && !loss->data) {
        loss->data = true;
        loss->psn = naks->psn;
    } else if (naks->data && naks->psn == loss->psn) {
        loss->over = true;
    } else if (naks->nak && loss->data && naks->psn == loss->psn) {
        loss->nak = true;
    }
}

static void nak_event(void *context, uint32_t node, const struct oche_trace_record *record)
{
    struct naks *naks = context;
    uint32_t connection = swarm_connection(record, naks->count);

    (void)node;
    if (connection == UINT32_MAX)
        return;
    struct loss *loss = &naks->losses[connection];

    switch (record->kind) {
    case OCHE_TRACE_DROPPED:
        on_lost(naks, loss, record);
        break;
    case OCHE_TRACE_DATA_SENT:
        loss->over |= loss->data && record->a == loss->psn;
        break;
    case OCHE_TRACE_ACK_ARRIVED:
        loss->over |= (record->b >> 24 & 0xff) == OCHE_SYNDROME_NAK_SEQUENCE;
        break;
    case OCHE_TRACE_TIMEOUT:
        naks->sure +=
            loss->nak && !loss->over && record->time >= naks->run->world->config->run.warmup;
        loss->over = true;
        break;
    case OCHE_TRACE_GO_BACK:
    case OCHE_TRACE_RESTARTED:
    case OCHE_TRACE_STATE:
        loss->over |= loss->data;
        break;
    default:
        break;
    }
}

static void nak_end(void *context)
{
    struct naks *naks = context;
    uint64_t counted = naks->run->world->timeout_causes[OCHE_TIMEOUT_NAK_LOST];

    if (counted < naks->sure)
        swarm_breaks(naks->run, "causes",
                     "%llu timeouts are those of a lost NAK, and %llu are said",
                     (unsigned long long)naks->sure, (unsigned long long)counted);
}

static void *make_naks(struct swarm_run *run)
{
    const struct oche_world_config *config = run->world->config;

    if (config->endpoint != NULL || config->failure_count > 0 ||
        strcmp(config->recovery->name, "go_back_0") == 0)
        return NULL;
    struct naks *naks = calloc(1, sizeof(*naks));

    OCHE_MUST(naks != NULL);
    naks->run = run;
    naks->count = oche_world_flows(run->world)->connection_count;
    naks->losses = calloc(naks->count + 1, sizeof(*naks->losses));
    OCHE_MUST(naks->losses != NULL);
    return naks;
}

static void free_naks(void *context)
{
    struct naks *naks = context;

    free(naks->losses);
    free(naks);
}

const struct swarm_rule swarm_nak_rule = {.make = make_naks,
                                          .event = nak_event,
                                          .sent = nak_packet,
                                          .arrived = nak_packet,
                                          .end = nak_end,
                                          .free = free_naks};
