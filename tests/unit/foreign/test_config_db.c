/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/foreign/config_db.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/test.h"

static struct oche_translation to;
static struct oche_error error;

static bool translate(const char *text)
{
    struct oche_document *document = oche_document_parse("d.json", text, strlen(text), &error);
    bool good;

    oche_translation_free(&to);
    assert_non_null(document);
    assert_true(oche_config_db_is_one(document));
    good = oche_config_db_translate(document, &to, &error);
    oche_document_close(document);
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

#define QUEUES                                                                                     \
    "\"QUEUE\": {\"Ethernet0,Ethernet4|3-4\": {\"wred_profile\": \"RDMA\"},"                       \
    " \"Ethernet8|3\": {\"wred_profile\": \"[WRED_PROFILE|OTHER]\"},"                              \
    " \"Ethernet0|0\": {\"wred_profile\": \"OTHER\"}},"
#define MARKS                                                                                      \
    "\"ecn\": \"ecn_all\", \"wred_green_enable\": \"true\", \"green_min_threshold\": \"100000\","  \
    "\"green_max_threshold\": \"400000\", \"green_drop_probability\": \"20\""
#define OTHER                                                                                      \
    "\"OTHER\": {\"ecn\": \"ecn_all\", \"wred_green_enable\": \"true\","                           \
    "\"green_min_threshold\": \"1\", \"green_max_threshold\": \"2\"}"

static void test_marking(void **state)
{
    (void)state;
    assert_true(translate("{" QUEUES "\"WRED_PROFILE\": {" OTHER ", \"RDMA\": {" MARKS
                          ", \"x\": \"1\"}}}"));
    assert_set("switch", "kmin", "100KB");
    assert_set("switch", "kmax", "400KB");
    assert_set("switch", "pmax", "20%");
    assert_true(has_note(OCHE_NOTE_ASSUMED, "wred_profile of all ports: RDMA, which 2 of 3 have"));
    assert_true(has_note(OCHE_NOTE_NOT_KNOWN, "WRED_PROFILE.RDMA.x (line 1)"));
    assert_true(translate("{\"WRED_PROFILE\": {" OTHER "}}"));
    assert_set("switch", "pmax", "100%");
    assert_true(has_note(OCHE_NOTE_ASSUMED, "WRED_PROFILE OTHER is that of the lossless queues"));
    /* marking apart from dropping */
    assert_true(translate("{\"WRED_PROFILE\": {\"A\": {" MARKS ", \"ecn_green_min_threshold\": "
                          "\"5000\", \"ecn_green_max_threshold\": \"6000\", "
                          "\"ecn_green_mark_probability\": \"7\"}}}"));
    assert_set("switch", "kmin", "5KB");
    assert_set("switch", "kmax", "6KB");
    assert_set("switch", "pmax", "7%");
    /* without marks of green packets */
    assert_true(translate("{\"WRED_PROFILE\": {\"A\": {\"ecn\": \"ecn_yellow_red\"}}}"));
    assert_set("switch", "ecn", "false");
    assert_true(translate("{\"WRED_PROFILE\": {\"A\": {\"ecn\": \"ecn_all\"}}}"));
    assert_set("switch", "ecn", "false");
    assert_set("congestion_control", "name", "none");
}

#define GROUPS(profile)                                                                            \
    "{\"PORT_QOS_MAP\": {\"Ethernet0\": {\"pfc_enable\": \"3,4\"}},"                               \
    "\"BUFFER_PG\": {\"Ethernet0|3-4\": {\"profile\": \"P\"}, \"Ethernet0|0\": {\"profile\": "     \
    "\"L\"}}, \"BUFFER_POOL\": {\"pool\": {\"size\": \"20000000\"}}, \"BUFFER_PROFILE\": {\"P\": " \
    "{\"pool\": \"[BUFFER_POOL|pool]\", " profile "}, \"L\": {\"dynamic_th\": \"3\"}}}"

static void test_pfc(void **state)
{
    (void)state;
    assert_true(translate(GROUPS("\"dynamic_th\": \"-3\", \"xoff\": \"50000\", \"xon_offset\": "
                                 "\"2496\", \"xon\": \"18432\"")));
    assert_set("switch", "pfc_priorities", "2");
    assert_set("switch", "beta", "0.25");
    assert_set("switch", "headroom", "50KB");
    assert_set("switch", "xon_offset", "2496B");
    assert_set("switch", "buffer", "20.9MB"); /* the pool, and headroom of 9 ports x 2 */
    assert_set("switch", "chip_ports", "9");
    assert_true(has_note(OCHE_NOTE_NO_COUNTERPART, "P.xon 18432"));
    assert_true(translate(GROUPS("\"static_th\": \"300000\", \"xon\": \"100000\"")));
    assert_set("switch", "threshold", "static");
    assert_set("switch", "xoff", "300KB");
    assert_set("switch", "xon_offset", "200KB");
    assert_set("switch", "buffer", "20MB");
    assert_true(translate("{\"PORT_QOS_MAP\": {\"a\": {\"pfc_enable\": \"\"}}}"));
    assert_set("switch", "pfc", "false");
    assert_true(translate("{\"PORT_QOS_MAP\": {\"a\": {\"pfc_enable\": \"0-7\"}}, \"BUFFER_PG\": "
                          "{\"a|5\": {\"profile\": \"P\"}}, \"BUFFER_PROFILE\": {\"P\": "
                          "{\"dynamic_th\": 0}}}"));
    assert_set("switch", "pfc_priorities", "8");
    assert_set("switch", "beta", "8");
}

static void test_watchdog(void **state)
{
    (void)state;
    assert_true(translate("{\"PFC_WD\": {\"GLOBAL\": {\"POLL_INTERVAL\": \"100\"}, \"Ethernet0\": "
                          "{\"action\": \"forward\", \"detection_time\": \"200\", "
                          "\"restoration_time\": \"400\"}}}"));
    assert_set("switch", "mechanisms", "pfc_watchdog");
    assert_set("pfc_watchdog", "action", "forward");
    assert_set("pfc_watchdog", "detection_time", "200ms");
    assert_set("pfc_watchdog", "restoration_time", "400ms");
    assert_set("pfc_watchdog", "poll_interval", "100ms");
    assert_true(translate("{\"PFC_WD\": {\"Ethernet0\": {\"detection_time\": \"100\"}}}"));
    assert_set("pfc_watchdog", "poll_interval", "100ms");
    assert_set("pfc_watchdog", "restoration_time", "200ms");
    assert_true(translate("{\"PFC_WD\": {\"GLOBAL\": {\"POLL_INTERVAL\": \"100\"}}}"));
    assert_null(oche_translation_find(&to, "switch", "mechanisms"));
}

static void test_refuses(void **state)
{
    static const struct {
        const char *text, *expected;
    } wrong[] = {
        {"{\"QUEUE\": 5}", "d.json:1: QUEUE: no table; an object of rows"},
        {"{\"QUEUE\": {\n\"a\": 5}}", "d.json:2: QUEUE.a: no row; an object of fields"},
        {"{\"QUEUE\": {\"a|x\": {\"wred_profile\": \"W\"}}}",
         "d.json:1: QUEUE.a|x: no port and priorities; as in Ethernet0|3-4"},
        {"{\"QUEUE\": {\"a|3\": {\n\"wred_profile\": \"W\"}}}",
         "d.json:2: QUEUE.a|3.wred_profile: WRED_PROFILE has no \"W\""},
        {"{\"WRED_PROFILE\": {\"A\": {\"ecn\": \"ecn_all\", \"wred_green_enable\": \"true\"}}}",
         "d.json:1: WRED_PROFILE.A: green_min_threshold is missing; both thresholds are needed"},
        {"{\"WRED_PROFILE\": {\"A\": {" MARKS ",\n\"ecn_green_min_threshold\": \"x\"}}}",
         "d.json:2: WRED_PROFILE.A.ecn_green_min_threshold: \"x\"; a whole number from 0 to "
         "2147483647"},
        {"{\"WRED_PROFILE\": {\"A\": {" MARKS ", \"ecn_green_min_threshold\": \"400001\"}}}",
         "d.json:1: WRED_PROFILE.A.ecn_green_min_threshold: 400001 is above green_max_threshold, "
         "400000; at most that"},
        {"{\"PORT_QOS_MAP\": {\"a\": {\"pfc_enable\": \"3;4\"}}}",
         "d.json:1: PORT_QOS_MAP.a.pfc_enable: \"3;4\"; priorities, as in 3,4"},
        {GROUPS("\"dynamic_th\": \"9\""),
         "d.json:1: BUFFER_PROFILE.P.dynamic_th: \"9\"; a whole number from -8 to 7"},
        {GROUPS("\"dynamic_th\": \"1\", \"xoff\": \"2000000000\""),
         "d.json:1: BUFFER_POOL.pool.size: 20000000 bytes, and 36000000000 of headroom; at most "
         "2147483647 together"},
        {"{\"PFC_WD\": {\"a\": {\"action\": \"pause\"}}}",
         "d.json:1: PFC_WD.a.action: \"pause\"; drop, forward or alert"},
        {"{\"PFC_WD\": {\"a\": {\"detection_time\": \"0\"}}}",
         "d.json:1: PFC_WD.a.detection_time: \"0\"; a whole number from 1 to 5000"},
        {"{\"PFC_WD\": {\"a\": {}, \"GLOBAL\": {\"POLL_INTERVAL\": \"300\"}}}",
         "d.json:1: PFC_WD.GLOBAL.POLL_INTERVAL: 300 ms is above the times of PFC_WD.a, 200 ms; at "
         "most that"},
        {"{\"QUEUE\": {}, \"PORT\": {\"a\": {\"speed\": \"fast\"}}}",
         "d.json:1: PORT.a.speed: \"fast\"; a whole number from 1 to 8000000"},
    };

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(wrong); i++) {
        assert_false(translate(wrong[i].text));
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
        cmocka_unit_test(test_marking),
        cmocka_unit_test(test_pfc),
        cmocka_unit_test(test_watchdog),
        cmocka_unit_test(test_refuses),
    };

    return cmocka_run_group_tests(tests, NULL, end);
}
