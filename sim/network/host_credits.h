/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host's end of a link with credits (fabric/ib_link.h). A host consumes what arrives at once, so
 * its buffer is empty again as soon as a packet has arrived. It lets a class send while the other
 * end has room for the largest packet, because the size of the next packet is known only once it is
 * pulled.
 */
#ifndef OCHE_SIM_NETWORK_HOST_CREDITS_H
#define OCHE_SIM_NETWORK_HOST_CREDITS_H

#include "core/base.h"
#include "core/wire/packet.h"

struct oche_host;

/* Creates it from shared->credits. */
void oche_host_credits_start(struct oche_host *host);
/* The first is called when a packet has arrived, the second when the host's endpoint sends one. */
void oche_host_credits_arrived(struct oche_host *host, const struct oche_packet *packet);
void oche_host_credits_sent(struct oche_host *host, const struct oche_packet *packet);
/* Applies flow control packets that have arrived. */
void oche_host_credits_take(struct oche_host *host, const struct oche_packet *frame);
/* Called when the link has gone down or come back. */
void oche_host_credits_link_changed(struct oche_host *host);
/*
 * Sends the flow control packets that are due; the port must be free. Returns false if there were
 * none.
 */
bool oche_host_credits_send(struct oche_host *host, oche_time now);
/*
 * Returns when the link's timer is due. If flow control packets wait for the port, also asks for an
 * event when it is free.
 */
oche_time oche_host_credits_next(struct oche_host *host);
void oche_host_credits_expire(struct oche_host *host, oche_time now);

#endif
