/* SPDX-License-Identifier: Apache-2.0 */
/* Topologies from a file: accepted texts, and every error with its line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/topology/build.h"

static char path[] = "/tmp/oche-topology-XXXXXX";

static void write_file(const char *text)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void assert_file_error(const char *text, const char *expected)
{
    struct oche_topology topology;
    struct oche_error error = {""};
    size_t length = strlen(path);

    write_file(text);
    assert_false(try_build("from_file", SET({.name = "file", .text = path}), &topology, &error));
    assert_memory_equal(error.text, path, length);
    assert_string_equal(error.text + length, expected);
}

/* As editors and other systems write it, and with other separators. */
static void test_dialects(void **state)
{
    static const char *const texts[] = {
        "host a\nhost b\nswitch s\nlink a s 10Gbps 1us\nlink b s 10Gbps 1us\n",
        "\xef\xbb\xbfhost a\r\nhost b\r\nswitch s\r\nlink a s 10Gbps 1us\r\nlink b s 10Gbps 1us",
        "host a\rhost b\rswitch s\rlink a s 10Gbps 1us\rlink b s 10Gbps 1us\r",
        "// x\n% x\n; x\nhost,a,\nhost;b\nswitch\xc2\xa0s\nlink a,s,10Gbps,1us\nlink b s  "
        "10Gbps\t1us // x\n",
    };

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(texts); i++) {
        write_file(texts[i]);
        struct oche_topology t = built("from_file", SET({.name = "file", .text = path}));

        assert_int_equal(t.host_count, 2);
        assert_int_equal(t.link_count, 2);
        assert_int_equal(t.links[1].delay, OCHE_US);
        oche_topology_free(&t);
    }
    assert_file_error("\xff\xfeh", ":1: is UTF-16; save it as UTF-8 (Excel: CSV UTF-8)");
}

/* Topologies of HPCC, as it and its children write them. */
static void test_hpcc(void **state)
{
    static const char *const texts[] = {
        "5 2 4\n3 4\n0 3 100Gbps 1000ns 0\n1 3 100Gbps 0.001ms 0.000000\n2 4 50Gbps 1us 0\n"
        "3 4 400Gbps 1000ns 0\n",
        "5 2 1 4\n3\n4\n0 3 100Gbps 1000ns 0 1 3 100Gbps 0.001ms 0.000000 2 4\n50Gbps\t1us 0\n\n"
        "3 4 400Gbps 1000ns 0",
    };

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(texts); i++) {
        write_file(texts[i]);
        struct oche_topology t = built("from_file", SET({.name = "file", .text = path}));

        assert_int_equal(t.host_count, 3);
        assert_int_equal(t.switch_count, 2);
        assert_int_equal(t.link_count, 4);
        assert_int_equal(oche_topology_find(&t, "host2"), 2);
        assert_int_equal(oche_topology_find(&t, "switch4"), 4);
        assert_int_equal(t.nodes[3].kind, OCHE_NODE_TOR);
        assert_int_equal(t.links[1].delay, OCHE_US);
        assert_int_equal(t.links[3].rate_bps, 400 * OCHE_GBPS);
        oche_topology_free(&t);
    }
    assert_file_error("6 1\n", ":1: 2 numbers; nodes, switches and links would be right");
    assert_file_error(
        "20 8 0 2 30 H100\n",
        ":1: 6 numbers, as in SimAI's topologies, whose GPUs have several links; here "
        "a host has one: write a topology without NVSwitches, and set ranks_per_host "
        "and local_rate");
    assert_file_error("3 2 1\n1 2\n", ":1: 3 nodes and 2 switches; at least two hosts and a switch "
                                      "would be right");
    assert_file_error("4 2 3\n3 3\n", ":2: node 3 is in the list of switches twice");
    assert_file_error("4 1 3\n4\n", ":2: \"4\" is no node; a whole number, at most 3");
    assert_file_error("4 1 3\n", ":1: ends where node should be");
    assert_file_error("3 1 2\n2\n0 2 1Gbps 1us 0\n1 2 1Gbps\n",
                      ":4: ends within a link; two nodes, a rate, a delay and a rate of loss would "
                      "be right");
    assert_file_error(
        "3 1 2\n2\n0 2 1Gbps 1us 0.5\n",
        ":3: a loss of 0.5; 0 would be right here: set it in the scenario, in `loss`");
    assert_file_error("3 1 2\n2\n0 2 1Gbps 1us 0\n0 2 1Gbps 1us 0\n",
                      ":4: link: host host0 has a link already; a host has one");
}

/* Switches may have numbers below those of hosts, and rates the units of ns-3. */
static void test_numbers_of_hpcc(void **state)
{
    struct oche_topology t;

    (void)state;
    write_file("5 2 4\n0 2\n1 0 25000000000.0 1us 0\n3 0 100Gb/s 1us 0\n4 2 12.5GB/s 1us 0\n"
               "0 2 400Gbps 1us 0\n\n0 255 25Gbps 1us 0\nFirst line: what it is\n");
    t = built("from_file", SET({.name = "file", .text = path}));
    assert_int_equal(t.host_count, 3);
    assert_true(t.numbered_by_name);
    assert_string_equal(t.nodes[0].name, "host1");
    assert_string_equal(t.nodes[2].name, "host4");
    assert_string_equal(t.nodes[3].name, "switch0");
    assert_string_equal(t.nodes[4].name, "switch2");
    assert_int_equal(t.links[0].rate_bps, 25 * OCHE_GBPS);
    assert_int_equal(t.links[1].rate_bps, 100 * OCHE_GBPS);
    assert_int_equal(t.links[2].rate_bps, 100 * OCHE_GBPS);
    assert_int_equal(t.links[2].a, 2);
    assert_non_null(strstr(t.summary, "whose first line says so; what follows them is not read"));
    oche_topology_free(&t);
    write_file("3 1 2\n2\n0 2 1Gbps 1us 0\n1 2 1Gbps 1us 0\n");
    t = built("from_file", SET({.name = "file", .text = path}));
    assert_false(t.numbered_by_name);
    oche_topology_free(&t);
}

static void test_reads(void **state)
{
    struct oche_topology t;
    uint32_t left, middle, top;

    (void)state;
    write_file("# two racks\n"
               "host a\nhost b  # comment\n\thost c\n"
               "switch left\nswitch right\nswitch middle\nswitch top\nswitch other aggregation\n"
               "link a left 10Gbps 1us\nlink left b 2.5Gbps 500ns\nlink c right 10Gbps 1.5us\r\n"
               "link left middle 40Gbps 2us\nlink right middle 40Gbps 2us\n"
               "link middle top 0.1Tbps 10ns\nlink top other 800000Kbps 1ms\n");
    t = built("from_file", SET({.name = "file", .text = path}));
    assert_int_equal(t.host_count, 3);
    assert_int_equal(t.switch_count, 5);
    assert_int_equal(t.link_count, 7);
    assert_int_equal(oche_topology_find(&t, "c"), 2);
    left = oche_topology_find(&t, "left");
    middle = oche_topology_find(&t, "middle");
    top = oche_topology_find(&t, "top");
    assert_int_equal(t.nodes[left].kind, OCHE_NODE_TOR);
    assert_int_equal(t.nodes[middle].kind, OCHE_NODE_AGGREGATION);
    assert_int_equal(t.nodes[top].kind, OCHE_NODE_CORE);
    assert_int_equal(t.nodes[oche_topology_find(&t, "other")].kind, OCHE_NODE_AGGREGATION);
    assert_int_equal(oche_topology_port(&t, left, 2)->peer, middle);
    assert_int_equal(t.links[1].rate_bps, 2500 * OCHE_MBPS);
    assert_int_equal(t.links[1].delay, 500 * OCHE_NS);
    assert_int_equal(t.links[2].delay, 1500 * OCHE_NS);
    assert_int_equal(t.links[5].rate_bps, 100 * OCHE_GBPS);
    assert_int_equal(t.links[6].rate_bps, 800 * OCHE_MBPS);
    assert_int_equal(t.nodes[0].pod, t.nodes[left].pod);
    assert_int_not_equal(t.nodes[0].pod, t.nodes[2].pod);
    oche_topology_free(&t);
}

#define TWO "host a\nhost b\nswitch s\n"

static void test_errors(void **state)
{
    (void)state;
    assert_file_error("", ": empty");
    assert_file_error("# nothing\n", ":1: host: 0 in the file; at least 2 would be right");
    assert_file_error("host a\nhost b\n",
                      ":2: switch: none in the file; hosts are linked to a switch");
    assert_file_error("host a b\n", ":1: host: 3 words; \"host NAME\" would be right");
    assert_file_error("\nswitch\n",
                      ":2: switch: no name; \"switch NAME [tor|aggregation|core]\" would be right");
    assert_file_error(
        "switch a core core\n",
        ":1: switch: too many words; \"switch NAME [tor|aggregation|core]\" would be right");
    assert_file_error(TWO "router r\n",
                      ":4: router: unknown statement; \"host\", \"switch\" or \"link\"");
    assert_file_error(TWO "link a s 10Gbps\n",
                      ":4: link: too few words; \"link NAME NAME 10Gbps 1us\" would be right");
    assert_file_error(TWO "link a s 10Gbps 1us 3 4 5 6\n",
                      ":4: link: too many words; \"link NAME NAME 10Gbps 1us\" would be right");
    assert_file_error(TWO "switch t leaf\n",
                      ":4: switch t: tier \"leaf\" is unknown; tor, aggregation or core");
    assert_file_error(TWO "switch a\n", ":4: switch a: there is a node of that name already");
    assert_file_error(TWO "host 5\n",
                      ":4: host: \"5\" is no name; up to 31 letters, digits, _ - and ., not "
                      "beginning with a digit");
    assert_file_error(TWO "host a:b\n",
                      ":4: host: \"a:b\" is no name; up to 31 letters, digits, _ - and ., not "
                      "beginning with a digit");
    assert_file_error(TWO "link a x 10Gbps 1us\n",
                      ":4: link: no node is called \"x\"; add a line \"switch x\"");
    assert_file_error(TWO "link s s 10Gbps 1us\n",
                      ":4: link: from s to itself; two different nodes");
    assert_file_error(TWO "link a b 10Gbps 1us\n",
                      ":4: link: a and b are both hosts; a host is linked to a switch");
    assert_file_error(TWO "link a s 10Gbps 1us\nlink s a 10Gbps 1us\n",
                      ":5: link: host a has a link already; a host has one");
    assert_file_error(TWO "link a s 10Gbps 1us\n", ": b cannot be reached from a; a link is "
                                                   "missing");
}

static void assert_bad_value(const char *rate, const char *delay, const char *expected)
{
    struct oche_topology topology;
    struct oche_error error = {""};
    char text[128];

    snprintf(text, sizeof(text), TWO "link a s %s %s\n", rate, delay);
    write_file(text);
    assert_false(try_build("from_file", SET({.name = "file", .text = path}), &topology, &error));
    assert_memory_equal(error.text + strlen(path), ":4: ", 4);
    assert_memory_equal(error.text + strlen(path) + 4, expected, strlen(expected));
}

static void test_values(void **state)
{
    static const char *const bad_rates[] = {"10",
                                            "Gbps",
                                            "10gbps",
                                            "-1Gbps",
                                            "0Gbps",
                                            "1e9bps",
                                            "1..5Gbps",
                                            "9000Tbps",
                                            "10_Gbps",
                                            "0.00001Kbps",
                                            "99999999999999999999999Gbps"};
    static const char *const bad_delays[] = {"1", "us", "0us", "1.0001ps", "2s", "10Gbps", "0.1ns"};

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(bad_rates); i++)
        assert_bad_value(bad_rates[i], "1us", "link: rate: ");
    for (size_t i = 0; i < OCHE_COUNT_OF(bad_delays); i++)
        assert_bad_value("10Gbps", bad_delays[i], "link: delay: ");
    assert_file_error(TWO "link a s 10GBps 1us\n",
                      ":4: link: rate: \"10GBps\": \"GBps\" is not a unit of rate; use bps, Kbps, "
                      "Mbps, Gbps or Tbps");
}

static void test_missing(void **state)
{
    (void)state;
    assert_error("from_file", NO_SETTINGS, "file: not given; the path of a topology file");
    assert_error("from_file", SET({.name = "file", .text = "/nonexistent/net.txt"}),
                 "topology.file: /nonexistent/net.txt: No such file or directory; a readable file "
                 "would be right");
    assert_error("from_file", SET({.name = "file", .text = "/"}),
                 "topology.file: /: Is a directory; a readable file would be right");
}

/* Bytes that are no text, long lines, cut lines: an error or a topology, never a crash. */
static void test_noise(void **state)
{
    static const char alphabet[] = "host switch link a b s 10Gbps 1us tor \n\n#.9\xff";
    struct oche_random random = oche_random_stream(1, "noise", 0);
    char text[256];

    (void)state;
    for (unsigned round = 0; round < 500; round++) {
        struct oche_topology topology;
        struct oche_error error = {""};
        size_t length = oche_random_below(&random, sizeof(text) - 1);

        strcpy(text, TWO "link a s 10Gbps 1us\nlink b s 10Gbps 1us\n");
        for (size_t i = 0; i < length / 32; i++)
            text[oche_random_below(&random, strlen(text))] =
                alphabet[oche_random_below(&random, sizeof(alphabet) - 1)];
        write_file(text);
        if (try_build("from_file", SET({.name = "file", .text = path}), &topology, &error))
            oche_topology_free(&topology);
        else
            assert_memory_equal(error.text, path, strlen(path));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_of_hpcc), cmocka_unit_test(test_reads),
        cmocka_unit_test(test_dialects),        cmocka_unit_test(test_hpcc),
        cmocka_unit_test(test_errors),          cmocka_unit_test(test_values),
        cmocka_unit_test(test_missing),         cmocka_unit_test(test_noise),
    };
    int fd = mkstemp(path), failed;

    if (fd < 0)
        return 1;
    close(fd);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
