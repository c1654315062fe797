/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several processes on one address and UDP port, without privileges: each process has a slot, which
 * is 1/64 of all queue pair numbers, and the kernel gives it the packets for these numbers
 * (reuseport.h).
 *
 * A process has a slot as long as it has its name (names.h), and a Unix datagram socket that other
 * processes reach by it: its inbox. Inboxes are in a folder that only our user can get at.
 *
 * The inbox also receives packets that the kernel has steered to a wrong process. That happens
 * while sockets come and go, and when the kernel merges packets for several processes. A process
 * that gets a packet of another process passes it on, with the packet's true source. Whenever a
 * process passes on packets or gets packets passed on, it finds its own place in the kernel's list
 * again and tells the others, and all of them replace the kernel's program.
 *
 * Trust: a message counts only if the kernel confirms that its sender runs as our user. Packets are
 * passed on, and the table of senders is given, only to a process that has answered our greeting on
 * the same connection and runs as our user. What is given can only be read.
 *
 * A process of our user may have the address and port, and its names in a folder that we cannot
 * see: another container's. The kernel's list then is longer than the names are; see
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
    int fd;               /* connected to its inbox; -1: none */
    bool trusted;         /* the process has answered our greeting */
    bool table_sent;      /* it has our table of senders */
    uint8_t place;        /* place of its UDP socket, as the process told us, or OCHE_PLACE_NONE */
    uint64_t nonce;       /* the answer to our greeting must contain this number */
    oche_time next_hello; /* device time before which the process is not greeted again */
    uint32_t queued;      /* messages that wait for room in the process's queue */
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
    uint64_t nonce; /* number in our last probes for our place; 0: none were sent */
    oche_time next_probe;
    uint64_t refused; /* messages of other users, or malformed */
    uint64_t lost;    /* packets that were held for a process that is gone */
    struct oche_queued *queued, **last_queued;
    size_t queued_bytes;
    uint32_t queued_count;
    uint8_t *memory; /* buffer for an arriving message */
    /* What congestion control shares; the driver opens it before oche_sharing_join
     * (shared_senders.c). */
    struct oche_sender_table senders;
    uint64_t with_table; /* bit i: slot i has given us its table, and may have gone since */
    int arrived_fd;      /* came with the message in `memory`, and is to be closed; -1: none */
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

/* Takes a slot. A line in `error` says why if there is none. */
enum oche_sharing_opened oche_sharing_open(struct oche_sharing *share,
                                           const struct oche_address *address, uint16_t port,
                                           struct oche_entropy *entropy, struct oche_error *error);
/*
 * To be called when our UDP socket is bound: contacts the other processes. Returns false, with
 * errno set, if the kernel cannot steer.
 */
bool oche_sharing_join(struct oche_sharing *share, int udp, oche_time now);
/* True if we know our place and all processes that we greeted have answered. */
bool oche_sharing_settled(const struct oche_sharing *share);
/*
 * True if more processes have the address and port than have names here. That is so for a moment
 * while one of them ends, or finds that its names are lost.
 */
bool oche_sharing_has_hidden(const struct oche_sharing *share);
/* To be called when our UDP socket is closed: tells the other processes, and frees the slot. */
void oche_sharing_close(struct oche_sharing *share);
/* To be called in a forked child: closes its copies of the parent's Unix sockets. */
void oche_sharing_leave(struct oche_sharing *share);

/*
 * Makes our names again if their file was removed. To be called a few times a second; one system
 * call. Returns true if services must be taken again.
 */
bool oche_sharing_restore_names(struct oche_sharing *share);

/*
 * Drops what processes count that are gone without a word, and repeats greetings and tables for
 * which inboxes had no room. To be called a few times a second; one system call for each process
 * that counts or has not answered.
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

/* Passes on a part of `in`: the `count` bytes at `bytes`, which are packets of one slot. */
enum oche_sharing_result oche_sharing_forward(struct oche_sharing *share,
                                              const struct oche_datagram_in *in,
                                              const uint8_t *bytes, uint32_t count, oche_time now);
/*
 * As oche_sharing_forward, for one packet of a connection manager, whose process its queue pair
 * number does not tell (management.h).
 */
enum oche_sharing_result oche_sharing_forward_to(struct oche_sharing *share, unsigned slot,
                                                 const struct oche_datagram_in *in,
                                                 const uint8_t *bytes, uint32_t count,
                                                 oche_time now);
/*
 * Tries again to pass on the held packets. To be called from time to time while
 * oche_sharing_has_queued.
 */
void oche_sharing_retry_queued(struct oche_sharing *share);
static inline bool oche_sharing_has_queued(const struct oche_sharing *share)
{
    return share->queued != NULL;
}

/*
 * Receives what others passed on to us, one datagram at a time, and handles messages between
 * processes. Returns false if there is no more. If packets in `in` are not ours, the caller must
 * drop them.
 */
bool oche_sharing_receive(struct oche_sharing *share, struct oche_datagram_in *in, oche_time now);

/* Returns true if `in` was not a packet but a process's probe for its place. */
bool oche_sharing_take_probe(struct oche_sharing *share, const struct oche_datagram_in *in);

#endif
