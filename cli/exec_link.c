/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --link and its relatives. A file, @FILE, is YAML: `link`, a list of steps, each a map of keys and
 * values, with `at` for its time. It becomes the text that the library reads, as the library has no
 * reader of YAML.
 */
#include "cli/exec_link.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/refuse.h"
#include "core/base.h"
#include "params/units.h"
#include "sim/scenario/document.h"

static const char *const options_of[] = {
    [OCHE_LINK_IN] = "--link-in", [OCHE_LINK_OUT] = "--link-out", [OCHE_LINK_BOTH] = "--link"};
static const char *const variables_of[] = {[OCHE_LINK_IN] = "OCHE_LINK_IN",
                                           [OCHE_LINK_OUT] = "OCHE_LINK_OUT",
                                           [OCHE_LINK_BOTH] = "OCHE_LINK"};

/* ---- text that grows ---- */

/* Appends to *text, which is malloc'd or NULL. */
static void append(char **text, const char *more)
{
    const size_t before = *text != NULL ? strlen(*text) : 0;
    char *longer = realloc(*text, before + strlen(more) + 1);

    OCHE_GOT(longer != NULL);
    strcpy(longer + before, more);
    *text = longer;
}

/* ---- files ---- */

/* Appends "KEY=VALUE,KEY=VALUE" of a step. Returns false with an error. */
static bool append_step(char **text, const struct oche_document *document,
                        const struct oche_yaml *step, struct oche_error *error)
{
    if (step->kind != OCHE_YAML_MAP || step->count == 0)
        return oche_document_fail(document, step, NULL, error,
                                  "is no step; write keys with values, such as loss: 1%%");
    for (uint32_t i = 0; i < step->count; i++) {
        const struct oche_yaml *item = step->child[i];

        if (item->kind != OCHE_YAML_SCALAR || strpbrk(item->text, ",;|=") != NULL ||
            strpbrk(item->key, ",;|=:") != NULL)
            return oche_document_fail(
                document, item, NULL, error,
                "is no value of a link; write one, such as 1%% or 10us:normal");
        append(text, i > 0 ? "," : "");
        append(text, item->key);
        append(text, "=");
        append(text, item->text);
    }
    return true;
}

/* Adds the steps to *text, which may have a peer already. Each step is checked with its line. */
static bool append_steps(char **text, const struct oche_document *document,
                         const struct oche_yaml *steps, struct oche_error *error)
{
    for (uint32_t i = 0; i < steps->count; i++) {
        struct oche_link_plan plan = {.rule_count = 0};
        struct oche_error why;

        if (i > 0)
            append(text, "|");
        if (!append_step(text, document, steps->child[i], error))
            return false;
        if (!oche_link_plan_add(&plan, OCHE_LINK_BOTH, *text, &why))
            return oche_document_fail(document, steps->child[i], NULL, error, "%s", why.text);
    }
    return true;
}

static bool append_file(char **text, const char *path, struct oche_error *error)
{
    struct oche_document *document;
    const struct oche_yaml *steps, *root;
    bool whole = false;

    if (access(path, R_OK) != 0)
        return oche_fail(error, "%s: cannot be read: %s", path, strerror(errno));
    document = oche_document_open(path, error);
    if (document == NULL)
        return false;
    root = oche_document_root(document);
    steps = oche_yaml_find(root, "link");
    if (steps == NULL || steps->kind != OCHE_YAML_LIST || steps->count == 0)
        oche_document_fail(document, steps != NULL ? steps : root, NULL, error,
                           "a list of steps is missing; write link: and below it - at: 3s, and so "
                           "on");
    else if (root->count > 1)
        oche_document_fail(document, root->child[root->child[0] == steps], NULL, error,
                           "is not known; only link: is");
    else
        whole = append_steps(text, document, steps, error);
    oche_document_close(document);
    return whole;
}

/* ---- options ---- */

/* Returns a rule as the library reads it, malloc'd; NULL, with an error, if a file is wrong. */
static char *rule_of(const char *text, struct oche_error *error)
{
    const char *at = strchr(text, '@');
    char *rule = NULL;

    append(&rule, text);
    if (at == NULL || (at > text && at[-1] != ':'))
        return rule;
    rule[at - text] = '\0';
    if (append_file(&rule, at + 1, error))
        return rule;
    free(rule);
    return NULL;
}

/* Checks all rules together. Returns the direction whose rules are wrong, or 0. */
static uint8_t wrong_rules(const struct oche_link_options *options, struct oche_error *error)
{
    static const uint8_t order[] = {OCHE_LINK_BOTH, OCHE_LINK_IN, OCHE_LINK_OUT};
    struct oche_link_plan plan = {.rule_count = 0};

    for (size_t i = 0; i < OCHE_COUNT_OF(order); i++) {
        const char *rules = options->rules[order[i]];

        if (rules == NULL)
            rules = getenv(variables_of[order[i]]);
        if (rules != NULL && rules[0] != '\0' &&
            !oche_link_plan_add_all(&plan, order[i], rules, error))
            return order[i];
    }
    return 0;
}

/* Prints all keys of a link, with ranges, defaults and meanings. */
static void print_keys(void)
{
    printf("Keys of a link (docs/faults.md has their short forms):\n");
    for (size_t i = 0; i < oche_link_params.count; i++) {
        const struct oche_param *row = &oche_link_params.params[i];
        char range[OCHE_VALUE_BYTES * 4], preset[OCHE_VALUE_BYTES];

        oche_value_range(row, range, sizeof(range));
        oche_value_show(row, row->preset, preset, sizeof(preset));
        printf("\n  %s=%s  (%s)\n      %s\n", row->name, preset, range, row->help);
    }
}

void oche_link_option(const struct argp_state *state, struct oche_link_options *options,
                      uint8_t directions, const char *text)
{
    struct oche_error error;
    char *rule;

    if (strcmp(text, "help") == 0) {
        print_keys();
        exit(0);
    }
    rule = rule_of(text, &error);

    if (rule == NULL)
        oche_refuse(state, "%s: %s", options_of[directions], error.text);
    if (strchr(text, ';') != NULL)
        oche_refuse(state, "%s: %s: one rule is possible; give the option again for another one",
                    options_of[directions], text);
    if (options->rules[directions] != NULL)
        append(&options->rules[directions], ";");
    append(&options->rules[directions], rule);
    free(rule);
    if (!oche_link_plan_add_all(&(struct oche_link_plan){.rule_count = 0}, directions,
                                options->rules[directions], &error))
        oche_refuse(state, "%s=%s: %s", options_of[directions], text, error.text);
}

void oche_link_check_environment(const struct argp_state *state,
                                 const struct oche_link_options *options)
{
    struct oche_error error;
    const uint8_t wrong = wrong_rules(options, &error);

    if (wrong != 0 && options->rules[wrong] != NULL)
        oche_refuse(state, "%s: %s", options_of[wrong], error.text);
    if (wrong != 0)
        oche_refuse(state, "%s=%s: %s", variables_of[wrong], getenv(variables_of[wrong]),
                    error.text);
}

void oche_link_set_environment(const struct oche_link_options *options)
{
    for (uint8_t directions = 1; directions <= OCHE_LINK_BOTH; directions++)
        OCHE_GOT(options->rules[directions] == NULL ||
                 setenv(variables_of[directions], options->rules[directions], 1) == 0);
}
