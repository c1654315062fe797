/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host's end of a link with credits (fabric/ib_link.h). A host takes what arrives at once, so its
 * buffer is empty again when a packet is there. It lets a class send while there is room for the
 * largest packet at the other end: what leaves next is known only when it is pulled.
 */
#ifndef OCHE_SIM_NETWORK_HOST_CREDITS_H
#define OCHE_SIM_NETWORK_HOST_CREDITS_H

#include "core/base.h"
#include "core/wire/packet.h"

struct oche_host;

/* Makes it, for shared->credits. */
void oche_host_credits_start(struct oche_host *host);
/* A packet has arrived; the host's endpoint sends one. */
void oche_host_credits_arrived(struct oche_host *host, const struct oche_packet *packet);
void oche_host_credits_sent(struct oche_host *host, const struct oche_packet *packet);
/* Flow control packets have come. */
void oche_host_credits_take(struct oche_host *host, const struct oche_packet *frame);
/* The link has gone down, or has come back. */
void oche_host_credits_link_changed(struct oche_host *host);
/* Sends those that are due, if some are; the port is free. False: there were none. */
bool oche_host_credits_send(struct oche_host *host, oche_time now);
/* When the link's timer is due. If some wait for the port, it is asked to say when it is free. */
oche_time oche_host_credits_next(struct oche_host *host);
void oche_host_credits_expire(struct oche_host *host, oche_time now);

#endif
