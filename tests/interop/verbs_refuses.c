/* SPDX-License-Identifier: Apache-2.0 */
/* Bad arguments to every verb: what the standard says is returned, and nothing crashes. */
#include "tests/interop/verbs_objects.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define WRITE IBV_ACCESS_LOCAL_WRITE

static void test_queries(void **state)
{
    struct ibv_values_ex values = {.comp_mask = IBV_VALUES_MASK_RAW_CLOCK};
    struct ibv_device_attr_ex device;
    struct ibv_gid_entry entry, entries[2];
    struct ibv_port_attr port;
    union ibv_gid gid;
    __be16 pkey;

    (void)state;
    assert_int_equal(ibv_query_port(context, 0, &port), EINVAL);
    assert_int_equal(ibv_query_port(context, 2, &port), EINVAL);
    assert_int_equal(ibv_query_port(context, 1, &port), 0);
    assert_int_equal(port.link_layer, IBV_LINK_LAYER_ETHERNET);
    assert_int_equal(port.active_mtu, IBV_MTU_4096);
    MINUS_ONE_WITH(EINVAL, ibv_query_gid(context, 1, 1, &gid));
    MINUS_ONE_WITH(EINVAL, ibv_query_gid(context, 2, 0, &gid));
    assert_int_equal(ibv_query_gid_ex(context, 1, 0, &entry, 1), EINVAL);
    assert_int_equal(ibv_query_gid_ex(context, 2, 0, &entry, 0), EINVAL);
    assert_int_equal(ibv_query_gid_ex(context, 1, 1, &entry, 0), ENODATA);
    assert_int_equal(ibv_query_gid_ex(context, 1, 0, &entry, 0), 0);
    assert_int_equal(entry.gid_type, IBV_GID_TYPE_ROCE_V2);
    assert_int_equal(ibv_query_gid_table(context, entries, 2, 0), 1);
    assert_memory_equal(&entries[0], &entry, sizeof(entry));
    assert_int_equal(ibv_query_gid_table(context, entries, 0, 0), -EINVAL);
    MINUS_ONE_WITH(EINVAL, ibv_query_pkey(context, 1, 1, &pkey));
    assert_int_equal(ibv_query_pkey(context, 1, 0, &pkey), 0);
    assert_int_equal(pkey, 0xffff);
    assert_int_equal(ibv_get_pkey_index(context, 1, htons(0xffff)), 0);
    MINUS_ONE_WITH(EINVAL, ibv_get_pkey_index(context, 1, htons(0x8001)));
    assert_int_equal(ibv_query_device_ex(context, NULL, &device), 0);
    assert_int_equal(device.orig_attr.phys_port_cnt, 1);
    assert_int_equal(ibv_query_rt_values_ex(context, &values), 0);
    assert_true(values.raw_clock.tv_nsec > 0);
    values.comp_mask = 2;
    assert_int_equal(ibv_query_rt_values_ex(context, &values), EINVAL);
}

static void test_regions(void **state)
{
    uint8_t *pages = mmap(NULL, 3 * 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct ibv_mr *mr;

    (void)state;
    assert_int_equal(munmap(pages + 4096, 4096), 0);
    NULL_WITH(EINVAL, ibv_reg_mr(pd, memory, 0, WRITE));
    NULL_WITH(EINVAL, ibv_reg_mr(pd, memory, 10, IBV_ACCESS_REMOTE_WRITE));
    NULL_WITH(EINVAL, ibv_reg_mr(pd, memory, 10, IBV_ACCESS_REMOTE_ATOMIC));
    NULL_WITH(EINVAL, ibv_reg_mr(pd, memory, 10, 1 << 12));
    NULL_WITH(EINVAL, ibv_reg_mr(pd, memory, SIZE_MAX, WRITE));
    NULL_WITH(EINVAL, ibv_reg_mr_iova(pd, memory, 10, UINT64_MAX - 5, WRITE));
    NULL_WITH(EFAULT, ibv_reg_mr(pd, NULL, 10, WRITE));
    NULL_WITH(EFAULT, ibv_reg_mr(pd, pages, 10, WRITE));
    NULL_WITH(EFAULT, ibv_reg_mr(pd, pages + 4000, 200, 0));
    NULL_WITH(EOPNOTSUPP, ibv_reg_mr(pd, memory, 10, IBV_ACCESS_ON_DEMAND));
    NULL_WITH(EOPNOTSUPP, ibv_reg_dmabuf_mr(pd, 0, 10, 0, 0, WRITE));
    NULL_WITH(EOPNOTSUPP, ibv_alloc_null_mr(pd));
    mr = ibv_reg_mr(pd, pages, 4096, IBV_ACCESS_REMOTE_READ);
    assert_non_null(mr);
    assert_int_equal(ibv_dealloc_pd(pd), EBUSY);
    MINUS_ONE_WITH(EINVAL, ibv_rereg_mr(mr, 0, NULL, NULL, 0, 0));
    MINUS_ONE_WITH(EINVAL, ibv_rereg_mr(mr, 8, NULL, NULL, 0, 0));
    MINUS_ONE_WITH(EINVAL, ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_PD, NULL, NULL, 0, 0));
    MINUS_ONE_WITH(EFAULT, ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, WRITE));
    assert_int_equal(
        ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, memory, sizeof(memory), 0), 0);
    assert_ptr_equal(mr->addr, memory);
    assert_int_equal(ibv_dereg_mr(mr), 0);
    munmap(pages, 4096);
    munmap(pages + 8192, 4096);
}

static void test_queues(void **state)
{
    struct ibv_cq_init_attr_ex ex = {.cqe = 4, .wc_flags = IBV_WC_EX_WITH_CVLAN};
    struct ibv_srq_init_attr srq = {.attr = {.max_wr = 0, .max_sge = 1}};
    struct ibv_srq_init_attr_ex srq_ex = {
        .attr = {.max_wr = 4}, .comp_mask = IBV_SRQ_INIT_ATTR_TYPE, .srq_type = IBV_SRQT_XRC};
    struct ibv_device_attr device;

    (void)state;
    assert_int_equal(ibv_query_device(context, &device), 0);
    NULL_WITH(EINVAL, ibv_create_cq(context, 0, NULL, NULL, 0));
    NULL_WITH(EINVAL, ibv_create_cq(context, -1, NULL, NULL, 0));
    NULL_WITH(EINVAL, ibv_create_cq(context, device.max_cqe + 1, NULL, NULL, 0));
    NULL_WITH(EINVAL, ibv_create_cq(context, 1, NULL, NULL, context->num_comp_vectors));
    NULL_WITH(EOPNOTSUPP, ibv_create_cq_ex(context, &ex));
    assert_int_equal(ibv_resize_cq(cq, 0), EINVAL);
    assert_int_equal(ibv_resize_cq(cq, cq->cqe), 0);
    NULL_WITH(EINVAL, ibv_create_srq(pd, &srq));
    srq.attr = (struct ibv_srq_attr){.max_wr = 1, .max_sge = (uint32_t)device.max_srq_sge + 1};
    NULL_WITH(EINVAL, ibv_create_srq(pd, &srq));
    srq.attr = (struct ibv_srq_attr){.max_wr = (uint32_t)device.max_srq_wr + 1, .max_sge = 1};
    NULL_WITH(EINVAL, ibv_create_srq(pd, &srq));
    NULL_WITH(EOPNOTSUPP, ibv_create_srq_ex(context, &srq_ex));
}

/* Missing features give the standard's error. */
static void test_not_there(void **state)
{
    struct ibv_alloc_dm_attr dm = {.length = 64};
    struct ibv_xrcd_init_attr xrcd = {0};
    struct ibv_wq_init_attr wq = {0};
    struct ibv_counters_init_attr counters = {0};
    struct ibv_qp_open_attr open = {0};

    (void)state;
    NULL_WITH(EOPNOTSUPP, ibv_alloc_dm(context, &dm));
    NULL_WITH(EOPNOTSUPP, ibv_open_xrcd(context, &xrcd));
    NULL_WITH(EOPNOTSUPP, ibv_create_wq(context, &wq));
    NULL_WITH(EOPNOTSUPP, ibv_create_counters(context, &counters));
    NULL_WITH(EOPNOTSUPP, ibv_open_qp(context, &open));
    NULL_WITH(EOPNOTSUPP, ibv_import_device(0));
    NULL_WITH(EOPNOTSUPP, ibv_import_pd(context, 1));
    NULL_WITH(EOPNOTSUPP, ibv_import_mr(pd, 1));
    NULL_WITH(EOPNOTSUPP, ibv_import_dm(context, 1));
    assert_int_equal(ibv_advise_mr(pd, 0, 0, NULL, 0), EOPNOTSUPP);
}

static struct ibv_qp_init_attr good(enum ibv_qp_type type)
{
    return (struct ibv_qp_init_attr){
        .send_cq = cq,
        .recv_cq = cq,
        .cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 2, .max_recv_sge = 2},
        .qp_type = type};
}

static void test_making_queue_pairs(void **state)
{
    struct ibv_qp_init_attr bad = good(IBV_QPT_RC);
    struct ibv_qp_init_attr_ex ex = {.qp_type = IBV_QPT_UC,
                                     .send_cq = cq,
                                     .recv_cq = cq,
                                     .pd = pd,
                                     .comp_mask =
                                         IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
                                     .send_ops_flags = IBV_QP_EX_WITH_RDMA_READ};
    struct ibv_device_attr device;

    (void)state;
    assert_int_equal(ibv_query_device(context, &device), 0);
    bad.send_cq = NULL;
    NULL_WITH(EINVAL, ibv_create_qp(pd, &bad));
    bad = good(IBV_QPT_RAW_PACKET);
    NULL_WITH(EOPNOTSUPP, ibv_create_qp(pd, &bad));
    bad = good(IBV_QPT_XRC_SEND);
    NULL_WITH(EOPNOTSUPP, ibv_create_qp(pd, &bad));
    bad = good(IBV_QPT_RC);
    bad.cap.max_send_wr = (uint32_t)device.max_qp_wr + 1;
    NULL_WITH(EINVAL, ibv_create_qp(pd, &bad));
    bad = good(IBV_QPT_RC);
    bad.cap.max_recv_sge = (uint32_t)device.max_sge + 1;
    NULL_WITH(EINVAL, ibv_create_qp(pd, &bad));
    bad = good(IBV_QPT_RC);
    bad.cap.max_inline_data = 1 << 20;
    NULL_WITH(EINVAL, ibv_create_qp(pd, &bad));
    NULL_WITH(EOPNOTSUPP, ibv_create_qp_ex(context, &ex)); /* UC has no READ */
    ex.comp_mask |= IBV_QP_INIT_ATTR_IND_TABLE;
    NULL_WITH(EOPNOTSUPP, ibv_create_qp_ex(context, &ex));
}

/* Values out of range, with a valid mask, do not change the state. */
static void test_modifying(void **state)
{
    struct ibv_qp_init_attr init = good(IBV_QPT_RC), got_init;
    struct ibv_qp *qp = ibv_create_qp(pd, &init);
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 2}, got;
    const int to_init = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
    const int to_rtr = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                       IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
    struct ibv_recv_wr recv = {.wr_id = 1}, *bad_recv;
    struct ibv_send_wr send = {.wr_id = 1, .opcode = IBV_WR_SEND}, *bad_send;

    (void)state;
    assert_non_null(qp);
    assert_int_equal(ibv_post_recv(qp, &recv, &bad_recv), EINVAL); /* RESET */
    assert_ptr_equal(bad_recv, &recv);
    assert_int_equal(ibv_modify_qp(qp, &attr, to_init), EINVAL);
    attr.port_num = 1;
    attr.pkey_index = 1;
    assert_int_equal(ibv_modify_qp(qp, &attr, to_init), EINVAL);
    attr.pkey_index = 0;
    assert_int_equal(ibv_modify_qp(qp, &attr, to_init & ~IBV_QP_PORT), EINVAL);
    assert_int_equal(ibv_modify_qp(qp, &attr, to_init | IBV_QP_CUR_STATE), EINVAL);
    assert_int_equal(ibv_modify_qp(qp, &attr, to_init), 0);
    assert_int_equal(ibv_post_recv(qp, &recv, &bad_recv), 0);
    assert_int_equal(ibv_post_send(qp, &send, &bad_send), EINVAL); /* INIT */
    assert_ptr_equal(bad_send, &send);

    attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTR,
                                .path_mtu = IBV_MTU_1024,
                                .dest_qp_num = 99,
                                .ah_attr = {.is_global = 1, .port_num = 1}};
    assert_int_equal(ibv_modify_qp(qp, &attr, to_rtr), EINVAL); /* no address */
    assert_int_equal(ibv_query_gid(context, 1, 0, &attr.ah_attr.grh.dgid), 0);
    attr.ah_attr.is_global = 0;
    assert_int_equal(ibv_modify_qp(qp, &attr, to_rtr), EINVAL);
    attr.ah_attr.is_global = 1;
    attr.ah_attr.grh.sgid_index = 1;
    assert_int_equal(ibv_modify_qp(qp, &attr, to_rtr), EINVAL);
    attr.ah_attr.grh.sgid_index = 0;
    attr.ah_attr.grh.traffic_class = 107;
    attr.path_mtu = 6;
    assert_int_equal(ibv_modify_qp(qp, &attr, to_rtr), EINVAL);
    attr.path_mtu = IBV_MTU_512;
    attr.dest_qp_num = 1 << 24;
    assert_int_equal(ibv_modify_qp(qp, &attr, to_rtr), EINVAL);
    attr.dest_qp_num = 99;
    attr.max_dest_rd_atomic = 200;
    assert_int_equal(ibv_modify_qp(qp, &attr, to_rtr), EINVAL);
    attr.max_dest_rd_atomic = 3;
    attr.min_rnr_timer = 32;
    assert_int_equal(ibv_modify_qp(qp, &attr, to_rtr), EINVAL);
    attr.min_rnr_timer = 31;
    attr.rq_psn = 0xff000007; /* 24 bits of it count */
    assert_int_equal(ibv_modify_qp(qp, &attr, to_rtr | IBV_QP_ALT_PATH), EOPNOTSUPP);
    assert_int_equal(ibv_modify_qp(qp, &attr, to_rtr), 0);
    assert_int_equal(ibv_query_qp(qp, &got, IBV_QP_STATE, &got_init), 0);
    assert_int_equal(got.qp_state, IBV_QPS_RTR);
    assert_int_equal(got.path_mtu, IBV_MTU_512);
    assert_int_equal(got.dest_qp_num, 99);
    assert_int_equal(got.rq_psn, 7);
    assert_int_equal(got.max_dest_rd_atomic, 3);
    assert_int_equal(got.min_rnr_timer, 31);
    assert_memory_equal(&got.ah_attr.grh.dgid, &attr.ah_attr.grh.dgid, 16);
    assert_int_equal(got.ah_attr.grh.traffic_class, 107);
    assert_int_equal(got.cap.max_send_wr, init.cap.max_send_wr);
    assert_ptr_equal(got_init.send_cq, cq);

    /* After draining, it accepts as many READs of the peer as before, and reports that number. */
    attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 7};
    assert_int_equal(ibv_modify_qp(qp, &attr,
                                   IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
                                       IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC),
                     0);
    attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_SQD, .max_dest_rd_atomic = 4};
    assert_int_equal(ibv_modify_qp(qp, &attr, IBV_QP_STATE), 0);
    assert_int_equal(ibv_modify_qp(qp, &attr, IBV_QP_MAX_DEST_RD_ATOMIC), EOPNOTSUPP);
    assert_int_equal(ibv_query_qp(qp, &got, IBV_QP_STATE, &got_init), 0);
    assert_int_equal(got.max_dest_rd_atomic, 3);
    attr.max_dest_rd_atomic = 3;
    assert_int_equal(ibv_modify_qp(qp, &attr, IBV_QP_MAX_DEST_RD_ATOMIC), 0);
    assert_int_equal(ibv_destroy_qp(qp), 0);
}

static void test_posting(void **state)
{
    struct ibv_qp_init_attr init = good(IBV_QPT_UC);
    struct ibv_qp *qp = ibv_create_qp(pd, &init);
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};
    struct ibv_sge sges[20] = {{0}};
    struct ibv_send_wr one = {.wr_id = 1, .sg_list = sges, .num_sge = 1, .opcode = IBV_WR_SEND};
    struct ibv_send_wr two = one, *bad;
    struct ibv_recv_wr recv = {.wr_id = 1, .sg_list = sges, .num_sge = 3}, *bad_recv;

    (void)state;
    assert_int_equal(
        ibv_modify_qp(qp, &attr,
                      IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
        0);
    assert_int_equal(ibv_post_recv(qp, &recv, &bad_recv), EINVAL); /* 2 pieces at most */
    recv.num_sge = -1;
    assert_int_equal(ibv_post_recv(qp, &recv, &bad_recv), EINVAL);
    recv.num_sge = 1;
    recv.sg_list = NULL;
    assert_int_equal(ibv_post_recv(qp, &recv, &bad_recv), EINVAL);
    attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTR,
                                .path_mtu = IBV_MTU_1024,
                                .ah_attr = {.is_global = 1, .port_num = 1}};
    assert_int_equal(ibv_query_gid(context, 1, 0, &attr.ah_attr.grh.dgid), 0);
    assert_int_equal(
        ibv_modify_qp(qp, &attr,
                      IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN),
        0);
    attr.qp_state = IBV_QPS_RTS;
    assert_int_equal(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN), 0);
    one.next = &two;
    two.num_sge = 20;
    assert_int_equal(ibv_post_send(qp, &one, &bad), EINVAL);
    assert_ptr_equal(bad, &two); /* the first one was posted */
    two.num_sge = 1;
    two.opcode = IBV_WR_RDMA_READ; /* not allowed on UC */
    assert_int_equal(ibv_post_send(qp, &two, &bad), EINVAL);
    two.opcode = IBV_WR_TSO;
    assert_int_equal(ibv_post_send(qp, &two, &bad), EOPNOTSUPP);
    two.opcode = 77;
    assert_int_equal(ibv_post_send(qp, &two, &bad), EINVAL);
    two.opcode = IBV_WR_SEND;
    two.send_flags = IBV_SEND_INLINE;
    sges[0].length = 5000;
    assert_int_equal(ibv_post_send(qp, &two, &bad), EINVAL);
    assert_int_equal(ibv_destroy_qp(qp), 0);
}

static void test_addresses(void **state)
{
    struct ibv_ah_attr attr = {.port_num = 1};
    struct ibv_wc wc = {0};
    struct ibv_grh grh = {0};

    (void)state;
    NULL_WITH(EINVAL, ibv_create_ah(pd, &attr)); /* no GID */
    attr.is_global = 1;
    NULL_WITH(EINVAL, ibv_create_ah(pd, &attr)); /* :: */
    memset(attr.grh.dgid.raw, 0xff, 16);
    NULL_WITH(EINVAL, ibv_create_ah(pd, &attr)); /* multicast */
    attr.grh.dgid.raw[0] = 0xfe;
    attr.grh.dgid.raw[1] = 0xbf;
    NULL_WITH(EINVAL, ibv_create_ah(pd, &attr)); /* link-local */
    NULL_WITH(EINVAL, ibv_create_ah_from_wc(pd, &wc, &grh, 1));
    MINUS_ONE_WITH(EINVAL, ibv_init_ah_from_wc(context, 1, &wc, &grh, &attr));
}

/* The child of a fork must open its own device, and can. */
static void test_fork(void **state)
{
    struct ibv_wc wc;
    int status;
    pid_t child;

    (void)state;
    assert_int_equal(ibv_fork_init(), 0);
    child = fork();
    if (child == 0) {
        errno = 0;
        if (ibv_poll_cq(cq, 1, &wc) != -1 || ibv_alloc_pd(context) != NULL || errno != EPERM ||
            ibv_reg_mr(pd, memory, 10, 0) != NULL || ibv_create_comp_channel(context) != NULL ||
            ibv_resize_cq(cq, 100) != EPERM || ibv_destroy_cq(cq) != EPERM)
            _exit(1);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(ibv_poll_cq(cq, 1, &wc), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_queries),   cmocka_unit_test(test_regions),
        cmocka_unit_test(test_queues),    cmocka_unit_test(test_not_there),
        cmocka_unit_test(test_modifying), cmocka_unit_test(test_making_queue_pairs),
        cmocka_unit_test(test_posting),   cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_fork),
    };

    setenv("OCHE_DEVICE", "127.34.0.2", 0);
    return cmocka_run_group_tests(tests, open_all, close_all);
}
