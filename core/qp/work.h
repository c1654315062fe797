/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work requests, completions and memory regions: the vocabulary between an application and the
 * NIC. Meanings are those of verbs; numbers are our own (the verbs library maps them).
 */
#ifndef OCHE_CORE_QP_WORK_H
#define OCHE_CORE_QP_WORK_H

#include "core/base.h"
#include "core/wire/extension.h"

OCHE_C_BEGIN

#define OCHE_MAX_SGE           8
#define OCHE_MAX_INLINE_BYTES  256
#define OCHE_MAX_MESSAGE_BYTES (UINT32_C(1) << 31)
#define OCHE_GRH_BYTES         40 /* at the beginning of a UD receive, before the payload */

/* How large a message can be with this MTU: half of all PSNs may be outstanding. */
#define OCHE_MOST_BYTES_OF_MTU(mtu_bytes) ((uint64_t)(mtu_bytes) * (OCHE_PSN_MASK >> 1))

enum oche_transport { OCHE_TRANSPORT_RC, OCHE_TRANSPORT_UC, OCHE_TRANSPORT_UD };

enum oche_work_opcode {
    OCHE_WORK_SEND,
    OCHE_WORK_SEND_IMM,
    OCHE_WORK_WRITE,
    OCHE_WORK_WRITE_IMM,
    OCHE_WORK_SEND_INV,  /* RC: a SEND that also invalidates one of the peer's keys */
    OCHE_WORK_LOCAL_INV, /* RC, UC: invalidates one of our keys, after all earlier work is done */
    OCHE_WORK_BIND_MW,   /* RC, UC: binds a memory window before any later work begins */
    OCHE_WORK_READ,
    OCHE_WORK_COMPARE_SWAP,
    OCHE_WORK_FETCH_ADD,
    OCHE_WORK_OPCODES
};

enum oche_work_flags {
    OCHE_WORK_SIGNALED = 1 << 0,  /* completion wanted on success (errors always complete) */
    OCHE_WORK_SOLICITED = 1 << 1, /* wakes a peer that waits for solicited events only */
    OCHE_WORK_FENCE = 1 << 2,     /* starts only after earlier READs and atomics completed */
    OCHE_WORK_INLINE = 1 << 3,    /* data is taken from `inline_data` at post time */
};

struct oche_sge {
    uint64_t va;
    uint32_t length; /* bytes */
    uint32_t lkey;
};

/* The destination of a datagram. */
struct oche_destination {
    uint32_t address; /* index */
    uint32_t qpn;     /* 24 bits */
    /* if its bit OCHE_QKEY_PRIVILEGED is set, the queue pair's own Q_Key is sent instead */
    uint32_t qkey;
    uint32_t flow_hash;
    /* the driver's value, copied into the packet's tag (hop limit, flow label, ...) */
    uint32_t tag;
    uint16_t udp_source_port;
    uint8_t traffic_class; /* class of the datagram; that of the queue pair is ignored */
};

#define OCHE_PKEY_DEFAULT UINT16_C(0xffff) /* the default partition, full member */

#define OCHE_QKEY_PRIVILEGED UINT32_C(0x80000000)

struct oche_window;

/* Operands of a BIND_MW, which binds a window to a part of a region. */
struct oche_bind {
    struct oche_window *window; /* must not be destroyed before the bind has completed */
    uint32_t rkey;              /* the window's new key; only the low 8 bits may differ */
    uint32_t lkey;              /* key of the region, which must have OCHE_ACCESS_MW_BIND */
    uint64_t va, length;        /* the part of the region; type 1: length 0 closes the window */
    uint32_t access;            /* OCHE_ACCESS_REMOTE_... and OCHE_ACCESS_ZERO_BASED */
};

struct oche_send_work {
    uint64_t wr_id;
    uint8_t opcode; /* enum oche_work_opcode */
    uint8_t flags;  /* enum oche_work_flags */
    uint8_t sge_count;
    uint32_t imm;       /* immediate data, or the key that SEND_INV and LOCAL_INV invalidate */
    uint64_t remote_va; /* WRITE, READ, atomics */
    uint32_t rkey;
    uint64_t swap_add, compare;
    /*
     * For congestion control that looks ahead: the senders of the incast that the message belongs
     * to. NULL: none are named. Only for SEND and WRITE on a queue pair with `groups`. The group
     * and its list belong to the caller, who must keep them until the work request has completed
     * and none of its packets exists any more.
     */
    const struct oche_group *group;
    const struct oche_destination *to; /* UD: required; copied when posted */
    const struct oche_bind *bind;      /* BIND_MW: required; copied when posted */
    const void *inline_data; /* OCHE_WORK_INLINE: sge[0].length bytes, copied when posted */
    struct oche_sge sge[OCHE_MAX_SGE];
};

struct oche_recv_work {
    uint64_t wr_id;
    uint8_t sge_count;
    struct oche_sge sge[OCHE_MAX_SGE];
};

enum oche_status {
    OCHE_STATUS_SUCCESS,
    OCHE_STATUS_LOCAL_LENGTH,
    OCHE_STATUS_LOCAL_QP_OPERATION,
    OCHE_STATUS_LOCAL_PROTECTION,
    OCHE_STATUS_FLUSHED,
    OCHE_STATUS_REMOTE_INVALID_REQUEST,
    OCHE_STATUS_REMOTE_ACCESS,
    OCHE_STATUS_REMOTE_OPERATION,
    OCHE_STATUS_RETRY_EXCEEDED,
    OCHE_STATUS_RNR_RETRY_EXCEEDED,
    OCHE_STATUS_WINDOW, /* BIND_MW and LOCAL_INV: not allowed */
    /* Only on demand (oche_qp_fail_as): no work of ours ends so by itself. */
    OCHE_STATUS_BAD_RESPONSE,
    OCHE_STATUS_LOCAL_ACCESS,
    OCHE_STATUS_REMOTE_ABORT,
    OCHE_STATUS_FATAL,
    OCHE_STATUS_RESPONSE_TIMEOUT,
    OCHE_STATUS_GENERAL,
    OCHE_STATUSES
};

enum oche_completion_opcode {
    OCHE_DONE_SEND,
    OCHE_DONE_WRITE,
    OCHE_DONE_READ,
    OCHE_DONE_COMPARE_SWAP,
    OCHE_DONE_FETCH_ADD,
    OCHE_DONE_LOCAL_INV,
    OCHE_DONE_BIND_MW,
    OCHE_DONE_RECV, /* receives: this value and all that follow */
    OCHE_DONE_RECV_WRITE_IMM,
    OCHE_DONE_RECV_INV, /* a receive whose SEND has invalidated the key `imm` */
};

struct oche_completion {
    uint64_t wr_id;
    oche_time time; /* when the work completed; UC: when its last bit left */
    uint32_t qpn;
    uint32_t bytes; /* receives (UD: with the GRH), READs and atomics */
    /* sends: how many of the queue pair's sends are over since it was reset, including this one */
    uint32_t imm;
    uint8_t status; /* enum oche_status; if it is not SUCCESS, bytes and flags are not valid */
    uint8_t opcode; /* enum oche_completion_opcode */
    bool has_imm;
    bool solicited;
    uint32_t src_qpn;      /* UD receives */
    uint8_t traffic_class; /* UD receives: class of the datagram as it arrived */
    uint8_t cause;         /* enum oche_cause; 0 if status is SUCCESS */
};

enum oche_access {
    OCHE_ACCESS_LOCAL_WRITE = 1 << 0,
    OCHE_ACCESS_REMOTE_WRITE = 1 << 1,
    OCHE_ACCESS_REMOTE_READ = 1 << 2,
    OCHE_ACCESS_REMOTE_ATOMIC = 1 << 3,
    OCHE_ACCESS_MW_BIND = 1 << 4,    /* on a region: windows may be bound to it */
    OCHE_ACCESS_ZERO_BASED = 1 << 5, /* on a window of type 2: its addresses begin at 0 */
};

/* A registered region. Only the memory port uses `base`, which is a host address or NULL. */
struct oche_region {
    uint64_t va, length; /* addresses that work requests use */
    uint32_t key;        /* lkey and rkey; 0 is never a key */
    uint32_t access;     /* enum oche_access */
    uint32_t pd; /* protection domain: only its queue pairs may use the region; not UINT32_MAX */
    void *base;  /* the driver's memory for `va`, or NULL */
};

enum oche_qp_state {
    OCHE_QP_RESET,
    OCHE_QP_INIT,
    OCHE_QP_RTR,
    OCHE_QP_RTS,
    OCHE_QP_SQD,
    OCHE_QP_SQE,
    OCHE_QP_ERR,
};

OCHE_C_END

#endif
