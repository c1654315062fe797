/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random work on a reliable queue pair, both ways at once, over a link that drops, doubles and
 * holds back packets: every byte is delivered once and right, every completion comes once and in
 * order, atomics are executed once, the last of several WRITEs to one place wins, and nothing gets
 * stuck. With Go-Back-N, and with selective repeat between peers that know of each other, that find
 * out, and of which one never does. A failure names its seed: test_qp_random SEED runs that one.
 */
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/recovery/go_back_n.h"
#include "core/recovery/selective_repeat.h"
#include "tests/support/pair.h"

#define RUNS          1000
#define WORKS         60
#define SOURCE        (256 * 1024)  /* bytes at the start of each memory that are only read */
#define COUNTER       SOURCE        /* 8 bytes: atomics */
#define SCRATCH       (SOURCE + 64) /* written again and again */
#define SCRATCH_BYTES 3000
#define TARGETS       (SOURCE + 4096) /* from here: each place written once */
#define MAX_LENGTH    9000

/* A piece of memory that must equal a piece of a source at the end. */
struct expectation {
    uint32_t to, from, length;
    int from_side;
};

struct direction {
    uint32_t posted;           /* works */
    uint64_t signalled[WORKS]; /* wr_ids, in order */
    uint8_t opcode[WORKS];
    uint32_t signalled_count, completed;
    uint32_t messages_with_recv; /* that take receives at the peer, so far posted */
    struct {
        uint32_t from, length;
        bool imm;
        uint32_t imm_value;
        bool send;
    } incoming[WORKS];
    uint64_t results[WORKS]; /* of atomics: places in own memory */
    uint32_t atomics;
    uint64_t sent_bytes, read_bytes;
    uint32_t scratch_from; /* of the last WRITE to the scratch area */
    bool scratch_used;
};

struct world {
    struct pair *pair;
    struct oche_random random;
    struct direction to[2]; /* works posted by side s, towards the other */
    uint32_t next_target[2];
    uint32_t recvs_posted[2], recvs_done[2];
    uint32_t recv_place[2][WORKS];
    struct expectation expect[2][2 * WORKS];
    uint32_t expect_count[2];
};

static uint32_t below(struct world *w, uint32_t n)
{
    return (uint32_t)oche_random_below(&w->random, n);
}

static uint32_t pick_length(struct world *w)
{
    uint32_t mtu = w->pair->options.mtu;

    switch (below(w, 6)) {
    case 0:
        return 0;
    case 1:
        return mtu * (1 + below(w, MAX_LENGTH / mtu > 3 ? 3 : MAX_LENGTH / mtu));
    case 2:
        return below(w, 40);
    default:
        return below(w, MAX_LENGTH);
    }
}

static uint32_t take_target(struct world *w, int side, uint32_t length)
{
    uint32_t at = w->next_target[side];

    w->next_target[side] += (length + 7) & ~7u;
    assert_true(w->next_target[side] <= PAIR_MEMORY);
    return at;
}

static void expect(struct world *w, int side, uint32_t to, int from_side, uint32_t from,
                   uint32_t length)
{
    w->expect[side][w->expect_count[side]++] =
        (struct expectation){.to = to, .from = from, .length = length, .from_side = from_side};
}

/* Cuts the one SGE into up to four. */
static void scatter_sges(struct world *w, struct oche_send_work *work)
{
    struct oche_sge whole = work->sge[0];
    uint32_t pieces = 1 + below(w, 4), done = 0;

    for (uint32_t i = 0; i < pieces; i++) {
        uint32_t left = whole.length - done;
        uint32_t length = i == pieces - 1 ? left : below(w, left + 1);
        work->sge[i] =
            (struct oche_sge){.va = whole.va + done, .length = length, .lkey = whole.lkey};
        done += length;
    }
    work->sge_count = (uint8_t)pieces;
}

static void note_incoming(struct direction *d, uint32_t from, uint32_t length, bool imm,
                          uint32_t value, bool send)
{
    uint32_t i = d->messages_with_recv++;

    d->incoming[i].from = from;
    d->incoming[i].length = length;
    d->incoming[i].imm = imm;
    d->incoming[i].imm_value = value;
    d->incoming[i].send = send;
}

static struct oche_send_work make_write(struct world *w, int side, bool imm)
{
    struct direction *d = &w->to[side];
    uint32_t length = pick_length(w), from = below(w, SOURCE - MAX_LENGTH * 4), to;
    bool scratch = !imm && below(w, 4) == 0;

    if (scratch) {
        length = SCRATCH_BYTES;
        to = SCRATCH;
        d->scratch_from = from;
        d->scratch_used = true;
    } else {
        to = take_target(w, 1 - side, length);
        expect(w, 1 - side, to, side, from, length);
    }
    d->sent_bytes += length;
    if (imm)
        note_incoming(d, from, length, true, d->posted, false);
    return pair_work(imm ? OCHE_WORK_WRITE_IMM : OCHE_WORK_WRITE, 0, from, to, length);
}

static struct oche_send_work make_send(struct world *w, int side, bool imm)
{
    struct direction *d = &w->to[side];
    uint32_t length = pick_length(w), from = below(w, SOURCE - MAX_LENGTH * 4);

    d->sent_bytes += length;
    note_incoming(d, from, length, imm, d->posted, true);
    return pair_work(imm ? OCHE_WORK_SEND_IMM : OCHE_WORK_SEND, 0, from, 0, length);
}

static struct oche_send_work make_read(struct world *w, int side)
{
    struct direction *d = &w->to[side];
    uint32_t length = pick_length(w), from = below(w, SOURCE - MAX_LENGTH * 4);
    uint32_t to = take_target(w, side, length);

    d->read_bytes += length;
    expect(w, side, to, 1 - side, from, length);
    return pair_work(OCHE_WORK_READ, 0, to, from, length);
}

static struct oche_send_work make_atomic(struct world *w, int side)
{
    struct direction *d = &w->to[side];
    uint32_t to = take_target(w, side, 8);
    bool add = below(w, 2) == 0;
    struct oche_send_work work =
        pair_work(add ? OCHE_WORK_FETCH_ADD : OCHE_WORK_COMPARE_SWAP, 0, to, COUNTER, 8);

    work.swap_add = add ? 1 : d->atomics + 1;
    work.compare = d->atomics;
    d->results[d->atomics++] = to;
    return work;
}

/* Posts the next work of a side, if there is room for it. */
static void post(struct world *w, int side)
{
    struct direction *d = &w->to[side];
    struct oche_qp *qp = w->pair->side[side].qp[0];
    struct direction saved = *d;
    struct oche_send_work work;
    uint32_t targets[2] = {w->next_target[0], w->next_target[1]};
    uint32_t expects[2] = {w->expect_count[0], w->expect_count[1]};
    uint32_t kind = below(w, 8);

    if (kind < 2)
        work = make_write(w, side, kind == 1);
    else if (kind < 4)
        work = make_send(w, side, kind == 3);
    else if (kind < 6)
        work = make_read(w, side);
    else if (kind == 6)
        work = make_atomic(w, side);
    else
        work = make_write(w, side, false);
    work.wr_id = d->posted;
    work.imm = d->posted;
    work.flags = (uint8_t)(below(w, 3) == 0 ? 0 : OCHE_WORK_SIGNALED);
    if (below(w, 8) == 0)
        work.flags |= OCHE_WORK_FENCE;
    if (work.opcode < OCHE_WORK_READ && work.sge[0].length <= 64 && below(w, 2) == 0) {
        work.flags |= OCHE_WORK_INLINE;
        work.inline_data = w->pair->side[side].memory + (work.sge[0].va - PAIR_VA);
    } else if (work.opcode < OCHE_WORK_COMPARE_SWAP) {
        scatter_sges(w, &work);
    }
    if (d->posted == WORKS - 1)
        work.flags |= OCHE_WORK_SIGNALED;
    if (oche_qp_post_send(qp, &work) != 0) {
        *d = saved;
        memcpy(w->next_target, targets, sizeof(targets));
        memcpy(w->expect_count, expects, sizeof(expects));
        return;
    }
    if (work.flags & OCHE_WORK_SIGNALED) {
        d->opcode[d->signalled_count] = work.opcode;
        d->signalled[d->signalled_count++] = work.wr_id;
    }
    d->posted++;
}

static void post_recv(struct world *w, int side)
{
    uint32_t i = w->recvs_posted[side];

    if (i == WORKS || i - w->recvs_done[side] >= 16)
        return;
    w->recv_place[side][i] = take_target(w, side, MAX_LENGTH);
    pair_post_recv(w->pair, side, 1000 + i, w->recv_place[side][i], MAX_LENGTH);
    w->recvs_posted[side]++;
}

static void check_recv(struct world *w, int side, const struct oche_completion *done)
{
    struct direction *d = &w->to[1 - side];
    uint32_t i = w->recvs_done[side]++;

    assert_int_equal(done->wr_id, 1000 + i);
    assert_true(i < d->messages_with_recv);
    assert_int_equal(done->bytes, d->incoming[i].length);
    assert_int_equal(done->has_imm, d->incoming[i].imm);
    if (done->has_imm)
        assert_int_equal(done->imm, d->incoming[i].imm_value);
    assert_int_equal(done->opcode, d->incoming[i].send ? OCHE_DONE_RECV : OCHE_DONE_RECV_WRITE_IMM);
    if (d->incoming[i].send)
        assert_memory_equal(w->pair->side[side].memory + w->recv_place[side][i],
                            w->pair->side[1 - side].memory + d->incoming[i].from, done->bytes);
}

static void check_send(struct world *w, int side, const struct oche_completion *done)
{
    static const uint8_t opcodes[OCHE_WORK_OPCODES] = {
        OCHE_DONE_SEND, OCHE_DONE_SEND,         OCHE_DONE_WRITE,    OCHE_DONE_WRITE,
        OCHE_DONE_READ, OCHE_DONE_COMPARE_SWAP, OCHE_DONE_FETCH_ADD};
    struct direction *d = &w->to[side];
    uint32_t i = d->completed++;

    assert_true(i < d->signalled_count);
    assert_int_equal(done->wr_id, d->signalled[i]);
    assert_int_equal(done->opcode, opcodes[d->opcode[i]]);
}

static void poll(struct world *w)
{
    struct oche_completion done;

    for (int side = 0; side < 2; side++)
        while (oche_cq_poll(w->pair->side[side].cq, &done, 1) > 0) {
            if (done.status != OCHE_STATUS_SUCCESS)
                pair_dump(w->pair);
            assert_int_equal(done.status, OCHE_STATUS_SUCCESS);
            if (done.opcode >= OCHE_DONE_RECV)
                check_recv(w, side, &done);
            else
                check_send(w, side, &done);
        }
}

static void check_end(struct world *w)
{
    for (int side = 0; side < 2; side++) {
        struct pair_side *mine = &w->pair->side[side], *other = &w->pair->side[1 - side];
        struct direction *d = &w->to[side];
        assert_int_equal(d->posted, WORKS);
        assert_int_equal(d->completed, d->signalled_count);
        assert_int_equal(w->recvs_done[side], w->to[1 - side].messages_with_recv);
        assert_true(oche_qp_idle(mine->qp[0]));
        assert_int_equal(mine->delivered_bytes, w->to[1 - side].sent_bytes + d->read_bytes);
        for (uint32_t i = 0; i < w->expect_count[side]; i++) {
            const struct expectation *e = &w->expect[side][i];
            assert_memory_equal(mine->memory + e->to, w->pair->side[e->from_side].memory + e->from,
                                e->length);
        }
        if (d->scratch_used)
            assert_memory_equal(other->memory + SCRATCH, mine->memory + d->scratch_from,
                                SCRATCH_BYTES);
        uint64_t counter, result;
        memcpy(&counter, other->memory + COUNTER, 8);
        assert_int_equal(counter, d->atomics);
        for (uint32_t i = 0; i < d->atomics; i++) {
            memcpy(&result, mine->memory + d->results[i], 8);
            assert_int_equal(result, i);
        }
        assert_int_equal(mine->errors, 0);
    }
}

static struct pair_options random_options(struct oche_random *random, uint64_t seed)
{
    static const uint32_t mtus[] = {64, 256, 1000, 1024, 4096};
    uint32_t trouble = (uint32_t)oche_random_below(random, 4);

    return (struct pair_options){
        .seed = seed,
        .mtu = mtus[oche_random_below(random, 5)],
        .send_depth = 1u << oche_random_below(random, 5),
        .responder_resources = 1u << oche_random_below(random, 4),
        .initiator_depth = 1,
        .first_psn = (uint32_t)oche_random_u64(random) & OCHE_PSN_MASK,
        .ack_every = 1 + (uint32_t)oche_random_below(random, 10),
        .window_packets =
            oche_random_below(random, 2) ? 0 : 1 + (uint32_t)oche_random_below(random, 20),
        .ack_timeout = 100 * OCHE_US,
        .retry_count = UINT32_MAX,
        .rnr_retry = UINT32_MAX,
        .ipv6 = oche_random_below(random, 2),
        .credits = oche_random_below(random, 2),
        .drop = trouble * (uint32_t)oche_random_below(random, 60),
        .twice = trouble * (uint32_t)oche_random_below(random, 40),
        .late = trouble * (uint32_t)oche_random_below(random, 40),
    };
}

/* Who recovers how. */
enum peers { GO_BACK_N, KNOWN, FOUND_OUT, ALONE, ALONE_RECEIVER, PEERS };

struct recoveries {
    struct oche_selective_repeat_params selective;
    struct oche_go_back_n_params go_back_n;
};

static void set_recovery(struct pair_options *options, enum peers peers,
                         struct recoveries *recoveries, struct oche_random *random)
{
    static const uint32_t windows[] = {1, 2, 7, 64, 65, 110, 4096};

    recoveries->selective = (struct oche_selective_repeat_params){
        .window = windows[oche_random_below(random, 7)],
        .few_packets = 3,
        .rto_low = 30 * OCHE_US,
        .rto_high = 100 * OCHE_US,
    };
    recoveries->go_back_n = (struct oche_go_back_n_params){.nak_interval = 5 * OCHE_US};
    if (peers == GO_BACK_N)
        return;
    options->recovery = options->peer_recovery = &oche_recovery_selective_repeat;
    options->own_recovery_params = options->peer_recovery_params = &recoveries->selective;
    options->extensions = peers == KNOWN;
    if (peers == ALONE) {
        options->peer_recovery = &oche_recovery_go_back_n;
        options->peer_recovery_params = &recoveries->go_back_n;
    }
    if (peers == ALONE_RECEIVER) {
        options->recovery = &oche_recovery_go_back_n;
        options->own_recovery_params = &recoveries->go_back_n;
    }
}

/* What happened in all runs, by who recovers how. */
static struct {
    uint64_t runs, retransmitted, placed, timeouts;
} sums[PEERS];

static void count(const struct world *w, enum peers peers)
{
    sums[peers].runs++;
    for (int side = 0; side < 2; side++) {
        const struct oche_nic_stats *stats = oche_nic_stats(w->pair->side[side].nic);
        sums[peers].retransmitted += stats->retransmitted_packets;
        sums[peers].placed += stats->placed_packets;
        sums[peers].timeouts += stats->timeouts;
    }
}

static void run(uint64_t seed)
{
    struct world *w = calloc(1, sizeof(*w));
    struct recoveries recoveries;
    enum peers peers = (enum peers)(seed % PEERS);
    assert_non_null(w);
    w->random = oche_random_stream(seed, "qp random", 0);
    struct pair_options options = random_options(&w->random, seed);
    options.initiator_depth = options.responder_resources;
    set_recovery(&options, peers, &recoveries, &w->random);
    w->pair = pair_open(&options);
    for (int side = 0; side < 2; side++) {
        pair_fill(w->pair, side, 0, SOURCE, (uint8_t)(seed + (uint64_t)side));
        memset(w->pair->side[side].memory + COUNTER, 0, 8);
        w->next_target[side] = TARGETS;
    }
    oche_time limit = 200 * OCHE_SEC;
    while (w->to[0].completed + w->to[1].completed <
               w->to[0].signalled_count + w->to[1].signalled_count ||
           w->to[0].posted < WORKS || w->to[1].posted < WORKS) {
        for (int side = 0; side < 2; side++) {
            if (w->to[side].posted < WORKS && below(w, 4) == 0)
                post(w, side);
            if (below(w, 4) == 0)
                post_recv(w, side);
        }
        if (!pair_step(w->pair, limit))
            w->pair->now += OCHE_US;
        poll(w);
        assert_true(w->pair->now < limit);
    }
    pair_run_quiet(w->pair);
    poll(w);
    check_end(w);
    count(w, peers);
    pair_close(w->pair);
    free(w);
}

static void test_random_work(void **state)
{
    const uint64_t *only = *state;

    if (only != NULL) {
        run(*only);
        return;
    }
    for (uint64_t seed = 1; seed <= RUNS; seed++) {
        fprintf(stderr, "\rtest_qp_random %lu ", (unsigned long)seed);
        run(seed);
    }
    for (int i = 0; i < PEERS; i++)
        printf("peers %d: %lu runs, %lu retransmitted, %lu placed, %lu timeouts\n", i,
               (unsigned long)sums[i].runs, (unsigned long)sums[i].retransmitted,
               (unsigned long)sums[i].placed, (unsigned long)sums[i].timeouts);
    assert_in_range(sums[KNOWN].placed, 1000, UINT32_MAX);
    assert_in_range(sums[FOUND_OUT].placed, 1000, UINT32_MAX);
    assert_int_equal(sums[GO_BACK_N].placed + sums[ALONE].placed + sums[ALONE_RECEIVER].placed, 0);
    assert_true(2 * sums[KNOWN].retransmitted < sums[GO_BACK_N].retransmitted);
}

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_random_work, argc > 1 ? &seed : NULL),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
