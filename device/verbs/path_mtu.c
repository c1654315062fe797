/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The path MTU, that is the payload of packets, of ports and of connections.
 *
 * A program that connects queue pairs by itself asks the port for it (active_mtu) before it knows
 * its peer. The port's MTU is the interface's, or a smaller one of the route to the neighbouring
 * address, which stands for the interface's network. Routes to other networks do not count: a
 * default route's MTU is often smaller (9000 bytes within a data centre, 1500 beyond it), and near
 * peers should not pay for far ones. rdma_cm knows the peer, and uses the MTU of the route to it.
 *
 * The kernel refuses packets that are larger than the route's current MTU. That happens if the
 * interface's MTU has changed, if a router has reported a smaller one, or if the program has chosen
 * a larger one. A line then says so, as every retransmission would be refused, too.
 */
#include <stdatomic.h>
#include <stdio.h>

#include "device/path/route_mtu.h"
#include "device/verbs/internal.h"

#define HEADERS_BYTES 84   /* IPv6, UDP, BTH, RETH, immediate, ICRC */
#define IPV4_LESS     20   /* an IPv4 header is shorter by this */
#define USUAL_MTU     1500 /* of interfaces without an MTU */
#define MOST_LINES    3    /* most lines of a process about packets that are too large */

static enum ibv_mtu fitting(uint32_t bytes)
{
    enum ibv_mtu mtu = IBV_MTU_256;

    while (mtu < IBV_MTU_4096 && (UINT32_C(256) << mtu) + HEADERS_BYTES <= bytes)
        mtu++;
    return mtu;
}

static uint32_t interface_bytes(const struct ov_port *port)
{
    const uint32_t bytes = oche_interface_mtu(port->interface_index);

    return bytes != 0 ? bytes : USUAL_MTU;
}

static uint32_t smaller(uint32_t bytes, uint32_t route)
{
    return route != 0 && route < bytes ? route : bytes;
}

/* Returns the MTU of the route to an address next to the port's own; 0: unknown. */
static uint32_t route_beside(const struct ov_port *port)
{
    uint32_t bytes = 0;

    /* some of these are the network's own address or the broadcast address, which have no route */
    for (uint8_t flip = 1; flip <= 3 && bytes == 0; flip++) {
        struct oche_address beside = port->address;

        beside.ip[15] ^= flip;
        bytes = oche_route_mtu(&port->address, &beside);
    }
    return bytes;
}

enum ibv_mtu ov_port_largest_mtu(const struct ov_port *port)
{
    return fitting(interface_bytes(port));
}

bool ov_path_mtu_ok(const struct ov_port *port, enum ibv_mtu mtu)
{
    const enum ibv_mtu largest = ov_port_largest_mtu(port);

    if (mtu > largest && mtu <= IBV_MTU_4096)
        ov_say_once(OV_ONCE_PATH_MTU,
                    "ibv_modify_qp: a path MTU of %u is larger than the interface's, which is %u "
                    "bytes: %u fits",
                    128u << mtu, interface_bytes(port), 128u << largest);
    return mtu >= IBV_MTU_256 && mtu <= largest;
}

enum ibv_mtu ov_port_mtu(const struct ov_port *port)
{
    return fitting(smaller(interface_bytes(port), route_beside(port)));
}

enum ibv_mtu ov_path_mtu(const struct ov_port *port, const struct oche_address *peer)
{
    return fitting(smaller(interface_bytes(port), oche_route_mtu(&port->address, peer)));
}

void ov_say_too_large(void *context, const struct oche_address *peer, uint32_t packet_bytes)
{
    static _Atomic unsigned told;
    const struct ov_port *port = context;
    const uint32_t bytes = oche_route_mtu(&port->address, peer);
    const uint32_t least = 256 + HEADERS_BYTES - (oche_address_is_ipv4(peer) ? IPV4_LESS : 0);
    char address[OCHE_ADDRESS_TEXT], what[128] = "as the kernel says (ib_write_bw: -m)";

    if (atomic_fetch_add(&told, 1) >= MOST_LINES)
        return;
    oche_address_print(peer, address);
    if (bytes != 0 && bytes < least)
        snprintf(what, sizeof(what),
                 "which is %u: the smallest path MTU, 256, needs %u "
                 "(`ip link set IF mtu %u`)",
                 bytes, least, least);
    else if (bytes != 0 && bytes < packet_bytes)
        snprintf(what, sizeof(what), "which is %u: a path MTU of %u fits (ib_write_bw: -m)", bytes,
                 128u << fitting(bytes));
    ov_say("packets of %u bytes to %s are larger than the MTU of the route, %s", packet_bytes,
           address, what);
}
