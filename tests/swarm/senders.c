/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Senders and receivers of RNICs, checked from the trace:
 * - no more is outstanding than the window allows;
 * - packets are full, but for the last one of a message;
 * - the last packet is sent twice where it must be, and at once;
 * - selective repeat waits at most its short timeout when little is outstanding, and answers
 * duplicates at once.
 */
#include <stdlib.h>
#include <string.h>

#include "core/recovery/improved_go_back_n.h"
#include "core/recovery/selective_repeat.h"
#include "core/wire/opcode.h"
#include "fabric/ib_credits.h"
#include "fabric/iofd.h"
#include "sim/network/host.h"
#include "tests/swarm/port_use.h"

#define NAK_SEQUENCE 0x60
#define FIRST_WAIT   (2 * OCHE_MS)

struct side {
    uint32_t una, high; /* high: one more than the last packet that was sent */
    oche_time last;     /* when something was last sent, acknowledged or repeated */
    uint32_t twice;     /* this packet must be sent again next; valid if `again` */
    bool again;
    bool held;       /* a rate or a window may delay the packet */
    uint32_t before; /* PSN that was sent before; valid if `sent` */
    bool sent;
    oche_time duplicate; /* of the receiver: when an unanswered duplicate arrived */
};

struct senders {
    struct swarm_run *run;
    struct side *sides; /* by connection */
    uint32_t count, window, mtu;
    const struct oche_improved_go_back_n_params
        *improved; /* NULL: the last packet is sent only once */
    const struct oche_selective_repeat_params *selective; /* or NULL */
    struct port_use *ports;                               /* or NULL: not known */
    bool restarts; /* acknowledged packets may be sent again */
    bool at_once;  /* at line rate, a packet waits only for the port */
};

static void check_size(struct senders *senders, uint32_t connection, uint32_t opcode,
                       uint64_t bytes)
{
    bool last = oche_opcode_has((uint8_t)opcode, OCHE_OP_LAST);

    if (bytes > senders->mtu || bytes == 0 || (!last && bytes != senders->mtu))
        swarm_breaks(senders->run, "size", "connection %u sends %llu bytes, opcode %u, MTU %u",
                     connection, (unsigned long long)bytes, opcode, senders->mtu);
}

static void on_sent(struct senders *senders, uint32_t connection,
                    const struct oche_trace_record *record)
{
    struct side *side = &senders->sides[connection];
    uint32_t psn = (uint32_t)record->a, opcode = (uint32_t)(record->b >> 32) & 0xff;
    bool last = oche_opcode_has((uint8_t)opcode, OCHE_OP_LAST);

    check_size(senders, connection, opcode, record->b & UINT32_MAX);
    if (psn + 1 > side->high)
        side->high = psn + 1;
    if (senders->window != 0 && !senders->restarts && psn + 1 > side->una + senders->window)
        swarm_breaks(senders->run, "window", "connection %u sends %u, and %u is not acknowledged",
                     connection, psn, side->una);
    if (side->again && psn != side->twice)
        swarm_breaks(senders->run, "twice",
                     "connection %u sends %u, and its last packet %u left once", connection, psn,
                     side->twice);
    if (senders->improved != NULL) {
        side->again = last && !(side->sent && side->before == psn);
        side->twice = psn;
    }
    side->before = psn;
    side->sent = !(senders->improved != NULL && last && !side->again);
    side->last = record->time;
}

static void on_ack(struct side *side, const struct oche_trace_record *record)
{
    bool nak = (record->b >> 24 & 0xff) == NAK_SEQUENCE;
    uint32_t una = nak ? (uint32_t)record->a : (uint32_t)record->a + 1;

    if (nak && una >= side->una)
        side->sent = false; /* the next packet is the first of a new pass */
    if (una > side->una)
        side->una = una;
    side->again = false; /* no second copy is necessary any more */
    side->last = record->time;
}

/*
 * Returns the longest possible wait. If few packets are outstanding, selective repeat's timer was
 * set to the short time, as no more were outstanding then; or, after the last retry, to the
 * connection's own timeout. With the ConnectX's own timeouts the first in a row is the shortest.
 */
static oche_time longest_wait(const struct senders *senders, const struct side *side,
                              uint64_t retries)
{
    const struct oche_host_params *hosts = &oche_world_config(senders->run->world)->hosts;

    if (hosts->timeouts == OCHE_TIMEOUTS_AS_ASKED && swarm_has_own_timeouts(senders->run->world))
        return OCHE_NEVER; /* a profile's */
    if (hosts->timeouts != OCHE_TIMEOUTS_AS_ASKED)
        return retries == hosts->retry_count ? FIRST_WAIT : OCHE_NEVER;
    if (senders->selective == NULL || side->high - side->una > senders->selective->few_packets ||
        retries == 0 || senders->selective->rto == OCHE_SELECTIVE_RTO_MEASURED)
        return OCHE_NEVER; /* it measures round trips, which this rule does not know */
    return senders->selective->rto_low;
}

static void on_timeout(struct senders *senders, uint32_t connection,
                       const struct oche_trace_record *record)
{
    struct side *side = &senders->sides[connection];
    oche_time longest = longest_wait(senders, side, record->b);

    if (record->time > oche_time_add(side->last, longest))
        swarm_breaks(senders->run, "timeout",
                     "connection %u with %u packets outstanding waits %llu ps, not %llu",
                     connection, side->high - side->una,
                     (unsigned long long)(record->time - side->last), (unsigned long long)longest);
    side->again = side->sent = false;
    side->last = record->time;
}

static void on_receiver(struct senders *senders, uint32_t node, uint32_t connection,
                        const struct oche_trace_record *record)
{
    struct side *side = &senders->sides[connection];

    if (senders->selective == NULL || senders->ports == NULL ||
        swarm_has_late_naks(senders->run->world))
        return;
    if (side->duplicate != OCHE_NEVER &&
        port_was_free(senders->ports, node, side->duplicate, record->time))
        swarm_breaks(senders->run, "answer",
                     "connection %u got a duplicate at %llu ps, and answers nothing until %llu",
                     connection, (unsigned long long)side->duplicate,
                     (unsigned long long)record->time);
    if (record->kind == OCHE_TRACE_ACK_SENT)
        side->duplicate = OCHE_NEVER;
    else if (record->kind == OCHE_TRACE_DUPLICATE && side->duplicate == OCHE_NEVER)
        side->duplicate = record->time;
}

/* An idle port must have sent what had to be repeated. */
static void check_again(struct senders *senders, uint32_t node, uint32_t connection, oche_time now)
{
    const struct side *side = &senders->sides[connection];

    if (side->again && !side->held && senders->at_once && senders->ports != NULL &&
        port_was_free(senders->ports, node, side->last, now))
        swarm_breaks(senders->run, "twice",
                     "connection %u: last packet %u left once, at %llu ps, and not again at %llu",
                     connection, side->twice, (unsigned long long)side->last,
                     (unsigned long long)now);
}

/* True if the flow has a rate of its own. */
static bool has_rate(const struct senders *senders, uint64_t flow)
{
    const struct oche_flow_plan *plan = &oche_world_flows(senders->run->world)->plan[flow];

    return plan->initial_rate_bps != 0 || plan->supply_bps != 0;
}

static void on_sender(struct senders *senders, uint32_t node, uint32_t number,
                      const struct oche_trace_record *record)
{
    struct side *side = &senders->sides[number];

    check_again(senders, node, number, record->time);
    switch (record->kind) {
    case OCHE_TRACE_DATA_SENT:
        on_sent(senders, number, record);
        break;
    case OCHE_TRACE_ACK_ARRIVED:
        on_ack(side, record);
        break;
    case OCHE_TRACE_TIMEOUT:
        on_timeout(senders, number, record);
        break;
    case OCHE_TRACE_GO_BACK:
    case OCHE_TRACE_RESTARTED:
    case OCHE_TRACE_STATE:
        side->again = side->sent = false;
        side->last = record->time;
        break;
    case OCHE_TRACE_CNP_ARRIVED:
        side->last = record->time;
        break;
    case OCHE_TRACE_FLOW_STARTED:
        side->held |= has_rate(senders, record->a);
        break;
    case OCHE_TRACE_RATE_CHANGED:
    case OCHE_TRACE_WINDOW_CHANGED:
        side->held = true;
        break;
    default:
        break;
    }
}

static void sender_event(void *context, uint32_t node, const struct oche_trace_record *record)
{
    struct senders *senders = context;
    uint32_t number = swarm_acked_connection(senders->run, record, senders->count);

    if (number != UINT32_MAX) {
        const struct oche_connection *connection =
            &oche_world_flows(senders->run->world)->connections[number];

        if (node == connection->src)
            on_sender(senders, node, number, record);
        else if (node == connection->dst)
            on_receiver(senders, node, number, record);
    }
    if (senders->ports != NULL)
        port_use_event(senders->ports, node, record);
}

static void *make_senders(struct swarm_run *run)
{
    const struct oche_world_config *config = oche_world_config(run->world);

    if (config->endpoint != NULL)
        return NULL;
    struct senders *senders = calloc(1, sizeof(*senders));
    bool deflects = oche_world_mechanism(config, &oche_iofd) != NULL;

    OCHE_MUST(senders != NULL);
    senders->run = run;
    senders->count = oche_world_flows(run->world)->connection_count;
    senders->mtu = (uint32_t)config->hosts.mtu_bytes;
    senders->window = (uint32_t)config->hosts.window_packets;
    senders->restarts = strcmp(config->recovery->name, "go_back_0") == 0;
    if (strcmp(config->recovery->name, "improved_go_back_n") == 0 && !deflects)
        senders->improved = config->recovery_params;
    if (senders->improved != NULL && !senders->improved->send_twice)
        senders->improved = NULL;
    if (strcmp(config->recovery->name, "selective_repeat") == 0)
        senders->selective = oche_world_fitted_recovery(run->world);
    senders->at_once =
        (strcmp(config->cc->name, "none") == 0 || strcmp(config->cc->name, "dcqcn") == 0) &&
        !config->hosts.resend_one_verb_at_a_time;
    if (senders->selective != NULL || senders->improved != NULL)
        senders->ports = port_use_make(run);
    senders->sides = calloc(senders->count + 1, sizeof(*senders->sides));
    OCHE_MUST(senders->sides != NULL);
    for (uint32_t i = 0; i < senders->count; i++)
        senders->sides[i].duplicate = OCHE_NEVER;
    return senders;
}

static void free_senders(void *context)
{
    struct senders *senders = context;

    port_use_free(senders->ports);
    free(senders->sides);
    free(senders);
}

const struct swarm_rule swarm_sender_rule = {
    .make = make_senders, .event = sender_event, .free = free_senders};
