/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who was sent another way, where and when: a switch whose mechanisms deflect notes each message
 * that it does so with (its first packet; the others follow). Read after the run. Where nothing
 * deflects there are no notes, and they cost nothing.
 */
#ifndef OCHE_SIM_NETWORK_DEFLECTION_NOTES_H
#define OCHE_SIM_NETWORK_DEFLECTION_NOTES_H

#include "core/base.h"

#define OCHE_DEFLECTION_NOTES_MOST 65536 /* of a switch */

struct oche_deflection_note {
    oche_time time;
    uint32_t qpn, psn;      /* of the message's first packet, at its destination */
    uint16_t in_port, port; /* of the switch: it came by, it leaves by */
    uint8_t lane, tokens;   /* that it leaves in, and with */
};

struct oche_deflection_notes {
    struct oche_deflection_note *notes; /* by time */
    uint32_t count, capacity;
    uint64_t dropped; /* there were too many */
};

void oche_deflection_notes_add(struct oche_deflection_notes *notes,
                               const struct oche_deflection_note *note);
void oche_deflection_notes_free(struct oche_deflection_notes *notes);

#endif
