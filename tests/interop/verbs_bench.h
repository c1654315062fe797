/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the programs that test the verbs library: two queue pairs of one device in one
 * process, connected to each other, and work between them.
 */
#ifndef OCHE_TESTS_INTEROP_VERBS_BENCH_H
#define OCHE_TESTS_INTEROP_VERBS_BENCH_H

#include "tests/support/test.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <infiniband/verbs.h>

#define BYTES (1 << 20)
#define ACCESS                                                                                     \
    (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |                   \
     IBV_ACCESS_REMOTE_ATOMIC)
#define QKEY 0x11111111

struct end {
    struct ibv_qp *qp;
    struct ibv_cq *cq;
    uint8_t *memory;
    struct ibv_mr *mr;
};

struct bench {
    struct ibv_context *context;
    struct ibv_pd *pd;
    union ibv_gid gid;
    struct end end[2];
};

/* A thread that uses some of these objects, over and over, while the test does something else. */
struct worker {
    pthread_t thread;
    struct ibv_device *device;
    struct ibv_mr *mr;
    struct ibv_mw *mw;
    struct ibv_qp *qp;
    struct ibv_cq *cq;
    struct ibv_srq *srq;
    _Atomic bool stop;
    _Atomic unsigned rounds, wrong;
};

/* A call fails, in either of the two ways, and errno is this. */
#define NULL_WITH(error, call)                                                                     \
    do {                                                                                           \
        errno = 0;                                                                                 \
        assert_null(call);                                                                         \
        assert_int_equal(errno, error);                                                            \
    } while (0)

#define MINUS_ONE_WITH(error, call)                                                                \
    do {                                                                                           \
        errno = 0;                                                                                 \
        assert_int_equal(call, -1);                                                                \
        assert_int_equal(errno, error);                                                            \
    } while (0)

/* The one device that OCHE_DEVICE names. */
struct ibv_context *open_one(void);
struct ibv_ah_attr address_of(const struct bench *bench);
/* State changes, with attributes that are right. */
int to_init(struct ibv_qp *qp);
int to_rtr(const struct bench *bench, struct ibv_qp *qp, uint32_t dest, enum ibv_mtu mtu);
int to_rts(struct ibv_qp *qp);
struct ibv_qp_init_attr init_attr(struct ibv_cq *cq, enum ibv_qp_type type);
/*
 * The queue pairs are in INIT. With a shared receive queue: of its device and protection domain.
 */
struct bench *make_bench(enum ibv_qp_type type, struct ibv_srq *srq);
void connect_bench(struct bench *bench, enum ibv_mtu mtu);
/* Opens both ends. */
struct bench *open_bench(enum ibv_qp_type type, enum ibv_mtu mtu, struct ibv_srq *srq);
/* keep: not the device and the protection domain. */
void close_bench(struct bench *bench, bool keep);
struct ibv_sge sge_of(const struct end *end, uint32_t offset, uint32_t length);
/* Polls until something completes; fails after half a minute. */
#define POLL_US 50 /* between two looks: a spinning test would take a processor from the others */
struct ibv_wc wait_for(struct ibv_cq *cq);
/* … and it is this. */
struct ibv_wc expect(struct ibv_cq *cq, uint64_t wr_id, enum ibv_wc_status status);
void post(struct end *end, struct ibv_send_wr *wr);
void post_recv(struct end *end, uint64_t wr_id, uint32_t offset, uint32_t length);
/* Bytes that depend on the seed. */
void fill(uint8_t *memory, uint32_t bytes, unsigned seed);
/* A signalled WRITE, READ … of one piece. */
struct ibv_send_wr remote(enum ibv_wr_opcode opcode, uint64_t wr_id, struct ibv_sge *sge,
                          const struct end *to, uint32_t offset);

void start_worker(struct worker *worker, void *(*run)(void *));
/* Stops it; nothing was wrong in its rounds, and there were at least so many. */
void join_worker(struct worker *worker, unsigned least_rounds);

#endif
