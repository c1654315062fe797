/* SPDX-License-Identifier: Apache-2.0 */
/* The header before the IP header in a capture, by libpcap's link types. */
#ifndef OCHE_CLI_WIRE_LINK_LAYER_H
#define OCHE_CLI_WIRE_LINK_LAYER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct oche_tunnel {
    const char *kind; /* its name */
    bool has_id;
    uint32_t id; /* the number of a virtual network, or a key */
};

struct oche_link_view {
    bool ip;          /* the bytes at `ip_at` are an IP packet, or the link header says so */
    size_t ip_at;     /* offset of the IP header */
    size_t end;       /* where the enclosing packet ends; SIZE_MAX: at the end of the frame */
    unsigned vlans;   /* VLAN tags that were skipped */
    unsigned tunnels; /* number of tunnels around the packet (tunnel.h) */
    struct oche_tunnel tunnel; /* the innermost tunnel, if there are tunnels */
    /* hash of the link's addresses and direction; it differs between places of capture */
    uint64_t place;
};

/* True if frames of this link type (DLT_…) are understood. */
bool oche_link_supported(int datalink);

/*
 * Parses one captured frame: Ethernet with any number of VLAN tags, raw IP, Linux cooked (both
 * versions), BSD loopback. Returns false if the frame is too short for its link header.
 */
bool oche_link_view(int datalink, const uint8_t *bytes, size_t count, struct oche_link_view *view);

/*
 * Moves `view`, which is at an Ethernet header, past it. Returns false if the header is incomplete.
 */
bool oche_link_ethernet(const uint8_t *bytes, size_t count, struct oche_link_view *view);

#endif
