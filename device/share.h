/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several processes on one address and UDP port, without privileges: each has a slot, a sixty-
 * fourth of all queue pair numbers, and the kernel gives it the packets to these (steer.h).
 *
 * A slot is a Unix datagram socket whose abstract name has the user, the address, the port and the
 * slot's number: who binds it has the slot, and the kernel frees it whatever the process dies of.
 * Abstract names belong to the network namespace, as UDP ports do.
 *
 * The same socket takes what the kernel steered to the wrong process, which happens while sockets
 * come and go, and when it merged packets to several processes: whoever gets such a packet passes
 * it on, with its true source. Who gets or passes on one looks for its own place in the kernel's
 * list again and tells the others, and all replace the kernel's program.
 *
 * Trust: a message counts only if the kernel says that its sender is of our user. Packets are
 * passed on only to a process that has answered, through the same connection, as our user: the
 * names of slots are free for all to bind, so another user can take slots away, but not packets.
 */
#ifndef OCHE_DEVICE_SHARE_H
#define OCHE_DEVICE_SHARE_H

#include "core/base.h"
#include "core/random.h"
#include "device/socket.h"
#include "device/steer.h"
#include "params/error.h"

/* Another process on our address and port. */
struct oche_neighbour {
    int fd;          /* connected to its slot's socket; -1: none */
    bool trusted;    /* it has answered */
    uint8_t place;   /* of its UDP socket, as it said */
    uint64_t nonce;  /* that it must answer with */
    oche_time again; /* not to be greeted before */
    uint32_t held;   /* messages that wait for room in its queue */
};

struct oche_sharing {
    int fd;  /* our slot's socket; -1: we share with nobody */
    int udp; /* the device's socket */
    uint8_t slot;
    uint8_t place; /* of our UDP socket */
    bool force;    /* the program must be replaced even if it is as we think it is */
    struct oche_address address;
    uint16_t port;
    struct oche_neighbour neighbours[OCHE_SLOTS];
    uint8_t steered[OCHE_SLOTS]; /* the program that we gave last */
    struct oche_random random;
    uint64_t nonce; /* of the last look for our place; 0: none */
    oche_time look_again;
    uint64_t refused; /* messages of other users, or that are no messages of ours */
    uint64_t lost;    /* packets that were held for one that is gone */
    struct oche_held *held, **last_held;
    size_t held_bytes;
    uint32_t held_count;
    uint8_t *memory; /* of the message that arrived last */
};

enum oche_sharing_result {
    OCHE_SHARING_DONE,   /* or as good as: they go when there is room for them */
    OCHE_SHARING_LOST,   /* its process could not take it, or has yet to answer */
    OCHE_SHARING_NOBODY, /* no process has this slot */
};

/* Takes a slot. False, and a line in `error`; errno EADDRINUSE: all are taken. */
bool oche_sharing_open(struct oche_sharing *share, const struct oche_address *address,
                       uint16_t port, uint64_t seed, struct oche_error *error);
/* Our UDP socket is bound: meets the others. False: the kernel cannot steer (errno). */
bool oche_sharing_join(struct oche_sharing *share, int udp, oche_time now);
/* Whether we know our place, and all that we have greeted have answered. */
bool oche_sharing_settled(const struct oche_sharing *share);
/* The UDP socket is closed: tells the others, and frees the slot. */
void oche_sharing_close(struct oche_sharing *share);
/* In a forked child: closes what belongs to the parent. */
void oche_sharing_forget(struct oche_sharing *share);

/* Of a packet (BTH …) of at least OCHE_STEER_BYTES. */
static inline unsigned oche_sharing_slot(const uint8_t *bytes)
{
    return bytes[OCHE_STEER_SLOT] >> (8 - OCHE_SLOT_BITS);
}

/* Whether a packet (BTH …) is another process's. */
static inline bool oche_sharing_elsewhere(const struct oche_sharing *share, const uint8_t *bytes,
                                          uint32_t count)
{
    return count >= OCHE_STEER_BYTES && oche_sharing_slot(bytes) != share->slot;
}

/* Passes on `count` bytes of `in`, packets of one slot, from `bytes` on. */
enum oche_sharing_result oche_sharing_forward(struct oche_sharing *share,
                                              const struct oche_datagram_in *in,
                                              const uint8_t *bytes, uint32_t count, oche_time now);
/*
 * Passes on what had to wait for room; in vain if there is still none, so that it has to be called
 * again soon. To be called when oche_sharing_holds.
 */
void oche_sharing_retry(struct oche_sharing *share);
static inline bool oche_sharing_holds(const struct oche_sharing *share)
{
    return share->held != NULL;
}

/*
 * What others passed on to us, one datagram at a time; messages between processes are seen to.
 * False: there is no more. Packets in it that are not ours go nowhere.
 */
bool oche_sharing_receive(struct oche_sharing *share, struct oche_datagram_in *in, oche_time now);

/* True: this was no packet but a look for a place, ours or another process's. */
bool oche_sharing_probe(struct oche_sharing *share, const struct oche_datagram_in *in);

#endif
