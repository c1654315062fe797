/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order in which queue pairs' packets leave: control before data, round-robin among equals,
 * exact pacing, rate changes in the middle of a gap, no gaps at line rate, classes, backlog,
 * bursts.
 */
#include "tests/support/test.h"

#include <string.h>

#include "core/wire/opcode.h"
#include "tests/support/pair.h"

#define LINE  (100 * OCHE_GBPS)
#define WIRE  (62 + 1024 + 20) /* line bytes of a full packet that is not a FIRST */
#define FIRST (WIRE + 16)

static struct oche_packet *buffer(unsigned i)
{
    static struct oche_packet packets[64];
    static uint8_t payloads[64][9216];

    packets[i].payload = payloads[i];
    return &packets[i];
}

/* Takes one packet from side 0 at `now`; NULL: none. */
static struct oche_packet *pull_at(struct pair *pair, oche_time now, oche_time due_by,
                                   uint8_t classes)
{
    struct oche_packet *packet = buffer(0);

    return oche_nic_transmit(pair->side[0].nic, now, due_by, classes, &packet, 1) ? packet : NULL;
}

static struct oche_packet *pull(struct pair *pair, oche_time now)
{
    return pull_at(pair, now, now, UINT8_MAX);
}

static void post_on(struct pair *pair, uint32_t index, uint32_t length)
{
    struct oche_send_work work = pair_work(OCHE_WORK_WRITE, index, 0, 0, length);

    assert_int_equal(oche_qp_post_send(pair->side[0].qp[index], &work), 0);
}

static oche_time spacing(uint32_t line_bytes, uint64_t bps)
{
    return oche_time_of_bytes(line_bytes, bps);
}

/* At half the line rate packets leave at exact times, which next() returns. */
static void test_exact_times(void **state)
{
    struct pair *pair = pair_open(NULL);
    struct oche_nic *nic = pair->side[0].nic;
    oche_time start = 10 * OCHE_US, due = start;

    (void)state;
    oche_qp_set_rate_limit(pair->side[0].qp[0], LINE / 2, start);
    assert_int_equal(oche_qp_rate_bps(pair->side[0].qp[0]), LINE / 2);
    post_on(pair, 0, 10240);
    assert_int_equal(oche_nic_next(nic, UINT8_MAX), 0); /* the doorbell rang */
    for (int i = 0; i < 10; i++) {
        if (i > 0) {
            assert_int_equal(oche_nic_next(nic, UINT8_MAX), due);
            assert_null(pull(pair, due - 1));
        }
        struct oche_packet *packet = pull(pair, due);
        assert_non_null(packet);
        assert_int_equal(packet->psn, i);
        due += spacing(i == 0 ? FIRST : WIRE, LINE / 2);
    }
    assert_null(pull(pair, due));
    /* Idle time gives no credit: after a long pause the spacing is the same. */
    oche_time late = due + OCHE_MS / 10;
    post_on(pair, 0, 2048);
    assert_non_null(pull(pair, late));
    assert_null(pull(pair, late + spacing(FIRST, LINE / 2) - 1));
    assert_non_null(pull(pair, late + spacing(FIRST, LINE / 2)));
    pair_close(pair);
}

/* Work that comes before the last packet's time is over waits for it. */
static void test_pacing_across_messages(void **state)
{
    struct pair *pair = pair_open(NULL);
    oche_time start = 10 * OCHE_US;

    (void)state;
    oche_qp_set_rate_limit(pair->side[0].qp[0], OCHE_GBPS, start);
    post_on(pair, 0, 100);
    assert_non_null(pull(pair, start));
    post_on(pair, 0, 100);
    oche_time due = start + spacing(62 + 16 + 100 + 20, OCHE_GBPS);
    assert_null(pull(pair, due - 1));
    assert_int_equal(oche_nic_next(pair->side[0].nic, UINT8_MAX), due);
    assert_non_null(pull(pair, due));
    pair_close(pair);
}

/* A new rate shifts the pending time, counted from the packet that has left (dcqcn.md#pacing). */
static void test_rate_change_rescales(void **state)
{
    struct pair *pair = pair_open(NULL);
    struct oche_qp *qp = pair->side[0].qp[0];
    oche_time start = 10 * OCHE_US;

    (void)state;
    oche_qp_set_rate_limit(qp, LINE / 1000, start);
    post_on(pair, 0, 10240);
    assert_non_null(pull(pair, start));
    oche_time due = start + spacing(FIRST, LINE / 1000);
    assert_int_equal(oche_nic_next(pair->side[0].nic, UINT8_MAX), due);
    oche_qp_set_rate_limit(qp, LINE / 100, start + OCHE_US);
    due = start + spacing(FIRST, LINE / 100);
    assert_int_equal(oche_nic_next(pair->side[0].nic, UINT8_MAX), due);
    oche_qp_set_rate_limit(qp, LINE / 2000, start + 2 * OCHE_US);
    due = start + spacing(FIRST, LINE / 2000);
    assert_int_equal(oche_nic_next(pair->side[0].nic, UINT8_MAX), due);
    /* A rate so high that the packet is overdue: it leaves at once. */
    oche_time now = start + 30 * OCHE_US;
    oche_qp_set_rate_limit(qp, 0, now);
    assert_int_equal(oche_qp_rate_bps(qp), LINE);
    assert_non_null(pull(pair, now));
    /* It waits for the port when the rate falls, so it returns to the heap. */
    assert_int_equal(oche_nic_next(pair->side[0].nic, UINT8_MAX), 0);
    assert_true(oche_nic_backlog_bytes(pair->side[0].nic) > 0);
    oche_qp_set_rate_limit(qp, LINE / 10, now + 1);
    assert_int_equal(oche_nic_next(pair->side[0].nic, UINT8_MAX), now + spacing(WIRE, LINE / 10));
    assert_int_equal(oche_nic_backlog_bytes(pair->side[0].nic), 0);
    pair_close(pair);
}

/*
 * Time spent waiting for the port is made up for: a slow queue pair by one packet, a fast one by
 * the time of 16 KiB on the line.
 */
static void test_bounded_credit(void **state)
{
    struct pair *pair = pair_open(NULL);
    oche_time start = 10 * OCHE_US, gap = spacing(WIRE, LINE / 100),
              first = spacing(FIRST, LINE / 100);

    (void)state;
    oche_qp_set_rate_limit(pair->side[0].qp[0], LINE / 100, start);
    post_on(pair, 0, 102400);
    assert_non_null(pull(pair, start));
    /* Half a gap late: the next is due as if it had been in time. */
    oche_time due = start + first;
    assert_non_null(pull(pair, due + gap / 2));
    due += gap;
    assert_int_equal(oche_nic_next(pair->side[0].nic, UINT8_MAX), due);
    /* Ten gaps late: two packets at once, then spaced again. */
    oche_time late = due + 10 * gap;
    assert_non_null(pull(pair, late));
    assert_non_null(pull(pair, late));
    assert_null(pull(pair, late));
    assert_int_equal(oche_nic_next(pair->side[0].nic, UINT8_MAX), late + gap);
    pair_close(pair);

    pair = pair_open(NULL);
    oche_qp_set_rate_limit(pair->side[0].qp[0], LINE / 2, start);
    post_on(pair, 0, 102400);
    assert_non_null(pull(pair, start));
    oche_time base = late - oche_time_of_bytes(16384, LINE), half = spacing(WIRE, LINE / 2);
    for (; base <= late; base += half)
        assert_non_null(pull(pair, late));
    assert_null(pull(pair, late));
    assert_int_equal(oche_nic_next(pair->side[0].nic, UINT8_MAX), base);
    pair_close(pair);
}

/* Round-robin: four at line rate alternate, in any order of posting. */
static void test_round_robin(void **state)
{
    struct pair_options options = {.qps = 4};
    struct pair *pair = pair_open(&options);
    static const uint32_t order[] = {2, 0, 3, 1};
    oche_time now = 10 * OCHE_US;

    (void)state;
    for (int i = 0; i < 4; i++)
        post_on(pair, order[i], 102400);
    for (int i = 0; i < 40; i++, now += 100 * OCHE_NS) {
        struct oche_packet *packet = pull(pair, now);
        assert_non_null(packet);
        assert_int_equal(packet->dest_qpn, PAIR_QPN + 1 + 2 * order[i % 4]);
        assert_int_equal(packet->psn, i / 4);
    }
    pair_close(pair);
}

/* A queue pair that starts later need not catch up with the others. */
static void test_newcomer(void **state)
{
    struct pair_options options = {.qps = 2};
    struct pair *pair = pair_open(&options);
    oche_time now = 10 * OCHE_US;

    (void)state;
    post_on(pair, 0, 1024000);
    for (int i = 0; i < 100; i++, now += OCHE_NS)
        assert_int_equal(pull(pair, now)->dest_qpn, PAIR_QPN + 1);
    post_on(pair, 1, 102400);
    assert_int_equal(pull(pair, now)->dest_qpn, PAIR_QPN + 1);
    for (int i = 0; i < 20; i++, now += OCHE_NS)
        assert_int_equal(pull(pair, now)->dest_qpn, PAIR_QPN + 1 + 2 * (i % 2 == 0));
    pair_close(pair);
}

/* By pacing time: the earliest due leaves first, even if the port was late for both. */
static void test_by_pacing_time(void **state)
{
    struct pair_options options = {.qps = 2};
    struct pair *pair = pair_open(&options);
    oche_time start = 10 * OCHE_US;

    (void)state;
    oche_qp_set_rate_limit(pair->side[0].qp[0], LINE / 100, start);
    oche_qp_set_rate_limit(pair->side[0].qp[1], LINE / 50, start);
    post_on(pair, 0, 102400);
    post_on(pair, 1, 102400);
    assert_int_equal(pull(pair, start)->dest_qpn, PAIR_QPN + 1);
    assert_int_equal(pull(pair, start)->dest_qpn, PAIR_QPN + 3);
    oche_time both_due = start + OCHE_MS;
    assert_int_equal(pull(pair, both_due)->dest_qpn, PAIR_QPN + 3);
    assert_int_equal(pull(pair, both_due)->dest_qpn, PAIR_QPN + 1);
    pair_close(pair);
}

static void count_packets(struct pair *pair, int from, const struct oche_packet *packet)
{
    uint64_t *packets = pair->context;

    if (from == 0)
        packets[(packet->dest_qpn - PAIR_QPN - 1) / 2]++;
}

/* Rates that add up to nearly the line: each gets its own, though they often are due together. */
static void test_rates_hold(void **state)
{
    struct pair_options options = {.qps = 8};
    struct pair *pair = pair_open(&options);
    static const uint64_t share[8] = {30, 20, 15, 10, 10, 7, 5, 1}; /* percent: 98 */
    uint64_t packets[8] = {0};
    oche_time duration = 200 * OCHE_US;

    (void)state;
    pair->tap = count_packets;
    pair->context = packets;
    for (uint32_t i = 0; i < 8; i++) {
        oche_qp_set_rate_limit(pair->side[0].qp[i], LINE / 100 * share[i], pair->now);
        post_on(pair, i, 1000 * 1024);
    }
    pair_run(pair, pair->now + duration);
    for (int i = 0; i < 8; i++) {
        uint64_t want = oche_bytes_in_time(duration, LINE / 100 * share[i]) / WIRE;
        assert_in_range(packets[i], want - 1, want + 1);
    }
    pair_close(pair);
}

/* At line rate the port limits, for any packet sizes: it is never idle. */
static void test_no_holes_at_line_rate(void **state)
{
    struct pair_options options = {.qps = 3};
    struct pair *pair = pair_open(&options);
    oche_time free = 10 * OCHE_US;

    (void)state;
    for (int round = 0; round < 5; round++)
        for (uint32_t i = 0; i < 3; i++)
            post_on(pair, i, 777 * (i + 1) + 300 * (uint32_t)round);
    for (uint32_t left = 777 * 6 * 5 + 300 * 10 * 3; left > 0;) {
        struct oche_packet *packet = pull(pair, free);
        assert_non_null(packet);
        left -= packet->payload_bytes;
        free += oche_time_of_bytes(packet->frame_bytes + 20, LINE);
    }
    assert_null(pull(pair, free));
    pair_close(pair);
}

/* ---- control and classes ---- */

static void test_control_first(void **state)
{
    struct pair *pair = pair_open(NULL);
    oche_time now = 10 * OCHE_US;
    struct oche_packet request = pair_packet(pair, 1, OCHE_RC_WRITE_ONLY, 1000, 0);

    (void)state;
    request.ext = OCHE_EXT_RETH;
    post_on(pair, 0, 10240);
    assert_int_equal(pull(pair, now)->psn, 0);
    oche_nic_receive(pair->side[0].nic, &request, now);
    struct oche_packet *packet = pull(pair, now);
    assert_int_equal(packet->opcode, OCHE_RC_ACK);
    assert_int_equal(packet->traffic_class, 0);
    assert_int_equal(packet->ecn, OCHE_ECN_NOT_ECT);
    packet = pull(pair, now);
    assert_int_equal(packet->psn, 1);
    assert_int_equal(packet->traffic_class, 1);
    pair_close(pair);
}

/* A paused class neither sends nor wakes; the other one continues. */
static void test_classes(void **state)
{
    struct pair *pair = pair_open(NULL);
    struct oche_nic *nic = pair->side[0].nic;
    oche_time now = 10 * OCHE_US;
    struct oche_packet request = pair_packet(pair, 1, OCHE_RC_WRITE_ONLY, 1000, 0);

    (void)state;
    request.ext = OCHE_EXT_RETH;
    post_on(pair, 0, 10240);
    assert_null(pull_at(pair, now, now, (uint8_t)~2));
    oche_time timer = oche_nic_next_timer(nic);
    assert_int_equal(oche_nic_next(nic, (uint8_t)~2), timer);
    assert_int_equal(oche_nic_next(nic, UINT8_MAX), 0);
    oche_nic_receive(nic, &request, now);
    assert_int_equal(oche_nic_next(nic, (uint8_t)~2), 0);
    assert_int_equal(oche_nic_next(nic, (uint8_t)~3), timer);
    assert_null(pull_at(pair, now, now, (uint8_t)~3));
    assert_int_equal(pull_at(pair, now, now, (uint8_t)~2)->opcode, OCHE_RC_ACK);
    assert_null(pull_at(pair, now, now, (uint8_t)~2));
    assert_int_equal(pull_at(pair, now, now, 2)->psn, 0);
    pair_close(pair);
}

/* Two data classes: the one that has waited longer first. */
static void test_two_data_classes(void **state)
{
    struct pair_options options = {.no_connect = true};
    struct pair *pair = pair_open(&options);
    oche_time now = 10 * OCHE_US;
    static _Alignas(64) uint8_t memory[2][8192];
    struct oche_qp *qps[2];

    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        struct oche_qp_config config = pair_qp_config(pair, 0, i);
        struct oche_qp_connection connection = pair_connection(pair, 0, i);
        config.traffic_class = (uint8_t)(2 - i);
        assert_true(oche_qp_bytes(pair->side[0].nic, &config) <= sizeof(memory[i]));
        qps[i] = oche_qp_create(pair->side[0].nic, memory[i], &config);
        assert_true(oche_qp_init(qps[i], now) &&
                    oche_qp_ready_to_receive(qps[i], &connection, now) &&
                    oche_qp_ready_to_send(qps[i], now));
        oche_qp_set_rate_limit(qps[i], LINE / 100, now);
        struct oche_send_work work = pair_work(OCHE_WORK_WRITE, i, 0, 0, 50000);
        assert_int_equal(oche_qp_post_send(qps[i], &work), 0);
        assert_int_equal(pull(pair, now)->traffic_class, 2 - i);
        now += OCHE_US / 10;
    }
    now += OCHE_MS; /* both are due, the first since longer */
    assert_int_equal(pull(pair, now)->traffic_class, 2);
    assert_int_equal(pull(pair, now)->traffic_class, 1);
    now += OCHE_MS;
    assert_int_equal(pull_at(pair, now, now, 2)->traffic_class, 1);
    oche_qp_destroy(qps[0]);
    oche_qp_destroy(qps[1]);
    pair_close(pair);
}

/* ---- bursts: due_by ahead of now ---- */

static void test_burst(void **state)
{
    struct pair *pair = pair_open(NULL);
    struct oche_packet *out[16];
    oche_time now = 10 * OCHE_US, gap = spacing(WIRE, LINE / 10);

    (void)state;
    for (unsigned i = 0; i < 16; i++)
        out[i] = buffer(i);
    oche_qp_set_rate_limit(pair->side[0].qp[0], LINE / 10, now);
    post_on(pair, 0, 102400);
    oche_time last = now + spacing(FIRST, LINE / 10) + 3 * gap;
    assert_int_equal(oche_nic_transmit(pair->side[0].nic, now, last, UINT8_MAX, out, 16), 5);
    for (unsigned i = 0; i < 5; i++)
        assert_int_equal(out[i]->psn, i);
    assert_int_equal(oche_nic_next(pair->side[0].nic, UINT8_MAX), last + gap);
    /* At line rate the port is the limit: it gets as many packets as it takes. */
    oche_qp_set_rate_limit(pair->side[0].qp[0], 0, last + gap);
    assert_int_equal(
        oche_nic_transmit(pair->side[0].nic, last + gap, last + gap, UINT8_MAX, out, 16), 16);
    pair_close(pair);
}

/* ---- backlog and own marks (dart.md#d25) ---- */

static void ecn_start(struct oche_cc_flow *flow, oche_time now)
{
    (void)flow;
    (void)now;
}

static const struct oche_cc_scheme ecn_scheme = {
    .name = "ecn", .needs = OCHE_CC_NEEDS_ECN, .transports = OCHE_CC_RC, .start = ecn_start};

static void test_backlog_marks(void **state)
{
    struct pair_options options = {.qps = 4, .cc = &ecn_scheme, .ecn_threshold = 2 * (WIRE - 20)};
    struct pair *pair = pair_open(&options);
    struct oche_nic *nic = pair->side[0].nic;
    oche_time now = 10 * OCHE_US;

    (void)state;
    for (uint32_t i = 0; i < 4; i++)
        post_on(pair, i, 2048);
    /*
     * The number waiting when each leaves: 3 packets, 3, 3, 3, 3, 2, 1, 0. FIRSTs have 16 bytes
     * more.
     */
    static const uint32_t firsts[] = {3, 2, 1, 0, 0, 0, 0, 0}, lasts[] = {0, 1, 2, 3, 3, 2, 1, 0};
    for (int i = 0; i < 8; i++) {
        struct oche_packet *packet = pull(pair, now);
        uint64_t others = firsts[i] * (uint64_t)(FIRST - 20) + lasts[i] * (uint64_t)(WIRE - 20);
        uint64_t itself = i < 4 ? WIRE - 20 : 0; /* its second packet waits now */
        if (i < 4)
            others = firsts[i] * (uint64_t)(FIRST - 20) + (uint64_t)i * (WIRE - 20);
        assert_int_equal(oche_nic_backlog_bytes(nic), others + itself);
        bool marked = others > options.ecn_threshold;
        assert_int_equal(packet->ecn, marked ? OCHE_ECN_CE : OCHE_ECN_ECT0);
    }
    assert_int_equal(oche_nic_stats(nic)->ce_marked, 5);
    pair_close(pair);
}

/* Without a scheme that reads marks, packets are not ECN capable and are not marked. */
static void test_not_ecn_capable(void **state)
{
    struct pair_options options = {.qps = 4, .ecn_threshold = 1};
    struct pair *pair = pair_open(&options);

    (void)state;
    for (uint32_t i = 0; i < 4; i++)
        post_on(pair, i, 2048);
    for (int i = 0; i < 8; i++)
        assert_int_equal(pull(pair, OCHE_MS)->ecn, OCHE_ECN_NOT_ECT);
    assert_int_equal(oche_nic_stats(pair->side[0].nic)->ce_marked, 0);
    pair_close(pair);
}

/* ---- READ data shares the queue pair's rate with its requests ---- */

static void test_read_data_is_paced(void **state)
{
    struct pair *pair = pair_open(NULL);
    struct oche_nic *nic = pair->side[0].nic;
    oche_time now = 10 * OCHE_US;
    struct oche_packet request = pair_packet(pair, 1, OCHE_RC_READ_REQUEST, 1000, 0);

    (void)state;
    request.ext = OCHE_EXT_RETH;
    request.reth.va = PAIR_VA;
    request.reth.rkey = PAIR_KEY;
    request.reth.dma_length = 10240;
    oche_qp_set_rate_limit(pair->side[0].qp[0], LINE / 10, now);
    oche_nic_receive(nic, &request, now);
    post_on(pair, 0, 10240);
    uint32_t requests = 0, responses = 0;
    oche_time due = now;
    for (int i = 0; i < 20; i++) {
        if (i > 0)
            assert_int_equal(oche_nic_next(nic, UINT8_MAX), due);
        struct oche_packet *packet = pull(pair, due);
        assert_non_null(packet);
        assert_int_equal(packet->traffic_class, 1);
        bool response = oche_opcode_has(packet->opcode, OCHE_OP_RESPONSE);
        requests += !response;
        responses += response;
        assert_in_range(requests, responses > 0 ? responses - 1 : 0, responses + 1);
        due += spacing(packet->frame_bytes + 20u, LINE / 10);
    }
    assert_int_equal(requests, 10);
    assert_int_equal(responses, 10);
    pair_close(pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact_times),
        cmocka_unit_test(test_pacing_across_messages),
        cmocka_unit_test(test_rate_change_rescales),
        cmocka_unit_test(test_bounded_credit),
        cmocka_unit_test(test_round_robin),
        cmocka_unit_test(test_newcomer),
        cmocka_unit_test(test_by_pacing_time),
        cmocka_unit_test(test_rates_hold),
        cmocka_unit_test(test_no_holes_at_line_rate),
        cmocka_unit_test(test_control_first),
        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_two_data_classes),
        cmocka_unit_test(test_burst),
        cmocka_unit_test(test_backlog_marks),
        cmocka_unit_test(test_not_ecn_capable),
        cmocka_unit_test(test_read_data_is_paced),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
