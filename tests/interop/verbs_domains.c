/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parent domains. Objects made with a parent domain work with objects of its protection domain, and
 * the other way round. A domain cannot be destroyed while another object needs it.
 */
#include "tests/interop/verbs_objects.h"

#include <stdlib.h>
#include <string.h>

static struct ibv_td *make_td(void)
{
    struct ibv_td_init_attr attr = {0};
    struct ibv_td *td = ibv_alloc_td(context, &attr);

    assert_non_null(td);
    return td;
}

static struct ibv_pd *extend(struct ibv_pd *of, struct ibv_td *td)
{
    struct ibv_parent_domain_init_attr attr = {
        .pd = of, .td = td, .comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT};
    struct ibv_pd *parent = ibv_alloc_parent_domain(of->context, &attr);

    assert_non_null(parent);
    return parent;
}

static void *allocate(struct ibv_pd *of, void *of_program, size_t size, size_t alignment,
                      uint64_t type)
{
    (void)of, (void)of_program, (void)type;
    return aligned_alloc(alignment, size);
}

static void test_arguments(void **state)
{
    struct ibv_td_init_attr td = {.comp_mask = 1};
    struct ibv_parent_domain_init_attr attr = {0};
    struct ibv_cq_init_attr_ex queue = {.cqe = 1, .comp_mask = IBV_CQ_INIT_ATTR_MASK_PD};

    (void)state;
    NULL_WITH(EINVAL, ibv_alloc_td(context, &td));
    NULL_WITH(EINVAL, ibv_alloc_parent_domain(context, &attr)); /* no protection domain */
    attr.pd = pd;
    attr.comp_mask = 4;
    NULL_WITH(EINVAL, ibv_alloc_parent_domain(context, &attr));
    attr.comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS;
    attr.alloc = allocate;
    NULL_WITH(EOPNOTSUPP, ibv_alloc_parent_domain(context, &attr));
    NULL_WITH(EINVAL, ibv_create_cq_ex(context, &queue)); /* no parent domain */
    queue.parent_domain = pd;
    NULL_WITH(EINVAL, ibv_create_cq_ex(context, &queue)); /* not a parent domain */
}

static void test_order_of_ends(void **state)
{
    struct ibv_pd *of = ibv_alloc_pd(context);
    struct ibv_td *td = make_td();
    struct ibv_pd *parent = extend(of, td), *other = extend(parent, NULL);
    struct ibv_cq_init_attr_ex attr = {
        .cqe = 1, .comp_mask = IBV_CQ_INIT_ATTR_MASK_PD, .parent_domain = other};
    struct ibv_cq_ex *queue = ibv_create_cq_ex(context, &attr);

    (void)state;
    assert_non_null(queue);
    assert_int_equal(ibv_dealloc_td(td), EBUSY);
    assert_int_equal(ibv_dealloc_pd(of), EBUSY);
    assert_int_equal(ibv_dealloc_pd(parent), EBUSY);
    assert_int_equal(ibv_dealloc_pd(other), EBUSY);
    assert_int_equal(ibv_destroy_cq(ibv_cq_ex_to_cq(queue)), 0);
    assert_int_equal(ibv_dealloc_pd(other), 0);
    assert_int_equal(ibv_dealloc_td(td), EBUSY);
    assert_int_equal(ibv_dealloc_pd(parent), 0);
    assert_int_equal(ibv_dealloc_td(td), 0);
    assert_int_equal(ibv_dealloc_pd(of), 0);
}

/*
 * A queue pair and a window of the parent domain, the other queue pair of the domain itself; memory
 * of both.
 */
static void test_work(void **state)
{
    struct bench *bench = make_bench(IBV_QPT_RC, NULL);
    struct end *a = &bench->end[0], *b = &bench->end[1];
    struct ibv_td_init_attr td_attr = {0};
    struct ibv_td *td = ibv_alloc_td(bench->context, &td_attr);
    struct ibv_pd *parent = extend(bench->pd, td);
    struct ibv_qp_init_attr init = init_attr(a->cq, IBV_QPT_RC);
    struct ibv_sge sge = sge_of(a, 0, 3000);
    struct ibv_send_wr write = remote(IBV_WR_RDMA_WRITE, 2, &sge, b, 64);
    /* verbs.h wants a window and its region to have one handle of the domain */
    struct ibv_mr *region = ibv_reg_mr(parent, b->memory, 4096, ACCESS | IBV_ACCESS_MW_BIND);
    struct ibv_mw *window = ibv_alloc_mw(parent, IBV_MW_TYPE_1);
    struct ibv_mw_bind bind = {.wr_id = 1,
                               .send_flags = IBV_SEND_SIGNALED,
                               .bind_info = {.mr = region,
                                             .addr = (uintptr_t)b->memory,
                                             .length = 4096,
                                             .mw_access_flags = IBV_ACCESS_REMOTE_WRITE}};

    (void)state;
    assert_non_null(window);
    assert_int_equal(ibv_destroy_qp(a->qp), 0);
    a->qp = ibv_create_qp(parent, &init);
    assert_non_null(a->qp);
    assert_int_equal(to_init(a->qp), 0);
    connect_bench(bench, IBV_MTU_1024);
    assert_int_equal(ibv_bind_mw(b->qp, window, &bind), 0); /* b belongs to the other domain */
    expect(b->cq, 1, IBV_WC_SUCCESS);
    fill(a->memory, 3000, 3);
    write.wr.rdma.rkey = window->rkey;
    post(a, &write);
    expect(a->cq, 2, IBV_WC_SUCCESS);
    assert_memory_equal(a->memory, b->memory + 64, 3000);
    assert_int_equal(ibv_dealloc_mw(window), 0);
    assert_int_equal(ibv_dereg_mr(region), 0);
    assert_int_equal(ibv_dealloc_pd(parent), EBUSY);
    assert_int_equal(ibv_destroy_qp(a->qp), 0);
    assert_int_equal(ibv_dealloc_pd(parent), 0);
    assert_int_equal(ibv_dealloc_td(td), 0);
    init = init_attr(a->cq, IBV_QPT_RC);
    a->qp = ibv_create_qp(bench->pd, &init); /* close_bench destroys it */
    close_bench(bench, false);
}

/* Memory of another domain is still another's. */
static void test_other_domains(void **state)
{
    struct bench *bench = make_bench(IBV_QPT_RC, NULL);
    struct end *a = &bench->end[0], *b = &bench->end[1];
    struct ibv_pd *other = ibv_alloc_pd(bench->context), *parent = extend(other, NULL);
    struct ibv_mr *mr = ibv_reg_mr(parent, a->memory, 4096, ACCESS);
    struct ibv_sge sge = {(uintptr_t)a->memory, 100, mr->lkey};
    struct ibv_send_wr write = remote(IBV_WR_RDMA_WRITE, 1, &sge, b, 0);

    (void)state;
    connect_bench(bench, IBV_MTU_1024);
    post(a, &write);
    expect(a->cq, 1, IBV_WC_LOC_PROT_ERR);
    assert_int_equal(ibv_dereg_mr(mr), 0);
    assert_int_equal(ibv_dealloc_pd(parent), 0);
    assert_int_equal(ibv_dealloc_pd(other), 0);
    close_bench(bench, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_order_of_ends),
        cmocka_unit_test(test_work),
        cmocka_unit_test(test_other_domains),
    };

    setenv("OCHE_DEVICE", "127.45.0.23", 0);
    return cmocka_run_group_tests(tests, open_all, close_all);
}
