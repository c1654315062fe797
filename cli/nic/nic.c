/* SPDX-License-Identifier: Apache-2.0 */
/* `oche nic`: lists the profiles of adapters, prints one with its sources, or compares two. */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/refuse.h"
#include "params/nic.h"
#include "params/table.h"
#include "params/units.h"
#include "sim/scenario/nic_file.h"

struct options {
    const char *nics[2]; /* NULL: not given */
    bool all;
};

/* An adapter that was named: a profile, with more values, or a file. */
struct adapter {
    const char *name;
    struct oche_nic_facts facts;
};

static const struct argp_option option_table[] = {
    {"all", 'a', NULL, 0, "All habits, not only those that differ from the ideal RNIC's", 0},
    {0},
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct options *options = state->input;

    switch (key) {
    case 'a':
        options->all = true;
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num >= OCHE_COUNT_OF(options->nics))
            oche_refuse(state, "%s: a third adapter; two can be compared", argument);
        options->nics[state->arg_num] = argument;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp arguments = {
    .options = option_table,
    .parser = parse,
    .args_doc = "[ADAPTER [ADAPTER]]",
    .doc = "What is known of real RDMA adapters.\n\nWithout ADAPTER: lists all. With one: its "
           "habits, how well each is known, and from where. With two: where they differ. ADAPTER "
           "is a name, a name with values of your own (connectx-6,limiter_lag=40KB), or a file "
           "ending in .yaml: what host.nic and oche exec --nic take.",
};

static bool same(const struct oche_param *param, const void *a, const void *b)
{
    return oche_param_get(param, a).u == oche_param_get(param, b).u;
}

static void value_of(const struct oche_param *param, const void *habits, char *text, size_t bytes)
{
    oche_value_show(param, oche_param_get(param, habits), text, bytes);
}

/* ---- the list ---- */

static int list(void)
{
    for (size_t i = 0; i < oche_nic_profile_count; i++)
        printf("%-22s %s\n", oche_nic_profiles[i]->name, oche_nic_profiles[i]->title);
    printf("\n`oche nic NAME` prints one with its sources, `oche nic NAME NAME` compares two.\n");
    return 0;
}

/* ---- one ---- */

/* Returns the profile's cell for the habit, if the adapter has the value that the cell says. */
static const struct oche_nic_cell *cell_of(const struct adapter *adapter,
                                           const struct oche_param *param)
{
    const struct oche_nic_profile *like = adapter->facts.like;
    const struct oche_nic_cell *cell =
        like != NULL ? oche_nic_profile_cell(like, param->name) : NULL;

    return cell != NULL && cell->value.u == oche_param_get(param, &adapter->facts.habits).u ? cell
                                                                                            : NULL;
}

/* Writes how well the value of a habit is known, and from where. */
static void print_known(const struct adapter *adapter, size_t row, bool differs)
{
    const struct oche_nic_fact *fact = &adapter->facts.facts[row];
    const struct oche_nic_cell *cell = cell_of(adapter, &oche_nic_habits_table.params[row]);

    if (fact->given)
        printf("%s%s%s\n",
               fact->evidence >= 0 ? oche_evidence_name((enum oche_evidence)fact->evidence)
                                   : "yours",
               fact->source[0] != '\0' ? ": " : "", fact->source);
    else if (cell != NULL)
        printf("%s: %s\n", oche_evidence_name(cell->evidence), cell->source);
    else
        printf("%s\n", differs ? "yours" : "not known; as ideal");
}

static int print_one(const struct adapter *adapter, bool all)
{
    const struct oche_nic_habits *habits = &adapter->facts.habits;
    const char *title = adapter->facts.title;
    struct oche_nic_habits ideal;
    size_t shown = 0;

    if (title[0] == '\0' && adapter->facts.like != NULL)
        title = adapter->facts.like->title;
    oche_param_defaults(&oche_nic_habits_table, &ideal);
    printf("%s%s%s\n\n", adapter->name, title[0] != '\0' ? ": " : "", title);
    for (size_t i = 0; i < oche_nic_habits_table.count; i++) {
        const struct oche_param *param = &oche_nic_habits_table.params[i];
        const bool differs = !same(param, habits, &ideal);
        char text[OCHE_VALUE_BYTES];

        if (!all && !differs && !adapter->facts.facts[i].given && cell_of(adapter, param) == NULL)
            continue;
        value_of(param, habits, text, sizeof(text));
        printf("%-32s %-12s ", param->name, text);
        print_known(adapter, i, differs);
        shown++;
    }
    if (shown < oche_nic_habits_table.count)
        printf("%sThe other %zu habits are the ideal RNIC's: nothing is known of them here "
               "(--all prints them).\n",
               shown > 0 ? "\n" : "", oche_nic_habits_table.count - shown);
    return 0;
}

/* ---- two ---- */

static int print_both(const struct adapter *a, const struct adapter *b, bool all)
{
    struct oche_table *table = oche_table_create(3);
    size_t differ = 0;

    oche_table_cell(table, "habit");
    oche_table_cell(table, "%s", a->name);
    oche_table_cell(table, "%s", b->name);
    oche_table_rule(table);
    for (size_t i = 0; i < oche_nic_habits_table.count; i++) {
        const struct oche_param *param = &oche_nic_habits_table.params[i];
        char text[OCHE_VALUE_BYTES];

        differ += !same(param, &a->facts.habits, &b->facts.habits);
        if (!all && same(param, &a->facts.habits, &b->facts.habits))
            continue;
        oche_table_cell(table, "%s", param->name);
        value_of(param, &a->facts.habits, text, sizeof(text));
        oche_table_cell(table, "%s", text);
        value_of(param, &b->facts.habits, text, sizeof(text));
        oche_table_cell(table, "%s", text);
    }
    if (differ == 0 && !all)
        printf("%s and %s do not differ in any habit that is known here.\n", a->name, b->name);
    else
        oche_table_print(table, stdout);
    oche_table_free(table);
    return 0;
}

/* Reads an adapter; refuses one that is wrong. */
static void read_adapter(struct adapter *adapter, const char *text)
{
    struct oche_error error;

    adapter->name = text;
    if (!oche_nic_read_facts(&adapter->facts, text, &error)) {
        oche_print_error("oche nic: %s", error.text);
        exit(2);
    }
}

int oche_cmd_nic(int argc, char **argv)
{
    struct options options = {.nics = {NULL}};
    struct adapter adapters[2];

    argp_parse(&arguments, argc, argv, 0, NULL, &options);
    if (options.nics[0] == NULL)
        return list();
    for (size_t i = 0; i < OCHE_COUNT_OF(options.nics) && options.nics[i] != NULL; i++)
        read_adapter(&adapters[i], options.nics[i]);
    if (options.nics[1] == NULL)
        return print_one(&adapters[0], options.all);
    return print_both(&adapters[0], &adapters[1], options.all);
}
