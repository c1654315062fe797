/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scripted events (fabric/packet_events.h) as one line of text, for the variable OCHE_EVENTS:
 *
 *     QPN:PSN:ITER:TYPE,QPN:PSN:ITER:TYPE,…        0:5:1:drop,0:5:2:drop
 *     0:7:1:delay=20us,1:0:1:reorder=3             with `by`
 *
 * `oche exec --events` writes it from a file, and the verbs library, which has no reader of YAML,
 * reads it.
 */
#ifndef OCHE_DEVICE_LINK_EVENT_TEXT_H
#define OCHE_DEVICE_LINK_EVENT_TEXT_H

#include "fabric/packet_events.h"
#include "params/error.h"

#define OCHE_EVENT_TEXT_BYTES 160 /* enough for one event, with a comma or the final 0 */

/* Writes one event, without a comma. */
void oche_event_text_write(const struct oche_packet_event *event, char text[OCHE_EVENT_TEXT_BYTES]);

/*
 * Reads events into `list`, with room for OCHE_MOST_PACKET_EVENTS. Returns false, with an error, if
 * the text is wrong, has no event, or has two for one packet.
 */
bool oche_event_text_read(const char *text, struct oche_packet_event *list, uint32_t *count,
                          struct oche_error *error);

#define OCHE_EVENT_REPORT_BYTES 320
/*
 * Writes what has happened, for people: "drop 2, ecn 1; never happened: 1, the first qpn 0 psn 9
 * iter 1 drop". `first_left`: the first event that has not happened, if any.
 */
void oche_event_text_report(const struct oche_packet_event_counts *counts,
                            const struct oche_packet_event *first_left,
                            char text[OCHE_EVENT_REPORT_BYTES]);

#endif
