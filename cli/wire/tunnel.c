/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the inner packet of a tunnel. No length can be trusted; see tunnel.h. */
#include "cli/wire/tunnel.h"

#include "core/wire/bytes.h"
#include "core/wire/frame.h"
#include "core/wire/icrc.h"

#define VXLAN_PORT       4789
#define VXLAN_PORT_LINUX 8472 /* Linux' value before a number was assigned */
#define GENEVE_PORT      6081
#define PROTOCOL_IPV4    4
#define PROTOCOL_IPV6    41
#define PROTOCOL_GRE     47
#define TYPE_ETHERNET    0x6558

#define VXLAN_BYTES  8
#define GENEVE_BYTES 8
#define GRE_BYTES    4 /* and four for each of checksum, key and sequence number */

enum { GRE_CHECKSUM = 0x8000, GRE_ROUTING = 0x4000, GRE_KEY = 0x2000, GRE_SEQUENCE = 0x1000 };
enum { VXLAN_HAS_ID = 0x08 };

/* A part of the frame, from `at` to `end`, and how much of the frame was captured. */
struct part {
    const uint8_t *bytes;
    size_t captured, at, end;
};

/* True if the next bytes are there. */
static bool has(const struct part *part, size_t bytes)
{
    const size_t end = part->end < part->captured ? part->end : part->captured;

    return part->at <= end && bytes <= end - part->at;
}

static uint32_t get24(const uint8_t *at)
{
    return (uint32_t)at[0] << 16 | oche_get16(at + 1);
}

/* Moves past the IP header. Returns the protocol of what follows; -1: damaged, or a fragment. */
static int enter_ip(struct part *part)
{
    const uint8_t *ip = part->bytes + part->at;
    size_t header, whole;
    uint8_t protocol;

    if (!has(part, OCHE_IPV4_BYTES))
        return -1;
    if (ip[0] >> 4 == 4) {
        header = (size_t)(ip[0] & 0x0f) * 4;
        whole = oche_get16(ip + 2);
        protocol = ip[9];
        if (header < OCHE_IPV4_BYTES || whole < header || (oche_get16(ip + 6) & 0x3fff) != 0)
            return -1;
    } else {
        header = OCHE_IPV6_BYTES;
        if (ip[0] >> 4 != 6 || !has(part, header))
            return -1;
        whole = header + oche_get16(ip + 4);
        protocol = ip[6];
    }
    if (!has(part, header))
        return -1;
    if (whole < part->end - part->at)
        part->end = part->at + whole;
    part->at += header;
    return protocol;
}

/*
 * ---- headers after the outer IP header: each function moves past one, and returns the type of the
 * inner packet (an EtherType), or -1 if there is none ----
 */

static int enter_vxlan(struct part *part, struct oche_tunnel *tunnel)
{
    const uint8_t *at = part->bytes + part->at;

    if (!has(part, VXLAN_BYTES) || (at[0] & VXLAN_HAS_ID) == 0)
        return -1;
    *tunnel = (struct oche_tunnel){.kind = "VXLAN", .has_id = true, .id = get24(at + 4)};
    part->at += VXLAN_BYTES;
    return TYPE_ETHERNET;
}

static int enter_geneve(struct part *part, struct oche_tunnel *tunnel)
{
    const uint8_t *at = part->bytes + part->at;
    size_t options;

    if (!has(part, GENEVE_BYTES) || at[0] >> 6 != 0)
        return -1;
    options = (size_t)(at[0] & 0x3f) * 4;
    if (!has(part, GENEVE_BYTES + options))
        return -1;
    *tunnel = (struct oche_tunnel){.kind = "GENEVE", .has_id = true, .id = get24(at + 4)};
    part->at += GENEVE_BYTES + options;
    return oche_get16(at + 2);
}

static int enter_udp(struct part *part, struct oche_tunnel *tunnel)
{
    const uint8_t *at = part->bytes + part->at;
    uint16_t port, bytes;

    if (!has(part, OCHE_UDP_BYTES))
        return -1;
    port = oche_get16(at + 2);
    bytes = oche_get16(at + 4);
    if (bytes < OCHE_UDP_BYTES)
        return -1;
    if (bytes < part->end - part->at)
        part->end = part->at + bytes;
    part->at += OCHE_UDP_BYTES;
    if (port == VXLAN_PORT || port == VXLAN_PORT_LINUX)
        return enter_vxlan(part, tunnel);
    return port == GENEVE_PORT ? enter_geneve(part, tunnel) : -1;
}

static int enter_gre(struct part *part, struct oche_tunnel *tunnel)
{
    const uint8_t *at = part->bytes + part->at;
    size_t bytes = GRE_BYTES;
    uint16_t flags;

    if (!has(part, bytes))
        return -1;
    flags = oche_get16(at);
    if ((flags & 7) != 0 || (flags & GRE_ROUTING) != 0) /* another version */
        return -1;
    bytes += (flags & GRE_CHECKSUM) != 0 ? 4 : 0;
    *tunnel = (struct oche_tunnel){.kind = "GRE", .has_id = (flags & GRE_KEY) != 0};
    if (tunnel->has_id && !has(part, bytes + 4))
        return -1;
    if (tunnel->has_id) {
        tunnel->id = oche_get32(at + bytes);
        bytes += 4;
    }
    bytes += (flags & GRE_SEQUENCE) != 0 ? 4 : 0;
    if (!has(part, bytes))
        return -1;
    part->at += bytes;
    return oche_get16(at + 2);
}

static int enter_protocol(int protocol, struct part *part, struct oche_tunnel *tunnel)
{
    *tunnel = (struct oche_tunnel){.kind = "IP"};
    switch (protocol) {
    case OCHE_IP_UDP:
        return enter_udp(part, tunnel);
    case PROTOCOL_GRE:
        return enter_gre(part, tunnel);
    case PROTOCOL_IPV4:
        return OCHE_ETHERTYPE_IPV4;
    case PROTOCOL_IPV6:
        return OCHE_ETHERTYPE_IPV6;
    default:
        return -1;
    }
}

/* ---- all ---- */

bool oche_tunnel_enter(const uint8_t *bytes, size_t count, struct oche_link_view *view)
{
    struct part part = {.bytes = bytes, .captured = count, .at = view->ip_at, .end = view->end};
    struct oche_link_view inside = *view;
    int type;

    if (!view->ip || view->tunnels == OCHE_MOST_TUNNELS)
        return false;
    type = enter_protocol(enter_ip(&part), &part, &inside.tunnel);
    if (type < 0 || !has(&part, 1))
        return false;
    inside.ip_at = part.at;
    inside.end = part.end;
    inside.tunnels++;
    inside.ip = type == OCHE_ETHERTYPE_IPV4 || type == OCHE_ETHERTYPE_IPV6;
    if (type == TYPE_ETHERNET &&
        !oche_link_ethernet(bytes, part.end < count ? part.end : count, &inside))
        return false;
    /* the same packet before and in a tunnel, or in two, is no retransmission */
    inside.place =
        (view->place ^ inside.tunnel.id ^ (uint64_t)inside.tunnels << 40) * UINT64_C(0x100000001b3);
    *view = inside;
    return true;
}
