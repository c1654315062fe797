/* SPDX-License-Identifier: Apache-2.0 */
/* Shared receive queues: there are none yet. */
#include "device/verbs/internal.h"

struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
    (void)pd;
    (void)attr;
    return ov_null(EOPNOTSUPP);
}

int ibv_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int attr_mask)
{
    (void)srq;
    (void)attr;
    (void)attr_mask;
    return EOPNOTSUPP;
}

int ibv_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr)
{
    (void)srq;
    (void)attr;
    return EOPNOTSUPP;
}

int ibv_destroy_srq(struct ibv_srq *srq)
{
    (void)srq;
    return EOPNOTSUPP;
}
