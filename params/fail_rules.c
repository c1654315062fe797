/* SPDX-License-Identifier: Apache-2.0 */
/* Reads which calls fail on demand; see fail_rules.h. */
#include "params/fail_rules.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/base.h"
#include "params/printable.h"
#include "params/units.h"

#define TEXT_BYTES 1024
#define NAME_BYTES 64

/* Calls, and the errno that a caller most likely has to expect of each. */
static const struct {
    const char *name;
    int error;
} calls[OCHE_CALLS] = {
    [OCHE_CALL_OPEN_DEVICE] = {"open_device", EIO},
    [OCHE_CALL_ALLOC_PD] = {"alloc_pd", ENOMEM},
    [OCHE_CALL_REG_MR] = {"reg_mr", ENOMEM},
    [OCHE_CALL_CREATE_CQ] = {"create_cq", ENOMEM},
    [OCHE_CALL_CREATE_COMP_CHANNEL] = {"create_comp_channel", EMFILE},
    [OCHE_CALL_CREATE_QP] = {"create_qp", ENOMEM},
    [OCHE_CALL_CREATE_SRQ] = {"create_srq", ENOMEM},
    [OCHE_CALL_CREATE_AH] = {"create_ah", ENOMEM},
    [OCHE_CALL_ALLOC_MW] = {"alloc_mw", ENOMEM},
    [OCHE_CALL_MODIFY_QP] = {"modify_qp", EINVAL},
    [OCHE_CALL_POST_SEND] = {"post_send", ENOMEM},
    [OCHE_CALL_POST_RECV] = {"post_recv", ENOMEM},
};

static const struct {
    const char *name;
    int error;
} errors[] = {
    {"EACCES", EACCES}, {"EAGAIN", EAGAIN}, {"EBUSY", EBUSY},           {"EINVAL", EINVAL},
    {"EIO", EIO},       {"EMFILE", EMFILE}, {"ENODEV", ENODEV},         {"ENOMEM", ENOMEM},
    {"ENOSPC", ENOSPC}, {"EPERM", EPERM},   {"EOPNOTSUPP", EOPNOTSUPP}, {"ETIMEDOUT", ETIMEDOUT}};

const char *oche_call_name(enum oche_call call)
{
    return calls[call].name;
}

const char *oche_call_names(char *names, size_t bytes)
{
    size_t at = 0;

    names[0] = '\0';
    for (size_t i = 0; i < OCHE_CALLS && at < bytes; i++)
        at += (size_t)snprintf(names + at, bytes - at, "%s%s", i > 0 ? ", " : "", calls[i].name);
    return names;
}

static bool no_call(const char *name, struct oche_error *error)
{
    char shown[NAME_BYTES], names[TEXT_BYTES];

    oche_printable(name, shown, sizeof(shown));
    return oche_fail(error, "%s: no call that can fail; there are %s", shown,
                     oche_call_names(names, sizeof(names)));
}

/* Reads a call's number, from 1. */
static bool read_number(const char *text, uint64_t *number, struct oche_error *error)
{
    static const struct oche_param row = {
        .name = "call", .unit = OCHE_UNIT_COUNT, .minimum.u = 1, .maximum.u = UINT32_MAX};
    union oche_value value;

    if (!oche_value_parse(&row, text, &value, error))
        return false;
    *number = value.u;
    return true;
}

static bool read_error(const char *text, int *number, struct oche_error *error)
{
    char shown[NAME_BYTES], names[TEXT_BYTES] = "";
    size_t at = 0;

    for (size_t i = 0; i < OCHE_COUNT_OF(errors); i++) {
        if (strcmp(text, errors[i].name) == 0) {
            *number = errors[i].error;
            return true;
        }
        at += (size_t)snprintf(names + at, sizeof(names) - at, "%s%s", i > 0 ? ", " : "",
                               errors[i].name);
    }
    oche_printable(text, shown, sizeof(shown));
    return oche_fail(error, "%s: no error that a call can have; there are %s", shown, names);
}

/* Reads "3", "3..5" or "3..", and ":ERROR" behind it. */
static bool read_rule(struct oche_fail_rule *rule, char *text, struct oche_error *error)
{
    char *name = strchr(text, ':'), *to;

    if (name != NULL) {
        *name = '\0';
        if (!read_error(name + 1, &rule->error, error))
            return false;
    }
    to = strstr(text, "..");
    if (to != NULL)
        *to = '\0';
    if (!read_number(text, &rule->first, error))
        return false;
    rule->last = to == NULL ? rule->first : UINT64_MAX;
    if (to == NULL || to[2] == '\0')
        return true;
    if (!read_number(to + 2, &rule->last, error))
        return false;
    return rule->first <= rule->last ||
           oche_fail(error, "%s..%s: ends before it begins", text, to + 2);
}

static bool read_item(struct oche_fail_rules *rules, char *item, struct oche_error *error)
{
    char *equals = strchr(item, '=');
    struct oche_error why;
    size_t call = 0;

    if (equals == NULL)
        return oche_fail(error, "which call? CALL=N is meant, such as reg_mr=3");
    *equals = '\0';
    while (call < OCHE_CALLS && strcmp(item, calls[call].name) != 0)
        call++;
    if (call == OCHE_CALLS)
        return no_call(item, error);
    if (rules->of[call].first != 0)
        return oche_fail(error, "%s is there twice; give it once", item);
    rules->of[call].error = calls[call].error;
    return read_rule(&rules->of[call], equals + 1, &why) ||
           oche_fail(error, "%s: %s", item, why.text);
}

bool oche_fail_rules_parse(struct oche_fail_rules *rules, const char *text,
                           struct oche_error *error)
{
    char copy[TEXT_BYTES], *rest = copy, *item;

    *rules = (struct oche_fail_rules){.of = {{.first = 0}}};
    if (strlen(text) >= sizeof(copy))
        return oche_fail(error, "more than %d characters", TEXT_BYTES - 1);
    if (!oche_is_printable(text) || strpbrk(text, "\n\t") != NULL)
        return oche_fail(error, "a character that is no letter, number or sign");
    strcpy(copy, text);
    while ((item = strsep(&rest, ",")) != NULL)
        if (!read_item(rules, item, error))
            return false;
    return true;
}
