/* SPDX-License-Identifier: Apache-2.0 */
/* Sums up recorded results. */
#include "lab/reproduce/record.h"

#include <stdlib.h>
#include <string.h>

static struct oche_recorded_by *find(struct oche_record *record, const struct oche_result_line *of)
{
    for (size_t i = 0; i < record->by_count; i++)
        if (strcmp(record->by[i].commit, of->commit) == 0 &&
            strcmp(record->by[i].date, of->date) == 0)
            return &record->by[i];
    record->by[record->by_count] =
        (struct oche_recorded_by){.commit = of->commit, .date = of->date};
    return &record->by[record->by_count++];
}

void oche_record_make(struct oche_record *record, const struct oche_results *results)
{
    *record = (struct oche_record){.by = calloc(results->count + 1, sizeof(*record->by))};
    OCHE_GOT(record->by != NULL);
    for (size_t i = 0; i < results->count; i++) {
        const struct oche_result_line *line = &results->lines[i];

        if (line->reading[0] != '\0')
            continue;
        oche_tally_add(&record->tally, line->source, line->finding, line->unsure);
        find(record, line)->claims++;
        if (line->seeds == 0)
            continue; /* the claim was not run */
        if (record->least_seeds == 0 || line->seeds < record->least_seeds)
            record->least_seeds = line->seeds;
        if (line->seeds > record->most_seeds)
            record->most_seeds = line->seeds;
    }
}

void oche_record_free(struct oche_record *record)
{
    free(record->by);
    *record = (struct oche_record){.by_count = 0};
}
