/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs of transfers with hosts given by name, beside numbers. For files, see test_from_file.c. */
#include "tests/support/test.h"

#include <stdio.h>
#include <string.h>

#include "sim/app/app.h"
#include "sim/topology/topology.h"

static struct oche_topology_node nodes[18];
static const struct oche_topology topology = {.host_count = 16, .switch_count = 2, .nodes = nodes};
static struct oche_flow_list list;
static struct oche_error error;

static const struct oche_host_rate every_host = {.link_bps = 10 * OCHE_GBPS, .hosts = 16};

/* Lists one message of each pair. Returns false if the pairs are rejected. */
static bool list_pairs(const char *pairs)
{
    const struct oche_workload_type *type = oche_workload_type_find("transfers");
    const struct oche_workload_facts facts = {.host_count = 16,
                                              .topology = &topology,
                                              .rates = {.kinds = &every_host, .count = 1},
                                              .mtu_bytes = 1000,
                                              .duration = 10 * OCHE_MS};
    uint64_t params[16];

    assert_true(type->table->struct_bytes <= sizeof(params));
    oche_param_defaults(type->table, params);
    oche_param_set(oche_param_find(type->table, "pairs"), params,
                   (union oche_value){.text = pairs});
    oche_param_set(oche_param_find(type->table, "messages"), params, (union oche_value){.u = 1});
    oche_flow_list_free(&list);
    return type->generate(params, &facts, &list, &error);
}

static void names_and_numbers(void **state)
{
    static const uint32_t expected[][2] = {{3, 4}, {5, 15}, {7, 0}, {1, 2}};

    (void)state;
    assert_true(list_pairs("host3>4, 5 > host15 ,my-host.rack_1>0,1>2"));
    assert_int_equal(list.count, OCHE_COUNT_OF(expected));
    for (size_t i = 0; i < OCHE_COUNT_OF(expected); i++) {
        assert_int_equal(list.plan[i].src, expected[i][0]);
        assert_int_equal(list.plan[i].dst, expected[i][1]);
    }
}

static void wrong_names(void **state)
{
#define NAMES "; a number, 0 to 15, or a name as in tables"
    static const struct {
        const char *pairs, *error;
    } cases[] = {
        {"host0>host16", "pairs: no host is called \"host16\"" NAMES},
        {"host0>tor1", "pairs: no host is called \"tor1\"" NAMES},
        {"host7>host1", "pairs: no host is called \"host7\"" NAMES},
        {"0>-1", "pairs: no host is called \"-1\"" NAMES},
        {"host3host4", "pairs: no host is called \"host3host4\"" NAMES},
        {"0>a-name-of-more-than-thirty-one-letters",
         "pairs: no host is called \"a-name-of-more-than-thirty-one-letters\"" NAMES},
        {"host3>host3", "pairs: host 3 sends to itself; another host"},
        {"host3,4", "pairs: \"host3\" is no pair; two hosts, such as 0>15 or host0>host15"},
        {"host3>,4", "pairs: \"host3>\" is no pair; two hosts, such as 0>15 or host0>host15"},
    };

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(cases); i++) {
        assert_false(list_pairs(cases[i].pairs));
        assert_string_equal(error.text, cases[i].error);
    }
}

static int clean_up(void **state)
{
    (void)state;
    oche_flow_list_free(&list);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_numbers),
        cmocka_unit_test(wrong_names),
    };

    for (unsigned i = 0; i < OCHE_COUNT_OF(nodes); i++)
        snprintf(nodes[i].name, sizeof(nodes[i].name), i < 16 ? "host%u" : "tor%u", i % 16);
    strcpy(nodes[7].name, "my-host.rack_1");
    return cmocka_run_group_tests(tests, NULL, clean_up);
}
