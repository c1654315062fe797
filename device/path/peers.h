/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of peers. The core knows a peer by a small number, the address index. The table holds
 * the peer's IP address and the device's state for it, as long as somebody holds a reference. A
 * packet from any other sender has the index OCHE_NO_PEER, which matches no queue pair. Peers are
 * identified by IP address alone; UDP source ports belong to connections (peer_ports.h).
 */
#ifndef OCHE_DEVICE_PATH_PEERS_H
#define OCHE_DEVICE_PATH_PEERS_H

#include "device/path/address.h"
#include "device/path/ip_id.h"

#define OCHE_NO_PEER UINT32_MAX

struct oche_peer {
    struct oche_address address;
    struct sockaddr_storage socket_address; /* the address and port of the peer's device */
    socklen_t socket_address_bytes;
    struct oche_ip_ids ids;
    bool has_sent;         /* it has sent a packet */
    bool too_large;        /* packets were larger than the MTU of the route to it */
    bool no_gso;           /* each packet to this peer needs a datagram of its own */
    bool is_local;         /* its address is this device's or a loopback address */
    bool shows_extensions; /* its last packet on a connection has shown bits of OCHE_BTH_SHOWN */
    uint32_t references;   /* 0: the peer is not in the table */
    uint32_t next_free;    /* index + 1 of the peer that was given up after this one; 0: the last */
};

/*
 * True if the peer is an oche device: others have no loopback addresses, and do not set our bits.
 */
static inline bool oche_peer_is_ours(const struct oche_peer *peer)
{
    return peer->shows_extensions || peer->is_local;
}

struct oche_peers {
    struct oche_peer *peers;
    uint32_t *table; /* a hash table (open addressing) of index in `peers` + 1; 0: free */
    uint32_t count;  /* the indices below this one have been used */
    uint32_t max, mask;
    uint32_t first_free, last_free; /* index + 1; 0: none. The first is free for longest. */
    /* True if an index must not yet be given to another address. NULL: never. */
    bool (*busy)(const void *context, uint32_t index);
    const void *busy_context;
};

/* Makes room for `max` peers. Returns false if memory is out. */
bool oche_peers_create(struct oche_peers *peers, uint32_t max);
void oche_peers_destroy(struct oche_peers *peers);
/*
 * Returns the index of an address, added if it is new, and takes a reference. The index is valid
 * until all references are released. OCHE_NO_PEER: the table is full.
 */
uint32_t oche_peers_add(struct oche_peers *peers, const struct oche_address *address,
                        uint16_t port);
/* Leaves the next index to nobody. No reference must have been released yet. */
void oche_peers_skip(struct oche_peers *peers);
/* Releases a reference. The index must not be used after the last one. */
void oche_peers_release(struct oche_peers *peers, uint32_t index);
/* Returns the index of an address; OCHE_NO_PEER: it is not in the table. */
uint32_t oche_peers_find(const struct oche_peers *peers, const struct oche_address *address);

#endif
