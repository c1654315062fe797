/* SPDX-License-Identifier: Apache-2.0 */
/* A link with a loss pattern loses exactly the packets that the pattern names. */
#include <stdlib.h>
#include <string.h>

#include "sim/world/internal.h"
#include "tests/swarm/watch.h"

#define MOST_ITEMS 8
#define MOST_PSNS  64 /* of an item */
#define U(value)   ((unsigned long long)(value))

struct item {
    enum { ORDINAL, EVERY, PSN } kind;
    uint64_t first, last;
};

struct link {
    uint64_t count;            /* packets that the pattern has counted */
    uint64_t seen[MOST_ITEMS]; /* for patterns of PSNs: a bit for each PSN that was lost */
};

struct losses {
    struct swarm_run *run;
    struct item items[MOST_ITEMS];
    uint32_t item_count;
    bool data_only, acks_only, by_chance;
    struct link *links; /* by port of the network */
    /* The packet that has just been sent on a link with losses. */
    bool waits, named; /* named: the pattern names the packet */
    uint32_t port;
};

/*
 * Reads "7", "10-19", "every 100", "psn 5-8", separated by commas. Returns false if there are too
 * many items.
 */
static bool read_pattern(struct losses *losses, const char *at)
{
    while (at != NULL && *at != '\0') {
        struct item *item = &losses->items[losses->item_count++];
        char *end;

        if (losses->item_count > MOST_ITEMS)
            return false;
        while (*at == ' ' || *at == ',')
            at++;
        item->kind = *at == 'e' ? EVERY : *at == 'p' ? PSN : ORDINAL;
        item->first = item->last = strtoull(at + strcspn(at, "0123456789"), &end, 10);
        if (*end == '-')
            item->last = strtoull(end + 1, &end, 10);
        if (item->kind == PSN && item->last - item->first >= MOST_PSNS)
            return false;
        at = strchr(end, ',');
    }
    return true;
}

/* True for responses without data, for which no READ or atomic waits. */
static bool is_ack(const struct oche_packet *packet)
{
    const bool tcp = packet->kind == OCHE_PACKET_TCP;

    return packet->payload_bytes == 0 &&
           (tcp || (packet->kind == OCHE_PACKET_ROCE &&
                    strstr(oche_opcodes[packet->opcode].name, "ACK") != NULL &&
                    strstr(oche_opcodes[packet->opcode].name, "ATOMIC") == NULL));
}

static bool is_named(struct losses *losses, struct link *link, const struct oche_packet *packet)
{
    bool named = false;

    if ((losses->data_only && packet->payload_bytes == 0) || (losses->acks_only && !is_ack(packet)))
        return false;
    link->count++;
    for (uint32_t i = 0; i < losses->item_count; i++) {
        const struct item *item = &losses->items[i];
        uint64_t number = item->kind == PSN ? packet->psn : link->count;

        if (item->kind == EVERY) {
            named |= number % item->first == 0;
        } else if (number >= item->first && number <= item->last) {
            uint64_t bit = UINT64_C(1) << (number - item->first) % MOST_PSNS;

            named |= item->kind == ORDINAL || !(link->seen[i] & bit);
            link->seen[i] |= bit;
        }
    }
    return named;
}

static void settle(struct losses *losses, bool lost)
{
    if (!losses->waits)
        return;
    losses->waits = false;
    if (lost == losses->named || (lost && losses->by_chance) ||
        (lost && losses->run->world->network.extras[losses->port].events != NULL))
        return;
    swarm_breaks(losses->run, "loss", "packet %llu of port %u is %s by the pattern, and is %s",
                 U(losses->links[losses->port].count), losses->port,
                 losses->named ? "named" : "not named", lost ? "lost" : "not lost");
}

static void loss_sent(void *context, uint32_t port, const struct oche_packet *packet, oche_time now)
{
    struct losses *losses = context;

    (void)now;
    settle(losses, false);
    if (oche_packet_is_of_link(packet->kind) ||
        losses->run->world->network.extras[port].loss == NULL)
        return;
    losses->waits = true;
    losses->port = port;
    losses->named = is_named(losses, &losses->links[port], packet);
}

static void loss_event(void *context, uint32_t node, const struct oche_trace_record *record)
{
    (void)node;
    settle(context, record->kind == OCHE_TRACE_DROPPED && record->a == UINT64_C(1) << 32);
}

static void *make_losses(struct swarm_run *run)
{
    const struct oche_loss_params *params = &run->world->config->loss;
    const char *pattern = params->pattern;

    if (pattern == NULL)
        return NULL;
    struct losses *losses = calloc(1, sizeof(*losses));

    OCHE_MUST(losses != NULL);
    losses->run = run;
    losses->by_chance = params->probability > 0;
    for (uint32_t i = 0; i < run->world->config->failure_count; i++)
        losses->by_chance = losses->by_chance || run->world->config->failures[i].loss > 0;
    losses->data_only = strncmp(pattern, "data:", 5) == 0;
    losses->acks_only = strncmp(pattern, "ack:", 4) == 0;
    if (!read_pattern(losses, pattern + (losses->data_only ? 5 : losses->acks_only ? 4 : 0))) {
        free(losses);
        return NULL;
    }
    losses->links = calloc(run->world->network.port_count + 1, sizeof(*losses->links));
    OCHE_MUST(losses->links != NULL);
    return losses;
}

static void free_losses(void *context)
{
    struct losses *losses = context;

    free(losses->links);
    free(losses);
}

const struct swarm_rule swarm_loss_rule = {
    .make = make_losses, .event = loss_event, .sent = loss_sent, .free = free_losses};
