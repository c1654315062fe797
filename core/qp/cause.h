/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why a work request failed: in struct oche_completion, and for verbs programs in vendor_err of
 * struct ibv_wc (docs/verbs.md has the table). Once a queue pair is in error, all that is flushed
 * has the cause of the error. A number never gets another meaning.
 */
#ifndef OCHE_CORE_QP_CAUSE_H
#define OCHE_CORE_QP_CAUSE_H

enum oche_cause {
    OCHE_CAUSE_NONE = 0, /* no error, or the program itself has put the queue pair into error */
    /* The peer does not answer, or refuses. */
    OCHE_CAUSE_NEVER_ANSWERED = 1,  /* retries are used up; nothing ever came on this connection */
    OCHE_CAUSE_SILENT = 2,          /* retries are used up; something had come before */
    OCHE_CAUSE_NAKS = 3,            /* retries are used up by NAKs that brought nothing further */
    OCHE_CAUSE_NOT_READY = 4,       /* the peer had no receive posted, for as many retries */
    OCHE_CAUSE_REFUSED_REQUEST = 5, /* NAKs of the peer: invalid request, … */
    OCHE_CAUSE_REFUSED_ACCESS = 6,  /* … remote access error, */
    OCHE_CAUSE_REFUSED_OPERATION = 7, /* … remote operational error */
    /* Work of our own that cannot be done. */
    OCHE_CAUSE_SEND_MEMORY = 8,   /* key, bounds or domain of the data that is sent */
    OCHE_CAUSE_RESULT_MEMORY = 9, /* … of where a READ's or an atomic's result goes */
    /* a memory window may not be bound or invalidated in this way */
    OCHE_CAUSE_WINDOW = 10,
    OCHE_CAUSE_OVERRUN = 11,         /* the completion queue was full and has lost a completion */
    OCHE_CAUSE_RECEIVE_SHORT = 12,   /* the peer's message is longer than the receive */
    OCHE_CAUSE_RECEIVE_MEMORY = 13,  /* key, bounds, domain or access of the receive */
    OCHE_CAUSE_RESPONSE_MEMORY = 14, /* the memory of a READ that was accepted is gone */
    /* The peer asks for what it may not have. */
    OCHE_CAUSE_PEER_REQUEST = 15, /* order, length or alignment of a request */
    OCHE_CAUSE_PEER_ACCESS = 16,  /* key, bounds or permission of a request */
    /* The user has asked for the error (oche_qp_fail_as). */
    OCHE_CAUSE_ON_DEMAND = 17,
    OCHE_CAUSES /* at most 32: qp_internal.h has 5 bits */
};

#endif
