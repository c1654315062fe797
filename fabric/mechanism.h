/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A mechanism that some switches have in addition to what every switch has (shared buffer, PFC,
 * RED, ECMP, strict priority): one file with one of these tables. A switch calls only the hooks of
 * its own mechanisms, in the order of its configuration; a switch without any pays one test per
 * packet. What a mechanism may do to the switch is in fabric/switch_state.h: mark a packet, hold a
 * class back, announce a frame.
 */
#ifndef OCHE_FABRIC_MECHANISM_H
#define OCHE_FABRIC_MECHANISM_H

#include "core/base.h"
#include "core/error.h"
#include "core/param.h"
#include "core/wire/packet.h"

struct oche_switch;
struct oche_switch_config;

/* A quantity that a mechanism counts in each switch. */
struct oche_switch_counter {
    const char *name, *help; /* the metric is called MECHANISM.NAME */
    bool peak;  /* the value for a network is the largest of its switches'; else, the sum */
    bool bytes; /* it counts bytes; otherwise things, such as packets */
};

struct oche_switch_mechanism {
    const char *name; /* as used in scenarios */
    const char *help; /* one line */
    const struct oche_param_table
        *params; /* parameters, which scenarios set in the section of the mechanism's name */
    /*
     * Optional: checks whether the parameters fit together. Returns NULL if they do, else a message
     * "key: what is wrong; what would be right".
     */
    const char *(*check)(const void *params);
    /*
     * Optional: returns true if the mechanism ends every PAUSE that lasts, so that a deadlock under
     * PFC does not last either.
     */
    bool (*ends_pauses)(const void *params);
    bool flow_control; /* the mechanism replaces PFC: it keeps all classes from overflowing a buffer
                        */
    bool marks;        /* the mechanism replaces RED: it calls oche_switch_mark */
    bool rnic_only; /* the mechanism only affects packets of RNICs, so other transports have no use
                       for it */
    /*
     * The mechanism chooses among the equal paths in place of ECMP (fabric/equal_ports.h). Without
     * it, a mechanism with `route` may send packets by other ports than the routes', and has lanes.
     */
    bool balances;
    bool reorders; /* with `balances`: packets of a flow may overtake each other at any time */
    const char *only_for; /* the only congestion-control scheme that has a use for the mechanism;
                             NULL: any scheme */
    /*
     * Optional: returns the number of lanes that the data class must have (see struct
     * oche_switch_config).
     */
    unsigned (*lanes)(const void *params);

    /*
     * Required: the first returns the bytes of state per switch; the second initialises the state,
     * which is zeroed memory.
     */
    size_t (*state_bytes)(const struct oche_switch_config *config, const void *params);
    void (*create)(void *state, const struct oche_switch_config *config, const void *params);

    /*
     * Optional: returns true if a switch of this configuration can have the mechanism. If not,
     * `error` gets "key: what is wrong; what would be right", with a key of the mechanism's
     * section.
     */
    bool (*fits)(const struct oche_switch_config *config, const void *params,
                 struct oche_error *error);

    /*
     * Route (optional): `port` was chosen for the packet, by ECMP or by the previous mechanism.
     * Returns the port to use; -1 means that the packet must be dropped and counted as
     * OCHE_DROP_NO_ROUTE. The hook may move the packet to another lane.
     */
    int (*route)(void *state, struct oche_switch *sw, unsigned in_port, struct oche_packet *packet,
                 int port, oche_time now);
    /*
     * Admit (optional): returns true if a packet may join the queue of `port`; otherwise the packet
     * is dropped and counted as OCHE_DROP_MECHANISM. The shared buffer may still drop an admitted
     * packet.
     */
    bool (*admit)(void *state, struct oche_switch *sw, unsigned port,
                  const struct oche_packet *packet);
    /*
     * Trim (optional, at most one mechanism of a switch): there is no room for the packet at
     * `port`. Returns a packet that the mechanism has cut to a smaller one and moved to the highest
     * class, whose queue it joins at once: `packet` itself, or one that oche_switch_take_last took
     * out of the port's queue, so that there may be room for `packet` now; in this case the shared
     * buffer has room for the smaller one. NULL: the packet is
     * dropped.
     */
    struct oche_packet *(*trim)(void *state, struct oche_switch *sw, unsigned port,
                                struct oche_packet *packet, oche_time now);
    /*
     * Dropped (optional): the packet came in by `in_port` in class `in_cls` and has been dropped.
     */
    void (*dropped)(void *state, struct oche_switch *sw, unsigned in_port, unsigned in_cls,
                    const struct oche_packet *packet);
    /* Enqueue (optional): the packet was admitted but is not yet in the queue of `port`. */
    void (*enqueue)(void *state, struct oche_switch *sw, unsigned port, struct oche_packet *packet,
                    oche_time now);
    /* Dequeue (optional): the packet has left the queue of `port` and may still be changed. */
    void (*dequeue)(void *state, struct oche_switch *sw, unsigned port, struct oche_packet *packet,
                    oche_time now);
    /*
     * Frames of the link (both hooks or neither; at most one mechanism of a switch has them).
     * frame_arrived: a frame has arrived from the other end of `port`. frame_take: the frame that
     * oche_switch_frame_waits announced can leave now.
     */
    void (*frame_arrived)(void *state, struct oche_switch *sw, unsigned port,
                          const struct oche_packet *frame, oche_time now);
    void (*frame_take)(void *state, struct oche_switch *sw, unsigned port,
                       struct oche_packet *frame, oche_time now);
    /*
     * PAUSE arrived (optional, only with `next`): a PFC frame has arrived from the other end of
     * `port`. It takes effect after the port's response time.
     */
    void (*pause_arrived)(void *state, unsigned port, const struct oche_packet *frame,
                          oche_time now);
    /*
     * Discard (optional): the packet has left the queue of `port` and is lost, because the link is
     * down or because a mechanism discarded it (oche_switch_discard).
     */
    void (*discard)(void *state, struct oche_switch *sw, unsigned port,
                    const struct oche_packet *packet);
    /*
     * Rerouted (optional): the switch has new routes. `onward` is the new value of the
     * configuration's member of that name.
     */
    void (*rerouted)(void *state, const uint64_t *onward);
    /*
     * Timer (both hooks or neither): `next` returns when `expire` must be called. `expire` must
     * move that time beyond `now`, and calls oche_switch_hold and oche_switch_call
     * (fabric/switch_state.h) for ports that may send again. `expire` may also make a port ignore
     * PAUSE, and discard packets (oche_switch_ignore_pause, oche_switch_discard).
     */
    oche_time (*next)(const void *state);
    void (*expire)(void *state, struct oche_switch *sw, oche_time now);

    /*
     * Counters (all members or none): the table, a function that reads one value per row, and a
     * function that resets the values.
     */
    const struct oche_switch_counter *counters;
    unsigned counter_count;
    void (*read_counters)(const void *state, uint64_t *values);
    void (*reset_counters)(void *state);
};

/* True if one of the configuration's mechanisms replaces PFC. */
bool oche_switch_has_flow_control(const struct oche_switch_config *config);

#endif
