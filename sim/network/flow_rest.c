/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flows that are over, and connections that have delivered all their flows, are moved out of memory
 * in blocks (sim/engine/spill.h). A block is moved when everything in it is over. It may still be
 * written later.
 */
#include <stdlib.h>

#include "sim/engine/spill.h"
#include "sim/network/flow.h"

#define BLOCK 4096      /* flows, or connections */
#define FIRST (1 << 16) /* so many flows must be over before any is moved */
#define EVERY (1 << 14)
#define MOVED UINT32_MAX

struct oche_flow_rest {
    struct oche_spill spill;
    uint64_t looked; /* how many flows were over when it was last looked */
    uint32_t flow_blocks, connection_blocks;
    /* For each block how many of its first entries are over; MOVED: it is moved. */
    uint32_t *over_flows, *over_connections;
};

/* A piece of an array that is of oche_sparse_take. */
struct piece {
    char *at;
    size_t bytes;
};

static struct piece piece_of(void *array, size_t entry_bytes, uint32_t block)
{
    return (struct piece){.at = (char *)array + (size_t)block * BLOCK * entry_bytes,
                          .bytes = array == NULL ? 0 : BLOCK * entry_bytes};
}

#define PIECE(array, block) piece_of(array, sizeof(*(array)), block)
#define PIECES              4

static void flow_pieces(const struct oche_flows *flows, uint32_t block, struct piece pieces[PIECES])
{
    pieces[0] = PIECE(flows->owned_plan, block);
    pieces[1] = PIECE(flows->sent, block);
    pieces[2] = PIECE(flows->received, block);
    pieces[3] = PIECE(flows->paths, block);
}

static bool is_flow_over(const struct oche_flows *flows, uint32_t flow)
{
    return oche_flow_is_made(flows, flow) && flows->sent[flow].completed != OCHE_NEVER;
}

static bool is_connection_over(const struct oche_flows *flows, uint32_t number)
{
    const struct oche_flow_source *source = oche_flows_source_of_connection(flows, number);
    const struct oche_connection *connection = &flows->connections[number];

    if (source != NULL && number - source->connection >= source->made)
        return false; /* it is not made */
    return connection->count > 0 && connection->delivered == connection->count;
}

/*
 * Continues to count the entries at the beginning of a block that are over. Returns true if all
 * entries are.
 */
static bool is_block_over(const struct oche_flows *flows, uint32_t block, uint32_t *over,
                          bool (*is_over)(const struct oche_flows *flows, uint32_t number))
{
    while (*over < BLOCK && is_over(flows, block * BLOCK + *over))
        (*over)++;
    return *over == BLOCK;
}

static struct oche_flow_rest *make_rest(const struct oche_flows *flows)
{
    struct oche_flow_rest *rest = calloc(1, sizeof(*rest));

    if (rest == NULL)
        return NULL;
    rest->flow_blocks = flows->count / BLOCK;
    rest->connection_blocks = flows->connection_count / BLOCK;
    rest->over_flows = calloc(rest->flow_blocks + 1, sizeof(*rest->over_flows));
    rest->over_connections = calloc(rest->connection_blocks + 1, sizeof(*rest->over_connections));
    oche_spill_open(&rest->spill);
    if (rest->over_flows == NULL || rest->over_connections == NULL)
        oche_spill_close(&rest->spill);
    return rest;
}

uint64_t oche_flows_next_move(const struct oche_flows *flows)
{
    return flows->rest == NULL ? FIRST : flows->rest->looked + EVERY;
}

void oche_flows_move_over(struct oche_flows *flows, uint64_t over)
{
    struct oche_flow_rest *rest = flows->rest;

    if (over < FIRST || (rest != NULL && over - rest->looked < EVERY))
        return;
    if (rest == NULL)
        rest = flows->rest = make_rest(flows);
    if (rest == NULL)
        return;
    rest->looked = over;
    for (uint32_t b = 0; rest->spill.file >= 0 && b < rest->flow_blocks; b++) {
        struct piece pieces[PIECES];

        if (rest->over_flows[b] == MOVED ||
            !is_block_over(flows, b, &rest->over_flows[b], is_flow_over))
            continue;
        flow_pieces(flows, b, pieces);
        for (unsigned i = 0; i < PIECES; i++)
            oche_spill_move(&rest->spill, pieces[i].at, pieces[i].bytes);
        if (rest->spill.file >= 0)
            rest->over_flows[b] = MOVED;
    }
    for (uint32_t b = 0; rest->spill.file >= 0 && b < rest->connection_blocks; b++) {
        struct piece piece = PIECE(flows->connections, b);

        if (rest->over_connections[b] != MOVED &&
            is_block_over(flows, b, &rest->over_connections[b], is_connection_over) &&
            oche_spill_move(&rest->spill, piece.at, piece.bytes))
            rest->over_connections[b] = MOVED;
    }
}

void oche_flows_read_flow(const struct oche_flows *flows, uint32_t flow)
{
    const struct oche_flow_rest *rest = flows->rest;
    const uint32_t block = flow / BLOCK - 1;
    struct piece pieces[PIECES];

    if (rest == NULL || flow % BLOCK != 0 || flow == 0 || block >= rest->flow_blocks ||
        rest->over_flows[block] != MOVED)
        return;
    flow_pieces(flows, block, pieces);
    for (unsigned i = 0; i < PIECES; i++)
        oche_spill_rest(pieces[i].at, pieces[i].bytes);
}

void oche_flows_read_connection(const struct oche_flows *flows, uint32_t connection)
{
    const struct oche_flow_rest *rest = flows->rest;
    const uint32_t block = connection / BLOCK - 1;

    if (rest == NULL || connection % BLOCK != 0 || connection == 0 ||
        block >= rest->connection_blocks || rest->over_connections[block] != MOVED)
        return;
    struct piece piece = PIECE(flows->connections, block);
    oche_spill_rest(piece.at, piece.bytes);
}

void oche_flows_free_rest(struct oche_flows *flows)
{
    struct oche_flow_rest *rest = flows->rest;

    if (rest == NULL)
        return;
    oche_spill_close(&rest->spill);
    free(rest->over_flows);
    free(rest->over_connections);
    free(rest);
    flows->rest = NULL;
}
