/* SPDX-License-Identifier: Apache-2.0 */
/* Parses --flows. */
#include "lab/fluid/flows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base.h"
#include "core/param.h"
#include "params/error.h"
#include "params/units.h"

static const struct oche_param rate_param = {.name = "rate", OCHE_IS_BPS(0, 1, UINT64_MAX - 1)};
static const struct oche_param start_param = {.name = "start", OCHE_IS_TIME(0, 0, 1000 * OCHE_SEC)};
static const struct oche_param count_param = {.name = "count",
                                              OCHE_IS_COUNT(0, 1, OCHE_FLUID_MOST_FLOWS)};

bool oche_fluid_flows_add(struct oche_fluid_flow_list *list, double rate_bps, double start_s,
                          uint32_t count)
{
    struct oche_fluid_flow *last = list->count > 0 ? &list->flows[list->count - 1] : NULL;

    if (count > OCHE_FLUID_MOST_FLOWS - list->total)
        return false;
    list->total += count;
    if (last != NULL && last->rate_bps == rate_bps && last->start_s == start_s) {
        last->count += count;
        return true;
    }
    list->flows = realloc(list->flows, (list->count + 1) * sizeof(*list->flows));
    OCHE_GOT(list->flows != NULL);
    list->flows[list->count++] = (struct oche_fluid_flow){rate_bps, start_s, count};
    return true;
}

void oche_fluid_flows_free(struct oche_fluid_flow_list *list)
{
    free(list->flows);
    *list = (struct oche_fluid_flow_list){.flows = NULL};
}

static bool is_number(const char *text)
{
    return text[0] != '\0' && text[strspn(text, "0123456789")] == '\0';
}

/* Parses one entry, whose text it changes. Returns NULL on success, else the error. */
static const char *read_entry(struct oche_fluid_flow_list *list, char *entry, double capacity_bps,
                              struct oche_error *why)
{
    union oche_value count = {.u = 1}, rate = {.u = 0}, start = {.u = 0};
    char *at = strchr(entry, '@'), *times, *text = entry;
    double rate_bps = capacity_bps;

    if (at != NULL)
        *at = '\0';
    times = strchr(entry, 'x');
    if (times != NULL) {
        *times = '\0';
        text = times + 1;
    }
    if (times != NULL || is_number(text)) {
        if (!oche_value_parse(&count_param, entry, &count, why))
            return why->text;
    }
    if (times != NULL || !is_number(text)) {
        if (!oche_value_parse(&rate_param, text, &rate, why))
            return why->text;
        rate_bps = (double)rate.u;
    }
    if (at != NULL && !oche_value_parse(&start_param, at + 1, &start, why))
        return why->text;
    if (rate_bps > capacity_bps)
        return "is above the capacity; write at most that, or set capacity";
    if (!oche_fluid_flows_add(list, rate_bps, (double)start.u / (double)OCHE_SEC,
                              (uint32_t)count.u))
        return "there are too many flows; write 100000 at most";
    return NULL;
}

bool oche_fluid_flows_read(struct oche_fluid_flow_list *list, const char *text, double capacity_bps,
                           struct oche_error *error)
{
    char *copy = strdup(text), *rest = copy;
    bool fine = true;

    OCHE_GOT(copy != NULL);
    *list = (struct oche_fluid_flow_list){.flows = NULL};
    for (char *entry; fine && (entry = strsep(&rest, ",")) != NULL;) {
        struct oche_error why;
        char *typed = strdup(entry);

        OCHE_GOT(typed != NULL);
        const char *wrong = read_entry(list, entry, capacity_bps, &why);

        if (wrong != NULL) {
            oche_fail(error, "--flows %s: %s; write 2, or 40Gbps,5Gbps@10ms, or 8x1Gbps", typed,
                      wrong);
            fine = false;
        }
        free(typed);
    }
    free(copy);
    if (!fine)
        oche_fluid_flows_free(list);
    return fine;
}
