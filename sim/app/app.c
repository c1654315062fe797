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
    if (of == OCHE_LOAD_OF_HOST || facts->uplink_rate_bps > 0)
        return true;
    return oche_fail(error, "load_of: this topology has no uplinks; host");
}

double oche_workload_offered_bps(double load, enum oche_load_of of, bool headers,
                                 const struct oche_workload_facts *facts)
{
    double rate = (double)(of == OCHE_LOAD_OF_HOST ? facts->host_rate_bps : facts->uplink_rate_bps);

    if (headers)
        rate *= (double)facts->mtu_bytes / (double)(facts->mtu_bytes + facts->header_bytes);
    return load * rate;
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

uint32_t oche_workload_other_host(struct oche_random *random, uint32_t hosts, uint32_t host)
{
    uint32_t other = (uint32_t)oche_random_below(random, hosts - 1);

    return other < host ? other : other + 1;
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

unsigned char *oche_workload_pairs(const struct oche_workload_facts *facts)
{
    return calloc((size_t)facts->host_count * facts->host_count / 8 + 1, 1);
}

void oche_workload_draw_pair(const struct oche_workload_facts *facts, const char *purpose,
                             uint64_t pair, unsigned char *taken, uint32_t *src, uint32_t *dst)
{
    struct oche_random random = oche_workload_stream(facts, purpose, pair);
    uint64_t number;

    do {
        *src = (uint32_t)oche_random_below(&random, facts->host_count);
        *dst = oche_workload_other_host(&random, facts->host_count, *src);
        number = (uint64_t)*src * facts->host_count + *dst;
    } while (taken[number / 8] >> (number % 8) & 1);
    taken[number / 8] = (unsigned char)(taken[number / 8] | 1U << (number % 8));
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

uint64_t oche_workload_enough(const struct oche_workload_facts *facts, oche_time start,
                              uint64_t bytes)
{
    oche_time left = start < facts->duration ? facts->duration - start : 0;

    return oche_bytes_in_time(left, facts->host_rate_bps) / bytes + 2;
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
