/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A point's result as text. Each item has a line; names and messages are last on their line;
 * numbers are in hexadecimal floating point. The last line shows that the text is complete.
 *
 *     oche point 1
 *     status done | failed | crashed
 *     seed 1
 *     hash 5dbf0a1e6b2c3d4f
 *     wall 0x1.8p-3
 *     error LINE                                  only if the point is not done
 *     metric UNIT VALUE NAME
 *     distribution UNIT SAMPLES VALUE… NAME       OCHE_DISTRIBUTION_STEPS values
 *     end
 */
#include "lab/sweep/point.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lab/measures/metrics.h"

#define HEAD       "oche point 1"
#define MOST_ITEMS 100000 /* most items in a result; a text with more is not a result */

static const char *const status_names[] = {
    [OCHE_POINT_DONE] = "done", [OCHE_POINT_FAILED] = "failed", [OCHE_POINT_CRASHED] = "crashed"};
#define STATUSES OCHE_COUNT_OF(status_names)

const char *oche_point_status_name(enum oche_point_status status)
{
    OCHE_MUST((size_t)status < STATUSES);
    return status_names[status];
}

/* ---- writing ---- */

/* Writes a text on one line: control characters become blanks. */
static void write_text(const char *text, FILE *out)
{
    for (; *text != '\0'; text++)
        fputc((unsigned char)*text < ' ' ? ' ' : *text, out);
    fputc('\n', out);
}

bool oche_point_write(const struct oche_point_result *result, FILE *out)
{
    fprintf(out, HEAD "\nstatus %s\nseed %" PRIu64 "\nhash %016" PRIx64 "\nwall %a\n",
            oche_point_status_name(result->status), result->seed, result->hash, result->wall_s);
    if (result->status != OCHE_POINT_DONE) {
        fputs("error ", out);
        write_text(result->error != NULL ? result->error : "", out);
    }
    for (size_t i = 0; i < result->metric_count; i++) {
        fprintf(out, "metric %s %a ", result->metrics[i].unit, result->metrics[i].value);
        write_text(result->metrics[i].name, out);
    }
    for (size_t i = 0; i < result->distribution_count; i++) {
        const struct oche_distribution *distribution = &result->distributions[i];

        fprintf(out, "distribution %s %" PRIu64 " ", distribution->unit, distribution->count);
        for (size_t step = 0; step < OCHE_DISTRIBUTION_STEPS; step++)
            fprintf(out, "%a ", distribution->value[step]);
        write_text(distribution->name, out);
    }
    fputs("end\n", out);
    return fflush(out) == 0 && ferror(out) == 0;
}

/* ---- reading ---- */

/* Returns the next word and moves *rest behind it; "" if there is no further word. */
static char *word(char **rest)
{
    char *first = *rest;
    size_t length = strcspn(first, " ");

    *rest = first + length + (first[length] == ' ');
    first[length] = '\0';
    return first;
}

static bool read_whole(const char *text, int base, uint64_t *value)
{
    char *end;

    errno = 0;
    *value = strtoull(text, &end, base);
    return isxdigit((unsigned char)text[0]) && *end == '\0' && errno == 0;
}

static bool read_real(const char *text, double *value)
{
    char *end;

    *value = strtod(text, &end);
    return text[0] != '\0' && !isspace((unsigned char)text[0]) && *end == '\0';
}

static bool read_unit(char **rest, const char **unit)
{
    *unit = oche_metric_unit_named(word(rest));
    return *unit != NULL;
}

static bool read_status(char *rest, struct oche_point_result *result)
{
    for (size_t i = 0; i < STATUSES; i++)
        if (strcmp(rest, status_names[i]) == 0) {
            result->status = (enum oche_point_status)i;
            return true;
        }
    return false;
}

static bool read_metric(char *rest, struct oche_point_result *result)
{
    struct oche_metric metric = {.value = 0};

    if (result->metric_count == MOST_ITEMS || !read_unit(&rest, &metric.unit) ||
        !read_real(word(&rest), &metric.value) || rest[0] == '\0')
        return false;
    metric.name = strdup(rest);
    result->metrics =
        realloc(result->metrics, (result->metric_count + 1) * sizeof(*result->metrics));
    OCHE_GOT(metric.name != NULL && result->metrics != NULL);
    result->metrics[result->metric_count++] = metric;
    return true;
}

static bool read_distribution(char *rest, struct oche_point_result *result)
{
    struct oche_distribution read = {.count = 0};

    if (result->distribution_count == MOST_ITEMS || !read_unit(&rest, &read.unit) ||
        !read_whole(word(&rest), 10, &read.count))
        return false;
    for (size_t step = 0; step < OCHE_DISTRIBUTION_STEPS; step++)
        if (!read_real(word(&rest), &read.value[step]))
            return false;
    if (rest[0] == '\0')
        return false;
    read.name = strdup(rest);
    result->distributions = realloc(result->distributions, (result->distribution_count + 1) *
                                                               sizeof(*result->distributions));
    OCHE_GOT(read.name != NULL && result->distributions != NULL);
    result->distributions[result->distribution_count++] = read;
    return true;
}

static bool read_error(char *rest, struct oche_point_result *result)
{
    free(result->error);
    result->error = strdup(rest);
    OCHE_GOT(result->error != NULL);
    return true;
}

/* Parses one line without its newline. */
static bool read_line(char *line, struct oche_point_result *result)
{
    char *rest = line;
    const char *item = word(&rest);

    if (strcmp(item, "status") == 0)
        return read_status(rest, result);
    if (strcmp(item, "seed") == 0)
        return read_whole(rest, 10, &result->seed);
    if (strcmp(item, "hash") == 0)
        return read_whole(rest, 16, &result->hash);
    if (strcmp(item, "wall") == 0)
        return read_real(rest, &result->wall_s);
    if (strcmp(item, "error") == 0)
        return read_error(rest, result);
    if (strcmp(item, "metric") == 0)
        return read_metric(rest, result);
    if (strcmp(item, "distribution") == 0)
        return read_distribution(rest, result);
    return false;
}

bool oche_point_read(struct oche_point_result *result, FILE *in)
{
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;
    bool ok = true, begun = false, whole = false;

    *result = (struct oche_point_result){.status = OCHE_POINT_DONE};
    while (ok && (length = getline(&line, &capacity, in)) > 0) {
        ok = !whole && line[length - 1] == '\n' && strlen(line) == (size_t)length;
        line[length - 1] = '\0';
        if (!ok)
            break;
        if (!begun)
            ok = begun = strcmp(line, HEAD) == 0;
        else if (strcmp(line, "end") == 0)
            whole = true;
        else
            ok = read_line(line, result);
    }
    free(line);
    ok = ok && whole && (result->status == OCHE_POINT_DONE) == (result->error == NULL);
    if (!ok)
        oche_point_free(result);
    return ok;
}
