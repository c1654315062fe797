/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tunnels in a capture: an IP packet that carries another one in VXLAN (RFC 7348), GENEVE (RFC
 * 8926), GRE (RFC 2784, 2890) or IP (RFC 2003, 4213), with or without an Ethernet header before the
 * inner one. Overlay networks carry RoCEv2 in this form, so captures of an underlay contain it.
 */
#ifndef OCHE_CLI_WIRE_TUNNEL_H
#define OCHE_CLI_WIRE_TUNNEL_H

#include "cli/wire/link_layer.h"

#define OCHE_MOST_TUNNELS 4 /* within one another */

/*
 * If the IP packet at `view` is a tunnel's, and enough of it was captured, moves `view` to the
 * inner packet. Otherwise returns false and changes nothing. `count`: captured bytes.
 */
bool oche_tunnel_enter(const uint8_t *bytes, size_t count, struct oche_link_view *view);

#endif
