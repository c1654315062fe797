/* SPDX-License-Identifier: Apache-2.0 */
/* A connected pair of queue pairs for verified.c, by verbs and one TCP connection. */
#ifndef OCHE_TESTS_INTEROP_VERIFIED_H
#define OCHE_TESTS_INTEROP_VERIFIED_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

#define SIZES 32
#define GUARD 64 /* bytes behind a message that must not be written */

enum operation {
    OPERATION_SEND,
    OPERATION_WRITE,
    OPERATION_WRITE_IMM,
    OPERATION_READ,
    OPERATION_ADD,
    OPERATION_SWAP,
};

/* Data that each side sends to the other. */
struct verified_end {
    uint64_t address;
    uint32_t rkey, qpn, psn;
    uint8_t gid[16];
};

struct verified {
    /* server: its address; NULL: this process is the server */
    const char *device, *server;
    int gid_index, port;
    enum ibv_qp_type type;
    enum operation operation;
    unsigned mtu, count, depth;
    uint8_t reads, timeout;
    bool immediate, srq, slow, lossy;
    uint32_t sizes[SIZES];
    unsigned size_count;

    uint8_t *memory; /* `depth` slots */
    uint32_t slot_bytes;
    unsigned checked; /* messages or atomics that were right */

    int tcp;
    struct verified_end ours, theirs;
    struct ibv_context *context;
    struct ibv_pd *pd;
    struct ibv_mr *mr;
    struct ibv_cq *cq;
    struct ibv_srq *shared;
    struct ibv_qp *qp;
    struct ibv_ah *ah;
};

/* Says what is wrong, and ends the program with status 1. */
_Noreturn void verified_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Opens all that, and connects to the other side. */
void verified_open(struct verified *v);
void verified_close(struct verified *v);

/* Returns when the other side has called this function, too. */
void verified_barrier(struct verified *v);

/* Posts one; each gives a completion. `offset`: in the other side's memory. */
void verified_receive(struct verified *v, unsigned id, uint8_t *bytes, uint32_t count);
void verified_send(struct verified *v, unsigned id, uint8_t *bytes, uint32_t count);
void verified_write(struct verified *v, unsigned id, uint8_t *bytes, uint32_t count,
                    int64_t offset);
void verified_read(struct verified *v, unsigned id, uint8_t *bytes, uint32_t count, int64_t offset);
void verified_atomic(struct verified *v, unsigned id, const uint64_t *result, int64_t offset,
                     uint64_t compare, uint64_t operand);

/* Waits for a completion, which must be a success. False: none within so many ms (0: as long as it
 * takes). */
bool verified_poll_for(struct verified *v, struct ibv_wc *wc, unsigned ms);
void verified_poll(struct verified *v, struct ibv_wc *wc);

#endif
