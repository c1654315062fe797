/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `oche import`: reads a file of another program, recognised by its content, says what it has and
 * what of it was understood, and writes a scenario of it.
 */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/import/import.h"
#include "cli/refuse.h"
#include "params/units.h"

enum { KEY_JSON = 256, KEY_LOGGOPS, KEY_SET = 's' };

static const struct argp_option option_table[] = {
    {"out", 'o', "SCENARIO", 0,
     "Write a scenario that runs with what the file has; files that it names must stay where they "
     "are",
     0},
    {"loggops", KEY_LOGGOPS, "KEY=VALUE,…", 0,
     "Of schedules: parameters of the model in ns and bytes; default "
     "L=2500,o=1500,g=1000,G=6,O=0,S=65535",
     0},
    {"set", KEY_SET, "KEY=VALUE", 0,
     "Of schedules: how to read it, as a key of the scenario's workload (can repeat): algorithm, "
     "chunks, window, control_deps, groups_file, gpus",
     0},
    {"json", KEY_JSON, NULL, 0, "Print JSON instead", 0},
    {0},
};

#define MOST UINT64_C(1000000000000)

static const struct oche_param model_params[] = {
    {OCHE_PARAM(struct oche_loggops, L), OCHE_IS_COUNT(2500, 0, MOST)},
    {OCHE_PARAM(struct oche_loggops, o), OCHE_IS_COUNT(1500, 0, MOST)},
    {OCHE_PARAM(struct oche_loggops, g), OCHE_IS_COUNT(1000, 0, MOST)},
    {OCHE_PARAM(struct oche_loggops, G), OCHE_IS_COUNT(6, 0, 1000000)},
    {OCHE_PARAM(struct oche_loggops, O), OCHE_IS_COUNT(0, 0, 1000000)},
    {OCHE_PARAM(struct oche_loggops, S), OCHE_IS_COUNT(65535, 0, UINT64_MAX - 1)},
};
static const struct oche_param_table model_table =
    OCHE_PARAM_TABLE(model_params, struct oche_loggops);

static void read_model(struct argp_state *state, char *text, struct oche_import *import)
{
    char *item;

    while ((item = strsep(&text, ",")) != NULL) {
        char *equals = strchr(item, '=');
        const struct oche_param *param;
        union oche_value value;
        struct oche_error error;

        if (equals == NULL)
            oche_refuse(state, "--loggops: \"%s\" has no value; write L=2500,o=1500", item);
        *equals = '\0';
        param = oche_param_find(&model_table, item);
        if (param == NULL)
            oche_refuse(state, "--loggops: %s is no parameter; L, o, g, G, O and S are", item);
        if (!oche_value_parse(param, equals + 1, &value, &error))
            oche_refuse(state, "--loggops: %s: %s", item, error.text);
        oche_param_set(param, &import->model, value);
        import->given_S = import->given_S || strcmp(item, "S") == 0;
    }
}

static void set_reading(struct argp_state *state, char *text, struct oche_import *import)
{
    char *equals = strchr(text, '=');
    const struct oche_param *param;
    union oche_value value;
    struct oche_error error;

    if (equals == NULL)
        oche_refuse(state, "--set: \"%s\" has no value; write algorithm=tree", text);
    *equals = '\0';
    if (strncmp(text, "workload.", 9) == 0) /* as `oche run` has it */
        text += 9;
    param = oche_param_find(&oche_schedule_reading_table, text);
    if (param == NULL)
        oche_refuse(state,
                    "--set: %s is no key; algorithm, chunks, window, control_deps, groups_file and "
                    "gpus are",
                    text);
    if (!oche_value_parse(param, equals + 1, &value, &error))
        oche_refuse(state, "--set: %s: %s", text, error.text);
    oche_param_set(param, &import->reading, value);
    if (import->set_count == OCHE_COUNT_OF(import->set))
        oche_refuse(state, "--set %s: given too often", text);
    import->set[import->set_count].key = text;
    import->set[import->set_count++].value = equals + 1;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct oche_import *import = state->input;

    switch (key) {
    case 'o':
        if (*argument == '\0')
            oche_refuse(state, "--out: names no file; write --out scenario.yaml");
        if (strcmp(argument, "-") == 0)
            oche_refuse(state, "--out -: a scenario needs a file; write --out scenario.yaml");
        if (import->out != NULL)
            oche_refuse(state, "--out %s: a second scenario; one at a time", argument);
        import->out = argument;
        return 0;
    case KEY_LOGGOPS:
        read_model(state, argument, import);
        import->has_model = true;
        return 0;
    case KEY_SET:
        set_reading(state, argument, import);
        return 0;
    case KEY_JSON:
        import->json = true;
        return 0;
    case ARGP_KEY_ARG:
        if (import->path != NULL)
            oche_refuse(state, "%s: a second file; one at a time", argument);
        import->path = argument;
        return 0;
    case ARGP_KEY_NO_ARGS:
        oche_refuse(state, "which file? give a schedule, a topology, a list of flows, a "
                           "distribution, HPCC's config.txt or SONiC's config_db.json");
        return EINVAL;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp arguments = {
    .options = option_table,
    .parser = parse,
    .args_doc = "FILE",
    .doc =
        "Reads a file of another program, which it recognises by its content, and says what it "
        "has: schedules (GOAL, htsim's connection matrices, Chakra's traces NAME.RANK.et, of which "
        "one or NAME is given, SimAI's workloads, JSON lines), topologies, lists of flows, "
        "distributions of sizes, configurations of HPCC's ns-3 simulator and of its children, and "
        "SONiC's CONFIG_DB. Of a configuration it says what was understood, what has no "
        "counterpart here, what was not understood, and what was assumed.\vExit status: 0; 1 a "
        "schedule does not end, or a message has no receive; 2 bad arguments or bad input.",
};

static bool (*const readers[])(struct oche_import *, struct oche_error *) = {
    [OCHE_IMPORT_TOPOLOGY] = oche_import_topology,
    [OCHE_IMPORT_FLOWS] = oche_import_flows,
    [OCHE_IMPORT_CDF] = oche_import_cdf,
    [OCHE_IMPORT_NS3_CONFIG] = oche_import_ns3_config,
    [OCHE_IMPORT_CONFIG_DB] = oche_import_config_db,
};

static int read_and_print(struct oche_import *import, enum oche_import_kind kind)
{
    struct oche_error error;

    if (import->has_model || import->set_count > 0) {
        oche_print_error("oche import: %s: for schedules, and %s is none; leave it out",
                         import->has_model ? "--loggops" : "--set", import->path);
        return 2;
    }
    if (!readers[kind](import, &error) || !oche_import_write(import, &error)) {
        oche_print_error("oche import: %s", error.text);
        return 2;
    }
    if (import->json)
        oche_import_print_json(import);
    else
        oche_import_print(import);
    return 0;
}

int oche_cmd_import(int argc, char **argv)
{
    struct oche_import import = {.model = OCHE_LOGGOPS_DEFAULT};
    enum oche_import_kind kind;
    struct oche_error error;
    int status;

    oche_param_defaults(&oche_schedule_reading_table, &import.reading);
    if (!oche_parse_arguments(&arguments, argc, argv, 0, &import))
        return 2;
    if (!oche_import_recognise(&import, &kind, &error)) {
        oche_print_error("oche import: %s", error.text);
        return 2;
    }
    status = kind == OCHE_IMPORT_SCHEDULE ? oche_import_schedule(&import)
                                          : read_and_print(&import, kind);
    oche_input_free(&import.file);
    free(import.owned[0]);
    free(import.owned[1]);
    oche_translation_free(&import.to);
    return status;
}
