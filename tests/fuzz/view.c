/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer target: any bytes as the view of a running process, and the output of `oche stat` for
 * it: tables, JSON, metrics. tools/fuzz 60 view runs it. An input is three bytes that choose the
 * action, and patches of a valid view: place, byte, count.
 */
#include <stddef.h>

#include "cli/stat/span.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/target.h"

#define MOST_PATCHES 200

enum { SEAL = 1, CUT = 2, EARLIER = 4, WATCH = 8, QPS = 16 };

static void patch(struct oche_view *view, struct fuzz_input *input)
{
    for (unsigned i = 0; i < MOST_PATCHES && input->left > 0; i++) {
        const size_t at = fuzz_number(input, 2) % sizeof(*view);
        const uint8_t byte = fuzz_byte(input);
        const size_t most = sizeof(*view) - at, count = 1 + fuzz_byte(input);

        memset((uint8_t *)view + at, byte, count < most ? count : most);
    }
}

/* Checks a view that was accepted. Returns the error, or NULL. */
static const char *check(const struct oche_view *view, size_t count)
{
    if (view->bytes > count || view->listed > OCHE_VIEW_QPS || view->qps < view->listed)
        return "more is listed than there is";
    for (uint32_t i = 0; i < view->listed; i++)
        if (view->qp[i].transport >= 3 || view->qp[i].state >= 7)
            return "a queue pair of no transport or state";
    if (memchr(view->command, '\0', sizeof(view->command)) == NULL ||
        memchr(view->arguments, '\0', sizeof(view->arguments)) == NULL ||
        memchr(view->cc, '\0', sizeof(view->cc)) == NULL ||
        memchr(view->recovery, '\0', sizeof(view->recovery)) == NULL)
        return "a text without an end";
    return NULL;
}

static const char *print(struct oche_view_entry *entry, unsigned what, unsigned width)
{
    static struct oche_view_entry before;
    struct oche_view_entry *one[] = {entry}, *other[] = {&before};
    const struct oche_views views = {.entries = one, .count = 1};
    const struct oche_views earlier = {.entries = other, .count = 1};
    const struct oche_views *last = (what & EARLIER) != 0 ? &earlier : NULL;
    const struct stat_look look = {
        .width = width, .watch = (what & WATCH) != 0, .qps = (what & QPS) != 0};
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);

    before = *entry;
    before.view.open_ns /= 2;
    for (unsigned i = 0; i < OCHE_VIEW_COUNTERS; i++)
        before.view.counters[i] /= 3;
    stat_print_tables(out, &views, last, &look);
    stat_print_json(out, &views, last, look.qps);
    stat_print_metrics(out, &views);
    fclose(out);
    for (size_t i = 0; i < bytes; i++)
        if ((text[i] < ' ' || text[i] > '~') && text[i] != '\n') {
            free(text);
            return "a byte was printed that a terminal should not get";
        }
    free(text);
    return NULL;
}

const char *fuzz_input(const uint8_t *bytes, size_t count)
{
    struct fuzz_input input = {bytes, count};
    const unsigned what = fuzz_byte(&input), width = fuzz_byte(&input) % 200;
    const unsigned listed = fuzz_byte(&input) % 8;
    struct oche_view_entry *entry = calloc(1, sizeof(*entry));
    struct oche_view *view = &entry->view;
    const char *wrong = NULL;
    size_t whole;

    *view = (struct oche_view){.open_ns = 1000000000, .line_rate_bps = 100000000000, .pid = 7};
    view->listed = view->qps = listed;
    memcpy(view->cc, "dcqcn", 6);
    oche_view_seal(view);
    patch(view, &input);
    if ((what & SEAL) != 0)
        oche_view_seal(view);
    whole = (what & CUT) != 0 ? sizeof(*view) * width / 200 : sizeof(*view);
    *entry = (struct oche_view_entry){
        .view = entry->view, .pid = 7, .is_first = true, .silent_s = listed, .name = "7"};
    if (oche_view_check(view, whole) == OCHE_VIEW_GOOD) {
        wrong = check(view, whole);
        if (wrong == NULL)
            wrong = print(entry, what, width);
    }
    free(entry);
    return wrong;
}
