/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A responder for a requester under test, written independently of core/qp. It follows InfiniBand
 * and core/wire/extension.h in its own way. For example, it may store everything behind a gap, even
 * READ requests, and claim it in its NAKs. PSNs are counted from the first of the connection.
 */
#ifndef OCHE_TESTS_PROPERTY_ANSWER_PEER_H
#define OCHE_TESTS_PROPERTY_ANSWER_PEER_H

#include "core/random.h"
#include "tests/support/pair.h"

#define PEER_PSNS    2048 /* requests of a run, at most */
#define PEER_ANSWERS 4096 /* most answers in flight at once */
#define PEER_PAYLOAD 1024

struct peer_request {
    bool there; /* the request arrived behind a gap and is stored */
    bool asks, takes_receive, last;
    uint8_t operation; /* enum oche_operation */
    uint32_t psns;
    uint64_t va;
    uint32_t dma_length;
};

struct peer_answer {
    oche_time arrives;
    uint8_t opcode, syndrome;
    uint32_t psn, msn; /* psn: counted from the connection's first */
    uint32_t claimed;  /* SACK: PSNs in its window */
    uint64_t claims;
    uint64_t va; /* READ responses: the address of the payload */
    uint16_t bytes;
};

struct answer_peer {
    struct oche_random *random;
    /* The peer's settings. */
    uint32_t mtu;
    oche_time delay;
    bool keeps; /* stores packets behind a gap, and claims them in SACKs */
    /* one in this many answers is lost; READ responses only in the middle of a READ */
    uint32_t loses;
    bool loses_any;   /* answers of all kinds are lost, including repeated ones */
    uint32_t refuses; /* one in this many requests that take a receive; 0: none */
    bool dead;        /* the peer answers no more */
    /* The receiving side. */
    uint32_t expected, messages;
    bool told;     /* the NAK for the expected request has been sent */
    bool refusing; /* the expected request was refused; later requests get no answer */
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
