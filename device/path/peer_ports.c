/* SPDX-License-Identifier: Apache-2.0 */
/* Pins: decides which packets set a pin, and which move it. */
#include "device/path/peer_ports.h"

enum oche_port_kind oche_port_kind(const struct oche_packet *packet)
{
    if (oche_opcode_has(packet->opcode, OCHE_OP_REQUEST))
        return OCHE_PORT_REQUESTS;
    return oche_opcode_has(packet->opcode, OCHE_OP_RESPONSE) ? OCHE_PORT_RESPONSES
                                                             : OCHE_PORT_ASIDE;
}

/* Returns the time between two packets from other ports that are looked at. */
static oche_time guess_wait(const struct oche_qp *qp)
{
    const oche_time timeout = oche_qp_ack_timeout(qp);

    if (timeout == 0 || timeout == OCHE_NEVER)
        return OCHE_PORT_GUESS_DEFAULT;
    return timeout > OCHE_PORT_GUESS_LEAST ? timeout : OCHE_PORT_GUESS_LEAST;
}

/* True if no packet of this kind has come from its pinned port for as long as all retries take. */
static bool is_silent(const struct oche_peer_ports *ports, enum oche_port_kind kind,
                      const struct oche_qp *qp, oche_time now)
{
    const oche_time timeout = oche_qp_ack_timeout(qp);
    uint32_t retries = OCHE_PORT_RETRIES;

    if (ports->last_at[kind] == 0)
        return true;
    if (timeout != 0 && timeout != OCHE_NEVER)
        retries =
            oche_qp_retry_count(qp) < OCHE_PORT_MOST ? oche_qp_retry_count(qp) : OCHE_PORT_MOST;
    return now - ports->last_at[kind] > guess_wait(qp) * (retries + 1);
}

static bool take_first(struct oche_peer_ports *ports, enum oche_port_kind kind,
                       const struct oche_qp *qp, const struct oche_packet *packet, oche_time now)
{
    if (kind == OCHE_PORT_ASIDE)
        return oche_qp_transport(qp) != OCHE_TRANSPORT_RC;
    if (oche_qp_fit(qp, packet) == OCHE_FIT_EXPECTED) {
        ports->port[0] = ports->port[1] = packet->udp_source_port;
        ports->last_at[kind] = now;
    }
    return true;
}

/* Moves the pin. A peer that had one port for both kinds and is silent otherwise has moved both. */
static void move_pin(struct oche_peer_ports *ports, enum oche_port_kind kind,
                     const struct oche_qp *qp, uint16_t port, oche_time now)
{
    const enum oche_port_kind other =
        kind == OCHE_PORT_REQUESTS ? OCHE_PORT_RESPONSES : OCHE_PORT_REQUESTS;

    if (ports->port[other] == ports->port[kind] && is_silent(ports, other, qp, now))
        ports->port[other] = port;
    ports->port[kind] = port;
    ports->last_at[kind] = now;
}

static bool take_strange(struct oche_peer_ports *ports, enum oche_port_kind kind,
                         const struct oche_qp *qp, const struct oche_packet *packet, oche_time now)
{
    if (kind == OCHE_PORT_ASIDE || now < ports->guess || !is_silent(ports, kind, qp, now))
        return false;
    ports->guess = now + guess_wait(qp);
    switch (oche_qp_fit(qp, packet)) {
    case OCHE_FIT_EXPECTED:
        move_pin(ports, kind, qp, packet->udp_source_port, now);
        return true;
    case OCHE_FIT_REPEATED: /* to be answered; elsewhere a message may begin at any PSN */
        return oche_qp_transport(qp) == OCHE_TRANSPORT_RC;
    default:
        return false;
    }
}

bool oche_peer_ports_take(struct oche_peer_ports *ports, enum oche_port_verdict verdict,
                          enum oche_port_kind kind, const struct oche_qp *qp,
                          const struct oche_packet *packet, oche_time now)
{
    if (OCHE_UNLIKELY(verdict == OCHE_PORT_OPEN))
        return take_first(ports, kind, qp, packet, now);
    if (OCHE_UNLIKELY(verdict == OCHE_PORT_STRANGE))
        return take_strange(ports, kind, qp, packet, now);
    if (kind != OCHE_PORT_ASIDE)
        ports->last_at[kind] = now;
    return true;
}
