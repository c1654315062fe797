/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the stand-in for the system's libibverbs (system_verbs.c), its driver
 * (system_verbs_driver.c) and the test of both (tests/interop/real_devices.c).
 */
#ifndef OCHE_TESTS_SUPPORT_SYSTEM_VERBS_H
#define OCHE_TESTS_SUPPORT_SYSTEM_VERBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <infiniband/verbs.h>

#define SYSTEM_VERBS_INT  4711
#define SYSTEM_VERBS_TEXT 200

/* The result of verbs that return an object. */
union system_verbs_object {
    struct ibv_pd pd;
    struct ibv_mr mr;
    struct ibv_comp_channel channel;
    struct ibv_cq cq;
    struct ibv_qp qp;
    struct ibv_srq srq;
    struct ibv_ah ah;
    struct ibv_dm dm;
    struct ibv_wq wq;
};

struct system_verbs_driver {
    const char *name; /* of its one device */
    struct ibv_context *(*open)(struct ibv_device *device, int cmd_fd);
};

/* The version of the private interface is that of the rdma-core release it belongs to. */
#ifndef VERSION
#define VERSION 34
#endif
#define SYSTEM_VERBS_JOIN(a, b)        a##b
#define SYSTEM_VERBS_REGISTER(version) SYSTEM_VERBS_JOIN(verbs_register_driver_, version)
#define verbs_register_driver          SYSTEM_VERBS_REGISTER(VERSION)

/* The names of the private interface that the tests use. */
void verbs_register_driver(const struct system_verbs_driver *driver);
void *_verbs_init_and_alloc_context(struct ibv_device *device, int cmd_fd, size_t bytes,
                                    struct verbs_context *offset, uint32_t driver_id);
void __verbs_log(struct verbs_context *context, uint32_t level, const char *format, ...);
int execute_ioctl(struct ibv_context *context, void *command);
struct verbs_context *verbs_open_device(struct ibv_device *device, void *private);
int ibv_query_gid_type(struct ibv_context *context, uint8_t port, unsigned int index,
                       unsigned int *type);
int ibv_dontfork_range(void *base, size_t bytes);
int ibv_dofork_range(void *base, size_t bytes);

#endif
