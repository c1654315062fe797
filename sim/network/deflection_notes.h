/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which messages were deflected, where and when. A switch whose mechanisms deflect notes each
 * message that it deflects, when its first packet does (the others follow it). The notes are read
 * after the run. Where nothing is deflected there are none, and they cost nothing.
 */
#ifndef OCHE_SIM_NETWORK_DEFLECTION_NOTES_H
#define OCHE_SIM_NETWORK_DEFLECTION_NOTES_H

#include "core/base.h"

#define OCHE_DEFLECTION_NOTES_MOST 65536 /* per switch */

struct oche_deflection_note {
    oche_time time;
    uint32_t qpn, psn; /* queue pair at the destination, and PSN of the message's first packet */
    uint16_t in_port, port; /* of the switch: where the message came in, and where it was sent */
    uint8_t lane, tokens;   /* lane and IOFD tokens with which it leaves */
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
