/* SPDX-License-Identifier: Apache-2.0 */
/* Dart's parameters (dart.c), and what their texts say. */
#ifndef OCHE_CORE_CC_DART_DART_PARAMS_H
#define OCHE_CORE_CC_DART_DART_PARAMS_H

#include "core/cc/dcqcn.h"

#define DART_MOST_TENANTS 256
/*
 * With tenants what is said of a share is in fractions of a sender, so that a tenant's part of the
 * line need not be one over a whole number: by how many each weight is multiplied.
 */
#define DART_FRACTIONS 16

enum advertise { ADVERTISE_ALWAYS, ADVERTISE_CONGESTION };
enum share_line { SHARE_LEAST, SHARE_RECEIVER };

struct dart_params {
    struct dcqcn_params dcqcn; /* first: DCQCN's hooks look there */
    oche_time base_rtt, window;
    double line_above, line_below;
    oche_time soft_timeout;
    uint32_t advertise, share_line;
    double fill;
    bool updates;
    uint64_t ack_packets;
    bool work_conserving;
    uint64_t work_conserving_windows;
    const char *weights;
    bool look_ahead;
    oche_time look_ahead_timeout;
    uint64_t look_ahead_senders;
    uint64_t tenants;
    const char *tenant_shares;
};

#define DART_PARAMS 48 /* rows */
extern const struct oche_param dart_param_rows[DART_PARAMS];

/* A sender's weight, a tenant's share: 1 where the text does not name it. */
uint32_t dart_weight_of(const void *params, uint32_t address);
uint32_t dart_share_of(const struct dart_params *p, uint32_t tenant);

/* How many fractions a weight of 1 has. */
static inline uint32_t dart_fractions(const struct dart_params *p)
{
    return p->tenants > 1 ? DART_FRACTIONS : 1;
}

/* The scheme's `check`. */
const char *dart_check(const void *params);

#endif
