/* SPDX-License-Identifier: Apache-2.0 */
/* The parameter tables. Dart sec VI says: New Reno, IW 10, RTO 10 ms, 300 us of overhead. */
#include "sim/endpoint/tcp_dctcp/params.h"

#define FIELD(member)   offsetof(struct oche_tcp_params, member)
#define LARGEST_WINDOW  (UINT64_C(65535) << 14) /* RFC 7323 sec 2.3 */
#define LARGEST_SEGMENT 8940                    /* a jumbo frame's */

static const struct oche_param params[] = {
    {.name = "mss",
     .unit = OCHE_UNIT_BYTES,
     .offset = FIELD(mss_bytes),
     .preset.u = 1460,
     .minimum.u = 64,
     .maximum.u = LARGEST_SEGMENT,
     .where = "RFC 9293 sec 3.7.1",
     .help = "payload of a full segment; host.mtu is of queue pairs"},
    {.name = "initial_window",
     .unit = OCHE_UNIT_COUNT,
     .offset = FIELD(initial_window),
     .preset.u = 10,
     .minimum.u = 1,
     .maximum.u = 100000,
     .where = "Dart sec VI, RFC 6928",
     .help = "segments that a fresh connection may have in flight"},
    {.name = "least_window",
     .unit = OCHE_UNIT_COUNT,
     .offset = FIELD(least_window),
     .preset.u = 2,
     .minimum.u = 1,
     .maximum.u = 100000,
     .where = "our choice, as Linux",
     .help = "segments that marks leave a connection at least; a timeout leaves it one"},
    {.name = "receive_window",
     .unit = OCHE_UNIT_BYTES,
     .offset = FIELD(receive_window),
     .preset.u = 4000000,
     .minimum.u = 1,
     .maximum.u = LARGEST_WINDOW,
     .where = "RFC 9293 sec 3.8.6",
     .help = "a connection has no more in flight; at least an mss"},
    {.name = "os_overhead",
     .unit = OCHE_UNIT_TIME,
     .offset = FIELD(os_overhead),
     .preset.u = 300 * OCHE_US,
     .minimum.u = 0,
     .maximum.u = OCHE_SEC,
     .where = "Dart sec VI",
     .help = "of each transfer: from the start of the flow until its first byte may leave"},
    {.name = "rto_min",
     .unit = OCHE_UNIT_TIME,
     .offset = FIELD(rto_min),
     .preset.u = 10 * OCHE_MS,
     .minimum.u = OCHE_US,
     .maximum.u = 60 * OCHE_SEC,
     .where = "Dart sec VI",
     .help = "the retransmission timeout is never below"},
    {.name = "rto_initial",
     .unit = OCHE_UNIT_TIME,
     .offset = FIELD(rto_initial),
     .preset.u = 10 * OCHE_MS,
     .minimum.u = OCHE_US,
     .maximum.u = 60 * OCHE_SEC,
     .where = "Dart sec VI (RFC 6298: 1 s)",
     .help = "the retransmission timeout before the first round trip is measured"},
    {.name = "rto_max",
     .unit = OCHE_UNIT_TIME,
     .offset = FIELD(rto_max),
     .preset.u = 60 * OCHE_SEC,
     .minimum.u = OCHE_US,
     .maximum.u = 3600 * OCHE_SEC,
     .where = "RFC 6298 sec 2.5",
     .help = "it doubles with each timeout, up to this"},
    {.name = "retries",
     .unit = OCHE_UNIT_COUNT,
     .offset = FIELD(retries),
     .preset.u = 15,
     .minimum.u = 0,
     .maximum.u = 1000000,
     .where = "our choice, as Linux",
     .help = "timeouts without progress before the connection fails"},
    {.name = "ack_every",
     .unit = OCHE_UNIT_COUNT,
     .offset = FIELD(ack_every),
     .preset.u = 2,
     .minimum.u = 1,
     .maximum.u = 1000,
     .where = "RFC 5681 sec 4.2",
     .help = "one ACK for so many segments that come in order; 1: no ACK is delayed"},
    {.name = "ack_delay",
     .unit = OCHE_UNIT_TIME,
     .offset = FIELD(ack_delay),
     .preset.u = 500 * OCHE_US,
     .minimum.u = 0,
     .maximum.u = 500 * OCHE_MS,
     .where = "our choice (RFC 5681: 500 ms at most)",
     .help = "an ACK waits so long at most for more segments; below rto_min"},
    {.name = "ack_priority",
     .unit = OCHE_UNIT_BOOL,
     .offset = FIELD(ack_priority),
     .preset.u = 1,
     .where = "Dart sec VI-A",
     .help = "ACKs travel in the high-priority queues; false: with the data"},
    {.name = "lossless",
     .unit = OCHE_UNIT_BOOL,
     .offset = FIELD(lossless),
     .preset.u = 0,
     .where = "our choice",
     .help = "PFC, if the switches have it, pauses TCP too; false: they drop (egress_alpha, "
             "port_buffer)"},
    {.name = "handshake",
     .unit = OCHE_UNIT_BOOL,
     .offset = FIELD(handshake),
     .preset.u = 0,
     .where = "our choice",
     .help = "a connection begins with SYN and SYN-ACK; false: it is open from before"},
    {.name = "port_buffer",
     .unit = OCHE_UNIT_BYTES,
     .offset = FIELD(port_buffer),
     .preset.u = 0,
     .minimum.u = 0,
     .maximum.u = UINT64_C(0x7fffffff),
     .where = "Dart sec VI",
     .help = "switches drop what comes to more than this at a port; 0: by switch.port_buffer"},
    {.name = "g",
     .unit = OCHE_UNIT_REAL,
     .offset = FIELD(g),
     .preset.real = 1.0 / 16,
     .minimum.real = 1.0 / 65536,
     .maximum.real = 1,
     .where = "DCTCP sec 3.1, RFC 8257 sec 4.2",
     .help = "weight of the newest window in alpha"},
    {.name = "initial_alpha",
     .unit = OCHE_UNIT_REAL,
     .offset = FIELD(initial_alpha),
     .preset.real = 1,
     .minimum.real = 0,
     .maximum.real = 1,
     .where = "RFC 8257 sec 3.3",
     .help = "1: the first mark halves the window"},
    {.name = "k",
     .unit = OCHE_UNIT_BYTES,
     .offset = FIELD(k_bytes),
     .preset.u = 0,
     .minimum.u = 0,
     .maximum.u = UINT64_C(0x7fffffff),
     .where = "DCTCP sec 3.1",
     .help = "switches mark every packet above this queue; 0: by switch.kmin, kmax and pmax"},
};

#define DCTCP_ONLY 3
#define COUNT      (sizeof(params) / sizeof(params[0]))

const struct oche_param_table oche_tcp_table = {
    .params = params, .count = COUNT - DCTCP_ONLY, .struct_bytes = sizeof(struct oche_tcp_params)};
const struct oche_param_table oche_dctcp_table = {
    .params = params, .count = COUNT, .struct_bytes = sizeof(struct oche_tcp_params)};

const char *oche_tcp_check(const void *values)
{
    const struct oche_tcp_params *p = values;

    if (p->receive_window < p->mss_bytes)
        return "receive_window: has no room for a segment; make it mss or more";
    if (p->lossless && p->port_buffer != 0)
        return "port_buffer: nothing is dropped with lossless: true; make that false, or this 0";
    if (p->rto_max < p->rto_min)
        return "rto_max: is below rto_min; make it as long or longer";
    if (p->rto_max < p->rto_initial)
        return "rto_max: is below rto_initial; make it as long or longer";
    if (p->ack_every > 1 && p->ack_delay >= p->rto_min)
        return "ack_delay: senders would time out first; make it shorter than rto_min";
    return NULL;
}
