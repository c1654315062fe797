/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The output of `oche stat` for hostile views that pass every check: any number, any text. Tables
 * fit the terminal and have no control characters. JSON is valid. Prometheus' text has one HELP and
 * TYPE for each metric, its samples together, and no sample twice.
 */
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "cli/stat/span.h"
#include "core/random.h"
#include "tests/support/test.h"

#define MOST_ENTRIES 5
#define ROUNDS       200

static struct oche_random source;

static void make_hostile(struct oche_view_entry *entry)
{
    struct oche_view *view = &entry->view;

    for (size_t i = 0; i < sizeof(*view); i++)
        ((uint8_t *)view)[i] =
            oche_random_below(&source, 3) == 0 ? 0xff : (uint8_t)oche_random_below(&source, 256);
    view->listed = (uint32_t)oche_random_below(&source, 4);
    view->qps = view->listed + (uint32_t)oche_random_below(&source, 2) * 1000000;
    for (uint32_t i = 0; i < view->listed; i++) {
        view->qp[i].transport %= 3;
        view->qp[i].state %= 7;
    }
    if (oche_random_below(&source, 2) == 0)
        strcpy(view->cc, "dart");
    if (oche_random_below(&source, 4) == 0)
        strcpy(view->command, "a\"b\\c{},=");
    oche_view_seal(view);
    assert_int_equal(oche_view_check(view, sizeof(*view)), OCHE_VIEW_GOOD);
}

static struct oche_views make_views(unsigned count)
{
    struct oche_views views = {.entries = calloc(MOST_ENTRIES, sizeof(void *)), .count = count};

    for (unsigned i = 0; i < count; i++) {
        struct oche_view_entry *entry = views.entries[i] = calloc(1, sizeof(*entry));

        make_hostile(entry);
        entry->user = i % 2 == 0 ? 0 : 4000000000;
        entry->pid = (pid_t)(i + 1);
        entry->is_first = true;
        entry->is_elsewhere = oche_random_below(&source, 2) == 0;
        entry->silent_s = (double)oche_random_below(&source, 5);
        snprintf(entry->name, sizeof(entry->name), "%u", i);
    }
    return views;
}

/* The same devices later, with larger counters. */
static struct oche_views later_than(const struct oche_views *views)
{
    struct oche_views later = make_views((unsigned)views->count);

    for (size_t i = 0; i < views->count; i++) {
        *later.entries[i] = *views->entries[i];
        later.entries[i]->view.open_ns |= 1;
        for (unsigned c = 0; c < OCHE_VIEW_COUNTERS; c++)
            later.entries[i]->view.counters[c] |= UINT64_C(0xff00);
    }
    return later;
}

static void check_table(const char *text, unsigned width)
{
    while (*text != '\0') {
        const size_t bytes = strcspn(text, "\n");

        for (size_t i = 0; i < bytes; i++)
            if (text[i] < ' ' || text[i] > '~')
                fail_msg("byte %d in \"%.*s\"", text[i], (int)bytes, text);
        if (width > 0 && bytes > width)
            fail_msg("%zu of %u columns: \"%.*s\"", bytes, width, (int)bytes, text);
        text += bytes + 1;
    }
}

static void check_json(const char *text)
{
    struct json_object *parsed = json_tokener_parse(text), *value;

    assert_non_null(parsed);
    assert_int_equal(strchr(text, '\n') - text, strlen(text) - 1);
    assert_true(json_object_object_get_ex(parsed, "processes", &value));
    json_object_put(parsed);
}

/* Returns the name of the line's metric. */
static size_t name_bytes(const char *line)
{
    return strcspn(line, "{ ");
}

static void check_metrics(const char *text)
{
    char now[100] = "", *lines[20000];
    unsigned count = 0;

    while (*text != '\0') {
        const size_t bytes = strcspn(text, "\n");

        assert_int_equal(text[bytes], '\n');
        if (strncmp(text, "# HELP ", 7) == 0) {
            snprintf(now, sizeof(now), "%.*s", (int)name_bytes(text + 7), text + 7);
        } else if (strncmp(text, "# TYPE ", 7) != 0) {
            assert_int_equal(strlen(now), name_bytes(text));
            assert_int_equal(strncmp(now, text, strlen(now)), 0);
            lines[count] = strndup(text, (size_t)(strrchr(text, '\0') - text));
            *strrchr(strtok(lines[count], "\n"), ' ') = '\0';
            for (unsigned i = 0; i < count; i++)
                if (strcmp(lines[i], lines[count]) == 0)
                    fail_msg("twice: %s", lines[count]);
            count++;
        } else if (strncmp(text + 7, now, strlen(now)) != 0) {
            fail_msg("TYPE of another metric than %s", now);
        }
        text += bytes + 1;
    }
    assert_true(count > OCHE_VIEW_COUNTERS);
    while (count > 0)
        free(lines[--count]);
}

static void test_hostile(void **state)
{
    (void)state;
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct oche_views views = make_views(1 + round % MOST_ENTRIES), later = later_than(&views);
        const struct stat_look look = {.width = (unsigned)oche_random_below(&source, 3) * 73,
                                       .watch = round % 2 == 0,
                                       .qps = round % 3 == 0};
        char *text = NULL;
        size_t bytes;
        FILE *out = open_memstream(&text, &bytes);

        stat_print_tables(out, &later, round % 4 == 0 ? &views : NULL, &look);
        fclose(out);
        check_table(text, look.width);
        free(text);
        out = open_memstream(&text, &bytes);
        stat_print_json(out, &later, &views, true);
        fclose(out);
        check_json(text);
        free(text);
        if (round < 10) {
            out = open_memstream(&text, &bytes);
            stat_print_metrics(out, &later);
            fclose(out);
            check_metrics(text);
            free(text);
        }
        oche_views_free(&views);
        oche_views_free(&later);
    }
}

/* Rates are over the time between two reads, or since the device was opened. */
static void test_rates(void **state)
{
    struct oche_views views = make_views(1), later = later_than(&views);
    struct oche_view *before = &views.entries[0]->view, *now = &later.entries[0]->view;
    struct stat_span span;

    (void)state;
    memset(before, 0, sizeof(*before));
    memset(now, 0, sizeof(*now));
    before->open_ns = 2000000000;
    now->open_ns = 4000000000;
    before->counters[OCHE_VIEW_SENT_BYTES] = 1000;
    now->counters[OCHE_VIEW_SENT_BYTES] = 5000;
    span = stat_span_of(later.entries[0], &views);
    assert_int_equal(stat_counted(now, &span, OCHE_VIEW_SENT_BYTES), 4000);
    assert_true(stat_per_second(&span, 4000) == 2000);
    span = stat_span_of(later.entries[0], NULL);
    assert_int_equal(stat_counted(now, &span, OCHE_VIEW_SENT_BYTES), 5000);
    assert_true(stat_per_second(&span, 5000) == 1250);
    now->open_ns = before->open_ns; /* nothing was written */
    *before = *now;
    span = stat_span_of(later.entries[0], &views);
    assert_int_equal(stat_counted(now, &span, OCHE_VIEW_SENT_BYTES), 0);
    assert_true(stat_per_second(&span, 4000) == 0);
    oche_views_free(&views);
    oche_views_free(&later);
}

static char *tables(const struct oche_views *views, const struct oche_views *earlier, bool watch)
{
    const struct stat_look look = {.watch = watch, .qps = true};
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    stat_print_tables(out, views, earlier, &look);
    fclose(out);
    return text;
}

/* The first table of --watch has no earlier one to compare with, and states this. */
static void test_head(void **state)
{
    static const struct {
        bool watch, earlier;
        const char *says;
    } heads[] = {{false, false, "; since each was opened\n"},
                 {true, false, "; per second since opened\n"},
                 {true, true, "; per second\n"}};
    struct oche_views views = make_views(1), later = later_than(&views);

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(heads); i++) {
        char *text = tables(&later, heads[i].earlier ? &views : NULL, heads[i].watch);

        assert_non_null(strstr(text, heads[i].says));
        free(text);
    }
    oche_views_free(&views);
    oche_views_free(&later);
}

/* Returns the last word of the line that begins at `line`, and its column. */
static size_t last_word(const char *line, char *word)
{
    const size_t end = strcspn(line, "\n");
    size_t begin = end;

    while (begin > 0 && line[begin - 1] != ' ')
        begin--;
    snprintf(word, 20, "%.*s", (int)(end - begin), line + begin);
    return end;
}

/*
 * A queue pair's rate with and without a known line rate. The last column ends where its heading
 * ends.
 */
static void test_queue_pairs(void **state)
{
    static const struct {
        uint64_t line, rate;
        const char *table, *json;
    } pairs[] = {{0, UINT64_MAX, " line ", NULL},
                 {0, 5000000000, " 5.00G ", "\"rate_bps\":5000000000"},
                 {10000000000, 10000000000, " line ", "\"rate_bps\":10000000000"},
                 {10000000000, 5000000000, " 5.00G ", "\"rate_bps\":5000000000"}};
    struct oche_views views = make_views(1);
    struct oche_view *view = &views.entries[0]->view;

    (void)state;
    memset(view, 0, sizeof(*view));
    view->listed = view->qps = 1;
    view->qp[0].timeouts = 7;
    for (size_t i = 0; i < OCHE_COUNT_OF(pairs); i++) {
        char *text, word[20], *json = NULL;
        size_t bytes;

        view->line_rate_bps = pairs[i].line;
        view->qp[0].rate_bps = pairs[i].rate;
        text = tables(&views, NULL, false);
        const char *head = strstr(text, "ITS QP"), *row = strchr(head, '\n') + 1;

        while (head > text && head[-1] != '\n')
            head--;
        assert_non_null(strstr(row, pairs[i].table));
        const size_t end = last_word(head, word);

        assert_string_equal(word, "TMOUT");
        assert_int_equal(last_word(row, word), end);
        assert_string_equal(word, "7");
        free(text);
        FILE *out = open_memstream(&json, &bytes);

        stat_print_json(out, &views, NULL, true);
        fclose(out);
        assert_int_equal(strstr(json, "\"line_rate_bps\"") != NULL, pairs[i].line != 0);
        if (pairs[i].json != NULL)
            assert_non_null(strstr(json, pairs[i].json));
        else
            assert_null(strstr(json, "\"rate_bps\""));
        free(json);
    }
    oche_views_free(&views);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_rates),
        cmocka_unit_test(test_head),
        cmocka_unit_test(test_queue_pairs),
    };

    source = oche_random_stream(1, "hostile views", 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
