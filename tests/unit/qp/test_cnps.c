/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CNPs and their possible senders. A peer with extensions names the PSN that it expects next. A CNP
 * without a PSN, or with another one, is void. CNPs of a plain peer count, because they name none.
 */
#include "tests/support/test.h"

#include "core/cc/dcqcn.h"
#include "core/recovery/go_back_0.h"
#include "core/wire/aeth.h"
#include "core/wire/cnp.h"
#include "tests/support/pair.h"

#define LINE    (10 * OCHE_GBPS)
#define MESSAGE (32 * 1024)
#define SLACK   512
#define FLOOD   (50 * OCHE_US) /* between two forged CNPs: 20,000 a second */

struct link {
    uint32_t named, unnamed; /* CNPs on the link, with and without a PSN */
    uint32_t marks;          /* one of so many data packets is marked; 0: none */
};

static void tap(struct pair *pair, int from, const struct oche_packet *packet)
{
    struct link *link = pair->context;
    uint32_t psn;

    (void)from;
    if (packet->opcode == OCHE_CNP) {
        const bool names = oche_cnp_get_psn(packet, &psn);
        link->named += names;
        link->unnamed += !names;
    }
    if (link->marks > 0 && packet->psn % link->marks == 1 && packet->payload_bytes > 0)
        ((struct oche_packet *)(uintptr_t)packet)->ecn = OCHE_ECN_CE;
}

/*
 * A pair with DCQCN at both ends. `plain`: side 1 has no congestion control and shows no
 * extensions.
 */
static struct pair *open_pair(struct pair_options options, bool plain, struct link *link)
{
    static uint64_t params[128];

    oche_param_defaults(&oche_cc_dcqcn.table, params);
    options.cc = &oche_cc_dcqcn;
    options.cc_params = params;
    options.peer_cc = plain ? &pair_cc_idle : &oche_cc_dcqcn;
    options.peer_cc_params = params;
    options.line_rate_bps = LINE;
    options.bytes = true;
    options.in_flight = 512;
    struct pair *pair = pair_open(&options);
    *link = (struct link){0};
    pair->context = link;
    pair->tap = tap;
    return pair;
}

static void post(struct pair *pair, int side, enum oche_work_opcode opcode, uint64_t wr_id)
{
    struct oche_send_work work = pair_work(opcode, wr_id, 0, 0, MESSAGE);

    pair_post(pair, side, &work);
}

/* A CNP for side 0, as a stranger would send it who knows the address and the number. */
static struct oche_packet forged(const struct pair *pair, uint8_t reserved)
{
    struct oche_packet cnp = pair_packet(pair, 1, OCHE_CNP, 0, 0);

    cnp.bth = OCHE_BTH_BECN;
    cnp.bth_reserved = reserved;
    return cnp;
}

static uint64_t voided(const struct pair *pair, int side)
{
    return oche_nic_rejected(pair->side[side].nic, OCHE_REJECT_CNP);
}

/* SENDs, WRITEs and READs, both ways at once. Their marks cause CNPs, and each of them counts. */
static void genuine(void **state)
{
    static const enum oche_work_opcode opcodes[] = {OCHE_WORK_WRITE, OCHE_WORK_READ};

    (void)state;
    for (unsigned losses = 0; losses < 2; losses++) {
        struct link link;
        struct pair *pair = open_pair((struct pair_options){.drop = 20 * losses,
                                                            .twice = 20 * losses,
                                                            .late = 20 * losses,
                                                            .ack_every = 16,
                                                            .seed = 5,
                                                            .retry_count = UINT32_MAX},
                                      false, &link);
        link.marks = 8;
        for (unsigned i = 0; i < 6; i++)
            for (int side = 0; side < 2; side++)
                post(pair, side, opcodes[(i + (unsigned)side) % 2], i);
        pair_run_quiet(pair);
        uint64_t received = 0;
        for (int side = 0; side < 2; side++) {
            assert_int_equal(voided(pair, side), 0);
            assert_true(oche_nic_stats(pair->side[side].nic)->cnps_received > 0);
            received += oche_nic_stats(pair->side[side].nic)->cnps_received;
        }
        assert_true(losses > 0 || received == link.named);
        assert_int_equal(link.unnamed, 0);
        pair_close(pair);
    }
}

/* The PSNs that a CNP may name: from long acknowledged to just sent. */
static void edges(void **state)
{
    struct link link;
    struct pair *pair = open_pair((struct pair_options){.first_psn = 20}, false, &link);
    const struct oche_nic_stats *stats = oche_nic_stats(pair->side[0].nic);
    const uint32_t next = 20 + MESSAGE / PAIR_MTU; /* all before it is acknowledged */
    const struct {
        uint32_t psn;
        bool counts;
    } cases[] = {
        {next, true},
        {next - 1, true},
        {oche_psn_add(next, OCHE_PSN_MASK + 1 - SLACK), true},
        {next + 1, false},
        {oche_psn_add(next, OCHE_PSN_MASK - SLACK), false},
        {oche_psn_add(next, 1u << 23), false},
    };

    (void)state;
    post(pair, 0, OCHE_WORK_WRITE, 1);
    pair_run_quiet(pair);
    for (size_t i = 0; i < OCHE_COUNT_OF(cases); i++) {
        const uint64_t before = stats->cnps_received, were = voided(pair, 0);
        struct oche_packet cnp = forged(pair, OCHE_BTH_CNP_PSN);

        oche_cnp_put_psn(&cnp, cases[i].psn);
        pair_inject(pair, 1, &cnp);
        assert_int_equal(stats->cnps_received - before, cases[i].counts);
        assert_int_equal(voided(pair, 0) - were, !cases[i].counts);
    }
    struct oche_packet cnp = forged(pair, OCHE_BTH_CNP_PSN);
    oche_cnp_put_psn(&cnp, next);
    cnp.cnp_reserved[0] = 2; /* nothing that is known */
    const uint64_t were = voided(pair, 0);
    pair_inject(pair, 1, &cnp);
    assert_int_equal(voided(pair, 0), were + 1);
    pair_close(pair);
}

/* Go-Back-0: the receiver has restarted the message, while parts of it were acknowledged. */
static void restarted(void **state)
{
    static const struct oche_go_back_0_params params = {.nak_interval = OCHE_US,
                                                        .nak_exception = true};
    struct link link;
    struct pair *pair = open_pair((struct pair_options){.recovery = &oche_recovery_go_back_0,
                                                        .own_recovery_params = &params,
                                                        .ack_every = 1},
                                  false, &link);
    struct oche_packet cnp = forged(pair, OCHE_BTH_CNP_PSN);

    (void)state;
    post(pair, 0, OCHE_WORK_WRITE, 1);
    pair_run(pair, pair->now + 20 * OCHE_US);
    oche_cnp_put_psn(&cnp, 0); /* the message's first */
    oche_nic_receive(pair->side[0].nic, &cnp, pair->now);
    assert_int_equal(voided(pair, 0), 0);
    pair_close(pair);
}

/* UC: its receiver sends no packet with a PSN, so it cannot show extensions. */
static void unreliable(void **state)
{
    struct link link;
    struct pair *pair =
        open_pair((struct pair_options){.transport = OCHE_TRANSPORT_UC}, false, &link);
    struct oche_packet cnp = forged(pair, OCHE_BTH_CNP_PSN);

    (void)state;
    link.marks = 8;
    post(pair, 0, OCHE_WORK_WRITE, 1);
    pair_run_quiet(pair);
    assert_true(link.unnamed > 0);
    assert_int_equal(link.named, 0);
    pair_inject(pair, 1, &cnp);
    assert_int_equal(oche_nic_stats(pair->side[0].nic)->cnps_received, link.unnamed + 1);
    pair_close(pair);
}

/*
 * Marked data that the peer cannot have sent causes no CNP, because that would name the right PSN.
 */
static void forged_marks(void **state)
{
    static const struct {
        int32_t ahead; /* of the expected PSN */
        bool counts;
    } cases[] = {{1, true},      {-1, true},      {32768, true},    {-32768, true},
                 {32769, false}, {-32769, false}, {1 << 22, false}, {-(1 << 22), false}};

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(cases); i++) {
        for (unsigned read = 0; read < 2; read++) {
            struct link link;
            struct pair *pair =
                open_pair((struct pair_options){.first_psn = 0x400000}, false, &link);
            const uint8_t opcode = read ? OCHE_RC_READ_RESPONSE_MIDDLE : OCHE_RC_WRITE_MIDDLE;
            const uint32_t from = read ? 0x400000 + 1000 : 0x400000;
            const uint32_t psn = oche_psn_add(from, (uint32_t)cases[i].ahead & OCHE_PSN_MASK);
            struct oche_packet packet = pair_packet(pair, 0, opcode, psn, PAIR_MTU);

            packet.ecn = OCHE_ECN_CE;
            oche_nic_receive(pair->side[1].nic, &packet, pair->now);
            pair_run(pair, pair->now + OCHE_US);
            assert_int_equal(oche_nic_stats(pair->side[1].nic)->ce_received, 1);
            assert_int_equal(oche_nic_stats(pair->side[1].nic)->cnps_sent, cases[i].counts);
            pair_close(pair);
        }
    }
}

/*
 * Returns the bytes that 20 ms of WRITEs deliver while a stranger sends CNPs as often as it can:
 * none, without a PSN, or with each PSN in turn.
 */
enum flood { NO_FLOOD, NO_PSN, ALL_PSNS };

static uint64_t delivered(bool plain, enum flood flood)
{
    struct link link;
    struct pair *pair = open_pair((struct pair_options){.ack_every = 8}, plain, &link);
    oche_time next = pair->now + 100 * OCHE_US;
    const oche_time end = pair->now + 20 * OCHE_MS;
    uint32_t psn = 0x123456;
    uint64_t wr_id = 0;

    while (pair->now < end) {
        while (wr_id < pair->side[1].delivered_messages + 8)
            post(pair, 0, OCHE_WORK_WRITE, wr_id++);
        if (!pair_step(pair, next))
            pair->now = next;
        if (pair->now < next)
            continue;
        next += FLOOD;
        struct oche_packet cnp = forged(pair, OCHE_BTH_EXTENSIONS | OCHE_BTH_CNP_PSN);
        if (flood == ALL_PSNS)
            oche_cnp_put_psn(&cnp, psn += 9973);
        if (flood != NO_FLOOD)
            oche_nic_receive(pair->side[0].nic, &cnp, pair->now);
    }
    const uint64_t bytes = pair->side[1].delivered_bytes;
    pair_close(pair);
    return bytes;
}

static void flood(void **state)
{
    const uint64_t calm = delivered(false, NO_FLOOD);

    (void)state;
    assert_in_range(calm, 20000000, 25000000); /* on a line of 10 Gbit/s, in 20 ms */
    assert_true(delivered(false, NO_PSN) == calm);
    assert_in_range(delivered(false, ALL_PSNS), calm * 95 / 100, calm);
    assert_in_range(delivered(true, NO_PSN), 0, calm / 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(genuine),    cmocka_unit_test(edges),        cmocka_unit_test(restarted),
        cmocka_unit_test(unreliable), cmocka_unit_test(forged_marks), cmocka_unit_test(flood),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
