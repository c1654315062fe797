/* SPDX-License-Identifier: Apache-2.0 */
/* Finds what a file is by how it begins. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/import/import.h"
#include "params/text_input.h"
#include "sim/foreign/ns3_config.h"
#include "sim/graph/schedule_file.h"

#define MOST_BYTES           (1024 * OCHE_INPUT_MIB)
#define MOST_FLOW_WORDS      6
#define MOST_WORDS           64
#define LEAST_TOPOLOGY_WORDS 3
#define MOST_TOPOLOGY_WORDS  6

/* The first two lines with content, as words. */
struct head {
    char *line[2]; /* malloc'd; NULL: there is none */
    char *words[2][MOST_WORDS];
    unsigned count[2];
    unsigned number[2]; /* of the lines */
};

static bool read_head(const struct oche_import *import, struct head *head, struct oche_error *error)
{
    struct oche_text_input input;

    *head = (struct head){.count = {0}};
    if (!oche_text_begin(&input, import->path, import->file.text, import->file.bytes, error))
        return false;
    for (unsigned i = 0; i < 2; i++) {
        const char *line = oche_text_next(&input);
        char *rest, *word;

        if (line == NULL)
            break;
        rest = head->line[i] = strdup(line);
        OCHE_GOT(rest != NULL);
        head->number[i] = input.line;
        while (head->count[i] < MOST_WORDS && (word = strsep(&rest, " \t,;")) != NULL)
            if (*word != '\0')
                head->words[i][head->count[i]++] = word;
    }
    oche_text_end(&input);
    return true;
}

static void free_head(struct head *head)
{
    free(head->line[0]);
    free(head->line[1]);
}

static bool is_word(const struct head *head, unsigned line, unsigned at, const char *text)
{
    return at < head->count[line] && strcmp(head->words[line][at], text) == 0;
}

/* True if all words of a line are numbers. */
static bool are_numbers(const struct head *head, unsigned line)
{
    double real;
    uint64_t bytes;

    for (unsigned i = 0; i < head->count[line]; i++)
        if (!oche_text_real(head->words[line][i], &real) &&
            !oche_text_bytes(head->words[line][i], &bytes))
            return false;
    return head->count[line] > 0;
}

static bool has_column(const struct head *head, const char *name)
{
    for (unsigned i = 0; i < head->count[0]; i++)
        if (strcasecmp(head->words[0][i], name) == 0 ||
            (head->words[0][i][0] == '"' &&
             strncasecmp(head->words[0][i] + 1, name, strlen(name)) == 0))
            return true;
    return false;
}

/* True if the text has a section of a scenario at the beginning of a line. */
static bool is_scenario(const struct oche_import *import)
{
    static const char *const sections[] = {"topology:", "workload:", "congestion_control:"};
    const char *text = import->file.text;

    for (size_t i = 0; i < OCHE_COUNT_OF(sections); i++) {
        const char *at = strstr(text, sections[i]);

        if (at != NULL && (at == text || at[-1] == '\n'))
            return true;
    }
    return false;
}

static bool refuse(const struct oche_import *import, const struct head *head,
                   struct oche_error *error)
{
    if (head->count[0] == 0)
        return oche_fail(error, "%s: is empty", import->path);
    if (is_word(head, 0, 0, "num_ranks") || is_word(head, 0, 0, "Connections"))
        return oche_fail(error, "%s: a schedule in a pipe; write it to a file", import->path);
    if (head->count[0] == 1 && are_numbers(head, 0) && are_numbers(head, 1))
        return oche_fail(
            error,
            "%s:%u: is a list of nodes, as in a TRACE_FILE, which nothing here needs; a "
            "flow has 5 or 6 numbers",
            import->path, head->number[1]);
    if (is_scenario(import))
        return oche_fail(error, "%s:%u: is a scenario: oche run %s", import->path, head->number[0],
                         import->path);
    return oche_fail(
        error,
        "%s:%u: begins with \"%.30s\", as nothing that is known: a schedule begins "
        "with num_ranks 16, a matrix with Nodes 16, a topology with host NAME or three "
        "numbers, flows with their number, or with src,dst,bytes,start, a distribution "
        "with two numbers, HPCC's configuration with a key, and CONFIG_DB with {",
        import->path, head->number[0], head->words[0][0]);
}

static bool by_head(struct oche_import *import, const struct head *head,
                    enum oche_import_kind *kind, struct oche_error *error)
{
    const unsigned count = head->count[0];

    if (count > 0 && head->line[0][0] == '{')
        *kind = OCHE_IMPORT_CONFIG_DB;
    else if (oche_ns3_is_config(import->file.text, import->file.bytes))
        *kind = OCHE_IMPORT_NS3_CONFIG;
    else if (count == 2 && strcasecmp(head->words[0][0], "Nodes") == 0) /* htsim's; no matrix */
        *kind = OCHE_IMPORT_TOPOLOGY;
    else if ((is_word(head, 0, 0, "host") || is_word(head, 0, 0, "switch") ||
              is_word(head, 0, 0, "link")) &&
             count > 1)
        *kind = OCHE_IMPORT_TOPOLOGY;
    else if (are_numbers(head, 0) && count == 1 &&
             (head->count[1] <= MOST_FLOW_WORDS || !are_numbers(head, 1)))
        *kind = OCHE_IMPORT_FLOWS;
    else if (are_numbers(head, 0) && count == 2)
        *kind = OCHE_IMPORT_CDF;
    else if (are_numbers(head, 0) && count >= LEAST_TOPOLOGY_WORDS && count <= MOST_TOPOLOGY_WORDS)
        *kind = OCHE_IMPORT_TOPOLOGY;
    else if (has_column(head, "src") || has_column(head, "dst"))
        *kind = OCHE_IMPORT_FLOWS;
    else if (head->count[1] == 2 && are_numbers(head, 1) && count == 2)
        *kind = OCHE_IMPORT_CDF;
    else
        return refuse(import, head, error);
    return true;
}

bool oche_import_recognise(struct oche_import *import, enum oche_import_kind *kind,
                           struct oche_error *error)
{
    struct oche_error why;
    struct head head;
    bool good;

    *kind = OCHE_IMPORT_SCHEDULE;
    if (oche_schedule_is_one(import->path))
        return true;
    if (!oche_input_read(&import->file, import->path, MOST_BYTES, &why))
        return oche_fail(error, "%s: %s", import->path, why.text);
    good = read_head(import, &head, error);
    if (good) {
        good = by_head(import, &head, kind, error);
        free_head(&head);
    }
    if (!good)
        oche_input_free(&import->file);
    return good;
}
