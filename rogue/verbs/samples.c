/* SPDX-License-Identifier: Apache-2.0 */
/* Round trips, for programs that want to read them. */
#include <errno.h>
#include <stdlib.h>

#include "rogue/rogue.h"
#include "rogue/verbs/internal.h"

#define KEPT 4096

struct rv_samples {
    struct rogue_round_trip ring[KEPT];
    uint64_t taken, next; /* counted since the beginning */
};

void rv_sampled(void *context, enum rogue_direction direction, oche_time rtt, oche_time now)
{
    const struct rv_qp *qp = context;
    struct rv_samples *samples = qp->samples;

    if (samples == NULL)
        return;
    samples->ring[samples->next++ % KEPT] = (struct rogue_round_trip){
        .when_ns = now / OCHE_NS, .rtt_ns = rtt / OCHE_NS, .read = direction == ROGUE_IN};
    if (samples->next - samples->taken > KEPT)
        samples->taken = samples->next - KEPT;
}

__attribute__((visibility("default"))) int
rogue_take_round_trips(struct ibv_qp *qp, struct rogue_round_trip *round_trips, int most)
{
    struct rv_qp *own = rv_find(RV_QP, qp);
    int count = 0;

    if (own == NULL || most < 0) {
        errno = EINVAL;
        return -1;
    }
    pthread_mutex_lock(&own->lock);
    if (own->samples == NULL)
        own->samples = calloc(1, sizeof(*own->samples));
    while (count < most && own->samples != NULL && own->samples->taken != own->samples->next)
        round_trips[count++] = own->samples->ring[own->samples->taken++ % KEPT];
    pthread_mutex_unlock(&own->lock);
    return count;
}
