/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host's end of a link with credits (fabric/ib_link.h). A host consumes what arrives at once, so
 * its buffer is empty again as soon as a packet has arrived. The host lets a class send while the
 * other end has room for the largest packet, because the size of the next packet is known only when
 * the endpoint hands it over.
 */
#ifndef OCHE_SIM_NETWORK_HOST_CREDITS_H
#define OCHE_SIM_NETWORK_HOST_CREDITS_H

#include "core/base.h"
#include "core/wire/packet.h"

struct oche_host;

/* Creates host->credits from the parameters in shared->credits. */
void oche_host_credits_start(struct oche_host *host);
/* To be called for each packet that has arrived, and for each that the endpoint sends. */
void oche_host_credits_arrived(struct oche_host *host, const struct oche_packet *packet);
void oche_host_credits_sent(struct oche_host *host, const struct oche_packet *packet);
/* Applies a flow control packet that has arrived. */
void oche_host_credits_take(struct oche_host *host, const struct oche_packet *frame);
/* To be called when the link has gone down or come back. */
void oche_host_credits_link_changed(struct oche_host *host);
/*
 * Sends the next flow control packet that is due; the port must be free. Returns false if none was
 * due.
 */
bool oche_host_credits_send(struct oche_host *host, oche_time now);
/*
 * Returns when the link's timer is due. If flow control packets wait for the port, also asks for an
 * event when it is free.
 */
oche_time oche_host_credits_next(struct oche_host *host);
void oche_host_credits_expire(struct oche_host *host, oche_time now);

#endif
