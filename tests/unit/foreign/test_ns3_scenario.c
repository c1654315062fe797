/* SPDX-License-Identifier: Apache-2.0 */
/* Translates keys of HPCC's simulator, with a network of 25 and 100 Gbit/s. */
#include "sim/foreign/ns3_scenario.h"

#include <stdlib.h>
#include <string.h>

#include "sim/topology/builder.h"
#include "tests/support/test.h"

static struct oche_translation to;
static struct oche_error error;

/* Two ToRs of two hosts each, and a switch above them. */
static struct oche_topology network(uint64_t host_bps, uint64_t link_bps)
{
    struct oche_topology t;

    assert_true(oche_topology_begin(&t, 4, 3, 6, &error));
    for (uint32_t i = 0; i < 4; i++)
        oche_topology_name(&t, i, OCHE_NODE_HOST, 0, "host", i);
    for (uint32_t i = 4; i < 7; i++)
        oche_topology_name(&t, i, i < 6 ? OCHE_NODE_TOR : OCHE_NODE_AGGREGATION, 0, "switch", i);
    for (uint32_t i = 0; i < 4; i++)
        oche_topology_link(&t, i, 4 + i / 2, host_bps, OCHE_US);
    oche_topology_link(&t, 4, 6, link_bps, OCHE_US);
    oche_topology_link(&t, 5, 6, link_bps, OCHE_US);
    assert_true(oche_topology_finish(&t, &error));
    return t;
}

static bool translate(const char *text, const struct oche_topology *t, oche_time first)
{
    const struct oche_ns3_files files = {
        .network = t, .host_rate_bps = 100 * OCHE_GBPS, .has_flows = true, .first_start = first};
    struct oche_ns3_config config;
    bool good;

    oche_translation_free(&to);
    assert_true(oche_ns3_config_read(&config, "c.txt", text, strlen(text), &error));
    good = oche_ns3_translate(&config, "c.txt", &files, &to, &error);
    oche_ns3_config_free(&config);
    return good;
}

static void assert_set(const char *section, const char *key, const char *value)
{
    const struct oche_setting *setting = oche_translation_find(&to, section, key);

    assert_non_null(setting);
    assert_string_equal(setting->value, value);
}

static bool has_note(enum oche_note_kind kind, const char *part)
{
    for (size_t i = 0; i < to.note_count; i++)
        if (to.notes[i].kind == kind && strstr(to.notes[i].text, part) != NULL)
            return true;
    return false;
}

static void test_dcqcn(void **state)
{
    (void)state;
    assert_true(translate("CC_MODE 1 ALPHA_RESUME_INTERVAL 1 RATE_DECREASE_INTERVAL 4 "
                          "CLAMP_TARGET_RATE 0 RP_TIMER 900 EWMA_GAIN 0.00390625 "
                          "FAST_RECOVERY_TIMES 1 RATE_AI 50Mb/s RATE_HAI 100Mb/s MIN_RATE 100Mb/s "
                          "PACKET_PAYLOAD_SIZE 1000 L2_ACK_INTERVAL 1 L2_BACK_TO_ZERO 0 "
                          "ACK_HIGH_PRIO 0 SIMULATOR_STOP_TIME 4.0 ERROR_RATE_PER_LINK 0.0 "
                          "LINK_DOWN 0 0 0 HAS_WIN 1 U_TARGET 0.95 RANDOM_SEED 5 BUFFER_SIZE 32",
                          NULL, 2 * OCHE_SEC));
    assert_set("congestion_control", "name", "dcqcn");
    assert_set("congestion_control", "mode", "nic");
    assert_set("congestion_control", "np", "ack");
    assert_set("congestion_control", "alpha_interval", "1us");
    assert_set("congestion_control", "reduce_monitor_period", "4us");
    assert_set("congestion_control", "timer", "900us");
    assert_set("congestion_control", "target_at_cut", "after_increase");
    assert_set("congestion_control", "fast_recovery_steps", "1");
    assert_set("congestion_control", "rai", "50Mbps");
    assert_set("congestion_control", "rhai", "100Mbps");
    assert_set("congestion_control", "min_rate", "100Mbps");
    assert_set("congestion_control", "g", "0.00390625");
    assert_set("host", "mtu", "1000B");
    assert_set("host", "ack_priority", "false");
    assert_set("recovery", "name", "go_back_n");
    assert_set("switch", "buffer", "32MiB");
    assert_set("switch", "beta", "0.25");
    assert_set("switch", "xon_offset", "3KiB");
    assert_set("", "duration", "2s");
    assert_set("", "seed", "5");
    assert_set("workload", "origin", "2s");
    assert_null(oche_translation_find(&to, "loss", "probability"));
    assert_true(has_note(OCHE_NOTE_NO_COUNTERPART, "HAS_WIN: a window of"));
    assert_true(has_note(OCHE_NOTE_NOT_NEEDED, "U_TARGET (of HPCC)"));
}

static void test_other_schemes(void **state)
{
    (void)state;
    assert_true(translate("CC_MODE 3 U_TARGET 0.9 MI_THRESH 0 FAST_REACT 0 RATE_AI 50Mb/s "
                          "RP_TIMER 900 HAS_WIN 1 ENABLE_QCN 0",
                          NULL, 0));
    assert_set("congestion_control", "name", "hpcc");
    assert_set("congestion_control", "eta", "0.9");
    assert_set("congestion_control", "max_stage", "0");
    assert_set("congestion_control", "update", "rtt");
    assert_set("congestion_control", "r_ai", "50Mbps");
    assert_true(has_note(OCHE_NOTE_NOT_NEEDED, "HAS_WIN (HPCC has its window)"));
    assert_true(has_note(OCHE_NOTE_NOT_NEEDED, "RP_TIMER (of DCQCN)"));
    assert_true(translate("CC_MODE 10", NULL, 0));
    assert_set("congestion_control", "name", "hpcc");
    assert_true(has_note(OCHE_NOTE_NO_COUNTERPART, "CC_MODE 10: HPCC-PINT"));
    assert_true(translate("CC_MODE 5", NULL, 0));
    assert_true(has_note(OCHE_NOTE_NOT_KNOWN, "CC_MODE 5; 1 is DCQCN"));
    assert_true(translate("CC_MODE 7 RATE_AI 50Mb/s RATE_HAI 120Mb/s MIN_RATE 100Mb/s", NULL, 0));
    assert_set("congestion_control", "name", "timely");
    assert_set("congestion_control", "delta", "50Mbps");
    assert_set("congestion_control", "hai_multiplier", "2");
    assert_true(has_note(OCHE_NOTE_ASSUMED, "RATE_HAI is rounded down"));
    assert_true(translate("CC_MODE 8 EWMA_GAIN 0.0625 PACKET_PAYLOAD_SIZE 1000", NULL, 0));
    assert_set("congestion_control", "name", "dctcp");
    assert_set("congestion_control", "g", "0.0625");
    assert_set("congestion_control", "lossless", "true");
    assert_null(oche_translation_find(&to, "recovery", "name"));
    assert_true(translate("CC_MODE 8 ENABLE_PFC 0", NULL, 0));
    assert_null(oche_translation_find(&to, "congestion_control", "lossless"));
    assert_set("switch", "pfc", "false");
}

/* Maps by rate: one value for all, in proportion to the rate, or of a tier. */
static void test_marking(void **state)
{
    struct oche_topology t = network(25 * OCHE_GBPS, 100 * OCHE_GBPS);

    (void)state;
    assert_true(translate("KMIN_MAP 2 25000000000 100 100000000000 100 "
                          "KMAX_MAP 2 25000000000 400 100000000000 400 "
                          "PMAX_MAP 2 25000000000 0.2 100000000000 0.2",
                          &t, 0));
    assert_set("switch", "kmin", "100KB");
    assert_set("switch", "kmax", "400KB");
    assert_set("switch", "pmax", "0.2");
    assert_true(translate("KMIN_MAP 2 25000000000 100 100000000000 400 "
                          "KMAX_MAP 2 25000000000 400 100000000000 1600 "
                          "PMAX_MAP 2 25000000000 0.2 100000000000 0.2",
                          &t, 0));
    assert_set("switch", "kmin_time", "32us");
    assert_set("switch", "kmax_time", "128us");
    assert_null(oche_translation_find(&to, "switch", "kmin"));
    assert_true(translate("KMIN_MAP 2 25000000000 100 100000000000 400 "
                          "KMAX_MAP 2 25000000000 400 100000000000 1600 "
                          "PMAX_MAP 2 25000000000 0.2 100000000000 0.3",
                          &t, 0));
    assert_null(oche_translation_find(&to, "switch", "kmin_time"));
    assert_set("switch.aggregation", "pmax", "0.3");
    assert_true(translate("KMIN_MAP 2 25000000000 100 100000000000 300 "
                          "KMAX_MAP 2 25000000000 400 100000000000 1600 "
                          "PMAX_MAP 2 25000000000 0.2 100000000000 0.8",
                          &t, 0));
    assert_set("switch.tor", "kmin", "100KB");
    assert_set("switch.aggregation", "kmin", "300KB");
    assert_set("switch.aggregation", "pmax", "0.8");
    assert_true(
        has_note(OCHE_NOTE_ASSUMED, "switch.tor: ports of 100Gbps mark as those of 25Gbps"));
    assert_true(translate("KMIN_MAP 1 25000000000 100 KMAX_MAP 1 25000000000 400 "
                          "PMAX_MAP 1 25000000000 0.2",
                          &t, 0));
    assert_true(has_note(OCHE_NOTE_ASSUMED, "ports of 100Gbps mark as by default"));
    assert_true(translate("ENABLE_QCN 0", &t, 0));
    assert_set("switch", "ecn", "false");
    assert_set("congestion_control", "name", "none");
    oche_topology_free(&t);
}

/* A port of four times the hosts' rate may hold four times the share. */
static void test_pfc(void **state)
{
    struct oche_topology t = network(25 * OCHE_GBPS, 100 * OCHE_GBPS);

    (void)state;
    assert_true(translate("CC_MODE 1", &t, 0));
    assert_set("switch", "beta", "0.25");
    assert_set("switch.aggregation", "beta", "1");
    assert_null(oche_translation_find(&to, "switch.tor", "beta"));
    assert_true(has_note(OCHE_NOTE_ASSUMED, "switch.tor: all ports pause at one share"));
    oche_topology_free(&t);
}

static void test_link_down(void **state)
{
    struct oche_topology t = network(25 * OCHE_GBPS, 25 * OCHE_GBPS);

    (void)state;
    assert_true(translate("LINK_DOWN 10 4 6", &t, 1999 * OCHE_MS + 1));
    assert_string_equal(to.settings[1].value, "{link: \"switch4:switch6\", at: 1010us}");
    assert_set("routes", "reroute", "0");
    assert_set("workload", "origin", "1.999s");
    assert_true(translate("LINK_DOWN 10 3 5", &t, 3 * OCHE_SEC));
    assert_set("workload", "origin", "2s");
    assert_false(translate("CC_MODE 1\nLINK_DOWN 10 0 6", &t, 0));
    assert_string_equal(error.text, "c.txt:2: LINK_DOWN: the topology has no link between nodes 0 "
                                    "and 6");
    oche_topology_free(&t);
}

static void test_refuses(void **state)
{
    static const struct {
        const char *text, *expected;
    } wrong[] = {
        {"BUFFER_SIZE 0", "c.txt:1: BUFFER_SIZE: 0 MB; from 1 to 2047"},
        {"BUFFER_SIZE 4096", "c.txt:1: BUFFER_SIZE: 4096 MB; from 1 to 2047"},
        {"PACKET_PAYLOAD_SIZE 64", "c.txt:1: PACKET_PAYLOAD_SIZE: 64 bytes; from 256 to 9000 here"},
        {"CC_MODE 1\nRP_TIMER 0", "c.txt:2: RP_TIMER: 0 us; from 0.001 to 1000000"},
        {"RATE_AI 2000Gb/s", "c.txt:1: RATE_AI: 2000000000000 bit/s; at most 1Tb/s"},
        {"EWMA_GAIN 2", "c.txt:1: EWMA_GAIN: 2; from 1e-06 to 1"},
        {"RANDOM_SEED 4294967296", "c.txt:1: RANDOM_SEED: 4294967296; from 0 to 4294967295"},
        {"FAST_RECOVERY_TIMES 0", "c.txt:1: FAST_RECOVERY_TIMES: 0; from 1 to 1000"},
        {"ERROR_RATE_PER_LINK 1.5", "c.txt:1: ERROR_RATE_PER_LINK: 1.5; a probability from 0 to 1"},
        {"KMIN_MAP 1 100000000000 500\nKMAX_MAP 1 100000000000 400 PMAX_MAP 1 100000000000 1",
         "c.txt:2: KMAX_MAP: 400 KB, and KMIN_MAP 500 KB; at most 2147483 KB, and no less than "
         "that of KMIN_MAP"},
        {"KMIN_MAP 1 100000000000 5 KMAX_MAP 1 100000000000 400 PMAX_MAP 1 100000000000 20",
         "c.txt:1: PMAX_MAP: 20; a probability from 0 to 1"},
    };

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(wrong); i++) {
        assert_false(translate(wrong[i].text, NULL, 0));
        assert_string_equal(error.text, wrong[i].expected);
    }
}

static int end(void **state)
{
    (void)state;
    oche_translation_free(&to);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dcqcn),     cmocka_unit_test(test_other_schemes),
        cmocka_unit_test(test_marking),   cmocka_unit_test(test_pfc),
        cmocka_unit_test(test_link_down), cmocka_unit_test(test_refuses),
    };

    return cmocka_run_group_tests(tests, NULL, end);
}
