/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dart's parameters (dart.c), and functions that read the two texts `weights` and `tenant_shares`.
 */
#ifndef OCHE_CORE_CC_DART_DART_PARAMS_H
#define OCHE_CORE_CC_DART_DART_PARAMS_H

#include "core/cc/dcqcn.h"

#define DART_MOST_TENANTS 256
/*
 * With tenants, n counts fractions of a sender: a sender of weight 1 counts as this many. So a
 * tenant can get other parts of the line than 1/1, 1/2, 1/3, …
 */
#define DART_FRACTIONS 16

enum advertise { ADVERTISE_ALWAYS, ADVERTISE_CONGESTION };
enum share_line { SHARE_LEAST, SHARE_RECEIVER };

struct dart_params {
    struct dcqcn_params dcqcn; /* must be first: DCQCN's hooks read their parameters there */
    oche_time base_rtt, window;
    double line_above, line_below;
    oche_time soft_timeout, linger;
    uint32_t advertise, share_line;
    bool suppress_marks;
    double fill;
    oche_time flight;
    uint64_t least_rate;
    uint64_t stagger_bytes;
    bool updates;
    uint64_t ack_packets;
    bool work_conserving;
    uint64_t work_conserving_windows;
    const char *weights;
    bool look_ahead;
    oche_time look_ahead_timeout;
    uint64_t look_ahead_senders;
    bool look_ahead_updates;
    uint64_t tenants;
    const char *tenant_shares;
};

#define DART_PARAMS 55 /* number of rows in the table */
extern const struct oche_param dart_param_rows[DART_PARAMS];

/*
 * Return a sender's weight, or a tenant's share; 1 if the text does not name the sender or tenant.
 */
uint32_t dart_weight_of(const void *params, uint32_t address);
uint32_t dart_share_of(const struct dart_params *p, uint32_t tenant);

/* Returns how many fractions a sender of weight 1 counts as. */
static inline uint32_t dart_fractions(const struct dart_params *p)
{
    return p->tenants > 1 ? DART_FRACTIONS : 1;
}

/* The scheme's `fit`. */
void dart_fit(void *params, uint64_t free, const struct oche_cc_network *network);
/* The scheme's `check`. */
const char *dart_check(const void *params);
const char *dart_check_hosts(const void *params, uint32_t hosts);

#endif
