/* SPDX-License-Identifier: Apache-2.0 */
/* The parameter tables. Dart sec VI says: New Reno, IW 10, RTO 10 ms, 300 us of overhead. */
#include "sim/endpoint/tcp_dctcp/params.h"

#define LARGEST_WINDOW  (UINT64_C(65535) << 14) /* RFC 7323 sec 2.3 */
#define LARGEST_SEGMENT 8940                    /* MSS of a jumbo frame */
#define ROUND_TRIPS     4                       /* in an rto_initial that is left to the network */
#define DART_INITIAL    (10 * OCHE_MS)          /* at least so much */

static const struct oche_param params[] = {
    OCHE_PRESET_ROW_AT(struct oche_tcp_params, "dctcp.md#deployed"),
    {OCHE_PARAM_AS("mss", struct oche_tcp_params, mss_bytes),
     OCHE_IS_BYTES(1460, 64, LARGEST_SEGMENT), .where = "RFC 9293 sec 3.7.1",
     .help = "payload of a full segment; host.mtu is for queue pairs only"},
    {OCHE_PARAM(struct oche_tcp_params, initial_window), OCHE_IS_COUNT(10, 1, 100000),
     .where = "Dart sec VI-A; RFC 6928 sec 2",
     .help = "segments that a fresh connection may have in flight"},
    {OCHE_PARAM(struct oche_tcp_params, least_window), OCHE_IS_COUNT(2, 1, 100000),
     .where = "our choice (as Linux)",
     .help = "segments that marks leave a connection at least; a timeout leaves it one"},
    {OCHE_PARAM(struct oche_tcp_params, receive_window), OCHE_IS_BYTES(4000000, 1, LARGEST_WINDOW),
     .where = "RFC 9293 sec 3.8.6", .help = "a connection has no more in flight; at least an mss"},
    {OCHE_PARAM(struct oche_tcp_params, os_overhead), OCHE_IS_TIME(300 * OCHE_US, 0, OCHE_SEC),
     .where = "Dart sec VI-A",
     .help = "of each transfer: from the start of the flow until its first byte may leave"},
    {OCHE_PARAM(struct oche_tcp_params, rto_min),
     OCHE_IS_TIME(10 * OCHE_MS, OCHE_US, 60 * OCHE_SEC), .where = "Dart sec VI-A",
     .help = "the retransmission timeout is never below this"},
    {OCHE_PARAM(struct oche_tcp_params, rto_initial),
     OCHE_IS_TIME(DART_INITIAL, OCHE_US, 60 * OCHE_SEC), .zero_is_auto = true,
     .where = "Dart sec VI-A; RFC 6298 sec 2.1 (1 s)",
     .help = "the retransmission timeout before the first round trip is measured; auto: four times "
             "the longest round trip of the empty network, 10ms at least"},
    {OCHE_PARAM(struct oche_tcp_params, rto_max),
     OCHE_IS_TIME(60 * OCHE_SEC, OCHE_US, 3600 * OCHE_SEC), .where = "RFC 6298 sec 2.5",
     .help = "the retransmission timeout doubles with each timeout, up to this, until the round "
             "trip of new data is measured"},
    {OCHE_PARAM(struct oche_tcp_params, retries), OCHE_IS_COUNT(15, 0, 1000000),
     .where = "our choice (as Linux)",
     .help = "timeouts without progress before the connection fails"},
    {OCHE_PARAM(struct oche_tcp_params, ack_every), OCHE_IS_COUNT(2, 1, 1000),
     .where = "RFC 5681 sec 4.2",
     .help = "one ACK for this many segments that arrive in order; 1: no ACK is delayed"},
    {OCHE_PARAM(struct oche_tcp_params, ack_delay), OCHE_IS_TIME(500 * OCHE_US, 0, 500 * OCHE_MS),
     .where = "our choice (RFC 5681: 500 ms at most)",
     .help = "longest time that an ACK waits for more segments; below rto_min"},
    {OCHE_PARAM(struct oche_tcp_params, ack_priority), OCHE_IS_BOOL(true), .where = "Dart sec VI-A",
     .help = "ACKs travel in the high-priority queues; false: with the data"},
    {OCHE_PARAM(struct oche_tcp_params, lossless), OCHE_IS_BOOL(false), .where = "our choice",
     .help = "PFC, if the switches have it, pauses TCP too; false: they drop (egress_alpha, "
             "port_buffer)"},
    {OCHE_PARAM(struct oche_tcp_params, handshake), OCHE_IS_BOOL(false), .where = "our choice",
     .help = "a connection begins with SYN and SYN-ACK; false: it is open from before"},
    {OCHE_PARAM(struct oche_tcp_params, port_buffer), OCHE_IS_BYTES(0, 0, UINT64_C(0x7fffffff)),
     .where = "Dart sec VI-A",
     .help = "switches drop packets that would take a port above this; 0: by switch.port_buffer"},
    {OCHE_PARAM(struct oche_tcp_params, g), OCHE_IS_REAL(1.0 / 16, 1.0 / 65536, 1),
     .where = "DCTCP sec 3.1; RFC 8257 sec 4.2", .help = "weight of the newest window in alpha"},
    {OCHE_PARAM(struct oche_tcp_params, initial_alpha), OCHE_IS_REAL(1, 0, 1),
     .where = "RFC 8257 sec 3.3", .help = "1: the first mark halves the window"},
    {OCHE_PARAM_AS("k", struct oche_tcp_params, k_bytes), OCHE_IS_BYTES(0, 0, UINT64_C(0x7fffffff)),
     .where = "DCTCP sec 3.1",
     .help = "switches mark every packet above this queue; 0: by switch.kmin, kmax and pmax"},
};

#define DCTCP_ONLY 3
#define COUNT      OCHE_COUNT_OF(params)

static const struct oche_deployed in_use[] = {
    {"os_overhead", {.u = 10 * OCHE_US}},
    {"ack_delay", {.u = 20 * OCHE_US}},
    {"rto_initial", {.u = 0}},
};

const struct oche_param_table oche_tcp_table = {.params = params,
                                                .count = COUNT - DCTCP_ONLY,
                                                .struct_bytes = sizeof(struct oche_tcp_params),
                                                .deployed = in_use,
                                                .deployed_count = OCHE_COUNT_OF(in_use)};
const struct oche_param_table oche_dctcp_table =
    OCHE_PARAM_TABLE_DEPLOYED(params, struct oche_tcp_params, in_use);

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

void oche_tcp_fit(void *values, oche_time longest_round_trip)
{
    struct oche_tcp_params *p = values;
    oche_time trips = (ROUND_TRIPS * longest_round_trip + OCHE_US - 1) / OCHE_US * OCHE_US;

    if (p->rto_initial == 0)
        p->rto_initial = oche_time_min(oche_time_max(DART_INITIAL, trips), p->rto_max);
}

const char *oche_tcp_unfit(const void *values, oche_time longest_round_trip)
{
    const struct oche_tcp_params *p = values;

    if (p->rto_max < longest_round_trip)
        return "more than rto_max, so that segments are sent again that have arrived";
    if (oche_time_max(p->rto_initial, p->rto_min) < longest_round_trip)
        return "more than rto_initial, so that segments are sent again that have arrived";
    return NULL;
}
