/* SPDX-License-Identifier: Apache-2.0 */
/* Dart's packets with lists of senders are the largest of all. PFC's headroom must include them. */
#include <string.h>

#include "core/wire/opcode.h"
#include "sim/scenario/scenario.h"
#include "sim/world/internal.h"
#include "tests/support/test.h"

#define LISTS                                                                                      \
    "duration: 100us\n"                                                                            \
    "topology: {type: leaf_spine, leaves: 4, spines: 2, hosts_per_leaf: 50, preset: paper}\n"      \
    "switch: {threshold: static, xoff: 500B, buffer: 32MB}\n"

static struct oche_scenario *scenario;

static void open_scenario(const char *scheme, const char *workload)
{
    struct oche_error error;
    char text[1024];

    snprintf(text, sizeof(text), LISTS "congestion_control: %s\nworkload: %s\n", scheme, workload);
    oche_scenario_close(scenario);
    scenario = oche_scenario_parse("s.yaml", text, strlen(text), &error);
    if (scenario == NULL)
        fail_msg("%s", error.text);
}

static uint32_t frame(const char *scheme, const char *workload)
{
    open_scenario(scheme, workload);
    return oche_world_packets(&scenario->config).frame_bytes;
}

static void test_largest_frame(void **state)
{
    const uint32_t plain = frame("dcqcn", "{type: incast, degree: 5}");

    (void)state;
    assert_int_equal(frame("dart", "{type: permutation}"), plain);
    assert_int_equal(frame("dart", "{type: incast, degree: 1}"), plain);
    assert_int_equal(frame("dart", "{type: incast, degree: 5, back_to_back: true}"), plain);
    assert_int_equal(frame("{name: dart, look_ahead: false}", "{type: incast, degree: 5}"), plain);
    assert_int_equal(frame("dart", "{type: incast, degree: 5}"), plain + OCHE_GROUP_BYTES + 12);
    assert_int_equal(frame("dart", "[{type: incast, degree: 2}, {type: incast_groups, degree: 199, "
                                   "stop: 1us}]"),
                     plain + OCHE_GROUP_BYTES + 400);
    /* A list that is longer than the limit is not sent. */
    assert_int_equal(frame("dart", "{type: incast_groups, degree: 2000, stop: 1us}"),
                     plain + OCHE_GROUP_BYTES);
}

/* The headroom includes such packets, too. Without them two were dropped here. */
static void test_nothing_is_dropped(void **state)
{
    struct oche_world_totals totals;
    struct oche_error error;

    (void)state;
    open_scenario("dart", "{type: incast_groups, sizes: 1000B, load: 4, load_of: host, "
                          "degree: 190, stop: 60us}");
    struct oche_world *world = oche_world_create(&scenario->config, &error);

    if (world == NULL)
        fail_msg("%s", error.text);
    oche_world_run(world, NULL, NULL);
    oche_world_totals(world, &totals);
    assert_int_equal(totals.drops[OCHE_DROP_BUFFER], 0);
    oche_world_free(world);
}

static int clean_up(void **state)
{
    (void)state;
    oche_scenario_close(scenario);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_largest_frame),
        cmocka_unit_test(test_nothing_is_dropped),
    };

    return cmocka_run_group_tests(tests, NULL, clean_up);
}
