/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who paused whom, when, and why: a switch notes each PAUSE and RESUME that it sends (refreshes
 * are neither). Whoever runs the network takes the notes between windows, when no shard runs. A
 * switch has this from its first PFC frame on, sent or received; without any it costs nothing.
 */
#ifndef OCHE_SIM_NETWORK_PAUSE_NOTES_H
#define OCHE_SIM_NETWORK_PAUSE_NOTES_H

#include "core/base.h"

#define OCHE_PAUSE_NOTES_MOST 65536 /* of a switch, from one taking to the next */
#define OCHE_NO_PORT          UINT32_MAX

struct oche_pause_note {
    oche_time time; /* the frame begins to leave */
    uint32_t port;  /* that sends it: global number of the ingress port */
    uint8_t cls;
    bool on;                /* PAUSE, else RESUME */
    bool held;              /* PAUSE: the cause is itself long because it was held */
    uint32_t cause;         /* PAUSE: the egress port whose queue holds most of the class; or
                               OCHE_NO_PORT */
    uint8_t cause_cls;      /* PAUSE: the queue's class */
    uint32_t bytes;         /* PAUSE: of the ingress class, in that queue, */
    uint32_t ingress_bytes; /* and in all */
};

struct oche_pause_notes {
    struct oche_pause_note *notes; /* by time */
    uint32_t count, capacity;
    uint64_t dropped; /* since the run began: there were too many */
};

void oche_pause_notes_add(struct oche_pause_notes *notes, const struct oche_pause_note *note);
void oche_pause_notes_free(struct oche_pause_notes *notes);

#endif
