/* SPDX-License-Identifier: Apache-2.0 */
/* Computes goodputs by pair of hosts: first finds the pairs, then takes each pair's flows. */
#include "lab/measures/pairs.h"

#include <math.h>
#include <stdlib.h>

#include "sim/engine/sparse_memory.h"
#include "sim/measure/percentile.h"

/* Returns the pair's row, created if it is new; OCHE_MOST_PAIRS if there is no room. */
static uint32_t row_of(struct oche_pair_row *rows, uint32_t *count, uint32_t src, uint32_t dst)
{
    uint32_t i = 0;

    while (i < *count && (rows[i].src != src || rows[i].dst != dst))
        i++;
    if (i == *count && i < OCHE_MOST_PAIRS)
        rows[(*count)++] = (struct oche_pair_row){.src = src, .dst = dst};
    return i;
}

/* True if the flow belongs to the row's pair of hosts, and its turn came after warm-up. */
static bool is_of(const struct oche_world *world, const oche_time *turn,
                  const struct oche_pair_row *row, uint32_t flow)
{
    const struct oche_flows *flows = oche_world_flows(world);

    return flows->plan[flow].src == row->src && flows->plan[flow].dst == row->dst &&
           turn[flow] != OCHE_NEVER && turn[flow] >= oche_world_config(world)->run.warmup;
}

/*
 * Finds when each flow's turn came: at its start, or when the previous flow on its queue pair
 * ended, if that was later.
 */
static oche_time *find_turns(const struct oche_flows *flows)
{
    oche_time *turn = oche_sparse_take(((size_t)flows->count + 1) * sizeof(*turn));

    OCHE_GOT(turn != NULL);
    for (OCHE_EACH_MADE_FLOW(i, flows))
        turn[i] = flows->sent[i].started;
    for (OCHE_EACH_MADE_CONNECTION(c, flows)) {
        const struct oche_connection *connection = &flows->connections[c];
        const uint32_t *order = &flows->order[connection->first];

        for (uint32_t k = 1; k < connection->queued; k++) {
            oche_time before = flows->received[order[k - 1]].delivered;

            if (before > turn[order[k]])
                turn[order[k]] = before;
        }
    }
    return turn;
}

/*
 * Returns the time from a flow's turn to its delivery, its failure, or the end of the run; 0 if its
 * turn never came.
 */
static oche_time life_of(const struct oche_world *world, const oche_time *turn, uint32_t flow)
{
    const struct oche_flows *flows = oche_world_flows(world);
    oche_time end = flows->received[flow].delivered;

    if (end == OCHE_NEVER)
        end = flows->sent[flow].failed != 0 ? flows->sent[flow].completed
                                            : oche_world_network(world)->now;
    return end > turn[flow] ? end - turn[flow] : 0;
}

/* Counts the pair's flows. Returns the longest time from a turn to its flow's delivery. */
static oche_time count_flows(const struct oche_world *world, const oche_time *turn,
                             struct oche_pair_row *row)
{
    const struct oche_flows *flows = oche_world_flows(world);
    oche_time longest = 0;

    for (OCHE_EACH_MADE_FLOW(i, flows)) {
        if (!is_of(world, turn, row, i))
            continue;
        bool delivered = flows->received[i].delivered != OCHE_NEVER;
        oche_time life = life_of(world, turn, i);

        row->started++;
        row->delivered += delivered;
        row->failed += !delivered && flows->sent[i].failed != 0;
        if (delivered && life > longest)
            longest = life;
    }
    return longest;
}

static void take_pair(const struct oche_world *world, const oche_time *turn,
                      struct oche_pair_row *row)
{
    const struct oche_flows *flows = oche_world_flows(world);
    oche_time longest = count_flows(world, turn, row);
    double *goodput = malloc((row->started + 1) * sizeof(*goodput)), sum = 0;

    OCHE_GOT(goodput != NULL);
    for (OCHE_EACH_MADE_FLOW(i, flows)) {
        oche_time life = is_of(world, turn, row, i) ? life_of(world, turn, i) : 0;
        bool ended = flows->received[i].delivered != OCHE_NEVER || flows->sent[i].failed != 0;

        if (life == 0 || (!ended && life <= longest))
            continue;
        goodput[row->counted] =
            (double)oche_world_flow_bytes(world, i) * 8 * (double)OCHE_SEC / (double)life;
        sum += goodput[row->counted++];
    }
    oche_sort_real(goodput, row->counted);
    row->least = row->p10 = row->median = row->p90 = row->most = row->mean = NAN;
    if (row->counted > 0) {
        row->least = goodput[0];
        row->p10 = oche_percentile_real(goodput, row->counted, 100);
        row->median = oche_percentile_real(goodput, row->counted, 500);
        row->p90 = oche_percentile_real(goodput, row->counted, 900);
        row->most = goodput[row->counted - 1];
        row->mean = sum / (double)row->counted;
    }
    free(goodput);
}

uint32_t oche_pairs_take(const struct oche_world *world, struct oche_pair_row *rows)
{
    const struct oche_flows *flows = oche_world_flows(world);
    struct oche_flow_walk walk = oche_flow_walk(flows);
    const struct oche_flow_plan *plan;
    uint32_t count = 0;

    while ((plan = oche_flow_walk_next(&walk)) != NULL)
        if (row_of(rows, &count, plan->src, plan->dst) == OCHE_MOST_PAIRS)
            return 0;
    oche_time *turn = find_turns(flows);

    for (uint32_t i = 0; i < count; i++)
        take_pair(world, turn, &rows[i]);
    oche_sparse_free(turn);
    return count;
}
