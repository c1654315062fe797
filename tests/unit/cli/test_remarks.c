/* SPDX-License-Identifier: Apache-2.0 */
/* Each sentence about a comparison names its runs, so it can be understood alone. */
#include "tests/support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/run/notes.h"
#include "cli/run/remarks.h"

#define RUNS 2

static struct oche_outcome *two_runs(const char *first, const char *second)
{
    struct oche_outcome *runs = calloc(RUNS, sizeof(*runs));

    assert_non_null(runs);
    snprintf(runs[0].label, sizeof(runs[0].label), "%s", first);
    snprintf(runs[1].label, sizeof(runs[1].label), "%s", second);
    for (unsigned i = 0; i < RUNS; i++) {
        snprintf(runs[i].scheme, sizeof(runs[i].scheme), "%s", "none");
        runs[i].flows = 4;
        runs[i].delivered = 4;
        runs[i].totals.measured = 1000000;
    }
    return runs;
}

/* Fails unless the remarks contain all of `says`, which ends with NULL. Frees the runs. */
static void expect(const char *key, struct oche_outcome *runs, const char *const *says)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    assert_non_null(out);
    oche_remarks_print(key, runs, RUNS, out);
    fclose(out);
    for (; *says != NULL; says++)
        if (strstr(text, *says) == NULL)
            fail_msg("no \"%s\" in:\n%s", *says, text);
    free(text);
    free(runs);
}

static void test_values_have_their_keys(void **state)
{
    struct oche_outcome *runs = two_runs("true", "false");

    (void)state;
    runs[0].totals.pauses_sent = 278;
    runs[1].totals.dropped_by_hosts = 17807;
    runs[1].pathologies.victims = 1;
    expect("switch.pfc", runs,
           (const char *const[]){
               "switch.pfc=true sends 278 PAUSE frames, which hold ports for 0 in all; "
               "switch.pfc=false sends none.\n",
               "With switch.pfc=false, 1 of 4 flows loses ",
               "With switch.pfc=false, slow receivers drop 17,807 packets.\n", NULL});
    runs = two_runs("1000000", "0");
    runs[0].totals.nic.delivered_bytes = 10100;
    expect("congestion_control.k", runs,
           (const char *const[]){"is 80.8Gbps with congestion_control.k=1000000 and 0 with "
                                 "congestion_control.k=0.\n",
                                 NULL});
}

static void test_schemes_stand_alone(void **state)
{
    struct oche_outcome *runs = two_runs("dcqcn", "none");

    (void)state;
    runs[1].pfc = true;
    runs[1].totals.pauses_sent = 7;
    expect("congestion_control", runs,
           (const char *const[]){"PFC alone sends 7 PAUSE frames, which hold ports for 0 in all; "
                                 "dcqcn sends none.\n",
                                 NULL});
    runs = two_runs("dcqcn", "none");
    runs[1].totals.drops[OCHE_DROP_BUFFER] = 9;
    expect("congestion_control", runs,
           (const char *const[]){"With no congestion control, switches drop 9 packets.\n", NULL});
}

static void test_failed_is_not_late(void **state)
{
    struct oche_outcome *runs = two_runs("7", "6");

    (void)state;
    runs[0].failed = 1;
    runs[1].unfinished = 1;
    expect(
        "host.retry_count", runs,
        (const char *const[]){
            "With host.retry_count=7, 1 of 4 flows failed; it is in none of the times.\n",
            "With host.retry_count=6, 1 of 4 flows has not arrived; it is in none of the times.\n",
            NULL});
    /* Precedes the sentences about the others. */
    runs = two_runs("7", "6");
    runs[1].failed = 1;
    runs[1].totals.nic.delivered_bytes = 1000;
    expect("host.retry_count", runs,
           (const char *const[]){"; it is in none of the times.\nGoodput (", NULL});
    runs = two_runs("7", "6");
    runs[0].failed = 1;
    runs[0].unfinished = 2;
    expect("host.retry_count", runs,
           (const char *const[]){"With host.retry_count=7, 1 of 4 flows failed and 2 have not "
                                 "arrived; they are in none of the times.\n",
                                 NULL});
}

static void test_base_is_the_first(void **state)
{
    struct oche_outcome *runs = two_runs("dcqcn", "timely");

    (void)state;
    runs[0].totals.pauses_sent = 100;
    runs[1].totals.pauses_sent = 25;
    expect("congestion_control", runs,
           (const char *const[]){"timely sends 25 PAUSE frames, 0.25 times as many as the base, "
                                 "dcqcn (100);",
                                 NULL});
}

/* Both delivered the same. The time of the last flow is no rate. */
static void test_load_is_no_goodput(void **state)
{
    struct oche_outcome *runs = two_runs("dcqcn", "none");

    (void)state;
    runs[1].pfc = true;
    for (unsigned i = 0; i < RUNS; i++) {
        runs[i].totals.nic.delivered_bytes = 1000000;
        runs[i].totals.measured = (1 + i) * OCHE_MS;
        runs[i].load = (struct oche_load){.known = true,
                                          .alone = true,
                                          .stopped = true,
                                          .offered_bps = 8e9,
                                          .delivered_bps = 7e9,
                                          .share = 0.876 + 0.001 * i,
                                          .drain_s = 0.012 * (1 + i)};
    }
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    assert_non_null(out);
    oche_remarks_print("congestion_control", runs, RUNS, out);
    fclose(out);
    assert_null(strstr(text, "Goodput"));
    assert_non_null(strstr(text, "Until arrivals stop, the network delivers at least 87.6 % of the "
                                 "offered 8Gbps in every run.\n"));
    assert_non_null(strstr(text,
                           "too: the last flow ends 12ms later with dcqcn and 24ms later with "
                           "PFC alone.\n"));
    assert_non_null(strstr(text, "No packet is dropped, lost or sent again in any run.\n"));
    free(text);
    runs[0].load.drain_s = NAN; /* some flow is not over */
    runs[1].load.share = 0.5;
    out = open_memstream(&text, &bytes);
    oche_remarks_print("congestion_control", runs, RUNS, out);
    fclose(out);
    assert_null(strstr(text, "arrives, too"));
    assert_non_null(strstr(text, "87.6 % of the offered 8Gbps with dcqcn and 50.0 % with PFC "
                                 "alone.\n"));
    free(text);
    free(runs);
}

static void test_tails_are_of_one_seed(void **state)
{
    struct oche_outcome *runs = two_runs("dcqcn", "timely");

    (void)state;
    for (unsigned i = 0; i < RUNS; i++) {
        runs[i].sizes[0] = (struct oche_completion_row){
            .to_bytes = 10000, .flows = 100, .delivered = 100, .slowdown = {1, 2, 3 + 9 * i, 4}};
        runs[i].seed = 7;
    }
    expect("congestion_control", runs,
           (const char *const[]){"at most 3.00 times as long as alone with dcqcn, and at most 12.0 "
                                 "times with timely.\n",
                                 "These numbers are of one seed, 7:", NULL});
}

static void test_notes_come_before(void **state)
{
    struct oche_outcome *runs = two_runs("dcqcn", "timely");
    char *text = NULL, mark[OCHE_NOTE_MARK_BYTES];
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    (void)state;
    assert_non_null(out);
    snprintf(runs[0].headroom_remark, sizeof(runs[0].headroom_remark), "little headroom");
    snprintf(runs[1].headroom_remark, sizeof(runs[1].headroom_remark), "little headroom");
    snprintf(runs[1].remark, sizeof(runs[1].remark), "delta is large");
    oche_notes_print("congestion_control", runs, RUNS, out);
    fclose(out);
    assert_string_equal(text, "[1] every run: little headroom.\n[2] timely: delta is large.\n");
    oche_notes_mark(runs, RUNS, 0, mark);
    assert_string_equal(mark, "");
    oche_notes_mark(runs, RUNS, 1, mark);
    assert_string_equal(mark, " [2]");
    free(text);
    free(runs);
}

static void test_same_runs(void **state)
{
    struct oche_outcome *runs = two_runs("40KB", "50KB");

    (void)state;
    runs[0].totals.hash = runs[1].totals.hash = 7;
    expect(
        "switch.kmin", runs,
        (const char *const[]){"\nswitch.kmin=40KB and switch.kmin=50KB gave the same run, packet "
                              "for packet: switch.kmin made no difference here.\n",
                              NULL});
    runs = two_runs("1us", "2us");
    runs[0].totals.hash = runs[1].totals.hash = 7;
    expect("measure.interval", runs,
           (const char *const[]){" packet for packet: measure.interval changes only what is "
                                 "measured.\n",
                                 NULL});
}

/* A key that has no effect in one of the runs is for the other. */
static void test_idle_keys_of_all(void **state)
{
    struct oche_outcome *runs = two_runs("true", "false");
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    (void)state;
    assert_non_null(out);
    runs[0].idle.count = 1;
    runs[1].idle.count = 2;
    strcpy(runs[0].idle.text[0], "one");
    strcpy(runs[1].idle.text[0], "two");
    strcpy(runs[1].idle.text[1], "one");
    oche_notes_print("switch.ecn", runs, RUNS, out);
    fclose(out);
    assert_string_equal(text, "[1] every run: one.\n");
    free(text);
    free(runs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_have_their_keys), cmocka_unit_test(test_schemes_stand_alone),
        cmocka_unit_test(test_failed_is_not_late),     cmocka_unit_test(test_base_is_the_first),
        cmocka_unit_test(test_load_is_no_goodput),     cmocka_unit_test(test_tails_are_of_one_seed),
        cmocka_unit_test(test_notes_come_before),      cmocka_unit_test(test_same_runs),
        cmocka_unit_test(test_idle_keys_of_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
