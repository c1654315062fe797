/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notes which port paused which other port, when, and why. A switch notes each PAUSE and RESUME
 * that it sends, except refreshes of a PAUSE. Whoever runs the network reads the notes between
 * windows, when no shard runs. A switch allocates notes at the first PFC frame that it sends or
 * receives.
 */
#ifndef OCHE_SIM_NETWORK_PAUSE_NOTES_H
#define OCHE_SIM_NETWORK_PAUSE_NOTES_H

#include "core/base.h"

#define OCHE_PAUSE_NOTES_MOST 65536 /* most notes kept per switch between two readings */
#define OCHE_NO_PORT          UINT32_MAX

struct oche_pause_note {
    oche_time time; /* when the frame begins to leave */
    uint32_t port;  /* the port that sends it: global number of the ingress port */
    uint8_t cls;
    bool on;           /* true: PAUSE; false: RESUME */
    bool held;         /* PAUSE: the causing queue is long because its port was held */
    uint32_t cause;    /* PAUSE: egress port of the causing queue, which has most bytes of cls; or
                          OCHE_NO_PORT */
    uint8_t cause_cls; /* PAUSE: the class of the causing queue */
    uint32_t bytes;    /* PAUSE: bytes of the ingress class in the causing queue */
    uint32_t ingress_bytes; /* PAUSE: bytes of the ingress class in all queues */
};

struct oche_pause_notes {
    struct oche_pause_note *notes; /* in order of time */
    uint32_t count, capacity;
    uint64_t dropped; /* notes lost since the run began because the list was full */
};

void oche_pause_notes_add(struct oche_pause_notes *notes, const struct oche_pause_note *note);
void oche_pause_notes_free(struct oche_pause_notes *notes);

#endif
