/* SPDX-License-Identifier: Apache-2.0 */
/* The NIC: its lists, heaps and tables. */
#ifndef OCHE_CORE_QP_NIC_INTERNAL_H
#define OCHE_CORE_QP_NIC_INTERNAL_H

#include <stdatomic.h>

#include "core/qp/cause.h"
#include "core/qp/heap.h"
#include "core/qp/map.h"
#include "core/qp/nic.h"
#include "core/qp/objects/regions.h"
#include "core/qp/slots.h"
#include "core/wire/aeth.h"
#include "core/wire/opcode.h"

#define CACHE_ALIGNED __attribute__((aligned(OCHE_CACHE_LINE)))

#define PACE_CREDIT_BYTES UINT64_C(16384)

struct ready_list {
    struct oche_qp *head, *tail;
};

struct peer {
    uint32_t address, users;
};

struct oche_nic {
    /* Cache line 0: members that every packet reads and no packet changes. */
    struct map qp_map;
    struct oche_qp **qps; /* by slot */
    const struct oche_nic_port *port;
    void *port_context;
    const struct oche_cc_scheme *cc;
    const struct oche_recovery_scheme *recovery;
    struct oche_trace *trace;

    /* Line 1. */
    uint64_t ecn_threshold_bytes CACHE_ALIGNED;
    oche_time pace_credit; /* pacing makes up for a wait for the port of at most this long */
    uint64_t backlog_bytes;
    struct oche_qp *control_head, *control_tail;
    uint32_t address;
    /* data packets sent so far; with it, queue pairs are ordered by when they last sent */
    uint32_t serve_count;
    uint16_t gap_bytes;
    bool ipv6;
    uint8_t trailer_bytes; /* bytes of trailer in each data packet */
    bool telemetry;        /* the trailer is telemetry */
    uint8_t control_class;
    uint8_t ready_classes; /* mask of the classes whose ready list is not empty */
    bool cc_touched;       /* a hook may have changed cc_nic */
    uint8_t shows;         /* bits of OCHE_BTH_SHOWN in the packets of our connections */
    bool late;             /* its queue pairs have the state of late.h */
    uint64_t received_line_bytes;

    /* Cache lines 2 to 4: heaps, and a list for each class; few of the lists are in use. */
    struct heap timers CACHE_ALIGNED;
    struct heap pacing;
    /* which lines the hooks touch: see struct oche_cc_nic_hooks */
    uint16_t sender_line, receiver_line;
    struct ready_list ready[OCHE_CLASSES];

    /* The cache line that posting threads write. */
    /* list of the queue pairs that rang the doorbell, latest first */
    _Atomic(struct oche_qp *) doorbell CACHE_ALIGNED;
    /* list of queue pairs taken from `doorbell` and not yet answered */
    struct oche_qp *rung_head, *rung_tail;

    struct oche_nic_stats stats CACHE_ALIGNED; /* every packet changes the first cache line */
    uint64_t rejected[OCHE_REJECT_CAUSES], resent[OCHE_RESENT_CAUSES];
    struct oche_nic_config config;

    struct slots slots, peer_slots; /* slots: of queue pairs; peer_slots: of peers */
    struct regions regions;
    struct oche_window *windows;
    struct map peer_map;
    struct peer *peers;
    uint8_t *peer_states;
    size_t peer_state_stride;
    struct oche_cc_nic cc_nic;
    /* late.c: when the port, or each destination, lets out a CNP again */
    oche_time next_cnp;
    struct late_destination *destinations;
};

/* Counts and traces a packet that is rejected; `qp` may be NULL. */
void nic_reject(struct oche_nic *nic, struct oche_qp *qp, enum oche_reject cause,
                const struct oche_packet *packet, oche_time now);

/* ---- counting ---- */

/* Counts a received NAK, even if it comes too late to have an effect. */
static inline void count_nak(struct oche_nic_stats *stats, uint8_t syndrome)
{
    if (oche_aeth_kind(syndrome) == OCHE_AETH_RNR)
        stats->rnr_naks_received++;
    else
        stats->naks_received++;
}

/*
 * Counts a READ or atomic that is executed or refused access, or a WRITE that is refused access.
 */
static inline void count_request(struct oche_nic_stats *stats, uint8_t operation)
{
    stats->refused_writes += operation == OCHE_OPERATION_WRITE;
    stats->read_requests += operation == OCHE_OPERATION_READ;
    stats->atomic_requests +=
        operation == OCHE_OPERATION_COMPARE_SWAP || operation == OCHE_OPERATION_FETCH_ADD;
}

#endif
