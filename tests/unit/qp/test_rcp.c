/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RCP between two NICs, with packets as bytes on the link; the test acts as the switch between
 * them. The first packet asks, and the others follow at the returned rate. Only data has trailers.
 * The receivers of READ and unreliable queue pairs echo by separate packets. Loss, timeouts,
 * idleness; packets of a broken peer.
 */
#include "tests/support/test.h"

#include <string.h>

#include "core/qp/qp_internal.h"
#include "core/wire/opcode.h"
#include "tests/support/pair.h"

#define LINE  (100 * OCHE_GBPS)
#define UNITS (LINE / OCHE_RATE_UNIT_BPS)

struct seen {
    uint64_t allowed_bps;                                       /* by the switch between them */
    uint32_t data[2], trailers[2], echoes[2], own[2], plain[2]; /* by side */
    uint32_t asked;                                             /* data packets with AckReq */
    struct oche_rate_trailer last[2];                           /* as it left */
    struct oche_rate_echo echo[2];
};

static void tap(struct pair *pair, int from, const struct oche_packet *packet)
{
    struct oche_packet *rewritten = (struct oche_packet *)(uintptr_t)packet;
    struct seen *seen = pair->context;
    bool data = oche_opcode_has(packet->opcode, OCHE_OP_PAYLOAD);

    assert_true(packet->bth_reserved & OCHE_BTH_EXTENSIONS);
    assert_int_equal((packet->bth_reserved & OCHE_BTH_TRAILER) != 0, data);
    assert_int_equal((packet->ext & OCHE_EXT_TRAILER) != 0, data);
    assert_int_equal(packet->frame_bytes,
                     oche_frame_bytes_with(packet->opcode, packet->payload_bytes,
                                           data ? OCHE_TRAILER_BYTES : 0, false));
    seen->data[from] += data;
    seen->asked += data && (packet->bth & OCHE_BTH_ACKREQ);
    seen->plain[from] += packet->opcode == OCHE_RC_ACK;
    seen->echoes[from] += packet->opcode == OCHE_RC_ACK_RATE;
    seen->own[from] += packet->opcode == OCHE_RATE;
    if (oche_opcode_has(packet->opcode, OCHE_OP_HAS(RATE)))
        seen->echo[from] = oche_rate_echo_get(packet);
    if (!data)
        return;
    struct oche_rate_trailer trailer = seen->last[from] = packet->trailer;
    assert_int_equal(trailer.rate_10kbps, UNITS);
    assert_int_equal(trailer.stamp_ns, pair->now / OCHE_NS);
    trailer.rate_10kbps = (uint32_t)(seen->allowed_bps / OCHE_RATE_UNIT_BPS);
    oche_rate_trailer_put(rewritten, &trailer);
}

static struct pair *open_with(struct pair_options options, const char *start, struct seen *seen)
{
    static uint64_t params[128];
    const struct oche_cc_scheme *cc = oche_cc_find("rcp");

    oche_param_defaults(&cc->table, params);
    oche_param_set(oche_param_find(&cc->table, "start"), params,
                   (union oche_value){.u = strcmp(start, "send") == 0});
    options.cc = cc;
    options.cc_params = params;
    options.bytes = true;
    options.mtu = 1024;
    struct pair *pair = pair_open(&options);
    *seen = (struct seen){.allowed_bps = 10 * OCHE_GBPS};
    pair->tap = tap;
    pair->context = seen;
    return pair;
}

static void post(struct pair *pair, int side, enum oche_work_opcode opcode, uint32_t length)
{
    struct oche_send_work work = pair_work(opcode, 1, 0, 0, length);

    pair_post(pair, side, &work);
}

static uint64_t rate(const struct pair *pair, int side)
{
    return oche_qp_rate_bps(pair->side[side].qp[0]);
}

/*
 * One packet and its ACK; then the rest at the rate in the ACK. From then on the round trip is
 * known.
 */
static void the_first_packet_asks(void **state)
{
    struct seen seen;
    struct pair *pair = open_with((struct pair_options){.ack_every = 1}, "ask", &seen);

    (void)state;
    assert_true(rate(pair, 0) == LINE / 20);
    pair_fill(pair, 0, 0, 60 * 1024, 3);
    post(pair, 0, OCHE_WORK_WRITE, 60 * 1024);
    pair_run(pair, pair->now + 2 * OCHE_US); /* both ways take 2 us, and the time of the packets */
    assert_int_equal(seen.data[0], 1);
    assert_int_equal(seen.last[0].rtt_ns, 0);
    pair_run(pair, pair->now + OCHE_US);
    assert_true(rate(pair, 0) == 10 * OCHE_GBPS);
    assert_true(seen.data[0] > 1);
    assert_in_range(seen.last[0].rtt_ns, 2000, 2300);
    seen.allowed_bps = 20 * OCHE_GBPS;
    pair_run(pair, pair->now + 4 * OCHE_US);
    assert_true(rate(pair, 0) == 20 * OCHE_GBPS);
    seen.allowed_bps = LINE; /* no switch has lowered it */
    pair_run_quiet(pair);
    assert_true(rate(pair, 0) == LINE);
    assert_int_equal(seen.data[0], 60);
    assert_int_equal(seen.echoes[1], 60);
    assert_int_equal(seen.plain[1] + seen.own[1], 0);
    assert_int_equal(oche_nic_stats(pair->side[0].nic)->rejected_packets, 0);
    assert_memory_equal(pair->side[1].memory, pair->side[0].memory, 60 * 1024);
    pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
    pair_close(pair);
}

/* `start: send`: a twentieth of the line until the ACK comes. */
static void or_all_leave(void **state)
{
    struct seen seen;
    struct pair *pair = open_with((struct pair_options){.ack_every = 1}, "send", &seen);

    (void)state;
    post(pair, 0, OCHE_WORK_WRITE, 60 * 1024);
    pair_run(pair, pair->now + 3 * OCHE_US / 2); /* a packet takes 1.8 us at 5 Gbit/s */
    assert_int_equal(seen.data[0], 1);
    pair_run(pair, pair->now + OCHE_US / 2);
    assert_int_equal(seen.data[0], 2);
    pair_run_quiet(pair);
    pair_close(pair);
}

/* ACKs are requested every half a round trip; otherwise only a message's last packet would ask. */
static void asks_for_acks(void **state)
{
    struct seen seen;
    struct pair *pair = open_with((struct pair_options){.ack_every = 1000}, "ask", &seen);

    (void)state;
    post(pair, 0, OCHE_WORK_WRITE, 200 * 1024); /* 200 packets of 0.9 us */
    pair_run_quiet(pair);
    assert_in_range(seen.asked, 60, 200);
    assert_int_equal(seen.echoes[1], seen.asked);
    pair_close(pair);
}

/* An idle time longer than a round trip makes a new flow. A shorter one does not. */
static void idleness(void **state)
{
    struct seen seen;
    struct pair *pair = open_with((struct pair_options){.ack_every = 1}, "ask", &seen);

    (void)state;
    post(pair, 0, OCHE_WORK_WRITE, 20 * 1024);
    while (oche_nic_stats(pair->side[0].nic)->acks_received < 20)
        assert_true(pair_step(pair, OCHE_MS));
    assert_true(rate(pair, 0) == 10 * OCHE_GBPS);
    seen.data[0] = 0;
    pair_run(pair, pair->now + OCHE_US);
    post(pair, 0, OCHE_WORK_WRITE, 20 * 1024);
    pair_run(pair, pair->now + 2 * OCHE_US);
    assert_in_range(seen.data[0], 2, 3);
    pair_run_quiet(pair);
    seen.data[0] = 0;
    pair_run(pair, pair->now + 4 * OCHE_US);
    post(pair, 0, OCHE_WORK_WRITE, 20 * 1024);
    pair_run(pair, pair->now + 2 * OCHE_US);
    assert_int_equal(seen.data[0], 1);
    assert_true(rate(pair, 0) == LINE / 20);
    pair_run_quiet(pair);
    assert_true(rate(pair, 0) == 10 * OCHE_GBPS);
    pair_close(pair);
}

/* READ: the data gets no ACKs. The requester echoes, at most twice in a round trip. */
static void read(void **state)
{
    struct seen seen;
    struct pair *pair = open_with((struct pair_options){.initiator_depth = 4}, "ask", &seen);

    (void)state;
    pair_fill(pair, 1, 0, 200 * 1024, 9);
    post(pair, 0, OCHE_WORK_READ, 200 * 1024);
    pair_run(pair, pair->now + 3 * OCHE_US);
    assert_true(rate(pair, 1) == LINE / 20);
    pair_run(pair, pair->now + 2 * OCHE_US);
    assert_true(rate(pair, 1) == 10 * OCHE_GBPS);
    assert_true(rate(pair, 0) == LINE / 20);
    oche_time began = pair->now;
    uint32_t own = seen.own[0];
    pair_run_quiet(pair);
    assert_int_equal(seen.data[1], 200);
    assert_in_range(seen.own[0] - own, 50, (pair->now - began) / OCHE_US + 2);
    assert_in_range(seen.last[1].rtt_ns, 2000, 2300);
    assert_int_equal(seen.own[1], 0);
    assert_memory_equal(pair->side[0].memory, pair->side[1].memory, 200 * 1024);
    pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
    pair_close(pair);
}

static void unreliable(void **state)
{
    struct seen seen;
    struct pair *pair =
        open_with((struct pair_options){.transport = OCHE_TRANSPORT_UC}, "ask", &seen);

    (void)state;
    post(pair, 0, OCHE_WORK_WRITE, 200 * 1024);
    pair_run(pair, pair->now + 2 * OCHE_US);
    assert_int_equal(seen.data[0], 2); /* a window does not limit a sender that gets no ACKs */
    pair_run(pair, pair->now + OCHE_US);
    assert_true(rate(pair, 0) == 10 * OCHE_GBPS);
    pair_run_quiet(pair);
    assert_in_range(seen.own[1], 80, 200);
    assert_int_equal(seen.echoes[1], 0);
    pair_close(pair);
}

/* A timeout: the sender asks again, with one packet. */
static enum pair_fate drop_all(struct pair *pair, int from, const struct oche_packet *packet)
{
    (void)pair, (void)from, (void)packet;
    return PAIR_DROP;
}

static void a_timeout(void **state)
{
    struct seen seen;
    struct pair *pair = open_with((struct pair_options){.ack_every = 1}, "ask", &seen);

    (void)state;
    post(pair, 0, OCHE_WORK_WRITE, 60 * 1024);
    pair_run(pair, pair->now + 5 * OCHE_US);
    assert_true(rate(pair, 0) == 10 * OCHE_GBPS);
    pair->fate = drop_all;
    pair_run(pair, pair->now + 400 * OCHE_US);
    seen.data[0] = 0;
    pair_run(pair, pair->now + 500 * OCHE_US);
    assert_int_equal(seen.data[0], 1);
    assert_true(rate(pair, 0) == LINE / 20);
    pair->fate = NULL;
    pair_run_quiet(pair);
    pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
    pair_close(pair);
}

/*
 * Losses, doubles and delays, with both recovery schemes, whose headers are combined with trailers.
 */
static void with_losses(void **state)
{
    static const char *const recoveries[] = {"go_back_n", "selective_repeat"};

    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        const struct oche_recovery_scheme *recovery = oche_recovery_find(recoveries[seed % 2]);
        uint64_t params[32];
        struct seen seen;

        oche_param_defaults(&recovery->table, params);
        struct pair *pair = open_with((struct pair_options){.recovery = recovery,
                                                            .own_recovery_params = params,
                                                            .peer_recovery_params = params,
                                                            .seed = seed,
                                                            .drop = 30,
                                                            .late = 10,
                                                            .twice = 10,
                                                            .damage = 10,
                                                            .retry_count = UINT32_MAX},
                                      "ask", &seen);
        pair_fill(pair, 0, 0, 200 * 1024, (uint8_t)seed);
        post(pair, 0, OCHE_WORK_WRITE, 200 * 1024);
        pair_run_quiet(pair);
        pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
        assert_memory_equal(pair->side[1].memory, pair->side[0].memory, 200 * 1024);
        assert_true(rate(pair, 0) == 10 * OCHE_GBPS || rate(pair, 0) == LINE / 20);
        pair_close(pair);
    }
}

/* Rates from strangers, of zero, and beyond all bounds; a stamp that was never sent. */
static void nonsense(void **state)
{
    struct seen seen;
    struct pair *pair = open_with((struct pair_options){0}, "ask", &seen);
    struct oche_packet packet = pair_packet(pair, 1, OCHE_RATE, 0, 0);
    const struct oche_nic_stats *stats = oche_nic_stats(pair->side[0].nic);

    (void)state;
    post(pair, 0, OCHE_WORK_WRITE, 60 * 1024);
    pair_run(pair, pair->now + 3 * OCHE_US);
    packet.bth_reserved = OCHE_BTH_EXTENSIONS;
    packet.src = 7;
    oche_rate_echo_put(&packet, &(struct oche_rate_echo){1, 0});
    oche_nic_receive(pair->side[0].nic, &packet, pair->now);
    assert_int_equal(stats->rejected_packets, 1);
    packet.src = 101;
    packet.ext = 0; /* no header */
    oche_nic_receive(pair->side[0].nic, &packet, pair->now);
    oche_rate_echo_put(&packet, &(struct oche_rate_echo){0, 0});
    oche_nic_receive(pair->side[0].nic, &packet, pair->now);
    assert_true(rate(pair, 0) == 10 * OCHE_GBPS);
    oche_rate_echo_put(&packet, &(struct oche_rate_echo){UINT32_MAX, UINT32_MAX});
    oche_nic_receive(pair->side[0].nic, &packet, pair->now);
    assert_true(rate(pair, 0) == LINE);
    uint32_t future = (uint32_t)(pair->now / OCHE_NS) + 1;
    oche_rate_echo_put(&packet, &(struct oche_rate_echo){1, future});
    oche_nic_receive(pair->side[0].nic, &packet, pair->now);
    assert_true(rate(pair, 0) == OCHE_RATE_UNIT_BPS);
    pair_run(pair, pair->now + OCHE_SEC);
    assert_in_range(seen.last[0].rtt_ns, 2000, 10000); /* UINT32_MAX ns is no valid round trip */
    assert_true(rate(pair, 0) == 10 * OCHE_GBPS);
    pair_run_quiet(pair);
    pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
    pair_close(pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_packet_asks),
        cmocka_unit_test(or_all_leave),
        cmocka_unit_test(asks_for_acks),
        cmocka_unit_test(idleness),
        cmocka_unit_test(read),
        cmocka_unit_test(unreliable),
        cmocka_unit_test(a_timeout),
        cmocka_unit_test(with_losses),
        cmocka_unit_test(nonsense),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
