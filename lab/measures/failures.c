/* SPDX-License-Identifier: Apache-2.0 */
/* Collects the effects of link failures on flows. */
#include "lab/measures/failures.h"

#include <stdio.h>
#include <stdlib.h>

#include "params/figures.h"
#include "params/text_stream.h"

/* Prints the links that failed: "leaf0:spine1, leaf2:spine1". The sender of a direction is first.
 */
static void print_links(const struct oche_world *world, const struct oche_world_failure *failure,
                        uint32_t direction, FILE *out)
{
    const struct oche_topology *topology = oche_world_topology(world);

    for (uint32_t i = 0; i < failure->count && i < OCHE_MOST_FAILURES_NAMED; i++) {
        const struct oche_topology_link *link = &topology->links[failure->links[i]];
        const bool b_first = direction == OCHE_FAILURE_BOTH
                                 ? topology->nodes[link->a].kind == OCHE_NODE_HOST
                                 : failure->from_b[i] == (direction == OCHE_FAILURE_OUT);
        char name[OCHE_PORT_NAME_BYTES];

        oche_topology_port_name(topology, b_first ? link->b : link->a,
                                b_first ? link->port_b : link->port_a, name, sizeof(name));
        fprintf(out, "%s%s", i > 0 ? ", " : "", name);
    }
    if (failure->count > OCHE_MOST_FAILURES_NAMED)
        fprintf(out, " and %u more", failure->count - OCHE_MOST_FAILURES_NAMED);
}

static void print_until(oche_time time, FILE *out)
{
    if (time == OCHE_NEVER)
        fputs("the end", out);
    else
        fputs(oche_figure_time(time).text, out);
}

/* Prints what happens to the links: "down ", "at 25 % of the rate one way ". */
static void print_kind(const struct oche_failure_params *params, FILE *out)
{
    if (!oche_failure_degrades(params)) {
        fputs("down ", out);
        return;
    }
    if (params->speed > 0)
        fprintf(out, "at %g %% of the rate%s", params->speed * 100, params->loss > 0 ? ", " : " ");
    if (params->loss > 0)
        fprintf(out, "losing %g %% of packets ", params->loss * 100);
    if (params->direction != OCHE_FAILURE_BOTH)
        fputs("one way ", out);
}

static void print_failure(const struct oche_world *world, uint32_t number, FILE *out)
{
    const struct oche_world_config *config = oche_world_config(world);
    static const struct oche_failure_params of_file = {.link =
                                                           NULL}; /* see sim/app/failed_links.h */
    const struct oche_failure_params *params =
        number < config->failure_count ? &config->failures[number] : &of_file;
    struct oche_world_failure failure = oche_world_failure(world, number);
    oche_time reroute = failure.reroute, known = oche_time_add(failure.from, reroute);

    print_kind(params, out);
    fprintf(out, "from %s to ", oche_figure_time(failure.from).text);
    print_until(failure.until, out);
    fputs(": ", out);
    if (params->switches != NULL && *params->switches != '\0')
        fprintf(out, "%s, with ", params->switches);
    print_links(world, &failure, params->direction, out);
    if (oche_failure_degrades(params)) {
        fputc('\n', out);
        return;
    }
    if (known >= oche_world_until(world) ||
        (failure.until != OCHE_NEVER && failure.until - failure.from <= reroute)) {
        fputs("; routes stayed\n", out);
        return;
    }
    fprintf(out, "; out of the routes from %s to ", oche_figure_time(known).text);
    print_until(oche_time_add(failure.until, reroute), out);
    fputc('\n', out);
}

static bool is_hit(const struct oche_world *world, uint32_t flow)
{
    const struct oche_flows *flows = oche_world_flows(world);
    struct oche_hit hit = oche_world_hit(world, flows->plan[flow].connection);

    return hit.packets > 0 && flows->sent[flow].started != OCHE_NEVER &&
           flows->sent[flow].started <= hit.last && flows->sent[flow].completed >= hit.first;
}

static void take_row(struct oche_failure_row *row, const struct oche_world *world,
                     const struct oche_flow_record *records, uint32_t record_count, bool hit)
{
    static const uint64_t all_sizes[] = {0};
    const struct oche_flows *flows = oche_world_flows(world);
    oche_time warmup = oche_world_config(world)->run.warmup;
    struct oche_flow_record *some = malloc(((size_t)record_count + 1) * sizeof(*some));
    struct oche_completion_row rows[2];
    uint32_t count = 0;

    OCHE_GOT(some != NULL);
    for (uint32_t k = 0; k < record_count; k++) {
        uint32_t i = records[k].flow;

        if (records[k].start == OCHE_NEVER || records[k].start < warmup || is_hit(world, i) != hit)
            continue;
        some[count++] = records[k];
        row->timeouts += flows->sent[i].timeouts;
        row->retransmitted += flows->sent[i].retransmitted_packets;
    }
    oche_flow_completion(some, count, warmup, all_sizes, 1, rows);
    row->times = rows[1];
    free(some);
}

void oche_failures_take(struct oche_failures_outcome *failures, const struct oche_world *world,
                        const struct oche_world_totals *totals,
                        const struct oche_flow_record *records, uint32_t record_count)
{
    size_t bytes;

    *failures = (struct oche_failures_outcome){.count = oche_world_failure_count(world)};
    if (failures->count == 0)
        return;
    FILE *out = oche_text_stream_open(&failures->text, &bytes);

    for (uint32_t i = 0; i < failures->count; i++)
        print_failure(world, i, out);
    oche_text_stream_close(out);
    failures->lost = totals->drops[OCHE_DROP_LINK_DOWN] + totals->drops[OCHE_DROP_NO_ROUTE] +
                     totals->cut_packets + totals->grey_packets;
    take_row(&failures->hit, world, records, record_count, true);
    take_row(&failures->others, world, records, record_count, false);
}

void oche_failures_free(struct oche_failures_outcome *failures)
{
    free(failures->text);
    *failures = (struct oche_failures_outcome){.count = 0};
}
