/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dart on the wire between two NICs. The share travels only between peers that have both shown
 * support, in ACKs, NAKs and updates. Other peers see plain RoCEv2, and Dart then acts as DCQCN.
 * READ and unreliable queue pairs; packets of hostile or broken peers.
 */
#include "tests/support/test.h"

#include <errno.h>
#include <string.h>

#include "core/cc/dart/dart.h"
#include "core/qp/qp_internal.h"
#include "core/recovery/selective_repeat.h"
#include "core/wire/opcode.h"
#include "tests/support/pair.h"

#define LINE (100 * OCHE_GBPS)

struct seen {
    uint32_t shares[2];  /* by side: ACKs and NAKs with a share */
    uint32_t updates[2]; /* SHARE */
    uint32_t plain[2];   /* ACKs and NAKs without */
    uint32_t bit[2];     /* packets with the bit */
    uint32_t lists[2];   /* of senders of an incast */
    uint32_t last[2];    /* what was said last */
    bool mark;           /* marks a data packet of side 0 at intervals */
};

static void tap(struct pair *pair, int from, const struct oche_packet *packet)
{
    struct seen *seen = pair->context;

    seen->bit[from] += (packet->bth_reserved & OCHE_BTH_EXTENSIONS) != 0;
    seen->plain[from] += packet->opcode == OCHE_RC_ACK;
    seen->shares[from] += packet->opcode == OCHE_RC_ACK_SHARE;
    seen->lists[from] += (packet->ext & OCHE_EXT_LIST) != 0;
    seen->updates[from] += packet->opcode == OCHE_SHARE;
    if (oche_opcode_has(packet->opcode, OCHE_OP_HAS(SHARE)))
        seen->last[from] = oche_share_get(packet).senders;
    if (seen->mark && from == 0 && packet->psn % 16 == 1 && packet->payload_bytes > 0)
        ((struct oche_packet *)(uintptr_t)packet)->ecn = OCHE_ECN_CE;
}

static const void *defaults(const char *name)
{
    static uint64_t params[4][128];
    static unsigned used;
    uint64_t *mine = params[used++ % 4];

    oche_param_defaults(&oche_cc_find(name)->table, mine);
    return mine;
}

/* A pair of NICs with a scheme each; packets are bytes on the link. */
static struct pair *open_pair(struct pair_options options, const char *first, const char *second,
                              struct seen *seen)
{
    options.cc = oche_cc_find(first);
    options.cc_params = defaults(first);
    options.peer_cc = oche_cc_find(second);
    options.peer_cc_params = defaults(second);
    options.bytes = true;
    options.mtu = 1024;
    struct pair *pair = pair_open(&options);
    *seen = (struct seen){0};
    pair->tap = tap;
    pair->context = seen;
    return pair;
}

static void post(struct pair *pair, int side, enum oche_work_opcode opcode, uint32_t length)
{
    struct oche_send_work work = pair_work(opcode, 1, 0, 0, length);

    pair_post(pair, side, &work);
}

static struct oche_dart_view view(const struct pair *pair, int side)
{
    return oche_dart_look(pair->side[side].nic->cc_nic.state);
}

/*
 * At first neither side knows of the other's support. The first data shows it, and the first ACK
 * has the share.
 */
static void finds_out(void **state)
{
    struct seen seen;
    struct pair *pair = open_pair((struct pair_options){0}, "dart", "dart", &seen);

    (void)state;
    post(pair, 0, OCHE_WORK_WRITE, 10 * 1024);
    pair_run_quiet(pair);
    assert_int_equal(seen.shares[1], 10);
    assert_int_equal(seen.plain[1], 0);
    assert_int_equal(seen.last[1], 1);
    assert_int_equal(view(pair, 1).senders, 0);
    assert_int_equal(oche_nic_stats(pair->side[0].nic)->acks_received, 10);
    assert_int_equal(oche_nic_stats(pair->side[0].nic)->rejected_packets, 0);
    pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
    pair_close(pair);
}

/*
 * A peer without Dart, on either side: every packet is plain RoCEv2. Marks come back as CNPs by
 * DCQCN's rules, and no share limits the rate.
 */
static void plain_peer(void **state)
{
    (void)state;
    for (int with = 0; with < 2; with++) {
        struct seen seen;
        struct pair *pair =
            open_pair((struct pair_options){.send_depth = 16}, with == 0 ? "dart" : "dcqcn",
                      with == 0 ? "dcqcn" : "dart", &seen);
        struct oche_qp *sender = pair->side[0].qp[0];

        seen.mark = true;
        for (unsigned i = 0; i < 16; i++)
            post(pair, 0, OCHE_WORK_WRITE, 60 * 1024);
        pair_run(pair, pair->now + 100 * OCHE_US);
        if (with == 0) /* DCQCN's notification point answers each window with a mark */
            assert_true(oche_qp_rate_bps(sender) <= LINE / 2);
        pair_run_quiet(pair);
        assert_int_equal(seen.shares[0] + seen.shares[1] + seen.updates[0] + seen.updates[1], 0);
        assert_true(seen.plain[1] > 0);
        assert_int_equal(seen.bit[1 - with], 0);
        assert_true(seen.bit[with] > 0);
        for (int side = 0; side < 2; side++)
            assert_int_equal(oche_nic_stats(pair->side[side].nic)->rejected_packets, 0);
        if (with == 0)
            assert_true(oche_nic_stats(pair->side[0].nic)->cnps_received > 0);
        pair_close(pair);
    }
}

/*
 * Two sides that show the bit for different reasons: selective repeat without Dart, and Dart with
 * Go-Back-N. Each may send packets that the other does not need. Data is whole, with losses.
 */
static void different_extensions(void **state)
{
    const struct oche_recovery_scheme *selective = oche_recovery_find("selective_repeat");
    const struct oche_recovery_scheme *go_back_n = oche_recovery_find("go_back_n");
    uint64_t selective_params[32], go_back_n_params[32];

    (void)state;
    oche_param_defaults(&selective->table, selective_params);
    oche_param_defaults(&go_back_n->table, go_back_n_params);
    for (int sender = 0; sender < 2; sender++) {
        for (uint64_t seed = 1; seed <= 30; seed++) {
            struct seen seen;
            struct pair *pair =
                open_pair((struct pair_options){.recovery = selective,
                                                .own_recovery_params = selective_params,
                                                .peer_recovery = go_back_n,
                                                .peer_recovery_params = go_back_n_params,
                                                .extensions = seed & 1,
                                                .seed = seed,
                                                .drop = 30,
                                                .late = 10,
                                                .twice = 10,
                                                .retry_count = UINT32_MAX},
                          "dcqcn", "dart", &seen);
            pair_fill(pair, sender, 0, 200 * 1024, (uint8_t)seed);
            post(pair, sender, OCHE_WORK_WRITE, 200 * 1024);
            post(pair, sender, OCHE_WORK_READ, 0);
            pair_run_quiet(pair);
            pair_expect(pair, sender, 1, OCHE_STATUS_SUCCESS);
            pair_expect(pair, sender, 1, OCHE_STATUS_SUCCESS);
            assert_memory_equal(pair->side[1 - sender].memory, pair->side[sender].memory,
                                200 * 1024);
            assert_int_equal(oche_nic_rejected(pair->side[0].nic, OCHE_REJECT_OPCODE), 0);
            assert_int_equal(oche_nic_rejected(pair->side[1].nic, OCHE_REJECT_OPCODE), 0);
            if (sender == 0)
                assert_true(seen.shares[1] > 0);
            pair_close(pair);
        }
    }
}

/* READ: the requester receives the data, and sends updates. The data gets no ACKs. */
static void read(void **state)
{
    struct seen seen;
    struct pair *pair = open_pair(
        (struct pair_options){.initiator_depth = 4, .first_psn = 0x500000}, "dart", "dart", &seen);

    (void)state;
    post(pair, 0, OCHE_WORK_READ, 100 * 1024);
    pair_run(pair, pair->now + 5 * OCHE_US);
    assert_int_equal(view(pair, 0).senders, 1);
    assert_int_equal(view(pair, 1).senders, 0);
    assert_true(seen.updates[0] > 0); /* because the responder has shown support */
    assert_int_equal(seen.last[0], 1);
    pair_run_quiet(pair);
    assert_int_equal(view(pair, 0).senders, 0);
    assert_int_equal(oche_nic_rejected(pair->side[1].nic, OCHE_REJECT_CNP), 0);
    pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
    pair_close(pair);
}

/* UC: no ACKs, but updates. The sender's data has shown the bit. */
static void unreliable(void **state)
{
    struct seen seen;
    struct pair *pair =
        open_pair((struct pair_options){.transport = OCHE_TRANSPORT_UC}, "dart", "dart", &seen);
    struct oche_share share = {.senders = 4, .sequence = 99};
    struct oche_packet update = pair_packet(pair, 1, OCHE_SHARE, 0, 0);

    (void)state;
    post(pair, 0, OCHE_WORK_WRITE, 200 * 1024);
    pair_run(pair, pair->now + 5 * OCHE_US);
    assert_int_equal(view(pair, 1).senders, 1);
    assert_int_equal(seen.bit[0], oche_nic_stats(pair->side[0].nic)->data_packets_sent);
    oche_share_put(&update, &share);
    update.bth_reserved = OCHE_BTH_EXTENSIONS;
    oche_nic_receive(pair->side[0].nic, &update, pair->now);
    assert_true(oche_qp_rate_bps(pair->side[0].qp[0]) == LINE / 4);
    pair_run_quiet(pair);
    assert_int_equal(view(pair, 1).senders, 0);
    pair_close(pair);
}

/* Returns a pair whose side 0 has written PSNs 0x500000 to 0x500003, all acknowledged. */
static struct pair *open_and_write(struct seen *seen)
{
    struct pair *pair =
        open_pair((struct pair_options){.first_psn = 0x500000}, "dart", "dart", seen);

    post(pair, 0, OCHE_WORK_WRITE, 4 * 1024);
    pair_run_quiet(pair);
    return pair;
}

/* A share counts in an old ACK, too, because that may be late. It does not in an ACK of any PSN. */
static void old_acks(void **state)
{
    static const struct {
        uint32_t behind; /* what is acknowledged */
        bool counts, rejected;
    } cases[] = {{1, true, false},       {512, true, false},   {513, false, false},
                 {32768, false, false},  {32769, false, true}, {1u << 22, false, true},
                 {1u << 23, false, true}};
    const struct oche_share share = {.senders = 1000, .sequence = 9};

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(cases); i++) {
        struct seen seen;
        struct pair *pair = open_and_write(&seen);

        struct oche_packet ack =
            pair_packet(pair, 1, OCHE_RC_ACK_SHARE, 0x500000 + 3 - cases[i].behind, 0);
        ack.aeth = oche_aeth(OCHE_SYNDROME_ACK, 0);
        ack.bth_reserved = OCHE_BTH_EXTENSIONS;
        oche_share_put(&ack, &share);
        post(pair, 0, OCHE_WORK_WRITE, 4 * 1024);
        pair_run(pair, pair->now + OCHE_US / 2);
        oche_nic_receive(pair->side[0].nic, &ack, pair->now);
        assert_true((oche_qp_rate_bps(pair->side[0].qp[0]) == LINE / 1000) == cases[i].counts);
        assert_int_equal(oche_nic_rejected(pair->side[0].nic, OCHE_REJECT_PSN), cases[i].rejected);
        pair_close(pair);
    }
}

/* A SHARE for side 0's queue pair `index`, as a stranger who knows all numbers would send it. */
static struct oche_packet update_naming(const struct pair *pair, uint32_t psn, uint16_t senders,
                                        uint8_t sequence)
{
    const struct oche_share share = {.senders = senders, .sequence = sequence};
    struct oche_packet update = pair_packet(pair, 1, OCHE_SHARE, psn & OCHE_PSN_MASK, 0);

    update.bth_reserved = OCHE_BTH_EXTENSIONS;
    oche_share_put(&update, &share);
    return update;
}

/*
 * A SHARE on a reliable connection names the PSN that its sender expects next. Otherwise it is
 * void.
 */
static void forged_updates(void **state)
{
    static const struct {
        int32_t ahead; /* the oldest one not acknowledged; one is on its way */
        bool counts;
    } cases[] = {{0, true},     {1, true},        {-512, true},       {2, false},
                 {-513, false}, {1 << 22, false}, {-(1 << 22), false}};

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(cases); i++) {
        struct seen seen;
        struct pair *pair = open_and_write(&seen);

        post(pair, 0, OCHE_WORK_WRITE, 1024);
        pair_run(pair, pair->now + OCHE_US / 2);
        const struct oche_packet update =
            update_naming(pair, 0x500004 + (uint32_t)cases[i].ahead, 1000, 99);
        oche_nic_receive(pair->side[0].nic, &update, pair->now);
        assert_int_equal(oche_qp_rate_bps(pair->side[0].qp[0]),
                         cases[i].counts ? LINE / 1000 : LINE);
        assert_int_equal(oche_nic_rejected(pair->side[0].nic, OCHE_REJECT_CNP), !cases[i].counts);
        pair_close(pair);
    }
}

/* A receiver may claim any number of senders: a queue pair keeps its minimum rate. */
static void least_rate(void **state)
{
    struct seen seen;
    struct pair *pair =
        open_pair((struct pair_options){.line_rate_bps = 10 * OCHE_GBPS}, "dart", "dart", &seen);

    (void)state;
    post(pair, 0, OCHE_WORK_WRITE, 2 * 1024);
    pair_run_quiet(pair);
    post(pair, 0, OCHE_WORK_WRITE, 8 * 1024);
    pair_run(pair, pair->now + OCHE_US);
    const struct oche_packet update = update_naming(pair, 2, UINT16_MAX, 99);
    oche_nic_receive(pair->side[0].nic, &update, pair->now);
    assert_int_equal(oche_qp_rate_bps(pair->side[0].qp[0]), OCHE_MBPS);
    pair_close(pair);
}

/*
 * Two queue pairs to one address: a share applies to those of the device that sent it. Where an
 * address has several devices, the queue pair number decides.
 */
static void devices_of_an_address(void **state)
{
    (void)state;
    for (unsigned apart = 0; apart < 2; apart++) {
        struct seen seen;
        struct pair *pair = open_pair(
            (struct pair_options){
                .qps = 2, .extensions = true, .peer_qpn_bits = 6, .send_depth = 4},
            "dart", "dart", &seen);
        struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 1, 0, 0, 64 * 1024);

        for (uint32_t i = 0; i < 2; i++) {
            struct oche_qp_connection connection = pair_connection(pair, 0, i);
            struct oche_qp *qp = pair->side[0].qp[i];

            connection.remote_qpn |= i == 1 && apart ? 5u << 18 : 0;
            oche_qp_fail(qp, 0);
            oche_qp_reset(qp);
            assert_true(oche_qp_init(qp, 0) && oche_qp_ready_to_receive(qp, &connection, 0) &&
                        oche_qp_ready_to_send(qp, 0));
            assert_int_equal(oche_qp_post_send(qp, &work), 0);
        }
        pair_run(pair, pair->now + OCHE_US / 2);
        const struct oche_packet update = update_naming(pair, 0, 100, 99);
        oche_nic_receive(pair->side[0].nic, &update, pair->now);
        assert_int_equal(oche_qp_rate_bps(pair->side[0].qp[0]), LINE / (apart ? 100 : 200));
        assert_int_equal(oche_qp_rate_bps(pair->side[0].qp[1]), apart ? LINE : LINE / 200);
        pair_close(pair);
    }
}

/* Shares from peers that have not shown the bit, for nobody, or for zero senders have no effect. */
static void nonsense(void **state)
{
    static const uint8_t opcodes[] = {OCHE_SHARE, OCHE_RC_ACK_SHARE};
    struct oche_share share = {.senders = 1000};

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct seen seen;
        struct pair *pair = open_pair((struct pair_options){0}, "dart", "dart", &seen);
        struct oche_packet packet = pair_packet(pair, 1, opcodes[i], 0, 0);
        const struct oche_nic_stats *stats = oche_nic_stats(pair->side[0].nic);

        post(pair, 0, OCHE_WORK_WRITE, 60 * 1024);
        pair_run(pair, pair->now + OCHE_US / 2);
        struct oche_packet ack = pair_packet(pair, 1, OCHE_RC_ACK, 0, 0);
        packet.aeth = oche_aeth(OCHE_SYNDROME_ACK, 0);
        packet.bth_reserved = 0;
        oche_share_put(&packet, &share);
        oche_nic_receive(pair->side[0].nic, &packet, pair->now);
        assert_int_equal(stats->rejected_packets, 1);
        packet.bth_reserved = OCHE_BTH_EXTENSIONS;
        packet.src = 7;
        oche_nic_receive(pair->side[0].nic, &packet, pair->now);
        assert_int_equal(stats->rejected_packets, 2);
        packet.src = 101;
        ack.bth_reserved = OCHE_BTH_EXTENSIONS;
        ack.aeth = oche_aeth(OCHE_SYNDROME_ACK, 0);
        oche_nic_receive(pair->side[0].nic, &ack, pair->now);
        packet.ext = 0; /* no header */
        oche_nic_receive(pair->side[0].nic, &packet, pair->now);
        share.senders = 0;
        oche_share_put(&packet, &share);
        oche_nic_receive(pair->side[0].nic, &packet, pair->now);
        assert_true(oche_qp_rate_bps(pair->side[0].qp[0]) == LINE);
        share.senders = 1000;
        oche_share_put(&packet, &share);
        oche_nic_receive(pair->side[0].nic, &packet, pair->now);
        assert_true(oche_qp_rate_bps(pair->side[0].qp[0]) == LINE / 1000);
        pair_close(pair);
    }
}

/* A peer that dies in the middle of a message counts until the timeout, and not longer. */
static void a_dead_peer(void **state)
{
    struct seen seen;
    struct pair *pair = open_pair((struct pair_options){0}, "dart", "dart", &seen);

    (void)state;
    post(pair, 0, OCHE_WORK_WRITE, 200 * 1024);
    pair_run(pair, pair->now + 3 * OCHE_US);
    oche_qp_fail(pair->side[0].qp[0], pair->now);
    oche_time last = pair->now + 2 * OCHE_US;
    pair_run(pair, pair->now + OCHE_SEC);
    assert_int_equal(view(pair, 1).senders, 1);
    pair_run(pair, last + 2 * OCHE_SEC);
    assert_int_equal(view(pair, 1).senders, 0);
    assert_int_equal(view(pair, 1).timeouts, 1);
    pair_close(pair);
}

/*
 * An incast's list is sent only to a peer known to understand it: not with the first message of a
 * new connection, and never to a plain peer. Announced senders that do not come are forgotten.
 */
static void lists(void **state)
{
    const uint8_t members[] = {0, 100, 0, 150, 0, 160};
    struct oche_group group = {.id = 3, .count = 3, .members = members};

    (void)state;
    for (int plain = 0; plain < 2; plain++) {
        struct seen seen;
        struct pair *pair = open_pair((struct pair_options){.groups = true}, "dart",
                                      plain ? "dcqcn" : "dart", &seen);
        for (unsigned i = 0; i < 2; i++) {
            struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 1, 0, 0, 3 * 1024);
            work.group = &group;
            pair_post(pair, 0, &work);
            pair_run_quiet(pair);
            pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
            assert_int_equal(seen.lists[0], plain ? 0 : i);
        }
        for (int side = 0; side < 2; side++)
            assert_int_equal(oche_nic_stats(pair->side[side].nic)->rejected_packets, 0);
        if (!plain) {
            assert_int_equal(view(pair, 1).groups, 1);
            assert_int_equal(view(pair, 1).not_come, 2);
            assert_int_equal(view(pair, 1).senders, 0);
        }
        pair_close(pair);
    }
}

static enum pair_fate lose_the_first(struct pair *pair, int from, const struct oche_packet *packet)
{
    (void)packet;
    return from == 0 && pair->sent == 1 ? PAIR_DROP : PAIR_PASS;
}

/*
 * A message's first packet waits behind a gap. All senders that it names count at once, its own,
 * too. Its own sender then ends as usual, the others at their timeout.
 */
static void a_kept_list(void **state)
{
    static const struct oche_selective_repeat_params params = {
        .window = 16, .few_packets = 3, .rto_low = 100 * OCHE_US, .rto_high = 320 * OCHE_US};
    const uint8_t members[] = {0, 100, 0, 150, 0, 160};
    struct oche_group group = {.id = 3, .count = 3, .members = members};
    struct pair_options options = {.recovery = &oche_recovery_selective_repeat,
                                   .own_recovery_params = &params,
                                   .extensions = true,
                                   .groups = true};
    struct seen seen;
    struct pair *pair = open_pair(options, "dart", "dart", &seen);
    struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 2, 0, 0, 1024);

    (void)state;
    pair->fate = lose_the_first;
    post(pair, 0, OCHE_WORK_WRITE, 1024);
    work.group = &group;
    pair_post(pair, 0, &work);
    pair_run(pair, pair->now + 2 * OCHE_US);
    assert_int_equal(seen.lists[0], 1);
    assert_int_equal(oche_nic_stats(pair->side[1].nic)->placed_packets, 1);
    assert_int_equal(view(pair, 1).groups, 1);
    assert_int_equal(view(pair, 1).senders, 3);
    pair_run(pair, pair->now + OCHE_MS);
    pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
    pair_expect(pair, 0, 2, OCHE_STATUS_SUCCESS);
    assert_int_equal(view(pair, 1).senders, 2);
    pair_run_quiet(pair);
    assert_int_equal(seen.lists[0], 1); /* it was not sent again */
    assert_int_equal(view(pair, 1).senders, 0);
    assert_int_equal(view(pair, 1).not_come, 2);
    assert_int_equal(view(pair, 1).void_groups, 0);
    pair_close(pair);
}

/* Lists that cannot be encoded are rejected when posted. */
static void lists_refused(void **state)
{
    const uint8_t members[] = {0, 100, 0, 150};
    struct seen seen;

    (void)state;
    for (int with = 0; with < 2; with++) {
        struct pair *pair = open_pair((struct pair_options){.groups = with}, "dart", "dart", &seen);
        struct oche_qp *qp = pair->side[0].qp[0];
        struct oche_group group = {.id = 3, .count = 2, .members = members};
        struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 1, 0, 0, 1024);

        work.group = &group;
        assert_int_equal(oche_qp_post_send(qp, &work), with ? 0 : EINVAL);
        group.count = OCHE_GROUP_MOST + 1;
        assert_int_equal(oche_qp_post_send(qp, &work), EINVAL);
        group.count = 0;
        assert_int_equal(oche_qp_post_send(qp, &work), EINVAL);
        group = (struct oche_group){.id = 1 << 24, .count = 2, .members = members};
        assert_int_equal(oche_qp_post_send(qp, &work), EINVAL);
        group = (struct oche_group){.id = 1, .count = 2};
        assert_int_equal(oche_qp_post_send(qp, &work), EINVAL);
        group.members = members;
        work.opcode = OCHE_WORK_READ;
        assert_int_equal(oche_qp_post_send(qp, &work), EINVAL);
        pair_run_quiet(pair);
        pair_close(pair);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_out),
        cmocka_unit_test(plain_peer),
        cmocka_unit_test(different_extensions),
        cmocka_unit_test(read),
        cmocka_unit_test(unreliable),
        cmocka_unit_test(old_acks),
        cmocka_unit_test(forged_updates),
        cmocka_unit_test(least_rate),
        cmocka_unit_test(devices_of_an_address),
        cmocka_unit_test(nonsense),
        cmocka_unit_test(lists),
        cmocka_unit_test(a_kept_list),
        cmocka_unit_test(lists_refused),
        cmocka_unit_test(a_dead_peer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
