/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Headroom (dcqcn.md#a12) in its worst case: an upstream that sends at line rate without end, a
 * blocked egress, and PAUSE frames that always find the line just taken. Nothing may be lost. The
 * headroom must not be too large either: half of it must be too small.
 */
#include "tests/unit/fabric/links.h"

#include <stdlib.h>

static struct links *make(unsigned ports)
{
    struct links *links = calloc(1, sizeof(*links));

    assert_non_null(links);
    rig_init(&links->rig, ports);
    links->rig.config.class_count = 1;
    links->rig.config.lossless_classes = 1;
    links->rig.params.pfc_priorities = 1;
    links->pause_waits_mtu = true;
    return links;
}

static void blast(struct links *links, unsigned from, unsigned to, unsigned packets, uint16_t bytes)
{
    for (unsigned i = 0; i < packets; i++) {
        struct oche_packet *packet = rig_packet(to, 0, bytes);
        packet->psn = i;
        links_send(links, from, packet, 0);
    }
}

/* Returns the headroom that host 0 needs towards port 1, which is blocked. `lost` counts drops. */
static uint64_t worst_case(uint64_t rate, oche_time delay, oche_time response, uint16_t mtu,
                           double scale, uint64_t *headroom, uint64_t *lost)
{
    struct links *links = make(2);
    uint64_t used, xoff = 20000;

    links->rig.config.mtu_frame_bytes = mtu;
    links->rig.params.threshold = OCHE_THRESHOLD_STATIC;
    links->rig.params.xoff_bytes = xoff;
    links->rig.params.pfc_response = response;
    links->rig.params.headroom_scale = scale;
    links->rig.ports[0].rate_bps = rate;
    links->rig.ports[0].delay = delay;
    links_make(links);
    *headroom = oche_switch_headroom_bytes(links->rig.sw, 0);
    blast(links, 0, 1, (unsigned)(3 * (*headroom + xoff) / mtu + 10), mtu);
    links->hosts[1].stalled_until = 500 * OCHE_US;
    links_run(links, OCHE_SEC);
    links_at_rest(links);
    used = links->max_occupied - (xoff / mtu + 1) * mtu; /* less the bytes held at the crossing */
    *lost = links->dropped;
    assert_true(rig_stats(&links->rig, 0, OCHE_SEC).pauses_sent[0] > 0);
    links_free(links);
    free(links);
    return used;
}

static void exact_headroom(void **state)
{
    static const uint64_t rates[] = {10 * OCHE_GBPS, 40 * OCHE_GBPS, 400 * OCHE_GBPS};
    static const uint16_t mtus[] = {320, 1086, 1500, 9018};

    (void)state;
    for (unsigned r = 0; r < 3; r++)
        for (unsigned m = 0; m < 4; m++) {
            oche_time frame = oche_time_of_bytes(mtus[m] + OCHE_GAP_BYTES, rates[r]);
            uint64_t least_spare = UINT64_MAX, whole = 0;

            /* The delay shifts the upstream's phase through one frame. */
            for (unsigned phase = 0; phase < 16; phase++) {
                oche_time delay = OCHE_US + frame * phase / 16;
                uint64_t headroom, lost, used;

                used = worst_case(rates[r], delay, 300 * OCHE_NS, mtus[m], 1, &headroom, &lost);
                assert_int_equal(lost, 0);
                assert_true(used <= headroom);
                whole = headroom;
                if (headroom - used < least_spare)
                    least_spare = headroom - used;
                used = worst_case(rates[r], delay, 300 * OCHE_NS, mtus[m], 0.5, &headroom, &lost);
                assert_true(lost > 0);
                assert_true(used <= headroom);
            }
            /* The margin: one frame's rounding, and the gaps on the line. */
            assert_true(least_spare <=
                        mtus[m] + whole / (mtus[m] + OCHE_GAP_BYTES) * OCHE_GAP_BYTES);
        }
}

/*
 * Seven hosts at line rate into a blocked one. The shared part is so small that the dynamic
 * threshold falls to zero: each ingress crosses, and each needs all of its headroom.
 */
static void all_at_once(void **state)
{
    static const double betas[] = {1.0 / 16, 1, 8, 64, 1024};

    (void)state;
    for (unsigned b = 0; b < 5; b++)
        for (unsigned half = 0; half < 2; half++) {
            struct links *links = make(8);
            uint64_t headroom;
            struct oche_error why;

            for (unsigned i = 0; i < 8; i++)
                links->rig.ports[i].delay += i * 37 * OCHE_NS;
            links->rig.params.beta = betas[b];
            links->rig.params.headroom_scale = half ? 0.5 : 1;
            /* The smallest buffer that passes the check, and 20 KB to share. */
            links->rig.params.buffer_bytes = 1000;
            while (!oche_switch_check(&links->rig.config, &why))
                links->rig.params.buffer_bytes += 1000;
            links->rig.params.buffer_bytes += 20000;
            links_make(links);
            headroom = oche_switch_headroom_bytes(links->rig.sw, 0);
            for (unsigned i = 0; i < 7; i++)
                blast(links, i, 7, 100, RIG_MTU);
            links->hosts[7].stalled_until = 300 * OCHE_US;
            links_run(links, OCHE_SEC);
            links_at_rest(links);
            assert_int_equal(links->dropped > 0, half);
            assert_true(links->max_occupied > 7 * (headroom - 4 * RIG_MTU));
            links_free(links);
            free(links);
        }
}

/*
 * An egress that is blocked for long: XOFF is refreshed, and the upstream never restarts by itself.
 */
static void long_pause(void **state)
{
    struct links *links = make(2);
    struct oche_switch_port_stats stats;

    (void)state;
    links_make(links);
    blast(links, 0, 1, 20000, RIG_MTU);
    links->hosts[1].stalled_until = 10 * OCHE_MS; /* twelve times the maximum quanta */
    links_run(links, OCHE_SEC);
    links_at_rest(links);
    assert_int_equal(links->dropped, 0);
    stats = rig_stats(&links->rig, 0, links->now);
    assert_true(stats.refreshes_sent[0] >= 10);
    /* The upstream was paused for as long as the switch counted, to the picosecond. */
    assert_int_equal(stats.pause_sent_time[0],
                     oche_pause_time(&links->hosts[0].pause, 0, links->now));
    links_free(links);
    free(links);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_headroom),
        cmocka_unit_test(all_at_once),
        cmocka_unit_test(long_pause),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
