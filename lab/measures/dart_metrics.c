/* SPDX-License-Identifier: Apache-2.0 */
/* Dart's shares and look-ahead in numbers. */
#include "lab/measures/dart_metrics.h"

#include <math.h>

#include "core/wire/opcode.h"

static double if_counted(const struct oche_outcome *o, uint64_t count)
{
    return o->totals.scheme_counts ? (double)count : NAN;
}

static double part_of_packets(const struct oche_outcome *o, uint64_t packets)
{
    const uint64_t all = o->marks[OCHE_PLACE_HOST_NIC].packets;

    return all == 0 ? NAN : if_counted(o, packets) / (double)all;
}

/* Of packets of that opcode, each without payload. */
static double part_of_bytes(const struct oche_outcome *o, uint64_t packets, uint8_t opcode)
{
    const uint64_t each = oche_frame_bytes(opcode, 0, o->ipv6) + OCHE_GAP_BYTES;

    return o->host_line_bytes == 0 ? NAN
                                   : if_counted(o, packets * each) / (double)o->host_line_bytes;
}

double oche_dart_updates(const struct oche_outcome *o, unsigned which)
{
    (void)which;
    return if_counted(o, o->totals.nic.cc_packets_sent);
}

double oche_dart_updates_of_packets(const struct oche_outcome *o, unsigned which)
{
    (void)which;
    return part_of_packets(o, o->totals.nic.cc_packets_sent);
}

double oche_dart_updates_of_bytes(const struct oche_outcome *o, unsigned which)
{
    (void)which;
    return part_of_bytes(o, o->totals.nic.cc_packets_sent, OCHE_SHARE);
}

double oche_dart_acks(const struct oche_outcome *o, unsigned which)
{
    (void)which;
    return if_counted(o, o->totals.counts.stamped_acks);
}

double oche_dart_acks_of_packets(const struct oche_outcome *o, unsigned which)
{
    (void)which;
    return part_of_packets(o, o->totals.counts.stamped_acks);
}

double oche_dart_acks_of_bytes(const struct oche_outcome *o, unsigned which)
{
    (void)which;
    return part_of_bytes(o, o->totals.counts.stamped_acks, OCHE_RC_ACK_SHARE);
}

double oche_dart_groups(const struct oche_outcome *o, unsigned which)
{
    (void)which;
    return if_counted(o, o->totals.counts.groups);
}

double oche_dart_not_come(const struct oche_outcome *o, unsigned which)
{
    (void)which;
    return if_counted(o, o->totals.counts.not_come);
}

double oche_dart_void_groups(const struct oche_outcome *o, unsigned which)
{
    (void)which;
    return if_counted(o, o->totals.counts.void_groups);
}
