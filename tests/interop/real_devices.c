/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RDMA devices of the system beside ours, in one process: a stand-in for the system's libibverbs
 * (tests/support/system_verbs.c) has two, whose drivers are linked with our library, one loaded
 * before the system's is and one by it. Every verb of an object of theirs must come to the
 * stand-in, and none of an object of ours.
 *
 * usage: real_devices STAND-IN DRIVER-BEFORE DRIVER-LATER
 */
#include "tests/support/test.h"

#include <dlfcn.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base.h"
#include "tests/support/system_verbs.h"

#undef ibv_query_port
#undef ibv_reg_mr
#undef ibv_reg_mr_iova

static const char *stand_in;
static const char **called; /* the stand-in's note of its last verb */
static const char *said;
static const unsigned *lists;

static struct ibv_device **devices;
static struct ibv_context *ours, *theirs;
static union system_verbs_object object; /* an object of the stand-in's */

static void *symbol(const char *name)
{
    void *library = dlopen(stand_in, RTLD_NOW | RTLD_NOLOAD);
    void *found;

    assert_non_null(library);
    found = dlsym(library, name);
    assert_non_null(found);
    dlclose(library);
    return found;
}

static void drop(struct ibv_context *context)
{
    free(verbs_get_ctx(context));
}

/* ---- the list ---- */

static struct ibv_device *device_named(const char *name)
{
    for (unsigned i = 0; devices[i] != NULL; i++)
        if (strcmp(devices[i]->name, name) == 0)
            return devices[i];
    fail_msg("no device %s", name);
    return NULL;
}

static int open_both(void **state)
{
    int count;

    (void)state;
    devices = ibv_get_device_list(&count);
    assert_non_null(devices);
    assert_int_equal(count, 3);
    assert_null(devices[3]);
    assert_string_equal(devices[0]->name, "oche_lo_v4"); /* ours is the first */
    called = symbol("system_verbs_called");
    said = symbol("system_verbs_said");
    lists = symbol("system_verbs_lists");
    ours = ibv_open_device(devices[0]);
    assert_non_null(ours);
    theirs = ibv_open_device(device_named("before0"));
    assert_non_null(theirs);
    assert_ptr_equal(theirs->device, device_named("before0"));
    for (struct ibv_context **context = (struct ibv_context **)(void *)&object;
         (size_t)((uint8_t *)context - (uint8_t *)&object) < sizeof(object.pd); context++)
        *context = theirs; /* the context is the first member of each object */
    return 0;
}

static int close_both(void **state)
{
    (void)state;
    assert_int_equal(ibv_close_device(ours), 0);
    drop(theirs);
    assert_int_equal(*lists, 1);
    ibv_free_device_list(devices);
    assert_int_equal(*lists, 0);
    return 0;
}

static void test_lists(void **state)
{
    int count = 0;
    struct ibv_device **again = ibv_get_device_list(&count);

    (void)state;
    assert_int_equal(count, 3);
    assert_int_equal(*lists, 2);
    ibv_free_device_list(again);
    assert_int_equal(*lists, 1);
    assert_string_equal(ibv_get_device_name(device_named("before0")), "a name of the system's");
    assert_int_equal(be64toh(ibv_get_device_guid(device_named("later0"))), SYSTEM_VERBS_INT);
    assert_int_equal(ibv_get_device_index(device_named("later0")), SYSTEM_VERBS_INT);
    assert_string_equal(ibv_get_device_name(devices[0]), "oche_lo_v4");
    assert_int_not_equal(be64toh(ibv_get_device_guid(devices[0])), SYSTEM_VERBS_INT);
    assert_int_equal(ibv_get_device_index(devices[0]), -1);
}

/* A lookup by descriptor finds only the library's own devices. */
static void test_import(void **state)
{
    struct ibv_context *context = ibv_import_device(99);

    (void)state;
    assert_non_null(context);
    assert_int_equal(context->cmd_fd, 99);
    assert_string_equal(*called, "ibv_import_device");
    drop(context);
}

/* ---- the stand-in's objects ---- */

#define RETURNS(expected, call, name)                                                              \
    do {                                                                                           \
        *called = "";                                                                              \
        assert_int_equal(call, expected);                                                          \
        assert_string_equal(*called, name);                                                        \
    } while (0)
#define NUMBER(name, ...) RETURNS(SYSTEM_VERBS_INT, name(__VA_ARGS__), #name)
#define OBJECT(name, ...)                                                                          \
    RETURNS((uintptr_t)symbol("system_verbs_object"), (uintptr_t)(name)(__VA_ARGS__), #name)
#define NOTHING(name, ...)                                                                         \
    do {                                                                                           \
        *called = "";                                                                              \
        name(__VA_ARGS__);                                                                         \
        assert_string_equal(*called, #name);                                                       \
    } while (0)

static void test_their_context(void **state)
{
    struct ibv_cq_init_attr_ex attr = {.cqe = 1};
    struct ibv_async_event event;

    (void)state;
    NUMBER(ibv_query_device, theirs, NULL);
    NUMBER(ibv_query_port, theirs, 1, NULL);
    NUMBER(ibv_query_gid, theirs, 1, 0, NULL);
    NUMBER(_ibv_query_gid_ex, theirs, 1, 0, NULL, 0, 0);
    NUMBER(_ibv_query_gid_table, theirs, NULL, 0, 0, 0);
    NUMBER(ibv_query_gid_type, theirs, 1, 0, NULL);
    NUMBER(ibv_query_pkey, theirs, 1, 0, NULL);
    NUMBER(ibv_get_pkey_index, theirs, 1, 0);
    NUMBER(ibv_resolve_eth_l2_from_gid, theirs, NULL, NULL, NULL);
    NUMBER(ibv_init_ah_from_wc, theirs, 1, NULL, NULL, NULL);
    NUMBER(ibv_get_async_event, theirs, &event);
    OBJECT(ibv_alloc_pd, theirs);
    OBJECT(ibv_import_pd, theirs, 1);
    OBJECT(ibv_import_dm, theirs, 1);
    OBJECT(ibv_create_comp_channel, theirs);
    OBJECT(ibv_create_cq, theirs, 1, NULL, NULL, 0);
    errno = 0;
    assert_null(ibv_create_cq_ex(theirs, &attr)); /* through a pointer */
    assert_int_equal(errno, E2BIG);
    NUMBER(ibv_close_device, theirs);
}

static void test_their_memory(void **state)
{
    (void)state;
    NUMBER(ibv_dealloc_pd, &object.pd);
    NOTHING(ibv_unimport_pd, &object.pd);
    OBJECT(ibv_reg_mr, &object.pd, NULL, 0, 0);
    OBJECT(ibv_reg_mr_iova, &object.pd, NULL, 0, 0, 0);
    OBJECT(ibv_reg_mr_iova2, &object.pd, NULL, 0, 0, 0);
    OBJECT(ibv_reg_dmabuf_mr, &object.pd, 0, 0, 0, 0, 0);
    OBJECT(ibv_import_mr, &object.pd, 1);
    NUMBER(ibv_rereg_mr, &object.mr, 0, NULL, NULL, 0, 0);
    NUMBER(ibv_dereg_mr, &object.mr);
    NOTHING(ibv_unimport_mr, &object.mr);
    NOTHING(ibv_unimport_dm, &object.dm);
    OBJECT(ibv_create_ah, &object.pd, NULL);
    OBJECT(ibv_create_ah_from_wc, &object.pd, NULL, NULL, 1);
    NUMBER(ibv_destroy_ah, &object.ah);
}

static void test_their_queues(void **state)
{
    struct ibv_cq *cq;
    void *cq_context;

    (void)state;
    NUMBER(ibv_destroy_comp_channel, &object.channel);
    NUMBER(ibv_get_cq_event, &object.channel, &cq, &cq_context);
    NOTHING(ibv_ack_cq_events, &object.cq, 1);
    NUMBER(ibv_resize_cq, &object.cq, 1);
    NUMBER(ibv_destroy_cq, &object.cq);
    OBJECT(ibv_create_qp, &object.pd, NULL);
    OBJECT(ibv_qp_to_qp_ex, &object.qp);
    NUMBER(ibv_modify_qp, &object.qp, NULL, 0);
    NUMBER(ibv_query_qp, &object.qp, NULL, 0, NULL);
    NUMBER(ibv_query_qp_data_in_order, &object.qp, IBV_WR_SEND, 0);
    NUMBER(ibv_set_ece, &object.qp, NULL);
    NUMBER(ibv_query_ece, &object.qp, NULL);
    NUMBER(ibv_attach_mcast, &object.qp, NULL, 0);
    NUMBER(ibv_detach_mcast, &object.qp, NULL, 0);
    NUMBER(ibv_destroy_qp, &object.qp);
    OBJECT(ibv_create_srq, &object.pd, NULL);
    NUMBER(ibv_modify_srq, &object.srq, NULL, 0);
    NUMBER(ibv_query_srq, &object.srq, NULL);
    NUMBER(ibv_destroy_srq, &object.srq);
}

static void test_their_events(void **state)
{
    static const enum ibv_event_type of_qp[] = {
        IBV_EVENT_QP_FATAL,     IBV_EVENT_QP_REQ_ERR,         IBV_EVENT_QP_ACCESS_ERR,
        IBV_EVENT_COMM_EST,     IBV_EVENT_SQ_DRAINED,         IBV_EVENT_PATH_MIG,
        IBV_EVENT_PATH_MIG_ERR, IBV_EVENT_QP_LAST_WQE_REACHED};
    struct ibv_async_event event = {.element.cq = &object.cq, .event_type = IBV_EVENT_CQ_ERR};

    (void)state;
    NOTHING(ibv_ack_async_event, &event);
    event.element.qp = &object.qp;
    for (size_t i = 0; i < OCHE_COUNT_OF(of_qp); i++) {
        event.event_type = of_qp[i];
        NOTHING(ibv_ack_async_event, &event);
    }
    event.element.srq = &object.srq;
    event.event_type = IBV_EVENT_SRQ_LIMIT_REACHED;
    NOTHING(ibv_ack_async_event, &event);
    event.event_type = IBV_EVENT_SRQ_ERR;
    NOTHING(ibv_ack_async_event, &event);
    event.element.wq = &object.wq;
    event.event_type = IBV_EVENT_WQ_FATAL;
    NOTHING(ibv_ack_async_event, &event);
    event.element.port_num = 1; /* an event without an object: nothing to acknowledge */
    event.event_type = IBV_EVENT_PORT_ACTIVE;
    *called = "";
    ibv_ack_async_event(&event);
    assert_string_equal(*called, "");
}

/* Calls about memory, not about a device, go to both libraries. */
static void test_fork(void **state)
{
    int memory;

    (void)state;
    NUMBER(ibv_fork_init);
    RETURNS(IBV_FORK_ENABLED, ibv_is_fork_initialized(), "ibv_is_fork_initialized");
    NUMBER(ibv_dontfork_range, &memory, sizeof(memory));
    NUMBER(ibv_dofork_range, &memory, sizeof(memory));
}

/* The drivers' arguments arrive unchanged, including those of "...". */
static void test_private(void **state)
{
    struct ibv_context *context = ibv_open_device(device_named("later0"));
    const bool *setting = dlsym(RTLD_DEFAULT, "verbs_allow_disassociate_destroy");

    (void)state;
    assert_non_null(context);
    assert_string_equal(said, "1 2 3 4 5 6 0.25 later0");
    drop(context);
    assert_int_equal(execute_ioctl(theirs, NULL), SYSTEM_VERBS_INT);
    assert_non_null(setting); /* the library's own value, as drivers read it */
    assert_true(*setting);
}

/* ---- ours ---- */

static void test_ours(void **state)
{
    struct ibv_pd *pd;
    struct ibv_mr *mr;
    struct ibv_comp_channel *channel;
    struct ibv_cq *cq, *of;
    struct ibv_srq *srq;
    struct ibv_qp *qp;
    struct ibv_ah *ah;
    struct ibv_ah_attr to = {.is_global = 1, .port_num = 1};
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};
    struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_RC, .cap = {.max_send_wr = 1}};
    struct ibv_srq_init_attr srq_init = {.attr = {.max_wr = 1, .max_sge = 1}};
    struct ibv_async_event event;
    struct ibv_device_attr device;
    uint8_t memory[64];
    void *context;

    (void)state;
    *called = "";
    assert_int_equal(ibv_query_device(ours, &device), 0);
    assert_int_equal(ibv_query_gid(ours, 1, 0, &to.grh.dgid), 0);
    assert_non_null(pd = ibv_alloc_pd(ours));
    assert_non_null(mr = ibv_reg_mr(pd, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE));
    assert_non_null(channel = ibv_create_comp_channel(ours));
    assert_non_null(cq = ibv_create_cq(ours, 4, NULL, channel, 0));
    assert_non_null(srq = ibv_create_srq(pd, &srq_init));
    init.send_cq = init.recv_cq = cq;
    assert_non_null(qp = ibv_create_qp(pd, &init));
    assert_non_null(ah = ibv_create_ah(pd, &to));
    assert_int_equal(
        ibv_modify_qp(qp, &attr,
                      IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
        0);
    assert_int_equal(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init), 0);
    assert_int_equal(attr.qp_state, IBV_QPS_INIT);
    assert_int_equal(ibv_query_srq(srq, &srq_init.attr), 0);
    assert_int_equal(fcntl(channel->fd, F_SETFL, O_NONBLOCK), 0);
    assert_int_equal(ibv_get_cq_event(channel, &of, &context), -1);
    assert_int_equal(fcntl(ours->async_fd, F_SETFL, O_NONBLOCK), 0);
    assert_int_equal(ibv_get_async_event(ours, &event), -1);
    assert_int_equal(ibv_destroy_ah(ah), 0);
    assert_int_equal(ibv_destroy_qp(qp), 0);
    assert_int_equal(ibv_destroy_srq(srq), 0);
    assert_int_equal(ibv_destroy_cq(cq), 0);
    assert_int_equal(ibv_destroy_comp_channel(channel), 0);
    assert_int_equal(ibv_dereg_mr(mr), 0);
    assert_int_equal(ibv_dealloc_pd(pd), 0);
    assert_string_equal(*called, "");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists),         cmocka_unit_test(test_import),
        cmocka_unit_test(test_their_events),  cmocka_unit_test(test_their_memory),
        cmocka_unit_test(test_their_queues),  cmocka_unit_test(test_fork),
        cmocka_unit_test(test_private),       cmocka_unit_test(test_ours),
        cmocka_unit_test(test_their_context),
    };

    if (argc != 4) {
        fprintf(stderr, "usage: real_devices STAND-IN DRIVER-BEFORE DRIVER-LATER\n");
        return 2;
    }
    stand_in = argv[1];
    setenv("OCHE_DEVICE", "127.34.0.4", 0);
    setenv("OCHE_REAL_VERBS", stand_in, 1);
    setenv("SYSTEM_VERBS_DRIVER", argv[3], 1);
    if (dlopen(argv[2], RTLD_NOW) == NULL) { /* as a program is linked with libmlx5 */
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    if (execute_ioctl(NULL, NULL) != EOPNOTSUPP || errno != EOPNOTSUPP) {
        fprintf(stderr, "the private interface is there before the system's library\n");
        return 1;
    }
    return cmocka_run_group_tests(tests, open_both, close_both);
}
