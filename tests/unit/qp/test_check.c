/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The invariants of core/qp/check.h. Each holds in the middle of a transfer. Each is violated on
 * purpose once, so that none can be a check that never fails.
 */
#include "tests/support/test.h"

#include <stdlib.h>
#include <string.h>

#include "core/qp/check_internal.h"
#include "core/qp/receive/receiver.h"
#include "core/qp/send/pieces.h"
#include "core/recovery/selective_repeat.h"
#include "tests/support/pair.h"

#define WINDOW (6 * PAIR_MTU)
#define HERE   0
#define THERE  (512 << 10)

static void start(struct oche_cc_flow *flow, oche_time now)
{
    (void)now;
    flow->rate_bps = flow->line_rate_bps / 2;
    flow->window_bytes = WINDOW;
}

static const struct oche_cc_scheme half_rate = {
    .name = "half_rate",
    .transports = OCHE_CC_RC,
    .windows_reads = true,
    .start = start,
};

/* Loses the second data packet: later packets are kept. */
static enum pair_fate lose_second(struct pair *pair, int from, const struct oche_packet *packet)
{
    (void)pair;
    return from == 0 && packet->payload_bytes > 0 && packet->psn == 1 ? PAIR_DROP : PAIR_PASS;
}

/*
 * Side 0 sends a WRITE with a loss, then READs from side 1, which keeps packets of the WRITE. Stops
 * after `steps` steps.
 */
static struct pair *in_the_middle(bool reads, unsigned steps)
{
    static struct oche_selective_repeat_params params;
    const struct oche_send_work write = pair_work(OCHE_WORK_WRITE, 1, HERE, THERE, 8 * PAIR_MTU),
                                read = pair_work(OCHE_WORK_READ, 2, HERE, THERE, 20 * PAIR_MTU);

    oche_param_defaults(&oche_recovery_selective_repeat.table, &params);
    struct pair *pair =
        pair_open(&(struct pair_options){.cc = &half_rate,
                                         .recovery = &oche_recovery_selective_repeat,
                                         .own_recovery_params = &params,
                                         .extensions = true,
                                         .held_bytes = 64 * PAIR_MTU,
                                         .delay = OCHE_US});
    pair->fate = lose_second;
    pair_post(pair, 0, reads ? &read : &write);
    pair_post(pair, 0, &write);
    for (unsigned i = 0; i < steps; i++)
        assert_true(pair_step(pair, OCHE_SEC));
    return pair;
}

/* ---- violations: each changes one thing ---- */

static struct send_entry *head(struct oche_qp *qp)
{
    return send_at(qp, snd(qp)->send_head);
}

static void una_too_wide(struct oche_qp *qp)
{
    snd(qp)->tx.una |= 1u << 24;
}
static void next_before_una(struct oche_qp *qp)
{
    snd(qp)->tx.next = oche_psn_add(snd(qp)->tx.una, OCHE_PSN_MASK);
}
static void message_behind_una(struct oche_qp *qp)
{
    snd(qp)->tx.message_start = oche_psn_add(snd(qp)->tx.una, 1);
}
static void window_shrinks(struct oche_qp *qp)
{
    snd(qp)->window_packets = 1;
}
static void started_behind_tail(struct oche_qp *qp)
{
    snd(qp)->send_started = snd(qp)->send_tail + 1;
}
static void one_more_retired(struct oche_qp *qp)
{
    atomic_fetch_add(&snd(qp)->retired_sends, 1);
}
static void all_is_over(struct oche_qp *qp)
{
    snd(qp)->send_head = snd(qp)->send_started;
}
static void head_of_another(struct oche_qp *qp)
{
    snd(qp)->head_last_psn++;
}
static void una_behind_the_head(struct oche_qp *qp)
{
    snd(qp)->tx.una = oche_psn_add(snd(qp)->head_last_psn, 1);
}
static void endless_message(struct oche_qp *qp)
{
    head(qp)->last_psn = oche_psn_add(head(qp)->first_psn, 1u << 23);
}
static void high_behind_the_newest(struct oche_qp *qp)
{
    snd(qp)->tx.high = oche_psn_add(snd(qp)->tx.high, 1000);
}
static void cursor_elsewhere(struct oche_qp *qp)
{
    snd(qp)->cursor_offset += qp->mtu;
}
static void flight_grows(struct oche_qp *qp)
{
    snd(qp)->flight_bytes++;
}
static void one_more_read(struct oche_qp *qp)
{
    snd(qp)->reads_started++;
}
static void one_more_retry(struct oche_qp *qp)
{
    snd(qp)->retries_left = snd(qp)->retry_count + 1;
}
static void awaits_nothing(struct oche_qp *qp)
{
    snd(qp)->send_head = snd(qp)->send_started;
    snd(qp)->ack_deadline = OCHE_SEC;
}
static void two_waits(struct oche_qp *qp)
{
    snd(qp)->rnr_deadline = snd(qp)->ack_deadline = OCHE_SEC;
}
static void ack_at_once(struct oche_qp *qp)
{
    snd(qp)->ack_deadline = 0;
}
static void rnr_at_once(struct oche_qp *qp)
{
    snd(qp)->rnr_deadline = 0;
}
static void order_at_once(struct oche_qp *qp)
{
    snd(qp)->order.deadline = 0;
}
static void cc_at_once(struct oche_qp *qp)
{
    qp->flow.timer[0] = 0;
}
static void read_at_once(struct oche_qp *qp)
{
    snd(qp)->read_waits = true;
    snd(qp)->pieces->due = 0;
}
static void asked_too_early(struct oche_qp *qp)
{
    snd(qp)->last_ack_request = snd(qp)->tx.high;
}
static void faster_than_the_line(struct oche_qp *qp)
{
    snd(qp)->pace_rate_bps *= 4;
}
static void piece_without_packets(struct oche_qp *qp)
{
    struct read_piece *piece =
        &snd(qp)->pieces->piece[snd(qp)->pieces->head & snd(qp)->pieces->mask];

    piece->end = piece->first;
}
static void one_more_kept(struct oche_qp *qp)
{
    snd(qp)->pieces->kept++;
}
static void paced_without_time(struct oche_qp *qp)
{
    snd(qp)->queued = QUEUED_PACED;
    snd(qp)->pace_due = OCHE_SEC;
}

static void epsn_too_wide(struct oche_qp *qp)
{
    rcv(qp)->rx.epsn |= 1u << 24;
}
static void message_behind_epsn(struct oche_qp *qp)
{
    rcv(qp)->rx.message_start = oche_psn_add(rcv(qp)->rx.epsn, 1);
}
static void begun_between(struct oche_qp *qp)
{
    rcv(qp)->operation = OCHE_OPERATION_NONE;
    rcv(qp)->rx.message_start = oche_psn_add(rcv(qp)->rx.epsn, OCHE_PSN_MASK);
    rcv(qp)->message_bytes = 1;
}
static void write_is_full(struct oche_qp *qp)
{
    rcv(qp)->write_length = rcv(qp)->message_bytes;
}
static void send_without_receive(struct oche_qp *qp)
{
    rcv(qp)->operation = OCHE_OPERATION_SEND;
}
static void receives_backwards(struct oche_qp *qp)
{
    rcv(qp)->recv_tail = rcv(qp)->recv_head - 1;
}
static void one_more_received(struct oche_qp *qp)
{
    atomic_fetch_add(&rcv(qp)->retired_recvs, 1);
}
static void held_is_past(struct oche_qp *qp)
{
    rcv(qp)->placed_end = rcv(qp)->rx.epsn;
}
static void one_more_active(struct oche_qp *qp)
{
    rcv(qp)->active_responses++;
}
static void first_is_not_active(struct oche_qp *qp)
{
    rcv(qp)->response_first = rcv(qp)->response_next;
}
static void response_runs_on(struct oche_qp *qp)
{
    rcv(qp)->responses[0].end_psn += 1000;
}
static void answers_the_future(struct oche_qp *qp)
{
    rcv(qp)->responses[0].last_psn = oche_psn_add(rcv(qp)->rx.epsn, 1);
}
static void nak_too_wide(struct oche_qp *qp)
{
    qp->control = CONTROL_NAK;
    rcv(qp)->nak_psn = 1u << 24;
}
static void second_ack_alone(struct oche_qp *qp)
{
    qp->control = CONTROL_ACK_AGAIN;
}
static void ack_unlisted(struct oche_qp *qp)
{
    qp->control = CONTROL_ACK;
    qp->flags &= (uint16_t)~QP_LISTED;
}
static void data_unqueued(struct oche_qp *qp)
{
    snd(qp)->queued = QUEUED_NOT;
}
static void recovery_at_once(struct oche_qp *qp)
{
    rcv(qp)->rx.timer = 0;
}

/* The transfer that is stopped in the middle. */
enum scene { WRITING, READING };

struct fault {
    const char *words;
    enum scene scene;
    void (*breaks)(struct oche_qp *qp);
};

static const struct fault send_faults[] = {
    {"the sender's PSNs have 24 bits", WRITING, una_too_wide},
    {"una <= next <= high", WRITING, next_before_una},
    {"una's message begins at una or before", WRITING, message_behind_una},
    {"no more is outstanding than the window", WRITING, window_shrinks},
    {"send ring: head <= next <= started <= tail <= posted", WRITING, started_behind_tail},
    {"the program sees the oldest work request that is not over", WRITING, one_more_retired},
    {"nothing is outstanding of no work", WRITING, all_is_over},
    {"what is copied of the oldest work request is right", WRITING, head_of_another},
    {"una is in the oldest work request", WRITING, una_behind_the_head},
    {"each message begins with the PSN after the one before", WRITING, endless_message},
    {"high is in the newest message that has begun", WRITING, high_behind_the_newest},
    {"the cursor is where next is", WRITING, cursor_elsewhere},
    {"the bytes in flight are those of [una, next)", WRITING, flight_grows},
    {"READs and atomics without answer are counted", READING, one_more_read},
    {"retries left are at most those there were", WRITING, one_more_retry},
    {"without work no ACK is awaited", WRITING, awaits_nothing},
    {"the ACK timer and the RNR timer exclude each other", WRITING, two_waits},
    {"the NIC's timer covers the ACK timer", WRITING, ack_at_once},
    {"the NIC's timer covers the RNR timer", WRITING, rnr_at_once},
    {"the NIC's timer covers the timer of short messages", WRITING, order_at_once},
    {"the NIC's timer covers congestion control's timers", WRITING, cc_at_once},
    {"the NIC's timer covers the pacing of READs", READING, read_at_once},
    {"the last packet that asked for an ACK has left", WRITING, asked_too_early},
    {"the pacing rate is above 0 and at most the line's", WRITING, faster_than_the_line},
    {"READ requests are in order and have left", READING, piece_without_packets},
    {"READ data that is kept is counted", READING, one_more_kept},
    {"a paced queue pair is in the pacing heap for its time", READING, paced_without_time},
};

static const struct fault receive_faults[] = {
    {"the receiver's PSNs have 24 bits", WRITING, epsn_too_wide},
    {"the arriving message begins at the expected PSN or before", WRITING, message_behind_epsn},
    {"between messages nothing is begun", WRITING, begun_between},
    {"a WRITE in progress lacks bytes", WRITING, write_is_full},
    {"a SEND in progress has a receive with room", WRITING, send_without_receive},
    {"receive ring: head <= tail <= posted", WRITING, receives_backwards},
    {"the program sees the oldest receive that is not over", WRITING, one_more_received},
    {"packets that are held have not been executed, and are within reach", WRITING, held_is_past},
    {"active responses are counted", READING, one_more_active},
    {"the first active response is active", READING, first_is_not_active},
    {"a response sends nothing outside of its request", READING, response_runs_on},
    {"a request that is answered has arrived", READING, answers_the_future},
    {"a NAK's PSN has 24 bits", WRITING, nak_too_wide},
    {"a second ACK follows a first", WRITING, second_ack_alone},
    {"answers that wait are in the control list", WRITING, ack_unlisted},
    {"READ data that waits is queued", READING, data_unqueued},
    {"the NIC's timer covers recovery's timer", WRITING, recovery_at_once},
};

static const struct qp_statement *find(const struct qp_statement *statements, const char *words)
{
    while (statements->words != NULL && strcmp(statements->words, words) != 0)
        statements++;
    if (statements->words == NULL)
        fail_msg("no such statement: %s", words);
    return statements;
}

/* Violates one invariant, and restores everything. */
static void try(struct pair *pair, const struct qp_statement *statement, const struct fault *fault,
                int side)
{
    struct oche_qp *qp = pair->side[side].qp[0];
    const struct oche_qp before = *qp;
    const struct response response = rcv(qp)->responses[0];
    const struct send_entry entry = *head(qp);
    struct read_pieces *pieces = snd(qp)->pieces;
    const size_t pieces_bytes =
        pieces == NULL ? 0 : sizeof(*pieces) + (pieces->mask + 1) * sizeof(pieces->piece[0]);
    void *copy = malloc(pieces_bytes + 1);

    assert_non_null(copy);
    if (pieces != NULL)
        memcpy(copy, pieces, pieces_bytes);
    if (!statement->holds(qp))
        fail_msg("before it is broken: %s", statement->words);
    fault->breaks(qp);
    if (statement->holds(qp))
        fail_msg("broken, and it seems to hold: %s", statement->words);
    assert_non_null(oche_nic_check(pair->side[side].nic, NULL));
    memcpy(qp, &before, sizeof(before));
    rcv(qp)->responses[0] = response;
    *head(qp) = entry;
    if (pieces != NULL)
        memcpy(pieces, copy, pieces_bytes);
    free(copy);
    assert_ptr_equal(oche_nic_check(pair->side[side].nic, NULL), NULL);
}

static void try_all(const struct qp_statement *statements, const struct fault *faults, size_t count,
                    int side)
{
    struct pair *pair[] = {
        [WRITING] = in_the_middle(false, 16), [READING] = in_the_middle(true, 1)};

    while (!pair[READING]->side[1].qp[0]->responding)
        assert_true(pair_step(pair[READING], OCHE_SEC));

    for (size_t i = 0; i < count; i++)
        try(pair[faults[i].scene], find(statements, faults[i].words), &faults[i], side);
    for (int i = 0; i < 2; i++) {
        pair[i]->fate = NULL;
        pair_run_quiet(pair[i]);
        pair_close(pair[i]);
    }
}

static void test_send(void **state)
{
    (void)state;
    try_all(qp_send_statements, send_faults, OCHE_COUNT_OF(send_faults), 0);
}

static void test_receive(void **state)
{
    (void)state;
    try_all(qp_receive_statements, receive_faults, OCHE_COUNT_OF(receive_faults), 1);
}

/* Each invariant needs a fault that breaks it. Only the invariant on doubts has none here. */
static void test_all_are_tried(void **state)
{
    size_t sends = 0, receives = 0;

    (void)state;
    while (qp_send_statements[sends].words != NULL)
        sends++;
    while (qp_receive_statements[receives].words != NULL)
        receives++;
    assert_int_equal(sends, OCHE_COUNT_OF(send_faults) + 1);
    assert_int_equal(receives, OCHE_COUNT_OF(receive_faults));
}

/* The NIC's own invariants: heaps, lists, counters, the map. */
static void test_nic(void **state)
{
    struct pair *pair = in_the_middle(false, 3);
    struct oche_nic *nic = pair->side[0].nic;
    const struct oche_nic before = *nic;
    const struct oche_qp *which;

    (void)state;
    assert_ptr_equal(oche_nic_check(nic, &which), NULL);
    nic->backlog_bytes++;
    assert_string_equal(oche_nic_check(nic, &which),
                        "the backlog is the bytes of those that are ready");
    *nic = before;
    nic->ready_classes ^= 1;
    assert_string_equal(oche_nic_check(nic, &which),
                        "the ready lists are linked, and their classes known");
    *nic = before;
    nic->control_head = pair->side[0].qp[0];
    assert_string_equal(oche_nic_check(nic, &which), "the control list is linked and complete");
    *nic = before;
    nic->qp_map = nic->peer_map;
    assert_string_equal(oche_nic_check(nic, &which), "each queue pair is found by its number");
    *nic = before;
    const enum queued queued = snd(pair->side[0].qp[0])->queued;
    snd(pair->side[0].qp[0])->queued = queued == QUEUED_READY ? QUEUED_NOT : QUEUED_READY;
    assert_non_null(oche_nic_check(nic, &which));
    snd(pair->side[0].qp[0])->queued = queued == QUEUED_PACED ? QUEUED_NOT : QUEUED_PACED;
    assert_non_null(oche_nic_check(nic, &which));
    snd(pair->side[0].qp[0])->queued = queued & 3u;
    if (nic->timers.count > 0) {
        nic->timers.position[nic->timers.entries[0].slot] = 1;
        assert_string_equal(oche_nic_check(nic, &which), "the heap of timers is ordered");
        nic->timers.position[nic->timers.entries[0].slot] = 0;
    }
    assert_ptr_equal(oche_nic_check(nic, &which), NULL);
    pair_run_quiet(pair);
    pair_close(pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_send),
        cmocka_unit_test(test_receive),
        cmocka_unit_test(test_all_are_tried),
        cmocka_unit_test(test_nic),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
