/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All counts of a run as one list of named numbers: trace hash, metrics, flows, ports, hosts,
 * mechanisms. Two runs are compared number by number.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/measures/metrics.h"
#include "lab/measures/outcome.h"
#include "tests/swarm/judge.h"

struct number {
    char name[88];
    uint64_t value; /* the bits of a real number */
};

struct swarm_digest {
    struct number *numbers;
    size_t count, capacity;
    size_t sure; /* the first numbers do not depend on what is measured */
    char strange[200];
};

static struct number *next(struct swarm_digest *digest)
{
    if (digest->count == digest->capacity) {
        digest->capacity = 2 * digest->capacity + 256;
        digest->numbers = realloc(digest->numbers, digest->capacity * sizeof(*digest->numbers));
        OCHE_MUST(digest->numbers != NULL);
    }
    return &digest->numbers[digest->count++];
}

static void note(struct swarm_digest *digest, const char *what, uint64_t which, uint64_t value)
{
    struct number *number = next(digest);

    snprintf(number->name, sizeof(number->name), "%s %llu", what, (unsigned long long)which);
    number->value = value;
}

/* An array of counters, all of them uint64_t. */
static void note_all(struct swarm_digest *digest, const char *what, const void *counters,
                     size_t bytes)
{
    const uint64_t *values = counters;

    for (size_t i = 0; i < bytes / sizeof(*values); i++)
        note(digest, what, i, values[i]);
}

/* Parts of a total. */
static bool is_share(const char *name)
{
    size_t length = strlen(name);

    return strncmp(name, "utilisation.", 12) == 0 || strncmp(name, "jain", 4) == 0 ||
           (length > 5 && strcmp(name + length - 5, "share") == 0);
}

static void note_metric(void *context, const char *name, const char *unit, double value)
{
    struct swarm_digest *digest = context;

    (void)unit;
    /* The number of simulator steps may depend on how the run is computed. */
    if (strcmp(name, "events") == 0 || strcmp(name, "threads") == 0)
        return;
    struct number *number = next(digest);

    snprintf(number->name, sizeof(number->name), "%s", name);
    memcpy(&number->value, &value, sizeof(value));
    if ((!isfinite(value) || (is_share(name) && (value < 0 || value > 1 + 1e-9))) &&
        digest->strange[0] == '\0')
        snprintf(digest->strange, sizeof(digest->strange), "%.60s is %g", name, value);
}

static void note_flows(struct swarm_digest *digest, const struct oche_world *world)
{
    const struct oche_flows *flows = oche_world_flows(world);

    for (OCHE_EACH_MADE_FLOW(i, flows)) {
        const struct oche_flow_sent *sent = &flows->sent[i];

        note(digest, "start of flow", i, sent->started);
        note(digest, "completion of flow", i, sent->completed);
        note(digest, "retransmissions of flow", i, sent->retransmitted_packets);
        note(digest, "timeouts of flow", i, sent->timeouts);
        note(digest, "failure of flow", i, sent->failed);
        note(digest, "delivery of flow", i, flows->received[i].delivered);
        note(digest, "flow was passed over", i, flows->received[i].passed_over);
        if (sent->started != OCHE_NEVER)
            note(digest, "bytes of flow", i, oche_world_flow_bytes(world, i));
    }
    for (uint32_t i = 0; i < flows->connection_count; i++) {
        const struct oche_hit hit = oche_world_hit(world, i);

        note(digest, "hits of connection", i, hit.packets);
        note(digest, "first hit of connection", i, hit.first);
        note(digest, "last hit of connection", i, hit.last);
    }
}

static void note_ports(struct swarm_digest *digest, const struct oche_world *world)
{
    uint32_t count = oche_world_network(world)->port_count;
    struct oche_switch_port_stats *stats = calloc(count, sizeof(*stats));

    OCHE_MUST(stats != NULL);
    oche_world_port_stats(world, stats);
    for (uint32_t i = 0; i < count; i++) {
        char name[32];

        snprintf(name, sizeof(name), "port %u, counter", i);
        note_all(digest, name, &stats[i], sizeof(stats[i]));
        note(digest, "line bytes of port", i, oche_world_line_bytes(world, i));
        note(digest, "packets lost behind port", i, oche_world_lost_packets(world, i));
    }
    free(stats);
}

static void note_hosts(struct swarm_digest *digest, const struct oche_world *world)
{
    for (uint32_t i = 0; i < oche_world_topology(world)->host_count; i++) {
        struct oche_nic_stats stats;
        char name[32];

        oche_world_host_stats(world, i, &stats);
        snprintf(name, sizeof(name), "host %u, counter", i);
        note_all(digest, name, &stats, sizeof(stats));
    }
}

static void note_metrics(struct swarm_digest *digest, struct oche_world *world)
{
    struct oche_outcome *outcome = calloc(1, sizeof(*outcome));

    OCHE_MUST(outcome != NULL);
    oche_outcome_take(outcome, world, "", 1);
    oche_metrics_each(outcome, note_metric, digest);
    if (digest->strange[0] == '\0')
        swarm_measures(world, outcome, digest->strange, sizeof(digest->strange));
    oche_outcome_free(outcome);
    free(outcome);
}

struct swarm_digest *swarm_digest_take(struct swarm_run *run)
{
    struct swarm_digest *digest = calloc(1, sizeof(*digest));
    const struct oche_world_totals *totals = &run->totals;

    OCHE_MUST(digest != NULL);
    note(digest, "trace hash", 0, totals->hash);
    note(digest, "completed flows", 0, totals->flows_completed);
    note(digest, "failed flows", 0, totals->flows_failed);
    note(digest, "end", 0, oche_world_ended(run->world));
    note(digest, "deadlock", 0, oche_world_deadlock(run->world) != NULL);
    note(digest, "queued bytes", 0, totals->queued_bytes);
    note_flows(digest, run->world);
    digest->sure = digest->count;
    note(digest, "live packets", 0, totals->live_packets);
    note(digest, "packet-hops", 0, totals->hops);
    note_ports(digest, run->world);
    note_hosts(digest, run->world);
    for (size_t i = 0; i < OCHE_MOST_MECHANISMS; i++)
        note_all(digest, "mechanism's counter", totals->mechanisms[i],
                 sizeof(totals->mechanisms[i]));
    note_all(digest, "cause of timeouts", totals->timeout_causes, sizeof(totals->timeout_causes));
    note(digest, "late packets", 0, totals->late_packets);
    note(digest, "rejected packets", 0, totals->rejected_packets);
    note(digest, "paused", 0, totals->any_port_paused);
    note_metrics(digest, run->world);
    return digest;
}

void swarm_digest_free(struct swarm_digest *digest)
{
    if (digest != NULL)
        free(digest->numbers);
    free(digest);
}

const char *swarm_digest_strange(const struct swarm_digest *digest)
{
    return digest->strange[0] != '\0' ? digest->strange : NULL;
}

/* A number as an integer and as a real, as it may be either. */
static double real_of(const struct number *number)
{
    double real;

    memcpy(&real, &number->value, sizeof(real));
    return real;
}

bool swarm_digest_same(const struct swarm_digest *one, const struct swarm_digest *other,
                       struct swarm_verdict *verdict)
{
    const char *twin = swarm_twin_names[verdict->twin];
    bool part = verdict->twin == TWIN_UNMEASURED;
    size_t count = part ? one->sure : one->count;

    for (size_t i = 0; i < count && i < other->count; i++) {
        const struct number *a = &one->numbers[i], *b = &other->numbers[i];

        if (a->value != b->value || strcmp(a->name, b->name) != 0)
            return swarm_finding(verdict, twin, "%s is %llu (%g), and with %s %s is %llu (%g)",
                                 a->name, (unsigned long long)a->value, real_of(a), twin, b->name,
                                 (unsigned long long)b->value, real_of(b));
    }
    if (!part && one->count != other->count)
        return swarm_finding(verdict, twin, "%zu numbers and %zu", one->count, other->count);
    return true;
}
