/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every fifth run of random work has a rough link. It loses a twentieth of the packets, doubles and
 * damages as many, and delays some by many round trips. Congestion control is cubic; its window is
 * then about one packet, so READs leave in pieces of one packet. Most READs have a few full packets
 * and a short last one.
 */
#include "core/cc/cc.h"
#include "tests/property/qp_work.h"

#define ROUGH_SEEDS 5
#define CC_PARAMS   256 /* bytes */

static const struct oche_cc_scheme *cubic_of(uint64_t params[CC_PARAMS / 8],
                                             struct oche_random *random)
{
    const struct oche_cc_scheme *cubic = oche_cc_find("cubic");

    OCHE_MUST(cubic != NULL && cubic->table.struct_bytes <= CC_PARAMS);
    oche_param_defaults(&cubic->table, params);
    oche_param_set(oche_param_find(&cubic->table, "initial_window"), params,
                   (union oche_value){.u = 1 + oche_random_below(random, 10)});
    oche_param_set(oche_param_find(&cubic->table, "undo"), params,
                   (union oche_value){.u = oche_random_below(random, 2)});
    return cubic;
}

void qp_work_plan_rough(struct qp_work_plan *plan)
{
    static uint64_t params[2][CC_PARAMS / 8];
    static const oche_time late_most[] = {0, 20 * OCHE_US, 300 * OCHE_US};
    struct pair_options *o = &plan->pair;
    struct oche_random random = oche_random_stream(o->seed, "qp work rough", 0);

    if (o->seed % ROUGH_SEEDS != 0 || plan->timerless)
        return;
    plan->rough = true;
    plan->clean = plan->mild = false;
    o->drop = 30 + (uint32_t)oche_random_below(&random, 30);
    o->twice = 50;
    o->late = 20;
    o->late_most = late_most[oche_random_below(&random, 3)];
    o->damage = o->bytes ? 50 : 0;
    o->most_repeats = 64; /* the limit on the wire */
    o->cc = cubic_of(params[0], &random);
    o->cc_params = params[0];
    o->peer_cc = cubic_of(params[1], &random);
    o->peer_cc_params = params[1];
    o->trim = oche_random_below(&random, 2) == 0 ? 40 : 0;
}
