/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small network for the switch's tests: hosts around one switch, full-duplex links with rate,
 * delay and inter-frame gap. Hosts obey PFC and send it. Asserts at each step that the buffer is
 * never overrun, flows stay in order, and a paused class is silent.
 */
#ifndef OCHE_TESTS_FABRIC_LINKS_H
#define OCHE_TESTS_FABRIC_LINKS_H

#include "core/random.h"
#include "fabric/pause.h"
#include "tests/unit/fabric/rig.h"

struct fifo {
    struct oche_packet *head, *tail;
};

/* One end of a link: the packets that wait there, and those on the way to the other end. */
struct end {
    oche_time free_at; /* the transmitter */
    struct fifo flying;
};

struct host {
    struct oche_pause pause;
    struct fifo queue[OCHE_CLASSES];            /* to be sent, when packet->when has come */
    struct fifo pfc;                            /* to be sent, ditto; before all else */
    struct end up, down;                        /* host to switch, switch to host */
    uint32_t next_psn[RIG_PORTS][OCHE_CLASSES]; /* expected, by source */
    /* the switch's transmitter to this host does nothing before this time */
    oche_time stalled_until;
};

struct links {
    struct rig rig;
    struct host hosts[RIG_PORTS];
    unsigned count;
    oche_time now;
    uint64_t sent, delivered, dropped; /* packets that hosts sent, … */
    uint64_t sent_bytes, delivered_bytes, dropped_bytes;
    uint64_t dropped_lossless;
    uint64_t max_occupied;
    uint64_t steps;
    uint64_t hash; /* of deliveries */
    /*
     * The worst case of PFC: a PAUSE frame always finds the line just taken by a frame of one MTU.
     * The test need not provide that frame.
     */
    bool pause_waits_mtu;
};

/* After rig_init and changes to links->rig: makes the switch and hosts. */
void links_make(struct links *links);
void links_free(struct links *links);
/* Host `from` sends `packet` not before `when`. Calls must be in the order of `when`. */
void links_send(struct links *links, unsigned from, struct oche_packet *packet, oche_time when);
/* Host `from` pauses one class of its switch port not before `when`. */
void links_send_pause(struct links *links, unsigned from, unsigned cls, uint16_t quanta,
                      oche_time when);
/* Runs until no packet moves, or until `end`. */
void links_run(struct links *links, oche_time end);
/* Asserts that all is idle: nothing queued or charged, nobody paused, packets conserved. */
void links_at_rest(const struct links *links);

#endif
