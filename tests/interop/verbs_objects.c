/* SPDX-License-Identifier: Apache-2.0 */
/* One of each: a device, a protection domain, a completion queue. */
#include "tests/interop/verbs_objects.h"

struct ibv_context *context;
struct ibv_pd *pd;
struct ibv_cq *cq;
uint8_t memory[8192];

int open_all(void **state)
{
    (void)state;
    context = open_one();
    pd = ibv_alloc_pd(context);
    cq = ibv_create_cq(context, 10, NULL, NULL, 0);
    assert_non_null(cq);
    return 0;
}

int close_all(void **state)
{
    (void)state;
    assert_int_equal(ibv_destroy_cq(cq), 0);
    assert_int_equal(ibv_dealloc_pd(pd), 0);
    return ibv_close_device(context);
}
