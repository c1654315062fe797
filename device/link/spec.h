/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A bad network as the user writes it, for `oche exec --link` and OCHE_LINK:
 *
 *     loss=0.1%,delay=50us,jitter=10us:normal,rate=1Gbps,queue=1MB,ecn=100KB..400KB
 *     192.0.2.7:loss=1%                 for one peer; others have other rules, or no faults
 *     loss=0|at=3s,loss=1%|at=5s,loss=0 changes by time since the device was opened
 *
 * A rule is a list of steps, separated by |. A step is a list of KEY=VALUE, where KEY is a row of
 * oche_link_params (fabric/link.h). A step keeps the values of the step before it. Some keys belong
 * together, and have a short form:
 *
 *     jitter=10us:normal                jitter=10us,jitter_shape=normal
 *     reorder=1%:by=20us                reorder=1%,reorder_by=20us
 *     spray=4:by=3us                    spray=4,spray_by=3us
 *     burst_loss=1%:length=20           burst_loss=1%,burst_loss_length=20
 *     corrupt=1e-9:bit                  corrupt=1e-9,corrupt_per=bit
 *     ecn=100KB..400KB:pmax=1%          ecn_min=100KB,ecn_max=400KB,ecn_pmax=1%
 *     flap=2s/100ms                     flap_up=2s,flap_down=100ms
 */
#ifndef OCHE_DEVICE_LINK_SPEC_H
#define OCHE_DEVICE_LINK_SPEC_H

#include "device/path/address.h"
#include "fabric/link.h"
#include "params/error.h"

#define OCHE_LINK_RULES      16   /* most rules in a plan */
#define OCHE_LINK_STEPS      64   /* most steps of all rules together */
#define OCHE_LINK_TEXT_BYTES 4096 /* longest text of a rule */

/* Directions, as a mask. */
#define OCHE_LINK_IN   UINT8_C(1)
#define OCHE_LINK_OUT  UINT8_C(2)
#define OCHE_LINK_BOTH UINT8_C(3)

struct oche_link_step {
    oche_time at; /* since the device was opened; steps of a rule are in the order of time */
    struct oche_link_params params;
};

struct oche_link_rule {
    bool of_peer; /* for `peer` alone; false: for all peers that have no rule of their own */
    struct oche_address peer;
    uint8_t directions;    /* OCHE_LINK_IN, OCHE_LINK_OUT */
    unsigned first, count; /* its steps in the plan's */
};

/* All rules of a device. Zeroed: none. */
struct oche_link_plan {
    unsigned rule_count, step_count;
    struct oche_link_rule rules[OCHE_LINK_RULES];
    struct oche_link_step steps[OCHE_LINK_STEPS];
};

/*
 * Adds a rule to the plan. Returns false, with an error, if the text is wrong, or if a rule of the
 * plan has the same peer and direction; the plan must not be used then.
 */
bool oche_link_plan_add(struct oche_link_plan *plan, uint8_t directions, const char *text,
                        struct oche_error *error);
/* The same for several rules, separated by semicolons. */
bool oche_link_plan_add_all(struct oche_link_plan *plan, uint8_t directions, const char *text,
                            struct oche_error *error);
/* Adds a rule with a loss of `ppm` packets in a million: the spelling OCHE_DROP. */
bool oche_link_plan_add_loss(struct oche_link_plan *plan, uint8_t directions, uint32_t ppm,
                             struct oche_error *error);

/*
 * Cuts "192.0.2.7:" or "[2001:db8::7]:" off the text, if it begins so; *has_peer says if it does.
 * Returns false, with an error, if the address is wrong.
 */
bool oche_link_peer_cut(char **text, struct oche_address *peer, bool *has_peer,
                        struct oche_error *error);
/*
 * Changes parameters by a list of KEY=VALUE, without `at`. Returns false, with an error, if the
 * text is wrong.
 */
bool oche_link_params_parse(struct oche_link_params *params, const char *text,
                            struct oche_error *error);

#endif
