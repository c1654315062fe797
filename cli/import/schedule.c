/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Schedules, traces and workloads: what is in them, whether their messages meet, and how long they
 * take at least.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/import/import.h"
#include "cli/json_line.h"
#include "cli/refuse.h"
#include "params/printable.h"
#include "sim/graph/schedule_file.h"

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

static void print_contents(const struct oche_import *import, const struct oche_schedule_file *about,
                           const struct oche_goal *goal, const struct contents *contents)
{
    char shown[256];

    oche_printable(import->path, shown, sizeof(shown));
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
    if (about->failure_count > 0)
        printf("failures      %u links of aggregation switches to cores\n", about->failure_count);
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

static void print_end(const struct oche_import *import, const struct oche_goal *goal,
                      const struct oche_loggops_result *result)
{
    const struct oche_loggops *m = &import->model;

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

static void print_json(const struct oche_import *import, const struct oche_schedule_file *about,
                       const struct oche_goal *goal, const struct contents *contents,
                       const struct oche_loggops_result *result)
{
    struct json_object *object = oche_json_object();

    oche_json_add_text(object, "file", import->path);
    oche_json_add_text(object, "format", about->format);
    oche_json_add_text(object, "remark", about->remark);
    oche_json_add_int(object, "failures", about->failure_count);
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
    oche_json_add_text(object, "scenario", import->out);
    oche_json_print(object, stdout);
    putchar('\n');
}

/* ---- a scenario ---- */

static bool write_scenario(struct oche_import *import, const struct oche_goal *goal,
                           bool acknowledged, struct oche_error *error)
{
    const uint32_t each = (goal->ranks + OCHE_IMPORT_MOST_HOSTS - 1) / OCHE_IMPORT_MOST_HOSTS;

    if (import->out == NULL)
        return true;
    oche_import_network(&import->to, (goal->ranks + each - 1) / each, 0);
    oche_translation_set(&import->to, "workload", "type", NULL, "schedule");
    if (each > 1)
        oche_translation_set(&import->to, "workload", "ranks_per_host", NULL, "%u", each);
    if (import->model.S < UINT64_MAX - 1 && !acknowledged) /* of GOAL, or given */
        oche_translation_set(&import->to, "workload", "rendezvous_above", "LogGOPS's S",
                             "%" PRIu64 "B", import->model.S);
    for (unsigned i = 0; i < import->set_count; i++)
        oche_translation_set(&import->to, "workload", import->set[i].key, NULL, "%s",
                             import->set[i].value);
    return oche_import_set_file(import, "workload", "file", NULL, import->path, error) &&
           oche_import_write(import, error);
}

int oche_import_schedule(struct oche_import *import)
{
    struct oche_loggops_result result;
    struct contents contents;
    struct oche_schedule_file about;
    struct oche_goal goal;
    struct oche_error error;
    int status;

    if (!oche_schedule_open(&goal, import->path, &import->reading, &about, &error)) {
        oche_print_error("oche import: %s", error.text);
        return 2;
    }
    import->format = about.format;
    import->model.whole = about.eager;
    if (about.eager && !import->given_S)
        import->model.S = UINT64_MAX - 1;
    if (!write_scenario(import, &goal, about.acknowledged, &error)) {
        oche_print_error("oche import: %s", error.text);
        free(about.failures);
        oche_goal_close(&goal);
        return 2;
    }
    contents = contents_of(&goal);
    oche_loggops_run(&goal, &import->model, &result);
    if (import->json) {
        print_json(import, &about, &goal, &contents, &result);
    } else {
        print_contents(import, &about, &goal, &contents);
        print_end(import, &goal, &result);
        oche_import_print_scenario(import);
    }
    status = result.left > 0 || result.messages > 0;
    free(result.rank_ns);
    free(about.failures);
    oche_goal_close(&goal);
    return status;
}
