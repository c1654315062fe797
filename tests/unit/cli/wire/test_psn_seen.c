/* SPDX-License-Identifier: Apache-2.0 */
/* Seen PSNs against a simple model: every noted PSN, with the stream's newest at that time. */
#include <stdlib.h>
#include <string.h>

#include "cli/wire/psn_seen.h"
#include "core/random.h"
#include "tests/support/test.h"

#define STREAMS 300 /* makes the table grow */
#define WINDOW  4096
#define HALF    (1u << 23)

static struct oche_psn_stream stream_of(uint32_t number)
{
    struct oche_psn_stream stream = {.dest_qpn = number / 2, .response = number % 2};

    stream.src_ip[15] = (uint8_t)(number % 7);
    stream.place = number % 3;
    return stream;
}

/* PSNs that are near one another behave as a set, separately for each stream. */
static void a_set(void **state)
{
    struct oche_random random = oche_random_stream(1, "psn seen", 0);
    struct oche_psn_seen *seen = oche_psn_seen_create();
    static bool model[STREAMS][WINDOW];
    uint32_t base[STREAMS];

    (void)state;
    assert_non_null(seen);
    for (uint32_t i = 0; i < STREAMS; i++)
        base[i] = (uint32_t)oche_random_u64(&random) & 0xffffff;
    for (unsigned i = 0; i < 200000; i++) {
        const uint32_t which = (uint32_t)oche_random_below(&random, STREAMS);
        const uint32_t offset = (uint32_t)oche_random_below(&random, WINDOW);
        const struct oche_psn_stream stream = stream_of(which);
        bool again;

        assert_true(oche_psn_seen_note(seen, &stream, (base[which] + offset) & 0xffffff, &again));
        assert_int_equal(again, model[which][offset]);
        model[which][offset] = true;
    }
    assert_int_equal(oche_psn_seen_streams(seen), STREAMS);
    oche_psn_seen_free(seen);
}

/*
 * Three times around the circle in order: no PSN is seen again. One page behind the newest: seen
 * again.
 */
static void around(void **state)
{
    struct oche_psn_seen *seen = oche_psn_seen_create();
    const struct oche_psn_stream stream = stream_of(1);
    uint32_t psn = 0xfffff0;
    bool again;

    (void)state;
    assert_non_null(seen);
    for (uint32_t i = 0; i < 3 * 4096; i++) {
        psn = (psn + 4099) & 0xffffff;
        assert_true(oche_psn_seen_note(seen, &stream, psn, &again));
        assert_false(again);
        if (i < 10)
            continue;
        assert_true(oche_psn_seen_note(seen, &stream, (psn - 9 * 4099) & 0xffffff, &again));
        assert_true(again);
    }
    oche_psn_seen_free(seen);
}

static void forgotten(void **state)
{
    struct oche_psn_seen *seen = oche_psn_seen_create();
    const struct oche_psn_stream stream = stream_of(1);
    bool again;

    (void)state;
    assert_non_null(seen);
    assert_true(oche_psn_seen_note(seen, &stream, 5, &again) && !again);
    assert_true(oche_psn_seen_note(seen, &stream, 5, &again) && again);
    assert_true(oche_psn_seen_note(seen, &stream, 4 + HALF / 2, &again) && !again);
    assert_true(oche_psn_seen_note(seen, &stream, 5, &again) && again);
    assert_true(oche_psn_seen_note(seen, &stream, 40000 + HALF, &again) && !again);
    assert_true(oche_psn_seen_note(seen, &stream, 5, &again) && !again);
    oche_psn_seen_free(seen);
    oche_psn_seen_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_set),
        cmocka_unit_test(around),
        cmocka_unit_test(forgotten),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
