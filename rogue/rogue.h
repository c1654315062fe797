/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RoGUE under the connections of a program that asks for it (docs/rogue.md): verbs, with
 * congestion control and recovery in software. The functions are those of libibverbs with the same
 * arguments, results and types. A program calls them instead where it opens a device and makes,
 * changes and destroys completion channels, completion queues and queue pairs. It posts and polls
 * as ever, with ibv_post_send, ibv_post_recv, ibv_poll_cq and ibv_req_notify_cq, and what has
 * nothing to do with connections (protection domains, memory, addresses) stays as it is.
 *
 * Parameters are those of `oche exec --rogue`, from the environment: OCHE_ROGUE=KEY=VALUE,…
 *
 * Link with liboche-rogue.so and libibverbs, in any order.
 */
#ifndef ROGUE_ROGUE_H
#define ROGUE_ROGUE_H

#include <infiniband/verbs.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Objects with RoGUE are made on a device that was opened here. */
struct ibv_context *rogue_open_device(struct ibv_device *device);
int rogue_close_device(struct ibv_context *context);
int rogue_get_async_event(struct ibv_context *context, struct ibv_async_event *event);
void rogue_ack_async_event(struct ibv_async_event *event);

struct ibv_comp_channel *rogue_create_comp_channel(struct ibv_context *context);
int rogue_destroy_comp_channel(struct ibv_comp_channel *channel);
int rogue_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **cq_context);
void rogue_ack_cq_events(struct ibv_cq *cq, unsigned int count);

/* Queue pairs with RoGUE have completion queues that were made here. Only they have those. */
struct ibv_cq *rogue_create_cq(struct ibv_context *context, int cqe, void *cq_context,
                               struct ibv_comp_channel *channel, int comp_vector);
int rogue_destroy_cq(struct ibv_cq *cq);

/*
 * RC and UC. NULL with errno if there is no RoGUE for such a queue pair:
 *
 *   EPROTOTYPE  it is of another type
 *   EOPNOTSUPP  it has a shared receive queue
 *   EXDEV       its completion queues, or its device, were not made here
 *   ERANGE      it is larger than half of what the adapter has, or has more than 16 SGEs
 *   ENOSYS      rogue_create_qp_ex: there are create_flags, or an attribute that a shadow cannot
 * have
 *
 * or as the library below has it (ENOMEM, EINVAL).
 */
struct ibv_qp *rogue_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
struct ibv_qp *rogue_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr);
/*
 * Searches for the peer's library on the way to RTS. Without one an RC queue pair has no shadow.
 * For a UC queue pair the result is then ECONNREFUSED, and the program may try again. As with
 * verbs, the result is the error, which is also in errno.
 */
int rogue_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask);
int rogue_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask,
                   struct ibv_qp_init_attr *init_attr);
int rogue_destroy_qp(struct ibv_qp *qp);

/* A round trip as the library has measured it. */
struct rogue_round_trip {
    uint64_t when_ns; /* of CLOCK_MONOTONIC */
    uint64_t rtt_ns;
    int read; /* 1: of READs; 0: of WRITEs and SENDs */
};

/*
 * Takes the oldest round trips that have changed a queue pair's window and were not taken yet. They
 * are kept from the first call on, at most the latest 4096. Returns their number, 0 to `most`, or
 * -1 with errno EINVAL if the queue pair has no RoGUE.
 */
int rogue_take_round_trips(struct ibv_qp *qp, struct rogue_round_trip *round_trips, int most);

#ifdef __cplusplus
}
#endif

#endif
