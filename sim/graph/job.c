/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs; see job.h. */
#include "sim/graph/job.h"

#include <stdlib.h>

#include "params/error.h"

#define MOST_FLOWS (UINT32_C(1) << 28)
#define CHUNK      64 /* flows; the last one of a rank has fewer */

static void *make(size_t count, size_t bytes)
{
    void *memory = calloc(count == 0 ? 1 : count, bytes);

    OCHE_GOT(memory != NULL);
    return memory;
}

/* Lists the ranks of each host. */
static void list_hosts(struct oche_job *job)
{
    const uint32_t ranks = job->goal.ranks;

    job->first_on = make((size_t)job->hosts + 1, sizeof(*job->first_on));
    job->on_host = make(ranks, sizeof(*job->on_host));
    job->local_of = make(ranks, sizeof(*job->local_of));
    for (uint32_t i = 0; i < ranks; i++) {
        OCHE_MUST(job->host_of[i] < job->hosts);
        job->local_of[i] = job->first_on[job->host_of[i] + 1]++;
        if (job->local_of[i] >= job->local_most)
            job->local_most = job->local_of[i] + 1;
    }
    for (uint32_t i = 0; i < job->hosts; i++)
        job->first_on[i + 1] += job->first_on[i];
    for (uint32_t i = 0; i < ranks; i++)
        job->on_host[job->first_on[job->host_of[i]] + job->local_of[i]] = i;
}

static bool check_send(const struct oche_job *job, uint32_t rank, uint32_t operation,
                       uint64_t most_bytes, struct oche_error *error)
{
    const struct oche_goal_op op = oche_goal_op(&job->goal.rank[rank], operation);

    if (op.size <= most_bytes)
        return true;
    return oche_fail(error, "rank %u sends %llu bytes at once; at most %llu", rank,
                     (unsigned long long)op.size, (unsigned long long)most_bytes);
}

/* Adds a flow of the send `operation`. */
static void add_send(struct oche_job *job, uint32_t operation, uint64_t *count, uint64_t *room)
{
    if (*count == *room) {
        *room = *room == 0 ? 1024 : 2 * *room;
        job->sends = realloc(job->sends, *room * sizeof(*job->sends));
        OCHE_GOT(job->sends != NULL);
    }
    job->sends[(*count)++] = operation;
}

/* Lists the flows of messages between hosts, rank by rank. */
static bool list_sends(struct oche_job *job, uint64_t most_bytes, struct oche_error *error)
{
    const uint32_t ranks = job->goal.ranks;
    uint64_t count = 0, room = 0;
    bool asks = false;

    job->first_send = make((size_t)ranks + 1, sizeof(*job->first_send));
    for (uint32_t i = 0; i < ranks; i++) {
        for (uint32_t k = 0; k < job->goal.rank[i].count; k++) {
            const struct oche_goal_op op = oche_goal_op(&job->goal.rank[i], k);

            if (op.type != OCHE_GOAL_SEND)
                continue;
            if (!check_send(job, i, k, most_bytes, error))
                return false;
            if (job->host_of[op.peer] == job->host_of[i])
                continue;
            add_send(job, k, &count, &room);
            if (!oche_job_asks(job, op.size))
                continue;
            asks = true;
            for (unsigned part = 1; part < OCHE_JOB_PARTS; part++)
                add_send(job, k, &count, &room);
        }
        if (count > MOST_FLOWS)
            return oche_fail(error,
                             "more than %u messages between hosts, with their requests and "
                             "answers",
                             MOST_FLOWS);
        job->first_send[i + 1] = (uint32_t)count;
    }
    if (asks)
        job->receives = make(count, sizeof(*job->receives));
    return true;
}

/* Numbers the chunks, and in them the flows. */
static void number_chunks(struct oche_job *job)
{
    const uint32_t ranks = job->goal.ranks;
    uint32_t most = 0, next = 0;

    job->first_chunk = make((size_t)ranks + 1, sizeof(*job->first_chunk));
    for (uint32_t i = 0; i < ranks; i++) {
        const uint32_t flows = job->first_send[i + 1] - job->first_send[i];
        const uint32_t chunks = flows / CHUNK + (flows % CHUNK > 0);

        job->first_chunk[i + 1] = job->first_chunk[i] + chunks;
        most = chunks > most ? chunks : most;
    }
    job->chunks = make(job->first_chunk[ranks], sizeof(*job->chunks));
    job->chunk_of = make(job->first_chunk[ranks], sizeof(*job->chunk_of));
    for (uint32_t round = 0; round < most; round++)
        for (uint32_t i = 0; i < ranks; i++) {
            const uint32_t at = job->first_chunk[i] + round, place = round * CHUNK;
            const uint32_t flows = job->first_send[i + 1] - job->first_send[i];

            if (at >= job->first_chunk[i + 1])
                continue;
            job->chunk_of[at] = job->chunk_count;
            job->chunks[job->chunk_count++] =
                (struct oche_job_chunk){.rank = i, .place = place, .number = next};
            next += flows - place < CHUNK ? flows - place : CHUNK;
        }
}

/* Each pair of ranks uses its queue pairs in turn. */
static void choose_channels(struct oche_job *job)
{
    uint32_t *sent = make(job->goal.ranks, sizeof(*sent)); /* to each rank */

    job->channels = make(oche_job_flows(job), sizeof(*job->channels));
    for (uint32_t i = 0; i < job->goal.ranks; i++) {
        for (uint32_t k = job->first_send[i]; k < job->first_send[i + 1]; k++) {
            const uint32_t peer = oche_goal_op(&job->goal.rank[i], job->sends[k]).peer;

            if (k > job->first_send[i] && job->sends[k] == job->sends[k - 1])
                job->channels[k] = job->channels[k - 1]; /* another part of the same message */
            else
                job->channels[k] = (uint8_t)(sent[peer]++ % job->params.channels);
        }
        for (uint32_t k = job->first_send[i]; k < job->first_send[i + 1]; k++)
            sent[oche_goal_op(&job->goal.rank[i], job->sends[k]).peer] = 0;
    }
    free(sent);
}

struct oche_job *oche_job_create(struct oche_goal *goal, uint32_t *host_of, uint32_t hosts,
                                 const struct oche_job_params *params,
                                 const struct oche_job_repeats *repeats, uint64_t most_bytes,
                                 struct oche_error *error)
{
    struct oche_job *job = make(1, sizeof(*job));

    job->goal = *goal;
    job->params = *params;
    job->hosts = hosts;
    job->host_of = host_of;
    job->results = make(goal->ranks, sizeof(*job->results));
    job->ways = make(goal->ranks, sizeof(struct oche_rank *));
    for (uint32_t i = 0; i < goal->ranks; i++)
        job->results[i].ended = OCHE_NEVER;
    if (repeats != NULL)
        job->repeats = *repeats;
    job->begun = make((size_t)goal->ranks * job->repeats.count, sizeof(*job->begun));
    job->ended = make((size_t)goal->ranks * job->repeats.count, sizeof(*job->ended));
    for (size_t i = 0; i < (size_t)goal->ranks * job->repeats.count; i++)
        job->begun[i] = job->ended[i] = OCHE_NEVER;
    list_hosts(job);
    if (list_sends(job, most_bytes, error)) {
        number_chunks(job);
        if (params->channels > 1)
            choose_channels(job);
        return job;
    }
    oche_job_free(job);
    return NULL;
}

void oche_job_keep_details(struct oche_job *job)
{
    const uint32_t phases = job->repeats.count > 0 ? oche_collective_phases(&job->repeats.of) : 0;
    const size_t count = (size_t)job->goal.ranks * job->repeats.count * phases;

    oche_timeline_make(&job->timeline, job->goal.ranks, job->params.start);
    if (phases == 0 || count > OCHE_JOB_PHASES)
        return;
    job->phases = phases;
    job->phase_begun = make(count, sizeof(*job->phase_begun));
    job->phase_ended = make(count, sizeof(*job->phase_ended));
    for (size_t i = 0; i < count; i++)
        job->phase_begun[i] = job->phase_ended[i] = OCHE_NEVER;
}

void oche_job_free(struct oche_job *job)
{
    for (uint32_t i = 0; i < job->goal.ranks; i++)
        if (job->ways[i] != NULL)
            oche_rank_free(job->ways[i]);
    oche_goal_close(&job->goal);
    free(job->ways);
    free(job->results);
    free(job->repeats.begins);
    free(job->repeats.ends);
    free(job->begun);
    free(job->ended);
    free(job->phase_begun);
    free(job->phase_ended);
    oche_timeline_free(&job->timeline);
    free(job->channels);
    free(job->receives);
    free(job->host_of);
    free(job->first_on);
    free(job->on_host);
    free(job->local_of);
    free(job->first_send);
    free(job->sends);
    free(job->chunks);
    free(job->chunk_of);
    free(job->first_chunk);
    free(job);
}

static oche_time serial_of_op(const struct oche_job *job, uint32_t rank, uint32_t number)
{
    const struct oche_goal_op op = oche_goal_op(&job->goal.rank[rank], number);
    oche_time time = job->params.overhead;

    if (op.type == OCHE_GOAL_CALC)
        return op.size < OCHE_NEVER / OCHE_NS ? op.size * OCHE_NS : OCHE_NEVER;
    if (op.type != OCHE_GOAL_SEND)
        return time;

    const bool asks = oche_job_asks(job, op.size); /* then both sides act once more */

    if (asks)
        time = oche_time_add(time, 2 * job->params.overhead);
    if (job->host_of[op.peer] != job->host_of[rank])
        return time;
    if (job->params.local_bps > 0)
        time = oche_time_add(time, oche_time_of_bytes(op.size, job->params.local_bps));
    return oche_time_add(time, (asks ? 3 : 1) * job->params.local_latency);
}

oche_time oche_job_serial(const struct oche_job *job)
{
    oche_time sum = 0;

    for (uint32_t i = 0; i < job->goal.ranks; i++)
        for (uint32_t k = 0; k < job->goal.rank[i].count; k++)
            sum = oche_time_add(sum, serial_of_op(job, i, k));
    return sum;
}

void oche_jobs_free(struct oche_jobs *jobs)
{
    for (uint32_t i = 0; i < jobs->count; i++)
        oche_job_free(jobs->list[i]);
    free(jobs->list);
    *jobs = (struct oche_jobs){.count = 0};
}

void oche_job_finish(struct oche_job *job)
{
    for (uint32_t i = 0; i < job->goal.ranks; i++) {
        struct oche_job_rank *result = &job->results[i];
        const struct oche_match *match;

        if (job->ways[i] == NULL)
            continue;
        match = oche_rank_match(job->ways[i]);
        result->receives = oche_match_posted(match);
        result->messages = oche_match_unexpected(match);
        if (result->receives > 0)
            result->receive = oche_match_first_posted(match).handle;
        if (result->messages > 0) {
            result->sender = oche_match_first_unexpected(match).source;
            result->tag = oche_match_first_unexpected(match).tag;
        }
    }
}

struct oche_job_waits oche_job_waits(const struct oche_job *job)
{
    struct oche_job_waits waits = {.ranks = 0};

    for (uint32_t i = 0; i < job->goal.ranks; i++) {
        const struct oche_job_rank *result = &job->results[i];

        waits.ranks += result->ended == OCHE_NEVER;
        if (result->receives > 0 && waits.receives == 0) {
            waits.receiver = i;
            waits.operation = (uint32_t)result->receive;
        }
        if (result->messages > 0 && waits.messages == 0) {
            waits.sender = (uint32_t)result->sender;
            waits.target = i;
            waits.tag = (uint32_t)result->tag;
        }
        waits.receives += result->receives;
        waits.messages += result->messages;
    }
    return waits;
}

static void add_end(struct oche_job_part *part, uint32_t rank, oche_time ended)
{
    if (ended > part->ended || part->last == UINT32_MAX) {
        part->ended = ended;
        part->last = rank;
    }
}

bool oche_job_repetition(const struct oche_job *job, uint32_t repetition,
                         struct oche_job_part *part)
{
    *part = (struct oche_job_part){.begun = OCHE_NEVER, .last = UINT32_MAX};
    for (uint32_t i = 0; i < job->goal.ranks; i++) {
        const size_t at = (size_t)i * job->repeats.count + repetition;

        part->begun = oche_time_min(part->begun, job->begun[at]);
        add_end(part, i, job->ended[at]);
    }
    return part->ended != OCHE_NEVER;
}

bool oche_job_phase(const struct oche_job *job, uint32_t repetition, uint32_t phase,
                    struct oche_job_part *part)
{
    *part = (struct oche_job_part){.begun = OCHE_NEVER, .last = UINT32_MAX};
    for (uint32_t i = 0; i < job->goal.ranks; i++) {
        const size_t at = ((size_t)i * job->repeats.count + repetition) * job->phases + phase;

        part->begun = oche_time_min(part->begun, job->phase_begun[at]);
        if (job->phase_ended[at] != OCHE_NEVER)
            add_end(part, i, job->phase_ended[at]);
    }
    return part->begun != OCHE_NEVER && part->last != UINT32_MAX;
}

/* Returns the place in `sends` of a flow, and in `rank` whose message it belongs to. */
static uint32_t place_of(const struct oche_job *job, uint32_t number, uint32_t *rank)
{
    uint32_t low = 0, high = job->chunk_count; /* chunks before `low` begin at it or earlier */

    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;

        if (job->chunks[middle].number <= number)
            low = middle + 1;
        else
            high = middle;
    }
    const struct oche_job_chunk *chunk = &job->chunks[low - 1];

    *rank = chunk->rank;
    return job->first_send[chunk->rank] + chunk->place + (number - chunk->number);
}

/* Returns the first place in `sends` of a rank's operation. */
static uint32_t first_place_of(const struct oche_job *job, uint32_t rank, uint32_t operation)
{
    uint32_t low = job->first_send[rank], high = job->first_send[rank + 1];

    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;

        if (job->sends[middle] < operation)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct oche_job_flow oche_job_flow(const struct oche_job *job, uint32_t number)
{
    struct oche_job_flow flow = {.part = OCHE_JOB_DATA};
    const uint32_t place = place_of(job, number, &flow.rank);
    const uint32_t first = job->first_send[flow.rank];

    flow.operation = job->sends[place];
    if (job->receives == NULL)
        return flow;
    if (oche_job_asks(job, oche_goal_op(&job->goal.rank[flow.rank], flow.operation).size)) {
        flow.part = OCHE_JOB_REQUEST;
        for (uint32_t k = place; k > first && job->sends[k - 1] == flow.operation; k--)
            flow.part++;
    }
    return flow;
}

uint32_t oche_job_channel(const struct oche_job *job, uint32_t number)
{
    uint32_t rank;

    return job->channels == NULL ? 0 : job->channels[place_of(job, number, &rank)];
}

uint32_t oche_job_number(const struct oche_job *job, const struct oche_job_flow *flow)
{
    const struct oche_goal_rank *rank = &job->goal.rank[flow->rank];
    uint32_t place = first_place_of(job, flow->rank, flow->operation) - job->first_send[flow->rank];

    if (job->receives != NULL && oche_job_asks(job, oche_goal_op(rank, flow->operation).size))
        place += (uint32_t)flow->part;

    const uint32_t chunk = job->chunk_of[job->first_chunk[flow->rank] + place / CHUNK];

    return job->chunks[chunk].number + place % CHUNK;
}

uint32_t *oche_job_receive(const struct oche_job *job, uint32_t rank, uint32_t operation)
{
    return &job->receives[first_place_of(job, rank, operation) + OCHE_JOB_ANSWER];
}
