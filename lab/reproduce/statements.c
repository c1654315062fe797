/* SPDX-License-Identifier: Apache-2.0 */
/* Judges statements by the verdicts of claims. */
#include "lab/reproduce/statements.h"

#include <string.h>

const char *oche_statement_finding_name(enum oche_statement_finding finding)
{
    static const char *const names[] = {"holds", "in shape", "does not hold", "not measured",
                                        "not judged"};

    _Static_assert(OCHE_COUNT_OF(names) == OCHE_STATEMENT_FINDINGS, "a name for each");
    return names[finding];
}

/* ---- one statement ---- */

const struct oche_result_line *oche_statement_line(const struct oche_results *results,
                                                   const struct oche_statement_claim *claim,
                                                   const char *reading)
{
    const struct oche_result_line *judged = NULL;

    for (size_t i = 0; i < results->count; i++) {
        const struct oche_result_line *line = &results->lines[i];

        if (strcmp(line->claim, claim->claim) != 0 || strcmp(line->figure, claim->figure) != 0)
            continue;
        if (line->reading[0] == '\0')
            judged = line;
        else if (reading != NULL && strcmp(line->reading, reading) == 0)
            return line;
    }
    return judged;
}

/* Returns the statement's verdict if this claim has the finding and all others are reproduced. */
static enum oche_statement_finding made_by(enum oche_finding finding)
{
    switch (finding) {
    case OCHE_FINDING_REPRODUCED:
        return OCHE_STATEMENT_HOLDS;
    case OCHE_FINDING_IN_SHAPE:
        return OCHE_STATEMENT_IN_SHAPE;
    case OCHE_FINDING_NOT_REPRODUCED:
        return OCHE_STATEMENT_NOT;
    case OCHE_FINDING_NOT_TESTABLE:
    case OCHE_FINDING_NOT_JUDGED:
        return OCHE_STATEMENT_NOT_JUDGED;
    default:
        return OCHE_STATEMENT_NOT_MEASURED;
    }
}

/* The finding that decides if claims make several: the first of these that some claim makes. */
static const enum oche_statement_finding strongest[] = {
    OCHE_STATEMENT_NOT, OCHE_STATEMENT_NOT_MEASURED, OCHE_STATEMENT_NOT_JUDGED,
    OCHE_STATEMENT_IN_SHAPE, OCHE_STATEMENT_HOLDS};

struct oche_statement_verdict oche_statement_judge(const struct oche_statement *statement,
                                                   const struct oche_results *results,
                                                   const char *reading)
{
    size_t count[OCHE_STATEMENT_FINDINGS] = {0}, unsure[OCHE_STATEMENT_FINDINGS] = {0};
    size_t all_unsure = 0, first = 0;

    for (size_t c = 0; c < statement->claim_count; c++) {
        const struct oche_result_line *line =
            oche_statement_line(results, &statement->claims[c], reading);
        const enum oche_statement_finding made =
            line != NULL ? made_by(line->finding) : OCHE_STATEMENT_NOT_MEASURED;

        count[made]++;
        unsure[made] += line != NULL && line->unsure;
        all_unsure += line != NULL && line->unsure;
    }
    while (count[strongest[first]] == 0)
        first++;
    const enum oche_statement_finding finding = strongest[first];

    switch (finding) {
    case OCHE_STATEMENT_NOT: /* one claim that is sure suffices */
        return (struct oche_statement_verdict){finding, unsure[finding] == count[finding]};
    case OCHE_STATEMENT_HOLDS:
    case OCHE_STATEMENT_IN_SHAPE:
        return (struct oche_statement_verdict){finding, all_unsure > 0};
    default:
        return (struct oche_statement_verdict){finding, false};
    }
}

bool oche_statement_reads(const struct oche_statement *statement,
                          const struct oche_results *results, const char *reading)
{
    for (size_t c = 0; c < statement->claim_count; c++) {
        const struct oche_result_line *line =
            oche_statement_line(results, &statement->claims[c], reading);

        if (line != NULL && line->reading[0] != '\0')
            return true;
    }
    return false;
}

/* ---- all statements ---- */

struct oche_statement_tally
oche_paper_statements_count(const struct oche_paper_statements *statements,
                            const struct oche_results *results, const char *reading)
{
    struct oche_statement_tally tally = {0};

    for (size_t i = 0; i < statements->count; i++) {
        const struct oche_statement *statement = &statements->all[i];
        const enum oche_statement_finding finding =
            oche_statement_judge(statement, results, reading).finding;

        if (statement->source == OCHE_SOURCE_MEMORY)
            tally.from_memory[finding]++;
        else
            tally.count[finding]++;
    }
    return tally;
}

size_t oche_paper_statements_judged(const struct oche_statement_tally *tally)
{
    return oche_paper_statements_good(tally) + tally->count[OCHE_STATEMENT_NOT];
}

size_t oche_paper_statements_good(const struct oche_statement_tally *tally)
{
    return tally->count[OCHE_STATEMENT_HOLDS] + tally->count[OCHE_STATEMENT_IN_SHAPE];
}

static bool is_better(const struct oche_statement_tally *tally,
                      const struct oche_statement_tally *than)
{
    const size_t good = oche_paper_statements_good(tally),
                 good_before = oche_paper_statements_good(than);

    return good != good_before
               ? good > good_before
               : tally->count[OCHE_STATEMENT_HOLDS] > than->count[OCHE_STATEMENT_HOLDS];
}

static bool is_first(const struct oche_results *results, size_t number)
{
    for (size_t i = 0; i < number; i++)
        if (strcmp(results->lines[i].reading, results->lines[number].reading) == 0)
            return false;
    return true;
}

const char *oche_paper_statements_best(const struct oche_paper_statements *statements,
                                       const struct oche_results *results)
{
    struct oche_statement_tally most = oche_paper_statements_count(statements, results, NULL);
    const char *best = NULL;

    for (size_t i = 0; i < results->count; i++) {
        const char *reading = results->lines[i].reading;

        if (reading[0] == '\0' || !is_first(results, i))
            continue;
        const struct oche_statement_tally tally =
            oche_paper_statements_count(statements, results, reading);

        if (is_better(&tally, &most)) {
            most = tally;
            best = reading;
        }
    }
    return best;
}
