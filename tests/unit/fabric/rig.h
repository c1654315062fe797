/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Common code of the switch's tests: a star that is made with few lines (address i is at port i of
 * one switch), and packets for it.
 */
#ifndef OCHE_TESTS_FABRIC_RIG_H
#define OCHE_TESTS_FABRIC_RIG_H

#include "tests/support/test.h"

#include "fabric/switch.h"

#define RIG_PORTS 64
#define RIG_MTU   1500

struct rig {
    struct oche_switch_params params; /* set by rig_init; change them before rig_make */
    struct oche_switch_config config;
    struct oche_switch_port_config ports[RIG_PORTS];
    uint32_t group_of[RIG_PORTS];
    uint16_t port_of_address[RIG_PORTS];
    struct oche_switch *sw;
};

/* Defaults: 40 Gbit/s, 1 us, MTU 1500, two lossless classes, 2 PFC priorities. */
void rig_init(struct rig *rig, unsigned ports);
void rig_make(struct rig *rig);
/* Empties the switch, asserts that no byte remains charged, and frees it. */
void rig_free(struct rig *rig);
/* The switch's invariants hold (fabric/invariants.h). */
void rig_check(const struct rig *rig);

/* A fresh packet of `bytes` to address `dst`; rig_discard frees it. */
struct oche_packet *rig_packet(uint32_t dst, unsigned cls, uint16_t bytes);
void rig_discard(struct oche_packet *packet);

/*
 * A packet of `bytes` goes in at `in`, to `out`. True if the switch took it; otherwise it is freed.
 */
bool rig_in(struct rig *rig, unsigned in, unsigned out, unsigned cls, uint16_t bytes,
            oche_time now);
/* Frees the packet that leaves `out` now. Returns its frame bytes, 0 if nothing left. */
unsigned rig_out(struct rig *rig, unsigned out, oche_time now);

/*
 * Returns the pause of `cls` in the PFC frame that waits at `port`: 0xffff quanta, 0, or -1 (not
 * named).
 */
int rig_pause_frame(struct rig *rig, unsigned port, unsigned cls, oche_time now);
/* A PFC frame for one class arrives at `port`. */
void rig_pause(struct rig *rig, unsigned port, unsigned cls, uint16_t quanta, oche_time now);

struct oche_switch_port_stats rig_stats(const struct rig *rig, unsigned port, oche_time now);

#endif
