/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LetFlow: the packets of a flow take one path, until the flow pauses for more than `gap`; then the
 * next flowlet takes a path at random (load-balancing.md#letflow). Flows on a congested path pause
 * more often, and so leave it. A gap that is longer than paths differ in delay keeps the order.
 *
 * A flow is a queue pair in one direction: destination, source, and number of the queue pair. Its
 * last packet's time and port are in a table of `entries` in groups of WAYS. A flow without an
 * entry takes one that is free, or else the one that has rested longest, if that is longer than
 * the gap: then the entry says nothing any more. So entries need no ageing of their own. If there
 * is none, the packet takes ECMP's path.
 */
#include "core/random.h"
#include "fabric/equal_ports.h"
#include "fabric/mechanism.h"

#define WAYS 4

struct letflow_params {
    oche_time gap;
    uint64_t entries;
    bool control;
};

static const struct oche_param params[] = {
    {OCHE_PARAM(struct letflow_params, gap), OCHE_IS_TIME(100 * OCHE_US, OCHE_NS, OCHE_SEC),
     .where = "ConWeave-sim; load-balancing.md#letflow",
     .help = "a flow that pauses for longer may take another path"},
    {OCHE_PARAM(struct letflow_params, entries), OCHE_IS_COUNT(4096, WAYS, 1 << 20),
     .where = "our choice", .usual_most = 4096,
     .help = "flows that a switch remembers, rounded up to a power of two"},
    {OCHE_PARAM(struct letflow_params, control), OCHE_IS_BOOL(true),
     .where = "load-balancing.md#control",
     .help = "also packets without payload, such as ACKs and CNPs; false: these take ECMP's path"},
};

static const struct oche_param_table table = OCHE_PARAM_TABLE(params, struct letflow_params);

enum { FLOWLETS, MOVED, NO_ENTRY, COUNTERS };

static const struct oche_switch_counter counters[COUNTERS] = {
    [FLOWLETS] = {"flowlets", "times that a flow began, or went on after a gap", false},
    [MOVED] = {"moved", "flowlets that took another port than the flowlet before", false},
    [NO_ENTRY] = {"refused_no_entry", "packets that took ECMP's path as the table was full", false},
};

struct entry {
    oche_time last; /* time of the flow's last packet */
    uint32_t src, dst, qpn;
    uint16_t port;
    bool used;
};

struct letflow {
    const struct letflow_params *params;
    struct oche_random random;
    uint32_t sets; /* of WAYS entries; a power of two */
    uint64_t counted[COUNTERS];
    struct entry entries[];
};

/* Returns the number of sets of WAYS entries. */
static uint32_t sets_of(const struct letflow_params *p)
{
    uint32_t sets = 1;

    while ((uint64_t)sets * WAYS < p->entries)
        sets *= 2;
    return sets;
}

static size_t state_bytes(const struct oche_switch_config *config, const void *values)
{
    (void)config;
    return sizeof(struct letflow) + (size_t)sets_of(values) * WAYS * sizeof(struct entry);
}

static void create(void *state, const struct oche_switch_config *config, const void *values)
{
    struct letflow *letflow = state;

    letflow->params = values;
    letflow->random = oche_random_stream(config->seed, "letflow", config->node);
    letflow->sets = sets_of(values);
}

static bool is_of(const struct entry *entry, const struct oche_packet *packet)
{
    return entry->used && entry->dst == packet->dst && entry->src == packet->src &&
           entry->qpn == packet->dest_qpn;
}

/*
 * Returns the flow's entry, or one that it may take: that is one of another flow, or of none.
 * Returns NULL if there is no such entry.
 */
static struct entry *find(struct letflow *letflow, const struct oche_packet *packet, oche_time now)
{
    const uint64_t flow = (uint64_t)packet->src << 32 ^ (uint64_t)packet->dst << 24;
    const uint64_t hash = oche_mix64(oche_mix64(flow) ^ packet->dest_qpn);
    struct entry *set = letflow->entries + (hash & (letflow->sets - 1)) * WAYS, *oldest = set;

    for (unsigned way = 0; way < WAYS; way++)
        if (is_of(&set[way], packet))
            return &set[way];
    for (unsigned way = 0; way < WAYS; way++) {
        if (!set[way].used)
            return &set[way];
        if (set[way].last < oldest->last)
            oldest = &set[way];
    }
    return now - oldest->last > letflow->params->gap ? oldest : NULL;
}

/* True if the flow's next packet must take the entry's port. */
static bool goes_on(const struct letflow *letflow, const struct oche_switch *sw,
                    const struct oche_equal_ports *equal, const struct entry *entry, oche_time now)
{
    if (now - entry->last > letflow->params->gap || !oche_equal_port_is_up(sw, entry->port))
        return false;
    for (uint32_t i = 0; i < equal->count; i++)
        if (equal->ports[i] == entry->port)
            return true;
    return false; /* there are other routes now */
}

static int route(void *state, struct oche_switch *sw, unsigned in_port, struct oche_packet *packet,
                 int port, oche_time now)
{
    struct letflow *letflow = state;
    const struct oche_equal_ports equal = oche_equal_ports(sw, packet, letflow->params->control);

    (void)in_port;
    if (equal.count == 0)
        return port;
    struct entry *entry = find(letflow, packet, now);

    if (entry == NULL) {
        letflow->counted[NO_ENTRY]++;
        return port;
    }
    const bool known = is_of(entry, packet);

    if (!known || !goes_on(letflow, sw, &equal, entry, now)) {
        const uint32_t at = (uint32_t)oche_random_below(&letflow->random, equal.count);
        const int next = oche_equal_port_from(sw, &equal, at, port);

        letflow->counted[FLOWLETS]++;
        letflow->counted[MOVED] += known && next != entry->port;
        *entry = (struct entry){.src = packet->src,
                                .dst = packet->dst,
                                .qpn = packet->dest_qpn,
                                .port = (uint16_t)next,
                                .used = true};
    }
    entry->last = now;
    return entry->port;
}

static void read_counters(const void *state, uint64_t *values)
{
    const struct letflow *letflow = state;

    for (unsigned i = 0; i < COUNTERS; i++)
        values[i] = letflow->counted[i];
}

static void reset_counters(void *state)
{
    struct letflow *letflow = state;

    for (unsigned i = 0; i < COUNTERS; i++)
        letflow->counted[i] = 0;
}

const struct oche_switch_mechanism oche_letflow = {
    .name = "letflow",
    .help = "a flow that has paused for a while takes another of the equal paths at random",
    .params = &table,
    .balances = true,
    .state_bytes = state_bytes,
    .create = create,
    .route = route,
    .counters = counters,
    .counter_count = COUNTERS,
    .read_counters = read_counters,
    .reset_counters = reset_counters,
};
