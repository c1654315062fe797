/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trimmed packets at queue pairs: the receiver answers each with one NACK, the sender sends just
 * this packet again, at once and without a timeout; congestion control hears of it; forged NACKs do
 * nothing.
 */
#include "tests/support/test.h"

#include <string.h>

#include "core/qp/qp_internal.h"
#include "core/qp/send/sender.h"
#include "core/recovery/selective_repeat.h"
#include "core/wire/extension.h"
#include "core/wire/opcode.h"
#include "tests/support/pair.h"

#define PACKETS 64
#define FIRST   (OCHE_PSN_MASK - 20) /* PSNs wrap within the message */

/* What happens to the packets of side 0; counts what it sees. */
struct seen {
    uint32_t trim[4], trims; /* places of packets that are trimmed, and how many of these */
    uint32_t times;          /* each so often */
    uint32_t count[4];
    uint32_t left[PACKETS]; /* how often each packet has left */
    uint32_t nacks;
    bool drop_nacks;
    bool late; /* one of eight packets is late, which asks for no ACK */
    uint32_t answers;
    uint32_t sack;         /* parameter of the recovery */
    uint64_t least_window; /* of the sender when a packet leaves */
};

static enum pair_fate decide(struct pair *pair, int from, const struct oche_packet *packet)
{
    struct seen *seen = pair->context;

    if (packet->opcode == OCHE_RC_TRIM_NACK) {
        assert_int_equal(from, 1);
        seen->nacks++;
        return seen->drop_nacks ? PAIR_DROP : PAIR_PASS;
    }
    if (from != 0 || packet->payload_bytes == 0)
        return PAIR_PASS;
    if (seen->late && ((packet->psn - FIRST) & OCHE_PSN_MASK) % 8 == 2)
        return PAIR_LATE;
    if (pair->side[0].qp[0]->flow.window_bytes < seen->least_window)
        seen->least_window = pair->side[0].qp[0]->flow.window_bytes;
    const uint32_t place = (packet->psn - FIRST) & OCHE_PSN_MASK;

    seen->left[place % PACKETS]++;
    for (uint32_t i = 0; i < seen->trims; i++)
        if (seen->trim[i] == place && seen->count[i] < seen->times) {
            seen->count[i]++;
            return PAIR_TRIM;
        }
    return PAIR_PASS;
}

static struct oche_selective_repeat_params own_params;

static struct pair *open_pair(struct seen *seen, bool selective, const struct oche_cc_scheme *cc)
{
    static uint64_t cc_params[64];
    const struct oche_recovery_scheme *scheme =
        selective ? &oche_recovery_selective_repeat : NULL; /* NULL: Go-Back-N */
    struct pair_options options = {.recovery = scheme,
                                   .cc = cc,
                                   .cc_params = cc_params,
                                   .extensions = true,
                                   .first_psn = FIRST,
                                   .late_by = 20 * OCHE_US,
                                   .ack_every = 8,
                                   .held_bytes = 4096 * PAIR_MTU,
                                   .ack_timeout = 16 * OCHE_MS};

    assert_true(cc->table.struct_bytes <= sizeof(cc_params));
    oche_param_defaults(&cc->table, cc_params);
    if (selective) {
        oche_param_defaults(&oche_recovery_selective_repeat.table, &own_params);
        own_params.reorder = OCHE_SELECTIVE_REORDER_WINDOW;
        own_params.sack = seen->sack;
        own_params.rto_low = own_params.rto_high = 5 * OCHE_MS;
        options.own_recovery_params = &own_params;
    }
    struct pair *pair = pair_open(&options);

    pair->fate = decide;
    pair->context = seen;
    return pair;
}

/* Writes one message of PACKETS packets. Returns how long that took. */
static oche_time write_message(struct pair *pair)
{
    const oche_time since = pair->now;
    struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 1, 0, 0, PACKETS * PAIR_MTU);

    pair_post(pair, 0, &work);
    pair_run_quiet(pair);
    pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
    return pair->now - since;
}

static const struct oche_nic_stats *stats(const struct pair *pair, int side)
{
    return oche_nic_stats(pair->side[side].nic);
}

static void test_sent_again(void **state)
{
    struct seen seen = {.trim = {0, 20, 21, PACKETS - 1}, .trims = 4, .times = 1};
    struct pair *pair = open_pair(&seen, true, oche_cc_find("none"));

    (void)state;
    assert_true(write_message(pair) < OCHE_MS);
    for (uint32_t i = 0; i < PACKETS; i++)
        assert_int_equal(seen.left[i], i == 0 || i == 20 || i == 21 || i == PACKETS - 1 ? 2 : 1);
    assert_int_equal(seen.nacks, 4);
    assert_int_equal(stats(pair, 0)->timeouts, 0);
    assert_int_equal(stats(pair, 0)->retransmitted_packets, 4);
    assert_int_equal(oche_nic_resent(pair->side[0].nic, OCHE_RESENT_TRIMMED), 4);
    assert_int_equal(stats(pair, 0)->trim_nacks_received, 4);
    assert_int_equal(stats(pair, 1)->trim_nacks_sent, 4);
    assert_int_equal(stats(pair, 1)->trimmed_packets, 4);
    pair_close(pair);
}

/* A repair on its way does not count as lost, although later packets have arrived long ago. */
static void test_repair_is_awaited(void **state)
{
    struct seen seen = {.trim = {20}, .trims = 1, .times = 1};
    struct pair *pair = open_pair(&seen, true, oche_cc_find("none"));

    (void)state;
    own_params.reorder_time = 1;
    write_message(pair);
    assert_int_equal(seen.left[20], 2);
    assert_int_equal(stats(pair, 0)->retransmitted_packets, 1);
    pair_close(pair);
}

/* The repair is trimmed as well, and again. */
static void test_again_and_again(void **state)
{
    struct seen seen = {.trim = {30}, .trims = 1, .times = 5};
    struct pair *pair = open_pair(&seen, true, oche_cc_find("none"));

    (void)state;
    assert_true(write_message(pair) < OCHE_MS);
    assert_int_equal(seen.left[30], 6);
    assert_int_equal(seen.nacks, 5);
    assert_int_equal(stats(pair, 0)->timeouts, 0);
    pair_close(pair);
}

/* Without its NACK a trimmed packet is one that is missing. */
static void test_nack_lost(void **state)
{
    struct seen seen = {.trim = {30}, .trims = 1, .times = 1, .drop_nacks = true};
    struct pair *pair = open_pair(&seen, true, oche_cc_find("none"));

    (void)state;
    write_message(pair);
    assert_int_equal(seen.left[30], 2);
    assert_int_equal(oche_nic_resent(pair->side[0].nic, OCHE_RESENT_TRIMMED), 0);
    pair_close(pair);
}

/* Recovery without NACKs for trimmed packets: they are lost. */
static void test_go_back_n(void **state)
{
    struct seen seen = {.trim = {30}, .trims = 1, .times = 1};
    struct pair *pair = open_pair(&seen, false, oche_cc_find("none"));

    (void)state;
    write_message(pair);
    assert_int_equal(seen.nacks, 0);
    assert_int_equal(seen.left[30], 2);
    assert_int_equal(stats(pair, 1)->trimmed_packets, 1);
    pair_close(pair);
}

/* Returns the sender's least window in bytes if so many packets of a message are trimmed. */
static uint64_t least_window(uint32_t trims, const char *cc)
{
    struct seen seen = {
        .trim = {10, 11, 12, 13}, .trims = trims, .times = 1, .least_window = UINT64_MAX};
    struct pair *pair = open_pair(&seen, true, oche_cc_find(cc));

    write_message(pair);
    pair_close(pair);
    return seen.least_window;
}

/* NSCC's window shrinks by each trimmed packet. */
static void test_congestion_control(void **state)
{
    (void)state;
    assert_true(least_window(1, "nscc") < least_window(0, "nscc"));
    assert_true(least_window(4, "nscc") < least_window(1, "nscc"));
}

static unsigned losses;

static void count_loss(struct oche_cc_flow *flow, oche_time now, enum oche_cc_loss kind)
{
    (void)flow, (void)now;
    assert_int_equal(kind, OCHE_CC_LOSS_NAK);
    losses++;
}

/* A scheme without the hook `trimmed` hears of one loss in a round trip. */
static void test_other_schemes(void **state)
{
    struct seen seen = {.trim = {10, 11, 12, 13}, .trims = 4, .times = 1};
    struct oche_cc_scheme counting = *oche_cc_find("none");

    (void)state;
    counting.loss = count_loss;
    struct pair *pair = open_pair(&seen, true, &counting);

    write_message(pair);
    assert_int_equal(losses, 1);
    seen = (struct seen){.trim = {PACKETS + 5}, .trims = 1, .times = 1};
    write_message(pair);
    assert_int_equal(losses, 2);
    pair_close(pair);
}

/* Round trips are those of packets behind a gap, too, and of repairs of trimmed packets. */
static void test_round_trips(void **state)
{
    struct seen seen = {.trims = 0};
    struct pair *pair = open_pair(&seen, true, oche_cc_find("nscc"));
    struct oche_qp *qp = pair->side[0].qp[0];

    (void)state;
    assert_true(qp->flags & QP_TAKES_RTT);
    for (uint32_t i = 0; i < 40; i += 2)
        rtt_sent(qp, oche_psn_add(FIRST, i), 100 + i);
    for (uint32_t i = 0; i < 40; i++)
        assert_int_equal(rtt_sacked(qp, oche_psn_add(FIRST, i), 1000),
                         i % 2 == 0 ? 1000 - 100 - i : OCHE_NEVER);
    rtt_set(qp, oche_psn_add(FIRST, 4), OCHE_NEVER);
    assert_int_equal(rtt_sacked(qp, oche_psn_add(FIRST, 4), 1000), OCHE_NEVER);
    rtt_set(qp, oche_psn_add(FIRST, 5), 600); /* this one is not measured */
    assert_int_equal(rtt_sacked(qp, oche_psn_add(FIRST, 5), 1000), OCHE_NEVER);
    rtt_set(qp, oche_psn_add(FIRST, 4), 600);
    assert_int_equal(rtt_sacked(qp, oche_psn_add(FIRST, 4), 1000), 400);
    pair_close(pair);
}

/* Counts what side 1 answers. */
static void count_answers(struct pair *pair, int from, const struct oche_packet *packet)
{
    struct seen *seen = pair->context;

    seen->answers += from == 1 && packet->payload_bytes == 0;
}

static uint32_t answers(uint32_t sack)
{
    struct seen seen = {.late = true, .sack = sack};
    struct pair *pair = open_pair(&seen, true, oche_cc_find("none"));

    pair->tap = count_answers;
    write_message(pair);
    assert_int_equal(stats(pair, 0)->retransmitted_packets, 0);
    pair_close(pair);
    return seen.answers;
}

/* With `sack: asked` packets behind a gap, and into one, are answered if they ask for an ACK. */
static void test_asked(void **state)
{
    (void)state;
    assert_in_range(answers(OCHE_SELECTIVE_SACK_EVERY), PACKETS - 4, PACKETS + 2);
    assert_in_range(answers(OCHE_SELECTIVE_SACK_ASKED), PACKETS / 8, PACKETS / 8 + 2);
}

static void send_nack(struct pair *pair, uint32_t psn, bool with_header)
{
    struct oche_packet nack = {.kind = OCHE_PACKET_ROCE,
                               .opcode = OCHE_RC_TRIM_NACK,
                               .psn = psn,
                               .src = 1,
                               .dst = 0,
                               .dest_qpn = PAIR_QPN,
                               .pkey = pair->side[0].qp[0]->pkey,
                               .bth_reserved = OCHE_BTH_EXTENSIONS};

    nack.src = pair->side[0].qp[0]->remote_address;
    if (with_header)
        oche_trim_put(&nack, OCHE_TRIMMED_ON_THE_WAY);
    oche_nic_receive(pair->side[0].nic, &nack, pair->now);
}

/* NACKs for what was not sent are rejected; late ones change nothing. */
static void test_forged(void **state)
{
    struct seen seen = {.trims = 0};
    struct pair *pair = open_pair(&seen, true, oche_cc_find("none"));

    (void)state;
    send_nack(pair, FIRST, true);
    send_nack(pair, oche_psn_add(FIRST, 5), true);
    assert_int_equal(oche_nic_rejected(pair->side[0].nic, OCHE_REJECT_PSN), 2);
    write_message(pair);
    send_nack(pair, oche_psn_add(FIRST, PACKETS), true);
    assert_int_equal(oche_nic_rejected(pair->side[0].nic, OCHE_REJECT_PSN), 3);
    send_nack(pair, oche_psn_add(FIRST, 5), true);
    assert_int_equal(stats(pair, 0)->trim_nacks_received, 1);
    send_nack(pair, oche_psn_add(FIRST, 5), false);
    assert_int_equal(oche_nic_rejected(pair->side[0].nic, OCHE_REJECT_OPCODE), 1);
    write_message(pair);
    assert_int_equal(stats(pair, 0)->retransmitted_packets, 0);
    pair_close(pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sent_again),
        cmocka_unit_test(test_again_and_again),
        cmocka_unit_test(test_nack_lost),
        cmocka_unit_test(test_go_back_n),
        cmocka_unit_test(test_repair_is_awaited),
        cmocka_unit_test(test_round_trips),
        cmocka_unit_test(test_asked),
        cmocka_unit_test(test_other_schemes),
        cmocka_unit_test(test_forged),
        cmocka_unit_test(test_congestion_control),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
