/* SPDX-License-Identifier: Apache-2.0 */
/* What a Dart NIC thinks of its receiving side: for tests and for who looks for a culprit. */
#ifndef OCHE_CORE_CC_DART_DART_H
#define OCHE_CORE_CC_DART_DART_H

#include "core/cc/cc.h"

/* Where Dart's receiver sees congestion (Dart Fig 5). */
enum oche_dart_state { OCHE_DART_NONE, OCHE_DART_RECEIVER, OCHE_DART_NON_RECEIVER };

struct oche_dart_view {
    enum oche_dart_state state;
    uint32_t senders;  /* in the AUSS */
    uint32_t told;     /* what ACKs and updates say now: of a sender's share the denominator */
    uint64_t timeouts; /* queue pairs that fell silent in the midst of a message, so far */
    uint64_t updates;  /* that were asked for, so far, of all tenants */
    /* Look-ahead, so far: */
    uint64_t groups;      /* whose senders were made to count */
    uint64_t not_come;    /* of these, senders that then did not begin in time */
    uint64_t void_groups; /* lists that were wrong, unknown, another tenant's, or had no place */
};

/* Of a tenant. `nic_state` is that of a NIC whose scheme is dart (oche_cc_nic.state). */
struct oche_dart_view oche_dart_look_at(const void *nic_state, uint32_t tenant);

/* Of tenant 0: of all, where they are not kept apart. */
static inline struct oche_dart_view oche_dart_look(const void *nic_state)
{
    return oche_dart_look_at(nic_state, 0);
}

#endif
