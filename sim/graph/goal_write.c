/* SPDX-License-Identifier: Apache-2.0 */
/* Writes binary schedules; see goal_write.h. */
#include "sim/graph/goal_write.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* An operation of the rank that is being written. */
struct op {
    uint64_t size;
    uint32_t peer, tag, dependencies;
    uint32_t ends, starts; /* how many wait for its end, and for its start */
    uint8_t type, cpu, nic;
};

/* `after` waits for `before`: for its end, or only for its start. */
struct edge {
    uint32_t before, after;
    bool start;
};

struct oche_goal_writer {
    FILE *out;
    uint64_t written; /* bytes behind the cookie */
    uint32_t ranks;
    unsigned cpus, nics;
    uint64_t (*places)[2]; /* by rank: where its block begins and ends */
    struct op *ops;
    struct edge *edges;
    uint32_t op_count, op_room, edge_count, edge_room;
};

/* ---- fields ---- */

static void put32(struct oche_goal_writer *writer, uint64_t value)
{
    const uint8_t bytes[4] = {(uint8_t)value, (uint8_t)(value >> 8), (uint8_t)(value >> 16),
                              (uint8_t)(value >> 24)};

    fwrite(bytes, 1, sizeof(bytes), writer->out);
    writer->written += sizeof(bytes);
}

static void put64(struct oche_goal_writer *writer, uint64_t value)
{
    put32(writer, value & UINT32_MAX);
    put32(writer, value >> 32);
}

static void put8(struct oche_goal_writer *writer, unsigned value)
{
    fputc((int)value, writer->out);
    writer->written++;
}

/* ---- the parts of the file ---- */

static void put_op(struct oche_goal_writer *writer, const struct op *op, uint32_t first)
{
    put32(writer, op->dependencies);
    put8(writer, op->type);
    put32(writer, op->peer);
    put64(writer, op->size);
    put32(writer, op->tag);
    put8(writer, op->cpu);
    put8(writer, op->nic);
    put32(writer, op->ends);
    put32(writer, first);
    put32(writer, op->starts);
    put32(writer, first + op->ends);
}

/* Writes the successors: of each operation those of its end, then those of its start. */
static void put_successors(struct oche_goal_writer *writer)
{
    uint32_t *first = malloc((2 * (size_t)writer->op_count + 1) * sizeof(*first));
    uint32_t *list = malloc(((size_t)writer->edge_count + 1) * sizeof(*list));
    uint32_t next = 0;

    OCHE_GOT(first != NULL && list != NULL);
    for (uint32_t i = 0; i < writer->op_count; i++) {
        first[2 * i] = next;
        first[2 * i + 1] = next + writer->ops[i].ends;
        next += writer->ops[i].ends + writer->ops[i].starts;
    }
    for (uint32_t i = 0; i < writer->edge_count; i++) {
        const struct edge *edge = &writer->edges[i];

        list[first[2 * edge->before + edge->start]++] = edge->after;
    }
    for (uint32_t i = 0; i < writer->edge_count; i++)
        put32(writer, list[i]);
    free(first);
    free(list);
}

/* Writes the head. The first time it only takes the room that it needs. */
static void put_head(struct oche_goal_writer *writer)
{
    put64(writer, OCHE_GOAL_COOKIE);
    writer->written = 0; /* places count from behind the cookie */
    put32(writer, writer->ranks);
    put8(writer, writer->cpus - 1);
    put8(writer, writer->nics - 1);
    for (uint32_t i = 0; i < writer->ranks; i++) {
        put64(writer, writer->places[i][0]);
        put64(writer, writer->places[i][1]);
    }
}

/* ---- for callers ---- */

struct oche_goal_writer *oche_goal_write_begin(uint32_t ranks, struct oche_error *error)
{
    struct oche_goal_writer *writer = calloc(1, sizeof(*writer));

    OCHE_GOT(writer != NULL);
    writer->out = tmpfile();
    if (writer->out == NULL) {
        oche_fail(error, "no temporary file can be made: %s", strerror(errno));
        free(writer);
        return NULL;
    }
    writer->ranks = ranks;
    writer->cpus = writer->nics = 1;
    writer->places = calloc(ranks, sizeof(*writer->places));
    OCHE_GOT(writer->places != NULL);
    put_head(writer);
    return writer;
}

uint32_t oche_goal_write_op(struct oche_goal_writer *writer, const struct oche_goal_op *op)
{
    if (writer->op_count == writer->op_room) {
        writer->op_room = writer->op_room == 0 ? 1024 : 2 * writer->op_room;
        writer->ops = realloc(writer->ops, writer->op_room * sizeof(*writer->ops));
        OCHE_GOT(writer->ops != NULL);
    }
    writer->cpus = op->cpu >= writer->cpus ? op->cpu + 1U : writer->cpus;
    writer->nics = op->nic >= writer->nics ? op->nic + 1U : writer->nics;
    writer->ops[writer->op_count] = (struct op){.type = op->type,
                                                .cpu = op->cpu,
                                                .nic = op->nic,
                                                .peer = op->peer,
                                                .tag = op->tag,
                                                .size = op->size};
    return writer->op_count++;
}

void oche_goal_write_edge(struct oche_goal_writer *writer, uint32_t after, uint32_t before,
                          bool start)
{
    OCHE_MUST(after < writer->op_count && before < writer->op_count);
    if (writer->edge_count == writer->edge_room) {
        writer->edge_room = writer->edge_room == 0 ? 1024 : 2 * writer->edge_room;
        writer->edges = realloc(writer->edges, writer->edge_room * sizeof(*writer->edges));
        OCHE_GOT(writer->edges != NULL);
    }
    writer->edges[writer->edge_count++] =
        (struct edge){.before = before, .after = after, .start = start};
    writer->ops[after].dependencies++;
    if (start)
        writer->ops[before].starts++;
    else
        writer->ops[before].ends++;
}

uint32_t oche_goal_write_count(const struct oche_goal_writer *writer)
{
    return writer->op_count;
}

void oche_goal_write_rank(struct oche_goal_writer *writer, uint32_t rank)
{
    uint32_t roots = 0, first = 0;

    OCHE_MUST(rank < writer->ranks && writer->places[rank][1] == 0);
    writer->places[rank][0] = writer->written;
    for (uint32_t i = 0; i < writer->op_count; i++)
        roots += writer->ops[i].dependencies == 0;
    put32(writer, writer->op_count);
    put32(writer, roots);
    for (uint32_t i = 0; i < writer->op_count; i++)
        if (writer->ops[i].dependencies == 0)
            put32(writer, i);
    for (uint32_t i = 0; i < writer->op_count; i++) {
        put_op(writer, &writer->ops[i], first);
        first += writer->ops[i].ends + writer->ops[i].starts;
    }
    put_successors(writer);
    writer->places[rank][1] = writer->written;
    writer->op_count = writer->edge_count = 0;
}

void oche_goal_write_abort(struct oche_goal_writer *writer)
{
    fclose(writer->out);
    free(writer->places);
    free(writer->ops);
    free(writer->edges);
    free(writer);
}

int oche_goal_write_end(struct oche_goal_writer *writer, struct oche_error *error)
{
    int file = -1;

    writer->op_count = writer->edge_count = 0;
    for (uint32_t i = 0; i < writer->ranks; i++)
        if (writer->places[i][1] == 0)
            oche_goal_write_rank(writer, i); /* it has nothing to do */
    rewind(writer->out);
    put_head(writer);
    if (fflush(writer->out) != 0 || ferror(writer->out))
        oche_fail(error, "the temporary file cannot be written: %s", strerror(errno));
    else
        file = dup(fileno(writer->out));
    oche_goal_write_abort(writer);
    return file;
}
