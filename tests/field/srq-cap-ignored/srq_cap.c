/* SPDX-License-Identifier: Apache-2.0 */
/* gcc srq_cap.c -o srq_cap -libverbs; oche exec -- ./srq_cap */
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <string.h>
int main(void)
{
    int n, bad = 0;
    struct ibv_device **l = ibv_get_device_list(&n);
    if (!n)
        return 2;
    struct ibv_context *c = ibv_open_device(l[0]);
    struct ibv_pd *pd = ibv_alloc_pd(c);
    struct ibv_cq *cq = ibv_create_cq(c, 16, NULL, NULL, 0);
    struct ibv_srq_init_attr s = {.attr = {.max_wr = 16, .max_sge = 1}};
    struct ibv_srq *srq = ibv_create_srq(pd, &s);
    unsigned wr[] = {0, 16, 1u << 20, 0}, sge[] = {0, 1, 1, 64};
    for (int i = 0; i < 4; i++) {
        struct ibv_qp_init_attr q = {.send_cq = cq,
                                     .recv_cq = cq,
                                     .srq = srq,
                                     .qp_type = IBV_QPT_RC,
                                     .cap = {16, wr[i], 1, sge[i], 0}};
        errno = 0;
        struct ibv_qp *qp = ibv_create_qp(pd, &q);
        printf("max_recv_wr %u max_recv_sge %u with an SRQ: %s\n", wr[i], sge[i],
               qp ? "created" : strerror(errno));
        bad |= !qp;
    }
    return bad;
}
