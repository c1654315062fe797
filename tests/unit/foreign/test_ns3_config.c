/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/foreign/ns3_config.h"

#include <string.h>

#include "tests/support/test.h"

static struct oche_ns3_config config;
static struct oche_error error;

static bool read_text(const char *text)
{
    return oche_ns3_config_read(&config, "c.txt", text, strlen(text), &error);
}

static void assert_refused(const char *text, const char *expected)
{
    assert_false(read_text(text));
    assert_string_equal(error.text, expected);
}

static void test_reads(void **state)
{
    double value;

    (void)state;
    assert_true(read_text("CC_MODE 3 {1: DCQCN, 3: HPCC, RP_TIMER}\r\n"
                          "TOPOLOGY_FILE mix/a.txt {a\nremark of two lines} RP_TIMER\n 900 \n"
                          "RATE_AI\t50Mb/s # RATE_HAI 1Gb/s\n"
                          "KMAX_MAP 2 25000000000 400 50000000000 800\n"
                          "KMAX_MAP 1 25000000000 500\n"
                          "LINK_DOWN 10 3 20\nEWMA_GAIN 0.00390625"));
    assert_int_equal(config.value[OCHE_NS3_CC_MODE].count, 3);
    assert_int_equal(config.value[OCHE_NS3_CC_MODE].line, 1);
    assert_string_equal(config.value[OCHE_NS3_TOPOLOGY_FILE].word, "mix/a.txt");
    assert_true(config.value[OCHE_NS3_RP_TIMER].real == 900);
    assert_int_equal(config.value[OCHE_NS3_RATE_AI].count, 50000000);
    assert_int_equal(config.value[OCHE_NS3_RATE_HAI].line, 0);
    assert_int_equal(config.value[OCHE_NS3_LINK_DOWN].three[2], 20);
    assert_true(config.value[OCHE_NS3_EWMA_GAIN].real == 0.00390625);
    assert_true(oche_ns3_config_entry(&config, OCHE_NS3_KMAX_MAP, 25 * OCHE_GBPS, &value));
    assert_true(value == 500);
    assert_true(oche_ns3_config_entry(&config, OCHE_NS3_KMAX_MAP, 50 * OCHE_GBPS, &value));
    assert_false(oche_ns3_config_entry(&config, OCHE_NS3_KMIN_MAP, 50 * OCHE_GBPS, &value));
    assert_int_equal(config.keys, 7);
    assert_int_equal(config.twice, 1);
    assert_string_equal(config.again, "KMAX_MAP (line 7)");
    assert_int_equal(config.stranger_count, 0);
    oche_ns3_config_free(&config);
}

/* Words that are no key are skipped, as there, and kept to be named: the first of each row. */
static void test_strangers(void **state)
{
    (void)state;
    assert_true(read_text("OLD_KEY 1 2 three\nCC_MODE 1 stray\nOTHER 5\nTHIRD 6\nLOAD 50\n"));
    assert_int_equal(config.stranger_count, 4);
    assert_string_equal(config.strangers[0].word, "OLD_KEY");
    assert_string_equal(config.strangers[1].word, "stray");
    assert_string_equal(config.strangers[2].word, "OTHER");
    assert_int_equal(config.strangers[3].line, 4);
    assert_int_equal(config.keys, 2);
    oche_ns3_config_free(&config);
}

static void test_refuses(void **state)
{
    (void)state;
    assert_refused("CC_MODE x\n", "c.txt:1: CC_MODE: \"x\" is no whole number; a whole number");
    assert_refused("CC_MODE 1\nRP_TIMER -5\n",
                   "c.txt:2: RP_TIMER: \"-5\" is no number; a number, 0 or more");
    assert_refused("RATE_AI 50Mbit\n", "c.txt:1: RATE_AI: \"50Mbit\" is no rate; as in 50Mb/s");
    assert_refused("CC_MODE 1\nKMAX_MAP 2 25000000000 400 50000000000\n",
                   "c.txt:2: KMAX_MAP: the file ends where its value should be");
    assert_refused("KMIN_MAP 99999999 1 1\n", "c.txt:1: KMIN_MAP: 99999999 entries; at most 4096");
    assert_refused("LINK_DOWN 1 2\n",
                   "c.txt:1: LINK_DOWN: the file ends where its value should be");
    assert_refused("NOTHING 1 2\n", "c.txt: has no key of HPCC's simulator, such as CC_MODE");
    assert_refused("CC_MODE {1", "c.txt:1: CC_MODE: the file ends where its value should be");
}

static void test_recognises(void **state)
{
    static const struct {
        const char *text;
        bool is;
    } texts[] = {
        {"ENABLE_QCN 1\n", true},
        {"\n\n  CC_MODE 1", true},
        {"# a remark\nCC_MODE 1", true},
        {"OLD 1\nCC_MODE 1\nHAS_WIN 1\n", true},
        {"OLD 1\nCC_MODE 1\n", false},
        {"CC_MODEL 1\n", false},
        {"", false},
        {"\n", false},
        {"66 1 65\n0\n", false},
    };

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(texts); i++)
        assert_int_equal(oche_ns3_is_config(texts[i].text, strlen(texts[i].text)), texts[i].is);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads),
        cmocka_unit_test(test_strangers),
        cmocka_unit_test(test_refuses),
        cmocka_unit_test(test_recognises),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
