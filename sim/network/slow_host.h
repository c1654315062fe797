/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host that is slow to receive, or whose NIC sends PAUSEs without end; or both (DCQCN sec 1 has
 * slow receivers as a source of PAUSEs; Guo et al., RDMA over Commodity Ethernet at Scale, SIGCOMM
 * 2016, sec 4.3 and 4.4 the storm and the slow receiver).
 *
 * The slow receiver: packets of data wait in the NIC's receive buffer until they have been moved on
 * to the host's memory, one after the other, at the drain rate; only then the endpoint has them.
 * Answers (ACK, NAK, CNP, credits) are used up in the NIC and do not wait. Above `xoff_bytes` the
 * NIC pauses the classes of data that PFC applies to, at or below `xon_bytes` it resumes them. A
 * packet that finds no room is dropped.
 *
 * The storm: from its begin to its end the NIC pauses the storm's classes, whatever its buffer has.
 *
 * A PAUSE is repeated when half of its quanta have passed, as a switch does (fabric/pfc.h).
 */
#ifndef OCHE_SIM_NETWORK_SLOW_HOST_H
#define OCHE_SIM_NETWORK_SLOW_HOST_H

#include "fabric/switch.h"
#include "sim/network/host.h"

struct oche_pause_storm {
    oche_time at, until; /* sends PAUSEs at at <= t < until */
    uint8_t classes;     /* mask */
    uint16_t quanta;     /* in each PAUSE */
};

struct oche_slow_host_config {
    /* drain rate of frames; 0: not a slow receiver, and the next members are 0 */
    uint64_t drain_bps;
    uint64_t buffer_bytes, xoff_bytes, xon_bytes;
    uint64_t mark_bytes; /* while more waits, packets are marked CE; OCHE_NEVER: none are */
    uint8_t waiting;     /* mask of the classes that wait in the buffer */
    uint8_t lossless;    /* mask of those of them that are paused; 0: the buffer fills, and drops */
    struct oche_pause_storm *storms; /* by time; they do not overlap */
    uint32_t storm_count;
};

/* Makes the host slow as `config` says. `config` must outlive the host. */
void oche_slow_host_start(struct oche_host *host, const struct oche_slow_host_config *config);

/*
 * A packet has arrived. Returns true if the buffer took the packet, or it was dropped; false if the
 * endpoint must get it at once.
 */
bool oche_slow_host_takes(struct oche_host *host, struct oche_packet *packet, oche_time now);
/* Returns the next packet that has left the buffer by `now`, or NULL. It is the caller's again. */
struct oche_packet *oche_slow_host_drain(struct oche_host *host, oche_time now);

/*
 * Sends the PAUSE or RESUME that is due, from the host's free port. Returns false if none is due.
 */
bool oche_slow_host_send(struct oche_host *host, oche_time now);
/* Begins and ends storms, and repeats PAUSEs. */
void oche_slow_host_expire(struct oche_host *host, oche_time now);
/*
 * Returns when the timer is next due. If a frame waits for the port, also asks for an event when
 * that is free.
 */
oche_time oche_slow_host_next(struct oche_host *host);
/* The host's link went down, or came back: the peer has forgotten what it was told. */
void oche_slow_host_link_changed(struct oche_host *host, oche_time now);

struct oche_slow_host_stats {
    uint64_t dropped_packets, dropped_bytes; /* for want of room in the buffer */
    uint64_t most_bytes;                     /* most bytes that were in the buffer */
};
/* For a host that is not slow all values of both are 0. They count from the last reset. */
struct oche_slow_host_stats oche_slow_host_stats(const struct oche_host *host);
/* Fills in the PAUSEs that the host has sent. */
void oche_slow_host_pauses(const struct oche_host *host, oche_time now,
                           struct oche_switch_port_stats *port);
void oche_slow_host_reset(struct oche_host *host, oche_time now);

#endif
