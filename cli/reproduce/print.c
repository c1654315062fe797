/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the findings of a figure as tables and lists. */
#include "cli/reproduce/print.h"

#include <math.h>
#include <string.h>

#include "cli/reproduce/print_tally.h"
#include "lab/reproduce/paper.h"
#include "lab/reproduce/tolerances.h"
#include "lab/reproduce/words.h"
#include "params/table.h"

#define WIDTH 100

static size_t columns_of(const char *text, size_t bytes)
{
    size_t columns = 0;

    for (size_t i = 0; i < bytes; i++)
        columns += ((unsigned char)text[i] & 0xc0) != 0x80;
    return columns;
}

/*
 * Prints text in lines of at most WIDTH columns, after `indent` spaces; `first` begins the first
 * line.
 */
static void print_wrapped(const char *first, const char *text, unsigned indent, FILE *out)
{
    size_t at = 0; /* columns used in this line, without the indentation */
    bool begun = false;

    while (*text != '\0') {
        size_t bytes = strcspn(text, " \n"), columns = columns_of(text, bytes);

        if (at > 0 && indent + at + 1 + columns > WIDTH) {
            fputc('\n', out);
            at = 0;
        }
        if (bytes > 0) {
            fprintf(out, "%*s", at == 0 ? (int)indent : 1, begun ? "" : first);
            at += columns + (at == 0 ? 0 : 1);
            begun = true;
            fwrite(text, 1, bytes, out);
        }
        text += bytes;
        text += strspn(text, " \n");
    }
    fputc('\n', out);
}

void oche_print_item(const char *text, FILE *out)
{
    print_wrapped("- ", text, 4, out);
}

void oche_print_hanging(const char *first, const char *text, unsigned indent, FILE *out)
{
    print_wrapped(first, text, indent, out);
}

/* ---- the figure's own reading ---- */

/* True if a verdict of the figure's own or another reading has a question mark. */
static bool any_unsure(const struct oche_findings *findings)
{
    const struct oche_study *study = findings->study;
    bool unsure = false;

    for (size_t c = 0; c < study->claim_count; c++) {
        unsure |= findings->judged[c].unsure;
        for (size_t a = 0; a < study->also_count; a++)
            unsure |= findings->also[c * study->also_count + a].unsure;
    }
    return unsure;
}

/* Explains the table's verdicts and intervals; `drawn`: some intervals are by bootstrap. */
static void print_key(const struct oche_findings *findings, bool drawn, FILE *out)
{
    fputs("\nverdicts: reproduced, within the tolerance; in shape, beyond it but within the wider"
          " band\n  (\"shape\"); a factor is one up or down, so that nothing is never in shape",
          out);
    if (any_unsure(findings))
        fputs(";\n  ?: the interval reaches into another verdict, so more seeds may change it",
              out);
    fputs("\nintervals: of means over seeds, by Student's t", out);
    fputs(drawn ? "; * by bootstrap (2000 draws of the seeds)\n" : "\n", out);
}

static void print_claims(const struct oche_findings *findings, FILE *out)
{
    const struct oche_study *study = findings->study;
    struct oche_table *table = oche_table_create(6);
    bool drawn = false;

    oche_table_cell(table, "claim");
    oche_table_cell(table, "published");
    oche_table_cell(table, "measured");
    oche_table_cell(table, "95 %% interval");
    oche_table_cell(table, "tolerance");
    oche_table_cell(table, study->quick ? "verdict (quick)" : "verdict");
    oche_table_rule(table);
    for (size_t c = 0; c < study->claim_count; c++) {
        const struct oche_claim *claim = &study->claims[c];
        const struct oche_judgement *judged = &findings->judged[c];

        oche_table_cell(table, "%s", claim->text);
        oche_table_cell(table, "%s", oche_published_words(study, claim).text);
        oche_table_cell(table, "%s", oche_measured_words(study, claim, judged).text);
        oche_table_cell(table, "%s", oche_interval_words(study, claim, judged).text);
        oche_table_cell(table, "%s", oche_tolerance_words(study, claim).text);
        oche_table_cell(table, "%s%s", oche_finding_name(judged->finding),
                        judged->unsure ? "?" : "");
        drawn |= judged->interval == OCHE_INTERVAL_BOOTSTRAP;
    }
    oche_table_print(table, out);
    oche_table_free(table);
    print_key(findings, drawn, out);
}

/* ---- curves ---- */

static bool is_of_curves(const struct oche_claim *claim)
{
    return claim->kind->conditions == OCHE_CONDITIONS_CURVES;
}

/* True if both claims are about the same quantity along the same axis. */
static bool is_same_plot(const struct oche_claim *claim, const struct oche_claim *other)
{
    return is_of_curves(other) && other->quantity == claim->quantity &&
           other->along == claim->along;
}

/* Prints "ordering holds at 5 of 6 points" or "factor 2.1 (published 2.5)", and the claim. */
static void print_curve(const struct oche_findings *findings, size_t number, FILE *out)
{
    const struct oche_study *study = findings->study;
    const struct oche_claim *claim = &study->claims[number];
    const struct oche_judgement *judged = &findings->judged[number];
    const struct oche_judgement published = {.measured = claim->published};
    const struct oche_words words = oche_measured_words(study, claim, judged);

    if (isnan(judged->measured))
        fputs("    not measured", out);
    else if (claim->kind->band == OCHE_BAND_POINTS)
        fprintf(out, "    ordering holds at %s", words.text);
    else
        fprintf(out, "    factor %s (published %s)", words.text,
                oche_measured_words(study, claim, &published).text);
    fprintf(out, ": %s\n", claim->text);
}

/* Prints the verdicts about curves again, plot by plot. */
static void print_curves(const struct oche_findings *findings, FILE *out)
{
    const struct oche_study *study = findings->study;
    bool any = false;

    for (size_t c = 0; c < study->claim_count; c++) {
        const struct oche_claim *claim = &study->claims[c];
        bool first = is_of_curves(claim);

        for (size_t before = 0; first && before < c; before++)
            first = !is_same_plot(claim, &study->claims[before]);
        if (!first)
            continue;
        fprintf(out, "%s  %s, along %s\n", any ? "" : "\ncurves:\n", claim->quantity->label,
                study->axes[claim->along].key);
        any = true;
        for (size_t same = c; same < study->claim_count; same++)
            if (is_same_plot(claim, &study->claims[same]))
                print_curve(findings, same, out);
    }
}

/* ---- explanations ---- */

/* Returns the claim's explanation if the verdict needs one; else NULL. */
static const char *explanation_of(const struct oche_findings *findings, size_t c)
{
    return findings->judged[c].finding == OCHE_FINDING_REPRODUCED
               ? NULL
               : findings->study->claims[c].explanation;
}

/* Prints explanations, each once, with all claims to which it applies. */
static void print_explanations(const struct oche_findings *findings, FILE *out)
{
    const struct oche_study *study = findings->study;
    bool any = false;

    for (size_t c = 0; c < study->claim_count; c++) {
        const char *explanation = explanation_of(findings, c);
        bool told = false;

        for (size_t before = 0; explanation != NULL && before < c; before++) {
            const char *other = explanation_of(findings, before);
            told |= other != NULL && strcmp(other, explanation) == 0;
        }
        if (explanation == NULL || told)
            continue;
        fputs(any ? "" : "\nwhy:\n", out);
        any = true;
        for (size_t same = c; same < study->claim_count; same++) {
            const char *other = explanation_of(findings, same);
            if (other != NULL && strcmp(other, explanation) == 0)
                fprintf(out, "  %s (%s)\n", study->claims[same].text,
                        oche_finding_name(findings->judged[same].finding));
        }
        print_wrapped("", explanation, 4, out);
    }
}

/* ---- other readings ---- */

static void print_reading(const struct oche_findings *findings, size_t number, FILE *out)
{
    const struct oche_study *study = findings->study;
    struct oche_table *table = oche_table_create(4);
    size_t rows = 0;

    oche_table_cell(table, "also measured: %s", study->also[number].label);
    oche_table_cell(table, "measured");
    oche_table_cell(table, "95 %% interval");
    oche_table_cell(table, study->quick ? "would be (quick)" : "would be");
    oche_table_rule(table);
    for (size_t c = 0; c < study->claim_count; c++) {
        const struct oche_claim *claim = &study->claims[c];
        const struct oche_judgement *judged = &findings->also[c * study->also_count + number];

        if (judged->finding == OCHE_FINDING_NO_DATA || judged->finding == OCHE_FINDING_NOT_JUDGED)
            continue;
        oche_table_cell(table, "%s", claim->text);
        oche_table_cell(table, "%s", oche_measured_words(study, claim, judged).text);
        oche_table_cell(table, "%s", oche_interval_words(study, claim, judged).text);
        oche_table_cell(table, "%s%s", oche_finding_name(judged->finding),
                        judged->unsure ? "?" : "");
        rows++;
    }
    if (rows > 0) {
        fputc('\n', out);
        oche_table_print(table, out);
    }
    oche_table_free(table);
}

/* Prints the figure's own differences; those of the paper are printed only once per paper. */
static void print_differences(const struct oche_study *study, FILE *out)
{
    if (study->difference_count > study->paper_difference_count)
        fputs("\nwhere this figure's set-up differs from the paper's:\n", out);
    for (size_t d = study->paper_difference_count; d < study->difference_count; d++) {
        oche_print_item(study->differences[d], out);
    }
}

void oche_reproduce_print(const struct oche_findings *findings, const char *tolerances_commit,
                          FILE *out)
{
    const struct oche_study *study = findings->study;

    fprintf(out, "%s%s%s: %s (%s)\n", study->paper != NULL ? study->paper->name : "",
            study->paper != NULL ? "/" : "", study->name, study->title, study->place);
    if (strcmp(tolerances_commit, OCHE_NOT_COMMITTED) == 0)
        fprintf(out, "claims and tolerances: %s\n\n", tolerances_commit);
    else
        fprintf(out, "claims and tolerances: commit %.12s\n\n", tolerances_commit);
    print_claims(findings, out);
    print_curves(findings, out);
    for (size_t a = 0; a < study->also_count; a++)
        print_reading(findings, a, out);
    print_explanations(findings, out);
    print_differences(study, out);
    fputs(study->quick ? "\n  quick: " : "\n  ", out);
    oche_print_tally(&findings->tally, out);
}
