/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A library to be loaded between liboche-rogue.so and the verbs library (LD_PRELOAD), which makes
 * the device lack what some adapters lack:
 *     OCHE_TEST_LACKS   limiter: ibv_modify_qp_rate_limit fails, and no rates are announced
 *                       stamps: completions have no time stamps
 * or both, with a comma. When the program ends it says on standard error what was asked of the
 * device, and the hardware retry count that connections had.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/verbs.h>

#define STAMPS (IBV_WC_EX_WITH_COMPLETION_TIMESTAMP | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK)

static struct {
    int (*query_device_ex)(struct ibv_context *context,
                           const struct ibv_query_device_ex_input *input,
                           struct ibv_device_attr_ex *attr, size_t attr_size);
    struct ibv_cq_ex *(*create_cq_ex)(struct ibv_context *context,
                                      struct ibv_cq_init_attr_ex *attr);
} device;

static bool opened;
static unsigned connections, limits, stamps, retries;

static bool lacks(const char *what)
{
    const char *all = getenv("OCHE_TEST_LACKS");

    return all != NULL && strstr(all, what) != NULL;
}

static int query_device_ex(struct ibv_context *context,
                           const struct ibv_query_device_ex_input *input,
                           struct ibv_device_attr_ex *attr, size_t attr_size)
{
    int error = device.query_device_ex(context, input, attr, attr_size);

    memset(&attr->packet_pacing_caps, 0, sizeof(attr->packet_pacing_caps));
    return error;
}

static int modify_qp_rate_limit(struct ibv_qp *qp, struct ibv_qp_rate_limit_attr *attr)
{
    (void)qp;
    (void)attr;
    limits++;
    return EOPNOTSUPP;
}

static struct ibv_cq_ex *create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr)
{
    if ((attr->wc_flags & STAMPS) == 0)
        return device.create_cq_ex(context, attr);
    stamps++;
    errno = EOPNOTSUPP;
    return NULL;
}

struct ibv_context *ibv_open_device(struct ibv_device *wanted)
{
    struct ibv_context *(*next)(struct ibv_device *);
    struct ibv_context *context;
    struct verbs_context *verbs;

    *(void **)&next = dlsym(RTLD_NEXT, "ibv_open_device");
    context = next(wanted);
    opened = true;
    verbs = context != NULL ? verbs_get_ctx(context) : NULL;
    if (verbs == NULL)
        return context;
    device.query_device_ex = verbs->query_device_ex;
    device.create_cq_ex = verbs->create_cq_ex;
    if (lacks("limiter")) {
        verbs->query_device_ex = query_device_ex;
        verbs->modify_qp_rate_limit = modify_qp_rate_limit;
    }
    if (lacks("stamps"))
        verbs->create_cq_ex = create_cq_ex;
    return context;
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
    int (*next)(struct ibv_qp *, struct ibv_qp_attr *, int);

    *(void **)&next = dlsym(RTLD_NEXT, "ibv_modify_qp");
    if (mask & IBV_QP_RETRY_CNT) {
        connections++;
        retries = attr->retry_cnt > retries ? attr->retry_cnt : retries;
    }
    return next(qp, attr, mask);
}

__attribute__((destructor)) static void tell(void)
{
    if (opened)
        fprintf(stderr, "lesser adapter: connected %u, most retries %u, limits %u, stamps %u\n",
                connections, retries, limits, stamps);
}
