/* SPDX-License-Identifier: Apache-2.0 */
/* Prints lists of figures. */
#include "cli/reproduce/reproduction.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/reproduce/measured.h"
#include "lab/reproduce/tolerances.h"
#include "params/table.h"

void oche_reproduce_list(const struct oche_reproduction *session)
{
    for (size_t p = 0; p < session->paper_count; p++) {
        const struct oche_paper *paper = session->papers[p];
        struct oche_table *table = oche_table_create(4);

        printf("%s%s: %s\n%s (%s)\n\n", p > 0 ? "\n" : "", paper->name, paper->title,
               paper->authors, paper->published);
        oche_table_cell(table, "figure");
        oche_table_cell(table, "runs");
        oche_table_cell(table, "claims");
        oche_table_cell(table, "in the paper");
        oche_table_rule(table);
        for (size_t i = 0; i < session->work_count; i++) {
            const struct oche_study *study = session->works[i].study;
            uint64_t runs = 0;

            if (study->paper != paper)
                continue;
            for (size_t c = 0; c < study->combination_count; c++)
                if (oche_measured_of(study, &study->combinations[c]) == NULL)
                    runs += study->combinations[c].repeats;
            oche_table_cell(table, "%s: %s", study->name, study->title);
            oche_table_cell(table, "%" PRIu64, runs);
            oche_table_cell(table, "%zu", study->claim_count);
            oche_table_cell(table, "%s", study->place);
        }
        oche_table_print(table, stdout);
        oche_table_free(table);
    }
}

void oche_reproduce_list_tolerances(const struct oche_reproduction *session)
{
    for (size_t i = 0; i < session->work_count; i++) {
        const struct oche_study *study = session->works[i].study;
        char *commit = oche_tolerances_commit(study);

        printf("%s/%s %s %016" PRIx64 "\n", study->paper->name, study->name,
               strcmp(commit, OCHE_NOT_COMMITTED) == 0 ? "-" : commit, study->digest);
        free(commit);
    }
}
