/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Distributions of flow sizes: read, checked, sampled. The files are described in
 * workloads.md#files.
 */
#include "sim/app/cdf.h"
#include "params/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/app/cdf_data.h" /* made by Meson from data/cdf: X(websearch, "text") … */

#define NOT_READ "%s; a readable file of lines \"size_bytes cdf\""

#define X(name, text) #name,
const char *const oche_cdf_names[] = {OCHE_CDF_DATA NULL};
#undef X

#define X(name, text) text,
static const char *const texts[] = {OCHE_CDF_DATA NULL};
#undef X

struct reader {
    const char *path;        /* the file's name in error messages */
    unsigned line, row_line; /* numbers of the current line, and of the line of the last row */
    struct oche_cdf *cdf;
    uint32_t capacity;
    struct oche_error *error;
};

static bool fail(struct reader *reader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static bool fail(struct reader *reader, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    oche_fail_at(reader->error, reader->path, reader->line, format, args);
    va_end(args);
    return false;
}

static bool parse_size(const char *text, uint64_t *size)
{
    if (*text == '\0' || strspn(text, "0123456789") != strlen(text) || strlen(text) > 18)
        return false;
    *size = strtoull(text, NULL, 10);
    return true;
}

static bool parse_fraction(const char *text, double *value)
{
    const char *point = strchr(text, '.');

    if (strspn(text, "0123456789.") != strlen(text) || strpbrk(text, "0123456789") == NULL ||
        (point != NULL && strchr(point + 1, '.') != NULL))
        return false;
    *value = strtod(text, NULL);
    return true;
}

static bool append(struct reader *reader, uint64_t size, double at_most)
{
    struct oche_cdf *cdf = reader->cdf;

    if (cdf->count == reader->capacity) {
        uint32_t capacity = reader->capacity == 0 ? 64 : 2 * reader->capacity;
        struct oche_cdf_row *rows = realloc(cdf->rows, capacity * sizeof(*rows));

        if (rows == NULL)
            return fail(reader, "no memory for %u rows", capacity);
        cdf->rows = rows;
        reader->capacity = capacity;
    }
    cdf->rows[cdf->count++] = (struct oche_cdf_row){.size = size, .at_most = at_most};
    reader->row_line = reader->line;
    return true;
}

/* Parses one line, from which comment and newline have been removed: `size cdf`, or blank. */
static bool read_row(struct reader *reader, char *line)
{
    const char *const space = " \t\r\v\f";
    struct oche_cdf *cdf = reader->cdf;
    char *rest = NULL;
    const char *first = strtok_r(line, space, &rest);
    const char *second = strtok_r(NULL, space, &rest);
    uint64_t size;
    double at_most;

    if (first == NULL)
        return true;
    if (second == NULL || strtok_r(NULL, space, &rest) != NULL)
        return fail(reader, "%s; a line is \"size_bytes cdf\", as \"10000 15\"",
                    second == NULL ? "one number" : "more than two numbers");
    if (!parse_size(first, &size))
        return fail(reader, "size: \"%.40s\" is no size; a whole number of bytes", first);
    if (size > OCHE_CDF_MAX_SIZE)
        return fail(reader, "size: %.40s bytes; at most %llu would be right", first,
                    (unsigned long long)OCHE_CDF_MAX_SIZE);
    if (!parse_fraction(second, &at_most))
        return fail(reader, "cdf: \"%.40s\" is no part; 0 to 100, or 0 to 1", second);
    if (cdf->count == 0) {
        if (at_most != 0.0)
            return fail(reader, "cdf: begins at %.40s; the first line's must be 0", second);
        return append(reader, size, at_most);
    }
    const struct oche_cdf_row *last = &cdf->rows[cdf->count - 1];
    if (size == last->size && at_most == last->at_most)
        return fail(reader, "the line before says the same; remove one");
    if (size < last->size)
        return fail(reader, "size: %llu after %llu; sizes must not fall", (unsigned long long)size,
                    (unsigned long long)last->size);
    if (at_most < last->at_most)
        return fail(reader, "cdf: %.40s after %.17g; it must not fall", second, last->at_most);
    return append(reader, size, at_most);
}

static bool finish(struct reader *reader)
{
    struct oche_cdf *cdf = reader->cdf;
    double full = cdf->count > 0 ? cdf->rows[cdf->count - 1].at_most : 0.0;

    reader->line = reader->row_line;
    if (cdf->count < 2)
        return fail(reader, "%u rows; a distribution has at least two", cdf->count);
    if (full != 100.0 && full != 1.0)
        return fail(reader, "cdf: ends at %.17g; the last line's must be 100 (percent) or 1", full);
    if (cdf->rows[cdf->count - 1].size == 0)
        return fail(reader, "size: no flow has a byte; the last line's must be above 0");
    cdf->mean = 0.0;
    for (uint32_t i = 0; i < cdf->count; i++)
        cdf->rows[i].at_most /= full;
    for (uint32_t i = 0; i + 1 < cdf->count; i++)
        cdf->mean += (cdf->rows[i + 1].at_most - cdf->rows[i].at_most) *
                     ((double)cdf->rows[i].size + (double)cdf->rows[i + 1].size) / 2.0;
    return true;
}

static bool read_text(struct reader *reader, FILE *file)
{
    char *line = NULL;
    size_t line_bytes = 0;
    bool good = true;

    *reader->cdf = (struct oche_cdf){0};
    while (good && getline(&line, &line_bytes, file) >= 0) {
        char *rest;

        reader->line++;
        line[strcspn(line, "#\n")] = '\0';
        for (rest = line; *rest == ' ' || *rest == '\t'; rest++)
            ;
        if (*rest != '\0')
            good = read_row(reader, rest);
    }
    if (good && ferror(file)) {
        reader->line = 0;
        good = fail(reader, NOT_READ, strerror(errno));
    }
    free(line);
    if (good && finish(reader))
        return true;
    oche_cdf_free(reader->cdf);
    return false;
}

static bool read_stream(struct reader *reader, FILE *file)
{
    bool good;

    if (file == NULL)
        return fail(reader, NOT_READ, strerror(errno));
    good = read_text(reader, file);
    fclose(file);
    return good;
}

bool oche_cdf_read_file(struct oche_cdf *cdf, const char *path, struct oche_error *error)
{
    struct reader reader = {.path = path, .cdf = cdf, .error = error};

    *cdf = (struct oche_cdf){0};
    return read_stream(&reader, fopen(path, "r"));
}

bool oche_cdf_read_builtin(struct oche_cdf *cdf, size_t index, struct oche_error *error)
{
    struct reader reader = {.path = oche_cdf_names[index], .cdf = cdf, .error = error};
    const char *text = texts[index];

    *cdf = (struct oche_cdf){0};
    return read_stream(&reader, fmemopen((void *)(uintptr_t)text, strlen(text), "r"));
}

bool oche_cdf_read(struct oche_cdf *cdf, size_t index, const char *path, struct oche_error *error)
{
    if (path != NULL && *path != '\0')
        return oche_cdf_read_file(cdf, path, error);
    return oche_cdf_read_builtin(cdf, index, error);
}

void oche_cdf_free(struct oche_cdf *cdf)
{
    free(cdf->rows);
    *cdf = (struct oche_cdf){0};
}

uint64_t oche_cdf_size(const struct oche_cdf *cdf, double u)
{
    uint32_t low = 0, high = cdf->count - 1; /* the row above `u` is in (low, high] */
    const struct oche_cdf_row *before, *after;
    double size;

    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;

        if (cdf->rows[middle].at_most > u)
            high = middle;
        else
            low = middle;
    }
    before = &cdf->rows[low];
    after = &cdf->rows[high];
    size = (double)after->size;
    if (u < after->at_most)
        size =
            (double)before->size + (double)(after->size - before->size) *
                                       ((u - before->at_most) / (after->at_most - before->at_most));
    return size < 1.0 ? 1 : (uint64_t)(size + 0.5);
}

uint64_t oche_cdf_sample(const struct oche_cdf *cdf, struct oche_random *random)
{
    return oche_cdf_size(cdf, oche_random_unit(random));
}
