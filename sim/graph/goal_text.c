/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Translates GOAL's text to its binary form, rank by rank:
 *
 *     num_ranks 2
 *     rank 0 {
 *     a: calc 1000
 *     b: send 65536b to 1 tag 3 cpu 0 nic 0
 *     b requires a
 *     }
 *
 * Beyond what LogGOPSim's reader takes, a comment may stand behind an operation.
 */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/random.h"
#include "params/input_file.h"
#include "params/text_input.h"
#include "sim/graph/goal_write.h"

#define NONE UINT32_MAX

struct label {
    const char *name; /* in the text */
    uint32_t length, op;
    unsigned line;
};

struct reader {
    struct oche_text_input input;
    struct oche_goal_writer *out;
    uint32_t ranks, rank; /* rank: of the block that is being read, or NONE */
    unsigned rank_line;
    uint8_t *seen;        /* by rank: its block was read */
    bool comment;         /* within one that goes on over lines */
    struct label *labels; /* a hash table; op NONE: free */
    uint32_t label_count, label_size;
};

#define fail(reader, ...) oche_text_fail(&(reader)->input, __VA_ARGS__)

/* ---- words of a line ---- */

static void skip_blanks(char **at)
{
    *at += strspn(*at, " \t");
}

/* Takes a word if it comes next. */
static bool take_word(char **at, const char *word)
{
    const size_t length = strlen(word);

    skip_blanks(at);
    if (strncmp(*at, word, length) != 0 || isalnum((unsigned char)(*at)[length]) ||
        (*at)[length] == '_')
        return false;
    *at += length;
    return true;
}

/* Takes a whole number of at most `most`. */
static bool take_number(struct reader *reader, char **at, const char *what, uint64_t most,
                        uint64_t *number)
{
    char *end;

    skip_blanks(at);
    if (!isdigit((unsigned char)**at))
        return fail(reader, "%s: \"%.20s\" is no number", what, *at);
    errno = 0;
    *number = strtoull(*at, &end, 10);
    if (errno != 0 || *number > most)
        return fail(reader, "%s: %.*s is too large; at most %llu", what, (int)(end - *at), *at,
                    (unsigned long long)most);
    *at = end;
    return true;
}

/* Takes a number, or -1, which means any. */
static bool take_or_any(struct reader *reader, char **at, const char *what, uint32_t *number)
{
    uint64_t value;

    skip_blanks(at);
    if ((*at)[0] == '-' && (*at)[1] == '1' && !isdigit((unsigned char)(*at)[2])) {
        *at += 2;
        *number = OCHE_GOAL_ANY;
        return true;
    }
    if (!take_number(reader, at, what, OCHE_GOAL_ANY, &value))
        return false;
    *number = (uint32_t)value;
    return true;
}

/* Returns the length of the label at the beginning of the text; 0: there is none. */
static uint32_t label_length(const char *text)
{
    uint32_t length = 0;

    if (!isalpha((unsigned char)text[0]))
        return 0;
    while (isalnum((unsigned char)text[length]) || text[length] == '_')
        length++;
    return length;
}

/* ---- labels ---- */

static struct label *label_place(const struct reader *reader, const char *name, uint32_t length)
{
    uint64_t hash = length;
    uint32_t at;

    for (uint32_t i = 0; i < length; i++)
        hash = hash * 31 + (unsigned char)name[i];
    at = (uint32_t)oche_mix64(hash) & (reader->label_size - 1);
    while (reader->labels[at].op != NONE && (reader->labels[at].length != length ||
                                             memcmp(reader->labels[at].name, name, length) != 0))
        at = (at + 1) & (reader->label_size - 1);
    return &reader->labels[at];
}

static void clear_labels(struct reader *reader, uint32_t size)
{
    free(reader->labels);
    reader->labels = malloc(size * sizeof(*reader->labels));
    OCHE_GOT(reader->labels != NULL);
    reader->label_size = size;
    reader->label_count = 0;
    for (uint32_t i = 0; i < size; i++)
        reader->labels[i].op = NONE;
}

static void grow_labels(struct reader *reader)
{
    struct label *before = reader->labels;
    const uint32_t size = reader->label_size, count = reader->label_count;

    reader->labels = NULL;
    clear_labels(reader, 2 * size);
    reader->label_count = count;
    for (uint32_t i = 0; i < size; i++)
        if (before[i].op != NONE)
            *label_place(reader, before[i].name, before[i].length) = before[i];
    free(before);
}

/* Notes a label. Its name is copied: lines are overwritten. */
static bool add_label(struct reader *reader, const char *name, uint32_t length, uint32_t op)
{
    struct label *label;
    char *copy;

    if (2 * reader->label_count >= reader->label_size)
        grow_labels(reader);
    label = label_place(reader, name, length);
    if (label->op != NONE)
        return fail(reader, "the label %.*s is also in line %u", (int)length, name, label->line);
    copy = malloc(length);
    OCHE_GOT(copy != NULL);
    memcpy(copy, name, length);
    *label = (struct label){.name = copy, .length = length, .op = op, .line = reader->input.line};
    reader->label_count++;
    return true;
}

static void forget_labels(struct reader *reader)
{
    for (uint32_t i = 0; i < reader->label_size; i++)
        if (reader->labels[i].op != NONE)
            free((void *)(uintptr_t)reader->labels[i].name);
}

/* Takes a label that is known. */
static bool take_label(struct reader *reader, char **at, uint32_t *op)
{
    const struct label *label;
    uint32_t length;

    skip_blanks(at);
    length = label_length(*at);
    if (length == 0)
        return fail(reader, "\"%.20s\" is no label", *at);
    label = label_place(reader, *at, length);
    if (label->op == NONE)
        return fail(reader, "the label %.*s is not defined above", (int)length, *at);
    *op = label->op;
    *at += length;
    return true;
}

/* ---- lines ---- */

static bool take_options(struct reader *reader, char **at, struct oche_goal_op *op)
{
    uint64_t number;

    if (op->type != OCHE_GOAL_CALC && take_word(at, "tag") &&
        !take_or_any(reader, at, "tag", &op->tag))
        return false;
    if (take_word(at, "cpu")) {
        if (!take_number(reader, at, "cpu", 254, &number))
            return false;
        op->cpu = (uint8_t)number;
    }
    if (op->type != OCHE_GOAL_CALC && take_word(at, "nic")) {
        if (!take_number(reader, at, "nic", 254, &number))
            return false;
        op->nic = (uint8_t)number;
    }
    skip_blanks(at);
    if (**at != '\0')
        return fail(reader, "\"%.20s\" is not known behind a %s; %s", *at,
                    oche_goal_type_name(op->type),
                    op->type == OCHE_GOAL_CALC ? "cpu may follow"
                                               : "tag, cpu and nic may follow, in this order");
    return true;
}

/* Takes what follows send or recv: "65536b to 1". */
static bool take_message(struct reader *reader, char **at, struct oche_goal_op *op)
{
    const bool sends = op->type == OCHE_GOAL_SEND;

    if (!take_number(reader, at, "bytes", UINT64_MAX - 1, &op->size))
        return false;
    if (**at != 'b')
        return fail(reader, "a size ends in b, as in %llub", (unsigned long long)op->size);
    ++*at;
    if (!take_word(at, sends ? "to" : "from"))
        return fail(reader, "%s is missing; write %s", sends ? "to" : "from",
                    sends ? "send 8b to 1" : "recv 8b from 0");
    if (!take_or_any(reader, at, "rank", &op->peer))
        return false;
    if (op->peer != OCHE_GOAL_ANY && op->peer >= reader->ranks)
        return fail(reader, "there is no rank %u; 0 to %u", op->peer, reader->ranks - 1);
    if (sends && op->peer == OCHE_GOAL_ANY)
        return fail(reader, "a send goes to one rank; only recv is from any, -1");
    if (sends && op->peer == reader->rank)
        return fail(reader, "rank %u sends to itself", reader->rank);
    return true;
}

static bool read_op(struct reader *reader, char **at, uint8_t type)
{
    struct oche_goal_op op = {.type = type};

    if (type == OCHE_GOAL_CALC ? !take_number(reader, at, "calc", UINT64_MAX / 1000, &op.size)
                               : !take_message(reader, at, &op))
        return false;
    if (!take_options(reader, at, &op))
        return false;
    if (type == OCHE_GOAL_SEND && op.tag == OCHE_GOAL_ANY)
        return fail(reader, "a send has one tag; only recv takes any, -1");
    oche_goal_write_op(reader->out, &op);
    return true;
}

/* Reads "a requires b", of which the label is taken. */
static bool read_edge(struct reader *reader, char **at, uint32_t after)
{
    const bool start = take_word(at, "irequires");
    uint32_t before;

    if (!start && !take_word(at, "requires"))
        return fail(reader, "\"%.20s\" is not known; send, recv, calc, requires, irequires are",
                    *at);
    if (!take_label(reader, at, &before))
        return false;
    skip_blanks(at);
    if (**at != '\0')
        return fail(reader, "\"%.20s\" is behind a dependency; one a line", *at);
    if (before == after)
        return fail(reader, "an operation waits for itself");
    oche_goal_write_edge(reader->out, after, before, start);
    return true;
}

/* Reads an operation if one comes. */
static bool starts_op(char **at, uint8_t *type)
{
    *type = take_word(at, "send")   ? OCHE_GOAL_SEND
            : take_word(at, "recv") ? OCHE_GOAL_RECV
            : take_word(at, "calc") ? OCHE_GOAL_CALC
                                    : 0;
    return *type != 0;
}

/* Reads a line of a rank's block. */
static bool read_line(struct reader *reader, char *line)
{
    char *at = line;
    const uint32_t length = label_length(line);
    char *behind = line + length;
    uint32_t after;
    uint8_t type;

    skip_blanks(&behind);
    if (length > 0 && *behind == ':') {
        if (!add_label(reader, line, length, oche_goal_write_count(reader->out)))
            return false;
        at = behind + 1;
        if (starts_op(&at, &type))
            return read_op(reader, &at, type);
        return fail(reader, "\"%.20s\" is no operation; send, recv or calc", at);
    }
    if (starts_op(&at, &type))
        return read_op(reader, &at, type);
    return take_label(reader, &at, &after) && read_edge(reader, &at, after);
}

/* ---- blocks ---- */

/* Leaves out comments that go over lines. Returns the rest, or NULL if nothing is left. */
static char *without_comments(struct reader *reader, char *line)
{
    char *at = line, *end;

    for (;;) {
        if (!reader->comment) {
            at = strstr(line, "/*");
            if (at == NULL)
                break;
        }
        end = strstr(reader->comment ? line : at + 2, "*/");
        reader->comment = end == NULL;
        if (end == NULL) {
            *at = '\0';
            break;
        }
        memset(at, ' ', (size_t)(end + 2 - at));
    }
    line += strspn(line, " \t");
    for (size_t length = strlen(line); length > 0 && isblank((unsigned char)line[length - 1]);)
        line[--length] = '\0';
    return *line != '\0' ? line : NULL;
}

static char *next_line(struct reader *reader)
{
    char *line, *rest = NULL;

    while (rest == NULL && (line = oche_text_next(&reader->input)) != NULL)
        rest = without_comments(reader, line);
    return rest;
}

static bool begin_rank(struct reader *reader, char *line)
{
    uint64_t number;

    if (!take_word(&line, "rank"))
        return fail(reader, "\"%.20s\" is outside of a rank; write rank 0 {", line);
    if (!take_number(reader, &line, "rank", reader->ranks - 1, &number))
        return false;
    skip_blanks(&line);
    if (strcmp(line, "{") != 0)
        return fail(reader, "rank %llu has no block; write rank %llu {", (unsigned long long)number,
                    (unsigned long long)number);
    if (reader->seen[number])
        return fail(reader, "rank %llu comes a second time", (unsigned long long)number);
    reader->rank = (uint32_t)number;
    reader->rank_line = reader->input.line;
    reader->seen[number] = 1;
    forget_labels(reader);
    clear_labels(reader, 1024);
    return true;
}

static bool read_count(struct reader *reader)
{
    char *line = next_line(reader);
    struct oche_error why;
    uint64_t number;

    if (line == NULL || !take_word(&line, "num_ranks"))
        return fail(reader, "is no schedule; it begins with num_ranks 16");
    if (!take_number(reader, &line, "num_ranks", OCHE_GOAL_MOST_RANKS, &number))
        return false;
    if (number == 0)
        return fail(reader, "num_ranks: 0; at least 1");
    reader->ranks = (uint32_t)number;
    reader->seen = calloc(reader->ranks, 1);
    OCHE_GOT(reader->seen != NULL);
    reader->out = oche_goal_write_begin(reader->ranks, &why);
    return reader->out != NULL || fail(reader, "%s", why.text);
}

static bool read_blocks(struct reader *reader)
{
    char *line;

    while ((line = next_line(reader)) != NULL) {
        if (reader->rank == NONE) {
            if (!begin_rank(reader, line))
                return false;
        } else if (strcmp(line, "}") == 0) {
            oche_goal_write_rank(reader->out, reader->rank);
            reader->rank = NONE;
        } else if (!read_line(reader, line)) {
            return false;
        }
    }
    if (reader->rank != NONE)
        return fail(reader, "the block of rank %u, in line %u, does not end", reader->rank,
                    reader->rank_line);
    return true;
}

/* ---- the file ---- */

static void release(struct reader *reader)
{
    forget_labels(reader);
    free(reader->labels);
    free(reader->seen);
}

/* Translates the text. Returns the descriptor of the binary form, or -1. */
static int translate(const char *path, const char *text, size_t bytes, struct oche_error *error)
{
    struct reader reader = {.rank = NONE};
    struct oche_error why;
    int file = -1;

    if (!oche_text_begin(&reader.input, path, text, bytes, error))
        return -1;
    clear_labels(&reader, 1024);
    if (read_count(&reader) && read_blocks(&reader)) {
        file = oche_goal_write_end(reader.out, &why);
        if (file < 0)
            oche_fail(error, "%s: %s", path, why.text);
    } else if (reader.out != NULL) {
        oche_goal_write_abort(reader.out);
    }
    release(&reader);
    oche_text_end(&reader.input);
    return file;
}

int oche_goal_translate(const char *path, struct oche_error *error)
{
    struct oche_error why;
    const int from = oche_input_open(path, &why);
    struct stat about;
    void *text;
    int file;

    if (from < 0 || fstat(from, &about) != 0) {
        oche_fail(error, "%s: %s", path, from < 0 ? why.text : strerror(errno));
        return -1;
    }
    if (about.st_size == 0) {
        close(from);
        oche_fail(error, "%s: is empty; a schedule begins with num_ranks 16", path);
        return -1;
    }
    text = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, from, 0);
    close(from);
    if (text == MAP_FAILED) {
        oche_fail(error, "%s: cannot be read: %s; a regular file is needed", path, strerror(errno));
        return -1;
    }
    file = translate(path, text, (size_t)about.st_size, error);
    munmap(text, (size_t)about.st_size);
    return file;
}
