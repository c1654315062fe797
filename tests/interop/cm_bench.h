/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Both ends of rdma_cm connections in one program. It uses only the interface of rdma_cm, so it
 * also compiles with the stock librdmacm, and runs on it where there is a device. OCHE_DEVICE gives
 * the address.
 */
#ifndef OCHE_TESTS_INTEROP_CM_BENCH_H
#define OCHE_TESTS_INTEROP_CM_BENCH_H

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/rdma_cma.h>

#include "tests/support/test.h"

/* Returns -1 must be, and errno. */
#define CM_FAILS(call, error)                                                                      \
    do {                                                                                           \
        errno = 0;                                                                                 \
        assert_int_equal(call, -1);                                                                \
        assert_int_equal(errno, error);                                                            \
    } while (0)
#define CM_WORKS(call) cm_works((call) == 0, #call, __FILE__, __LINE__)

extern struct rdma_event_channel *cm_serving, *cm_asking;
extern struct rdma_cm_id *cm_listener; /* of the port space that cm_open was given */

void cm_works(bool works, const char *call, const char *file, int line);
/* Makes both channels, and a listener. */
void cm_open(enum rdma_port_space ps, int backlog);
void cm_close(void);
/* Returns the address of OCHE_DEVICE, with a port. */
struct sockaddr *cm_address(uint16_t port);
uint16_t cm_port(void);
/* Returns the next event, which has to be of this type; to be acknowledged. Waits for 20 s. */
struct rdma_cm_event *cm_next(struct rdma_event_channel *channel, enum rdma_cm_event_type type);
/* Takes the next event and acknowledges it. Returns its status. */
int cm_take(struct rdma_event_channel *channel, enum rdma_cm_event_type type);
/* True if an event comes within this time. */
bool cm_waits(struct rdma_event_channel *channel, int ms);
/* Fails if there is an event. */
void cm_silent(struct rdma_event_channel *channel);
/* Returns an identifier that has resolved its way to the listener. */
struct rdma_cm_id *cm_resolved(enum rdma_port_space ps);
/* Returns parameters with a queue pair number that was not used before. */
struct rdma_conn_param cm_param(const void *data, size_t bytes);

#endif
