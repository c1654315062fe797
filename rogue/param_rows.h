/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of RoGUE's parameters, for tables whose struct begins with a struct rogue_params: the
 * table of the library, and that of the simulator, which has further rows.
 */
#ifndef OCHE_ROGUE_PARAM_ROWS_H
#define OCHE_ROGUE_PARAM_ROWS_H

#include "rogue/params.h"

extern const char *const rogue_first_batch_names[];
extern const char *const rogue_transport_names[];
extern const char *const rogue_vegas_divisor_names[];

/* clang-format off */
#define ROGUE_PARAM_ROWS \
    OCHE_PRESET_ROW_AT(struct rogue_params, "rogue.md#deployed"), \
    {OCHE_PARAM(struct rogue_params, segment_bytes), OCHE_IS_BYTES(0, 0, 1 << 30), \
     .where = "RoGUE sec 3.1; rogue.md#r17", \
     .help = "longest verb that is posted, and bytes per completion signal; 0: 64KiB below " \
             "25Gbps, 128KiB below 75Gbps, else 256KiB, and below 10Gbps what takes as long " \
             "as 64KiB there, but at least 8KiB"}, \
    {OCHE_PARAM(struct rogue_params, least_batches), OCHE_IS_COUNT(2, 1, 64), \
     .where = "RoGUE sec 3.1", \
     .help = "batches that are posted while there is data, whatever the window"}, \
    {OCHE_PARAM(struct rogue_params, anchor_batches), OCHE_IS_COUNT(16, 0, 1000000), \
     .where = "rogue.md#r22", \
     .help = "after so many batches without a pause the NIC is let run empty, so that errors of " \
             "round trips do not add up; 0: never"}, \
    {OCHE_PARAM(struct rogue_params, anchor_after_hold_off), OCHE_IS_BOOL(false), \
     .where = "rogue.md#r22", \
     .help = "the NIC is let run empty after each hold-off, too: for a NIC whose limiter obeys " \
             "late" }, \
    {OCHE_PARAM(struct rogue_params, first_batch), \
     OCHE_IS_CHOICE(ROGUE_FIRST_WINDOW, rogue_first_batch_names), \
     .where = "RoGUE sec 3.3; rogue.md#r18", \
     .help = "what leaves before the first round trip is known: the initial window alone, or " \
             "least_batches segments"}, \
    {OCHE_PARAM(struct rogue_params, alpha), OCHE_IS_REAL(2, 0, 1e6), \
     .where = "RoGUE sec 4; rogue.md#r1", \
     .help = "packets in queues below which the window grows by one packet"}, \
    {OCHE_PARAM(struct rogue_params, beta), OCHE_IS_REAL(4, 0, 1e6), \
     .where = "RoGUE sec 4; rogue.md#r1", \
     .help = "packets in queues above which the window shrinks by one packet"}, \
    {OCHE_PARAM(struct rogue_params, gamma), OCHE_IS_REAL(1, 0, 1e6), .where = "rogue.md#r3", \
     .help = "packets in queues above which slow start ends"}, \
    {OCHE_PARAM(struct rogue_params, vegas_divisor), \
     OCHE_IS_CHOICE(ROGUE_BY_RTT, rogue_vegas_divisor_names), \
     .where = "RoGUE sec 3.3; rogue.md#r29", \
     .help = "packets in queues are window * (RTT - base RTT) over this: rtt, as in TCP Vegas; " \
             "base_rtt, as in Linux"}, \
    {OCHE_PARAM(struct rogue_params, initial_packets), OCHE_IS_COUNT(10, 1, 1000000), \
     .where = "RoGUE sec 3.3", .help = "initial window in packets"}, \
    {OCHE_PARAM(struct rogue_params, packet_bytes), OCHE_IS_BYTES(0, 0, 1 << 30), \
     .automatic = true, .where = "rogue.md#r2", \
     .help = "a packet in alpha, beta, gamma, initial_packets and in steps of the window; 0: the " \
             "path MTU; auto: 1KB for each 10Gbps of the line, the path MTU at least"}, \
    {OCHE_PARAM(struct rogue_params, most_window), OCHE_IS_REAL(2, 0, 1e6), \
     .where = "rogue.md#r16", \
     .help = "largest window, in line rate times base RTT; 0: no limit"}, \
    {OCHE_PARAM(struct rogue_params, least_rate), \
     OCHE_IS_BPS(10 * OCHE_MBPS, OCHE_KBPS, OCHE_GBPS * 1000), .where = "rogue.md#r8", \
     .help = "lowest rate that the limiter is set to"}, \
    {OCHE_PARAM(struct rogue_params, rate_step), \
     OCHE_IS_BPS(OCHE_GBPS, 1000, OCHE_GBPS * 100000), .where = "RoGUE sec 3.3; rogue.md#r9", \
     .automatic = true, \
     .help = "most that the limiter's rate changes at a time after slow start; auto: 1/10 of the " \
             "line's rate"}, \
    {OCHE_PARAM(struct rogue_params, hold_off_bytes), OCHE_IS_BYTES(160000, 0, 1 << 30), \
     .where = "RoGUE sec 3.3", \
     .help = "bytes after a change of the limiter whose round trips are not used"}, \
    {OCHE_PARAM(struct rogue_params, rate_limiters), OCHE_IS_COUNT(0, 0, 1000000), \
     .where = "RoGUE sec 3.3; rogue.md#r32", \
     .help = "limiters of the NIC: so many connections of a host have work under way, others " \
             "wait for a turn; ConnectX-3 Pro has 8; 0: any number"}, \
    {OCHE_PARAM(struct rogue_params, count_last_gap), OCHE_IS_BOOL(false), \
     .where = "RoGUE sec 3.3; rogue.md#r24", \
     .help = "the limiter's gap after a batch's last packet is taken off the round trip, too" }, \
    {OCHE_PARAM(struct rogue_params, exact_base_rtt), OCHE_IS_BOOL(true), \
     .where = "rogue.md#r28", \
     .help = "RC: the base RTT is taken only while the limiter has not changed since the NIC ran " \
             "empty (with anchor_batches 0 always)"}, \
    {OCHE_PARAM(struct rogue_params, least_base_rtt), OCHE_IS_TIME(0, 0, OCHE_SEC), \
     .where = "RoGUE sec 3.3; rogue.md#r19", \
     .help = "lower bound of the base RTT"}, \
    {OCHE_PARAM(struct rogue_params, base_rtt_age), OCHE_IS_TIME(OCHE_NEVER, OCHE_US, OCHE_NEVER), \
     .where = "rogue.md#r10", \
     .help = "the base RTT is the least of one to two periods of this length; never: of all"}, \
    {OCHE_PARAM(struct rogue_params, clamp), OCHE_IS_BOOL(false), .where = "rogue.md#r3", \
     .help = "when slow start ends, the window becomes what fills the path"}, \
    {OCHE_PARAM(struct rogue_params, transport), OCHE_IS_CHOICE(ROGUE_RC, rogue_transport_names), \
     .where = "RoGUE sec 3.4", \
     .help = "reliable connections, or unreliable ones, whose lost data is not repaired"}, \
    {OCHE_PARAM(struct rogue_params, loss_factor), OCHE_IS_REAL(0.5, 0.0, 1.0), \
     .where = "RoGUE sec 3.4; rogue.md#r7", \
     .help = "UC: factor of the window when a batch is lost"}, \
    {OCHE_PARAM(struct rogue_params, uc_timeout), OCHE_IS_TIME(4 * OCHE_MS, OCHE_US, OCHE_SEC), \
     .where = "RoGUE sec 3.4; rogue.md#r20", \
     .help = "UC: without an echo for this long, or for as long as echoes took so far if that is " \
             "more, all batches count as lost; twice as long each time, up to eight times"}, \
    {OCHE_PARAM(struct rogue_params, shadow), OCHE_IS_BOOL(true), .where = "RoGUE sec 3.5", \
     .help = "RC: a shadow queue pair takes over when one has failed"}, \
    {OCHE_PARAM(struct rogue_params, keep_window), OCHE_IS_BOOL(false), \
     .where = "rogue.md#r23", \
     .help = "RC: the window stays when a queue pair fails; false: it begins anew"}, \
    {OCHE_PARAM(struct rogue_params, hold_ends), OCHE_IS_BOOL(true), \
     .where = "rogue.md#r27", \
     .help = "RC: after a queue pair has failed no verb ends before the peer has heard of it, " \
             "because packets that are late may write into memory"}, \
    {OCHE_PARAM(struct rogue_params, resync_interval), \
     OCHE_IS_TIME(OCHE_MS, OCHE_US, OCHE_SEC), .where = "rogue.md#resync", \
     .help = "between two attempts to bring a failed queue pair back"}, \
    {OCHE_PARAM(struct rogue_params, resync_tries), OCHE_IS_COUNT(1000, 1, 1000000), \
     .where = "rogue.md#resync", \
     .help = "attempts after which the connection has failed"}, \
    {OCHE_PARAM(struct rogue_params, fruitless_switches), OCHE_IS_COUNT(8, 1, UINT32_MAX), \
     .where = "rogue.md#r25", \
     .help = "RC: so many changes of queue pair in a row without a verb that completes, or the " \
             "application's retry count and one if that is less; then the connection has failed"}
/* clang-format on */

#endif
