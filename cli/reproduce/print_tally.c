/* SPDX-License-Identifier: Apache-2.0 */
/* Prints how many claims have each verdict, and their sources. */
#include "cli/reproduce/print_tally.h"

#include "params/table.h"

enum { VERDICTS = 2 * OCHE_FINDINGS };

static enum oche_finding finding_of(unsigned verdict)
{
    return (enum oche_finding)(verdict / 2);
}

static bool is_unsure(unsigned verdict)
{
    return verdict % 2 == 1;
}

/* True for rows that are shown even if no claim has the verdict. */
static bool always(unsigned verdict)
{
    return finding_of(verdict) <= OCHE_FINDING_NOT_REPRODUCED && !is_unsure(verdict);
}

void oche_print_tally(const struct oche_tally *tally, FILE *out)
{
    bool first = true;

    for (unsigned v = 0; v < VERDICTS; v++) {
        const size_t count = oche_tally_count(tally, OCHE_SOURCES, finding_of(v), is_unsure(v));

        if (count == 0 && !always(v))
            continue;
        fprintf(out, "%s%zu %s%s", first ? "" : ", ", count, oche_finding_name(finding_of(v)),
                is_unsure(v) ? "?" : "");
        first = false;
    }
    fputc('\n', out);
}

static void print_row(struct oche_table *table, const char *name, const char *source,
                      const struct oche_tally *tally, enum oche_source which, const bool *shown)
{
    oche_table_cell(table, "%s", name);
    oche_table_cell(table, "%s", source);
    oche_table_cell(table, "%zu", oche_tally_claims(tally, which));
    for (unsigned v = 0; v < VERDICTS; v++)
        if (shown[v])
            oche_table_cell(table, "%zu",
                            oche_tally_count(tally, which, finding_of(v), is_unsure(v)));
}

/* Prints a row for each source that has claims; one for all of them if there are several. */
static void print_rows(struct oche_table *table, const char *name, const struct oche_tally *tally,
                       const bool *shown)
{
    unsigned sources = 0;

    for (unsigned s = 0; s < OCHE_SOURCES; s++) {
        if (oche_tally_claims(tally, (enum oche_source)s) == 0)
            continue;
        print_row(table, sources == 0 ? name : "", oche_source_names[s], tally, (enum oche_source)s,
                  shown);
        sources++;
    }
    if (sources != 1)
        print_row(table, sources == 0 ? name : "", "all", tally, OCHE_SOURCES, shown);
}

void oche_print_tallies(const struct oche_named_tally *tallies, size_t count, FILE *out)
{
    struct oche_tally sum = {0};
    bool shown[VERDICTS];
    unsigned columns = 3;

    for (size_t i = 0; i < count; i++)
        oche_tally_add_all(&sum, tallies[i].tally);
    for (unsigned v = 0; v < VERDICTS; v++) {
        shown[v] =
            always(v) || oche_tally_count(&sum, OCHE_SOURCES, finding_of(v), is_unsure(v)) > 0;
        columns += shown[v];
    }
    struct oche_table *table = oche_table_create(columns);

    oche_table_cell(table, "paper");
    oche_table_cell(table, "from");
    oche_table_cell(table, "claims");
    for (unsigned v = 0; v < VERDICTS; v++)
        if (shown[v])
            oche_table_cell(table, "%s%s", oche_finding_name(finding_of(v)),
                            is_unsure(v) ? "?" : "");
    oche_table_rule(table);
    for (size_t i = 0; i < count; i++)
        print_rows(table, tallies[i].name, tallies[i].tally, shown);
    if (count > 1)
        print_rows(table, "together", &sum, shown);
    oche_table_print(table, out);
    oche_table_free(table);
}
