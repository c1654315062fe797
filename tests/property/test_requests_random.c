/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A reliable responder against an independent requester. Most requests are right; some have a wrong
 * opcode, length, key, address or PSN, or find no receive. The rights of queue pair and regions,
 * and the receives, are random, too. A model that follows the rules, not the code
 * (request_model.h), checks:
 *   - A request is executed if and only if it is the next one and has no error. Then memory,
 *     completions, PSN, MSN and answer are correct.
 *   - Otherwise nothing changes, and the answer names an error of the request. If a receive is
 *     missing, the timer code is the closest to what the program asked for.
 *   - A responder with a timer for missing packets repeats its NAK while packets arrive.
 *   - An impossible request, too far ahead, is dropped without an answer.
 *
 *     test_requests_random [RUNS]
 *     test_requests_random FIRST LAST
 */
#include "core/wire/aeth.h"
#include "core/wire/opcode.h"
#include "params/scheme.h"
#include "tests/property/request_model.h"
#include "tests/support/pair.h"
#include "tests/support/random_case.h"
#include "tests/support/seeds.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RUNS         400
#define REQUESTS     120 /* of a run, unless one of them ends the queue pair */
#define PATIENCE     (50 * OCHE_US)
#define LEAST_NAKS   20 /* repetitions by a peer that asks every 2 us, in that time */
#define RNR_UNIT     (10 * OCHE_US)
#define MOST         3000 /* bytes of a message */
#define DEPTH        16   /* receives */
#define REGION_ROOM  16384
#define RECEIVES_AT  (MODEL_REGIONS * REGION_ROOM)
#define RECEIVE_ROOM 3072
#define ZONE         (RECEIVES_AT + DEPTH * RECEIVE_ROOM) /* all memory that may be written */
#define FIRST_KEY    1000
#define FIRST_ID     70
#define MOST_ANSWERS 128

enum outcome { DONE, REFUSED, ENDED, AHEAD, GAP, REPEATED, OUTCOMES };
static const char *const outcome_names[OUTCOMES] = {
    "done", "not ready", "ended by an error", "too far ahead", "behind a gap", "repeated"};

struct answer {
    uint8_t opcode;
    uint32_t psn, aeth, bytes;
    uint64_t original;
};

struct world {
    struct pair *pair;
    uint64_t seed;
    struct oche_random random;
    struct request_model model;
    uint32_t epsn, most_ahead;
    uint32_t wait_units; /* in the units that the program asked for */
    uint32_t total;      /* bytes of the message that is being sent */
    bool imm;            /* the message ends with immediate data */
    struct answer answer[MOST_ANSWERS];
    uint32_t answers;
    bool is_refusing;  /* the next one found no receive */
    bool repeats_naks; /* its own timer may ask for the expected PSN at any time */
    uint32_t naks;
    uint8_t read[MOST]; /* bytes that READ responses brought */
    uint32_t read_from; /* PSN of its first byte */
};

/* A packet and the model's verdict on it. */
struct shot {
    struct model_request request;
    uint32_t psn;
    bool asks;
    unsigned faults;
    uint8_t payload[1024];
};

static uint8_t memory[2][PAIR_MEMORY], shadow[ZONE];
static struct blocks blocks;
static uint64_t seen[OUTCOMES];

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
            case_wrong("test_requests_random", w->seed, __VA_ARGS__);                              \
        }                                                                                          \
    } while (0)

/* ---- the world ---- */

static void take_answer(struct pair *pair, int from, const struct oche_packet *packet)
{
    struct world *w = pair->context;

    MUST(from == 1 && w->answers < MOST_ANSWERS, "a packet too many, opcode %x", packet->opcode);
    if (packet->opcode == OCHE_RC_ACK && packet->aeth >> 24 == OCHE_SYNDROME_NAK_SEQUENCE) {
        struct oche_qp_losses losses;
        oche_qp_losses(pair->side[1].qp[0], &losses);
        MUST(packet->psn == losses.epsn, "a NAK for PSN %x; expected is %x", packet->psn,
             losses.epsn);
        w->naks++;
        return;
    }
    w->answer[w->answers++] = (struct answer){.opcode = packet->opcode,
                                              .psn = packet->psn,
                                              .aeth = packet->aeth,
                                              .bytes = packet->payload_bytes,
                                              .original = packet->original};
    const uint32_t at = ((packet->psn - w->read_from) & OCHE_PSN_MASK) * w->model.mtu;
    if (packet->payload_bytes > 0 && at + packet->payload_bytes <= MOST)
        memcpy(w->read + at, packet->payload, packet->payload_bytes);
}

static enum pair_fate lose(struct pair *pair, int from, const struct oche_packet *packet)
{
    (void)pair;
    (void)from;
    (void)packet;
    return PAIR_DROP; /* already counted in the tap, and there is no other node */
}

static uint32_t access_of(uint32_t rights)
{
    return (rights & MODEL_MAY_WRITE ? OCHE_ACCESS_REMOTE_WRITE : 0u) |
           (rights & MODEL_MAY_READ ? OCHE_ACCESS_REMOTE_READ : 0u) |
           (rights & MODEL_MAY_ATOMIC ? OCHE_ACCESS_REMOTE_ATOMIC : 0u);
}

static uint32_t draw_rights(struct world *w, uint32_t one_misses)
{
    uint32_t rights = 0;

    for (uint32_t right = 1; right <= MODEL_MAY_ATOMIC; right *= 2)
        rights |= one_in(w, one_misses) ? 0 : right;
    return rights;
}

static void make_regions(struct world *w)
{
    for (uint32_t i = 0; i < MODEL_REGIONS; i++) {
        struct model_region *region = &w->model.region[i];
        *region = (struct model_region){
            .key = FIRST_KEY + i * 17,
            .length = 8 + below(w, REGION_ROOM / 2),
            .va = (oche_random_u64(&w->random) >> 24) * 8,
            .at = i * REGION_ROOM + 8 * below(w, 64),
            .rights = draw_rights(w, 3),
            .other_domain = one_in(w, 8),
        };
        const struct oche_region of_nic = {
            .va = region->va,
            .length = region->length,
            .key = region->key,
            .access = OCHE_ACCESS_LOCAL_WRITE | access_of(region->rights),
            .pd = PAIR_PD + region->other_domain,
            .base = memory[1] + region->at,
        };
        const bool added = oche_nic_add_region(w->pair->side[1].nic, &of_nic);
        OCHE_MUST(added);
    }
}

/* The program asks for a wait and gets the timer code that is closest. */
static void ask_for_wait(struct world *w)
{
    const uint32_t magnitude = 1u << below(w, 17);
    struct oche_qp_connection connection = pair_connection(w->pair, 1, 0);

    w->wait_units = magnitude + below(w, magnitude);
    connection.min_rnr_timer =
        oche_rnr_code(w->wait_units * RNR_UNIT - (one_in(w, 2) ? 0 : below(w, 1000)));
    oche_qp_set_retries(w->pair->side[1].qp[0], &connection);
}

static void open_world(struct world *w, uint64_t seed)
{
    static const char *const schemes[] = {"go_back_n", "improved_go_back_n,nak_interval=2us",
                                          "selective_repeat"};
    static const uint32_t mtus[] = {64, 100, 256, 1000};
    static struct oche_recovery_choice choice;
    struct oche_error error;

    *w = (struct world){.seed = seed, .random = oche_random_stream(seed, "requests", 0)};
    const bool parsed = oche_recovery_parse(&choice, schemes[below(w, 3)], &error);
    OCHE_MUST(parsed);
    w->repeats_naks = choice.recovery->rx_timer != NULL;
    w->model.mtu = mtus[below(w, 4)];
    w->model.resources = one_in(w, 16) ? 0 : 1u << below(w, 4);
    w->model.rights = draw_rights(w, 6);
    w->model.memory = shadow;
    w->most_ahead = one_in(w, 3) ? 0 : 1 + below(w, 1u << below(w, 12));
    struct pair_options options = {
        .recovery = choice.recovery,
        .own_recovery_params = &choice.params,
        .seed = seed,
        .mtu = w->model.mtu,
        .recv_depth = DEPTH,
        .responder_resources = w->model.resources == 0 ? UINT32_MAX : w->model.resources,
        .first_psn = (uint32_t)oche_random_u64(&w->random) & OCHE_PSN_MASK,
        .most_ahead = w->most_ahead,
        .access = w->model.rights == 0 ? UINT32_MAX : access_of(w->model.rights),
        .ipv6 = one_in(w, 2),
        .in_flight = 4,
        .blocks = &blocks,
        .memory = {memory[0], memory[1]},
    };
    memset(memory[1], 0, ZONE);
    memset(shadow, 0, ZONE);
    w->pair = pair_open(&options);
    w->pair->context = w;
    w->pair->tap = take_answer;
    w->pair->fate = lose;
    w->epsn = options.first_psn;
    make_regions(w);
    ask_for_wait(w);
}

static void post_receive(struct world *w)
{
    struct request_model *m = &w->model;
    const uint32_t at = RECEIVES_AT + m->posted % DEPTH * RECEIVE_ROOM;
    const uint32_t length = one_in(w, 4) ? below(w, 100) : below(w, MOST + 1);

    if (m->posted - m->completed == DEPTH)
        return;
    pair_post_recv(w->pair, 1, FIRST_ID + m->posted, at, length);
    m->receive[m->posted++ % MODEL_RECEIVES] = (struct model_receive){.at = at, .length = length};
}

/* ---- the requests that are sent ---- */

static void begin_data(struct world *w, struct model_request *request)
{
    const struct request_model *m = &w->model;
    const struct model_receive *receive = &m->receive[m->completed % MODEL_RECEIVES];

    w->imm = one_in(w, 3);
    if (request->operation == MODEL_WRITE)
        w->total = request->dma_length;
    else if (m->posted == m->completed)
        w->total = below(w, MOST);
    else
        w->total = one_in(w, 2) ? receive->length : below(w, receive->length + 2);
    request->first = true;
}

/* Draws the memory of a request: part of a region, often up to its end. */
static void aim(struct world *w, struct model_request *request)
{
    const struct model_region *region = &w->model.region[below(w, MODEL_REGIONS)];
    const uint32_t bytes = below(w, region->length < MOST ? region->length + 1 : MOST);
    const uint32_t most = region->length - bytes;

    request->key = region->key;
    request->dma_length = bytes;
    request->va = region->va + (one_in(w, 3) ? most : below(w, most + 1));
    if (request->operation >= MODEL_SWAP)
        request->va = region->va + below(w, region->length / 8) * 8;
    request->compare = below(w, 2);
    request->swap_add = below(w, 3);
}

/* Makes the next packet of a message, as a correct requester sends it. */
static void continue_data(struct world *w, struct model_request *request)
{
    const struct request_model *m = &w->model;
    const uint32_t there = request->first ? 0 : m->arrived;
    uint32_t left = w->total > there ? w->total - there : 1 + below(w, m->mtu);

    if (!request->first && m->operation == MODEL_WRITE)
        left = m->announced - there;
    if (w->total == 0 && request->first)
        left = 0;
    request->last = left <= m->mtu;
    request->bytes = request->last ? left : m->mtu;
    request->imm = request->last && w->imm;
}

static struct model_request draw_right(struct world *w)
{
    static const uint8_t operations[] = {MODEL_SEND, MODEL_SEND, MODEL_WRITE, MODEL_WRITE,
                                         MODEL_READ, MODEL_SWAP, MODEL_ADD};
    struct model_request request = {.operation = w->model.operation};

    if (request.operation == MODEL_NONE) {
        request.operation = operations[below(w, sizeof(operations))];
        aim(w, &request);
        if (request.operation <= MODEL_WRITE)
            begin_data(w, &request);
    }
    if (request.operation <= MODEL_WRITE)
        continue_data(w, &request);
    return request;
}

/* Changes one field to a wrong value; sometimes the result is still right. */
static void spoil(struct world *w, struct model_request *request)
{
    const int32_t little = (int32_t)below(w, 17) - 8;

    switch (below(w, 8)) {
    case 0:
        request->first = !request->first;
        break;
    case 1:
        request->last = !request->last;
        break;
    case 2:
        request->bytes += (uint32_t)little;
        break;
    case 3:
        request->operation = (enum model_operation)(MODEL_SEND + below(w, 5));
        aim(w, request);
        break;
    case 4:
        request->key = FIRST_KEY + below(w, MODEL_REGIONS + 1) * 17;
        break;
    case 5:
        request->va += (uint64_t)(int64_t)little;
        break;
    case 6:
        request->dma_length += (uint32_t)little;
        break;
    default:
        request->imm = !request->imm;
        break;
    }
    if (request->bytes > w->model.mtu + 8)
        request->bytes = request->last;
    if (request->dma_length > MOST)
        request->dma_length = 0;
}

/* Limits the request to what a packet can carry. */
static void tidy(struct model_request *request)
{
    request->imm = request->imm && request->last;
    if (request->operation > MODEL_WRITE) {
        request->first = request->last = request->imm = false;
        request->bytes = 0;
    } else if (request->last && !request->first && request->bytes == 0) {
        request->bytes = 1; /* InfiniBand has no LAST without payload */
    }
}

/* Most are the next in order; the others are close to the limits of a check. */
static uint32_t draw_psn(struct world *w)
{
    const uint32_t most = w->most_ahead > 0 ? w->most_ahead : 4;

    switch (below(w, 20)) {
    case 0:
        return oche_psn_add(w->epsn, most - 1 + below(w, 4));
    case 1:
        return oche_psn_add(w->epsn, 1 + below(w, 5));
    case 2:
        return oche_psn_add(w->epsn, OCHE_PSN_MASK - below(w, 10));
    case 3:
        return one_in(w, 4) ? below(w, OCHE_PSN_MASK + 1) : w->epsn;
    default:
        return w->epsn;
    }
}

static void draw(struct world *w, struct shot *shot)
{
    const bool spoiled = one_in(w, 24);

    for (int tries = 0; tries < 20; tries++) {
        shot->request = draw_right(w);
        if (spoiled)
            spoil(w, &shot->request);
        tidy(&shot->request);
        shot->faults = model_faults(&w->model, &shot->request);
        if (spoiled || !(shot->faults & ~(unsigned)MODEL_NOT_READY) || one_in(w, 64))
            break;
    }
    shot->psn = draw_psn(w);
    shot->asks = shot->request.last || one_in(w, 3);
    for (uint32_t i = 0; i < shot->request.bytes; i++)
        shot->payload[i] = (uint8_t)oche_random_u64(&w->random);
}

static uint8_t opcode_of(const struct model_request *request)
{
    static const uint8_t single[] = {[MODEL_READ] = OCHE_RC_READ_REQUEST,
                                     [MODEL_SWAP] = OCHE_RC_COMPARE_SWAP,
                                     [MODEL_ADD] = OCHE_RC_FETCH_ADD};
    static const uint8_t sends[2][2] = {{OCHE_RC_SEND_MIDDLE, OCHE_RC_SEND_LAST},
                                        {OCHE_RC_SEND_FIRST, OCHE_RC_SEND_ONLY}};
    static const uint8_t writes[2][2] = {{OCHE_RC_WRITE_MIDDLE, OCHE_RC_WRITE_LAST},
                                         {OCHE_RC_WRITE_FIRST, OCHE_RC_WRITE_ONLY}};

    if (request->operation > MODEL_WRITE)
        return single[request->operation];
    const uint8_t plain = request->operation == MODEL_SEND ? sends[request->first][request->last]
                                                           : writes[request->first][request->last];
    return (uint8_t)(plain + request->imm); /* the opcode with immediate data is the next number */
}

static void send(struct world *w, const struct shot *shot)
{
    const struct model_request *request = &shot->request;
    struct oche_packet packet =
        pair_packet(w->pair, 0, opcode_of(request), shot->psn, (uint16_t)request->bytes);

    packet.bth = (uint8_t)((shot->asks ? OCHE_BTH_ACKREQ : 0) | oche_pad_bytes(request->bytes)
                                                                    << OCHE_BTH_PAD_SHIFT);
    packet.ext = OCHE_EXT_RETH | OCHE_EXT_ATOMIC | OCHE_EXT_IMM | OCHE_EXT_PAYLOAD;
    packet.payload = (uint8_t *)(uintptr_t)shot->payload;
    packet.reth = (struct oche_reth){
        .va = request->va, .rkey = request->key, .dma_length = request->dma_length};
    packet.atomic =
        (struct oche_atomic){.swap_add = request->swap_add, .compare = request->compare};
    packet.imm = shot->psn + 7;
    w->answers = w->naks = 0;
    w->read_from = shot->psn;
    oche_nic_receive(w->pair->side[1].nic, &packet, w->pair->now);
    pair_run(w->pair, w->pair->now + PATIENCE);
}

/* ---- the results ---- */

static uint64_t rejected(const struct world *w, enum oche_reject cause)
{
    return oche_nic_rejected(w->pair->side[1].nic, cause);
}

static uint64_t all_rejected(const struct world *w)
{
    return oche_nic_stats(w->pair->side[1].nic)->rejected_packets;
}

static void check_read(struct world *w, const struct shot *shot, uint32_t psns)
{
    const struct model_request *request = &shot->request;
    uint32_t bytes = 0;

    MUST(w->answers == psns, "a READ of %u bytes has %u responses, not %u", request->dma_length,
         w->answers, psns);
    for (uint32_t i = 0; i < psns; i++) {
        MUST(w->answer[i].psn == oche_psn_add(shot->psn, i) &&
                 w->answer[i].opcode >= OCHE_RC_READ_RESPONSE_FIRST &&
                 w->answer[i].opcode <= OCHE_RC_READ_RESPONSE_ONLY,
             "response %u of a READ is opcode %x, PSN %x", i, w->answer[i].opcode,
             w->answer[i].psn);
        bytes += w->answer[i].bytes;
    }
    MUST(bytes == request->dma_length &&
             (bytes == 0 ||
              memcmp(w->read, model_memory(&w->model, request->key, request->va), bytes) == 0),
         "a READ of %u bytes brought %u, or others", request->dma_length, bytes);
}

static void check_ack(struct world *w, const struct shot *shot)
{
    if (!shot->asks) {
        MUST(w->answers == 0, "an answer (opcode %x) that nobody has asked for",
             w->answer[0].opcode);
        return;
    }
    MUST(w->answers == 1 && w->answer[0].opcode == OCHE_RC_ACK && w->answer[0].psn == shot->psn,
         "%u answers to PSN %x; the first: opcode %x, PSN %x", w->answers, shot->psn,
         w->answer[0].opcode, w->answer[0].psn);
    MUST(w->answer[0].aeth >> 24 == OCHE_SYNDROME_ACK &&
             (w->answer[0].aeth & OCHE_PSN_MASK) == w->model.messages,
         "an ACK with AETH %x; %u messages are done", w->answer[0].aeth, w->model.messages);
}

/* The request has been executed, by the model as well. */
static void check_done(struct world *w, const struct shot *shot)
{
    const struct model_request *request = &shot->request;
    const uint32_t were = w->model.completed;
    uint64_t original = 0;
    const uint32_t psns = model_execute(&w->model, request, shot->payload, &original);
    struct oche_completion done;

    if (request->operation == MODEL_READ)
        check_read(w, shot, psns);
    else if (request->operation >= MODEL_SWAP)
        MUST(w->answers == 1 && w->answer[0].opcode == OCHE_RC_ATOMIC_ACK &&
                 w->answer[0].psn == shot->psn && w->answer[0].original == original,
             "%u answers to an atomic; the first: opcode %x", w->answers, w->answer[0].opcode);
    else
        check_ack(w, shot);
    w->epsn = oche_psn_add(w->epsn, psns);
    const uint32_t count = oche_cq_poll(w->pair->side[1].cq, &done, 1);
    MUST(count == w->model.completed - were, "%u completions, not %u", count,
         w->model.completed - were);
    if (count == 0)
        return;
    MUST(done.status == OCHE_STATUS_SUCCESS && done.wr_id == FIRST_ID + were &&
             done.bytes == w->model.arrived && done.has_imm == request->imm &&
             (!done.has_imm || done.imm == shot->psn + 7),
         "receive %" PRIu64 " of %u bytes, status %u; it should be %u of %u", done.wr_id,
         done.bytes, done.status, FIRST_ID + were, w->model.arrived);
}

static void check_not_ready(struct world *w, const struct shot *shot)
{
    const uint8_t syndrome = (uint8_t)(w->answer[0].aeth >> 24);
    const unsigned code = model_rnr_code(w->wait_units);

    MUST(rejected(w, OCHE_REJECT_NOT_READY) > 0 && w->answer[0].psn == shot->psn,
         "an RNR NAK of PSN %x for %x", w->answer[0].psn, shot->psn);
    MUST((syndrome & OCHE_AETH_CODE_MASK) == code,
         "an RNR NAK with code %u, %u times 10 us; asked for were %u, which is code %u",
         syndrome & OCHE_AETH_CODE_MASK, model_rnr_units(syndrome & OCHE_AETH_CODE_MASK),
         w->wait_units, code);
}

/* The queue pair has ended: its receives come back, and none of them succeeds. */
static void check_end(struct world *w)
{
    struct oche_completion done;

    MUST(oche_qp_state(w->pair->side[1].qp[0]) == OCHE_QP_ERR,
         "an error, and the queue pair lives");
    for (; w->model.completed < w->model.posted; w->model.completed++)
        MUST(oche_cq_poll(w->pair->side[1].cq, &done, 1) == 1 &&
                 done.status != OCHE_STATUS_SUCCESS && done.wr_id == FIRST_ID + w->model.completed,
             "receive %u did not come back", w->model.completed);
}

/* The next request in order, with a fault: it is refused, and most faults end the queue pair. */
static enum outcome check_refused(struct world *w, const struct shot *shot)
{
    MUST(w->answers == 1 && w->answer[0].opcode == OCHE_RC_ACK && w->answer[0].psn == shot->psn,
         "%u answers to a request with faults %x; the first: opcode %x, AETH %x", w->answers,
         shot->faults, w->answer[0].opcode, w->answer[0].aeth);
    const uint8_t syndrome = (uint8_t)(w->answer[0].aeth >> 24);
    const unsigned named = oche_aeth_kind(syndrome) == OCHE_AETH_RNR       ? MODEL_NOT_READY
                           : syndrome == OCHE_SYNDROME_NAK_INVALID_REQUEST ? MODEL_INVALID
                           : syndrome == OCHE_SYNDROME_NAK_REMOTE_ACCESS   ? MODEL_ACCESS
                                                                           : 0u;

    MUST(named & shot->faults, "a request with faults %x is answered with %s", shot->faults,
         oche_syndrome_name(syndrome));
    if (named == MODEL_NOT_READY) {
        check_not_ready(w, shot);
        return REFUSED;
    }
    check_end(w);
    return ENDED;
}

/* An old request: it is answered again, and has no effect. */
static void check_repeated(struct world *w, const struct shot *shot)
{
    for (uint32_t i = 0; i < w->answers && shot->request.bytes > 0; i++)
        MUST(w->answer[i].opcode == OCHE_RC_ACK &&
                 w->answer[i].psn == oche_psn_add(w->epsn, OCHE_PSN_MASK),
             "a repeated request is answered with opcode %x, PSN %x", w->answer[i].opcode,
             w->answer[i].psn);
}

static enum outcome check_other(struct world *w, const struct shot *shot, uint64_t dropped)
{
    const int32_t ahead = oche_psn_diff(shot->psn, w->epsn);

    if (ahead < 0) {
        check_repeated(w, shot);
        return REPEATED;
    }
    if (w->most_ahead > 0 && (uint32_t)ahead > w->most_ahead) {
        MUST(dropped == 1 && rejected(w, OCHE_REJECT_AHEAD) > 0 && w->answers == 0,
             "a request %d ahead of the expected PSN is taken; the limit is %u", ahead,
             w->most_ahead);
        return AHEAD;
    }
    MUST(dropped == 0, "a request %d ahead of the expected PSN is void; the limit is %u", ahead,
         w->most_ahead);
    MUST(w->answers == 0, "a packet behind a gap is answered with opcode %x, PSN %x",
         w->answer[0].opcode, w->answer[0].psn);
    return GAP;
}

static bool ends_message(const struct model_request *request)
{
    return request->last || request->operation > MODEL_WRITE;
}

static enum outcome step(struct world *w)
{
    const uint64_t before = all_rejected(w);
    struct oche_qp_losses losses;
    enum outcome outcome = DONE;
    struct shot shot;

    while (one_in(w, 3))
        post_receive(w);
    if (one_in(w, 16))
        ask_for_wait(w);
    draw(w, &shot);
    send(w, &shot);
    const uint64_t dropped = all_rejected(w) - before;
    if (shot.psn != w->epsn) {
        outcome = check_other(w, &shot, dropped);
    } else if (shot.faults != 0) {
        MUST(dropped == 1, "a request with faults %x is taken", shot.faults);
        outcome = check_refused(w, &shot);
    } else {
        MUST(dropped == 0, "opcode %x with %u bytes is refused, but right",
             opcode_of(&shot.request), shot.request.bytes);
        check_done(w, &shot);
    }
    MUST(outcome == GAP || w->naks == 0 || w->repeats_naks, "a NAK, and nothing is missing");
    w->is_refusing = outcome == REFUSED || (w->is_refusing && outcome != DONE);
    if (outcome == GAP && w->repeats_naks && !w->is_refusing && ends_message(&shot.request))
        MUST(w->naks >= LEAST_NAKS, "what is missing is asked for %u times, and no more", w->naks);
    oche_qp_losses(w->pair->side[1].qp[0], &losses);
    MUST(losses.epsn == w->epsn, "PSN %x is expected, not %x", losses.epsn, w->epsn);
    MUST(memcmp(memory[1], shadow, ZONE) == 0, "memory is not what was written to it");
    return outcome;
}

static void run(uint64_t seed)
{
    static struct world world;
    enum outcome outcome = DONE;
    struct world *w = &world;

    open_world(w, seed);
    for (int i = 0; i < REQUESTS && outcome != ENDED; i++) {
        outcome = step(w);
        seen[outcome]++;
    }
    for (uint32_t at = ZONE; at < PAIR_MEMORY; at++)
        MUST(memory[1][at] == 0, "byte %u of memory was changed", at);
    pair_close(w->pair);
}

int main(int argc, char **argv)
{
    const uint64_t runs = seeds_of(RUNS);
    const uint64_t first = argc > 2 ? strtoull(argv[1], NULL, 0) : 1;
    const uint64_t last = argc > 1 ? strtoull(argv[argc > 2 ? 2 : 1], NULL, 0) : runs;
    bool all = true;

    for (uint64_t seed = first; seed <= last; seed++)
        run(seed);
    for (unsigned i = 0; i < OUTCOMES; i++) {
        printf("%s: %" PRIu64 "\n", outcome_names[i], seen[i]);
        all &= seen[i] > 0;
    }
    return argc <= 2 && !all;
}
