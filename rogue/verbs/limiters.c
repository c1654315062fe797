/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The limiters of a device, if the user says that it has few (rate_limiters). Connections of an
 * open device share them; several processes do not know of each other. The lock is taken last, as
 * connections take and give limiters while they are locked.
 */
#include "rogue/verbs/internal.h"

static struct rogue_limiters *of(struct rv_qp *qp)
{
    struct rogue_limiters *limiters = &qp->context->limiters;

    limiters->most = rv_params(true)->rate_limiters;
    return limiters;
}

bool rv_limiter_take(void *context)
{
    struct rv_qp *qp = context;
    bool has;

    pthread_mutex_lock(&qp->context->limiters_lock);
    has = rogue_limiters_take(of(qp), &qp->limited);
    pthread_mutex_unlock(&qp->context->limiters_lock);
    return has;
}

/* The thread lets the next connection post: that one's lock must not be taken here. */
void rv_limiter_give(void *context)
{
    struct rv_qp *qp = context;
    bool passed_on;

    pthread_mutex_lock(&qp->context->limiters_lock);
    passed_on = rogue_limiters_give(of(qp), &qp->limited) != NULL;
    pthread_mutex_unlock(&qp->context->limiters_lock);
    if (passed_on)
        rv_thread_wake_now();
}

bool rv_limiter_wanted(void *context)
{
    struct rv_qp *qp = context;
    bool wanted;

    pthread_mutex_lock(&qp->context->limiters_lock);
    wanted = rogue_limiters_wanted(&qp->context->limiters);
    pthread_mutex_unlock(&qp->context->limiters_lock);
    return wanted;
}
