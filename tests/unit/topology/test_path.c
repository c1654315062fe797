/* SPDX-License-Identifier: Apache-2.0 */
/* The time of a single message, against computation by hand and against frames sent one by one. */
#include "tests/unit/topology/build.h"

/* Hand: 10 Gbit/s is 800 ps a byte; 3 frames of 1000 bytes over 2 links of 1 us. */
static void test_equal_frames(void **state)
{
    struct oche_path path = {
        .links = 2, .rate_bps = {10 * OCHE_GBPS, 10 * OCHE_GBPS}, .delay = {OCHE_US, OCHE_US}};
    struct oche_frames frames = {
        .count = 3, .first_bytes = 1000, .middle_bytes = 1000, .last_bytes = 1000};

    (void)state;
    /* 2 us of delay, then 0.8 us for each frame, and once more for the second link. */
    assert_int_equal(oche_path_ideal(&path, &frames), 2 * OCHE_US + 4 * 800 * OCHE_NS);
    frames.count = 1;
    assert_int_equal(oche_path_ideal(&path, &frames), 2 * OCHE_US + 2 * 800 * OCHE_NS);
    path.rate_bps[1] = 5 * OCHE_GBPS; /* the slow link decides: 0.8 + 3 * 1.6 */
    frames.count = 3;
    assert_int_equal(oche_path_ideal(&path, &frames), 2 * OCHE_US + 5600 * OCHE_NS);
    assert_int_equal(oche_path_round_trip(&path, &path, 1000, 100),
                     4 * OCHE_US + (800 + 1600 + 80 + 160) * OCHE_NS);
}

/*
 * Frame by frame: a link takes a frame when it has arrived completely and the one before has left.
 */
static oche_time one_by_one(const struct oche_path *path, const struct oche_frames *frames)
{
    oche_time free_at[OCHE_PATH_LINKS] = {0}, arrival = 0;

    for (uint64_t f = 0; f < frames->count; f++) {
        uint32_t bytes = f == 0                   ? frames->first_bytes
                         : f + 1 == frames->count ? frames->last_bytes
                                                  : frames->middle_bytes;

        arrival = 0;
        for (uint32_t l = 0; l < path->links; l++) {
            oche_time start = arrival > free_at[l] ? arrival : free_at[l];

            free_at[l] = start + oche_time_of_bytes(bytes, path->rate_bps[l]);
            arrival = free_at[l] + path->delay[l];
        }
    }
    return arrival;
}

static void test_against_frames(void **state)
{
    struct oche_random random = oche_random_stream(3, "path", 0);

    (void)state;
    for (unsigned round = 0; round < 3000; round++) {
        struct oche_path path = {.links = 1 + (uint32_t)oche_random_below(&random, 6)};
        struct oche_frames frames = {.count = 1 + oche_random_below(&random, 20),
                                     .first_bytes = 64 + (uint32_t)oche_random_below(&random, 1500),
                                     .middle_bytes =
                                         64 + (uint32_t)oche_random_below(&random, 1500),
                                     .last_bytes = 64 + (uint32_t)oche_random_below(&random, 1500)};

        for (uint32_t l = 0; l < path.links; l++) {
            path.rate_bps[l] = (1 + oche_random_below(&random, 9)) * 7 * OCHE_GBPS;
            path.delay[l] = 1 + oche_random_below(&random, 3 * OCHE_US);
        }
        assert_int_equal(oche_path_ideal(&path, &frames), one_by_one(&path, &frames));
    }
}

static void test_paths(void **state)
{
    struct oche_topology t =
        built("clos", SET({"link_rate", 40 * OCHE_GBPS}, {"pods", 2}, {"core_rate", 40 * OCHE_GBPS},
                          {"link_delay", 2 * OCHE_US}));
    struct oche_topology_routes r = routed(&t);
    struct oche_path path;

    (void)state;
    oche_topology_path(&r, 0, 1, &path);
    assert_int_equal(path.links, 2);
    assert_int_equal(path.delay[0] + path.delay[1], 10 * OCHE_US);
    oche_topology_path(&r, 0, 127, &path);
    assert_int_equal(path.links, 6);
    for (uint32_t l = 0; l < 6; l++) {
        bool at_end = l == 0 || l == 5;

        assert_int_equal(path.rate_bps[l], (at_end ? 10 : 40) * OCHE_GBPS);
        assert_int_equal(path.delay[l], (at_end ? 5 : 2) * OCHE_US);
    }
    oche_topology_path(&r, 17, 0, &path);
    assert_int_equal(path.links, 4);
    oche_topology_routes_free(&r);
    oche_topology_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal_frames),
        cmocka_unit_test(test_against_frames),
        cmocka_unit_test(test_paths),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
