/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who we talk to: the core knows peers by a small number, the address index; this table gives each
 * its IP address and what the device keeps by peer. Only those that were added are in it: a packet
 * from anybody else has the index OCHE_NO_PEER, which is no queue pair's peer. Peers are told apart
 * by IP address alone, as the UDP source port of RoCEv2 is only entropy.
 */
#ifndef OCHE_DEVICE_PEERS_H
#define OCHE_DEVICE_PEERS_H

#include "device/address.h"
#include "device/ip_id.h"

#define OCHE_NO_PEER UINT32_MAX

struct oche_peer {
    struct oche_address address;
    struct sockaddr_storage socket_address; /* where its device listens */
    socklen_t socket_address_bytes;
    struct oche_ip_ids ids;
    bool no_gso; /* the way there takes no datagrams of several packets */
};

struct oche_peers {
    struct oche_peer *peers;
    uint32_t *table; /* index + 1, or 0; open addressing */
    uint32_t count, max, mask;
};

/* Room for `max` peers. False: out of memory. */
bool oche_peers_create(struct oche_peers *peers, uint32_t max);
void oche_peers_destroy(struct oche_peers *peers);
/* The index of an address, which is added if it is new; OCHE_NO_PEER: the table is full. */
uint32_t oche_peers_add(struct oche_peers *peers, const struct oche_address *address,
                        uint16_t port);
/* The index, or OCHE_NO_PEER. */
uint32_t oche_peers_find(const struct oche_peers *peers, const struct oche_address *address);

#endif
