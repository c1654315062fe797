/* SPDX-License-Identifier: Apache-2.0 */
/* Prepares flows: connections and start order. */
#include "sim/network/flow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/qp/work.h"
#include "params/error.h"

#define MOST_HOSTS (UINT32_C(1) << 27)
#define MOST_FLOWS                                                                                 \
    ((UINT32_C(1) << 24) - 64) /* each connection needs a queue pair number, which has 24 bits */

static void *make(size_t count, size_t bytes)
{
    void *memory = calloc(count == 0 ? 1 : count, bytes);

    if (memory == NULL)
        oche_panic(__FILE__, __LINE__, "out of memory for flows");
    return memory;
}

static bool check(const struct oche_flow_plan *plan, uint32_t count, uint32_t host_count,
                  struct oche_error *error)
{
    if (count > MOST_FLOWS)
        return oche_fail(error, "%u flows; at most %u can be run", count, MOST_FLOWS);
    OCHE_MUST(host_count <= MOST_HOSTS);
    for (uint32_t i = 0; i < count; i++) {
        const struct oche_flow_plan *flow = &plan[i];
        if (flow->src >= host_count || flow->dst >= host_count || flow->src == flow->dst)
            return oche_fail(
                error,
                "flow %u goes from host %u to host %u; there are hosts 0 to %u, and source "
                "and destination differ",
                i, flow->src, flow->dst, host_count - 1);
        if (flow->bytes == 0 || flow->bytes > OCHE_MAX_MESSAGE_BYTES)
            return oche_fail(error, "flow %u has %llu bytes; 1 to %llu can be sent", i,
                             (unsigned long long)flow->bytes,
                             (unsigned long long)OCHE_MAX_MESSAGE_BYTES);
    }
    return true;
}

/*
 * Checks the rules for workloads: a flow that follows another flow starts at the host where the
 * other one ends, has no start time of its own, and follows only one flow.
 */
static void check_chains(const struct oche_flow_plan *plan, uint32_t count)
{
    bool *follows = make(count, sizeof(*follows));

    for (uint32_t i = 0; i < count; i++) {
        uint32_t next[2] = {plan[i].then_same_source, plan[i].then_at_receiver};
        uint32_t at[2] = {plan[i].src, plan[i].dst};
        for (unsigned k = 0; k < 2; k++) {
            if (next[k] == OCHE_NO_FLOW)
                continue;
            OCHE_MUST(next[k] < count && !follows[next[k]]);
            OCHE_MUST(plan[next[k]].src == at[k] && plan[next[k]].start == OCHE_NEVER);
            follows[next[k]] = true;
        }
    }
    free(follows);
}

struct keyed {
    uint64_t major, minor;
    uint32_t flow;
};

static int compare_keyed(const void *left, const void *right)
{
    const struct keyed *a = left, *b = right;

    if (a->major != b->major)
        return a->major < b->major ? -1 : 1;
    if (a->minor != b->minor)
        return a->minor < b->minor ? -1 : 1;
    return a->flow < b->flow ? -1 : a->flow > b->flow;
}

static void order_starts(struct oche_flows *flows, uint32_t host_count, struct keyed *keys)
{
    uint32_t timed = 0;

    for (uint32_t i = 0; i < flows->count; i++)
        if (flows->plan[i].start != OCHE_NEVER)
            keys[timed++] = (struct keyed){
                .major = flows->plan[i].src, .minor = flows->plan[i].start, .flow = i};
    qsort(keys, timed, sizeof(*keys), compare_keyed);
    flows->by_start = make(timed, sizeof(*flows->by_start));
    flows->host_first = make((size_t)host_count + 1, sizeof(*flows->host_first));
    for (uint32_t host = 0, i = 0; host <= host_count; host++) {
        while (i < timed && keys[i].major < host)
            i++;
        flows->host_first[host] = i;
    }
    flows->host_first[host_count] = timed;
    for (uint32_t i = 0; i < timed; i++)
        flows->by_start[i] = keys[i].flow;
}

/* True if `flow` is not the last flow of its chain. */
static bool goes_on(const struct oche_flow_plan *plan, uint32_t flow)
{
    uint32_t next = plan[flow].then_same_source;

    return next != OCHE_NO_FLOW && plan[next].dst == plan[flow].dst && plan[flow].supply_bps == 0 &&
           plan[next].supply_bps == 0 && plan[next].tenant == plan[flow].tenant;
}

/* Gives flows that will share a connection the same `major`. */
static void key_connections(const struct oche_flows *flows, enum oche_connections per,
                            struct keyed *keys)
{
    const struct oche_flow_plan *plan = flows->plan;

    for (uint32_t i = 0; i < flows->count; i++)
        keys[i] = (struct keyed){.major = i, .flow = i};
    if (per == OCHE_CONNECTION_PER_PAIR)
        for (uint32_t i = 0; i < flows->count; i++)
            keys[i].major = plan[i].supply_bps > 0 ? UINT64_C(1) << 63 | i
                                                   : (uint64_t)plan[i].priority << 62 |
                                                         (uint64_t)plan[i].tenant << 54 |
                                                         (uint64_t)plan[i].src << 27 | plan[i].dst;
    if (per != OCHE_CONNECTION_PER_CHAIN)
        return;
    for (uint32_t i = 0; i < flows->count; i++)
        if (goes_on(plan, i))
            /* marks the flow as one that continues a chain */
            keys[plan[i].then_same_source].minor = 1;
    for (uint32_t i = 0; i < flows->count; i++)
        for (uint32_t at = i; keys[i].minor == 0 && goes_on(plan, at);)
            keys[at = plan[at].then_same_source].major = i;
    for (uint32_t i = 0; i < flows->count; i++)
        keys[i].minor = 0;
}

static void connect(struct oche_flows *flows, enum oche_connections per, struct keyed *keys)
{
    uint32_t count = flows->count, made = 0;

    key_connections(flows, per, keys);
    if (per != OCHE_CONNECTION_PER_FLOW)
        qsort(keys, count, sizeof(*keys), compare_keyed);
    flows->connections = make(count, sizeof(*flows->connections));
    flows->order = make(count, sizeof(*flows->order));
    for (uint32_t i = 0; i < count; i++) {
        struct oche_flow_plan *flow = &flows->owned_plan[keys[i].flow];
        if (i == 0 || keys[i].major != keys[i - 1].major)
            flows->connections[made++] = (struct oche_connection){.src = flow->src,
                                                                  .dst = flow->dst,
                                                                  .priority = flow->priority != 0,
                                                                  .tenant = (uint8_t)flow->tenant,
                                                                  .first = i};
        flows->connections[made - 1].count++;
        flows->connections[made - 1].bytes += flow->bytes;
        flow->connection = made - 1;
    }
    flows->connection_count = made;
}

bool oche_flows_prepare(struct oche_flows *flows, struct oche_flow_plan *plan, uint32_t count,
                        uint32_t host_count, enum oche_connections per, struct oche_error *error)
{
    memset(flows, 0, sizeof(*flows));
    if (!check(plan, count, host_count, error)) {
        free(plan);
        return false;
    }
    check_chains(plan, count);
    flows->plan = flows->owned_plan = plan;
    flows->count = count;
    flows->sent = make(count, sizeof(*flows->sent));
    flows->received = make(count, sizeof(*flows->received));
    for (uint32_t i = 0; i < count; i++) {
        flows->sent[i].started = flows->sent[i].completed = OCHE_NEVER;
        flows->received[i].delivered = OCHE_NEVER;
    }
    struct keyed *keys = make(count, sizeof(*keys));
    order_starts(flows, host_count, keys);
    connect(flows, per, keys);
    free(keys);
    flows->host_connections = make(host_count, sizeof(*flows->host_connections));
    for (uint32_t i = 0; i < flows->connection_count; i++) {
        flows->host_connections[flows->connections[i].src]++;
        flows->host_connections[flows->connections[i].dst]++;
    }
    return true;
}

uint64_t oche_flow_supplied(const struct oche_flow_plan *plan, oche_time age)
{
    uint64_t bytes;

    if (plan->supply_bps == 0)
        return plan->bytes;
    bytes = (uint64_t)((unsigned __int128)age * plan->supply_bps / (8 * OCHE_SEC));
    return bytes < plan->bytes ? bytes : plan->bytes;
}

void oche_flow_groups_free(struct oche_flow_groups *groups)
{
    free(groups->members);
    free(groups->first);
    *groups = (struct oche_flow_groups){.count = 0};
}

static int compare_hosts(const void *left, const void *right)
{
    const uint8_t *a = left, *b = right;

    return (int)oche_get16(a) - (int)oche_get16(b);
}

/*
 * Writes a group's senders in the form that packets carry. Leaves `incast` empty if packets cannot
 * name the group.
 */
static void name_incast(struct oche_group *incast, uint8_t *list, const uint32_t *members,
                        uint32_t count)
{
    if (count > OCHE_GROUP_MOST)
        return;
    for (uint32_t i = 0; i < count; i++) {
        if (members[i] > UINT16_MAX)
            return;
        oche_put16(list + 2 * (size_t)i, (uint16_t)members[i]);
    }
    qsort(list, count, 2, compare_hosts);
    incast->count = (uint16_t)count;
    incast->members = list;
}

void oche_flows_set_groups(struct oche_flows *flows, const struct oche_flow_groups *groups)
{
    flows->groups = *groups;
    if (groups->count == 0)
        return;
    flows->incasts = make(groups->count, sizeof(*flows->incasts));
    flows->incast_members = make(groups->member_count, 2);
    for (uint32_t group = 1; group <= groups->count; group++) {
        struct oche_group *incast = &flows->incasts[group - 1];
        uint32_t count;
        const uint32_t *members = oche_flow_group(groups, group, &count);

        *incast = (struct oche_group){.id = group & OCHE_PSN_MASK};
        name_incast(incast, flows->incast_members + 2 * (size_t)groups->first[group - 1], members,
                    count);
    }
}

const struct oche_connection *oche_flows_connection(const struct oche_flows *flows, uint32_t number,
                                                    uint32_t src, uint32_t dst)
{
    const struct oche_connection *connection;

    if (number >= flows->connection_count)
        return NULL;
    connection = &flows->connections[number];
    return connection->src == src && connection->dst == dst ? connection : NULL;
}

uint64_t oche_flows_delivered(const struct oche_flows *flows,
                              const struct oche_connection *connection)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < connection->delivered; i++)
        sum += flows->plan[flows->order[connection->first + i]].bytes;
    return sum;
}

void oche_flows_free(struct oche_flows *flows)
{
    oche_flow_groups_free(&flows->groups);
    free(flows->incasts);
    free(flows->incast_members);
    free(flows->owned_plan);
    free(flows->sent);
    free(flows->received);
    free(flows->ways);
    free(flows->connections);
    free(flows->order);
    free(flows->by_start);
    free(flows->host_first);
    free(flows->host_connections);
    memset(flows, 0, sizeof(*flows));
}
