/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `oche import`: reads a schedule of another tool, and says what it has, whether its
 * messages meet, and how long it takes at least.
 */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/json_line.h"
#include "cli/refuse.h"
#include "lab/loggops/loggops.h"
#include "params/figures.h"
#include "params/printable.h"
#include "params/units.h"
#include "sim/graph/schedule_file.h"

enum { KEY_JSON = 256, KEY_LOGGOPS, KEY_SET = 's' };

struct options {
    const char *path; /* NULL: not given */
    struct oche_schedule_reading reading;
    struct oche_loggops model;
    bool given_S; /* the limit of eager sends was given */
    bool json;
};

static const struct argp_option option_table[] = {
    {"loggops", KEY_LOGGOPS, "KEY=VALUE,…", 0,
     "Parameters of the model in ns and bytes; default L=2500,o=1500,g=1000,G=6,O=0,S=65535", 0},
    {"set", KEY_SET, "KEY=VALUE", 0,
     "How to read it, as a key of the scenario's workload (can repeat): algorithm, chunks, window, "
     "control_deps, groups_file, gpus",
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

static void read_model(struct argp_state *state, char *text, struct options *options)
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
        oche_param_set(param, &options->model, value);
        options->given_S = options->given_S || strcmp(item, "S") == 0;
    }
}

static void set_reading(struct argp_state *state, char *text, struct oche_schedule_reading *reading)
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
    oche_param_set(param, reading, value);
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct options *options = state->input;

    switch (key) {
    case KEY_LOGGOPS:
        read_model(state, argument, options);
        return 0;
    case KEY_SET:
        set_reading(state, argument, &options->reading);
        return 0;
    case KEY_JSON:
        options->json = true;
        return 0;
    case ARGP_KEY_ARG:
        if (options->path != NULL)
            oche_refuse(state, "%s: a second file; one at a time", argument);
        options->path = argument;
        return 0;
    case ARGP_KEY_NO_ARGS:
        oche_refuse(state, "which file? give a schedule, a trace or a workload");
        return EINVAL;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp arguments = {
    .options = option_table,
    .parser = parse,
    .args_doc = "FILE",
    .doc = "Reads what each rank of a program sends, receives and calculates: a schedule of GOAL "
           "(LogGOPSim, ATLAHS), text or binary, a connection matrix of htsim, execution traces of "
           "Chakra (NAME.RANK.et; one of them, or NAME), a workload of SimAI, or JSON lines. Says "
           "what is in it, whether all messages meet, and when it ends in a network without "
           "contention (the LogGOPS model).\vExit status: 0 the schedule ends; 1 it does not, or a "
           "message has "
           "no receive; 2 bad arguments or bad input.",
};

/* ---- what is in it ---- */

struct contents {
    uint64_t count[4]; /* by enum oche_goal_type */
    uint64_t dependencies, bytes, least, most, calc_ns;
    uint64_t busiest; /* operations of the rank that has most */
};

static void count_rank(struct contents *contents, const struct oche_goal_rank *rank)
{
    for (uint32_t i = 0; i < rank->count; i++) {
        const struct oche_goal_op op = oche_goal_op(rank, i);

        contents->count[op.type]++;
        contents->dependencies += op.dependencies;
        if (op.type == OCHE_GOAL_CALC)
            contents->calc_ns += op.size;
        if (op.type != OCHE_GOAL_SEND)
            continue;
        contents->bytes += op.size;
        contents->least = op.size < contents->least ? op.size : contents->least;
        contents->most = op.size > contents->most ? op.size : contents->most;
    }
    if (rank->count > contents->busiest)
        contents->busiest = rank->count;
}

static struct contents contents_of(const struct oche_goal *goal)
{
    struct contents contents = {.least = UINT64_MAX};

    for (uint32_t i = 0; i < goal->ranks; i++)
        count_rank(&contents, &goal->rank[i]);
    return contents;
}

/* ---- text ---- */

static void print_contents(const struct options *options, const struct oche_schedule_file *about,
                           const struct oche_goal *goal, const struct contents *contents)
{
    char shown[256];

    oche_printable(options->path, shown, sizeof(shown));
    printf("%s: %s, %u ranks; cpus of each: %u, nics: %u\n", shown, about->format, goal->ranks,
           goal->cpus, goal->nics);
    printf("operations    %" PRIu64 ": %" PRIu64 " sends, %" PRIu64 " receives, %" PRIu64
           " calculations; at most %" PRIu64 " of a rank\n",
           goal->operations, contents->count[OCHE_GOAL_SEND], contents->count[OCHE_GOAL_RECV],
           contents->count[OCHE_GOAL_CALC], contents->busiest);
    printf("dependencies  %" PRIu64 "\n", contents->dependencies);
    if (contents->count[OCHE_GOAL_SEND] > 0)
        printf("messages      %" PRIu64 " bytes in all, of %" PRIu64 " to %" PRIu64 " bytes\n",
               contents->bytes, contents->least, contents->most);
    if (contents->count[OCHE_GOAL_CALC] > 0)
        printf("calculations  %" PRIu64 " ns in all\n", contents->calc_ns);
    if (about->remark[0] != '\0')
        printf("assumed       %s\n", about->remark);
}

/* Writes how an operation reads: "recv 8b from 0 tag 5". */
static void print_op(const struct oche_goal_op *op)
{
    printf("%s %" PRIu64, oche_goal_type_name(op->type), op->size);
    if (op->type == OCHE_GOAL_CALC)
        return;
    printf("b %s ", op->type == OCHE_GOAL_SEND ? "to" : "from");
    if (op->peer == OCHE_GOAL_ANY)
        printf("any");
    else
        printf("%u", op->peer);
    if (op->tag == OCHE_GOAL_ANY)
        printf(" tag any");
    else
        printf(" tag %u", op->tag);
}

static void print_end(const struct options *options, const struct oche_goal *goal,
                      const struct oche_loggops_result *result)
{
    const struct oche_loggops *m = &options->model;

    printf("LogGOPS       L=%" PRIu64 " o=%" PRIu64 " g=%" PRIu64 " G=%" PRIu64 " O=%" PRIu64, m->L,
           m->o, m->g, m->G, m->O);
    if (m->S < UINT64_MAX - 1)
        printf(" S=%" PRIu64, m->S);
    printf(": ");
    if (result->left == 0)
        printf("ends after %" PRIu64 " ns\n", result->end_ns);
    else
        printf("stops after %" PRIu64 " ns; %" PRIu64 " operations are left\n", result->end_ns,
               result->left);
    if (result->receives > 0) {
        const struct oche_goal_op op = oche_goal_op(&goal->rank[result->receiver], result->receive);

        printf("%" PRIu64 " receives get no message; the first: rank %u, ", result->receives,
               result->receiver);
        print_op(&op);
        putchar('\n');
    }
    if (result->messages > 0)
        printf("%" PRIu64 " messages have no receive; the first: from rank %u to %u, tag %u\n",
               result->messages, result->sender, result->target, result->tag);
}

/* ---- JSON ---- */

static void print_json(const struct options *options, const struct oche_schedule_file *about,
                       const struct oche_goal *goal, const struct contents *contents,
                       const struct oche_loggops_result *result)
{
    struct json_object *object = oche_json_object();

    oche_json_add_text(object, "file", options->path);
    oche_json_add_text(object, "format", about->format);
    oche_json_add_text(object, "remark", about->remark);
    oche_json_add_int(object, "ranks", goal->ranks);
    oche_json_add_int(object, "cpus", goal->cpus);
    oche_json_add_int(object, "nics", goal->nics);
    oche_json_add_int(object, "operations", goal->operations);
    oche_json_add_int(object, "sends", contents->count[OCHE_GOAL_SEND]);
    oche_json_add_int(object, "receives", contents->count[OCHE_GOAL_RECV]);
    oche_json_add_int(object, "calculations", contents->count[OCHE_GOAL_CALC]);
    oche_json_add_int(object, "dependencies", contents->dependencies);
    oche_json_add_int(object, "bytes", contents->bytes);
    oche_json_add_int(object, "end_ns", result->end_ns);
    oche_json_add_int(object, "operations_left", result->left);
    oche_json_add_int(object, "receives_without_message", result->receives);
    oche_json_add_int(object, "messages_without_receive", result->messages);
    oche_json_print(object, stdout);
    putchar('\n');
}

int oche_cmd_import(int argc, char **argv)
{
    struct options options = {.model = OCHE_LOGGOPS_DEFAULT};
    struct oche_loggops_result result;
    struct contents contents;
    struct oche_schedule_file about;
    struct oche_goal goal;
    struct oche_error error;
    int status;

    oche_param_defaults(&oche_schedule_reading_table, &options.reading);
    if (!oche_parse_arguments(&arguments, argc, argv, 0, &options))
        return 2;
    if (!oche_schedule_open(&goal, options.path, &options.reading, &about, &error)) {
        oche_print_error("oche import: %s", error.text);
        return 2;
    }
    options.model.whole = about.eager;
    if (about.eager && !options.given_S)
        options.model.S = UINT64_MAX - 1;
    contents = contents_of(&goal);
    oche_loggops_run(&goal, &options.model, &result);
    if (options.json) {
        print_json(&options, &about, &goal, &contents, &result);
    } else {
        print_contents(&options, &about, &goal, &contents);
        print_end(&options, &goal, &result);
    }
    status = result.left > 0 || result.messages > 0;
    free(result.rank_ns);
    oche_goal_close(&goal);
    return status;
}
