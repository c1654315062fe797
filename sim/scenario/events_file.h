/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file of scripted events (fabric/packet_events.h), for the simulator and for `oche exec`:
 *
 *     events:
 *       - {qpn: 0, psn: 5, type: drop, iter: 1}
 *       - {qpn: 0, psn: 7, type: delay, iter: 1, by: 20us}
 *
 * or a test of Lumina, with the events in its list traffic.data-pkt-events. If it also has
 * num-msgs-per-qp, message-size and mtu, each event is for every message, as Lumina has it: a psn
 * counts within the message, and may be `all`. Nothing else of that file is read.
 */
#ifndef OCHE_SIM_SCENARIO_EVENTS_FILE_H
#define OCHE_SIM_SCENARIO_EVENTS_FILE_H

#include "fabric/packet_events.h"
#include "params/error.h"

/*
 * Reads the file into `list`, with room for OCHE_MOST_PACKET_EVENTS. Returns false, with an error
 * that names file and line, if the file cannot be read or is wrong.
 */
bool oche_events_file_read(const char *path, struct oche_packet_event *list, uint32_t *count,
                           struct oche_error *error);

#endif
