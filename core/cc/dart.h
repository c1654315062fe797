/* SPDX-License-Identifier: Apache-2.0 */
/* What a Dart NIC thinks of its receiving side: for tests and for who looks for a culprit. */
#ifndef OCHE_CORE_CC_DART_H
#define OCHE_CORE_CC_DART_H

#include "core/cc/cc.h"

/* Where Dart's receiver sees congestion (Dart Fig 5). */
enum oche_dart_state { OCHE_DART_NONE, OCHE_DART_RECEIVER, OCHE_DART_NON_RECEIVER };

struct oche_dart_view {
    enum oche_dart_state state;
    uint32_t senders;  /* in the AUSS */
    uint32_t told;     /* what ACKs and updates say now: of a sender's share the denominator */
    uint64_t timeouts; /* queue pairs that fell silent in the midst of a message, so far */
    uint64_t updates;  /* that were asked for, so far */
};

/* `nic_state` is that of a NIC whose scheme is dart (oche_cc_nic.state). */
struct oche_dart_view oche_dart_look(const void *nic_state);

#endif
