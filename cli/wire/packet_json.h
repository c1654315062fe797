/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The output of `oche wire --json`: one object whose first member is the list of packets, a line
 * each, as they are read; the summary's counts follow.
 */
#ifndef OCHE_CLI_WIRE_PACKET_JSON_H
#define OCHE_CLI_WIRE_PACKET_JSON_H

#include "cli/wire/judged.h"

/* Prints a packet whose headers could be read. */
void oche_wire_json_packet(struct oche_wire_report *report, const struct oche_wire_one *one,
                           enum oche_wire_verdict verdict);
/* Prints a RoCEv2 packet that is wrong, or cut, before the end of its headers. */
void oche_wire_json_unread(struct oche_wire_report *report, const struct oche_wire_one *one,
                           enum oche_wire_verdict verdict);
void oche_wire_json_pfc(struct oche_wire_report *report, const struct oche_wire_one *one);
/* Ends the list and prints the counts. */
void oche_wire_json_summary(struct oche_wire_report *report);

#endif
