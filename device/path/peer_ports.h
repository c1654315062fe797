/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The UDP ports from which a connected queue pair accepts packets. An address can be shared: any
 * user of the peer's host can send from it, but not from a port that another program has bound. So
 * the first packet with exactly the expected PSN pins its source port. Later packets from other
 * ports are dropped before their PSN is checked, so an attacker cannot try PSNs.
 *
 * Requests and responses have a pin each, as some peers respond from another port. Both begin with
 * the port of the first packet. Other packets (a CNP, a packet of a congestion-control scheme) have
 * no PSN, and are accepted only from a pinned port. Before a port is pinned, a CNP is accepted only
 * on an unreliable connection, which gets no response that could pin one.
 *
 * A pin moves, as a NAT may give a peer another port. When the pinned port has been silent for the
 * time of all retries, one packet from another port is checked in each ACK timeout. If it has
 * exactly the expected PSN, its port is the new one. If it repeats a request of a reliable
 * connection, it is answered, as the peer may have missed our response, but pins nothing. So an
 * attacker who does not know the PSN has one guess in each ACK timeout, and only while the peer is
 * silent.
 */
#ifndef OCHE_DEVICE_PATH_PEER_PORTS_H
#define OCHE_DEVICE_PATH_PEER_PORTS_H

#include "core/qp/nic.h"

/*
 * Shortest time between two guesses. For peers without an ACK timer: the time between guesses, and
 * how long a port must have been silent. Both follow the defaults of many programs (timeout 14, 7
 * retries).
 */
#define OCHE_PORT_GUESS_LEAST   (4 * OCHE_MS)
#define OCHE_PORT_GUESS_DEFAULT ((UINT64_C(4096) * OCHE_NS) << 14)
#define OCHE_PORT_RETRIES       7
#define OCHE_PORT_MOST          63 /* retries that count */

/* Kinds of packets; the first two have a pin each. */
enum oche_port_kind { OCHE_PORT_REQUESTS, OCHE_PORT_RESPONSES, OCHE_PORT_ASIDE };

struct oche_peer_ports {
    uint16_t port[2];     /* by kind; 0: no port is pinned yet, for either */
    oche_time last_at[2]; /* time of the last packet of this kind from its port; 0: none so far */
    oche_time guess;      /* before this time no packet from another port is looked at */
};

enum oche_port_verdict {
    OCHE_PORT_PINNED,  /* from the peer's port */
    OCHE_PORT_OPEN,    /* no port is pinned yet */
    OCHE_PORT_STRANGE, /* from another port */
};

/* Returns the kind of a packet. */
enum oche_port_kind oche_port_kind(const struct oche_packet *packet);

static inline enum oche_port_verdict oche_peer_ports_judge(const struct oche_peer_ports *ports,
                                                           enum oche_port_kind kind, uint16_t port)
{
    if (OCHE_UNLIKELY(ports->port[0] == 0))
        return OCHE_PORT_OPEN;
    if (kind == OCHE_PORT_ASIDE)
        return port == ports->port[0] || port == ports->port[1] ? OCHE_PORT_PINNED
                                                                : OCHE_PORT_STRANGE;
    return OCHE_LIKELY(port == ports->port[kind]) ? OCHE_PORT_PINNED : OCHE_PORT_STRANGE;
}

/*
 * True if the NIC should get this packet, which is valid otherwise, and for which judge has
 * returned `verdict`. Pins its port if that is due.
 */
bool oche_peer_ports_take(struct oche_peer_ports *ports, enum oche_port_verdict verdict,
                          enum oche_port_kind kind, const struct oche_qp *qp,
                          const struct oche_packet *packet, oche_time now);

#endif
