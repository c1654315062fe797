/* SPDX-License-Identifier: Apache-2.0 */
/* Makes rows of a single size, counts packets by row, and names rows. */
#include "lab/measures/size_rows.h"

#include <stdio.h>
#include <string.h>

#include "params/units.h"
#include "sim/world/world.h"

#define OF "of_"

/*
 * Finds the distinct sizes of flows that started, in ascending order. Returns the number of sizes;
 * most + 1 if there are more than `most`.
 */
static uint32_t find_sizes(const struct oche_flow_record *records, uint32_t count, uint64_t *sizes,
                           uint32_t most)
{
    uint32_t found = 0;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = 0;

        if (records[i].start == OCHE_NEVER)
            continue;
        while (at < found && sizes[at] < records[i].bytes)
            at++;
        if (at < found && sizes[at] == records[i].bytes)
            continue;
        if (found == most)
            return most + 1;
        memmove(sizes + at + 1, sizes + at, (found - at) * sizeof(*sizes));
        sizes[at] = records[i].bytes;
        found++;
    }
    return found;
}

void oche_size_rows_exact(struct oche_outcome *outcome, const struct oche_flow_record *records,
                          uint32_t count, oche_time warmup)
{
    uint64_t sizes[OCHE_OUTCOME_MOST_EXACT], begins[2 * OCHE_OUTCOME_MOST_EXACT + 1] = {0};
    struct oche_completion_row rows[2 * OCHE_OUTCOME_MOST_EXACT + 2];
    uint32_t found = find_sizes(records, count, sizes, OCHE_OUTCOME_MOST_EXACT), ranges = 1;
    struct oche_completion_row *to = &outcome->sizes[OCHE_OUTCOME_EXACT];

    if (found < 2 || found > OCHE_OUTCOME_MOST_EXACT)
        return;
    for (uint32_t i = 0; i < found; i++) {
        if (begins[ranges - 1] != sizes[i])
            begins[ranges++] = sizes[i];
        begins[ranges++] = sizes[i] + 1;
    }
    oche_flow_completion(records, count, warmup, begins, ranges, rows);
    for (uint32_t i = 0; i < ranges; i++)
        for (uint32_t k = 0; k < found; k++)
            if (rows[i].from_bytes == sizes[k])
                *to++ = rows[i];
}

void oche_size_rows_packets(struct oche_outcome *outcome, const struct oche_world *world)
{
    const struct oche_flows *flows = oche_world_flows(world);
    oche_time warmup = oche_world_config(world)->run.warmup;

    if (flows->paths == NULL)
        return;
    for (OCHE_EACH_MADE_FLOW(i, flows)) {
        const struct oche_flow_path *way = &flows->paths[i];
        uint64_t bytes = flows->plan[i].bytes;

        if (flows->sent[i].started == OCHE_NEVER || flows->sent[i].started < warmup)
            continue;
        for (unsigned row = 0; row < OCHE_OUTCOME_ROWS; row++) {
            const struct oche_completion_row *sizes = &outcome->sizes[row];

            if (sizes->flows == 0 || bytes < sizes->from_bytes || bytes >= sizes->to_bytes)
                continue;
            outcome->size_packets[row].packets += way->packets;
            outcome->size_packets[row].marked += way->marked;
            outcome->size_packets[row].unsuppressed += way->marked - way->suppressed;
            outcome->size_packets[row].answered += way->marked - way->suppressed - way->undecided;
        }
    }
}

static const struct oche_param one_size = {
    .name = "size", OCHE_IS_BYTES(0, 1, UINT64_MAX - 1), .help = ""};

const char *oche_size_row_name(const struct oche_outcome *outcome, unsigned which, char *text,
                               size_t text_bytes)
{
    bool last = which + 1 >= OCHE_OUTCOME_SIZES;

    if (which == OCHE_OUTCOME_SIZES)
        return "all";
    if (which == OCHE_OUTCOME_SHORT)
        return "below_100KB";
    if (which >= OCHE_OUTCOME_EXACT) {
        char size[OCHE_VALUE_BYTES];

        if (outcome->sizes[which].flows == 0)
            return "";
        oche_value_format(&one_size, (union oche_value){.u = outcome->sizes[which].from_bytes},
                          size, sizeof(size));
        snprintf(text, text_bytes, OF "%s", size);
        return text;
    }
    const struct oche_completion_row row = {.from_bytes = oche_completion_sizes[which],
                                            .to_bytes = last ? UINT64_MAX
                                                             : oche_completion_sizes[which + 1]};

    oche_outcome_size_name(&row, text, text_bytes);
    for (char *c = text; *c != '\0'; c++)
        if (*c == ' ')
            *c = '_';
    return text;
}

bool oche_size_row_may_be(const char *name, size_t length)
{
    char size[OCHE_VALUE_BYTES], again[OCHE_VALUE_BYTES];
    struct oche_error why;
    union oche_value value;

    if (length <= strlen(OF) || length - strlen(OF) >= sizeof(size) ||
        strncmp(name, OF, strlen(OF)) != 0)
        return false;
    memcpy(size, name + strlen(OF), length - strlen(OF));
    size[length - strlen(OF)] = '\0';
    if (!oche_value_parse(&one_size, size, &value, &why))
        return false;
    /* Only the name that a run would use is accepted: of_8KB, not of_8000B. */
    oche_value_format(&one_size, value, again, sizeof(again));
    return strcmp(size, again) == 0;
}
