/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Things that adapters do later (docs/papers/nics.md): NAKs and the repeats that they lead to, by
 * exact times; CNPs, by their number, scope and delay.
 */
#include "tests/support/test.h"

#include "core/cc/dcqcn.h"
#include "core/wire/aeth.h"
#include "tests/support/pair.h"

#define PACKET 1024
#define LOST   3 /* relative PSN of the packet that is lost, once */

static struct {
    uint32_t passes; /* of the packet that is lost */
    oche_time gap, nak_sent, nak_arrived, repeated, lost;
    uint32_t naks, cnps;
    oche_time last_cnp, least_gap, first_mark, first_cnp;
    bool marks;
} seen;

static bool is_nak(const struct oche_packet *packet)
{
    return packet->opcode == OCHE_RC_ACK &&
           oche_aeth_syndrome(packet) == OCHE_SYNDROME_NAK_SEQUENCE;
}

static enum pair_fate lose_one(struct pair *pair, int from, const struct oche_packet *packet)
{
    if (packet->payload_bytes == 0 || packet->psn % 100 != LOST)
        return PAIR_PASS;
    (void)from;
    if (seen.passes++ == 0) {
        seen.lost = pair->now;
        return PAIR_DROP;
    }
    seen.repeated = pair->now;
    return PAIR_PASS;
}

static void tap(struct pair *pair, int from, const struct oche_packet *packet)
{
    if (is_nak(packet)) {
        seen.nak_sent = pair->now;
        seen.naks++;
    }
    if (packet->opcode == OCHE_CNP) {
        if (seen.cnps++ == 0)
            seen.first_cnp = pair->now;
        else
            seen.least_gap = oche_time_min(seen.least_gap, pair->now - seen.last_cnp);
        seen.last_cnp = pair->now;
    }
    if (seen.marks && from == 0 && packet->payload_bytes > 0)
        ((struct oche_packet *)(uintptr_t)packet)->ecn = OCHE_ECN_CE;
}

static void arrival(struct pair *pair, int to, const struct oche_packet *packet)
{
    if (packet->payload_bytes > 0 && packet->psn % 100 == LOST + 1 && seen.gap == 0)
        seen.gap = pair->now;
    if (to == 0 && is_nak(packet))
        seen.nak_arrived = pair->now;
    if (to == 1 && packet->ecn == OCHE_ECN_CE && seen.first_mark == 0)
        seen.first_mark = pair->now;
}

static struct pair *open_pair(struct pair_options *options)
{
    static uint64_t params[128];

    if (options->cc == &oche_cc_dcqcn) {
        oche_param_defaults(&oche_cc_dcqcn.table, params);
        oche_nic_habits_fit(&options->peer_habits, &oche_cc_dcqcn.table, params,
                            oche_cc_dcqcn.check);
        options->cc_params = params;
    }
    options->ack_timeout = 50 * OCHE_MS;
    options->in_flight = 2048;
    options->send_depth = 64;
    struct pair *pair = pair_open(options);

    memset(&seen, 0, sizeof(seen));
    seen.least_gap = OCHE_NEVER;
    pair->tap = tap;
    pair->arrival = arrival;
    return pair;
}

static void run(struct pair *pair, enum oche_work_opcode opcode, uint32_t packets)
{
    struct oche_send_work work = pair_work(opcode, 1, 0, 0, packets * PACKET);

    assert_int_equal(oche_qp_post_send(pair->side[0].qp[0], &work), 0);
    pair_run_quiet(pair);
    pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
}

/* The NAK leaves nak_delay after the gap was seen, and the repeat nak_reaction after the NAK came.
 */
static void test_nak(void **state)
{
    static const oche_time delays[][2] = {
        {0, 0}, {20 * OCHE_US, 0}, {0, 30 * OCHE_US}, {7 * OCHE_US, 11 * OCHE_US}};

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(delays); i++) {
        struct pair_options options = {.habits.nak_reaction = delays[i][1],
                                       .peer_habits.nak_delay = delays[i][0]};
        struct pair *pair = open_pair(&options);

        pair->fate = lose_one;
        run(pair, OCHE_WORK_WRITE, 60);
        assert_int_equal(seen.nak_sent - seen.gap, delays[i][0]);
        /* the packet that leaves when the NAK comes, or the wait ends, goes first */
        assert_in_range(seen.repeated - seen.nak_arrived, delays[i][1],
                        delays[i][1] + 200 * OCHE_NS);
        assert_int_equal(oche_nic_stats(pair->side[0].nic)->timeouts, 0);
        pair_close(pair);
    }
}

/* A gap in READ responses: the requester asks again after read_nak_delay. */
static void test_read(void **state)
{
    static const oche_time delays[] = {0, 40 * OCHE_US};
    oche_time took[2];

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(delays); i++) {
        struct pair_options options = {.habits.read_nak_delay = delays[i],
                                       .habits.nak_reaction = OCHE_MS};
        struct pair *pair = open_pair(&options);

        pair->fate = lose_one;
        run(pair, OCHE_WORK_READ, 60);
        took[i] = seen.repeated - seen.gap;
        assert_int_equal(oche_nic_stats(pair->side[0].nic)->timeouts, 0);
        pair_close(pair);
    }
    assert_in_range(took[1] - took[0], delays[1] - OCHE_US, delays[1] + OCHE_US);
}

/* The packet that is missing comes during the delay: there is nothing left to NAK, or to repeat. */
static enum pair_fate delay_one(struct pair *pair, int from, const struct oche_packet *packet)
{
    (void)pair;
    return from == 0 && packet->psn == LOST && seen.passes++ == 0 ? PAIR_LATE : PAIR_PASS;
}

static void test_late_packet(void **state)
{
    struct pair_options options = {.peer_habits.nak_delay = 500 * OCHE_US, .late_by = 0};
    struct pair *pair = open_pair(&options);

    (void)state;
    pair->fate = delay_one;
    run(pair, OCHE_WORK_WRITE, 5);
    assert_int_equal(seen.naks, 0);
    pair_close(pair);
}

/* A queue pair that fails while a NAK waits sends nothing any more. */
static void test_failed(void **state)
{
    struct pair_options options = {.peer_habits.nak_delay = 500 * OCHE_US};
    struct pair *pair = open_pair(&options);
    struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 1, 0, 0, 20 * PACKET);

    (void)state;
    pair->fate = lose_one;
    assert_int_equal(oche_qp_post_send(pair->side[0].qp[0], &work), 0);
    pair_run(pair, 100 * OCHE_US);
    assert_true(seen.gap > 0);
    oche_qp_fail(pair->side[1].qp[0], pair->now);
    pair_run(pair, 2 * OCHE_MS);
    assert_int_equal(seen.naks, 0);
    pair_close(pair);
}

/* A timeout during nak_reaction repeats all; the wait's end then repeats nothing once more. */
static void test_timeout_first(void **state)
{
    struct pair_options options = {.habits.nak_reaction = 70 * OCHE_MS};
    struct pair *pair = open_pair(&options);

    (void)state;
    pair->fate = lose_one;
    run(pair, OCHE_WORK_WRITE, 20);
    assert_int_equal(oche_nic_stats(pair->side[0].nic)->timeouts, 1);
    assert_int_equal(seen.passes, 2);
    pair_close(pair);
}

static void test_nak_brings_cnp(void **state)
{
    (void)state;
    for (int brings = 0; brings < 2; brings++) {
        struct pair_options options = {
            .cc = &oche_cc_dcqcn,
            .peer_habits = {.nak_brings_cnp = brings != 0, .cnp_interval = 4 * OCHE_US}};
        struct pair *pair = open_pair(&options);

        pair->fate = lose_one;
        run(pair, OCHE_WORK_WRITE, 60);
        assert_int_equal(seen.naks, 1);
        assert_int_equal(seen.cnps, brings);
        assert_int_equal(oche_nic_stats(pair->side[0].nic)->cnps_received, brings);
        pair_close(pair);
    }
}

/* Four queue pairs whose packets are all marked: the scope says which CNPs share an interval. */
static void test_scope(void **state)
{
    static const struct {
        uint32_t scope;
        bool shared;
    } rows[] = {{OCHE_CNP_SCOPE_QUEUE_PAIR, false},
                {OCHE_CNP_SCOPE_DESTINATION, true},
                {OCHE_CNP_SCOPE_PORT, true}};

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(rows); i++) {
        struct pair_options options = {
            .cc = &oche_cc_dcqcn,
            .qps = 4,
            .line_rate_bps = 10 * OCHE_GBPS,
            .peer_habits = {.cnp_scope = rows[i].scope, .cnp_interval = 20 * OCHE_US}};
        struct pair *pair = open_pair(&options);
        struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 1, 0, 0, 32 * PACKET);

        seen.marks = true;
        for (uint32_t qp = 0; qp < 4; qp++)
            assert_int_equal(oche_qp_post_send(pair->side[0].qp[qp], &work), 0);
        pair_run(pair, 15 * OCHE_US);
        assert_int_equal(seen.cnps, rows[i].shared ? 1 : 4);
        pair_run(pair, 90 * OCHE_US);
        if (rows[i].shared)
            assert_true(seen.least_gap >= 20 * OCHE_US);
        else
            assert_true(seen.least_gap < 20 * OCHE_US);
        assert_true(seen.cnps >= 3);
        pair_close(pair);
    }
}

static void test_cnp_delay(void **state)
{
    struct pair_options options = {
        .cc = &oche_cc_dcqcn,
        .peer_habits = {.cnp_delay = 55 * OCHE_US, .cnp_interval = 4 * OCHE_US}};
    struct pair *pair = open_pair(&options);

    (void)state;
    seen.marks = true;
    run(pair, OCHE_WORK_WRITE, 4);
    assert_true(seen.cnps >= 1);
    assert_int_equal(seen.first_cnp - seen.first_mark, 55 * OCHE_US);
    pair_close(pair);
}

/* ECT(0), though no congestion control asks for marks. */
static uint32_t ect;

static void note_ect(struct pair *pair, int from, const struct oche_packet *packet)
{
    (void)pair;
    ect += from == 0 && packet->payload_bytes > 0 && packet->ecn == OCHE_ECN_ECT0;
}

static void test_ect(void **state)
{
    (void)state;
    for (int always = 0; always < 2; always++) {
        struct pair_options options = {.habits.ect_always = always != 0};
        struct pair *pair = open_pair(&options);

        ect = 0;
        pair->tap = note_ect;
        run(pair, OCHE_WORK_WRITE, 7);
        assert_int_equal(ect, always ? 7 : 0);
        pair_close(pair);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nak),           cmocka_unit_test(test_read),
        cmocka_unit_test(test_late_packet),   cmocka_unit_test(test_nak_brings_cnp),
        cmocka_unit_test(test_scope),         cmocka_unit_test(test_cnp_delay),
        cmocka_unit_test(test_ect),           cmocka_unit_test(test_failed),
        cmocka_unit_test(test_timeout_first),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
