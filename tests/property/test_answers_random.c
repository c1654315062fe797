/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A reliable requester against an independent peer (answer_peer.h), which answers in its own way,
 * loses answers, refuses requests, or dies. A stranger knows addresses and numbers but no PSN; it
 * sends CNPs, shares, ACKs, NAKs, responses and requests. Checks:
 *   - All work completes, in order, once, and READs return the right bytes. If packets follow each
 *     loss and nothing is lost twice, no ACK timer is needed.
 *   - At any time exactly that is acknowledged which the peer has acknowledged, and no more is
 *     outstanding than the window allows.
 *   - A peer is given up only if it was silent for one ACK timeout more than there are retries, or
 *     refused once more than it may. A dead peer is given up.
 *   - During a wait that the peer has asked for, nothing is sent. Its timer code says how long.
 *   - Extended opcodes are used only after the peer, not a stranger, has shown that it has them.
 *   - If a peer names PSNs in its CNPs, CNPs and shares count only with a PSN that it expects next,
 *     or expected a short time ago. All others have no effect.
 *
 *     test_answers_random [RUNS]
 *     test_answers_random FIRST LAST
 */
#include "core/cc/cc_headers.h"
#include "core/wire/aeth.h"
#include "core/wire/cnp.h"
#include "core/wire/opcode.h"
#include "params/scheme.h"
#include "tests/property/answer_peer.h"
#include "tests/property/request_model.h"
#include "tests/support/random_case.h"
#include "tests/support/seeds.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RUNS         2000
#define WORKS        24
#define MOST         (8 * PEER_PAYLOAD)
#define TARGET       (WORKS * MOST) /* the place of READs' data, after that of WRITEs */
#define SLACK        512            /* a CNP's PSN may be older than the newest by this many */
#define RNR_UNIT     (10 * OCHE_US)
#define LONGEST      (400 * OCHE_US) /* a scheme's own timer */
#define STEPS        200000
#define REMOTE_VA    UINT64_C(0x700000000)
#define ONE_STRANGER 6 /* a packet of the stranger in one step of this many */

enum trouble { MENDS, TIMERS, DIES, TROUBLES };

/* The answers that the requester has got. PSNs are counted from the first of the connection. */
struct told {
    uint32_t una, high;
    /* the packet is of a READ or an atomic: only its response acknowledges it */
    bool is_read[PEER_PSNS];
    oche_time left[PEER_PSNS];
    oche_time progress; /* when una last moved */
    uint32_t refusals;  /* since then */
    oche_time waits_until;
    bool surely, maybe; /* the peer has extensions: shown with a PSN that it knows, with any PSN */
};

struct world {
    struct pair *pair;
    uint64_t seed;
    struct oche_random random;
    enum trouble trouble;
    struct answer_peer peer;
    struct told told;
    uint32_t first_psn, window, works, posted, done;
    oche_time ack_timeout;
    uint32_t retries, rnr_retries;
    uint8_t peers_bits;  /* the peer shows extensions … */
    uint32_t shows_from; /* … from this answer on */
    uint32_t said;
    bool extends; /* the requester has the extended opcodes */
    bool agreed;  /* agreed on when the connection was made */
    bool failed;
    oche_time dies; /* when the peer dies */
    uint32_t loses; /* one in this many requests */
    struct {
        uint8_t opcode;
        uint32_t length;
    } work[WORKS];
};

static uint8_t memory[2][PAIR_MEMORY];
static struct blocks blocks;
static struct {
    uint64_t works, timeouts, naks, refusals, given_up, refused, void_cnps, good_cnps, void_shares,
        good_shares, extended, claims;
} seen;

static uint32_t below(struct world *w, uint32_t n)
{
    return case_below(&w->random, n);
}

static bool one_in(struct world *w, uint32_t n)
{
    return below(w, n) == 0;
}

#define MUST(condition, ...)                                                                       \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            pair_dump(w->pair);                                                                    \
            case_wrong("test_answers_random", w->seed, __VA_ARGS__);                               \
        }                                                                                          \
    } while (0)

/* ---- the packets that the requester sends ---- */

static struct peer_request read_request(const struct world *w, const struct oche_packet *packet)
{
    const struct oche_opcode_row *row = oche_opcode(packet->opcode);
    const uint32_t mtu = w->peer.mtu;
    struct peer_request request = {
        .asks = packet->bth & OCHE_BTH_ACKREQ,
        .takes_receive = row->flags & OCHE_OP_TAKES_RECV,
        .last = row->flags & OCHE_OP_LAST,
        .operation = row->operation,
        .psns = 1,
        .va = packet->reth.va,
        .dma_length = packet->reth.dma_length,
    };

    if (request.operation == OCHE_OPERATION_READ && request.dma_length > mtu)
        request.psns = (request.dma_length + mtu - 1) / mtu;
    return request;
}

static bool is_lost(struct world *w, uint32_t psn, const struct peer_request *request, bool again)
{
    if (w->trouble != MENDS)
        return one_in(w, w->loses);
    /* once, and packets after it show the loss */
    return !again && !request->last && psn - w->told.una + 2 <= w->window && one_in(w, w->loses);
}

static void take_request(struct pair *pair, int from, const struct oche_packet *packet)
{
    struct world *w = pair->context;
    const uint32_t psn = (packet->psn - w->first_psn) & OCHE_PSN_MASK;
    const struct peer_request request = read_request(w, packet);
    struct told *told = &w->told;

    (void)from;
    if (packet->opcode >= OCHE_SCHEME_OPCODES) {
        MUST(w->agreed || told->maybe, "opcode %x is sent to a peer that has shown nothing",
             packet->opcode);
        seen.extended++;
    }
    if (!oche_opcode_has(packet->opcode, OCHE_OP_REQUEST))
        return; /* an answer to a stranger */
    MUST(psn <= told->high && psn >= told->una && psn - told->una < w->window,
         "PSN %u leaves; outstanding are %u to %u, the window is %u", psn, told->una, told->high,
         w->window);
    MUST(pair->now >= told->waits_until, "PSN %u leaves %" PRIu64 " ns before the peer is ready",
         psn, (told->waits_until - pair->now) / OCHE_NS);
    const bool again = psn < told->high;
    for (uint32_t i = psn; i < psn + request.psns && !again; i++) {
        OCHE_MUST(i < PEER_PSNS);
        told->is_read[i] = request.operation >= OCHE_OPERATION_READ;
        told->left[i] = pair->now;
    }
    if (!again)
        told->high = psn + request.psns;
    if (!is_lost(w, psn, &request, again))
        answer_peer_takes(&w->peer, psn, &request,
                          w->extends && (w->peers_bits & OCHE_BTH_EXTENSIONS), pair->now);
}

static enum pair_fate lose(struct pair *pair, int from, const struct oche_packet *packet)
{
    (void)pair;
    (void)from;
    (void)packet;
    return PAIR_DROP; /* already counted in the tap */
}

/* ---- the answers that it gets ---- */

static void advance(struct told *told, uint32_t target)
{
    while (told->una < target && !told->is_read[told->una])
        told->una++;
}

static void learn(struct world *w, const struct peer_answer *answer, uint8_t bits)
{
    const struct told *told = &w->told;
    const bool response = answer->opcode != OCHE_RC_ACK && answer->opcode != OCHE_RC_SACK;
    const bool acks = answer->syndrome == OCHE_SYNDROME_ACK;

    if (bits == 0)
        return;
    w->told.maybe = true;
    if (answer->psn < told->high && answer->psn + (acks && !response) >= told->una)
        w->told.surely = true;
}

static void tell(struct world *w, const struct peer_answer *answer)
{
    const bool response = answer->opcode != OCHE_RC_ACK && answer->opcode != OCHE_RC_SACK;
    const bool acks = answer->syndrome == OCHE_SYNDROME_ACK;
    struct told *told = &w->told;
    const uint32_t before = told->una;

    advance(told, answer->psn + (acks && !response));
    if (response && told->una == answer->psn)
        told->una++;
    if (told->una != before) {
        told->progress = w->pair->now;
        told->refusals = 0;
    }
    seen.naks += answer->syndrome == OCHE_SYNDROME_NAK_SEQUENCE;
    seen.claims += answer->claims != 0;
    if (oche_aeth_kind(answer->syndrome) != OCHE_AETH_RNR || answer->psn != told->una ||
        w->pair->now < told->waits_until)
        return;
    told->refusals++;
    seen.refusals++;
    told->waits_until = w->pair->now + model_rnr_units(answer->syndrome & 31u) * RNR_UNIT;
}

static void check_told(struct world *w, const char *after)
{
    struct oche_qp_losses losses;

    if (oche_qp_state(w->pair->side[0].qp[0]) != OCHE_QP_RTS)
        return;
    oche_qp_losses(w->pair->side[0].qp[0], &losses);
    MUST(((losses.una - w->first_psn) & OCHE_PSN_MASK) == w->told.una &&
             ((losses.high - w->first_psn) & OCHE_PSN_MASK) == w->told.high,
         "after %s %u to %u are outstanding, not %u to %u", after,
         (losses.una - w->first_psn) & OCHE_PSN_MASK, (losses.high - w->first_psn) & OCHE_PSN_MASK,
         w->told.una, w->told.high);
}

static void receive(struct world *w, const struct oche_packet *packet, const char *what)
{
    oche_nic_receive(w->pair->side[0].nic, packet, w->pair->now);
    check_told(w, what);
}

static void give_answer(struct world *w)
{
    struct answer_peer *peer = &w->peer;
    const struct peer_answer *answer = &peer->answer[peer->first];
    struct oche_packet packet = pair_packet(w->pair, 1, answer->opcode,
                                            oche_psn_add(w->first_psn, answer->psn), answer->bytes);
    uint8_t payload[PEER_PAYLOAD];

    peer->first = (peer->first + 1) % PEER_ANSWERS;
    peer->count--;
    packet.bth = (uint8_t)(oche_pad_bytes(answer->bytes) << OCHE_BTH_PAD_SHIFT);
    packet.aeth = oche_aeth(answer->syndrome, answer->msn);
    packet.ext = OCHE_EXT_PAYLOAD;
    packet.bth_reserved = w->agreed || w->said >= w->shows_from ? w->peers_bits : 0;
    w->said++;
    packet.payload = payload;
    for (uint32_t i = 0; i < answer->bytes; i++)
        payload[i] = answer_peer_byte(answer->va + i);
    if (answer->opcode == OCHE_RC_SACK) {
        const struct oche_sack sack = {
            .first = packet.psn, .count = (uint8_t)answer->claimed, .bits = answer->claims};
        packet.bth_reserved = w->peers_bits; /* otherwise the peer would not understand it */
        oche_sack_put(&packet, &sack);
    }
    learn(w, answer, packet.bth_reserved);
    tell(w, answer);
    receive(w, &packet, "an answer of the peer");
}

/* ---- the stranger ---- */

/* Draws a PSN near those that are outstanding or that a CNP may name, or any. */
static uint32_t draw_psn(struct world *w)
{
    const uint32_t minus = OCHE_PSN_MASK + 1;

    switch (below(w, 5)) {
    case 0:
        return oche_psn_add(w->first_psn, w->told.high + minus - 1 + below(w, 4));
    case 1:
        return oche_psn_add(w->first_psn, w->told.una + minus - SLACK - 2 + below(w, 4));
    case 2:
        return oche_psn_add(w->first_psn, w->told.una + minus - below(w, SLACK));
    case 3:
        return oche_psn_add(w->first_psn, w->told.una + (UINT32_C(1) << 23));
    default:
        return below(w, OCHE_PSN_MASK + 1);
    }
}

/* True if the peer may expect that PSN next, or expected it when the packet was sent. */
static bool may_name(const struct world *w, uint32_t psn)
{
    const uint32_t oldest = w->first_psn + w->told.una - SLACK;

    return ((psn - oldest) & OCHE_PSN_MASK) <= w->told.high - w->told.una + SLACK;
}

static void forge_cnp(struct world *w, struct oche_packet *packet)
{
    const struct oche_nic *nic = w->pair->side[0].nic;
    const uint64_t took = oche_nic_stats(nic)->cnps_received;
    const uint64_t voided = oche_nic_rejected(nic, OCHE_REJECT_CNP);
    const uint32_t psn = draw_psn(w);
    const bool names = !one_in(w, 4);
    const bool knows = w->agreed || w->told.surely;
    const bool counts = !knows || (names && may_name(w, psn));

    packet->opcode = OCHE_CNP;
    packet->bth = OCHE_BTH_BECN;
    if (names)
        oche_cnp_put_psn(packet, psn);
    receive(w, packet, "a forged CNP");
    if (!knows && w->told.maybe)
        return;
    MUST(oche_nic_stats(nic)->cnps_received - took == counts &&
             oche_nic_rejected(nic, OCHE_REJECT_CNP) - voided == !counts,
         "a CNP that names %s PSN %d before what is outstanding (%u) %s", names ? "the" : "no",
         oche_psn_diff(oche_psn_add(w->first_psn, w->told.una), psn), w->told.high - w->told.una,
         counts ? "is void" : "counts");
    seen.void_cnps += !counts;
    seen.good_cnps += counts && knows;
}

static void forge_share(struct world *w, struct oche_packet *packet)
{
    const struct oche_nic *nic = w->pair->side[0].nic;
    const uint64_t voided = oche_nic_rejected(nic, OCHE_REJECT_CNP);
    const uint64_t unknown = oche_nic_rejected(nic, OCHE_REJECT_OPCODE);
    const bool knows = w->agreed || w->told.surely;
    const bool extended = knows && w->extends && (w->peers_bits & OCHE_BTH_EXTENSIONS);
    const struct oche_share share = {.senders = (uint16_t)(1 + below(w, 9))};

    packet->opcode = OCHE_SHARE;
    packet->psn = draw_psn(w);
    oche_share_put(packet, &share);
    receive(w, packet, "a forged share");
    if (!knows && w->told.maybe)
        return;
    MUST(oche_nic_rejected(nic, OCHE_REJECT_OPCODE) - unknown == !extended &&
             oche_nic_rejected(nic, OCHE_REJECT_CNP) - voided ==
                 (extended && !may_name(w, packet->psn)),
         "a share that names the PSN %d before what is outstanding (%u) %s",
         oche_psn_diff(oche_psn_add(w->first_psn, w->told.una), packet->psn),
         w->told.high - w->told.una, may_name(w, packet->psn) ? "is void" : "counts");
    seen.void_shares += extended && !may_name(w, packet->psn);
    seen.good_shares += extended && may_name(w, packet->psn);
}

/* An answer, or a request, that the requester does not expect. */
static void forge_other(struct world *w, struct oche_packet *packet)
{
    static const uint8_t syndromes[] = {OCHE_SYNDROME_ACK, OCHE_SYNDROME_NAK_SEQUENCE,
                                        OCHE_SYNDROME_NAK_REMOTE_ACCESS, OCHE_SYNDROME_RNR};
    static const uint8_t opcodes[] = {OCHE_RC_ACK, OCHE_RC_ACK, OCHE_RC_READ_RESPONSE_ONLY,
                                      OCHE_RC_ATOMIC_ACK, OCHE_RC_WRITE_ONLY};
    const uint32_t minus = OCHE_PSN_MASK + 1;
    const bool ahead = one_in(w, 2);
    uint32_t psn = oche_psn_add(w->first_psn, ahead ? w->told.high + below(w, 1u << below(w, 20))
                                                    : w->told.una + minus - 2 - below(w, 2000));

    packet->opcode = opcodes[below(w, sizeof(opcodes))];
    if (packet->opcode == OCHE_RC_WRITE_ONLY) /* its PSNs belong to the other direction */
        psn = oche_psn_add(w->first_psn, 1000 + (ahead ? 1 + below(w, 9) : minus - 1));
    packet->psn = psn;
    packet->aeth = oche_aeth(syndromes[below(w, sizeof(syndromes))], below(w, OCHE_PSN_MASK));
    packet->ext = OCHE_EXT_RETH | OCHE_EXT_PAYLOAD;
    receive(w, packet, "a forged packet");
}

static void be_a_stranger(struct world *w)
{
    static const uint8_t bits[] = {0, OCHE_BTH_CNP_PSN, OCHE_BTH_EXTENSIONS, OCHE_BTH_SHOWN};
    static uint8_t nothing[8];
    struct oche_packet packet = pair_packet(w->pair, 1, OCHE_RC_ACK, 0, 0);

    packet.bth = 0;
    packet.payload = nothing;
    packet.bth_reserved = bits[below(w, sizeof(bits))];
    if (w->failed)
        return;
    switch (below(w, 4)) {
    case 0:
        forge_cnp(w, &packet);
        break;
    case 1:
        forge_share(w, &packet);
        break;
    default:
        forge_other(w, &packet);
        break;
    }
}

/* ---- work ---- */

static void post(struct world *w)
{
    static const uint8_t opcodes[] = {
        OCHE_WORK_SEND, OCHE_WORK_WRITE, OCHE_WORK_WRITE_IMM,    OCHE_WORK_READ,
        OCHE_WORK_READ, OCHE_WORK_READ,  OCHE_WORK_COMPARE_SWAP, OCHE_WORK_FETCH_ADD};
    const uint8_t opcode = opcodes[below(w, sizeof(opcodes))];
    const uint32_t at = w->posted * MOST;
    const uint32_t length = opcode >= OCHE_WORK_FETCH_ADD ? 8 : below(w, 8 * w->peer.mtu + 1);
    const bool comes = opcode >= OCHE_WORK_READ;
    struct oche_send_work work = pair_work(opcode, w->posted, comes ? TARGET + at : at, 0, length);

    work.remote_va = REMOTE_VA + (uint64_t)w->posted * MOST;
    work.rkey = 5;
    if (one_in(w, 8))
        work.flags |= OCHE_WORK_FENCE;
    if (oche_qp_post_send(w->pair->side[0].qp[0], &work) != 0)
        return;
    w->work[w->posted].opcode = opcode;
    w->work[w->posted++].length = length;
}

static void check_read(struct world *w, uint32_t index)
{
    if (w->work[index].opcode != OCHE_WORK_READ)
        return;
    for (uint32_t i = 0; i < w->work[index].length; i++)
        MUST(memory[0][TARGET + index * MOST + i] ==
                 answer_peer_byte(REMOTE_VA + (uint64_t)index * MOST + i),
             "work %u: byte %u of what was read is wrong", index, i);
}

/* True if the peer can be given up now, by its answers and its retries. */
static void judge_failure(struct world *w, const struct oche_completion *done)
{
    const struct told *told = &w->told;
    const oche_time since = oche_time_max(told->left[told->una], told->progress);
    const oche_time silent = w->pair->now - since;
    const oche_time due = (w->retries + 1) * w->ack_timeout;

    if (done->status == OCHE_STATUS_RNR_RETRY_EXCEEDED) {
        MUST(w->rnr_retries != UINT32_MAX && told->refusals == w->rnr_retries + 1,
             "given up after %u refusals; %u are to be borne", told->refusals, w->rnr_retries);
        seen.refused++;
        return;
    }
    MUST(done->status == OCHE_STATUS_RETRY_EXCEEDED && w->trouble != MENDS &&
             w->retries != UINT32_MAX,
         "work %" PRIu64 " fails with status %u", done->wr_id, done->status);
    MUST(silent >= due,
         "given up after %" PRIu64 " us without progress; due are %" PRIu64 " us: %u retries",
         silent / OCHE_US, due / OCHE_US, w->retries);
    MUST(w->trouble != DIES || w->pair->now - oche_time_max(since, told->waits_until) <=
                                   (2 * w->retries + 3) * oche_time_max(w->ack_timeout, LONGEST),
         "a dead peer is given up only after %" PRIu64 " us", silent / OCHE_US);
    seen.given_up++;
}

static void poll(struct world *w)
{
    struct oche_completion done;

    while (oche_cq_poll(w->pair->side[0].cq, &done, 1) == 1) {
        MUST(done.wr_id == w->done && w->done < w->posted, "work %" PRIu64 " is done, not %u",
             done.wr_id, w->done);
        if (!w->failed && done.status == OCHE_STATUS_SUCCESS) {
            check_read(w, w->done);
        } else if (!w->failed) {
            judge_failure(w, &done);
            w->failed = true;
        } else {
            MUST(done.status == OCHE_STATUS_FLUSHED, "work %u behind a failure has status %u",
                 w->done, done.status);
        }
        w->done++;
        seen.works++;
    }
    MUST(w->failed || w->told.refusals <= w->rnr_retries || w->rnr_retries == UINT32_MAX,
         "refused %u times, and nothing fails; %u are to be borne", w->told.refusals,
         w->rnr_retries);
}

/* ---- a run ---- */

static void notified(struct oche_cc_flow *flow, oche_time now, const struct oche_packet *cnp)
{
    (void)flow;
    (void)now;
    (void)cnp;
}

static void start(struct oche_cc_flow *flow, oche_time now)
{
    (void)now;
    flow->rate_bps = flow->line_rate_bps;
    flow->window_bytes = UINT64_MAX;
}

static const struct oche_cc_headers headers = {.ack_opcode = OCHE_RC_ACK_SHARE};

static const struct oche_cc_scheme schemes[2] = {
    {.name = "notified", .transports = OCHE_CC_RC, .start = start, .cnp = notified},
    {.name = "extended",
     .transports = OCHE_CC_RC,
     .start = start,
     .cnp = notified,
     .headers = &headers},
};

static uint32_t few(struct world *w)
{
    return one_in(w, 2) ? below(w, 3) : below(w, 8);
}

/* Draws the connection's retries and timeouts, and the behaviour of the peer. */
static void draw_trouble(struct world *w)
{
    static const oche_time timeouts[] = {100 * OCHE_US, 300 * OCHE_US, OCHE_MS};
    struct answer_peer *peer = &w->peer;

    w->trouble = (enum trouble)below(w, TROUBLES);
    w->ack_timeout = timeouts[below(w, 3)];
    w->retries = few(w);
    w->rnr_retries = one_in(w, 2) ? UINT32_MAX : few(w);
    w->loses = peer->loses = 2 + below(w, 20);
    w->dies = OCHE_NEVER;
    if (w->trouble == MENDS) {
        w->ack_timeout = OCHE_NEVER;
        w->retries = w->rnr_retries = UINT32_MAX;
        return;
    }
    peer->loses_any = true;
    peer->refuses = one_in(w, 2) ? 0 : 2 + below(w, 8);
    if (w->trouble == TIMERS && one_in(w, 2))
        w->retries = UINT32_MAX;
    if (w->trouble == DIES)
        w->dies = below(w, 60) * OCHE_US;
}

static void open_world(struct world *w, uint64_t seed)
{
    static const char *const recoveries[] = {
        "go_back_n",
        "improved_go_back_n",
        "selective_repeat",
        "selective_repeat,rto_low=30us,rto_high=100us",
        "selective_repeat,rto_low=20us,rto_high=50us,few_packets=0",
    };
    static const uint8_t bits[] = {0, OCHE_BTH_CNP_PSN, OCHE_BTH_EXTENSIONS};
    static struct oche_recovery_choice choice;
    struct oche_error error;

    *w = (struct world){.seed = seed, .random = oche_random_stream(seed, "answers", 0)};
    const bool parsed = oche_recovery_parse(&choice, recoveries[below(w, 5)], &error);
    OCHE_MUST(parsed);
    draw_trouble(w);
    const struct oche_cc_scheme *cc = &schemes[below(w, 2)];
    w->extends = choice.recovery->extend != NULL || cc->headers != NULL;
    w->agreed = one_in(w, 2);
    w->peers_bits =
        w->agreed ? (w->extends ? OCHE_BTH_EXTENSIONS : OCHE_BTH_CNP_PSN) : bits[below(w, 3)];
    w->shows_from = one_in(w, 2) ? 0 : below(w, 40);
    w->first_psn = (uint32_t)oche_random_u64(&w->random) & OCHE_PSN_MASK;
    w->window = 4 + below(w, 45);
    w->works = 1 + below(w, WORKS);
    w->peer.random = &w->random;
    w->peer.mtu = 64u << below(w, 5);
    w->peer.delay = OCHE_US + below(w, 4) * OCHE_US;
    /* Only a recovery scheme that stores packets uses the peer's claims about stored packets. */
    w->peer.keeps = choice.recovery->sacked != NULL && !one_in(w, 4);
    struct pair_options options = {
        .cc = cc,
        .recovery = choice.recovery,
        .own_recovery_params = &choice.params,
        .extensions = w->agreed,
        .seed = seed,
        .mtu = w->peer.mtu,
        .send_depth = 32,
        .initiator_depth = 1u << below(w, 5),
        .responder_resources = 16,
        .first_psn = w->first_psn,
        .ack_every = 1 + below(w, 6),
        .window_packets = w->window,
        .ack_timeout = w->ack_timeout,
        .retry_count = w->retries == 0 ? UINT32_MAX - 1 : w->retries,
        .rnr_retry = w->rnr_retries == 0 ? UINT32_MAX - 1 : w->rnr_retries,
        .in_flight = 4,
        .blocks = &blocks,
        .memory = {memory[0], memory[1]},
    };
    w->pair = pair_open(&options);
    w->pair->context = w;
    w->pair->tap = take_request;
    w->pair->fate = lose;
}

static void step(struct world *w)
{
    const struct answer_peer *peer = &w->peer;
    struct pair *pair = w->pair;
    const oche_time next = peer->count > 0 ? peer->answer[peer->first].arrives : OCHE_NEVER;

    if (w->posted < w->works && one_in(w, 3))
        post(w);
    if (one_in(w, ONE_STRANGER))
        be_a_stranger(w);
    w->peer.dead = pair->now >= w->dies;
    if (pair_step(pair, next == OCHE_NEVER ? 1000 * OCHE_SEC : next))
        return;
    if (next != OCHE_NEVER) {
        pair->now = next > pair->now ? next : pair->now;
        give_answer(w);
        return;
    }
    MUST(w->posted < w->works || w->done == w->posted, "stuck: it waits for %s",
         oche_qp_waits_for(pair->side[0].qp[0]));
    pair->now += OCHE_US;
}

static void run(uint64_t seed)
{
    static struct world world;
    struct world *w = &world;

    open_world(w, seed);
    for (uint32_t steps = 0; w->failed ? w->done < w->posted : w->done < w->works; steps++) {
        step(w);
        poll(w);
        check_told(w, "a step");
        MUST(steps < STEPS, "no end: it waits for %s", oche_qp_waits_for(w->pair->side[0].qp[0]));
    }
    const struct oche_nic_stats *stats = oche_nic_stats(w->pair->side[0].nic);
    MUST(w->trouble != MENDS || stats->timeouts == 0, "%" PRIu64 " timeouts", stats->timeouts);
    seen.timeouts += stats->timeouts;
    pair_close(w->pair);
}

int main(int argc, char **argv)
{
    const uint64_t first = argc > 2 ? strtoull(argv[1], NULL, 0) : 1;
    const uint64_t last = argc > 1 ? strtoull(argv[argc > 2 ? 2 : 1], NULL, 0) : seeds_of(RUNS);

    for (uint64_t seed = first; seed <= last; seed++)
        run(seed);
    printf("%" PRIu64 " works, %" PRIu64 " timeouts, %" PRIu64 " NAKs, %" PRIu64
           " with claims, %" PRIu64 " refusals; given up: %" PRIu64 " silent, %" PRIu64
           " refused; forged: %" PRIu64 " CNPs void, %" PRIu64 " not, %" PRIu64
           " shares void, %" PRIu64 " not; %" PRIu64 " extended packets\n",
           seen.works, seen.timeouts, seen.naks, seen.claims, seen.refusals, seen.given_up,
           seen.refused, seen.void_cnps, seen.good_cnps, seen.void_shares, seen.good_shares,
           seen.extended);
    return argc <= 2 && !(seen.timeouts > 0 && seen.claims > 0 && seen.given_up > 0 &&
                          seen.refused > 0 && seen.void_cnps > 0 && seen.good_cnps > 0 &&
                          seen.void_shares > 0 && seen.good_shares > 0 && seen.extended > 0);
}
