/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The switches' part of HPCC (Li et al., SIGCOMM 2019; hpcc.md#int): in-network telemetry. When a
 * data packet with telemetry (core/wire/telemetry.h) leaves a port's queue, the switch adds a
 * record: the time, the link's rate, the bytes that the port has sent before, and the bytes that
 * still wait in its queue. Senders and receivers are in core/cc/hpcc.c.
 *
 * As in HPCC-sim, the bytes are those of all classes and kinds of packets. Unlike there, they count
 * gaps between frames, as oche's rates do; HPCC-sim's links have no gaps.
 */
#ifndef OCHE_FABRIC_INT_STAMP_H
#define OCHE_FABRIC_INT_STAMP_H

#include "fabric/mechanism.h"

struct oche_int_stamp_params {
    uint64_t least_queue_bytes;
};

extern const struct oche_switch_mechanism oche_int_stamp;

#endif
