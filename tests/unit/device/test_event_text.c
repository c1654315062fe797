/* SPDX-License-Identifier: Apache-2.0 */
/* Scripted events as text: written and read back, mistakes, and what is reported at the end. */
#include <stdio.h>
#include <string.h>

#include "tests/support/test.h"

#include "core/random.h"
#include "device/link/event_text.h"

static struct oche_packet_event list[OCHE_MOST_PACKET_EVENTS];

static void each_type(void **state)
{
    static const char text[] =
        "0:5:1:drop,0:5:2:ecn,65535:16777215:65535:bit-error,1:2:3:delay=20us"
        ",1:0:1:delay=1500ps,7:0:1:reorder=3,8:0:1:duplicate";
    struct oche_error error;
    uint32_t count;

    (void)state;
    if (!oche_event_text_read(text, list, &count, &error))
        fail_msg("%s", error.text);
    assert_int_equal(count, 7);
    assert_int_equal(list[0].type, OCHE_PACKET_EVENT_DROP);
    assert_int_equal(list[1].iter, 2);
    assert_int_equal(list[2].psn, 0xffffff);
    assert_int_equal(list[3].delay, 20 * OCHE_US);
    assert_int_equal(list[4].delay, 1500);
    assert_int_equal(list[5].overtake, 3);
    assert_int_equal(list[6].qpn, 8);
}

/* What is written is read as the same event, and needs no more than its bytes. */
static void both_ways(void **state)
{
    struct oche_random random = oche_random_stream(1, "event text", 0);

    (void)state;
    for (unsigned i = 0; i < 100000; i++) {
        struct oche_packet_event event = {
            .qpn = oche_random_below(&random, i % 2 ? 65536 : 3),
            .psn = oche_random_below(&random, i % 3 ? 1 << 24 : 20),
            .iter = oche_random_below(&random, i % 5 ? 65535 : 2) + 1,
            .type = (uint32_t)oche_random_below(&random, OCHE_PACKET_EVENT_TYPES)};
        char text[OCHE_EVENT_TEXT_BYTES];
        struct oche_error error;
        uint32_t count;

        if (event.type == OCHE_PACKET_EVENT_DELAY)
            event.delay = oche_random_below(&random, 3600 * OCHE_SEC) + 1;
        if (event.type == OCHE_PACKET_EVENT_REORDER)
            event.overtake = oche_random_below(&random, 65535) + 1;
        assert_true(oche_packet_event_valid(&event));
        oche_event_text_write(&event, text);
        if (!oche_event_text_read(text, list, &count, &error))
            fail_msg("%s: %s", text, error.text);
        assert_int_equal(count, 1);
        assert_true(oche_packet_event_same(&event, &list[0]));
        assert_int_equal(event.type, list[0].type);
        assert_int_equal(event.delay, list[0].delay);
        assert_int_equal(event.overtake, list[0].overtake);
    }
}

static void mistakes(void **state)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"", "event 1, \"\": a colon is missing"},
        {"0:5:1", "a colon is missing"},
        {"0:5:1:", "type: has no value"},
        {"0:5:1:drop,", "event 2, \"\": a colon"},
        {"0:5:1:drip", "type: "},
        {"0:5:1:drop:1", "type: "},
        {"0:5:0:drop", "iter: "},
        {"0:16777216:1:drop", "psn: "},
        {"70000:5:1:drop", "qpn: "},
        {"-1:5:1:drop", "qpn: "},
        {"0::1:drop", "psn: has no value"},
        {"0:5:1:delay", "by: is missing"},
        {"0:5:1:delay=", "by: has no value"},
        {"0:5:1:delay=0s", "by: "},
        {"0:5:1:delay=never", "by: "},
        {"0:5:1:delay=2h", "by: "},
        {"0:5:1:reorder=0", "by: "},
        {"0:5:1:reorder=20us", "by: "},
        {"0:5:1:drop=1", "by: is for delay and reorder alone"},
        {"0:5:1:drop,1:1:1:ecn,0:5:1:ecn", "events 1 and 3 are for the same packet"},
        {"0:5:1:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
         "type: is too long"},
        {"0:5:1:\033", "\\x1b"},
    };

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(cases); i++) {
        struct oche_error error = {.text = ""};
        uint32_t count;

        if (oche_event_text_read(cases[i].text, list, &count, &error))
            fail_msg("%s is taken", cases[i].text);
        if (strstr(error.text, cases[i].says) == NULL || strchr(error.text, '\n') != NULL)
            fail_msg("%s: %s, not %s", cases[i].text, error.text, cases[i].says);
    }
}

/* As many as there may be, and one more. */
static void many(void **state)
{
    static char text[(OCHE_MOST_PACKET_EVENTS + 1) * OCHE_EVENT_TEXT_BYTES];
    struct oche_error error;
    size_t at = 0, before = 0;
    uint32_t count;

    (void)state;
    for (unsigned i = 0; i <= OCHE_MOST_PACKET_EVENTS; i++) {
        before = at;
        at += (size_t)snprintf(text + at, sizeof(text) - at, "%s0:%u:1:drop", i > 0 ? "," : "", i);
    }
    assert_false(oche_event_text_read(text, list, &count, &error));
    assert_non_null(strstr(error.text, "more than 2048 events"));
    text[before] = '\0';
    assert_true(oche_event_text_read(text, list, &count, &error));
    assert_int_equal(count, OCHE_MOST_PACKET_EVENTS);
}

static void reports(void **state)
{
    const struct oche_packet_event left = {.qpn = 1, .psn = 9, .iter = 2, .type = 1};
    struct oche_packet_event_counts counts = {.by_type = {2, 0, 0, 1}};
    char text[OCHE_EVENT_REPORT_BYTES];

    (void)state;
    oche_event_text_report(&counts, NULL, text);
    assert_string_equal(text, "drop 2, delay 1");
    counts.never = 3;
    counts.kept = 1;
    oche_event_text_report(&counts, &left, text);
    assert_string_equal(text, "drop 2, delay 1; never happened: 3, the first qpn 1 psn 9 iter 2 ecn"
                              "; reordered packets that were not overtaken, and so lost: 1");
    counts = (struct oche_packet_event_counts){.never = 1};
    oche_event_text_report(&counts, &left, text);
    assert_string_equal(text, "none happened; never happened: 1, the first qpn 1 psn 9 iter 2 ecn");
    /* the longest */
    for (unsigned i = 0; i < OCHE_PACKET_EVENT_TYPES; i++)
        counts.by_type[i] = OCHE_MOST_PACKET_EVENTS;
    counts.never = counts.kept = OCHE_MOST_PACKET_EVENTS;
    oche_event_text_report(
        &counts,
        &(struct oche_packet_event){.qpn = 65535, .psn = 0xffffff, .iter = 65535, .type = 5}, text);
    assert_non_null(strstr(text, "and so lost: 2048"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_type), cmocka_unit_test(both_ways), cmocka_unit_test(mistakes),
        cmocka_unit_test(many),      cmocka_unit_test(reports),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
