/* SPDX-License-Identifier: Apache-2.0 */
/* One end of a RoGUE connection on the bench. */
#include "tests/support/rogue_bench.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/test.h"

static bool post(void *context, unsigned qp, const struct rogue_piece *piece)
{
    struct bench *bench = context;

    if (bench->room == 0)
        return false;
    bench->room--;
    if (piece->number == ROGUE_MARKER) {
        assert_int_equal(piece->bytes, 0);
        assert_true(piece->signaled && bench->failed[qp] > 0);
        bench->markers++;
        bench->marked_qp = qp;
        return true;
    }
    assert_in_range(bench->posted_count, 0, BENCH_NOTES - 1);
    struct bench_piece *note = &bench->posted[bench->posted_count++];
    *note = (struct bench_piece){.piece = *piece, .verb = *piece->verb, .qp = qp};
    note->piece.verb = &note->verb;
    return true;
}

static void note_limit(struct bench *bench, unsigned qp, uint64_t bps, bool reads)
{
    assert_in_range(bench->limit_count, 0, BENCH_NOTES - 1);
    bench->limits[bench->limit_count++] =
        (struct bench_limit){.qp = qp, .bps = bps, .reads = reads};
}

static void limit(void *context, unsigned qp, uint64_t bps)
{
    note_limit(context, qp, bps, false);
}

static void limit_reads(void *context, unsigned qp, uint64_t bps)
{
    note_limit(context, qp, bps, true);
}

static uint64_t line_bytes(void *context, const struct rogue_piece *piece, uint64_t *last_packet)
{
    const struct bench *bench = context;

    *last_packet = piece->bytes > BENCH_MTU ? (piece->bytes - 1) % BENCH_MTU + 1
                                            : piece->bytes + bench->overheads;
    return piece->bytes + bench->overheads;
}

static void ended(void *context, const struct rogue_verb *verb, enum rogue_outcome outcome,
                  int status)
{
    struct bench *bench = context;

    assert_in_range(bench->ended_count, 0, BENCH_NOTES - 1);
    bench->ended[bench->ended_count++] =
        (struct bench_end){.id = verb->id, .outcome = outcome, .status = status};
}

static void fail_qp(void *context, unsigned qp)
{
    struct bench *bench = context;

    bench->failed[qp]++;
}

static void restart(void *context, unsigned qp, uint32_t send_psn, uint32_t recv_psn)
{
    struct bench *bench = context;

    assert_in_range(bench->restart_count, 0, BENCH_NOTES - 1);
    bench->restarts[bench->restart_count++] =
        (struct bench_restart){.qp = qp, .send_psn = send_psn, .recv_psn = recv_psn};
}

static uint32_t new_psn(void *context, unsigned qp, uint32_t epoch)
{
    const struct bench *bench = context;

    /* More bits than a PSN has; the library uses the lower ones. */
    return UINT32_C(0xab000000) + (uint32_t)((uintptr_t)bench->config.status_lost * 0x1000) +
           epoch * 16 + qp;
}

static void answer(void *context, uint32_t imm)
{
    struct bench *bench = context;

    assert_in_range(bench->answer_count, 0, BENCH_NOTES - 1);
    bench->answers[bench->answer_count++] = imm;
}

static void sampled(void *context, enum rogue_direction direction, oche_time rtt, oche_time now)
{
    struct bench *bench = context;

    (void)now;
    bench->sampled[direction]++;
    bench->last_sample = rtt;
}

static void tell(void *context, const struct rogue_resync *message)
{
    struct bench *bench = context;

    assert_in_range(bench->told_count, 0, BENCH_NOTES - 1);
    bench->told[bench->told_count++] = *message;
}

static bool take_limiter(void *context)
{
    struct bench *bench = context;

    return rogue_limiters_take(bench->limiters, &bench->limited);
}

/* The test lets the next one post. */
static void give_limiter(void *context)
{
    struct bench *bench = context;

    rogue_limiters_give(bench->limiters, &bench->limited);
}

static bool limiter_wanted(void *context)
{
    const struct bench *bench = context;

    return rogue_limiters_wanted(bench->limiters);
}

static const struct rogue_port port = {
    .post = post,
    .limit = limit,
    .limit_reads = limit_reads,
    .line_bytes = line_bytes,
    .ended = ended,
    .fail = fail_qp,
    .restart = restart,
    .new_psn = new_psn,
    .answer = answer,
    .tell = tell,
    .sampled = sampled,
    .take_limiter = take_limiter,
    .give_limiter = give_limiter,
    .limiter_wanted = limiter_wanted,
};

void bench_init(struct bench *bench)
{
    memset(bench, 0, sizeof(*bench));
    oche_param_defaults(&rogue_param_table, &bench->params);
    bench->params.anchor_batches = 0;
    bench->room = UINT64_MAX;
    bench->config = (struct rogue_config){
        .params = &bench->params,
        .port = &port,
        .context = bench,
        .token = BENCH_TOKEN,
        .status_lost = BENCH_STATUS,
        .line_rate_bps = BENCH_LINE,
        .peer_line_rate_bps = BENCH_LINE,
        .mtu_bytes = BENCH_MTU,
        .depth = 64,
    };
}

void bench_open(struct bench *bench)
{
    void *memory = malloc(rogue_connection_bytes(&bench->config));

    assert_non_null(memory);
    bench->rogue = rogue_connection_create(memory, &bench->config);
}

void bench_close(struct bench *bench)
{
    free(bench->rogue);
    bench->rogue = NULL;
}

bool bench_post(struct bench *bench, enum rogue_verb_kind kind, uint32_t bytes, bool signaled)
{
    struct rogue_verb verb = {
        .id = bench->next_id, .bytes = bytes, .kind = (uint8_t)kind, .signaled = signaled};

    if (!rogue_post(bench->rogue, &verb, bench->now))
        return false;
    bench->next_id++;
    return true;
}

const struct bench_piece *bench_last(const struct bench *bench)
{
    assert_true(bench->posted_count > 0);
    return &bench->posted[bench->posted_count - 1];
}

const struct bench_piece *bench_piece(const struct bench *bench, uint64_t number)
{
    for (unsigned i = bench->posted_count; i-- > 0;)
        if (bench->posted[i].piece.number == number)
            return &bench->posted[i];
    fail_msg("piece %llu was not posted", (unsigned long long)number);
    return NULL;
}

static void completed(struct bench *bench, struct rogue_completion done)
{
    done.qp = bench_piece(bench, done.number)->qp;
    done.completed = bench->now;
    rogue_completed(bench->rogue, &done, bench->now);
}

void bench_complete(struct bench *bench, uint64_t number)
{
    completed(bench, (struct rogue_completion){.number = number, .success = true});
}

void bench_lose(struct bench *bench, uint64_t number)
{
    completed(bench,
              (struct rogue_completion){.number = number, .lost = true, .status = BENCH_STATUS});
}

void bench_err(struct bench *bench, uint64_t number, int status)
{
    completed(bench, (struct rogue_completion){.number = number, .status = status});
}

void bench_flush(struct bench *bench, uint64_t number)
{
    completed(bench, (struct rogue_completion){.number = number, .flushed = true, .status = 5});
}

void bench_flush_from(struct bench *bench, uint64_t number)
{
    uint64_t last = bench_last(bench)->piece.number;

    while (number <= last)
        bench_flush(bench, number++);
}

void bench_flush_marker(struct bench *bench)
{
    struct rogue_completion done = {.number = ROGUE_MARKER,
                                    .completed = bench->now,
                                    .qp = bench->marked_qp,
                                    .status = 5,
                                    .flushed = true};

    assert_true(bench->markers > 0);
    rogue_completed(bench->rogue, &done, bench->now);
}

void bench_lose_from(struct bench *bench, uint64_t number)
{
    uint64_t last = bench_last(bench)->piece.number;

    bench_lose(bench, number);
    while (number++ < last)
        bench_flush(bench, number);
}

void bench_hear(struct bench *bench, enum rogue_resync_kind kind, unsigned qp, uint32_t epoch,
                uint32_t psn)
{
    struct rogue_resync message = {
        .kind = (uint8_t)kind, .qp = (uint8_t)qp, .epoch = epoch, .psn = psn, .token = BENCH_TOKEN};

    rogue_told(bench->rogue, &message, bench->now);
}

unsigned bench_pass(struct bench *from, struct bench *to)
{
    unsigned count = 0;

    while (from->passed < from->told_count) {
        rogue_told(to->rogue, &from->told[from->passed++], to->now);
        count++;
    }
    return count;
}

void bench_settle(struct bench *a, struct bench *b)
{
    unsigned rounds = 0;

    while (bench_pass(a, b) + bench_pass(b, a) > 0)
        assert_in_range(rounds++, 0, 100);
}
