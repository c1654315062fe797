/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the rules of links; see spec.h. */
#include "device/link/spec.h"

#include <stdio.h>
#include <string.h>

#include "params/printable.h"
#include "params/units.h"

#define NAME_BYTES 64
#define ROWS       32

/* ---- one parameter ---- */

static const struct oche_param *find_row(const char *key, const char *suffix)
{
    char name[NAME_BYTES];

    if ((size_t)snprintf(name, sizeof(name), "%s%s", key, suffix) >= sizeof(name))
        return NULL;
    return oche_param_find(&oche_link_params, name);
}

/* Words of tc, netem and others. */
static const struct {
    const char *word, *ours;
} of_others[] = {{"latency", "delay"}, {"drop", "loss"},    {"bandwidth", "rate"},
                 {"bw", "rate"},       {"limit", "queue"},  {"buffer", "queue"},
                 {"gap", "reorder"},   {"dup", "duplicate"}};

/* Writes the error that there is no such key, with the one that was probably meant. */
static bool no_key(const char *key, struct oche_error *error)
{
    const char *words[ROWS + 3], *near;
    char shown[NAME_BYTES];
    size_t count = 0;

    OCHE_MUST(oche_link_params.count <= ROWS);
    for (; count < oche_link_params.count; count++)
        words[count] = oche_link_params.params[count].name;
    words[count++] = "ecn";
    words[count++] = "flap";
    words[count++] = "at";
    oche_printable(key, shown, sizeof(shown));
    near = oche_nearest_word(key, words, count);
    for (size_t i = 0; i < OCHE_COUNT_OF(of_others); i++)
        if (strcmp(key, of_others[i].word) == 0)
            near = of_others[i].ours;
    if (near != NULL)
        return oche_fail(error, "a link has no %s; did you mean %s?", shown, near);
    return oche_fail(error, "a link has no %s; `oche exec --link=help` lists all keys", shown);
}

static bool set_row(struct oche_link_params *params, const struct oche_param *row,
                    const char *value, uint64_t *given, struct oche_error *error)
{
    const uint64_t bit = UINT64_C(1) << (row - oche_link_params.params);
    struct oche_error what;
    union oche_value parsed;

    if (!oche_value_parse(row, value, &parsed, &what))
        return oche_fail(error, "%s: %s", row->name, what.text);
    if (*given & bit)
        return oche_fail(error, "%s is there twice; give it once", row->name);
    *given |= bit;
    oche_param_set(row, params, parsed);
    return true;
}

/* A short form whose value has two parts. */
static const struct pair {
    const char *key, *between, *first, *second, *example;
} pairs[] = {{"ecn", "..", "ecn_min", "ecn_max", "ecn=100KB..400KB"},
             {"flap", "/", "flap_up", "flap_down", "flap=2s/100ms"}};

static bool set_pair(struct oche_link_params *params, const struct pair *pair, char *value,
                     uint64_t *given, struct oche_error *error)
{
    char *between = strstr(value, pair->between);

    if (between == NULL)
        return oche_fail(error, "%s: two values are needed, as in %s", pair->key, pair->example);
    *between = '\0';
    return set_row(params, find_row(pair->first, ""), value, given, error) &&
           set_row(params, find_row(pair->second, ""), between + strlen(pair->between), given,
                   error);
}

/* Sets KEY_NAME for "NAME=VALUE", or the choice that goes with KEY for "VALUE". */
static bool set_option(struct oche_link_params *params, const char *key, char *option,
                       uint64_t *given, struct oche_error *error)
{
    char *equals = strchr(option, '='), suffix[NAME_BYTES];
    const struct oche_param *row = NULL;

    if (equals != NULL) {
        *equals = '\0';
        snprintf(suffix, sizeof(suffix), "_%s", option);
        row = find_row(key, suffix);
    } else {
        for (size_t i = 0; i < oche_link_params.count; i++) {
            const struct oche_param *at = &oche_link_params.params[i];

            if (at->unit == OCHE_UNIT_CHOICE && strncmp(at->name, key, strlen(key)) == 0 &&
                at->name[strlen(key)] == '_')
                row = at;
        }
    }
    if (row == NULL) {
        char shown[NAME_BYTES];

        oche_printable(option, shown, sizeof(shown));
        return oche_fail(error, "%s has no option %s; docs/faults.md has all options", key, shown);
    }
    return set_row(params, row, equals != NULL ? equals + 1 : option, given, error);
}

/* Sets what one "KEY=VALUE[:OPTION]…" says. */
static bool set_item(struct oche_link_params *params, char *item, uint64_t *given,
                     struct oche_error *error)
{
    char *equals = strchr(item, '='), *rest, *value, *option;
    const struct pair *pair = NULL;
    const struct oche_param *row;

    if (equals == NULL) {
        char shown[NAME_BYTES];

        oche_printable(item, shown, sizeof(shown));
        return oche_fail(error, "\"%s\" has no value; KEY=VALUE is meant, such as loss=1%%", shown);
    }
    *equals = '\0';
    for (size_t i = 0; i < OCHE_COUNT_OF(pairs); i++)
        if (strcmp(item, pairs[i].key) == 0)
            pair = &pairs[i];
    row = oche_param_find(&oche_link_params, item);
    if (row == NULL && pair == NULL)
        return no_key(item, error);
    rest = equals + 1;
    value = strsep(&rest, ":");
    if (!(pair != NULL ? set_pair(params, pair, value, given, error)
                       : set_row(params, row, value, given, error)))
        return false;
    while ((option = strsep(&rest, ":")) != NULL)
        if (!set_option(params, item, option, given, error))
            return false;
    return true;
}

/* ---- a step ---- */

static bool check_step(const struct oche_link_params *params, struct oche_error *error)
{
    const char *wrong = oche_link_check(params);

    return wrong == NULL || oche_fail(error, "%s", wrong);
}

static bool is_given(uint64_t given, const char *key)
{
    return (given >> (oche_param_find(&oche_link_params, key) - oche_link_params.params) & 1) != 0;
}

/* Keys that say how, and those that say whether. */
static const struct {
    const char *key, *needs;
} details[] = {
    {"queue", "rate"},          {"reorder_by", "reorder"}, {"burst_loss_length", "burst_loss"},
    {"jitter_shape", "jitter"}, {"spray_by", "spray"},     {"corrupt_per", "corrupt"}};

/* True if all given keys do something; otherwise with an error. */
static bool has_effect(const struct oche_link_params *params, uint64_t given,
                       struct oche_error *error)
{
    for (size_t i = 0; i < OCHE_COUNT_OF(details); i++) {
        const struct oche_param *row = oche_param_find(&oche_link_params, details[i].needs);
        const union oche_value now = oche_param_get(row, params), none = row->preset;

        if (is_given(given, details[i].key) && !is_given(given, details[i].needs) &&
            memcmp(&now, &none, sizeof(now)) == 0)
            return oche_fail(error, "%s: has no effect without %s; give both", details[i].key,
                             details[i].needs);
    }
    return true;
}

/* Reads "at=3s,loss=1%". `at`: NULL if a step may have no time. */
static bool read_step(struct oche_link_params *params, char *text, oche_time *at,
                      struct oche_error *error)
{
    uint64_t given = 0;
    bool timed = false;
    char *item;

    while ((item = strsep(&text, ",")) != NULL) {
        struct oche_error what;

        if (item[0] == '\0')
            return oche_fail(error, "nothing between two commas, or before or after one; "
                                    "KEY=VALUE,KEY=VALUE is meant");
        if (strncmp(item, "at=", 3) != 0) {
            if (!set_item(params, item, &given, error))
                return false;
            continue;
        }
        if (at == NULL)
            return oche_fail(error, "at: no time is possible here; leave it out");
        if (timed)
            return oche_fail(error, "at is there twice; separate steps by |");
        if (!oche_time_parse(item + 3, at, &what) || *at == OCHE_NEVER)
            return oche_fail(error, "at: %s",
                             *at == OCHE_NEVER ? "never; leave the step out" : what.text);
        timed = true;
    }
    if (params->rate_bps == 0 && !is_given(given, "ecn_min")) /* no line, so no marks either */
        params->ecn_min_bytes = params->ecn_max_bytes = OCHE_NEVER;
    return has_effect(params, given, error) && check_step(params, error);
}

/* Checks a text's length and characters: those of an error message are then fit to print. */
static bool check_text(const char *text, size_t bytes, struct oche_error *error)
{
    if (strlen(text) >= bytes)
        return oche_fail(error, "more than %zu characters", bytes - 1);
    return (oche_is_printable(text) && strpbrk(text, "\n\t") == NULL) ||
           oche_fail(error, "a character that is no letter, number or sign");
}

bool oche_link_params_parse(struct oche_link_params *params, const char *text,
                            struct oche_error *error)
{
    char copy[OCHE_LINK_TEXT_BYTES];

    if (!check_text(text, sizeof(copy), error))
        return false;
    strcpy(copy, text);
    return read_step(params, copy, NULL, error);
}

/* ---- a rule ---- */

bool oche_link_peer_cut(char **text, struct oche_address *peer, bool *has_peer,
                        struct oche_error *error)
{
    const bool bracket = (*text)[0] == '[';
    char *end = strchr(*text, bracket ? ']' : ':'), *equals = strchr(*text, '=');
    char *address = *text + bracket, shown[NAME_BYTES];

    *has_peer = false;
    if (!bracket && (end == NULL || (equals != NULL && equals < end)))
        return true;
    if (end == NULL || (bracket && end[1] != ':'))
        return oche_fail(error, "a peer's IPv6 address is written [2001:db8::7]:loss=1%%");
    *text = end + 1 + bracket;
    *end = '\0';
    *has_peer = true;
    if (oche_address_parse(address, peer))
        return true;
    oche_printable(address, shown, sizeof(shown));
    return oche_fail(
        error, "%s: not an IP address; 192.0.2.7:loss=1%% or [2001:db8::7]:loss=1%% is", shown);
}

static bool same_peer(const struct oche_link_rule *a, const struct oche_link_rule *b)
{
    return a->of_peer == b->of_peer &&
           (!a->of_peer || memcmp(&a->peer, &b->peer, sizeof(a->peer)) == 0);
}

static bool has_rule(const struct oche_link_plan *plan, const struct oche_link_rule *rule)
{
    for (unsigned i = 0; i < plan->rule_count; i++)
        if ((plan->rules[i].directions & rule->directions) != 0 && same_peer(&plan->rules[i], rule))
            return true;
    return false;
}

static bool read_steps(struct oche_link_plan *plan, struct oche_link_rule *rule, char *text,
                       struct oche_error *error)
{
    struct oche_link_step step = {.at = 0};
    char *one;

    oche_param_defaults(&oche_link_params, &step.params);
    while ((one = strsep(&text, "|")) != NULL) {
        const oche_time before = step.at;

        if (plan->step_count == OCHE_LINK_STEPS)
            return oche_fail(error, "more than %d steps", OCHE_LINK_STEPS);
        if (!read_step(&step.params, one, &step.at, error))
            return false;
        if (rule->count > 0 && step.at <= before)
            return oche_fail(error,
                             "a step is not later than the one before it; at=TIME is missing, "
                             "or too small");
        if (rule->count > 0 && step.params.seed != plan->steps[rule->first].params.seed)
            return oche_fail(error, "seed: only the first step can have one");
        if (rule->count == 0 && step.at > 0) { /* no faults until then */
            plan->steps[plan->step_count].at = 0;
            oche_param_defaults(&oche_link_params, &plan->steps[plan->step_count].params);
            plan->steps[plan->step_count++].params.seed = step.params.seed;
            rule->count++;
        }
        if (plan->step_count == OCHE_LINK_STEPS)
            return oche_fail(error, "more than %d steps", OCHE_LINK_STEPS);
        plan->steps[plan->step_count++] = step;
        rule->count++;
    }
    return true;
}

static bool read_rule(struct oche_link_plan *plan, uint8_t directions, char *text,
                      struct oche_error *error)
{
    struct oche_link_rule rule = {.directions = directions, .first = plan->step_count};

    if (plan->rule_count == OCHE_LINK_RULES)
        return oche_fail(error, "more than %d rules", OCHE_LINK_RULES);
    if (!oche_link_peer_cut(&text, &rule.peer, &rule.of_peer, error))
        return false;
    if (has_rule(plan, &rule))
        return oche_fail(error, "a second rule for the same peers and direction; write one with "
                                "all keys, or --link-in and --link-out instead of --link");
    if (!read_steps(plan, &rule, text, error))
        return false;
    plan->rules[plan->rule_count++] = rule;
    return true;
}

bool oche_link_plan_add(struct oche_link_plan *plan, uint8_t directions, const char *text,
                        struct oche_error *error)
{
    char copy[OCHE_LINK_TEXT_BYTES];

    if (!check_text(text, sizeof(copy), error))
        return false;
    strcpy(copy, text);
    return read_rule(plan, directions, copy, error);
}

bool oche_link_plan_add_all(struct oche_link_plan *plan, uint8_t directions, const char *text,
                            struct oche_error *error)
{
    char copy[OCHE_LINK_RULES * OCHE_LINK_TEXT_BYTES], *rest = copy, *one;

    if (!check_text(text, sizeof(copy), error))
        return false;
    strcpy(copy, text);
    while ((one = strsep(&rest, ";")) != NULL)
        if (!read_rule(plan, directions, one, error))
            return false;
    return true;
}

bool oche_link_plan_add_loss(struct oche_link_plan *plan, uint8_t directions, uint32_t ppm,
                             struct oche_error *error)
{
    char text[32];

    snprintf(text, sizeof(text), "loss=%u/1000000", (unsigned)ppm);
    return oche_link_plan_add(plan, directions, text, error);
}
