/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/notes.h"

#include <stdlib.h>
#include <string.h>

#include "cli/run/run_name.h"

/* The notes of all runs, without repeats. */
struct notes {
    char **texts;
    size_t count;
};

static void add(struct notes *notes, const char *text)
{
    for (size_t i = 0; i < notes->count; i++)
        if (strcmp(notes->texts[i], text) == 0)
            return;
    notes->texts = realloc(notes->texts, (notes->count + 1) * sizeof(*notes->texts));
    OCHE_GOT(notes->texts != NULL);
    notes->texts[notes->count] = strdup(text);
    OCHE_GOT(notes->texts[notes->count] != NULL);
    notes->count++;
}

static void add_run(struct notes *notes, const struct oche_outcome *outcome)
{
    const char *const texts[] = {outcome->remark, outcome->ignored, outcome->topology_remark,
                                 outcome->flow_remark, outcome->headroom_remark};
    char *stop = oche_pathologies_stop_line(&outcome->pathologies);

    if (stop != NULL)
        add(notes, stop);
    free(stop);
    for (size_t i = 0; i < OCHE_COUNT_OF(texts); i++)
        if (texts[i][0] != '\0')
            add(notes, texts[i]);
    for (unsigned i = 0; i < outcome->unfit.count; i++)
        add(notes, outcome->unfit.text[i]);
}

static bool has_idle(const struct oche_outcome *outcome, const char *text)
{
    for (unsigned i = 0; i < outcome->idle.count; i++)
        if (strcmp(outcome->idle.text[i], text) == 0)
            return true;
    return false;
}

/*
 * Adds the keys without effect in all runs. A key that has an effect in one of them is given for
 * that one.
 */
static void add_idle(struct notes *notes, const struct oche_outcome *outcomes, size_t count)
{
    for (unsigned i = 0; i < outcomes[0].idle.count; i++) {
        const char *text = outcomes[0].idle.text[i];
        bool common = true;

        for (size_t run = 1; run < count && common; run++)
            common = has_idle(&outcomes[run], text);
        if (common)
            add(notes, text);
    }
}

static void release(struct notes *notes)
{
    for (size_t i = 0; i < notes->count; i++)
        free(notes->texts[i]);
    free(notes->texts);
}

static struct notes notes_of(const struct oche_outcome *outcomes, size_t count)
{
    struct notes notes = {.count = 0};

    for (size_t i = 0; i < count; i++)
        add_run(&notes, &outcomes[i]);
    add_idle(&notes, outcomes, count);
    return notes;
}

/* True if the note is one of the run's. */
static bool is_of(const char *note, const struct oche_outcome *outcome)
{
    struct notes own = notes_of(outcome, 1);
    bool found = false;

    for (size_t i = 0; i < own.count; i++)
        found |= strcmp(own.texts[i], note) == 0;
    release(&own);
    return found;
}

static bool is_of_all(const char *note, const struct oche_outcome *outcomes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!is_of(note, &outcomes[i]))
            return false;
    return count > 1;
}

void oche_notes_print(const char *key, const struct oche_outcome *outcomes, size_t count, FILE *out)
{
    struct notes notes = notes_of(outcomes, count);

    for (size_t n = 0; n < notes.count; n++) {
        const char *between = "";

        fprintf(out, "[%zu] ", n + 1);
        if (is_of_all(notes.texts[n], outcomes, count))
            fputs("every run", out);
        else
            for (size_t i = 0; i < count; i++)
                if (is_of(notes.texts[n], &outcomes[i])) {
                    fprintf(out, "%s%s", between, oche_run_name_of(key, &outcomes[i]).text);
                    between = ", ";
                }
        fprintf(out, ": %s.\n", notes.texts[n]);
    }
    release(&notes);
}

void oche_notes_mark(const struct oche_outcome *outcomes, size_t count, size_t run,
                     char mark[OCHE_NOTE_MARK_BYTES])
{
    struct notes notes = notes_of(outcomes, count);
    const char *space = " ";

    mark[0] = '\0';
    for (size_t n = 0, length = 0; n < notes.count && length + 8 < OCHE_NOTE_MARK_BYTES; n++) {
        if (!is_of(notes.texts[n], &outcomes[run]) || is_of_all(notes.texts[n], outcomes, count))
            continue;
        length +=
            (size_t)snprintf(mark + length, OCHE_NOTE_MARK_BYTES - length, "%s[%zu]", space, n + 1);
        space = "";
    }
    release(&notes);
}
