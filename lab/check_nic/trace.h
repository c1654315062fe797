/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets that passed a switch in a test of an adapter, in order, each with its stream and what
 * the switch did to it. The judges of this folder are pure functions over such an array; who makes
 * it (a run of the simulator, a capture) does not matter to them.
 */
#ifndef OCHE_LAB_CHECK_NIC_TRACE_H
#define OCHE_LAB_CHECK_NIC_TRACE_H

#include "core/base.h"

enum oche_seen_kind {
    OCHE_SEEN_DATA,         /* a SEND, a WRITE or a READ response */
    OCHE_SEEN_READ_REQUEST, /* this and the kinds below travel against the data */
    OCHE_SEEN_ACK,
    OCHE_SEEN_NAK, /* for a gap */
    OCHE_SEEN_CNP,
    OCHE_SEEN_RNR, /* NAK: no receive is posted */
    OCHE_SEEN_OTHER,
};

/* Actions of the switch on a packet; the numbers are Lumina's. */
enum oche_seen_event {
    OCHE_SEEN_PASSED,
    OCHE_SEEN_DROPPED,
    OCHE_SEEN_MARKED,
    OCHE_SEEN_DAMAGED, /* the receiver sees a wrong ICRC */
};

struct oche_seen_packet {
    oche_time when; /* after the first packet */
    uint64_t
        number; /* in the capture, from 1; 0: not in the capture, the script says it was there */
    uint32_t stream; /* index into oche_nic_trace.streams */
    uint32_t psn;
    uint32_t span; /* READ_REQUEST: number of responses it asks for */
    uint8_t kind;  /* enum oche_seen_kind */
    uint8_t event; /* enum oche_seen_event */
};

/* The data of one queue pair in one direction. */
struct oche_seen_stream {
    uint32_t qpn;           /* destination queue pair of the data */
    uint32_t sender;        /* number of the address that sends the data */
    uint32_t receiver;      /* the same, of the one that receives it */
    bool responses;         /* the data are READ responses */
    uint32_t first, behind; /* first PSN of the data, and the one behind its last PSN */
};

struct oche_nic_trace {
    struct oche_seen_packet *packets;
    size_t count;
    struct oche_seen_stream *streams;
    uint32_t stream_count;
};

/* True if the packet came to the receiver, and could be read there. */
static inline bool oche_seen_delivered(const struct oche_seen_packet *packet)
{
    return packet->event != OCHE_SEEN_DROPPED && packet->event != OCHE_SEEN_DAMAGED;
}

#endif
