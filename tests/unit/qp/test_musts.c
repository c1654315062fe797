/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The invariants that every build checks in core/qp and below it (OCHE_MUST): each is broken on
 * purpose once, in a process of its own, and must be what ends that process.
 */
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/qp/congestion.h"
#include "core/qp/objects/objects.h"
#include "core/qp/receive/receiver.h"
#include "core/qp/scheduler.h"
#include "core/qp/send/losses.h"
#include "core/qp/send/pieces.h"
#include "core/qp/send/retries.h"
#include "core/qp/timers.h"
#include "core/recovery/improved_go_back_n.h"
#include "core/recovery/selective_halves.h"
#include "tests/support/pair.h"

#define WINDOW     (6 * PAIR_MTU)
#define HERE       0
#define THERE      (512 << 10)
#define WINDOW_KEY UINT32_C(0x5500)

static void start_half_rate(struct oche_cc_flow *flow, oche_time now)
{
    (void)now;
    flow->rate_bps = flow->line_rate_bps / 2;
    flow->window_bytes = WINDOW;
}

static const struct oche_cc_scheme half_rate = {
    .name = "half_rate",
    .transports = OCHE_CC_RC,
    .windows_reads = true,
    .start = start_half_rate,
};

/* Two queue pairs in the midst of work: `a` sends to `b`. */
struct scene {
    struct pair *pair;
    struct oche_qp *a, *b;
    struct oche_nic *nic; /* of a */
    oche_time now;
};

static struct scene scene_of(bool reads, const struct oche_recovery_scheme *recovery,
                             const void *params)
{
    const struct oche_send_work work =
        pair_work(reads ? OCHE_WORK_READ : OCHE_WORK_WRITE, 1, HERE, THERE, 20 * PAIR_MTU);
    struct pair *pair = pair_open(&(struct pair_options){.cc = &half_rate,
                                                         .recovery = recovery,
                                                         .own_recovery_params = params,
                                                         .extensions = recovery != NULL,
                                                         .held_bytes = 64 * PAIR_MTU,
                                                         .qps = 2,
                                                         .delay = OCHE_US});

    pair_post(pair, 0, &work);
    pair_post(pair, 0, &work);
    for (unsigned i = 0; i < 400 && snd(pair->side[0].qp[0])->tx.una < 3; i++)
        assert_true(pair_step(pair, OCHE_SEC));
    return (struct scene){.pair = pair,
                          .a = pair->side[0].qp[0],
                          .b = pair->side[1].qp[0],
                          .nic = pair->side[0].nic,
                          .now = pair->now};
}

/* ---- containers ---- */

static void heap_misplaced(struct scene *s)
{
    struct heap *timers = &s->nic->timers;

    heap_set(timers, s->a->slot, 1, 0);
    timers->position[s->a->slot] = timers->count;
    heap_remove(timers, s->a->slot);
}
static void map_of_no_slot(struct scene *s)
{
    map_add(&s->nic->qp_map, 4711, NO_SLOT);
}
static void map_of_two(struct scene *s)
{
    map_add(&s->nic->qp_map, s->a->qpn, s->a->slot);
}
static void slot_never_taken(struct scene *s)
{
    slots_give(&s->nic->slots, s->nic->slots.fresh);
}

/* ---- scheduler and timers ---- */

static void repace_unqueued(struct scene *s)
{
    scheduler_forget(s->a);
    scheduler_repace(s->a, s->now);
}
static void listed_nowhere(struct scene *s)
{
    s->a->flags |= QP_LISTED;
    s->nic->control_head = NULL;
    scheduler_forget(s->a);
}
static void backlog_of_nobody(struct scene *s)
{
    s->nic->ready_classes = 0;
    s->nic->backlog_bytes = 1;
    scheduler_must(s->nic);
}
static void rung_without_end(struct scene *s)
{
    s->nic->rung_tail = s->a;
    s->nic->rung_head = NULL;
    scheduler_must(s->nic);
}
static void control_unlisted(struct scene *s)
{
    s->a->flags &= (uint16_t)~QP_LISTED;
    s->nic->control_head = s->a;
    scheduler_must(s->nic);
}
static void ready_of_none(struct scene *s)
{
    s->nic->ready_classes = 1;
    s->nic->ready[0].head = NULL;
    scheduler_must(s->nic);
}
static void paced_unqueued(struct scene *s)
{
    scheduler_forget(s->a);
    heap_set(&s->nic->pacing, s->a->slot, 5, 0);
    scheduler_must(s->nic);
}
static void paced_for_another_time(struct scene *s)
{
    scheduler_forget(s->a);
    heap_set(&s->nic->pacing, s->a->slot, 5, 0);
    snd(s->a)->queued = QUEUED_PACED;
    snd(s->a)->pace_due = 6;
    scheduler_must(s->nic);
}
static void timer_of_nobody(struct scene *s)
{
    heap_set(&s->nic->timers, s->a->slot, 0, 0);
    s->nic->qps[s->a->slot] = NULL;
    oche_nic_expire(s->nic, s->now);
}

/* ---- congestion control ---- */

static void too_many_want(struct scene *s)
{
    s->nic->cc_touched = true;
    s->nic->cc_nic.wanting_count = s->nic->config.max_qps + 1;
    congestion_apply(s->a, s->now);
}
static void another_nics_wants(struct scene *s)
{
    s->nic->cc_touched = true;
    s->nic->cc_nic.wanting_count = 1;
    s->nic->cc_nic.wanting[0] = &s->b->flow;
    congestion_apply(s->a, s->now);
}
static void wants_unlisted(struct scene *s)
{
    s->a->flow.wants = OCHE_CC_WANTS_OWN;
    s->nic->cc_nic.wanting_count = 1;
    s->nic->cc_nic.wanting[0] = &s->b->flow;
    congestion_stop(s->a);
}
static void peer_taken_twice(struct scene *s)
{
    s->nic->peer_state_stride = 8;
    s->a->peer_slot = 0;
    congestion_peer_take(s->a);
}
static void peer_of_nobody(struct scene *s)
{
    static struct peer peers[1];

    s->nic->peers = peers;
    s->a->peer_slot = 0;
    congestion_peer_release(s->a);
}
static void starts_with_no_rate(struct scene *s)
{
    s->a->flow.line_rate_bps = 1;
    congestion_start(s->a, s->now);
}

/* ---- NIC and queue pairs ---- */

static void unknown_cause(struct scene *s)
{
    const struct oche_packet packet = {0};

    nic_reject(s->nic, s->a, OCHE_REJECT_CAUSES, &packet, s->now);
}
static void slot_in_use(struct scene *s)
{
    struct oche_qp_config config = pair_qp_config(s->pair, 0, 3);

    s->nic->slots.free[0] = s->a->slot;
    s->nic->slots.free_count = 1;
    oche_qp_create(s->nic, malloc(oche_qp_bytes(s->nic, &config)), &config);
}
static void destroyed_twice(struct scene *s)
{
    s->nic->qps[s->a->slot] = NULL;
    oche_qp_destroy(s->a);
}
static void fails_without_cause(struct scene *s)
{
    qp_responder_error(s->a, OCHE_STATUS_FLUSHED, s->now);
}

static struct oche_qp *meddled;

static void meddle(void *context, struct oche_cq *cq)
{
    (void)context;
    (void)cq;
    meddled->responding = true;
}

static void answers_in_error(struct scene *s)
{
    static struct oche_nic_port port;

    port = *s->nic->port;
    port.completion_event = meddle;
    s->nic->port = &port;
    meddled = s->a;
    oche_cq_arm(s->pair->side[0].cq, false);
    oche_qp_fail(s->a, s->now);
}

/* ---- objects ---- */

static void srq_of_nobody(struct scene *s)
{
    const struct oche_srq_config config = {.depth = 1, .max_sge = 1, .pd = PAIR_PD};

    srq_detach(
        oche_srq_create(s->nic, aligned_alloc(64, oche_lines(oche_srq_bytes(&config))), &config));
}

static struct oche_window *window_in(struct scene *s)
{
    const struct oche_window_config config = {.key = WINDOW_KEY, .pd = PAIR_PD, .type = 0};

    return oche_window_create(s->nic, malloc(oche_window_bytes()), &config);
}

static struct oche_bind bind_of(struct oche_window *window, uint32_t lkey)
{
    return (struct oche_bind){.window = window,
                              .rkey = WINDOW_KEY + 1,
                              .lkey = lkey,
                              .va = PAIR_VA,
                              .length = 64,
                              .access = OCHE_ACCESS_REMOTE_READ};
}

static void bound_to_a_window(struct scene *s)
{
    struct oche_window *window = window_in(s);
    const uint32_t slot = map_find(&s->nic->regions.map, WINDOW_KEY);
    const struct oche_bind bind = bind_of(window, WINDOW_KEY);

    s->nic->regions.at[slot] = s->nic->regions.at[map_find(&s->nic->regions.map, PAIR_KEY)];
    window_bind(s->a, &bind);
}
static void unbound_twice(struct scene *s)
{
    struct oche_window *window = window_in(s);
    const struct oche_bind bind = bind_of(window, PAIR_KEY);

    if (!window_bind(s->a, &bind))
        return;
    s->nic->regions.parts[map_find(&s->nic->regions.map, PAIR_KEY)].windows = 0;
    oche_window_destroy(window);
}
static void region_of_no_key(struct scene *s)
{
    region_remove(s->nic, 4711);
}

/* ---- the sending half ---- */

static void retires_nothing(struct scene *s)
{
    snd(s->a)->send_tail = snd(s->a)->send_head;
    completer_retire(s->a, OCHE_STATUS_SUCCESS, s->now, s->now);
}
static void read_not_counted(struct scene *s)
{
    snd(s->a)->reads_started = 0;
    completer_retire(s->a, OCHE_STATUS_SUCCESS, s->now, s->now);
}
static void flies_less_than_was_acked(struct scene *s)
{
    snd(s->a)->flight_bytes = 0;
    pair_run_quiet(s->pair);
}
static void flies_less_than_came_before(struct scene *s)
{
    snd(s->a)->head_first_psn = oche_psn_add(snd(s->a)->head_first_psn, OCHE_PSN_MASK + 1 - 5000);
    snd(s->a)->tx.next = snd(s->a)->tx.una;
    requester_seek(s->a, oche_psn_add(snd(s->a)->tx.next, 1), s->now);
}
static void next_beyond_high(struct scene *s)
{
    snd(s->a)->tx.next = oche_psn_add(snd(s->a)->tx.high, 1);
    requester_seek(s->a, snd(s->a)->tx.high, s->now);
}
static void last_packet_flies_below_nothing(struct scene *s)
{
    static uint8_t payload[PAIR_MTU];
    struct oche_packet packet = {.payload = payload}, *const out[] = {&packet};

    s->a->flow.window_bytes = UINT64_MAX;
    for (unsigned i = 0; i < 100; i++) {
        snd(s->a)->flight_bytes = UINT64_MAX; /* the packet makes it wrap */
        scheduler_kick(s->a, s->now);
        oche_nic_transmit(s->nic, s->now, OCHE_NEVER, 0xff, out, 1);
    }
}
static void more_retries_than_there_were(struct scene *s)
{
    snd(s->a)->retries_left = snd(s->a)->retry_count + 1;
    retries_give_up(s->a, s->now);
}
static void too_many_samples(struct scene *s)
{
    snd(s->a)->rtt_tail = snd(s->a)->rtt_head + RTT_SAMPLES + 1;
    rtt_sent(s->a, 0, s->now);
}
static void connects_with_work(struct scene *s)
{
    const struct oche_qp_connection connection = pair_connection(s->pair, 0, 0);

    sender_connect(s->a, &connection);
}
static void send_entry_too_long(struct scene *s)
{
    struct oche_qp_config config = pair_qp_config(s->pair, 0, 0);

    config.max_inline_bytes = 1 << 17;
    sender_create(s->a, &config, sizeof(*s->a));
}
static void doubts_without_a_judge(struct scene *s)
{
    losses_look_back(s->a, s->now);
}
static void kept_bytes_uncounted(struct scene *s)
{
    struct read_pieces *pieces = snd(s->a)->pieces;
    struct oche_packet packet;

    pieces->kept = 1;
    pieces->kept_bytes = 0;
    oche_psn_set(&pieces->arrived, snd(s->a)->tx.una);
    pieces_recall(s->a, &packet);
}
static void kept_beyond_reach(struct scene *s)
{
    static uint8_t payload[PAIR_MTU];
    struct read_pieces *pieces = snd(s->a)->pieces;
    const uint32_t psn = pieces->piece[(pieces->tail - 1) & pieces->mask].first;
    const struct oche_packet packet = {.psn = psn,
                                       .opcode = OCHE_RC_READ_RESPONSE_MIDDLE,
                                       .payload_bytes = PAIR_MTU,
                                       .payload = payload,
                                       .ext = OCHE_EXT_PAYLOAD};

    pieces->kept = pieces->reach;
    pieces_behind_gap(s->a, &packet, true, s->now);
}
static void supplies_nothing(struct scene *s)
{
    snd(s->a)->supply_bps = 0;
    pacer_supply(s->a, 1);
}
static void class_changes_in_the_list(struct scene *s)
{
    snd(s->a)->queued = QUEUED_READY;
    datagram_take_class(s->a);
}

/* ---- the receiving half ---- */

static void finishes_what_is_over(struct scene *s)
{
    rcv(s->b)->responses[0].active = false;
    response_finish(s->b, &rcv(s->b)->responses[0]);
}
static struct response *answering(struct scene *s)
{
    while (!s->b->responding)
        assert_true(pair_step(s->pair, OCHE_SEC));
    return response_head(s->b);
}

static void one_active_too_many(struct scene *s)
{
    struct response *head = answering(s);

    for (uint32_t i = 0; i < rcv(s->b)->response_count; i++)
        rcv(s->b)->responses[i].active = &rcv(s->b)->responses[i] == head;
    rcv(s->b)->active_responses = 2;
    response_finish(s->b, head);
}
static void answers_the_future(struct scene *s)
{
    response_activate(s->b, rcv(s->b)->response_next, s->now);
}
static void head_is_over(struct scene *s)
{
    static uint8_t payload[PAIR_MTU];
    struct oche_packet packet = {.payload = payload};

    answering(s)->active = false;
    response_transmit(s->b, &packet, s->now);
}
static void nak_of_no_psn(struct scene *s)
{
    struct oche_packet packet = {0};

    s->b->responding = false;
    s->b->control = CONTROL_NAK;
    rcv(s->b)->nak_psn = OCHE_PSN_MASK + 1;
    response_transmit_control(s->b, &packet, s->now);
}
static void retires_no_receive(struct scene *s)
{
    const struct oche_completion completion = {0};

    rcv(s->b)->recv_tail = rcv(s->b)->recv_head;
    receiver_retire_recv(s->b, &completion);
}
static void takes_a_second_receive(struct scene *s)
{
    rcv(s->b)->recv_tail = rcv(s->b)->recv_head + 1;
    receiver_take_shared(s->b);
}
static void receive_too_long(struct scene *s)
{
    struct oche_qp_config config = pair_qp_config(s->pair, 1, 0);

    config.max_recv_sge = 1 << 16;
    receiver_create(s->b, &config, sizeof(*s->b));
}
static void connects_in_a_message(struct scene *s)
{
    const struct oche_qp_connection connection = pair_connection(s->pair, 1, 0);

    rcv(s->b)->operation = OCHE_OPERATION_WRITE;
    receiver_connect(s->b, &connection);
}

/* ---- recovery, trace, packets ---- */

static void arrived_more_than_counted(struct scene *s)
{
    struct selective_tx state = {.arrived_count = 1};
    struct oche_recovery_tx tx = {.una = 2, .next = 2, .high = 2, .state = &state};

    (void)s;
    oche_psn_set(&state.arrived, 0);
    oche_psn_set(&state.arrived, 1);
    selective_acked(&tx, 0);
}
static void arrived_more_than_bits(struct scene *s)
{
    struct selective_tx state = {.extended = true, .arrived_count = OCHE_PSN_BITMAP_BITS};
    struct oche_selective_repeat_params params;
    struct oche_recovery_tx tx = {.high = 9, .next = 9, .params = &params, .state = &state};
    const struct oche_sack sack = {.first = 0, .count = 3, .bits = 4};

    (void)s;
    oche_param_defaults(&oche_recovery_selective_repeat.table, &params);
    selective_sacked(&tx, 0, &sack, 0);
}
static void kept_twice(struct scene *s)
{
    struct selective_rx state = {0};
    struct oche_recovery_rx rx = {.state = &state};

    (void)s;
    selective_placed(&rx, 3);
    selective_placed(&rx, 3);
}
static void too_many_suspects(struct scene *s)
{
    struct oche_suspects suspects = {.count = OCHE_SUSPECTS + 1};

    (void)s;
    oche_suspects_note(&suspects, 1, 1, 1);
}
static void ring_of_three(struct scene *s)
{
    struct oche_trace_record ring[3];

    oche_trace_init(&s->pair->side[0].trace, 0, ring, 3);
}

/* ---- all of them ---- */

enum { WRITES, READS, GOES_BACK, SENDS_TWICE, SCENES };

static const struct fault {
    const char *must; /* part of the assertion's text */
    void (*breaks)(struct scene *s);
    int scene;
} faults[] = {
    {"heap->entries[at].slot == slot", heap_misplaced, WRITES},
    {"slot != NO_SLOT", map_of_no_slot, WRITES},
    {"map->entries[i].key != key", map_of_two, WRITES},
    {"slot < slots->fresh", slot_never_taken, WRITES},
    {"snd(qp)->queued != QUEUED_NOT", repace_unqueued, WRITES},
    {"at != NULL", listed_nowhere, WRITES},
    {"nic->backlog_bytes == 0", backlog_of_nobody, WRITES},
    {"nic->rung_tail == NULL", rung_without_end, WRITES},
    {"nic->control_head->flags & QP_LISTED", control_unlisted, WRITES},
    {"is_first(nic->ready[lowest].head, lowest)", ready_of_none, WRITES},
    {"snd(next)->queued == QUEUED_PACED", paced_unqueued, WRITES},
    {"snd(next)->pace_due == nic->pacing.entries[0].time", paced_for_another_time, WRITES},
    {"qp != NULL && qp->slot == slot", timer_of_nobody, WRITES},
    {"cc->wanting_count <= nic->config.max_qps", too_many_want, WRITES},
    {"qp->nic == nic", another_nics_wants, WRITES},
    {"i < cc->wanting_count", wants_unlisted, WRITES},
    {"qp->peer_slot == NO_SLOT", peer_taken_twice, WRITES},
    {"nic->peers[slot].users > 0", peer_of_nobody, WRITES},
    {"qp->flow.rate_bps > 0", starts_with_no_rate, WRITES},
    {"cause < OCHE_REJECT_CAUSES", unknown_cause, WRITES},
    {"nic->qps[qp->slot] == NULL", slot_in_use, WRITES},
    {"nic->qps[qp->slot] == qp", destroyed_twice, WRITES},
    {"cause > OCHE_CAUSE_NONE", fails_without_cause, WRITES},
    {"sender_is_done(qp) && !qp->responding", answers_in_error, WRITES},
    {"srq->users > 0", srq_of_nobody, WRITES},
    {"slot != window->slot", bound_to_a_window, WRITES},
    {"part->windows > 0", unbound_twice, WRITES},
    {"slot != NO_SLOT", region_of_no_key, WRITES},
    {"snd(qp)->send_head != snd(qp)->send_tail", retires_nothing, WRITES},
    {"snd(qp)->reads_started > 0", read_not_counted, READS},
    {"snd(qp)->flight_bytes >= acked_bytes", flies_less_than_was_acked, WRITES},
    {"bytes >= before", flies_less_than_came_before, GOES_BACK},
    {"oche_psn_diff(next, snd(qp)->tx.high) <= 0", next_beyond_high, WRITES},
    {"snd(qp)->flight_bytes >= packet->payload_bytes", last_packet_flies_below_nothing,
     SENDS_TWICE},
    {"snd(qp)->retries_left <= snd(qp)->retry_count", more_retries_than_there_were, WRITES},
    {"waiting <= RTT_SAMPLES", too_many_samples, WRITES},
    {"half->send_head == half->send_tail", connects_with_work, WRITES},
    {"parts.send_extra_bytes <= UINT16_MAX", send_entry_too_long, WRITES},
    {"qp->nic->recovery->judge != NULL", doubts_without_a_judge, GOES_BACK},
    {"pieces->kept_bytes >= packet->payload_bytes", kept_bytes_uncounted, READS},
    {"pieces->kept <= pieces->reach", kept_beyond_reach, READS},
    {"snd(qp)->supply_bps > 0", supplies_nothing, WRITES},
    {"snd(qp)->queued == QUEUED_NOT", class_changes_in_the_list, WRITES},
    {"response->active", finishes_what_is_over, READS},
    {"rcv(qp)->response_first != rcv(qp)->response_next", one_active_too_many, READS},
    {"rcv(qp)->response_next - index - 1 < rcv(qp)->response_count", answers_the_future, READS},
    {"head->active", head_is_over, READS},
    {"rcv(qp)->nak_psn <= OCHE_PSN_MASK", nak_of_no_psn, WRITES},
    {"rcv(qp)->recv_head != rcv(qp)->recv_tail", retires_no_receive, WRITES},
    {"half->recv_head == half->recv_tail", takes_a_second_receive, WRITES},
    {"parts.recv_entry_bytes <= UINT16_MAX", receive_too_long, WRITES},
    {"rcv(qp)->operation == OCHE_OPERATION_NONE", connects_in_a_message, WRITES},
    {"past <= state->arrived_count", arrived_more_than_counted, WRITES},
    {"state->arrived_count <= OCHE_PSN_BITMAP_BITS", arrived_more_than_bits, WRITES},
    {"!oche_psn_has(&state->kept, psn)", kept_twice, WRITES},
    {"suspects->count <= OCHE_SUSPECTS", too_many_suspects, WRITES},
    {"(records & (records - 1)) == 0", ring_of_three, WRITES},
};

enum end { BROKEN_AS_SAID, NOT_BROKEN, BROKEN_OTHERWISE };

/* Breaks the invariant in a child, which then says how that has ended, and what has broken. */
static enum end break_apart(const struct fault *fault, struct scene *scene)
{
    int status;
    const pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        global_expecting_assert = 1; /* oche_panic comes back here */
        if (setjmp(global_expect_assert_env) == 0) {
            fault->breaks(scene);
            _exit(NOT_BROKEN);
        }
        if (strstr(global_last_failed_assert, fault->must) != NULL)
            _exit(BROKEN_AS_SAID);
        fprintf(stderr, "%s broke\n", global_last_failed_assert);
        _exit(BROKEN_OTHERWISE);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return (enum end)WEXITSTATUS(status);
}

static void test_each_is_broken_once(void **state)
{
    static struct oche_selective_repeat_params selective;
    static struct oche_improved_go_back_n_params twice;

    (void)state;
    oche_param_defaults(&oche_recovery_selective_repeat.table, &selective);
    oche_param_defaults(&oche_recovery_improved_go_back_n.table, &twice);
    struct scene scenes[SCENES] = {
        [WRITES] = scene_of(false, &oche_recovery_selective_repeat, &selective),
        [READS] = scene_of(true, &oche_recovery_selective_repeat, &selective),
        [GOES_BACK] = scene_of(false, NULL, NULL),
        [SENDS_TWICE] = scene_of(false, &oche_recovery_improved_go_back_n, &twice),
    };
    unsigned wrong = 0;
    for (size_t i = 0; i < OCHE_COUNT_OF(faults); i++) {
        const enum end end = break_apart(&faults[i], &scenes[faults[i].scene]);
        if (end == BROKEN_AS_SAID)
            continue;
        print_error("%s: %s\n", faults[i].must,
                    end == NOT_BROKEN ? "does not break" : "something else breaks");
        wrong++;
    }
    assert_int_equal(wrong, 0);
    for (int i = 0; i < SCENES; i++) {
        pair_run_quiet(scenes[i].pair);
        pair_close(scenes[i].pair);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_is_broken_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
