/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions that replace libibverbs' and make objects. If the library was preloaded
 * (`oche exec --rogue`), what the program makes has RoGUE. If the program was linked with it, only
 * what the program makes with the functions of rogue/rogue.h has.
 */
#include <stdlib.h>
#include <string.h>

#include "rogue/rogue.h"
#include "rogue/verbs/internal.h"

#define SHOWN __attribute__((visibility("default")))
#define NAME  "liboche-rogue.so"

static bool interposes;

__attribute__((constructor)) static void look(void)
{
    const char *preloaded = secure_getenv("LD_PRELOAD");

    interposes = preloaded != NULL && strstr(preloaded, NAME) != NULL;
}

bool rv_interposes(void)
{
    return interposes;
}

SHOWN struct ibv_context *ibv_open_device(struct ibv_device *device)
{
    return interposes ? rogue_open_device(device) : rv_next.open_device(device);
}

SHOWN struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
    return interposes ? rogue_create_comp_channel(context) : rv_next.create_comp_channel(context);
}

SHOWN struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
                                   struct ibv_comp_channel *channel, int vector)
{
    return interposes ? rogue_create_cq(context, cqe, cq_context, channel, vector)
                      : rv_next.create_cq(context, cqe, cq_context, channel, vector);
}

SHOWN struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
    enum rv_refusal refusal;
    struct ibv_qp *qp = interposes ? rv_wrapped_qp(pd, attr, false, &refusal) : NULL;

    if (qp != NULL)
        return qp;
    qp = rv_next.create_qp(pd, attr);
    rv_others_use(qp, 1);
    if (interposes && qp != NULL)
        rv_count_left(refusal);
    return qp;
}
