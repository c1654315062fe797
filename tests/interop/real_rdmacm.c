/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connections by address with devices of the kernel's beside ours, in one process: a stand-in for
 * the system's librdmacm (tests/support/system_rdmacm.c) has the addresses of 10.99.0.0/16. What
 * the program sees are identifiers of ours, with the devices of either.
 *
 * usage: real_rdmacm SYSTEM-RDMACM SYSTEM-VERBS DRIVER
 */
#include "tests/support/test.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base.h"
#include "tests/support/system_rdmacm.h"
#include "tests/support/system_verbs.h"

#define OURS   "127.34.0.6"
#define THEIRS "10.99.0.1"

static const char *stand_in, *verbs_stand_in;
static struct system_rdmacm *theirs;
static const void **cq_context;
static struct ibv_context *our_verbs, *their_verbs;

static void *symbol(const char *library, const char *name)
{
    void *handle = dlopen(library, RTLD_NOW | RTLD_NOLOAD), *found;

    assert_non_null(handle);
    found = dlsym(handle, name);
    assert_non_null(found);
    dlclose(handle);
    return found;
}

static struct sockaddr *at(const char *address, uint16_t port)
{
    static struct sockaddr_in places[4];
    static unsigned next;
    struct sockaddr_in *place = &places[next++ % OCHE_COUNT_OF(places)];

    *place = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(port)};
    assert_int_equal(inet_pton(AF_INET, address, &place->sin_addr), 1);
    return (struct sockaddr *)place;
}

static bool readable(const struct rdma_event_channel *channel)
{
    struct pollfd one = {.fd = channel->fd, .events = POLLIN};

    return poll(&one, 1, 0) == 1;
}

/* Takes the next event, which must be this one, of this identifier (NULL: of any). */
static struct rdma_cm_event *expect(struct rdma_event_channel *channel, const struct rdma_cm_id *id,
                                    enum rdma_cm_event_type type)
{
    struct rdma_cm_event *event;

    assert_int_equal(rdma_get_cm_event(channel, &event), 0);
    assert_string_equal(rdma_event_str(event->event), rdma_event_str(type));
    if (id != NULL)
        assert_ptr_equal(event->id, id);
    return event;
}

static void pass(struct rdma_event_channel *channel, const struct rdma_cm_id *id,
                 enum rdma_cm_event_type type)
{
    assert_int_equal(rdma_ack_cm_event(expect(channel, id, type)), 0);
}

static struct rdma_cm_id *make(struct rdma_event_channel *channel, void *context)
{
    struct rdma_cm_id *id;

    assert_int_equal(rdma_create_id(channel, &id, context, RDMA_PS_TCP), 0);
    assert_ptr_equal(id->context, context);
    assert_ptr_equal(id->channel, channel);
    return id;
}

/* Resolves an address of the stand-in's, and a route. */
static struct rdma_cm_id *towards(struct rdma_event_channel *channel, const char *address,
                                  uint16_t port)
{
    struct rdma_cm_id *id = make(channel, NULL);
    const bool is_theirs = strncmp(address, "10.99.", 6) == 0;

    assert_int_equal(
        rdma_resolve_addr(id, is_theirs ? at("10.99.0.7", 0) : NULL, at(address, port), 1000), 0);
    pass(channel, id, RDMA_CM_EVENT_ADDR_RESOLVED);
    assert_ptr_equal(id->verbs, is_theirs ? their_verbs : our_verbs);
    assert_non_null(id->pd);
    assert_int_equal(id->port_num, is_theirs ? 2 : 1);
    assert_int_equal(rdma_get_dst_port(id), htons(port));
    assert_int_equal(rdma_resolve_route(id, 1000), 0);
    pass(channel, id, RDMA_CM_EVENT_ROUTE_RESOLVED);
    assert_int_equal(id->route.num_paths, 1);
    assert_non_null(id->route.path_rec);
    return id;
}

static void drop(struct rdma_cm_id *id)
{
    rdma_destroy_qp(id);
    assert_int_equal(rdma_destroy_id(id), 0);
}

/* ---- the stand-in ---- */

static int open_both(void **state)
{
    struct rdma_event_channel *channel = rdma_create_event_channel();
    struct ibv_context **list, **words;
    int count = 0;

    (void)state;
    assert_non_null(channel);
    theirs = symbol(stand_in, "system_rdmacm");
    cq_context = symbol(verbs_stand_in, "system_verbs_cq_context");
    assert_int_equal(theirs->channels, 1);
    assert_int_equal(theirs->devices, 1);
    list = rdma_get_devices(&count);
    assert_non_null(list);
    assert_int_equal(count, 2);
    assert_null(list[2]);
    our_verbs = list[0];
    their_verbs = list[1];
    assert_string_equal(our_verbs->device->name, "oche_lo_v4");
    assert_string_equal(their_verbs->device->name, "later0");
    assert_int_equal(theirs->lists, 1);
    rdma_free_devices(list);
    assert_int_equal(theirs->lists, 0);
    /* every object of the stand-in begins with its context, except a completion channel */
    words = symbol(verbs_stand_in, "system_verbs_object");
    words[0] = their_verbs;
    rdma_destroy_event_channel(channel);
    return 0;
}

/* Checks that all of the system library's objects that a test made are destroyed. */
static int nothing_left(void **state)
{
    (void)state;
    assert_int_equal(theirs->ids, 0);
    assert_int_equal(theirs->events, 0);
    assert_int_equal(theirs->channels, 0);
    return 0;
}

/* ---- which library an address belongs to ---- */

static void test_bind(void **state)
{
    struct rdma_event_channel *channel = rdma_create_event_channel();
    struct rdma_cm_id *one = make(channel, NULL), *other = make(channel, NULL);

    (void)state;
    assert_int_equal(theirs->ids, 2);
    assert_int_equal(rdma_bind_addr(one, at(THEIRS, 4000)), 0);
    assert_ptr_equal(one->verbs, their_verbs);
    assert_int_equal(rdma_get_src_port(one), htons(4000));
    assert_int_equal(one->route.addr.src_sin.sin_addr.s_addr, inet_addr(THEIRS));
    assert_int_equal(rdma_bind_addr(other, at("10.99.0.2", 4000)), -1);
    assert_int_equal(errno, EADDRINUSE);
    assert_int_equal(rdma_bind_addr(other, at(OURS, 4000)), 0);
    assert_ptr_equal(other->verbs, our_verbs);
    /* our identifier has no identifier of the system's behind it */
    assert_int_equal(theirs->ids, 1);
    assert_int_equal(rdma_destroy_id(one), 0);
    one = make(channel, NULL);
    assert_int_equal(rdma_bind_addr(one, at("192.0.2.1", 0)), -1);
    assert_int_equal(errno, ENODEV);
    assert_int_equal(rdma_destroy_id(one), 0);
    assert_int_equal(rdma_destroy_id(other), 0);
    rdma_destroy_event_channel(channel);
}

static void test_bind_both(void **state)
{
    struct rdma_event_channel *channel = rdma_create_event_channel();
    struct rdma_cm_id *any = make(channel, NULL), *taken = make(channel, NULL),
                      *listens = make(channel, NULL);

    (void)state;
    assert_int_equal(rdma_bind_addr(any, at("0.0.0.0", 0)), 0);
    assert_null(any->verbs);
    assert_int_not_equal(rdma_get_src_port(any), 0);
    assert_int_equal(theirs->port, ntohs(rdma_get_src_port(any)));
    /* a port that one of the two has is not free */
    assert_int_equal(rdma_bind_addr(taken, at(THEIRS, 4001)), 0);
    assert_int_equal(rdma_bind_addr(listens, at("0.0.0.0", 4001)), -1);
    assert_int_equal(errno, EADDRINUSE);
    assert_int_equal(rdma_bind_addr(listens, at("0.0.0.0", theirs->port == 4002 ? 4003 : 4002)), 0);
    assert_int_equal(rdma_destroy_id(listens), 0);
    assert_int_equal(rdma_destroy_id(taken), 0);
    assert_int_equal(rdma_destroy_id(any), 0);
    any = make(channel, NULL);
    /* rdma_listen binds it without a call of rdma_bind_addr */
    assert_int_equal(rdma_listen(any, 1), 0);
    assert_int_equal(theirs->port, ntohs(rdma_get_src_port(any)));
    assert_int_equal(rdma_destroy_id(any), 0);
    rdma_destroy_event_channel(channel);
}

/* ---- connections ---- */

static void make_qp(struct rdma_cm_id *id)
{
    struct ibv_qp_init_attr attr = {
        .qp_type = IBV_QPT_RC,
        .cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1}};

    assert_int_equal(rdma_create_qp(id, NULL, &attr), 0);
    assert_non_null(id->qp);
    assert_ptr_equal(id->qp->context, id->verbs);
    assert_ptr_equal(id->pd, id->qp->pd);
    assert_ptr_equal(attr.send_cq, id->send_cq);
    assert_non_null(id->send_cq);
    assert_non_null(id->send_cq_channel);
    assert_non_null(id->recv_cq);
    assert_non_null(id->recv_cq_channel);
    /* rdma_verbs.h expects this of a completion channel's event */
    assert_ptr_equal(id->verbs == our_verbs ? id->send_cq->cq_context : *cq_context, id);
}

static void test_connection(void **state)
{
    struct rdma_event_channel *channel = rdma_create_event_channel();
    struct rdma_cm_id *listener = make(channel, &channel), *asking, *asked;
    struct rdma_cm_event *event;
    struct rdma_conn_param param = {
        .private_data = "hello", .private_data_len = 6, .initiator_depth = 3, .qp_num = 17};

    (void)state;
    assert_int_equal(rdma_bind_addr(listener, at(THEIRS, 4000)), 0);
    assert_int_equal(rdma_listen(listener, 3), 0);
    asking = towards(channel, THEIRS, 4000);
    make_qp(asking);
    assert_int_equal(rdma_connect(asking, &param), 0);
    assert_string_equal(theirs->called, "rdma_connect with its queue pair");

    event = expect(channel, NULL, RDMA_CM_EVENT_CONNECT_REQUEST);
    asked = event->id;
    assert_ptr_not_equal(asked, listener);
    assert_ptr_equal(event->listen_id, listener);
    assert_ptr_equal(asked->context, &channel);
    assert_ptr_equal(asked->channel, channel);
    assert_ptr_equal(asked->verbs, their_verbs);
    assert_int_equal(asked->route.addr.dst_sin.sin_addr.s_addr, inet_addr("10.99.0.7"));
    assert_int_equal(event->param.conn.private_data_len, 6);
    assert_string_equal(event->param.conn.private_data, "hello");
    assert_int_equal(event->param.conn.initiator_depth, 3);
    assert_int_equal(event->param.conn.qp_num, 17);
    asked->context = &asked; /* the program's own */
    make_qp(asked);
    assert_int_equal(rdma_ack_cm_event(event), 0);

    assert_int_equal(rdma_accept(asked, &param), 0);
    assert_string_equal(theirs->called, "rdma_accept with its queue pair");
    event = expect(channel, asked, RDMA_CM_EVENT_ESTABLISHED);
    assert_ptr_equal(event->id->context, &asked);
    assert_null(event->listen_id);
    assert_int_equal(rdma_ack_cm_event(event), 0);
    pass(channel, asking, RDMA_CM_EVENT_ESTABLISHED);
    assert_int_equal(rdma_disconnect(asking), 0);
    pass(channel, asking, RDMA_CM_EVENT_DISCONNECTED);
    pass(channel, asked, RDMA_CM_EVENT_DISCONNECTED);
    drop(asking);
    drop(asked);
    drop(listener);
    rdma_destroy_event_channel(channel);
}

static void test_rejected(void **state)
{
    struct rdma_event_channel *channel = rdma_create_event_channel();
    struct rdma_cm_id *listener = make(channel, NULL), *asking;
    struct rdma_conn_param param = {.retry_count = 1};
    struct rdma_cm_event *event;

    (void)state;
    assert_int_equal(rdma_bind_addr(listener, at(THEIRS, 4000)), 0);
    assert_int_equal(rdma_listen(listener, 3), 0);
    asking = towards(channel, THEIRS, 4000);
    asking->qp = ibv_create_qp(asking->pd, &(struct ibv_qp_init_attr){0}); /* the program's own */
    assert_int_equal(rdma_connect(asking, &param), 0);
    assert_string_equal(theirs->called, "rdma_connect with its queue pair");
    event = expect(channel, NULL, RDMA_CM_EVENT_CONNECT_REQUEST);
    assert_int_equal(rdma_reject(event->id, "no", 3), 0);
    drop(event->id); /* before its event, which is the listener's, is acknowledged */
    assert_int_equal(rdma_ack_cm_event(event), 0);
    event = expect(channel, asking, RDMA_CM_EVENT_REJECTED);
    assert_int_equal(event->status, 28);
    assert_string_equal(event->param.conn.private_data, "no");
    assert_int_equal(rdma_ack_cm_event(event), 0);
    drop(asking);
    drop(listener);
    rdma_destroy_event_channel(channel);
}

/* One listener gets requests to devices of both. */
static void test_listens_at_both(void **state)
{
    struct rdma_event_channel *channel = rdma_create_event_channel(),
                              *askers = rdma_create_event_channel();
    struct rdma_cm_id *listener = make(channel, NULL), *asking[2];
    struct rdma_conn_param param = {.private_data = "x", .private_data_len = 2};
    bool ours_came = false, theirs_came = false;

    (void)state;
    assert_int_equal(rdma_bind_addr(listener, at("0.0.0.0", 4000)), 0);
    assert_int_equal(rdma_listen(listener, 3), 0);
    asking[0] = towards(askers, OURS, 4000);
    asking[1] = towards(askers, THEIRS, 4000);
    for (unsigned i = 0; i < 2; i++) {
        make_qp(asking[i]);
        assert_int_equal(rdma_connect(asking[i], &param), 0);
    }
    for (unsigned i = 0; i < 2; i++) {
        struct rdma_cm_event *event = expect(channel, NULL, RDMA_CM_EVENT_CONNECT_REQUEST);

        assert_ptr_equal(event->listen_id, listener);
        assert_string_equal(event->param.conn.private_data, "x");
        ours_came |= event->id->verbs == our_verbs;
        theirs_came |= event->id->verbs == their_verbs;
        assert_int_equal(rdma_reject(event->id, NULL, 0), 0);
        drop(event->id);
        assert_int_equal(rdma_ack_cm_event(event), 0);
    }
    assert_true(ours_came && theirs_came);
    pass(askers, NULL, RDMA_CM_EVENT_REJECTED);
    pass(askers, NULL, RDMA_CM_EVENT_REJECTED);
    drop(asking[0]);
    drop(asking[1]);
    drop(listener);
    rdma_destroy_event_channel(askers);
    rdma_destroy_event_channel(channel);
}

/* ---- channels ---- */

static void test_descriptor(void **state)
{
    struct rdma_event_channel *channel = rdma_create_event_channel();
    struct rdma_cm_id *id = make(channel, NULL), *of_ours = make(channel, NULL);
    struct rdma_cm_event *event;

    (void)state;
    assert_int_equal(fcntl(channel->fd, F_SETFL, O_NONBLOCK), 0);
    assert_false(readable(channel));
    assert_int_equal(rdma_get_cm_event(channel, &event), -1);
    assert_int_equal(errno, EAGAIN);
    assert_int_equal(rdma_resolve_addr(id, at("10.99.0.7", 0), at(THEIRS, 1), 1000), 0);
    assert_true(readable(channel));
    pass(channel, id, RDMA_CM_EVENT_ADDR_RESOLVED);
    assert_false(readable(channel));
    assert_int_equal(rdma_resolve_addr(of_ours, NULL, at(OURS, 1), 1000), 0);
    assert_true(readable(channel));
    assert_int_equal(rdma_resolve_route(id, 1000), 0);
    pass(channel, of_ours, RDMA_CM_EVENT_ADDR_RESOLVED);
    assert_true(readable(channel));
    pass(channel, id, RDMA_CM_EVENT_ROUTE_RESOLVED);
    assert_false(readable(channel));
    assert_int_equal(rdma_get_cm_event(channel, &event), -1);
    assert_int_equal(errno, EAGAIN);
    assert_int_equal(rdma_destroy_id(id), 0);
    assert_int_equal(rdma_destroy_id(of_ours), 0);
    rdma_destroy_event_channel(channel);
}

struct waiter {
    struct rdma_cm_id *id;
    struct rdma_event_channel *to;
    _Atomic bool done;
};

static void *destroy(void *argument)
{
    struct waiter *waiter = argument;

    if (rdma_destroy_id(waiter->id) == 0)
        waiter->done = true;
    return NULL;
}

static void *migrate(void *argument)
{
    struct waiter *waiter = argument;

    if (rdma_migrate_id(waiter->id, waiter->to) == 0)
        waiter->done = true;
    return NULL;
}

static void *next_event(void *argument)
{
    struct waiter *waiter = argument;
    struct rdma_cm_event *event;

    if (rdma_get_cm_event(waiter->to, &event) == 0 && event->id == waiter->id &&
        rdma_ack_cm_event(event) == 0)
        waiter->done = true;
    return NULL;
}

/* Waits for the thread after what lets it end; it must not have ended before. */
#define ENDS_WITH(thread, waiter, call)                                                            \
    do {                                                                                           \
        usleep(50000);                                                                             \
        assert_false((waiter)->done);                                                              \
        assert_int_equal(call, 0);                                                                 \
        assert_int_equal(pthread_join(thread, NULL), 0);                                           \
        assert_true((waiter)->done);                                                               \
    } while (0)

/* An identifier stays until its events are acknowledged; events that were not taken are dropped. */
static void test_destroy_waits(void **state)
{
    struct rdma_event_channel *channel = rdma_create_event_channel();
    struct waiter waiter = {.id = make(channel, NULL)};
    struct rdma_cm_event *event;
    pthread_t thread;

    (void)state;
    assert_int_equal(rdma_resolve_addr(waiter.id, at("10.99.0.7", 0), at(THEIRS, 1), 1000), 0);
    event = expect(channel, waiter.id, RDMA_CM_EVENT_ADDR_RESOLVED);
    assert_int_equal(rdma_resolve_route(waiter.id, 1000), 0);
    assert_int_equal(pthread_create(&thread, NULL, destroy, &waiter), 0);
    ENDS_WITH(thread, &waiter, rdma_ack_cm_event(event));
    assert_false(readable(channel));
    rdma_destroy_event_channel(channel);
}

static void test_migrate(void **state)
{
    struct rdma_event_channel *channel = rdma_create_event_channel();
    struct waiter waiter = {.id = make(channel, NULL), .to = rdma_create_event_channel()};
    struct rdma_cm_event *event;
    pthread_t thread;

    (void)state;
    assert_int_equal(rdma_migrate_id(waiter.id, waiter.to), 0); /* not delivered yet */
    assert_int_equal(rdma_migrate_id(waiter.id, channel), 0);
    assert_int_equal(rdma_resolve_addr(waiter.id, at("10.99.0.7", 0), at(THEIRS, 1), 1000), 0);
    event = expect(channel, waiter.id, RDMA_CM_EVENT_ADDR_RESOLVED);
    assert_int_equal(rdma_resolve_route(waiter.id, 1000), 0);
    assert_int_equal(pthread_create(&thread, NULL, migrate, &waiter), 0);
    ENDS_WITH(thread, &waiter, rdma_ack_cm_event(event));
    assert_ptr_equal(waiter.id->channel, waiter.to);
    assert_false(readable(channel));
    pass(waiter.to, waiter.id, RDMA_CM_EVENT_ROUTE_RESOLVED); /* which waited */
    assert_ptr_equal(waiter.id->verbs, their_verbs);
    rdma_destroy_event_channel(channel);
    assert_int_equal(rdma_destroy_id(waiter.id), 0);
    rdma_destroy_event_channel(waiter.to);
}

/* A thread that waits at the channel gets events of either. */
static void test_wakes(void **state)
{
    struct rdma_event_channel *channel = rdma_create_event_channel();
    pthread_t thread;

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct waiter waiter = {.id = make(channel, NULL), .to = channel};

        assert_int_equal(pthread_create(&thread, NULL, next_event, &waiter), 0);
        ENDS_WITH(thread, &waiter,
                  rdma_resolve_addr(waiter.id, i == 0 ? at("10.99.0.7", 0) : NULL,
                                    at(i == 0 ? THEIRS : OURS, 1), 1000));
        assert_int_equal(rdma_destroy_id(waiter.id), 0);
    }
    rdma_destroy_event_channel(channel);
}

/* ---- calls that wait ---- */

static void *serve(void *argument)
{
    struct rdma_cm_id *listener = argument, *asked;

    if (rdma_get_request(listener, &asked) != 0)
        return "no request";
    if (asked->verbs != their_verbs || asked->qp == NULL || asked->channel == listener->channel ||
        asked->event == NULL || asked->event->event != RDMA_CM_EVENT_CONNECT_REQUEST)
        return "not what was asked for";
    if (strcmp(asked->event->param.conn.private_data, "from ep") != 0)
        return "another private data";
    if (rdma_accept(asked, NULL) != 0)
        return "cannot accept";
    if (rdma_disconnect(asked) != 0)
        return "cannot disconnect";
    rdma_destroy_ep(asked);
    return NULL;
}

static void test_endpoints(void **state)
{
    struct rdma_addrinfo info = {.ai_flags = RAI_PASSIVE,
                                 .ai_port_space = RDMA_PS_TCP,
                                 .ai_qp_type = IBV_QPT_RC,
                                 .ai_src_addr = at(THEIRS, 4000),
                                 .ai_src_len = sizeof(struct sockaddr_in)};
    const struct ibv_qp_init_attr attr = {.cap = {.max_send_wr = 1, .max_recv_wr = 1}};
    struct ibv_qp_init_attr copy = attr;
    struct rdma_cm_id *listener, *asking;
    pthread_t thread;
    void *failed;

    (void)state;
    assert_int_equal(rdma_create_ep(&listener, &info, NULL, &copy), 0);
    assert_int_equal(rdma_listen(listener, 0), 0);
    assert_int_equal(pthread_create(&thread, NULL, serve, listener), 0);
    info = (struct rdma_addrinfo){.ai_port_space = RDMA_PS_TCP,
                                  .ai_qp_type = IBV_QPT_RC,
                                  .ai_src_addr = at("10.99.0.7", 0),
                                  .ai_src_len = sizeof(struct sockaddr_in),
                                  .ai_dst_addr = at(THEIRS, 4000),
                                  .ai_dst_len = sizeof(struct sockaddr_in),
                                  .ai_connect = "from ep",
                                  .ai_connect_len = 8};
    copy = attr;
    assert_int_equal(rdma_create_ep(&asking, &info, NULL, &copy), 0);
    assert_non_null(asking->qp);
    assert_int_equal(rdma_connect(asking, NULL), 0);
    assert_int_equal(theirs->asked.retry_count, 7);
    assert_int_equal(theirs->asked.initiator_depth, RDMA_MAX_INIT_DEPTH);
    assert_non_null(asking->event);
    assert_int_equal(asking->event->event, RDMA_CM_EVENT_ESTABLISHED);
    assert_int_equal(rdma_disconnect(asking), 0);
    assert_int_equal(pthread_join(thread, &failed), 0);
    if (failed != NULL)
        fail_msg("%s", (const char *)failed);
    rdma_destroy_ep(asking);
    rdma_destroy_ep(listener);

    info.ai_connect_len = 0;
    copy = attr;
    assert_int_equal(rdma_create_ep(&asking, &info, NULL, &copy), 0);
    assert_int_equal(rdma_connect(asking, &(struct rdma_conn_param){0}), -1);
    assert_int_equal(errno, ECONNREFUSED); /* the listener is gone */
    rdma_destroy_ep(asking);
}

/* ---- what is passed on as it is ---- */

#define PASSES(expected, name, ...)                                                                \
    do {                                                                                           \
        theirs->called = "";                                                                       \
        assert_int_equal(name(__VA_ARGS__), expected);                                             \
        assert_string_equal(theirs->called, #name);                                                \
    } while (0)

static void test_passes_on(void **state)
{
    struct rdma_event_channel *channel = rdma_create_event_channel();
    struct rdma_cm_id *id = make(channel, NULL);
    struct ibv_srq_init_attr srq = {.attr = {.max_wr = 1}};
    struct ibv_srq_init_attr_ex xrc = {.comp_mask = IBV_SRQ_INIT_ATTR_TYPE,
                                       .srq_type = IBV_SRQT_XRC};
    struct ibv_qp_init_attr sends = {.qp_type = IBV_QPT_XRC_SEND, .cap = {.max_send_wr = 1}};
    struct rdma_addrinfo hints = {.ai_flags = RAI_FAMILY, .ai_family = AF_IB}, *found;
    struct rdma_cm_event *event;
    uint8_t tos = 8;
    int mask;

    (void)state;
    /* both libraries have this option */
    PASSES(0, rdma_set_option, id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, 1);
    assert_int_equal(rdma_bind_addr(id, at(THEIRS, 4000)), 0);
    PASSES(0, rdma_set_option, id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, NULL, 0);
    PASSES(SYSTEM_VERBS_INT, rdma_init_qp_attr, id, &(struct ibv_qp_attr){0}, &mask);
    PASSES(SYSTEM_VERBS_INT, rdma_notify, id, IBV_EVENT_COMM_EST);
    PASSES(SYSTEM_VERBS_INT, rdma_establish, id);
    PASSES(SYSTEM_VERBS_INT, rdma_join_multicast_ex, id, NULL, NULL);
    PASSES(SYSTEM_VERBS_INT, rdma_leave_multicast, id, NULL);
    PASSES(SYSTEM_VERBS_INT, rdma_set_local_ece, id, NULL);
    PASSES(SYSTEM_VERBS_INT, rdma_get_remote_ece, id, NULL);
    PASSES(SYSTEM_VERBS_INT, rdma_reject_ece, id, NULL, 0);
    PASSES(SYSTEM_VERBS_INT, rdma_getaddrinfo, NULL, NULL, &hints, &found);
    assert_int_equal(rdma_join_multicast(id, at("239.0.0.1", 0), &tos), 0);
    event = expect(channel, id, RDMA_CM_EVENT_MULTICAST_JOIN);
    assert_ptr_equal(event->param.ud.private_data, &tos);
    assert_int_equal(rdma_ack_cm_event(event), 0);
    assert_int_equal(rdma_create_srq(id, NULL, &srq), 0);
    assert_non_null(id->srq);
    rdma_destroy_srq(id);
    assert_null(id->srq);
    assert_int_equal(rdma_create_srq_ex(id, &xrc), 0);
    assert_ptr_equal(*cq_context, id);
    rdma_destroy_srq(id);
    assert_null(id->recv_cq);
    assert_int_equal(rdma_create_qp(id, NULL, &sends), 0); /* with one completion queue */
    assert_non_null(id->send_cq);
    assert_null(id->recv_cq);
    rdma_destroy_qp(id);
    assert_int_equal(rdma_destroy_id(id), 0);
    rdma_destroy_event_channel(channel);
}

/* The family that is asked for; a server's address is any. */
static void test_addresses(void **state)
{
    static const int families[] = {AF_INET, AF_INET6};

    (void)state;
    for (unsigned i = 0; i < OCHE_COUNT_OF(families); i++) {
        const struct rdma_addrinfo hints = {.ai_flags = RAI_PASSIVE, .ai_family = families[i]};
        struct rdma_addrinfo *found;

        assert_int_equal(rdma_getaddrinfo(NULL, "4000", &hints, &found), 0);
        assert_int_equal(found->ai_family, families[i]);
        assert_int_equal(found->ai_src_addr->sa_family, families[i]);
        assert_null(found->ai_next);
        rdma_freeaddrinfo(found);
    }
}

/* Without the system's channels, our own work as usual. */
static void test_ours_alone(void **state)
{
    struct rdma_event_channel *channel;
    struct rdma_cm_id *id;

    (void)state;
    theirs->has_no_channels = true;
    channel = rdma_create_event_channel();
    theirs->has_no_channels = false;
    assert_non_null(channel);
    id = make(channel, NULL);
    assert_int_equal(rdma_bind_addr(id, at(OURS, 4000)), 0);
    assert_int_equal(rdma_listen(id, 1), 0);
    assert_int_equal(rdma_destroy_id(id), 0);
    id = make(channel, NULL);
    assert_int_equal(rdma_bind_addr(id, at(THEIRS, 4000)), -1);
    assert_int_equal(errno, ENODEV);
    assert_int_equal(rdma_destroy_id(id), 0);
    rdma_destroy_event_channel(channel);
}

#define TEST(name) cmocka_unit_test_teardown(name, nothing_left)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(test_bind),      TEST(test_bind_both),       TEST(test_connection),
        TEST(test_rejected),  TEST(test_listens_at_both), TEST(test_descriptor),
        TEST(test_endpoints), TEST(test_destroy_waits),   TEST(test_migrate),
        TEST(test_wakes),     TEST(test_passes_on),       TEST(test_ours_alone),
        TEST(test_addresses),
    };

    if (argc != 4) {
        fprintf(stderr, "usage: real_rdmacm SYSTEM-RDMACM SYSTEM-VERBS DRIVER\n");
        return 2;
    }
    stand_in = argv[1];
    verbs_stand_in = argv[2];
    setenv("OCHE_DEVICE", OURS, 0);
    setenv("OCHE_REAL_RDMACM", stand_in, 1);
    setenv("OCHE_REAL_VERBS", verbs_stand_in, 1);
    setenv("SYSTEM_VERBS_DRIVER", argv[3], 1);
    return cmocka_run_group_tests(tests, open_both, NULL);
}
