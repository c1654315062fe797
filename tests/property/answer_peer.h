/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A responder that is not ours, for a requester under test. It keeps to InfiniBand and to
 * core/wire/extension.h, in its own way: it may keep all that comes behind a gap, READ requests,
 * too, and claim it in its NAKs. It shares no code with core/qp. PSNs are counted from the first of
 * the connection.
 */
#ifndef OCHE_TESTS_PROPERTY_ANSWER_PEER_H
#define OCHE_TESTS_PROPERTY_ANSWER_PEER_H

#include "core/random.h"
#include "tests/support/pair.h"

#define PEER_PSNS    2048 /* of a run, at most */
#define PEER_ANSWERS 4096 /* on their way at once */
#define PEER_PAYLOAD 1024

struct peer_request {
    bool there; /* has come behind a gap, and is kept */
    bool asks, takes_receive, last;
    uint8_t operation; /* enum oche_operation */
    uint32_t psns;
    uint64_t va;
    uint32_t dma_length;
};

struct peer_answer {
    oche_time arrives;
    uint8_t opcode, syndrome;
    uint32_t psn, msn; /* psn: counted from the first */
    uint32_t claimed;  /* SACK: PSNs in its window */
    uint64_t claims;
    uint64_t va; /* READ responses: where the payload is from */
    uint16_t bytes;
};

struct answer_peer {
    struct oche_random *random;
    /* How it is. */
    uint32_t mtu;
    oche_time delay;
    bool keeps;       /* what comes behind a gap, once it claims it in SACKs */
    uint32_t loses;   /* one in so many answers; READ responses: only those in the midst */
    bool loses_any;   /* answers of all kinds, and again */
    uint32_t refuses; /* one in so many requests that take a receive; 0: none */
    bool dead;        /* answers nothing any more */
    /* The receiving side. */
    uint32_t expected, messages;
    bool told;     /* that the expected one is missing */
    bool refusing; /* the expected one was refused, and those behind it say nothing */
    struct peer_request kept[PEER_PSNS];
    /* The answers that it has sent. */
    struct peer_answer answer[PEER_ANSWERS];
    uint32_t first, count;
};

/* A request arrives; `sacks`: requester and peer know the extended opcodes. */
void answer_peer_takes(struct answer_peer *peer, uint32_t psn, const struct peer_request *request,
                       bool sacks, oche_time now);
/* Returns the byte at an address of its memory. */
uint8_t answer_peer_byte(uint64_t va);

#endif
