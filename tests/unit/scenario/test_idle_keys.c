/* SPDX-License-Identifier: Apache-2.0 */
/* Given keys that have no effect are named, with the key that disables them. Others are not. */
#include "sim/scenario/idle_keys.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/test.h"

#define STAR "duration: 100us\ntopology: {type: star, hosts: 4}\n"
#define LEAF "duration: 100us\ntopology: {type: leaf_spine}\n"
#define SENT "workload: {type: permutation, bytes: 1KB}\n"

static struct oche_idle_keys idle;

static void find(const char *text)
{
    struct oche_error error;
    struct oche_scenario *scenario = oche_scenario_parse("s.yaml", text, strlen(text), &error);

    if (scenario == NULL)
        fail_msg("%s", error.text);
    oche_idle_keys_find(scenario, &idle);
    oche_scenario_close(scenario);
}

static void check_none(const char *text)
{
    find(text);
    if (idle.count > 0)
        fail_msg("%s", idle.text[0]);
}

static void check_said(const char *text, const char *expected)
{
    find(text);
    assert_int_equal(idle.count, 1);
    assert_string_equal(idle.text[0], expected);
}

static void test_one_key(void **state)
{
    (void)state;
    check_none(STAR SENT);
    check_none(STAR SENT "switch: {kmin: 5KB, kmax: 1MB}\n");
    check_said(STAR SENT "congestion_control: none\nswitch: {ecn: false, kmin: 5KB}\n",
               "switch.kmin has no effect here: switch.ecn is false");
    check_said(STAR SENT "switch: {pfc: false}\nhost: {pfc_response: 1us}\n",
               "host.pfc_response has no effect here: switch.pfc is false");
    check_said(STAR SENT "loss: {late_least: 1us}\n",
               "loss.late_least has no effect here: loss.late is 0");
    check_none(STAR SENT "loss: {late: 1%, late_least: 1us}\n");
    check_said(STAR SENT "routes: {reroute: 1us}\n",
               "routes.reroute has no effect here: failures is not given");
    check_none(LEAF SENT "routes: {reroute: 1us}\nfailures: {link: \"leaf0:spine1\"}\n");
}

static void test_one_of_several(void **state)
{
    (void)state;
    check_said(STAR SENT "loss: {where: last_hop}\n",
               "loss.where has no effect here: loss.probability is 0, loss.pattern is not given "
               "and loss.late is 0");
    check_none(STAR SENT "loss: {where: last_hop, pattern: \"3\"}\n");
    check_none(STAR SENT "loss: {where: last_hop, late: 1%}\n");
    check_said(STAR SENT "loss: {where: last_hop, probability: 1%, port: \"tor0:host1\"}\n",
               "loss.where has no effect here: loss.port is given");
}

static void test_all_of_several(void **state)
{
    (void)state;
    check_said(STAR SENT "switch: {threshold: dynamic, xoff: 100KB}\n",
               "switch.xoff has no effect here: switch.threshold is dynamic");
    check_said(STAR SENT "switch: {pfc: false, xoff: 100KB}\n",
               "switch.xoff has no effect here: switch.pfc is false");
    check_none(STAR SENT "switch: {threshold: static, xoff: 100KB}\n");
}

static void test_values(void **state)
{
    (void)state;
    check_said(STAR "workload: {type: permutation, bytes: 1KB, shift: 2}\n",
               "workload.shift has no effect here: workload.pattern is random");
    check_said(STAR "workload: {type: permutation, bytes: 1KB, tenant: 1}\n",
               "workload.tenant has no effect here: congestion_control is dcqcn");
    check_none(STAR "workload: {type: permutation, bytes: 1KB, tenant: 1}\n"
                    "congestion_control: dart\n");
    check_none(STAR "workload: {type: permutation, bytes: 1KB, pattern: shift, shift: 2}\n");
}

static void test_lists(void **state)
{
    (void)state;
    check_said(STAR SENT "host: {outstanding_reads: 4}\n",
               "host.outstanding_reads has no effect here: no workload has verb: read and no "
               "workload gives file");
    check_none(STAR "host: {outstanding_reads: 4}\nworkload: [{type: permutation, bytes: 1KB}, "
                    "{type: permutation, bytes: 1KB, verb: read}]\n");
}

static void test_tiers(void **state)
{
    (void)state;
    check_said(LEAF SENT "switch: {kmin: 5KB, leaf: {kmin: 6KB}, spine: {kmin: 7KB}}\n",
               "switch.kmin has no effect here: every tier of switches has its own");
    check_none(LEAF SENT "switch: {kmin: 5KB, leaf: {kmin: 6KB}}\n");
    check_said(LEAF SENT "switch: {leaf: {ecn: false, kmin: 6KB}}\n",
               "switch.leaf.kmin has no effect here: switch.leaf.ecn is false");
    check_said(LEAF SENT "congestion_control: none\nswitch: {ecn: false, leaf: {kmin: 6KB}}\n",
               "switch.leaf.kmin has no effect here: switch.ecn is false");
    check_none(LEAF SENT "switch: {ecn: false, kmin: 6KB, leaf: {ecn: true}}\n");
    check_none(LEAF SENT "switch: {xoff: 20KB, threshold: static, leaf: {threshold: dynamic}}\n");
    check_said(LEAF SENT "switch: {leaf: {xoff: 20KB}}\n",
               "switch.leaf.xoff has no effect here: switch.threshold is dynamic");
    check_said(LEAF SENT "switch: {kmin: 6KB, spine: {ecn: false}, leaf: {kmin: 5KB}}\n",
               "switch.kmin has no effect here: switch.spine.ecn is false");
}

static void test_schemes_and_mechanisms(void **state)
{
    (void)state;
    check_said(STAR SENT "congestion_control: {name: dctcp, k: 30KB}\nswitch: {kmin: 5KB}\n",
               "switch.kmin has no effect here: congestion_control dctcp has its own value");
    check_said(STAR SENT "congestion_control: timely\nswitch: {kmin: 5KB}\n",
               "switch.kmin has no effect here: with congestion_control timely packets ask for no "
               "marks");
    check_said(STAR SENT "congestion_control: tcp\nhost: {pfc_response: 1us}\n",
               "host.pfc_response has no effect here: with congestion_control tcp no packets are "
               "lossless");
    check_none(STAR SENT "congestion_control: {name: tcp, lossless: true}\nswitch: {xon_offset: "
                         "1KB}\n");
    check_said(STAR SENT "switch: {egress_alpha: 2}\n",
               "switch.egress_alpha has no effect here: with switch.pfc: true all packets are "
               "lossless");
    check_said(STAR SENT "congestion_control: ib_cc\nswitch: {kmin: 5KB}\n",
               "switch.kmin has no effect here: switches have fecn instead");
    check_said(STAR SENT "switch: {kmin: 5KB, kmin_time: 4us}\n",
               "switch.kmin_time has no effect here: kmin is not auto");
    check_said(STAR SENT "switch: {kmax: 500KB, kmax_time: 4us}\n",
               "switch.kmax_time has no effect here: kmax is not auto");
    check_none(STAR SENT "switch: {kmin_time: 4us, kmax_time: 40us}\n");
    check_said(STAR SENT "switch: {mechanisms: [ib_credits], beta: 3}\n",
               "switch.beta has no effect here: switches have ib_credits instead");
    check_said(STAR SENT "congestion_control: {name: cubic, hystart: false, hystart_rounds: 2}\n",
               "congestion_control.hystart_rounds has no effect here: congestion_control.hystart "
               "is false");
    check_said(STAR SENT "switch: {mechanisms: []}\niofd: {lanes: one}\n",
               "iofd has no effect here: switch.mechanisms does not name it");
}

/* ---- the tables ---- */

static bool has_choice(const struct oche_param *param, const char *choice)
{
    if (choice == NULL)
        return true;
    for (const char *const *name = param->choices; name != NULL && *name != NULL; name++)
        if (strcmp(*name, choice) == 0)
            return true;
    return false;
}

/* True if a table of the section has the key. */
static bool section_has(const struct oche_schema *schema, const char *name, const char *key,
                        const char *choice)
{
    for (size_t i = 0; i < schema->section_count; i++) {
        const struct oche_section *section = &schema->sections[i];

        if (strcmp(section->name, name) != 0)
            continue;
        for (size_t j = 0; key == NULL && j < section->variant_count; j++)
            if (choice != NULL && strcmp(section->variants[j].name, choice) == 0)
                return true;
        if (key == NULL)
            return choice == NULL;
        for (size_t j = 0; j < (section->table != NULL ? 1 : section->variant_count); j++) {
            const struct oche_param *param = oche_param_find(
                section->table != NULL ? section->table : section->variants[j].table, key);

            if (param != NULL && has_choice(param, choice))
                return true;
        }
    }
    return false;
}

static void check_needs(const struct oche_schema *schema, const struct oche_param_table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        char needs[256], *rest = needs;

        snprintf(needs, sizeof(needs), "%s",
                 table->params[i].needs != NULL ? table->params[i].needs : "");
        for (char *one; (one = strsep(&rest, ",|")) != NULL && one[0] != '\0';) {
            char *key = one + (one[0] == '!'), *choice = key;

            strsep(&choice, "=");
            const struct oche_param *own = oche_param_find(table, key);
            char *section = key, *dotted = key;

            strsep(&dotted, ".");
            if (key[0] == '@')
                continue; /* the reader checks facts */
            if (own != NULL ? !has_choice(own, choice)
                            : !section_has(schema, section, dotted, choice))
                fail_msg("%s needs %s", table->params[i].name, table->params[i].needs);
        }
    }
}

static void test_needs_are_keys(void **state)
{
    static struct oche_schema schema;

    (void)state;
    oche_schema_make(&schema);
    for (size_t i = 0; i < schema.section_count; i++) {
        const struct oche_section *section = &schema.sections[i];

        if (section->table != NULL)
            check_needs(&schema, section->table);
        for (size_t j = 0; j < section->variant_count; j++)
            check_needs(&schema, section->variants[j].table);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_key),        cmocka_unit_test(test_one_of_several),
        cmocka_unit_test(test_all_of_several), cmocka_unit_test(test_values),
        cmocka_unit_test(test_lists),          cmocka_unit_test(test_tiers),
        cmocka_unit_test(test_needs_are_keys), cmocka_unit_test(test_schemes_and_mechanisms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
