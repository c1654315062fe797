/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes results.csv. */
#include "lab/reproduce/results_file.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lab/reproduce/measured.h"
#include "lab/sweep/grid_files.h"
#include "lab/sweep/grid_text.h"
#include "sim/scenario/scenario.h"
#include "params/input_file.h"
#include "params/printable.h"

#define HEAD_WITHOUT_READING                                                                       \
    "figure,claim,source,published,measured,low,high,unit,verdict,seeds,digest,commit,date"
#define HEAD HEAD_WITHOUT_READING ",reading"

enum field {
    FIGURE,
    CLAIM,
    SOURCE,
    PUBLISHED,
    MEASURED,
    LOW,
    HIGH,
    UNIT,
    VERDICT,
    SEEDS,
    DIGEST,
    COMMIT,
    DATE,
    FIELDS
};

/* ---- lines ---- */

static struct oche_result_line *add_line(struct oche_results *results)
{
    results->lines = realloc(results->lines, (results->count + 1) * sizeof(*results->lines));
    OCHE_GOT(results->lines != NULL);
    results->lines[results->count] = (struct oche_result_line){.figure = NULL};
    return &results->lines[results->count++];
}

static char *copy(const char *text)
{
    char *copied = strdup(text);

    OCHE_GOT(copied != NULL);
    return copied;
}

void oche_results_free(struct oche_results *results)
{
    for (size_t i = 0; i < results->count; i++) {
        free(results->lines[i].figure);
        free(results->lines[i].claim);
        free(results->lines[i].text);
        free(results->lines[i].commit);
        free(results->lines[i].date);
        free(results->lines[i].reading);
        free(results->lines[i].unit);
    }
    free(results->lines);
    *results = (struct oche_results){.count = 0};
}

/* ---- reading ---- */

/* Finds a word among `count` names; false if there is no such name. */
static bool find(const char *word, const char *(*name)(size_t), size_t count, size_t *found)
{
    for (*found = 0; *found < count; (*found)++)
        if (strcmp(word, name(*found)) == 0)
            return true;
    return false;
}

static const char *source_name(size_t source)
{
    return oche_source_names[source];
}

static const char *finding_name(size_t finding)
{
    return oche_finding_name((enum oche_finding)finding);
}

/* Reads a number, "never" or nothing; false if it is none of these. */
static bool read_number(const char *field, double *value)
{
    char *end;

    *value = NAN;
    if (field[0] == '\0')
        return true;
    if (strcmp(field, "never") == 0) {
        *value = INFINITY;
        return true;
    }
    *value = strtod(field, &end);
    return *end == '\0' && isfinite(*value);
}

/* Returns the last field without its quotes, if it has any; NULL if it is wrong. */
static const char *unquote(char *field)
{
    const size_t length = strlen(field);
    const bool quoted = length >= 2 && field[0] == '"' && field[length - 1] == '"';

    if (quoted) {
        field[length - 1] = '\0';
        field++;
    } else if (strchr(field, ',') != NULL) {
        return NULL;
    }
    return strchr(field, '"') == NULL ? field : NULL;
}

/*
 * Parses a line, whose text it changes; false if it is no line of this file. `readings`: its last
 * field is the reading.
 */
static bool read_line(struct oche_result_line *line, char *text, bool readings)
{
    char *field[FIELDS], *rest = text;
    size_t count = 0, source, finding;

    while (rest != NULL && count < FIELDS)
        field[count++] = strsep(&rest, ",");
    if (count < FIELDS || (rest != NULL) != readings)
        return false;
    const char *reading = readings ? unquote(rest) : "";

    if (reading == NULL)
        return false;
    const size_t length = strlen(field[VERDICT]);

    line->unsure = length > 0 && field[VERDICT][length - 1] == '?';
    if (line->unsure)
        field[VERDICT][length - 1] = '\0';
    if (!find(field[SOURCE], source_name, OCHE_SOURCES, &source) ||
        !find(field[VERDICT], finding_name, OCHE_FINDINGS, &finding) || field[SEEDS][0] == '-' ||
        sscanf(field[SEEDS], "%" SCNu32, &line->seeds) != 1 ||
        sscanf(field[DIGEST], "%" SCNx64, &line->digest) != 1 ||
        !read_number(field[PUBLISHED], &line->published) ||
        !read_number(field[MEASURED], &line->measured) || !read_number(field[LOW], &line->low) ||
        !read_number(field[HIGH], &line->high))
        return false;
    line->source = (enum oche_source)source;
    line->finding = (enum oche_finding)finding;
    line->figure = copy(field[FIGURE]);
    line->claim = copy(field[CLAIM]);
    line->commit = copy(field[COMMIT]);
    line->date = copy(field[DATE]);
    line->reading = copy(reading);
    line->unit = copy(field[UNIT]);
    return true;
}

/* True if the last line is of the same claim and reading as an earlier one. */
static bool last_is_there_twice(const struct oche_results *results)
{
    const struct oche_result_line *last = &results->lines[results->count - 1];

    for (const struct oche_result_line *line = results->lines; line < last; line++)
        if (strcmp(line->claim, last->claim) == 0 && strcmp(line->figure, last->figure) == 0 &&
            strcmp(line->reading, last->reading) == 0)
            return true;
    return false;
}

static bool read_lines(struct oche_results *results, const char *path, FILE *in,
                       struct oche_error *error)
{
    char *text = NULL;
    size_t room = 0;
    unsigned number = 0;
    bool ok = true, readings = false;

    while (ok && getline(&text, &room, in) >= 0) {
        number++;
        text[strcspn(text, "\n")] = '\0';
        if (number == 1) {
            readings = strcmp(text, HEAD) == 0;
            ok = readings || strcmp(text, HEAD_WITHOUT_READING) == 0;
            continue;
        }
        struct oche_result_line *line = add_line(results);

        /* a line of an older file is written again with an empty reading */
        OCHE_GOT(asprintf(&line->text, "%s%s", text, readings ? "" : ",") >= 0);
        ok = oche_is_printable(text) && read_line(line, text, readings) &&
             !last_is_there_twice(results);
    }
    free(text);
    if (!ok)
        oche_fail(error,
                  "%s:%u: is no line of a paper's results; oche reproduce --record writes "
                  "the file",
                  path, number);
    return ok;
}

bool oche_results_read(struct oche_results *results, const struct oche_paper *paper,
                       struct oche_error *error)
{
    char *path = NULL;
    bool ok;

    *results = (struct oche_results){.count = 0};
    OCHE_GOT(asprintf(&path, "%s/results.csv", paper->folder) >= 0);
    struct oche_error reason;
    FILE *in = oche_input_stream(path, &reason);

    if (in == NULL) {
        ok = access(path, F_OK) != 0 && errno == ENOENT;
        if (!ok)
            oche_fail(error, "%s: cannot be read: %s", path, reason.text);
    } else {
        ok = read_lines(results, path, in, error);
        fclose(in);
    }
    free(path);
    if (!ok)
        oche_results_free(results);
    return ok;
}

/* ---- making ---- */

static uint64_t add_text(uint64_t digest, const char *text)
{
    do
        digest = (digest ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    while (*text++ != '\0');
    return digest;
}

uint64_t oche_results_digest(const struct oche_plan *plan)
{
    struct oche_error ignored;
    struct oche_document *scenario = oche_document_open(plan->grid.scenario, &ignored);
    char *grid = oche_grid_text(&plan->grid), *files = oche_grid_files(&plan->grid);
    uint64_t digest = plan->study->digest;

    digest = add_text(digest, scenario != NULL ? oche_document_text(scenario) : "");
    digest = add_text(add_text(digest, grid), files);
    for (size_t g = 0; g < plan->study->grid_count; g++)
        if (plan->study->measured[g] != NULL)
            digest =
                digest * UINT64_C(0x100000001b3) ^ oche_measured_digest(plan->study->measured[g]);
    oche_document_close(scenario);
    free(grid);
    free(files);
    return digest;
}

static void print_number(double value, FILE *out)
{
    if (isfinite(value))
        fprintf(out, "%.6g", value);
    else if (isinf(value))
        fputs("never", out);
    fputc(',', out);
}

/* Prints the reading as the last field. A label has no quotation marks and no line breaks. */
static void print_reading(const char *reading, FILE *out)
{
    const char *quote = strchr(reading, ',') != NULL ? "\"" : "";

    fprintf(out, "%s%s%s", quote, reading, quote);
}

/* The program that measured, and when. */
struct made {
    const char *commit, *date;
    uint64_t digest;
};

static double published_of(const struct oche_claim *claim)
{
    return claim->kind->published != NULL ? claim->published : NAN;
}

static char *line_text(const struct oche_study *study, const struct oche_claim *claim,
                       const struct oche_judgement *judged, const struct made *made,
                       const char *reading)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    OCHE_GOT(out != NULL);
    fprintf(out, "%s,%s,%s,", study->name, claim->name, oche_source_names[claim->source]);
    print_number(published_of(claim), out);
    print_number(judged->measured, out);
    print_number(judged->low, out);
    print_number(judged->high, out);
    fprintf(out, "%s,%s%s,%u,%016" PRIx64 ",%s,%s,", oche_claim_unit(study, claim),
            oche_finding_name(judged->finding), judged->unsure ? "?" : "", judged->runs,
            made->digest, made->commit, made->date);
    print_reading(reading, out);
    OCHE_GOT(fclose(out) == 0);
    return text;
}

static void add_judged(struct oche_results *results, const struct oche_study *study,
                       const struct oche_claim *claim, const struct oche_judgement *judged,
                       const struct made *made, const char *reading)
{
    *add_line(results) =
        (struct oche_result_line){.figure = copy(study->name),
                                  .claim = copy(claim->name),
                                  .text = line_text(study, claim, judged, made, reading),
                                  .commit = copy(made->commit),
                                  .date = copy(made->date),
                                  .reading = copy(reading),
                                  .unit = copy(oche_claim_unit(study, claim)),
                                  .published = published_of(claim),
                                  .measured = judged->measured,
                                  .low = judged->low,
                                  .high = judged->high,
                                  .source = claim->source,
                                  .finding = judged->finding,
                                  .unsure = judged->unsure,
                                  .seeds = judged->runs,
                                  .digest = made->digest};
}

void oche_results_add(struct oche_results *results, const struct oche_plan *plan,
                      const struct oche_findings *findings, const char *commit, const char *date)
{
    const struct oche_study *study = plan->study;
    const struct made made = {commit, date, oche_results_digest(plan)};

    for (size_t c = 0; c < study->claim_count; c++) {
        const struct oche_claim *claim = &study->claims[c];

        add_judged(results, study, claim, &findings->judged[c], &made, "");
        for (size_t a = 0; a < study->also_count; a++) {
            const struct oche_judgement *also = &findings->also[c * study->also_count + a];

            if (also->finding != OCHE_FINDING_NO_DATA && also->finding != OCHE_FINDING_NOT_JUDGED)
                add_judged(results, study, claim, also, &made, study->also[a].label);
        }
    }
}

void oche_results_copy(struct oche_results *results, const struct oche_results *from)
{
    for (size_t i = 0; i < from->count; i++) {
        const struct oche_result_line *one = &from->lines[i];
        struct oche_result_line *line = add_line(results);

        *line = *one;
        line->figure = copy(one->figure);
        line->claim = copy(one->claim);
        line->text = copy(one->text);
        line->commit = copy(one->commit);
        line->date = copy(one->date);
        line->reading = copy(one->reading);
        line->unit = copy(one->unit);
    }
}

/* Writes the lines of a figure; false if there are none. */
static bool print_figure(const struct oche_results *results, const char *figure, FILE *out)
{
    bool any = false;

    for (size_t i = 0; i < results->count; i++)
        if (strcmp(results->lines[i].figure, figure) == 0) {
            fprintf(out, "%s\n", results->lines[i].text);
            any = true;
        }
    return any;
}

void oche_results_print(const struct oche_results *results, const struct oche_results *before,
                        const struct oche_paper *paper, FILE *out)
{
    fputs(HEAD "\n", out);
    for (size_t f = 0; f < paper->figure_count; f++)
        if (!print_figure(results, paper->figures[f], out))
            print_figure(before, paper->figures[f], out);
}
