/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A mechanism that some switches have beside what every switch has (shared buffer, PFC, RED, ECMP,
 * strict priority): one file, one of these tables. A switch calls the hooks of its own mechanisms
 * only, in the order of its configuration; a switch without any pays one test a packet.
 */
#ifndef OCHE_FABRIC_MECHANISM_H
#define OCHE_FABRIC_MECHANISM_H

#include "core/base.h"
#include "core/error.h"
#include "core/param.h"
#include "core/wire/packet.h"

struct oche_switch;
struct oche_switch_config;

/* Something that a mechanism counts, in each switch. */
struct oche_switch_counter {
    const char *name, *help; /* as in metrics: MECHANISM.NAME */
    bool peak;               /* of a network: the largest of its switches', else their sum */
};

struct oche_switch_mechanism {
    const char *name;                      /* as in scenarios */
    const char *help;                      /* one line */
    const struct oche_param_table *params; /* a section of scenarios, by the mechanism's name */
    /* Whether the parameters go together (optional): NULL, or "key: what is wrong; what would be
     * right". */
    const char *(*check)(const void *params);
    bool flow_control;    /* it keeps all classes from overflowing a buffer, in place of PFC */
    bool marks;           /* it marks CE, in place of RED */
    bool rnic_only;       /* it is for the packets of RNICs: of no use with another transport */
    const char *only_for; /* likewise: of no use but with this congestion-control scheme; or NULL */
    /* Lanes that the data class must have for it (optional; see struct oche_switch_config). */
    unsigned (*lanes)(const void *params);

    /* Required: bytes of state per switch, and making it (the memory is zeroed). */
    size_t (*state_bytes)(const struct oche_switch_config *config, const void *params);
    void (*create)(void *state, const struct oche_switch_config *config, const void *params);

    /* Whether such a switch can have it (optional). If not, `text` says "key: what is wrong; what
     * would be right", of the mechanism's section. */
    bool (*fits)(const struct oche_switch_config *config, const void *params,
                 struct oche_error *error);

    /*
     * Route (optional): `port` was chosen for the packet, by ECMP or by the mechanism before.
     * Returns the port that it shall take, or -1: dropped, counted as OCHE_DROP_NO_ROUTE. It may
     * move a packet of a lane to another lane.
     */
    int (*route)(void *state, struct oche_switch *sw, unsigned in_port, struct oche_packet *packet,
                 int port, oche_time now);
    /* Admit (optional): whether a packet may join the queue of `port`; false: dropped, counted as
     * OCHE_DROP_MECHANISM. The buffer is asked after that, and may drop it still. */
    bool (*admit)(void *state, struct oche_switch *sw, unsigned port,
                  const struct oche_packet *packet);
    /* Dropped (optional): the packet came in by `in_port` in class `in_cls` and is gone again. */
    void (*dropped)(void *state, struct oche_switch *sw, unsigned in_port, unsigned in_cls,
                    const struct oche_packet *packet);
    /* Enqueue (optional): the packet was admitted and is not in the queue of `port` yet. */
    void (*enqueue)(void *state, struct oche_switch *sw, unsigned port, struct oche_packet *packet,
                    oche_time now);
    /* Dequeue (optional): the packet has left the queue of `port` and may still be written. */
    void (*dequeue)(void *state, struct oche_switch *sw, unsigned port, struct oche_packet *packet,
                    oche_time now);
    /* Frames of the link (all or none; of one mechanism of a switch at most): one has come from the
     * other end of `port`; and the one that oche_switch_frame_waits has announced can leave now. */
    void (*frame_arrived)(void *state, struct oche_switch *sw, unsigned port,
                          const struct oche_packet *frame, oche_time now);
    void (*frame_take)(void *state, struct oche_switch *sw, unsigned port,
                       struct oche_packet *frame, oche_time now);
    /* Discard (optional): the packet has left the queue of `port`, and is lost: the link is down.
     */
    void (*discard)(void *state, struct oche_switch *sw, unsigned port,
                    const struct oche_packet *packet);
    /* Rerouted (optional): the switch has other routes now; `onward` as in its configuration. */
    void (*rerouted)(void *state, const uint64_t *onward);
    /* Timer (both or none): when `expire` is needed; it must move that beyond `now`. For ports that
     * may send again then: oche_switch_hold, oche_switch_call (fabric/switch_state.h). */
    oche_time (*next)(const void *state);
    void (*expire)(void *state, struct oche_switch *sw, oche_time now);

    /* Counters (all or none): the table, reading as many values, and beginning anew. */
    const struct oche_switch_counter *counters;
    unsigned counter_count;
    void (*read_counters)(const void *state, uint64_t *values);
    void (*reset_counters)(void *state);
};

/* Whether one of the mechanisms stands in for PFC. */
bool oche_switch_has_flow_control(const struct oche_switch_config *config);

#endif
