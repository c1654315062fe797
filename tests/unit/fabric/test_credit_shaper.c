/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Credits of ExpressPass at a switch: the bucket's rate over long times, the queue's limit, data
 * that passes while credits wait, and PFC beside it.
 */
#include <string.h>

#include "fabric/credit_bucket.h"
#include "fabric/credit_shaper.h"
#include "tests/unit/fabric/rig.h"

#define CREDIT 84 /* on the line */
#define DATA   1538
#define GBPS40 UINT64_C(40000000000)

/*
 * The bucket is exact: for any duration and rate, so many bytes take their exact time, rounded
 * down.
 */
static void test_rate_is_exact(void **state)
{
    static const uint64_t rates[] = {10000000000, GBPS40, 9999999967, 400000000000, 1000003};
    struct oche_credit_bucket bucket;

    (void)state;
    for (size_t r = 0; r < OCHE_COUNT_OF(rates); r++) {
        uint64_t bytes = 0;
        oche_time now = 1;

        oche_credit_bucket_init(&bucket, rates[r], CREDIT, DATA, 1);
        for (uint32_t i = 0; i < 1000000; i++) {
            uint32_t size = CREDIT + (i * 7) % 9;
            assert_true(oche_credit_bucket_next(&bucket) <= now);
            oche_credit_bucket_take(&bucket, size, now);
            bytes += size;
            now = oche_credit_bucket_next(&bucket);
        }
        unsigned __int128 ps = (unsigned __int128)bytes * 8 * OCHE_SEC * (CREDIT + DATA);
        assert_int_equal(bucket.full_at - 1, (uint64_t)(ps / (CREDIT * rates[r])));
    }
}

/* After a pause a full bucket releases `burst` at once, and no more. */
static void test_burst(void **state)
{
    struct oche_credit_bucket bucket;

    (void)state;
    for (uint32_t burst = 1; burst <= 4; burst++) {
        oche_credit_bucket_init(&bucket, 10000000000, CREDIT, DATA, burst);
        for (oche_time now = OCHE_MS; now <= 2 * OCHE_MS; now += OCHE_MS) {
            for (uint32_t i = 0; i < burst; i++) {
                assert_true(oche_credit_bucket_next(&bucket) <= now);
                oche_credit_bucket_take(&bucket, CREDIT, now);
            }
            assert_int_equal(oche_credit_bucket_next(&bucket), now + 1297600);
        }
    }
}

struct shaped {
    struct rig rig;
    struct oche_credit_shaper_params params;
    const struct oche_switch_mechanism *mechanisms[1];
    const void *mechanism_params[1];
};

static void make(struct shaped *shaped)
{
    memset(shaped, 0, sizeof(*shaped));
    rig_init(&shaped->rig, 4);
    oche_param_defaults(oche_credit_shaper.params, &shaped->params);
    shaped->mechanisms[0] = &oche_credit_shaper;
    shaped->mechanism_params[0] = &shaped->params;
    shaped->rig.config.mechanisms = shaped->mechanisms;
    shaped->rig.config.mechanism_params = shaped->mechanism_params;
    shaped->rig.config.mechanism_count = 1;
    shaped->rig.config.class_count = 2;
    shaped->rig.config.lossless_classes = 0;
    shaped->rig.config.mtu_frame_bytes = DATA - OCHE_GAP_BYTES;
    shaped->rig.config.answer_frame_bytes = CREDIT - OCHE_GAP_BYTES;
    shaped->rig.params.pfc_priorities = 0;
    shaped->rig.params.pfc_response = 0;
    rig_make(&shaped->rig);
}

/* Releases all credits, however long that takes. */
static void finish(struct shaped *shaped)
{
    for (oche_time now = OCHE_SEC; oche_switch_occupied_bytes(shaped->rig.sw) > 0; now += OCHE_US) {
        while (oche_switch_expire(shaped->rig.sw, now) >= 0)
            ;
        for (unsigned port = 0; port < 4; port++)
            rig_out(&shaped->rig, port, now);
    }
    rig_free(&shaped->rig);
}

static uint64_t count(const struct shaped *shaped, enum oche_credit_shaper_counter which)
{
    uint64_t values[OCHE_CREDIT_SHAPER_COUNTERS];

    oche_switch_mechanism_counters(shaped->rig.sw, 0, values);
    return values[which];
}

static bool credit_in(struct shaped *shaped, oche_time now)
{
    return rig_in(&shaped->rig, 0, 1, 1, CREDIT - OCHE_GAP_BYTES, now);
}

static void test_queue_is_short(void **state)
{
    struct shaped shaped;

    (void)state;
    make(&shaped);
    for (unsigned i = 0; i < 25; i++)
        assert_int_equal(credit_in(&shaped, 0), i < 10);
    /* The shaper does not delay data, nor credits at other ports. */
    for (unsigned i = 0; i < 50; i++)
        assert_true(rig_in(&shaped.rig, 0, 1, 0, 1518, 0));
    assert_true(rig_in(&shaped.rig, 0, 2, 1, 64, 0));
    assert_int_equal(count(&shaped, OCHE_CREDIT_SHAPER_DROPPED), 15);
    assert_int_equal(count(&shaped, OCHE_CREDIT_SHAPER_QUEUE_PEAK), 10);
    assert_int_equal(rig_stats(&shaped.rig, 1, 0).drops[OCHE_DROP_MECHANISM], 15);
    assert_int_equal(rig_stats(&shaped.rig, 1, 0).drops[OCHE_DROP_BUFFER], 0);
    oche_switch_reset_stats(shaped.rig.sw, 0);
    assert_int_equal(count(&shaped, OCHE_CREDIT_SHAPER_DROPPED), 0);
    assert_int_equal(count(&shaped, OCHE_CREDIT_SHAPER_QUEUE_PEAK), 10);
    finish(&shaped);
}

/*
 * Two at once, then one every 324.4 ns (40 Gbit/s), with data in between. The timer gives the
 * times.
 */
static void test_credits_are_paced(void **state)
{
    struct shaped shaped;
    struct oche_switch *sw;
    oche_time now = OCHE_US, apart = 324400;

    (void)state;
    make(&shaped);
    sw = shaped.rig.sw;
    for (unsigned i = 0; i < 6; i++)
        assert_true(credit_in(&shaped, now));
    assert_true(rig_in(&shaped.rig, 0, 1, 0, 1518, now));
    assert_int_equal(oche_switch_next(sw), OCHE_NEVER);
    assert_int_equal(rig_out(&shaped.rig, 1, now), 64);
    assert_int_equal(rig_out(&shaped.rig, 1, now), 64);
    assert_int_equal(rig_out(&shaped.rig, 1, now), 1518);
    assert_false(oche_switch_ready(sw, 1));
    assert_false(oche_switch_is_paused(sw, 1, 1)); /* by its peer, that is */
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(oche_switch_next(sw), now + apart);
        assert_int_equal(oche_switch_expire(sw, now + apart - 1), -1);
        assert_int_equal(rig_out(&shaped.rig, 1, now + apart - 1), 0);
        now += apart;
        assert_int_equal(oche_switch_expire(sw, now), 1);
        assert_int_equal(oche_switch_expire(sw, now), -1);
        assert_int_equal(rig_out(&shaped.rig, 1, now), 64);
    }
    assert_int_equal(rig_out(&shaped.rig, 1, now), 0);
    assert_int_equal(count(&shaped, OCHE_CREDIT_SHAPER_CREDITS), 6);
    /* With no credit waiting, no timer runs. An early credit waits, a late one does not. */
    assert_int_equal(oche_switch_next(sw), OCHE_NEVER);
    assert_true(credit_in(&shaped, now + apart / 2));
    assert_int_equal(oche_switch_next(sw), now + apart);
    assert_int_equal(oche_switch_expire(sw, now + apart), 1);
    assert_int_equal(rig_out(&shaped.rig, 1, now + apart), 64);
    assert_true(credit_in(&shaped, now + 5 * apart));
    assert_int_equal(oche_switch_next(sw), OCHE_NEVER);
    assert_int_equal(rig_out(&shaped.rig, 1, now + 5 * apart), 64);
    finish(&shaped);
}

/* A peer's PAUSE of the credits' class and the bucket hold credits independently. */
static void test_beside_pfc(void **state)
{
    struct shaped shaped;
    struct oche_switch *sw;

    (void)state;
    make(&shaped);
    sw = shaped.rig.sw;
    for (unsigned i = 0; i < 4; i++)
        assert_true(credit_in(&shaped, 0));
    assert_int_equal(rig_out(&shaped.rig, 1, 0), 64);
    assert_int_equal(rig_out(&shaped.rig, 1, 0), 64);
    rig_pause(&shaped.rig, 1, 1, 1000, 10); /* for 12.8 us */
    assert_true(oche_switch_is_paused(sw, 1, 1));
    assert_int_equal(oche_switch_expire(sw, 324400), -1);
    assert_int_equal(rig_out(&shaped.rig, 1, 324400), 0);
    rig_pause(&shaped.rig, 1, 1, 0, 400000);
    assert_false(oche_switch_is_paused(sw, 1, 1));
    assert_int_equal(rig_out(&shaped.rig, 1, 400000), 64);
    assert_int_equal(rig_out(&shaped.rig, 1, 400000), 0);
    rig_pause(&shaped.rig, 1, 1, 0, 400001); /* does not release credits that the bucket holds */
    assert_int_equal(rig_out(&shaped.rig, 1, 400001), 0);
    assert_int_equal(oche_switch_expire(sw, OCHE_MS), 1);
    assert_int_equal(rig_out(&shaped.rig, 1, OCHE_MS), 64);
    finish(&shaped);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rate_is_exact),  cmocka_unit_test(test_burst),
        cmocka_unit_test(test_queue_is_short), cmocka_unit_test(test_credits_are_paced),
        cmocka_unit_test(test_beside_pfc),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
