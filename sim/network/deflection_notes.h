/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notes which messages were deflected, where and when. A switch adds a note when it deflects the
 * first packet of a message (the other packets follow the first). The notes are read after the run.
 * A switch that deflects nothing allocates no notes.
 */
#ifndef OCHE_SIM_NETWORK_DEFLECTION_NOTES_H
#define OCHE_SIM_NETWORK_DEFLECTION_NOTES_H

#include "core/base.h"

#define OCHE_DEFLECTION_NOTES_MOST 65536 /* most notes kept per switch */

struct oche_deflection_note {
    oche_time time;
    uint32_t qpn, psn; /* queue pair at the destination, and PSN of the message's first packet */
    uint16_t in_port, port; /* the switch's ports: the message came in by in_port, left by `port` */
    uint8_t lane, tokens;   /* lane and IOFD tokens with which the message leaves */
};

struct oche_deflection_notes {
    struct oche_deflection_note *notes; /* in order of time */
    uint32_t count, capacity;
    uint64_t dropped; /* notes that were lost because the list was full */
};

void oche_deflection_notes_add(struct oche_deflection_notes *notes,
                               const struct oche_deflection_note *note);
void oche_deflection_notes_free(struct oche_deflection_notes *notes);

#endif
