/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Distributions of flow sizes: read, checked, sampled. The files are described in
 * workloads.md#files.
 */
#include "sim/app/cdf.h"
#include "params/error.h"
#include "params/input_file.h"
#include "params/text_input.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "sim/app/cdf_data.h" /* made by Meson from data/cdf: X(websearch, "text") … */

#define MOST_BYTES (16 * OCHE_INPUT_MIB)
#define ROUNDING   1e-6 /* allowed error of the last line's sum */

#define X(name, text) #name,
const char *const oche_cdf_names[] = {OCHE_CDF_DATA NULL};
#undef X

#define X(name, text) text,
static const char *const texts[] = {OCHE_CDF_DATA NULL};
#undef X

struct reader {
    const char *path;         /* the file's name in error messages */
    unsigned line, row_line;  /* numbers of the current line, and of the line of the last row */
    bool has_header, percent; /* percent: a part has a % */
    struct oche_text_input input;
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

/* Parses a size and the part of flows that are at most as large. */
static bool parse_row(struct reader *reader, const char *first, const char *second, uint64_t *size,
                      double *at_most)
{
    if (!oche_text_bytes(first, size))
        return fail(reader, "size: \"%.40s\" %s; a whole number of bytes", first,
                    oche_text_fault(first, "is no size"));
    if (*size > OCHE_CDF_MAX_SIZE)
        return fail(reader, "size: %.40s bytes; at most %llu would be right", first,
                    (unsigned long long)OCHE_CDF_MAX_SIZE);
    if (!oche_text_real(second, at_most))
        return fail(reader, "cdf: \"%.40s\" %s; 0 to 100, or 0 to 1", second,
                    oche_text_fault(second, "is no part"));
    reader->percent |= strchr(second, '%') != NULL;
    return true;
}

/* Parses one line: `size cdf`. */
static bool read_row(struct reader *reader, char *const words[2])
{
    struct oche_cdf *cdf = reader->cdf;
    uint64_t size;
    double at_most;

    if (!parse_row(reader, words[0], words[1], &size, &at_most))
        return false;
    if (cdf->count == 0) {
        if (at_most != 0.0)
            return fail(reader,
                        "cdf: begins at %.40s; the first line's must be 0: add \"%.40s 0\" if "
                        "that part has just this size, \"0 0\" if sizes begin at 0",
                        words[1], words[0]);
        return append(reader, size, at_most);
    }
    const struct oche_cdf_row *last = &cdf->rows[cdf->count - 1];
    if (size == last->size && at_most == last->at_most)
        return fail(reader, "the line before says the same; remove one");
    if (size < last->size)
        return fail(reader, "size: %llu after %llu; sizes must not fall", (unsigned long long)size,
                    (unsigned long long)last->size);
    if (at_most < last->at_most)
        return fail(reader, "cdf: %.40s after %.17g; it must not fall", words[1], last->at_most);
    return append(reader, size, at_most);
}

/* ---- names of columns ---- */

static bool has_one_of(const char *name, const char *const *parts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcasestr(name, parts[i]) != NULL)
            return true;
    return false;
}

/* True if the words of the first line are names: none of them is a number. */
static bool is_header(char *const words[], unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (strpbrk(words[i], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == NULL ||
            strchr("0123456789.+-", words[i][0]) != NULL || oche_text_fault(words[i], NULL) != NULL)
            return false;
    return true;
}

/* True if a word of the name is a unit other than bytes: "size_kb", "Size (packets)". */
static bool has_unit(const char *name)
{
    static const char *const units[] = {"kb",  "kib",  "mb",      "mib",  "gb",       "gib",
                                        "bit", "bits", "packets", "pkts", "kilobytes"};

    for (size_t length; *name != '\0'; name += length) {
        length = 0;
        while (isalpha((unsigned char)name[length]))
            length++;
        for (size_t i = 0; i < OCHE_COUNT_OF(units); i++)
            if (strlen(units[i]) == length && strncasecmp(name, units[i], length) == 0)
                return true;
        length += length == 0;
    }
    return false;
}

/* Refuses names that say that the numbers are others than those which are read. */
static bool check_header(struct reader *reader, char *const words[2])
{
    static const char *const parts[] = {"cdf", "prob", "frac", "perc", "cum", "part"};
    static const char *const sizes[] = {"size", "byte", "len"};
    if (has_one_of(words[0], parts, OCHE_COUNT_OF(parts)) &&
        has_one_of(words[1], sizes, OCHE_COUNT_OF(sizes)))
        return fail(reader,
                    "\"%.40s\" before \"%.40s\"; the size is the first column, the part "
                    "of flows the second",
                    words[0], words[1]);
    if (has_unit(words[0]))
        return fail(reader, "sizes in \"%.40s\"; bytes, or a unit with each, as 10KB", words[0]);
    return true;
}

static bool read_line(struct reader *reader, char *line)
{
    char *words[2] = {NULL, NULL};
    unsigned count = oche_text_split(line, oche_text_separator(line), words, 2);

    if (count != 2)
        return fail(reader, "%s; a line is \"size_bytes cdf\", as \"10000 15\"",
                    count < 2 ? "one number" : "more than two numbers");
    if (reader->cdf->count == 0 && !reader->has_header && is_header(words, count)) {
        reader->has_header = true;
        return check_header(reader, words);
    }
    return read_row(reader, words);
}

/* ---- the whole ---- */

/*
 * Sets *full to what stands for all flows: 1 or 100, or a sum of parts that is one of these but for
 * rounding.
 */
static bool find_full(struct reader *reader, double *full)
{
    struct oche_cdf *cdf = reader->cdf;

    *full = cdf->count > 0 ? cdf->rows[cdf->count - 1].at_most : 0.0;
    if (fabs(*full - 100.0) <= 100.0 * ROUNDING)
        return true;
    if (fabs(*full - 1.0) <= ROUNDING && !reader->percent)
        return true;
    return fail(reader, "cdf: ends at %.17g; the last line's must be 100 (percent) or 1", *full);
}

/*
 * Explains a file that cannot be read if the part of flows comes first in it: the first column
 * rises from 0 to 1 or 100, and the second has larger numbers.
 */
static bool is_swapped(struct reader *reader)
{
    char *words[2], *line;
    double part = 0, before = 0, size = 0;
    unsigned rows = 0;

    oche_text_rewind(&reader->input);
    while ((line = oche_text_next(&reader->input)) != NULL) {
        if (oche_text_split(line, oche_text_separator(line), words, 2) != 2 ||
            (rows == 0 && is_header(words, 2)))
            continue;
        if (!oche_text_real(words[0], &part) || !oche_text_real(words[1], &size) || part < before)
            return false;
        before = part;
        rows++;
    }
    return rows > 1 && (fabs(part - 1.0) <= ROUNDING || fabs(part - 100.0) <= 100.0 * ROUNDING) &&
           size > 100.0;
}

static bool finish(struct reader *reader)
{
    struct oche_cdf *cdf = reader->cdf;
    double full;

    reader->line = reader->row_line;
    if (cdf->count < 2)
        return fail(reader, "%u rows; a distribution has at least two", cdf->count);
    if (!find_full(reader, &full))
        return false;
    if (cdf->rows[cdf->count - 1].size == 0)
        return fail(reader, "size: no flow has a byte; the last line's must be above 0");
    cdf->mean = 0.0;
    for (uint32_t i = 0; i < cdf->count; i++)
        cdf->rows[i].at_most /= full;
    for (uint32_t i = 0; i + 1 < cdf->count; i++)
        cdf->mean += (cdf->rows[i + 1].at_most - cdf->rows[i].at_most) *
                     ((double)cdf->rows[i].size + (double)cdf->rows[i + 1].size) / 2.0;
    if (cdf->mean == 0.0) /* all of them have the first size */
        return fail(reader, "size: no flow has a byte; lines of sizes above 0");
    return true;
}

static bool read_text(struct oche_cdf *cdf, const char *name, const char *text, size_t bytes,
                      struct oche_error *error)
{
    struct reader reader = {.path = name, .cdf = cdf, .error = error};
    bool good = true;
    char *line;

    *cdf = (struct oche_cdf){0};
    if (!oche_text_begin(&reader.input, name, text, bytes, error))
        return false;
    while (good && (line = oche_text_next(&reader.input)) != NULL) {
        reader.line = reader.input.line;
        good = read_line(&reader, line);
    }
    good = good && finish(&reader);
    if (!good && is_swapped(&reader)) {
        reader.line = 0;
        fail(&reader, "the first column rises to all flows, as the second should; the size is the "
                      "first column, the part of flows the second");
    }
    oche_text_end(&reader.input);
    if (!good)
        oche_cdf_free(cdf);
    return good;
}

bool oche_cdf_read_file(struct oche_cdf *cdf, const char *path, struct oche_error *error)
{
    struct oche_input_file file;
    struct oche_error reason;

    *cdf = (struct oche_cdf){0};
    if (!oche_input_read(&file, path, MOST_BYTES, &reason))
        return oche_fail(error, "%s: %s; a readable file of lines \"size_bytes cdf\"", path,
                         reason.text);
    const bool good = read_text(cdf, path, file.text, file.bytes, error);

    oche_input_free(&file);
    return good;
}

bool oche_cdf_read_builtin(struct oche_cdf *cdf, size_t index, struct oche_error *error)
{
    return read_text(cdf, oche_cdf_names[index], texts[index], strlen(texts[index]), error);
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
