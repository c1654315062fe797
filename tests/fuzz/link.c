/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer target: any text as rules of links, as calls that fail, and as a change at run time.
 * What is accepted must be within the ranges of the keys, and then packets cross the links: none
 * arrives before it left, or more often than twice. tools/fuzz 60 link runs it.
 */
#include "device/link/links.h"
#include "params/fail_rules.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/target.h"

#define PACKETS 40
#define BYTES   100

static bool in_range(const struct oche_link_params *params)
{
    for (size_t i = 0; i < oche_link_params.count; i++) {
        const struct oche_param *row = &oche_link_params.params[i];
        const union oche_value value = oche_param_get(row, params);

        if (!oche_param_in_range(row, value) && !(row->automatic && value.u == OCHE_NEVER))
            return false;
    }
    return oche_link_check(params) == NULL;
}

static const char *check_plan(const struct oche_link_plan *plan)
{
    for (unsigned i = 0; i < plan->step_count; i++)
        if (!in_range(&plan->steps[i].params))
            return "a step that is out of range";
    for (unsigned i = 0; i < plan->rule_count; i++) {
        const struct oche_link_rule *rule = &plan->rules[i];

        if (rule->count == 0 || rule->first + rule->count > plan->step_count)
            return "a rule without steps, or with others' steps";
        for (unsigned step = 1; step < rule->count; step++)
            if (plan->steps[rule->first + step].at <= plan->steps[rule->first + step - 1].at)
                return "steps that are not in the order of time";
    }
    return NULL;
}

/* Takes all parcels that arrive by `now`. Returns their number, or -1: a rule is broken. */
static int take_all(struct oche_links *links, oche_time now)
{
    struct oche_parcel *parcel;
    int count = 0;

    while ((parcel = oche_links_arrived(links, OCHE_LINK_OUT, now)) != NULL) {
        if (parcel->count != BYTES || parcel->fate.arrives[0] < parcel->departure.leaves ||
            parcel->fate.copies < 1 || parcel->fate.copies > 2)
            return -1;
        oche_links_done(links, parcel);
        count++;
    }
    return count;
}

static const char *cross(const struct oche_link_plan *plan, const char *change)
{
    static struct oche_clock clock;
    const struct oche_address peer = {.ip = {[10] = 0xff, 0xff, 192, 0, 2, 7}};
    const uint8_t bytes[BYTES] = {0};
    struct oche_error error = {""};
    struct oche_links *links = oche_links_open(
        &(struct oche_links_config){
            .plan = plan, .clock = &clock, .seed = 1, .packet_bytes = BYTES},
        &error);
    const char *wrong = NULL;
    int arrived = 0, got;

    if (links == NULL)
        return "no memory for links";
    oche_links_change(links, OCHE_LINK_OUT, NULL, change, OCHE_SEC, 2 * OCHE_SEC, &error);
    for (unsigned i = 0; i < PACKETS && wrong == NULL; i++) {
        const oche_time now = OCHE_SEC + i * 100 * OCHE_MS;
        const int link = oche_links_find(links, OCHE_LINK_OUT, &peer);

        if (link == OCHE_NO_LINK)
            break;
        oche_links_send(links, link, now, bytes, BYTES, BYTES + 66, (uint8_t)i);
        got = take_all(links, now);
        arrived += got;
        if (got < 0 || oche_links_next(links, OCHE_LINK_OUT) <= now)
            wrong = "a parcel that cannot be, or that is late";
    }
    got = take_all(links, OCHE_NEVER - 1);
    arrived += got;
    if (wrong == NULL &&
        (got < 0 || arrived > 2 * PACKETS || oche_links_next(links, OCHE_LINK_OUT) != OCHE_NEVER))
        wrong = "parcels that are lost or too many";
    oche_links_close(links);
    return wrong;
}

const char *fuzz_input(const uint8_t *bytes, size_t count)
{
    static char text[OCHE_LINK_RULES * OCHE_LINK_TEXT_BYTES + 100];
    static struct oche_link_plan plan;
    struct oche_fail_rules rules;
    struct oche_error error = {""};
    const size_t length = count < sizeof(text) - 1 ? count : sizeof(text) - 1;
    const char *wrong;

    memcpy(text, bytes, length);
    text[length] = '\0';
    if (!oche_fail_rules_parse(&rules, text, &error) &&
        (error.text[0] == '\0' || strchr(error.text, '\n') != NULL))
        return "calls that are refused without a reason";
    plan = (struct oche_link_plan){.rule_count = 0};
    if (!oche_link_plan_add_all(&plan, OCHE_LINK_OUT, text, &error))
        return error.text[0] != '\0' && strchr(error.text, '\n') == NULL
                   ? NULL
                   : "rules that are refused without a reason";
    wrong = check_plan(&plan);
    return wrong != NULL ? wrong : cross(&plan, text);
}
