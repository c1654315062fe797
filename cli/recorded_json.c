/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/recorded_json.h"

#include <stdlib.h>

#include "cli/statements_json.h"
#include "lab/reproduce/record.h"
#include "report/json.h"

/* Returns the number of claims with each verdict, by source. */
static struct json_object *verdicts_json(const struct oche_tally *tally)
{
    struct json_object *verdicts = oche_json_array(0);

    for (unsigned s = 0; s < OCHE_SOURCES; s++)
        for (unsigned f = 0; f < OCHE_FINDINGS; f++)
            for (unsigned unsure = 0; unsure < 2; unsure++) {
                const size_t count = tally->count[s][f][unsure];

                if (count == 0)
                    continue;
                struct json_object *verdict = oche_json_object();

                oche_json_add_text(verdict, "source", oche_source_names[s]);
                oche_json_add_text(verdict, "verdict", oche_finding_name((enum oche_finding)f));
                oche_json_add(verdict, "unsure", oche_json_truth(unsure == 1));
                oche_json_add_int(verdict, "count", count);
                oche_json_push(verdicts, verdict);
            }
    return verdicts;
}

struct json_object *oche_recorded_paper_json(const struct oche_paper *paper,
                                             const struct oche_results *results,
                                             const struct oche_paper_statements *statements)
{
    struct json_object *json = oche_json_object(), *by = oche_json_array(0),
                       *seeds = oche_json_array(2);
    struct oche_record record;

    oche_record_make(&record, results);
    for (size_t i = 0; i < record.by_count; i++) {
        struct json_object *one = oche_json_object();

        oche_json_add_int(one, "claims", record.by[i].claims);
        oche_json_add_text(one, "commit", record.by[i].commit);
        oche_json_add_text(one, "date", record.by[i].date);
        oche_json_push(by, one);
    }
    oche_json_push(seeds, oche_json_int(record.least_seeds));
    oche_json_push(seeds, oche_json_int(record.most_seeds));
    oche_json_add_text(json, "paper", paper->name);
    oche_json_add_text(json, "title", paper->title);
    oche_json_add_int(json, "claims", oche_tally_claims(&record.tally, OCHE_SOURCES));
    oche_json_add(json, "seeds", seeds);
    oche_json_add(json, "recorded", by);
    oche_json_add(json, "verdicts", verdicts_json(&record.tally));
    oche_statements_json_add(json, statements, results);
    oche_record_free(&record);
    return json;
}

/* Adds a paper. A paper without records is left out. */
static bool add_paper(struct json_object *papers, const char *folder, const char *name,
                      struct oche_error *error)
{
    struct oche_paper *paper = oche_paper_open(folder, name, error);
    struct oche_results results = {.count = 0};
    struct oche_paper_statements statements = {.count = 0};
    const bool ok = paper != NULL && oche_results_read(&results, paper, error) &&
                    oche_paper_statements_open(&statements, paper, error);

    if (ok && results.count > 0)
        oche_json_push(papers, oche_recorded_paper_json(paper, &results, &statements));
    oche_paper_statements_close(&statements);
    oche_results_free(&results);
    oche_paper_close(paper);
    return ok;
}

bool oche_recorded_json(struct json_object **json, struct oche_error *error)
{
    struct oche_error ignored = {""};
    struct json_object *papers = oche_json_array(0);
    char *folder = oche_papers_folder(NULL, &ignored);
    size_t count = 0;
    bool ok = true;

    if (folder != NULL) {
        char **names = oche_papers_list(folder, &count, error);

        ok = names != NULL;
        for (size_t i = 0; ok && i < count; i++)
            ok = add_paper(papers, folder, names[i], error);
        oche_papers_list_free(names, count);
    }
    free(folder);
    *json = ok && json_object_array_length(papers) > 0 ? json_object_get(papers) : NULL;
    json_object_put(papers);
    return ok;
}
