/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Workloads of SimAI (aliyun/SimAI), as its Workload.cc reads them:
 *
 *     HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 1 pp: 1 vpp: 1 ga: 1
 *         all_gpus: 8 checkpoints: 0 checkpoint_initiates: 0             (all in one line)
 *     2
 *     embedding -1 1000 ALLREDUCE 65536 1 NONE 0 1 NONE 0 100
 *     mlp -1 5000 ALLGATHER 65536 9000 REDUCESCATTER 65536 9000 ALLREDUCE 1048576 100
 *
 * A layer has a name, a number without a meaning, and for each of forward pass, input gradient and
 * weight gradient a time in ns, a collective operation and its bytes; then the time that passes
 * behind each of its operations. All GPUs do the same: the forward passes from the first layer to
 * the last; then, from the last to the first, input gradient and weight gradient. Only the
 * operation of a weight gradient is not waited for. If a layer initiates, the forward passes from
 * the checkpoint before it are done again before its input gradient.
 *
 * Differences: groups of data parallelism are within a stage of the pipeline (SimAI's packet
 * simulation has one stage); a list of checkpoints is read to its end, not its first number again
 * and again. Messages between stages are left out, as there.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "params/input_file.h"
#include "params/text_input.h"
#include "sim/graph/schedule_file.h"

#define HEAD_BYTES  256 /* of a file, to find its format */
#define MOST_BYTES  (256 * OCHE_INPUT_MIB)
#define MOST_SIZE   (UINT64_C(1) << 44)
#define MOST_NS     UINT64_C(1000000000000000)
#define MOST_LAYERS (UINT32_C(1) << 24)
#define LEAST_BLOCK 4096 /* SimAI makes smaller operations of forward passes as large */
#define NONE        UINT32_MAX

enum { COMPUTE_CPU, MESSAGE_CPU, UPDATE_CPU };
enum pass { FORWARD, INPUT, WEIGHT, PASSES };

/* Groups of GPUs. */
enum group { TENSOR, DATA, EXPERT, EXPERT_DATA, GROUPS };

/* A part of a layer. */
struct part {
    uint64_t ns, bytes;                       /* bytes: 0: it has no operation */
    enum oche_collective_operation operation; /* over the GPUs of `group` */
    enum group group;
};

struct layer {
    struct part parts[PASSES];
    uint64_t update_ns;
    bool checkpoint, initiates;
};

struct workload {
    struct oche_text_input input;
    char *rest; /* words of the current line that were not taken yet */
    uint64_t tensor, expert, stages, gpus;
    bool again; /* the policy has checkpoints */
    uint32_t *checkpoints, *initiates;
    uint32_t checkpoint_count, initiate_count;
    unsigned ignored; /* words of the first line */
    struct layer *layers;
    uint32_t layer_count;
};

#define fail(workload, ...) oche_text_fail(&(workload)->input, __VA_ARGS__)

/* ---- the first line ---- */

static const char *const policies[] = {"HYBRID_TRANSFORMER_FWD_IN_BCKWD",
                                       "HYBRID_TRANSFORMER",
                                       "DATA",
                                       "MODEL",
                                       "MICRO",
                                       "HYBRID_DLRM",
                                       "HYBRID_DLRM_ENHANCED",
                                       "HYBRID_DATA_MODEL",
                                       "HYBRID_MODEL_DATA",
                                       "HYBRID_CUSTOMIZED",
                                       "DISTRIBUTED_INFERENCE"};
#define POLICIES_READ 2 /* the first ones */

bool oche_simai_is_workload(const char *path)
{
    char head[HEAD_BYTES + 1];
    const char *word;
    size_t length;

    head[oche_input_head(path, head, HEAD_BYTES)] = '\0';
    word = oche_schedule_behind_mark(head);
    length = strcspn(word, " \t\r\n");
    for (size_t i = 0; i < OCHE_COUNT_OF(policies); i++)
        if (length == strlen(policies[i]) && strncmp(word, policies[i], length) == 0)
            return true;
    return false;
}

static bool to_number(struct workload *w, const char *key, const char *word, uint64_t most,
                      uint64_t *number)
{
    char *end;

    if (word == NULL)
        return fail(w, "%s: the line ends; a number", key);
    if (*word < '0' || *word > '9')
        return fail(w, "%s: \"%.20s\" is no number", key, word);
    errno = 0;
    *number = strtoull(word, &end, 10);
    if (*end != '\0' || errno != 0)
        return fail(w, "%s: \"%.20s\" is no whole number", key, word);
    return *number <= most ||
           fail(w, "%s: %.20s is too large; at most %llu", key, word, (unsigned long long)most);
}

/* Takes the next word of a line; NULL: there is none. */
static char *word_of(char **rest)
{
    char *word;

    while ((word = strsep(rest, " \t")) != NULL && *word == '\0')
        ;
    return word;
}

/* Takes a count and as many numbers of layers. */
static bool take_list(struct workload *w, const char *key, uint32_t **list, uint32_t *count)
{
    const size_t most = w->rest == NULL ? 0 : strlen(w->rest);
    uint64_t number = 0;

    if (!to_number(w, key, word_of(&w->rest), most, &number))
        return false;
    free(*list);
    *list = calloc(number + 1, sizeof(**list));
    OCHE_GOT(*list != NULL);
    *count = (uint32_t)number;
    for (uint32_t i = 0; i < *count; i++) {
        if (!to_number(w, key, word_of(&w->rest), MOST_LAYERS, &number))
            return false;
        (*list)[i] = (uint32_t)number;
    }
    return true;
}

/* Takes the value of a key of the first line. */
static bool take_key(struct workload *w, const char *key)
{
    const struct {
        const char *key;
        uint64_t *number;
    } numbers[] = {{"model_parallel_NPU_group:", &w->tensor},
                   {"ep:", &w->expert},
                   {"pp:", &w->stages},
                   {"all_gpus:", &w->gpus}};

    for (size_t i = 0; i < OCHE_COUNT_OF(numbers); i++)
        if (strcmp(key, numbers[i].key) == 0) {
            if (!to_number(w, key, word_of(&w->rest), OCHE_GOAL_MOST_RANKS, numbers[i].number))
                return false;
            return *numbers[i].number > 0 || fail(w, "%s 0; at least 1", key);
        }
    if (strcmp(key, "checkpoints:") == 0)
        return take_list(w, key, &w->checkpoints, &w->checkpoint_count);
    if (strcmp(key, "checkpoint_initiates:") == 0)
        return take_list(w, key, &w->initiates, &w->initiate_count);
    w->ignored += strcmp(key, "vpp:") != 0 && strcmp(key, "ga:") != 0 &&
                  strncmp(key, "pp_comm", 7) != 0 && (*key < '0' || *key > '9');
    return true;
}

/* Divides the GPUs into groups. `gpus`: as struct oche_schedule_reading has it. */
static bool check_groups(struct workload *w, uint64_t gpus)
{
    const uint64_t least = w->tensor * w->expert;

    if (w->tensor == 0 || w->gpus == 0)
        return fail(w, "%s: is missing; the first line has it and a number",
                    w->tensor == 0 ? "model_parallel_NPU_group" : "all_gpus");
    if (gpus > w->gpus || (gpus > 0 && gpus % least != 0))
        return fail(w, "gpus: %llu; a multiple of model_parallel_NPU_group x ep = %llu, up to %llu",
                    (unsigned long long)gpus, (unsigned long long)least,
                    (unsigned long long)w->gpus);
    if (gpus > 0) {
        w->gpus = gpus;
        w->stages = 1;
    }
    if (w->gpus % (least * w->stages) != 0)
        return fail(w,
                    "all_gpus: %llu; a multiple of model_parallel_NPU_group x ep x pp = %llu x "
                    "%llu x %llu",
                    (unsigned long long)w->gpus, (unsigned long long)w->tensor,
                    (unsigned long long)w->expert, (unsigned long long)w->stages);
    return true;
}

static bool read_first(struct workload *w, uint64_t gpus)
{
    char *policy, *key;

    w->rest = oche_text_next(&w->input);
    policy = word_of(&w->rest);
    if (policy == NULL)
        return fail(w, "is empty; the first line has a policy");
    for (size_t i = POLICIES_READ; i < OCHE_COUNT_OF(policies); i++)
        if (strcmp(policy, policies[i]) == 0)
            return fail(w, "the policy %s is not read; %s and %s are", policy, policies[0],
                        policies[1]);
    w->again = strcmp(policy, policies[0]) == 0;
    w->expert = w->stages = 1;
    while ((key = word_of(&w->rest)) != NULL)
        if (!take_key(w, key))
            return false;
    return check_groups(w, gpus);
}

/* ---- layers ---- */

/* Takes the next word of the file; NULL: it ends. Layers may go on over lines. */
static char *next_word(struct workload *w)
{
    char *word;

    while ((word = word_of(&w->rest)) == NULL)
        if ((w->rest = oche_text_next(&w->input)) == NULL)
            return NULL;
    return word;
}

static bool take_number(struct workload *w, const char *name, uint64_t most, uint64_t *number)
{
    char *word = next_word(w);

    if (word == NULL)
        return fail(w, "the file ends within layer %u of those that the second line says; %s",
                    w->layer_count, name);
    return to_number(w, name, word, most, number);
}

/* Reads "ALLGATHER_EP": an operation and the GPUs that do it. */
static bool to_operation(struct workload *w, const char *word, enum pass pass, struct part *part)
{
    static const struct {
        const char *name;
        enum oche_collective_operation operation;
    } operations[] = {{"ALLREDUCE", OCHE_ALL_REDUCE},
                      {"ALLTOALL", OCHE_ALL_TO_ALL},
                      {"ALLGATHER", OCHE_ALL_GATHER},
                      {"REDUCESCATTER", OCHE_REDUCE_SCATTER}};
    static const char *const suffixes[] = {
        [TENSOR] = "", [EXPERT] = "_EP", [EXPERT_DATA] = "_DP_EP", [DATA] = NULL};
    const size_t length = strcspn(word, "_");

    for (size_t i = 0; i < OCHE_COUNT_OF(operations); i++) {
        if (strlen(operations[i].name) != length || strncmp(word, operations[i].name, length) != 0)
            continue;
        part->operation = operations[i].operation;
        for (unsigned k = 0; k < GROUPS; k++)
            if (suffixes[k] != NULL && strcmp(word + length, suffixes[k]) == 0) {
                part->group = k == TENSOR && pass == WEIGHT ? DATA : (enum group)k;
                return true;
            }
        return fail(w, "\"%.30s\": the suffix is not known; none, _EP and _DP_EP are", word);
    }
    return fail(
        w, "\"%.30s\" is not known; NONE, ALLREDUCE, ALLTOALL, ALLGATHER, REDUCESCATTER are", word);
}

static bool read_part(struct workload *w, enum pass pass, struct part *part)
{
    char *word;

    if (!take_number(w, "a time in ns", MOST_NS, &part->ns))
        return false;
    word = next_word(w);
    if (word == NULL)
        return fail(w, "the file ends within layer %u; an operation", w->layer_count);
    if (strcmp(word, "NONE") != 0) {
        if (!to_operation(w, word, pass, part))
            return false;
        return take_number(w, "bytes of the operation", MOST_SIZE, &part->bytes);
    }
    if (!take_number(w, "bytes of the operation", MOST_SIZE, &part->bytes))
        return false;
    part->bytes = 0;
    return true;
}

static bool read_layer(struct workload *w, struct layer *layer)
{
    char *word = next_word(w);

    if (word != NULL)
        word = next_word(w); /* the number behind the name is not used */
    if (word == NULL)
        return fail(w, "the file ends after %u layers; the second line says more", w->layer_count);
    for (unsigned i = 0; i < PASSES; i++)
        if (!read_part(w, (enum pass)i, &layer->parts[i]))
            return false;
    if (w->again && layer->parts[FORWARD].bytes > 0 && layer->parts[FORWARD].bytes < LEAST_BLOCK)
        layer->parts[FORWARD].bytes = LEAST_BLOCK;
    return take_number(w, "the time behind an operation, in ns", MOST_NS, &layer->update_ns);
}

/* Marks the layers that a list of the first line names. */
static bool mark(struct workload *w, const uint32_t *list, uint32_t count, bool initiates)
{
    for (uint32_t i = 0; w->again && i < count; i++) {
        if (list[i] >= w->layer_count)
            return fail(w, "%s %u: there are only %u layers, from 0",
                        initiates ? "checkpoint_initiates:" : "checkpoints:", list[i],
                        w->layer_count);
        if (initiates)
            w->layers[list[i]].initiates = true;
        else
            w->layers[list[i]].checkpoint = true;
    }
    return true;
}

/* Each layer that initiates has a checkpoint at or before it. */
static bool check_checkpoints(struct workload *w)
{
    bool any = false;

    if (!mark(w, w->checkpoints, w->checkpoint_count, false) ||
        !mark(w, w->initiates, w->initiate_count, true))
        return false;
    for (uint32_t i = 0; i < w->layer_count; i++) {
        any = any || w->layers[i].checkpoint;
        if (w->layers[i].initiates && !any)
            return fail(w, "checkpoint_initiates: %u: no layer up to it is in checkpoints:", i);
    }
    return true;
}

static bool read_layers(struct workload *w)
{
    uint64_t count = 0;
    uint32_t room = 0;

    w->rest = oche_text_next(&w->input);
    if (!to_number(w, "the second line", word_of(&w->rest), MOST_LAYERS, &count))
        return false;
    w->rest = NULL; /* of this line only the first word is read */
    if (count == 0)
        return fail(w, "the second line: 0 layers; at least 1");
    for (; w->layer_count < count; w->layer_count++) {
        if (w->layer_count == room) {
            room = room == 0 ? 64 : 2 * room;
            w->layers = realloc(w->layers, room * sizeof(*w->layers));
            OCHE_GOT(w->layers != NULL);
        }
        w->layers[w->layer_count] = (struct layer){.update_ns = 0};
        if (!read_layer(w, &w->layers[w->layer_count]))
            return false;
    }
    if (next_word(w) != NULL)
        return fail(w, "there is more behind the %u layers that the second line says",
                    w->layer_count);
    w->input.line = 1; /* the errors from here on are about it */
    return check_checkpoints(w);
}

/* ---- the schedule ---- */

/* A rank that is being written. */
struct writing {
    const struct workload *w;
    const struct oche_schedule_reading *reading;
    unsigned *others;             /* as struct oche_schedule_file has it */
    struct oche_goal_writer *out; /* NULL: operations are only counted */
    uint64_t most;                /* operations of a rank */
    uint32_t rank;
    uint32_t last; /* the next operation waits for this one; or NONE */
    uint32_t tag;
};

/* Returns how many GPUs a group has. */
static uint32_t size_of(const struct workload *w, enum group group)
{
    const uint64_t data = w->gpus / (w->tensor * w->stages);
    const uint64_t sizes[] = {[TENSOR] = w->tensor,
                              [DATA] = data,
                              [EXPERT] = w->expert,
                              [EXPERT_DATA] = data / w->expert};

    return (uint32_t)sizes[group];
}

/*
 * Returns the group's number of GPUs between neighbours. GPUs are numbered by their place in the
 * tensor group first, then in the expert group, then in that of expert data, then by stage.
 */
static uint32_t stride_of(const struct workload *w, enum group group)
{
    const uint64_t strides[] = {[TENSOR] = 1,
                                [DATA] = w->tensor,
                                [EXPERT] = w->tensor,
                                [EXPERT_DATA] = w->tensor * w->expert};

    return (uint32_t)strides[group];
}

static void calculate(struct writing *g, uint64_t ns, uint8_t cpu, uint32_t *after)
{
    const struct oche_goal_op op = {.type = OCHE_GOAL_CALC, .size = ns, .cpu = cpu};
    uint32_t number;

    g->most++;
    if (ns == 0 || g->out == NULL)
        return;
    number = oche_goal_write_op(g->out, &op);
    if (*after != NONE)
        oche_goal_write_edge(g->out, number, *after, false);
    *after = number;
}

/* Adds a part of a layer; `waits`: the parts behind it wait for its operation. */
static void add_part(struct writing *g, const struct layer *layer, enum pass pass, bool waits)
{
    const struct part *part = &layer->parts[pass];
    const uint32_t count = size_of(g->w, part->group);
    struct oche_collective of;
    uint32_t begin, end;

    calculate(g, part->ns, COMPUTE_CPU, &g->last);
    if (part->bytes == 0 || count < 2)
        return;
    of = oche_schedule_collective(g->reading, part->operation, count, part->bytes, g->others);
    g->most += oche_collective_most(&of);
    if (g->out == NULL) {
        g->most++;
        return;
    }
    const uint32_t stride = stride_of(g->w, part->group), index = g->rank / stride % count;
    const struct oche_collective_place place = {.writer = g->out,
                                                .first_rank = g->rank - index * stride,
                                                .stride = stride,
                                                .index = index,
                                                .first_tag = oche_schedule_tags(&g->tag, 0, &of),
                                                .cpu = MESSAGE_CPU};

    oche_collective_add(&of, &place, &begin, &end);
    if (g->last != NONE)
        oche_goal_write_edge(g->out, begin, g->last, false);
    calculate(g, layer->update_ns, UPDATE_CPU, &end);
    if (waits)
        g->last = end;
}

/* Adds the forward passes from the last checkpoint up to `before`, or to one that initiates. */
static void add_again(struct writing *g, uint32_t before)
{
    const struct layer *layers = g->w->layers;
    uint32_t i = before;

    while (!layers[i].checkpoint)
        i--;
    do
        add_part(g, &layers[i++], FORWARD, true);
    while (i <= before && !layers[i].initiates);
}

/* True if all GPUs together have more operations than a file may. */
static bool are_too_many(const struct writing *g)
{
    return g->most > oche_schedule_most(g->reading) / g->w->gpus;
}

static void add_layers(struct writing *g)
{
    const struct workload *w = g->w;

    g->last = NONE;
    g->tag = 0;
    for (uint32_t i = 0; i < w->layer_count; i++)
        add_part(g, &w->layers[i], FORWARD, true);
    for (uint32_t i = w->layer_count; i-- > 0 && !are_too_many(g);) {
        if (w->layers[i].initiates)
            add_again(g, i);
        add_part(g, &w->layers[i], INPUT, true);
        add_part(g, &w->layers[i], WEIGHT, false);
    }
}

static bool check_most(struct workload *w, const struct oche_schedule_reading *reading,
                       unsigned *others)
{
    struct writing counting = {.w = w, .reading = reading, .others = others};

    add_layers(&counting);
    if (!are_too_many(&counting))
        return true;
    return fail(w,
                "all_gpus: %llu have more than %llu operations in all; take fewer by `gpus`, a "
                "multiple of %llu, or fewer `chunks`",
                (unsigned long long)w->gpus, (unsigned long long)oche_schedule_most(reading),
                (unsigned long long)(w->tensor * w->expert));
}

static bool write_all(struct workload *w, const struct oche_schedule_reading *reading,
                      struct oche_goal *goal, const char *path, struct oche_schedule_file *about,
                      struct oche_error *error)
{
    const uint32_t gpus = (uint32_t)w->gpus;
    struct writing g = {.w = w, .reading = reading, .others = &about->others};
    int file;

    if (!check_most(w, reading, &about->others))
        return false;
    g.out = oche_goal_write_begin(gpus, error);
    if (g.out == NULL)
        return false;
    for (g.rank = 0; g.rank < gpus; g.rank++) {
        g.most = 0;
        add_layers(&g);
        oche_goal_write_rank(g.out, g.rank);
    }
    file = oche_goal_write_end(g.out, error);
    return file >= 0 && oche_goal_adopt(goal, file, path, error);
}

static void remark(const struct workload *w, struct oche_schedule_file *about)
{
    oche_schedule_remark(about,
                         "groups have %u (model parallel), %u (data parallel), %u (ep), %u "
                         "(data parallel of ep) GPUs",
                         size_of(w, TENSOR), size_of(w, DATA), size_of(w, EXPERT),
                         size_of(w, EXPERT_DATA));
    if (w->stages > 1)
        oche_schedule_remark(about, "pp: %llu stages side by side, without messages between them",
                             (unsigned long long)w->stages);
    if (w->ignored > 0)
        oche_schedule_remark(about, "%u words of line 1 are not known and ignored", w->ignored);
}

bool oche_simai_open(struct oche_goal *goal, const char *path,
                     const struct oche_schedule_reading *reading, struct oche_schedule_file *about,
                     struct oche_error *error)
{
    struct oche_input_file file;
    struct oche_error why;
    struct workload w = {.gpus = 0};
    bool good;

    if (!oche_input_read(&file, path, MOST_BYTES, &why))
        return oche_fail(error, "%s: %s; a readable file", path, why.text);
    if (!oche_text_begin(&w.input, path, file.text, file.bytes, error)) {
        oche_input_free(&file);
        return false;
    }
    good = read_first(&w, reading->gpus) && read_layers(&w) &&
           write_all(&w, reading, goal, path, about, error);
    if (good)
        remark(&w, about);
    about->eager = true;
    oche_text_end(&w.input);
    oche_input_free(&file);
    free(w.checkpoints);
    free(w.initiates);
    free(w.layers);
    return good;
}
