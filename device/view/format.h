/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The view of a device: the file that `oche stat` reads. The device's thread writes it whole, four
 * times a second (writer.h). Readers do not trust it: a checksum reveals a half-written or foreign
 * file, and every number used as an index is checked.
 *
 * The process's owner, and if the writer still lives, come from the kernel, not from the file
 * (reader.h).
 *
 * Numbers are in the machine's byte order. A change of the layout, the counters or their order
 * needs a new OCHE_VIEW_VERSION.
 */
#ifndef OCHE_DEVICE_VIEW_FORMAT_H
#define OCHE_DEVICE_VIEW_FORMAT_H

#include "core/counter.h"
#include "core/qp/adapter_counters.h"
#include "core/qp/nic.h"

#define OCHE_VIEW_MAGIC   UINT64_C(0x77656976656863f0)
#define OCHE_VIEW_VERSION 4
#define OCHE_VIEW_QPS     256 /* queue pairs that are listed one by one, the newest ones */
#define OCHE_VIEW_NOBODY  UINT32_MAX

/*
 * Counters without causes, in the order of the table in format.c. `--stats` prints its counters in
 * the same order.
 */
enum oche_view_counter {
    OCHE_VIEW_SENT_PACKETS,
    OCHE_VIEW_SENT_DATAGRAMS,
    OCHE_VIEW_SENT_BYTES,
    OCHE_VIEW_RECEIVED_PACKETS,
    OCHE_VIEW_RECEIVED_DATAGRAMS,
    OCHE_VIEW_RECEIVED_BYTES,
    OCHE_VIEW_STRANGERS,
    OCHE_VIEW_DELIVERED_BYTES,
    OCHE_VIEW_DELIVERED_MESSAGES,
    OCHE_VIEW_SOCKET_FULL,
    OCHE_VIEW_PASSED_ON,
    OCHE_VIEW_TAKEN_OVER,
    OCHE_VIEW_TIMEOUTS,
    OCHE_VIEW_NAKS_SENT,
    OCHE_VIEW_NAKS_RECEIVED,
    OCHE_VIEW_RNR_NAKS_SENT,
    OCHE_VIEW_RNR_NAKS_RECEIVED,
    OCHE_VIEW_DUPLICATES,
    OCHE_VIEW_OUT_OF_ORDER,
    OCHE_VIEW_KEPT,
    OCHE_VIEW_ACKS_SENT,
    OCHE_VIEW_ACKS_RECEIVED,
    OCHE_VIEW_ACKS_HELD,
    OCHE_VIEW_ACKS_HELD_IN_VAIN,
    OCHE_VIEW_CNPS_SENT,
    OCHE_VIEW_CNPS_RECEIVED,
    OCHE_VIEW_MARKS_RECEIVED,
    OCHE_VIEW_MARKS_MADE,
    OCHE_VIEW_SCHEME_SENT,
    OCHE_VIEW_SCHEME_RECEIVED,
    OCHE_VIEW_HUNG,
    OCHE_VIEW_SIMPLE
};

/* Drops by cause: the NIC's causes (enum oche_reject), then these causes of the device. */
enum oche_view_drop {
    OCHE_VIEW_DROP_MALFORMED = OCHE_REJECT_CAUSES,
    OCHE_VIEW_DROP_ICRC,
    OCHE_VIEW_DROP_PORT,
    OCHE_VIEW_DROP_KERNEL,
    OCHE_VIEW_DROP_NOT_SENT,
    OCHE_VIEW_DROP_PASSING,
    OCHE_VIEW_DROP_TEST,
    OCHE_VIEW_DROPS
};

#define OCHE_VIEW_RESENT_AT  OCHE_VIEW_SIMPLE
#define OCHE_VIEW_DROPPED_AT (OCHE_VIEW_RESENT_AT + OCHE_RESENT_CAUSES)
#define OCHE_VIEW_COUNTERS   (OCHE_VIEW_DROPPED_AT + OCHE_VIEW_DROPS)

/*
 * A process's connections by address so far, by kind. Sockets' connections are also counted by the
 * first kind.
 */
enum oche_view_connections {
    OCHE_VIEW_BY_CM,
    OCHE_VIEW_SOCKETS_RDMA,
    OCHE_VIEW_SOCKETS_TCP, /* of --sockets */
    OCHE_VIEW_CONNECTIONS
};

struct oche_view_qp {
    uint32_t qpn, remote_qpn;
    uint8_t peer[16]; /* as in struct oche_address; zeros: none */
    /*
     * As in struct oche_qp_view. rate_bps is UINT64_MAX if the queue pair is not paced and the line
     * rate is unknown.
     */
    uint64_t rate_bps, window_bytes, flight_bytes;
    uint64_t retransmitted_packets, timeouts;
    uint8_t transport, state;
    uint8_t spare[6];
};

struct oche_view {
    uint64_t magic;
    uint32_t version;
    uint32_t bytes;                            /* size of the view, with the listed queue pairs */
    uint64_t sum;                              /* checksum of the members after this one */
    uint64_t open_ns;                          /* time since the device was opened */
    uint64_t network_namespace, pid_namespace; /* inodes; 0: unknown */
    uint64_t line_rate_bps;                    /* 0: unknown */
    uint32_t pid;                              /* in the process's own namespace */
    uint32_t qps;                              /* queue pairs, but for the connection manager's */
    uint32_t listed;                           /* number of entries in `qp` */
    uint32_t peers; /* addresses with a connection, or with an address handle */
    uint32_t senders_counted, senders_told; /* as in struct oche_cc_senders, or OCHE_VIEW_NOBODY */
    uint8_t address[16];
    char command[32], arguments[224]; /* NUL-terminated */
    char cc[24], recovery[24];
    uint64_t connections[OCHE_VIEW_CONNECTIONS];
    uint64_t scheme[OCHE_MOST_COUNTERS]; /* the scheme's own counters, in the order of its table */
    uint64_t counters[OCHE_VIEW_COUNTERS];
    uint64_t adapter[OCHE_ADAPTER_COUNTERS]; /* core/qp/adapter_counters.h */
    struct oche_view_qp qp[OCHE_VIEW_QPS];
};

/* A row of the table of counters. */
struct oche_view_row {
    const char *name;  /* in JSON; in Prometheus' metrics with oche_ before and _total behind */
    const char *cause; /* NULL: no causes; the causes of one name are next to each other */
    const char *help;  /* one line */
};
struct oche_view_row oche_view_row(unsigned counter);

/* Returns the name of a kind of connections. */
const char *oche_view_connection_name(enum oche_view_connections kind);

/* Fills in the members before `open_ns`. `listed` must be right. */
void oche_view_seal(struct oche_view *view);

enum oche_view_fault {
    OCHE_VIEW_GOOD,
    OCHE_VIEW_TORN, /* the sum is wrong; a later read may succeed */
    OCHE_VIEW_OTHER_VERSION,
    OCHE_VIEW_BAD,
};
/*
 * Checks a file's content: the first `count` bytes of *view. Terminates texts, and replaces
 * characters that a terminal should not get. *view is valid only if the result is OCHE_VIEW_GOOD.
 */
enum oche_view_fault oche_view_check(struct oche_view *view, size_t count);

#endif
