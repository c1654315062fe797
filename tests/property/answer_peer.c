/* SPDX-License-Identifier: Apache-2.0 */
/* The responder of answer_peer.h. */
#include "tests/property/answer_peer.h"

#include "core/wire/aeth.h"
#include "core/wire/opcode.h"

#define SACK_BITS 64

uint8_t answer_peer_byte(uint64_t va)
{
    return (uint8_t)(va * UINT64_C(0x9e3779b97f4a7c15) >> 40);
}

static bool one_in(struct answer_peer *peer, uint32_t n)
{
    return n > 0 && oche_random_below(peer->random, n) == 0;
}

/* Answers keep their order. */
static void say(struct answer_peer *peer, struct peer_answer answer, oche_time now)
{
    const uint32_t last = (peer->first + peer->count + PEER_ANSWERS - 1) % PEER_ANSWERS;

    if (peer->loses_any && one_in(peer, peer->loses))
        return;
    OCHE_MUST(peer->count < PEER_ANSWERS);
    answer.msn = peer->messages;
    answer.arrives = now + peer->delay + oche_random_below(peer->random, peer->delay / 4);
    if (peer->count > 0 && peer->answer[last].arrives >= answer.arrives)
        answer.arrives = peer->answer[last].arrives + 1;
    peer->answer[(peer->first + peer->count++) % PEER_ANSWERS] = answer;
}

static void say_aeth(struct answer_peer *peer, uint8_t syndrome, uint32_t psn, oche_time now)
{
    say(peer, (struct peer_answer){.opcode = OCHE_RC_ACK, .syndrome = syndrome, .psn = psn}, now);
}

/* The expected request is missing, and these after it have arrived. */
static void claim(struct answer_peer *peer, oche_time now)
{
    struct peer_answer nak = {
        .opcode = OCHE_RC_SACK, .syndrome = OCHE_SYNDROME_NAK_SEQUENCE, .psn = peer->expected};

    for (uint32_t i = 0; i < SACK_BITS && peer->expected + i < PEER_PSNS; i++)
        if (peer->kept[peer->expected + i].there) {
            nak.claims |= UINT64_C(1) << i;
            nak.claimed = i + 1;
        }
    say(peer, nak, now);
}

/* Loses some responses that others follow, but no repeated ones. */
static bool loses_response(struct answer_peer *peer, uint32_t psn, bool last)
{
    return !last && !peer->loses_any && psn >= peer->expected && one_in(peer, peer->loses);
}

static void respond(struct answer_peer *peer, uint32_t psn, const struct peer_request *request,
                    oche_time now)
{
    static const uint8_t opcodes[2][2] = {
        {OCHE_RC_READ_RESPONSE_MIDDLE, OCHE_RC_READ_RESPONSE_LAST},
        {OCHE_RC_READ_RESPONSE_FIRST, OCHE_RC_READ_RESPONSE_ONLY}};

    for (uint32_t i = 0; i < request->psns; i++) {
        const uint32_t left = request->dma_length - i * peer->mtu;
        const bool last = i == request->psns - 1;
        if (loses_response(peer, psn + i, last))
            continue;
        say(peer,
            (struct peer_answer){.opcode = opcodes[i == 0][last],
                                 .syndrome = OCHE_SYNDROME_ACK,
                                 .psn = psn + i,
                                 .va = request->va + (uint64_t)i * peer->mtu,
                                 .bytes = (uint16_t)(left < peer->mtu ? left : peer->mtu)},
            now);
    }
}

/* READs and atomics are always answered; other requests only if they ask for it. */
static bool answers_itself(struct answer_peer *peer, uint32_t psn,
                           const struct peer_request *request, oche_time now)
{
    if (request->operation == OCHE_OPERATION_READ)
        respond(peer, psn, request, now);
    else if (request->operation == OCHE_OPERATION_COMPARE_SWAP ||
             request->operation == OCHE_OPERATION_FETCH_ADD)
        say(peer,
            (struct peer_answer){
                .opcode = OCHE_RC_ATOMIC_ACK, .syndrome = OCHE_SYNDROME_ACK, .psn = psn},
            now);
    else
        return false;
    return true;
}

static void keep(struct answer_peer *peer, uint32_t psn, const struct peer_request *request)
{
    for (uint32_t i = 0; i < request->psns; i++)
        if (psn + i < PEER_PSNS) {
            peer->kept[psn + i] = *request;
            peer->kept[psn + i].there = true;
        }
}

static bool has_more(const struct answer_peer *peer)
{
    for (uint32_t i = 1; i < SACK_BITS && peer->expected + i < PEER_PSNS; i++)
        if (peer->kept[peer->expected + i].there)
            return true;
    return false;
}

/* Executes the expected request and all stored ones after it. */
static void execute(struct answer_peer *peer, const struct peer_request *request, oche_time now)
{
    bool asks = false, again = false;

    do {
        peer->messages += request->last;
        asks = request->asks || again;
        if (answers_itself(peer, peer->expected, request, now))
            asks = false;
        peer->expected += request->psns;
        OCHE_MUST(peer->expected < PEER_PSNS);
        request = &peer->kept[peer->expected];
        again = true;
    } while (request->there);
    if (has_more(peer))
        claim(peer, now);
    else if (asks)
        say_aeth(peer, OCHE_SYNDROME_ACK, peer->expected - 1, now);
}

static void takes_later(struct answer_peer *peer, uint32_t psn, const struct peer_request *request,
                        bool sacks, oche_time now)
{
    if (peer->refusing)
        return;
    if (peer->keeps && sacks) {
        keep(peer, psn, request);
        claim(peer, now);
        return;
    }
    if (!peer->told)
        say_aeth(peer, OCHE_SYNDROME_NAK_SEQUENCE, peer->expected, now);
    peer->told = true;
}

void answer_peer_takes(struct answer_peer *peer, uint32_t psn, const struct peer_request *request,
                       bool sacks, oche_time now)
{
    if (peer->dead)
        return;
    if (psn > peer->expected) {
        takes_later(peer, psn, request, sacks, now);
        return;
    }
    if (psn < peer->expected) {
        if (!answers_itself(peer, psn, request, now) && (request->asks || sacks))
            say_aeth(peer, OCHE_SYNDROME_ACK, peer->expected - 1, now);
        return;
    }
    if (request->takes_receive && one_in(peer, peer->refuses)) {
        const uint8_t code = (uint8_t)oche_random_below(peer->random, 32);
        peer->refusing = true;
        say_aeth(peer, OCHE_SYNDROME_RNR | code, psn, now);
        return;
    }
    peer->refusing = peer->told = false;
    execute(peer, request, now);
}
