/* SPDX-License-Identifier: Apache-2.0 */
/* The sentences about a comparison name its runs so that they can be understood alone. */
#include "tests/support/test.h"

#include <stdlib.h>
#include <string.h>

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

/* Fails unless the remarks say all of `says`, which ends with NULL. Frees the runs. */
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
    /* Before what is said of the others. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_have_their_keys),
        cmocka_unit_test(test_schemes_stand_alone),
        cmocka_unit_test(test_failed_is_not_late),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
