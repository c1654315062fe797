/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Assigns connections to flows: one per flow, per ordered pair of hosts, or per chain. Numbers are
 * given by a key (the flow, the pair, or the chain's first flow), as if all flows were known; the
 * flows of a source are counted, and get their connections when they are made.
 */
#include <stdlib.h>
#include <string.h>

#include "core/random.h"
#include "sim/engine/sparse_memory.h"
#include "sim/network/flow_internal.h"

/* Flows that are next to each other in the order of connections. */
struct item {
    uint64_t key;   /* flows with the same key share a connection */
    uint32_t flow;  /* the first flow of the connection */
    uint32_t count; /* number of connections; more than 1: those of a source */
    uint64_t bytes;
    struct oche_flow_source *source; /* NULL: a listed flow, or some flows of sources by pair */
};

struct items {
    struct item *list;
    size_t count, capacity;
};

/* The connections of pairs of hosts, for sources that draw receivers or sizes. */
struct oche_flow_pairs {
    uint32_t count;
    struct pair {
        uint64_t key;
        uint32_t connection;
    } pair[]; /* by key */
};

#define EACH_KEY (UINT64_C(1) << 63) /* flows that share no connection come after pairs */

/* The bits of a pair's key: a channel at the bottom, hosts by their places, a tenant, flags. */
enum {
    KEY_DST = 12,
    KEY_SRC = 32,
    KEY_TENANT = 52,
    KEY_PRIORITY = 60,
    KEY_READ = 61,
    KEY_JOB = 62
};
_Static_assert(OCHE_FLOW_MOST_HOSTS == 1 << (KEY_SRC - KEY_DST), "a host's bits");
_Static_assert(OCHE_FLOW_CHANNELS == 1 << KEY_DST, "a channel's bits");

/* Connections of jobs are their own: those of sources with `at`, for each pair and channel. */
static uint64_t pair_key(const struct oche_flows *flows, const struct oche_flow_plan *flow,
                         bool job)
{
    const uint32_t *place_of = flows->sources.place_of;
    const uint64_t src = place_of == NULL ? flow->src : place_of[flow->src];
    const uint64_t dst = place_of == NULL ? flow->dst : place_of[flow->dst];

    return (uint64_t)job << KEY_JOB | (uint64_t)(flow->verb == OCHE_VERB_READ) << KEY_READ |
           (uint64_t)flow->priority << KEY_PRIORITY | (uint64_t)flow->tenant << KEY_TENANT |
           src << KEY_SRC | dst << KEY_DST | flow->channel;
}

/* Returns the host that stands at a place in a pair's key. */
static uint32_t host_at(const struct oche_flows *flows, uint64_t place)
{
    const uint32_t *at_place = flows->sources.at_place;

    place &= OCHE_FLOW_MOST_HOSTS - 1;
    return at_place == NULL ? (uint32_t)place : at_place[place];
}

static struct oche_connection ends_of(const struct oche_flow_plan *flow)
{
    return (struct oche_connection){.src = flow->src,
                                    .dst = flow->dst,
                                    .priority = flow->priority != 0,
                                    .reads = flow->verb == OCHE_VERB_READ,
                                    .tenant = (uint8_t)flow->tenant};
}

static void add_item(struct items *items, const struct item *item)
{
    if (items->count == items->capacity) {
        items->capacity = items->capacity < 256 ? 256 : items->capacity * 2;
        items->list = realloc(items->list, items->capacity * sizeof(*items->list));
        if (items->list == NULL)
            oche_panic(__FILE__, __LINE__, "out of memory for flows");
    }
    items->list[items->count++] = *item;
}

static int compare_items(const void *left, const void *right)
{
    const struct item *a = left, *b = right;

    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return a->flow < b->flow ? -1 : a->flow > b->flow;
}

/* ---- listed flows ---- */

/* True if the listed flow `flow` is not the last flow of its chain. */
static bool goes_on(const struct oche_flow_plan *plan, uint32_t flow)
{
    uint32_t next = plan[flow].then_same_source;

    return next != OCHE_NO_FLOW && plan[next].dst == plan[flow].dst &&
           plan[next].src == plan[flow].src && plan[flow].supply_bps == 0 &&
           plan[next].supply_bps == 0 && plan[next].tenant == plan[flow].tenant;
}

static bool is_listed(const struct oche_flows *flows, uint32_t flow)
{
    return oche_flow_sources_find(&flows->sources, flow) == NULL;
}

/*
 * Finds, for each listed flow, the first flow of its chain. The array is to be freed by
 * oche_sparse_free.
 */
static uint32_t *find_heads(const struct oche_flows *flows)
{
    uint32_t *heads = oche_flows_memory(flows->count, sizeof(*heads));
    bool *follows = oche_flows_memory(flows->count, sizeof(*follows));

    for (OCHE_EACH_MADE_FLOW(i, flows))
        if (is_listed(flows, i) && goes_on(flows->plan, i))
            follows[flows->plan[i].then_same_source] = true;
    for (OCHE_EACH_MADE_FLOW(i, flows)) {
        if (!is_listed(flows, i) || follows[i])
            continue;
        heads[i] = i;
        for (uint32_t at = i; goes_on(flows->plan, at);)
            heads[at = flows->plan[at].then_same_source] = i;
    }
    oche_sparse_free(follows);
    return heads;
}

/* Notes what endpoints must know of all flows. */
static void note(struct oche_flows *flows, const struct oche_flow_plan *flow)
{
    if (flow->bytes > flows->most_bytes)
        flows->most_bytes = flow->bytes;
    flows->writes |= flow->verb == OCHE_VERB_WRITE;
    flows->sends |= flow->verb == OCHE_VERB_SEND;
    flows->reads |= flow->verb == OCHE_VERB_READ;
}

static void add_listed(struct oche_flows *flows, uint32_t number, enum oche_connections per,
                       const uint32_t *heads, struct items *items)
{
    const struct oche_flow_plan *flow = &flows->plan[number];
    uint64_t key = number;

    note(flows, flow);
    if (per == OCHE_CONNECTION_PER_PAIR)
        key = flow->supply_bps > 0 ? EACH_KEY | number : pair_key(flows, flow, false);
    else if (per == OCHE_CONNECTION_PER_CHAIN)
        key = heads[number];
    add_item(items, &(struct item){.key = key, .flow = number, .count = 1, .bytes = flow->bytes});
}

/* ---- flows of sources ---- */

/* A set of pairs of hosts, with the flows and bytes of each: open addressing. */
struct pair_set {
    struct item *slots; /* count 0: empty */
    size_t used, capacity;
};

static struct item *find_slot(const struct pair_set *set, uint64_t key)
{
    size_t at = oche_mix64(key) & (set->capacity - 1);

    while (set->slots[at].count != 0 && set->slots[at].key != key)
        at = (at + 1) & (set->capacity - 1);
    return &set->slots[at];
}

static void make_room(struct pair_set *set)
{
    struct pair_set larger = {.capacity = set->capacity == 0 ? 256 : set->capacity * 2};

    if (set->used * 2 < set->capacity)
        return;
    larger.slots = calloc(larger.capacity, sizeof(*larger.slots));
    if (larger.slots == NULL)
        oche_panic(__FILE__, __LINE__, "out of memory for flows");
    for (size_t i = 0; i < set->capacity; i++)
        if (set->slots[i].count != 0)
            *find_slot(&larger, set->slots[i].key) = set->slots[i];
    larger.used = set->used;
    free(set->slots);
    *set = larger;
}

static void add_to_pair(const struct oche_flows *flows, struct pair_set *set,
                        const struct oche_flow_source *source)
{
    const struct oche_flow_plan *flow = &source->flow;
    const uint32_t number = source->first + source->made - 1;
    const uint64_t key = pair_key(flows, flow, source->at != NULL);
    struct item *slot;

    make_room(set);
    slot = find_slot(set, key);
    if (slot->count == 0) {
        *slot = (struct item){.key = key, .flow = number};
        set->used++;
    }
    slot->count++;
    slot->bytes += flow->bytes;
}

/*
 * Draws a copy of the source's flows to count them: by host if each has a connection, by pair of
 * hosts if `set` is not NULL. Returns their bytes.
 */
static uint64_t count_flows(struct oche_flows *flows, const struct oche_flow_source *source,
                            struct pair_set *set)
{
    struct oche_flow_source copy = oche_flow_source_copy(source);
    uint64_t bytes = 0;

    do {
        bytes += copy.flow.bytes;
        note(flows, &copy.flow);
        if (set != NULL)
            add_to_pair(flows, set, &copy);
        else if (source->each) {
            flows->host_connections[copy.flow.src]++;
            flows->host_connections[copy.flow.dst]++;
        }
    } while (oche_flow_source_draw(&copy));
    OCHE_MUST(copy.made == copy.count);
    return bytes;
}

static void add_source(struct oche_flows *flows, struct oche_flow_source *source,
                       enum oche_connections per, struct pair_set *set, struct items *items)
{
    bool supplied = source->flow.supply_bps > 0;
    struct item item = {
        .key = source->first, .flow = source->first, .count = source->count, .source = source};

    source->each = per == OCHE_CONNECTION_PER_FLOW || supplied ||
                   (per == OCHE_CONNECTION_PER_CHAIN && !source->chain);
    source->by_pair = source->at != NULL ||
                      (per == OCHE_CONNECTION_PER_PAIR && !supplied && source->draw != NULL);
    source->each = source->each && !source->by_pair;
    if (source->by_pair) {
        count_flows(flows, source, set);
        return;
    }
    if (per == OCHE_CONNECTION_PER_PAIR)
        item.key = supplied ? EACH_KEY | source->first : pair_key(flows, &source->flow, false);
    if (source->draw != NULL) {
        item.bytes = count_flows(flows, source, NULL);
    } else {
        item.bytes = source->count * source->flow.bytes;
        note(flows, &source->flow);
        flows->host_connections[source->flow.src] += source->each ? source->count : 0;
        flows->host_connections[source->flow.dst] += source->each ? source->count : 0;
    }
    add_item(items, &item);
}

/* ---- connections ---- */

static void list_items(struct oche_flows *flows, enum oche_connections per, struct pair_set *set,
                       struct items *items)
{
    uint32_t *heads = per == OCHE_CONNECTION_PER_CHAIN ? find_heads(flows) : NULL;

    for (uint32_t i = 0; i < flows->count;) {
        struct oche_flow_source *source = oche_flow_sources_find(&flows->sources, i);

        if (source != NULL)
            add_source(flows, source, per, set, items);
        else
            add_listed(flows, i, per, heads, items);
        i += source != NULL ? source->count : 1;
    }
    for (size_t i = 0; i < set->capacity; i++)
        if (set->slots[i].count != 0)
            add_item(items, &set->slots[i]);
    oche_sparse_free(heads);
}

/* Keeps the connections of pairs; `of` has the connection of each item. */
static void keep_pairs(struct oche_flows *flows, const struct items *items, const uint32_t *of)
{
    struct oche_flow_pairs *pairs =
        oche_flows_memory(1, sizeof(*pairs) + items->count * sizeof(pairs->pair[0]));

    for (size_t i = 0; i < items->count; i++)
        if (i == 0 || items->list[i].key != items->list[i - 1].key)
            pairs->pair[pairs->count++] = (struct pair){items->list[i].key, of[i]};
    flows->pairs = pairs;
}

/* Returns a connection with the ends of an item's first flow. */
static struct oche_connection ends_of_item(const struct oche_flows *flows, const struct item *item)
{
    if (oche_flow_is_made(flows, item->flow))
        return ends_of(&flows->plan[item->flow]);
    return (struct oche_connection){.src = host_at(flows, item->key >> KEY_SRC),
                                    .dst = host_at(flows, item->key >> KEY_DST),
                                    .reads = (item->key >> KEY_READ & 1) != 0,
                                    .priority = (item->key >> KEY_PRIORITY & 1) != 0,
                                    .tenant = (uint8_t)(item->key >> KEY_TENANT)};
}

/* Numbers the connections, in the order of the sorted items. Returns the connection of each. */
static uint32_t *number_connections(struct oche_flows *flows, const struct items *items)
{
    uint32_t *of = oche_flows_memory(items->count, sizeof(*of)), made = 0, place = 0;
    struct oche_connection *last = NULL;

    for (size_t i = 0; i < items->count; i++) {
        const struct item *item = &items->list[i];
        bool each = item->source != NULL && item->source->each;

        if (each) {
            of[i] = made;
            item->source->order = place;
            made += item->count;
        } else if (i == 0 || item->key != items->list[i - 1].key) {
            of[i] = made;
            last = &flows->connections[made++];
            *last = ends_of_item(flows, item);
            last->first = place;
            flows->host_connections[last->src]++;
            flows->host_connections[last->dst]++;
        } else {
            of[i] = made - 1;
        }
        if (!each) {
            last->count += item->count;
            last->bytes += item->bytes;
        }
        place += item->count;
    }
    OCHE_MUST(place == flows->count);
    flows->connection_count = made;
    return of;
}

void oche_flows_connect(struct oche_flows *flows, uint32_t host_count, enum oche_connections per)
{
    struct items items = {.count = 0};
    struct pair_set set = {.used = 0};
    uint32_t *of;

    flows->connections = oche_flows_memory(flows->count, sizeof(*flows->connections));
    flows->order = oche_flows_memory(flows->count, sizeof(*flows->order));
    flows->host_connections = oche_flows_memory(host_count, sizeof(*flows->host_connections));
    list_items(flows, per, &set, &items);
    if ((per != OCHE_CONNECTION_PER_FLOW || set.used > 0) && items.count > 0)
        qsort(items.list, items.count, sizeof(*items.list), compare_items);
    of = number_connections(flows, &items);
    if (set.used > 0)
        keep_pairs(flows, &items, of);
    for (size_t i = 0; i < items.count; i++) {
        if (items.list[i].source != NULL)
            items.list[i].source->connection = of[i];
        else if (is_listed(flows, items.list[i].flow))
            flows->owned_plan[items.list[i].flow].connection = of[i];
    }
    flows->each = oche_flows_memory(flows->sources.count, sizeof(*flows->each));
    for (uint32_t i = 0; i < flows->sources.count; i++) {
        if (flows->sources.list[i].at != NULL)
            continue;
        oche_flows_connect_drawn(flows, &flows->sources.list[i], flows->sources.list[i].first);
        /* the numbers of connections rise with the numbers of flows */
        if (flows->sources.list[i].each)
            flows->each[flows->each_count++] = i;
    }
    oche_sparse_free(of);
    free(items.list);
    free(set.slots);
}

const struct oche_flow_source *oche_flows_source_of_connection(const struct oche_flows *flows,
                                                               uint32_t number)
{
    const struct oche_flow_source *list = flows->sources.list, *source;
    uint32_t low = 0,
             high = flows->each_count; /* those before `low` begin at `number` or earlier */

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (list[flows->each[middle]].connection <= number)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return NULL;
    source = &list[flows->each[low - 1]];
    return number - source->connection < source->count ? source : NULL;
}

uint32_t oche_flows_next_connection(const struct oche_flows *flows, uint32_t from)
{
    if (from < flows->connection_count)
        oche_flows_read_connection(flows, from);
    while (from < flows->connection_count) {
        const struct oche_flow_source *source = oche_flows_source_of_connection(flows, from);

        if (source == NULL || from - source->connection < source->made)
            return from;
        from = source->connection + source->count;
    }
    return flows->connection_count;
}

uint32_t oche_flows_connection_of(const struct oche_flows *flows,
                                  const struct oche_flow_source *source, uint32_t number,
                                  const struct oche_flow_plan *plan)
{
    uint64_t key;
    uint32_t low = 0, high;

    if (!source->by_pair)
        return source->connection + (source->each ? number - source->first : 0);
    key = pair_key(flows, plan, source->at != NULL);
    for (high = flows->pairs->count; low < high;) {
        uint32_t middle = low + (high - low) / 2;

        if (flows->pairs->pair[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    OCHE_MUST(low < flows->pairs->count && flows->pairs->pair[low].key == key);
    return flows->pairs->pair[low].connection;
}

void oche_flows_connect_drawn(struct oche_flows *flows, const struct oche_flow_source *source,
                              uint32_t number)
{
    struct oche_flow_plan *plan = &flows->owned_plan[number];
    struct oche_connection *connection;

    plan->connection = oche_flows_connection_of(flows, source, number, plan);
    if (!source->each)
        return;
    connection = &flows->connections[plan->connection];
    *connection = ends_of(plan);
    connection->first = source->order + (number - source->first);
    connection->count = 1;
    connection->bytes = plan->bytes;
}
