/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The messages of InfiniBand's connection manager (IBTA, volume 1, chapter 12; rocev2.md#cm): MADs
 * of 256 bytes, sent as datagrams from QP 1 to QP 1. Here a message is a struct with the fields of
 * all kinds; a comment tells in which kinds a field is. Reading checks lengths and versions alone:
 * whoever uses a message must not trust its values.
 */
#ifndef OCHE_CORE_CM_MAD_H
#define OCHE_CORE_CM_MAD_H

#include "core/base.h"

OCHE_C_BEGIN

#define OCHE_MAD_BYTES    256
#define OCHE_CM_QPN       1
#define OCHE_CM_QKEY      UINT32_C(0x80010000)
#define OCHE_CM_GID_BYTES 16

/* Kinds of message, by the MAD's attribute. */
enum oche_cm_kind {
    OCHE_CM_REQ = 0x10, /* asks for a connection */
    OCHE_CM_MRA,        /* asks for more time to answer */
    OCHE_CM_REJ,        /* refuses a connection, or an answer */
    OCHE_CM_REP,        /* accepts a connection */
    OCHE_CM_RTU,        /* confirms that the connection is in use */
    OCHE_CM_DREQ,       /* ends a connection */
    OCHE_CM_DREP,       /* confirms that it has ended */
    OCHE_CM_SIDR_REQ,   /* asks which queue pair takes datagrams for a service */
    OCHE_CM_SIDR_REP,   /* answers a SIDR REQ */
    OCHE_CM_KINDS_END,
};

/* Values of oche_cm_rejection.reason (IBTA sec 12.6.7.2). */
enum oche_cm_reason {
    OCHE_CM_REASON_NO_QP = 1,
    OCHE_CM_REASON_NO_RESOURCES = 3,
    OCHE_CM_REASON_TIMEOUT = 4,
    OCHE_CM_REASON_UNSUPPORTED = 5,
    OCHE_CM_REASON_INVALID_ID = 6,
    OCHE_CM_REASON_INVALID_INSTANCE = 7,
    OCHE_CM_REASON_INVALID_SERVICE = 8,
    OCHE_CM_REASON_INVALID_TRANSPORT = 9,
    OCHE_CM_REASON_STALE = 10,
    OCHE_CM_REASON_NO_RDC = 11,
    OCHE_CM_REASON_INVALID_GID = 12,
    OCHE_CM_REASON_INVALID_MTU = 26,
    OCHE_CM_REASON_CONSUMER = 28,
    OCHE_CM_REASON_RNR_RETRY = 29,
    OCHE_CM_REASON_CLASS_VERSION = 31,
};

/* The message that an MRA or a REJ answers. */
enum oche_cm_about { OCHE_CM_ABOUT_REQ, OCHE_CM_ABOUT_REP, OCHE_CM_ABOUT_OTHER };

/* oche_cm_message.transport */
enum oche_cm_transport { OCHE_CM_RC, OCHE_CM_UC, OCHE_CM_RD, OCHE_CM_EXTENDED };

/* SIDR REP's status */
enum oche_cm_sidr_status {
    OCHE_CM_SIDR_OK,
    OCHE_CM_SIDR_UNSUPPORTED,
    OCHE_CM_SIDR_REJECTED,
    OCHE_CM_SIDR_NO_QP,
};

/* The primary path of a REQ. RoCE's LIDs are 0xffff where there may be routers, else 0. */
struct oche_cm_path {
    uint8_t local_gid[OCHE_CM_GID_BYTES], remote_gid[OCHE_CM_GID_BYTES];
    uint16_t local_lid, remote_lid;
    uint32_t flow_label; /* 20 bits */
    uint8_t packet_rate, traffic_class, hop_limit, sl;
    bool subnet_local;
    uint8_t ack_timeout; /* 5 bits: 4.096 us * 2^n */
};

/* The most private data of a kind. */
enum {
    OCHE_CM_REQ_PRIVATE = 92,
    OCHE_CM_MRA_PRIVATE = 222,
    OCHE_CM_REJ_PRIVATE = 148,
    OCHE_CM_REP_PRIVATE = 196,
    OCHE_CM_RTU_PRIVATE = 224,
    OCHE_CM_DREQ_PRIVATE = 220,
    OCHE_CM_DREP_PRIVATE = 224,
    OCHE_CM_SIDR_REQ_PRIVATE = 216,
    OCHE_CM_SIDR_REP_PRIVATE = 136,
    OCHE_CM_MOST_PRIVATE = 224,
    OCHE_CM_REJ_INFO = 72,
};

struct oche_cm_message {
    uint8_t kind;      /* enum oche_cm_kind */
    uint64_t tid;      /* the transaction: an answer has its request's */
    uint32_t modifier; /* attribute modifier; always 0 here */
    /*
     * The sender's communication ID, and the receiver's if the sender knows it; a REQ has no
     * remote_id. In SIDR messages local_id is the request's ID, and there is no other.
     */
    uint32_t local_id, remote_id;
    uint64_t service_id;             /* REQ, SIDR */
    uint64_t ca_guid;                /* REQ, REP: the sender's */
    uint32_t qkey;                   /* REQ, REP, SIDR REP */
    uint32_t qpn;                    /* REQ, REP, SIDR REP: the sender's; DREQ: the receiver's */
    uint32_t starting_psn;           /* REQ, REP: of what the receiver of this message sends */
    uint8_t responder_resources;     /* REQ, REP */
    uint8_t initiator_depth;         /* REQ, REP */
    uint8_t remote_response_timeout; /* REQ, 5 bits: 4.096 us * 2^n, in which we want an answer */
    uint8_t local_response_timeout;  /* REQ: the sender's own time to answer, in the same code */
    uint8_t transport;               /* REQ: enum oche_cm_transport */
    uint8_t extended_transport;      /* REQ: 1 is XRC */
    bool flow_control;               /* REQ, REP: end-to-end */
    uint8_t retry_count, rnr_retry;  /* REQ; rnr_retry in REP too; 3 bits */
    uint8_t mtu;                     /* REQ, 4 bits: 1 is 256, … 5 is 4096 */
    bool rdc_exists, srq;            /* REQ; srq in REP too */
    uint8_t max_cm_retries;          /* REQ, 4 bits */
    uint16_t pkey;                   /* REQ, SIDR REQ */
    struct oche_cm_path path;        /* REQ */
    bool has_alternate;              /* REQ: there is a second path, which is not read */
    uint8_t ack_delay, failover;     /* REP: 5 bits, 4.096 us * 2^n; 2 bits */
    uint8_t about;                   /* MRA, REJ: enum oche_cm_about */
    uint8_t service_timeout;         /* MRA: 5 bits, 4.096 us * 2^n */
    uint16_t reason;                 /* REJ: enum oche_cm_reason */
    uint8_t info_bytes;              /* REJ */
    uint8_t info[OCHE_CM_REJ_INFO];  /* REJ */
    uint8_t status;                  /* SIDR REP: enum oche_cm_sidr_status */
    /* when written: at most as many bytes as the kind has, the rest is 0; when read: all bytes */
    uint8_t private_bytes;
    uint8_t private_data[OCHE_CM_MOST_PRIVATE];
};

enum oche_cm_error {
    OCHE_CM_OK,
    OCHE_CM_TRUNCATED,     /* not 256 bytes */
    OCHE_CM_NOT_CM,        /* a MAD of another class, or no MAD */
    OCHE_CM_CLASS_VERSION, /* class of the connection manager, but not version 2 */
    OCHE_CM_UNKNOWN,       /* an attribute or method that is not read here */
    OCHE_CM_ERROR_COUNT,
};

/* Reads a MAD. What the kind has not is 0. */
enum oche_cm_error oche_cm_read(const uint8_t *mad, size_t bytes, struct oche_cm_message *message);

/*
 * Writes all 256 bytes. Numbers are cut to their fields' bits; private data and info must not be
 * longer than the kind's.
 */
void oche_cm_write(const struct oche_cm_message *message, uint8_t mad[OCHE_MAD_BYTES]);

/*
 * Writes the refusal of a REQ or SIDR REQ for a service that nobody listens to. Returns false, and
 * writes nothing, if the message is no such request.
 */
bool oche_cm_write_refusal(const struct oche_cm_message *request, uint8_t mad[OCHE_MAD_BYTES]);

/* Returns the most private data that the kind has, in bytes. */
uint8_t oche_cm_private_bytes(uint8_t kind);

/* Return "REQ", …; "?" if there is no such kind; "invalid service ID", …; "reason 77". */
const char *oche_cm_kind_name(uint8_t kind);
const char *oche_cm_reason_name(uint16_t reason);
const char *oche_cm_error_name(enum oche_cm_error error);

/* Returns 4.096 us * 2^exponent in picoseconds; `exponent` has 5 bits. */
static inline oche_time oche_cm_time(uint8_t exponent)
{
    return (oche_time)4096000 << (exponent & 31);
}

/* ---- rdma_cm's part (rocev2.md#cma) ---- */

#define OCHE_CMA_HEADER_BYTES 36

/* rdma_cm's port spaces, the third and fourth byte of a service ID. */
enum oche_cma_port_space {
    OCHE_CMA_IPOIB = 0x0002,
    OCHE_CMA_TCP = 0x0106,
    OCHE_CMA_UDP = 0x0111,
    OCHE_CMA_IB = 0x013f,
};

static inline uint64_t oche_cma_service(uint16_t port_space, uint16_t port)
{
    return (uint64_t)port_space << 16 | port;
}

/* True if a service ID is a port of a port space, and not another program's number. */
static inline bool oche_cma_is_service(uint64_t service_id)
{
    const uint64_t space = service_id >> 16;

    return space == OCHE_CMA_TCP || space == OCHE_CMA_UDP || space == OCHE_CMA_IPOIB ||
           space == OCHE_CMA_IB;
}

/* The beginning of the private data of a REQ and a SIDR REQ: the addresses of both programs. */
struct oche_cma_header {
    bool ipv6;
    uint16_t port; /* the sender's */
    /* An IPv4 address is in the last four bytes, and the others are 0. */
    uint8_t source[16], destination[16];
};

/* Returns false if the data is too short, or is of another version. */
bool oche_cma_read(const uint8_t *data, size_t bytes, struct oche_cma_header *header);
void oche_cma_write(const struct oche_cma_header *header, uint8_t data[OCHE_CMA_HEADER_BYTES]);

OCHE_C_END

#endif
