/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several processes on one address and UDP port, without privileges: each process has a slot, which
 * is 1/64 of all queue pair numbers, and the kernel gives it the packets for these numbers
 * (reuseport.h).
 *
 * A process has its slot as long as it has its name (names.h), and an inbox: a Unix datagram socket
 * in a folder that is closed to other users.
 *
 * The inbox also receives packets that the kernel has steered to a wrong process. That happens
 * while sockets open and close, and when the kernel merges packets for several processes. A process
 * forwards packets of another process with their true source. After that both find their places in
 * the kernel's list again, tell the others, and all of them replace the kernel's program.
 *
 * Trust: a message is accepted only if the kernel confirms that its sender runs as our user.
 * Packets and the table of senders go only to a process that has answered our hello on the same
 * connection and runs as our user. The table is read-only for it.
 *
 * A process of our user may have the address and port while its names are in a folder that we
 * cannot see: another container's. The kernel's list is then longer than the list of names; see
 * oche_sharing_has_hidden.
 */
#ifndef OCHE_DEVICE_SHARED_SHARING_H
#define OCHE_DEVICE_SHARED_SHARING_H

#include "core/base.h"
#include "device/host/entropy.h"
#include "device/path/socket.h"
#include "device/shared/names.h"
#include "device/shared/reuseport.h"
#include "device/shared/sender_table.h"
#include "params/error.h"

/* Another process on our address and port. */
struct oche_neighbour {
    int fd;                       /* connected to its inbox; -1: none */
    bool trusted;                 /* the process has answered our hello */
    bool table_sent;              /* it has our table of senders */
    uint8_t place;                /* reported place of its UDP socket, or OCHE_PLACE_NONE */
    uint64_t nonce;               /* the answer to our hello must contain this number */
    oche_time next_hello;         /* device time before which no hello is sent to it */
    uint32_t queued;              /* messages that wait for room in the process's queue */
    struct oche_sender_view view; /* the senders that it counts */
};

struct oche_sharing {
    int fd;  /* our inbox; -1: the address is not shared */
    int udp; /* descriptor of the device's socket */
    uint8_t slot;
    uint8_t place; /* place of our UDP socket in the kernel's list, or OCHE_PLACE_NONE */
    bool force;    /* replace the kernel's program even if it seems to be right */
    struct oche_address address;
    uint16_t port;
    struct oche_names names;
    struct oche_neighbour neighbours[OCHE_SLOTS];
    uint8_t installed[OCHE_SLOTS]; /* the places in the program that we last installed */
    struct oche_entropy *entropy;
    oche_time next_check; /* device time before which neighbours are not checked */
    uint64_t nonce;       /* number in our last probes for our place; 0: none were sent */
    oche_time next_probe;
    uint64_t refused; /* messages of other users, or malformed */
    uint64_t lost;    /* packets that were queued for a process that has ended */
    struct oche_queued *queued, **last_queued;
    size_t queued_bytes;
    uint32_t queued_count;
    uint8_t *memory; /* buffer for an arriving message */
    /*
     * Senders that congestion control shares; opened before oche_sharing_join (shared_senders.c).
     */
    struct oche_sender_table senders;
    uint64_t with_table; /* bit i: slot i has sent its table, and may have ended since */
    int arrived_fd;      /* descriptor of the message in `memory`, not closed yet; -1: none */
};

enum oche_sharing_opened {
    OCHE_SHARING_OPEN,   /* we have a slot */
    OCHE_SHARING_ALONE,  /* there is no folder for names: the address cannot be shared */
    OCHE_SHARING_FAILED, /* errno EADDRINUSE: all slots are taken */
};

enum oche_sharing_result {
    OCHE_SHARING_DONE,   /* passed on, or held until there is room */
    OCHE_SHARING_LOST,   /* dropped: the process could not take the packets, or has not answered yet
                          */
    OCHE_SHARING_NOBODY, /* no process has this slot */
};

/* Takes a slot. On failure a line in `error` gives the reason. */
enum oche_sharing_opened oche_sharing_open(struct oche_sharing *share,
                                           const struct oche_address *address, uint16_t port,
                                           struct oche_entropy *entropy, struct oche_error *error);
/*
 * To be called when our UDP socket is bound: contacts the other processes. Returns false, with
 * errno set, if the kernel cannot steer.
 */
bool oche_sharing_join(struct oche_sharing *share, int udp, oche_time now);
/* True if we know our place and all processes have answered our hello. */
bool oche_sharing_settled(const struct oche_sharing *share);
/*
 * True if more processes have the address and port than have names here. This may be so for a
 * moment while one of them ends, or before it restores its names.
 */
bool oche_sharing_has_hidden(const struct oche_sharing *share);
/* To be called when our UDP socket is closed: tells the other processes, and frees the slot. */
void oche_sharing_close(struct oche_sharing *share);
/* To be called in a forked child: closes its copies of the parent's Unix sockets. */
void oche_sharing_leave(struct oche_sharing *share);

/*
 * Restores our names if their file was removed. To be called a few times a second; one system call.
 * Returns true if services must be taken again.
 */
bool oche_sharing_restore_names(struct oche_sharing *share, oche_time now);
/*
 * Finds our place again if a neighbour has ended without a goodbye. Otherwise packets might go to a
 * process that is stopped, and would not forward them. To be called a few times a second, after
 * oche_sharing_restore_names; one system call for each neighbour.
 */
void oche_sharing_check_neighbours(struct oche_sharing *share, oche_time now);

/*
 * Drops the tables of processes that have ended without a goodbye. Repeats hellos and tables that
 * did not fit into an inbox. To be called a few times a second; one system call for each process
 * with a table, or that has not answered.
 */
void oche_sharing_drop_dead(struct oche_sharing *share);

/* Returns the slot of a packet of at least OCHE_STEERED_BYTES bytes, from BTH on. */
static inline unsigned oche_sharing_slot(const uint8_t *bytes)
{
    return bytes[OCHE_SLOT_OFFSET] >> (8 - OCHE_SLOT_BITS);
}

/* True if a packet (from BTH on) belongs to another process. */
static inline bool oche_sharing_is_foreign(const struct oche_sharing *share, const uint8_t *bytes,
                                           uint32_t count)
{
    return count >= OCHE_STEERED_BYTES && oche_sharing_slot(bytes) != share->slot;
}

/* Forwards a part of `in`: the `count` bytes at `bytes`, which are packets of one slot. */
enum oche_sharing_result oche_sharing_forward(struct oche_sharing *share,
                                              const struct oche_datagram_in *in,
                                              const uint8_t *bytes, uint32_t count, oche_time now);
/*
 * Like oche_sharing_forward, for one packet of a connection manager. Its queue pair number does not
 * contain the slot (management.h).
 */
enum oche_sharing_result oche_sharing_forward_to(struct oche_sharing *share, unsigned slot,
                                                 const struct oche_datagram_in *in,
                                                 const uint8_t *bytes, uint32_t count,
                                                 oche_time now);
/*
 * Tries again to send queued packets. To be called from time to time while oche_sharing_has_queued.
 */
void oche_sharing_retry_queued(struct oche_sharing *share);
static inline bool oche_sharing_has_queued(const struct oche_sharing *share)
{
    return share->queued != NULL;
}

/*
 * Receives forwarded packets, one datagram at a time, and handles messages between processes.
 * Returns false if there are no more. Packets in `in` that are not ours must be dropped by the
 * caller.
 */
bool oche_sharing_receive(struct oche_sharing *share, struct oche_datagram_in *in, oche_time now);

/* Returns true if `in` was not a packet but a process's probe for its place. */
bool oche_sharing_take_probe(struct oche_sharing *share, const struct oche_datagram_in *in);

#endif
