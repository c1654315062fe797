/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A mechanism that some switches have beside what every switch has (shared buffer, PFC, RED, ECMP,
 * strict priority): one file, one of these tables. A switch calls the hooks of its own mechanisms
 * only, in the order of its configuration; a switch without any pays one test a packet.
 */
#ifndef OCHE_FABRIC_MECHANISM_H
#define OCHE_FABRIC_MECHANISM_H

#include "core/base.h"
#include "core/param.h"
#include "core/wire/packet.h"

struct oche_switch;
struct oche_switch_config;

struct oche_switch_mechanism {
    const char *name;                      /* as in scenarios */
    const struct oche_param_table *params; /* or NULL */

    /* Required: bytes of state per switch, and making it (the memory is zeroed). */
    size_t (*state_bytes)(const struct oche_switch_config *config, const void *params);
    void (*create)(void *state, const struct oche_switch_config *config, const void *params);

    /*
     * Route (optional): `port` was chosen for the packet, by ECMP or by the mechanism before.
     * Returns the port that it shall take, or -1: dropped, counted as OCHE_DROP_NO_ROUTE.
     */
    int (*route)(void *state, struct oche_switch *sw, unsigned in_port, struct oche_packet *packet,
                 int port, oche_time now);
    /* Enqueue (optional): the packet was admitted and is not in the queue of `port` yet. */
    void (*enqueue)(void *state, struct oche_switch *sw, unsigned port, struct oche_packet *packet,
                    oche_time now);
    /* Dequeue (optional): the packet has left the queue of `port` and may still be written. */
    void (*dequeue)(void *state, struct oche_switch *sw, unsigned port, struct oche_packet *packet,
                    oche_time now);
    /* Timer (both or none): when `expire` is needed; it must move that beyond `now`. */
    oche_time (*next)(const void *state);
    void (*expire)(void *state, struct oche_switch *sw, oche_time now);
};

#endif
