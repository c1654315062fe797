/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a Dart NIC's receiving side, for tests and for finding culprits. */
#ifndef OCHE_CORE_CC_DART_DART_H
#define OCHE_CORE_CC_DART_DART_H

#include "core/cc/cc.h"

/* Where Dart's receiver sees congestion (Dart Fig 5). */
enum oche_dart_state { OCHE_DART_NONE, OCHE_DART_RECEIVER, OCHE_DART_NON_RECEIVER };

struct oche_dart_view {
    enum oche_dart_state state;
    uint32_t senders; /* number of senders in the AUSS */
    uint32_t told; /* the value now told in ACKs and updates: the denominator of a sender's share */
    uint64_t timeouts; /* how often a queue pair fell silent in the middle of a message */
    uint64_t updates;  /* number of updates asked for so far, for all tenants */
    /* Look-ahead, so far: */
    uint64_t groups;   /* groups whose senders were added to the AUSS */
    uint64_t not_come; /* senders of those groups that did not begin in time */
    /* lists that were invalid, unknown or another tenant's, or found no room */
    uint64_t void_groups;
};

/*
 * Returns the view of one tenant. `nic_state` is the oche_cc_nic.state of a NIC whose scheme is
 * dart.
 */
struct oche_dart_view oche_dart_look_at(const void *nic_state, uint32_t tenant);

/* Returns the view of tenant 0, which covers all senders if tenants are not configured. */
static inline struct oche_dart_view oche_dart_look(const void *nic_state)
{
    return oche_dart_look_at(nic_state, 0);
}

#endif
