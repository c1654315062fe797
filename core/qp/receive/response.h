/* SPDX-License-Identifier: Apache-2.0 */
/* The responder's record of a READ or an atomic, from which it answers repetitions. */
#ifndef OCHE_CORE_QP_RECEIVE_RESPONSE_H
#define OCHE_CORE_QP_RECEIVE_RESPONSE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A READ or an atomic that the responder has accepted. It is kept until its response has left, and
 * then for as long as possible, to answer duplicates.
 */
struct response {
    uint64_t va;       /* READ: address of the first PSN's bytes */
    uint64_t original; /* atomic: the result */
    uint32_t rkey, length;
    uint32_t first_psn, last_psn;
    uint32_t next_psn, end_psn; /* READ: the PSN to send next; one past the last PSN to send */
    uint32_t high_psn;          /* READ: one past the highest PSN ever sent */
    uint32_t repeat_psn;        /* READ: the highest PSN that it was repeated from … */
    uint32_t repeats;           /* … and how often it was repeated since from there or before */
    uint32_t msn;               /* MSN after this request */
    uint8_t operation;          /* enum oche_operation; NONE: the place was never used */
    bool active;                /* part of the response has still to be sent */
    bool begun;                 /* READ: the first packet of this execution has left */
    bool repeated;              /* the request has arrived again */
};

#endif
