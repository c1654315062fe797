/* SPDX-License-Identifier: Apache-2.0 */
/* The registry of workload types, and the functions of generate.h that they share. */
#include "sim/app/app.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "params/error.h"
#include "sim/app/generate.h"
#include "sim/app/types.h" /* made by Meson: OCHE_WORKLOAD_TYPES is X(incast) X(background) … */
#include "params/units.h"
#include "sim/topology/topology.h"

#define X(type) extern const struct oche_workload_type oche_workload_##type;
OCHE_WORKLOAD_TYPES
#undef X

const struct oche_workload_type *const oche_workload_types[] = {
#define X(type) &oche_workload_##type,
    OCHE_WORKLOAD_TYPES
#undef X
        NULL,
};

const struct oche_workload_type *oche_workload_type_find(const char *name)
{
    for (size_t i = 0; oche_workload_types[i] != NULL; i++)
        if (strcmp(oche_workload_types[i]->name, name) == 0)
            return oche_workload_types[i];
    return NULL;
}

bool oche_workload_no_memory(const struct oche_flow_list *list, struct oche_error *error)
{
    return oche_fail(error, "no memory for more than %u flows; a shorter run, or fewer flows",
                     list->count);
}

static void print_time(oche_time time, char *text, size_t text_bytes)
{
    const struct oche_param param = {.name = "", OCHE_IS_TIME(0, 0, OCHE_NEVER), .help = ""};

    oche_value_format(&param, (union oche_value){.u = time}, text, text_bytes);
}

bool oche_workload_starts(oche_time start, const struct oche_workload_facts *facts,
                          struct oche_error *error)
{
    char start_text[OCHE_VALUE_BYTES], end_text[OCHE_VALUE_BYTES];

    if (start < facts->duration)
        return true;
    print_time(start, start_text, sizeof(start_text));
    print_time(facts->duration, end_text, sizeof(end_text));
    return oche_fail(error, "start: %s, but the run ends at %s; an earlier time", start_text,
                     end_text);
}

bool oche_workload_has_hosts(const struct oche_workload_facts *facts, struct oche_error *error)
{
    if (facts->host_count >= 2)
        return true;
    return oche_fail(error, "type: a workload needs two hosts, there is %u; a larger topology",
                     facts->host_count);
}

const char *const oche_load_of_names[] = {"host", "uplink", NULL};

bool oche_workload_has_load(enum oche_load_of of, const struct oche_workload_facts *facts,
                            struct oche_error *error)
{
    bool all = true;

    for (uint32_t i = 0; of == OCHE_LOAD_OF_UPLINK && i < facts->rates.count; i++)
        all = all && facts->rates.kinds[i].uplink_bps > 0;
    if (all)
        return true;
    return oche_fail(error, "load_of: this topology has no uplinks; host");
}

const struct oche_host_rate *oche_workload_rate(const struct oche_workload_facts *facts,
                                                uint32_t host)
{
    const struct oche_host_rates *rates = &facts->rates;

    return &rates->kinds[rates->kind_of == NULL ? 0 : rates->kind_of[host]];
}

uint64_t oche_workload_pair_bps(const struct oche_workload_facts *facts, uint32_t src, uint32_t dst)
{
    uint64_t of_src = oche_workload_rate(facts, src)->link_bps;
    uint64_t of_dst = oche_workload_rate(facts, dst)->link_bps;

    return of_src < of_dst ? of_src : of_dst;
}

double oche_workload_offered_bps(double load, enum oche_load_of of, bool headers,
                                 const struct oche_workload_facts *facts,
                                 const struct oche_host_rate *host)
{
    double rate = (double)(of == OCHE_LOAD_OF_HOST ? host->link_bps : host->uplink_bps);

    if (headers)
        rate *= (double)facts->mtu_bytes / (double)(facts->mtu_bytes + facts->header_bytes);
    return load * rate;
}

double oche_workload_offered_by_all(double load, enum oche_load_of of, bool headers,
                                    const struct oche_workload_facts *facts)
{
    double sum = 0;

    for (uint32_t i = 0; i < facts->rates.count; i++) {
        const struct oche_host_rate *kind = &facts->rates.kinds[i];

        sum += oche_workload_offered_bps(load, of, headers, facts, kind) * kind->hosts;
    }
    return sum;
}

struct oche_random oche_workload_stream(const struct oche_workload_facts *facts,
                                        const char *purpose, uint64_t entity)
{
    return oche_random_stream(facts->seed, purpose, ((uint64_t)facts->number << 32) ^ entity);
}

uint64_t oche_workload_jitter(struct oche_random *random, uint64_t most)
{
    return oche_random_below(random, most + 1);
}

uint32_t oche_workload_host_at(const struct oche_workload_facts *facts, uint32_t place)
{
    return facts->topology == NULL ? place : oche_topology_at_place(facts->topology, place);
}

uint32_t oche_workload_place_of(const struct oche_workload_facts *facts, uint32_t host)
{
    return facts->topology == NULL ? host : oche_topology_place_of(facts->topology, host);
}

uint32_t oche_workload_any_host(const struct oche_workload_facts *facts, struct oche_random *random)
{
    return oche_workload_host_at(facts, (uint32_t)oche_random_below(random, facts->host_count));
}

uint32_t oche_workload_other_host(const struct oche_workload_facts *facts,
                                  struct oche_random *random, uint32_t host)
{
    uint32_t other = (uint32_t)oche_random_below(random, facts->host_count - 1);
    uint32_t place = oche_workload_place_of(facts, host);

    return oche_workload_host_at(facts, other < place ? other : other + 1);
}

bool oche_workload_has_pairs(uint64_t pairs, const struct oche_workload_facts *facts,
                             struct oche_error *error)
{
    uint64_t most = (uint64_t)facts->host_count * (facts->host_count - 1);

    if (pairs <= most)
        return true;
    return oche_fail(error, "pairs: %llu, but %u hosts have only %llu; give at most that many",
                     (unsigned long long)pairs, facts->host_count, (unsigned long long)most);
}

/*
 * Draws pair number `pair` from the random stream of (purpose, pair) until the drawn pair is not in
 * `taken`, and adds it there.
 */
static struct oche_host_pair draw_pair(const struct oche_workload_facts *facts, const char *purpose,
                                       uint64_t pair, unsigned char *taken)
{
    struct oche_random random = oche_workload_stream(facts, purpose, pair);
    struct oche_host_pair drawn;
    uint64_t number;

    do {
        drawn.src = oche_workload_any_host(facts, &random);
        drawn.dst = oche_workload_other_host(facts, &random, drawn.src);
        number = (uint64_t)drawn.src * facts->host_count + drawn.dst;
    } while (taken[number / 8] >> (number % 8) & 1);
    taken[number / 8] = (unsigned char)(taken[number / 8] | 1U << (number % 8));
    return drawn;
}

struct oche_host_pair *oche_workload_draw_pairs(const struct oche_workload_facts *facts,
                                                const char *purpose, uint64_t count)
{
    unsigned char *taken = calloc((size_t)facts->host_count * facts->host_count / 8 + 1, 1);
    struct oche_host_pair *pairs = malloc((count + 1) * sizeof(*pairs));

    for (uint64_t i = 0; taken != NULL && pairs != NULL && i < count; i++)
        pairs[i] = draw_pair(facts, purpose, i, taken);
    if (taken == NULL) {
        free(pairs);
        pairs = NULL;
    }
    free(taken);
    return pairs;
}

uint32_t oche_workload_sender(const struct oche_workload_facts *facts,
                              const struct oche_sender_pool *pool, uint32_t receiver, uint32_t i)
{
    uint32_t place = oche_workload_place_of(facts, receiver);

    return oche_workload_host_at(facts, oche_sender_pool_host(pool, place, i));
}

void oche_workload_shuffle(struct oche_random *random, uint32_t *order, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        order[i] = i;
    for (uint32_t i = count; i > 1; i--) {
        uint32_t j = (uint32_t)oche_random_below(random, i), at_j = order[j];

        order[j] = order[i - 1];
        order[i - 1] = at_j;
    }
}

void oche_workload_shuffle_hosts(const struct oche_workload_facts *facts,
                                 struct oche_random *random, uint32_t *order)
{
    oche_workload_shuffle(random, order, facts->host_count);
    for (uint32_t i = 0; i < facts->host_count; i++)
        order[i] = oche_workload_host_at(facts, order[i]);
}

uint64_t oche_workload_enough(const struct oche_workload_facts *facts, oche_time start,
                              uint64_t bytes, uint64_t rate_bps)
{
    oche_time left = start < facts->duration ? facts->duration - start : 0;

    return oche_bytes_in_time(left, rate_bps) / bytes + 2;
}

uint64_t oche_workload_enough_for_all(const struct oche_workload_facts *facts, oche_time start,
                                      uint64_t bytes)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < facts->rates.count; i++) {
        const struct oche_host_rate *kind = &facts->rates.kinds[i];
        uint64_t each = oche_workload_enough(facts, start, bytes, kind->link_bps);

        sum = each > (UINT64_MAX - sum) / kind->hosts ? UINT64_MAX : sum + each * kind->hosts;
    }
    return sum;
}

bool oche_workload_chain(struct oche_flow_list *list, const struct oche_workload_facts *facts,
                         uint32_t src, uint32_t dst, uint64_t bytes, oche_time start,
                         uint64_t messages)
{
    struct oche_flow_source source = oche_flow_list_source(list, facts->number, src, dst, start);

    if (messages <= 1)
        return messages == 0 ||
               oche_flow_list_add(list, facts->number, src, dst, bytes, start) != OCHE_NO_FLOW;
    OCHE_MUST(bytes >= 1 && bytes <= OCHE_MAX_FLOW_BYTES && messages <= OCHE_WORKLOAD_MAX_FLOWS);
    source.flow.bytes = bytes;
    source.chain = true;
    source.count = (uint32_t)messages;
    return oche_flow_list_add_source(list, &source);
}
