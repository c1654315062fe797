/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks each call against librdmacm's manual pages: errors, events and their data, which calls
 * block, and the state after a call. Where the pages say nothing, the stock library on Linux
 * decides. The one exception is multicast, which we do not have.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include <rdma/rdma_verbs.h>

#include "tests/interop/cm_bench.h"

static struct rdma_cm_id *fresh(enum rdma_port_space ps)
{
    struct rdma_cm_id *id;

    CM_WORKS(rdma_create_id(cm_asking, &id, NULL, ps));
    return id;
}

static void destroy(struct rdma_cm_id *id)
{
    CM_WORKS(rdma_destroy_id(id));
}

/* Connects. Sets the identifiers of both ends. */
static void connect_both(struct rdma_cm_id **client, struct rdma_cm_id **server)
{
    struct rdma_conn_param param = cm_param(NULL, 0);
    struct rdma_cm_event *event;

    *client = cm_resolved(RDMA_PS_TCP);
    CM_WORKS(rdma_connect(*client, &param));
    event = cm_next(cm_serving, RDMA_CM_EVENT_CONNECT_REQUEST);
    *server = event->id;
    CM_WORKS(rdma_ack_cm_event(event));
    param = cm_param(NULL, 0);
    CM_WORKS(rdma_accept(*server, &param));
    assert_int_equal(cm_take(cm_asking, RDMA_CM_EVENT_CONNECT_RESPONSE), 0);
}

/* ---- rdma_create_id, rdma_bind_addr, rdma_listen ---- */

static void identifiers(void **state)
{
    struct rdma_cm_id *id, *other;

    (void)state;
    CM_FAILS(rdma_create_id(cm_asking, &id, NULL, (enum rdma_port_space)0x777), EINVAL);
    id = fresh(RDMA_PS_TCP);
    assert_int_equal(rdma_get_src_port(id), 0);
    assert_int_equal(rdma_get_dst_port(id), 0);
    assert_ptr_equal(id->channel, cm_asking);
    assert_int_equal(id->ps, RDMA_PS_TCP);
    assert_null(id->verbs);
    CM_FAILS(rdma_bind_addr(id, NULL), EINVAL);
    CM_FAILS(rdma_bind_addr(id, cm_address(cm_port())), EADDRINUSE);
    CM_WORKS(rdma_bind_addr(id, cm_address(0)));
    assert_non_null(id->verbs);
    assert_int_equal(id->port_num, 1);
    assert_int_not_equal(rdma_get_src_port(id), 0);
    CM_FAILS(rdma_bind_addr(id, cm_address(0)), EINVAL);
    CM_WORKS(rdma_listen(id, 1));
    CM_FAILS(rdma_listen(id, 1), EINVAL);
    other = fresh(RDMA_PS_TCP);
    CM_FAILS(rdma_bind_addr(other, cm_address(ntohs(rdma_get_src_port(id)))), EADDRINUSE);
    destroy(id);
    CM_WORKS(rdma_bind_addr(other, cm_address(0)));
    destroy(other);

    other = fresh(RDMA_PS_UDP); /* another port space has other ports */
    CM_WORKS(rdma_bind_addr(other, cm_address(cm_port())));
    destroy(other);
}

static void not_local(void **state)
{
    struct sockaddr *address = cm_address(0);
    struct rdma_cm_id *id = fresh(RDMA_PS_TCP);

    (void)state;
    ((uint8_t *)address)[4] = 203; /* 203.34.0.2 */
    assert_int_equal(rdma_bind_addr(id, address), -1);
    assert_true(errno == ENODEV || errno == EADDRNOTAVAIL);
    destroy(id);
}

/* ---- rdma_set_option ---- */

static void options(void **state)
{
    struct rdma_cm_id *id = fresh(RDMA_PS_TCP), *twin = fresh(RDMA_PS_TCP);
    struct rdma_cm_id *datagrams = fresh(RDMA_PS_UDP);
    uint8_t byte = 14;
    int one = 1;

    (void)state;
    CM_WORKS(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &byte, 1));
    CM_FAILS(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &one, 4), EINVAL);
    CM_WORKS(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, &one, 4));
    CM_FAILS(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, &byte, 1), EINVAL);
    CM_WORKS(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &byte, 1));
    CM_FAILS(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &one, 4), EINVAL);
    CM_FAILS(rdma_set_option(datagrams, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &byte, 1),
             EINVAL);
    CM_FAILS(rdma_set_option(id, RDMA_OPTION_ID, 77, &one, 4), ENOSYS);
    CM_FAILS(rdma_set_option(id, 77, RDMA_OPTION_ID_TOS, &byte, 1), ENOSYS);

    /* two may have an address that both want to share, and one may listen */
    CM_WORKS(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &one, 4));
    CM_WORKS(rdma_set_option(twin, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &one, 4));
    CM_WORKS(rdma_bind_addr(id, cm_address(0)));
    CM_WORKS(rdma_bind_addr(twin, cm_address(ntohs(rdma_get_src_port(id)))));
    CM_WORKS(rdma_listen(id, 1));
    CM_FAILS(rdma_listen(twin, 1), EADDRINUSE);
    destroy(id);
    destroy(twin);
    destroy(datagrams);
}

/* ---- rdma_resolve_addr, rdma_resolve_route, rdma_connect ---- */

static void steps_in_order(void **state)
{
    struct rdma_conn_param param = cm_param(NULL, 0);
    struct rdma_cm_id *id = fresh(RDMA_PS_TCP);

    (void)state;
    CM_FAILS(rdma_resolve_addr(id, NULL, NULL, 1000), EINVAL);
    CM_FAILS(rdma_resolve_route(id, 1000), EINVAL);
    CM_FAILS(rdma_connect(id, &param), EINVAL);
    CM_FAILS(rdma_accept(id, &param), EINVAL);
    CM_FAILS(rdma_reject(id, NULL, 0), EINVAL);
    CM_FAILS(rdma_disconnect(id), EINVAL);
    CM_FAILS(rdma_establish(id), EINVAL);
    CM_FAILS(rdma_notify(id, IBV_EVENT_COMM_EST), EINVAL);
    CM_WORKS(rdma_resolve_addr(id, NULL, cm_address(cm_port()), 1000));
    assert_int_equal(cm_take(cm_asking, RDMA_CM_EVENT_ADDR_RESOLVED), 0);
    assert_int_equal(ntohs(rdma_get_dst_port(id)), cm_port());
    assert_non_null(id->verbs);
    CM_FAILS(rdma_resolve_addr(id, NULL, cm_address(cm_port()), 1000), EINVAL);
    CM_FAILS(rdma_connect(id, &param), EINVAL);
    CM_WORKS(rdma_resolve_route(id, 1000));
    assert_int_equal(cm_take(cm_asking, RDMA_CM_EVENT_ROUTE_RESOLVED), 0);
    assert_int_equal(id->route.num_paths, 1);
    assert_non_null(id->route.path_rec);
    CM_FAILS(rdma_resolve_route(id, 1000), EINVAL);
    CM_FAILS(rdma_connect(id, NULL), EINVAL); /* there is no queue pair */
    CM_FAILS(rdma_disconnect(id), EINVAL);
    CM_FAILS(rdma_listen(id, 1), EINVAL);
    destroy(id);
    cm_silent(cm_serving);
}

/* "must be less than or equal to the local RDMA device attribute" */
static void depths(void **state)
{
    struct rdma_conn_param param = cm_param(NULL, 0);
    struct rdma_cm_id *id = cm_resolved(RDMA_PS_TCP), *asked;
    struct ibv_device_attr attr;
    struct rdma_cm_event *event;

    (void)state;
    assert_int_equal(ibv_query_device(id->verbs, &attr), 0);
    param.responder_resources = (uint8_t)(attr.max_qp_rd_atom + 1);
    CM_FAILS(rdma_connect(id, &param), EINVAL);
    param.responder_resources = 3;
    param.initiator_depth = (uint8_t)(attr.max_qp_init_rd_atom + 1);
    CM_FAILS(rdma_connect(id, &param), EINVAL);
    param.initiator_depth = 5;
    param.flow_control = 1;
    param.retry_count = 6;
    param.rnr_retry_count = 2;
    param.srq = 1;
    CM_WORKS(rdma_connect(id, &param));
    CM_FAILS(rdma_connect(id, &param), EINVAL);
    event = cm_next(cm_serving, RDMA_CM_EVENT_CONNECT_REQUEST);
    asked = event->id;
    assert_ptr_equal(event->listen_id, cm_listener);
    assert_int_equal(event->param.conn.responder_resources, 5); /* the peer's initiator depth */
    assert_int_equal(event->param.conn.initiator_depth, 3);
    assert_int_equal(event->param.conn.flow_control, 1);
    assert_int_equal(event->param.conn.retry_count, 6);
    assert_int_equal(event->param.conn.rnr_retry_count, 2);
    assert_int_equal(event->param.conn.srq, 1);
    assert_int_equal(event->param.conn.qp_num, param.qp_num);
    assert_ptr_equal(asked->verbs, id->verbs);
    CM_WORKS(rdma_ack_cm_event(event));
    param.responder_resources = (uint8_t)(attr.max_qp_rd_atom + 1);
    CM_FAILS(rdma_accept(asked, &param), EINVAL);
    param.responder_resources = 4; /* less than was asked for */
    param.initiator_depth = 9;     /* more than the peer's limit */
    CM_WORKS(rdma_accept(asked, &param));
    event = cm_next(cm_asking, RDMA_CM_EVENT_CONNECT_RESPONSE);
    assert_int_equal(event->param.conn.initiator_depth, 4);
    assert_int_equal(event->param.conn.responder_resources, 3);
    CM_WORKS(rdma_ack_cm_event(event));
    destroy(id);
    assert_int_equal(cm_take(cm_serving, RDMA_CM_EVENT_REJECTED), 28);
    destroy(asked);
}

static void nobody_listens(void **state)
{
    struct rdma_conn_param param = cm_param(NULL, 0);
    struct rdma_cm_id *id = fresh(RDMA_PS_TCP);

    (void)state;
    CM_WORKS(rdma_resolve_addr(id, NULL, cm_address(1), 1000));
    assert_int_equal(cm_take(cm_asking, RDMA_CM_EVENT_ADDR_RESOLVED), 0);
    CM_WORKS(rdma_resolve_route(id, 1000));
    assert_int_equal(cm_take(cm_asking, RDMA_CM_EVENT_ROUTE_RESOLVED), 0);
    CM_WORKS(rdma_connect(id, &param));
    assert_int_equal(cm_take(cm_asking, RDMA_CM_EVENT_REJECTED), 8); /* invalid service ID */
    destroy(id);
}

/* ---- rdma_establish, rdma_notify, rdma_disconnect ---- */

static void notified(void **state)
{
    struct rdma_cm_id *client, *server;

    (void)state;
    connect_both(&client, &server);
    CM_FAILS(rdma_notify(server, IBV_EVENT_QP_FATAL), EINVAL);
    CM_FAILS(rdma_notify(client, IBV_EVENT_COMM_EST), EINVAL); /* it has to confirm */
    CM_WORKS(rdma_notify(server, IBV_EVENT_COMM_EST));
    assert_int_equal(cm_take(cm_serving, RDMA_CM_EVENT_ESTABLISHED), 0);
    CM_FAILS(rdma_notify(server, IBV_EVENT_COMM_EST), EISCONN);
    CM_WORKS(rdma_establish(client));
    CM_FAILS(rdma_establish(client), EINVAL);
    CM_FAILS(rdma_notify(client, IBV_EVENT_COMM_EST), EISCONN);
    CM_WORKS(rdma_disconnect(server));
    assert_int_equal(cm_take(cm_asking, RDMA_CM_EVENT_DISCONNECTED), 0);
    CM_WORKS(rdma_disconnect(client));
    /* ESTABLISHED did not come a second time */
    assert_int_equal(cm_take(cm_serving, RDMA_CM_EVENT_DISCONNECTED), 0);
    assert_int_equal(cm_take(cm_asking, RDMA_CM_EVENT_TIMEWAIT_EXIT), 0);
    assert_int_equal(cm_take(cm_serving, RDMA_CM_EVENT_TIMEWAIT_EXIT), 0);
    CM_WORKS(rdma_disconnect(client)); /* a second call, as some programs make */
    destroy(client);
    destroy(server);
}

static void answered_once(void **state)
{
    struct rdma_conn_param param = cm_param(NULL, 0);
    struct rdma_cm_id *client, *server;

    (void)state;
    connect_both(&client, &server);
    CM_FAILS(rdma_accept(server, &param), EINVAL);
    CM_WORKS(rdma_reject(client, NULL, 0)); /* the answer is refused */
    assert_int_equal(cm_take(cm_serving, RDMA_CM_EVENT_REJECTED), 28);
    CM_FAILS(rdma_establish(client), EINVAL);
    CM_FAILS(rdma_reject(server, NULL, 0), EINVAL);
    destroy(client);
    destroy(server);
}

/* ---- rdma_create_qp ---- */

static void queue_pairs(void **state)
{
    struct rdma_cm_id *id = fresh(RDMA_PS_TCP), *ready;
    struct ibv_qp_init_attr attr = {
        .cap = {.max_send_wr = 3, .max_recv_wr = 3, .max_send_sge = 1, .max_recv_sge = 1},
        .qp_type = IBV_QPT_RC};
    struct ibv_qp_attr found = {.qp_state = IBV_QPS_ERR};
    int mask;

    (void)state;
    CM_FAILS(rdma_create_qp(id, NULL, &attr), EINVAL); /* not bound */
    CM_FAILS(rdma_init_qp_attr(id, &found, &mask), EINVAL);
    destroy(id);
    ready = cm_resolved(RDMA_PS_TCP);
    attr.qp_type = IBV_QPT_UD;
    CM_FAILS(rdma_create_qp(ready, NULL, &attr), EINVAL);
    attr.qp_type = IBV_QPT_RC;
    CM_WORKS(rdma_create_qp(ready, NULL, &attr));
    assert_true(ready->qp != NULL && ready->pd != NULL && ready->send_cq != NULL &&
                ready->send_cq_channel != NULL && ready->recv_cq != NULL);
    assert_true(attr.cap.max_send_wr >= 3 && attr.cap.max_recv_wr >= 3);
    assert_ptr_equal(attr.send_cq, ready->send_cq);
    assert_int_equal(ready->qp->state, IBV_QPS_INIT); /* receives can be posted */
    CM_FAILS(rdma_create_qp(ready, NULL, &attr), EINVAL);
    CM_FAILS(rdma_establish(ready), EINVAL);
    found.qp_state = IBV_QPS_RTR;
    CM_FAILS(rdma_init_qp_attr(ready, &found, &mask), EINVAL); /* no peer */
    rdma_destroy_qp(ready);
    assert_true(ready->qp == NULL && ready->send_cq == NULL && ready->recv_cq_channel == NULL);
    destroy(ready);
}

/* ---- events ---- */

static void channels(void **state)
{
    struct rdma_event_channel *channel = rdma_create_event_channel();
    struct rdma_cm_event *event;

    (void)state;
    assert_int_equal(fcntl(channel->fd, F_SETFL, O_NONBLOCK), 0);
    CM_FAILS(rdma_get_cm_event(channel, &event), EAGAIN);
    CM_FAILS(rdma_get_cm_event(channel, NULL), EINVAL);
    CM_FAILS(rdma_ack_cm_event(NULL), EINVAL);
    rdma_destroy_event_channel(channel);
    assert_string_equal(rdma_event_str(RDMA_CM_EVENT_ADDR_RESOLVED), "RDMA_CM_EVENT_ADDR_RESOLVED");
    assert_string_equal(rdma_event_str((enum rdma_cm_event_type)99), "UNKNOWN EVENT");
}

static bool acknowledged;

static void *acknowledge_later(void *event)
{
    usleep(50000);
    __atomic_store_n(&acknowledged, true, __ATOMIC_SEQ_CST);
    CM_WORKS(rdma_ack_cm_event(event));
    return NULL;
}

/* "Destruction of an rdma_cm_id will block until related events have been acknowledged." */
static void destruction_waits(void **state)
{
    struct rdma_cm_id *id = fresh(RDMA_PS_TCP);
    pthread_t thread;

    (void)state;
    CM_WORKS(rdma_resolve_addr(id, NULL, cm_address(cm_port()), 1000));
    acknowledged = false;
    assert_int_equal(pthread_create(&thread, NULL, acknowledge_later,
                                    cm_next(cm_asking, RDMA_CM_EVENT_ADDR_RESOLVED)),
                     0);
    destroy(id);
    assert_true(__atomic_load_n(&acknowledged, __ATOMIC_SEQ_CST));
    pthread_join(thread, NULL);
}

/*
 * Returns the request's number. A client sends its request again until it has an answer, so one
 * that was just refused may come a second time.
 */
static unsigned number_of(const struct rdma_cm_event *event, unsigned count)
{
    unsigned number;

    memcpy(&number, event->param.conn.private_data, sizeof(number));
    assert_true(number < count);
    return number;
}

/* Rejects a request that came at the channel. Returns its number. */
static unsigned reject_next(struct rdma_event_channel *channel, unsigned count)
{
    struct rdma_cm_event *event = cm_next(channel, RDMA_CM_EVENT_CONNECT_REQUEST);
    const unsigned number = number_of(event, count);

    assert_ptr_equal(event->id->channel, channel);
    CM_WORKS(rdma_reject(event->id, NULL, 0));
    destroy(event->id);
    CM_WORKS(rdma_ack_cm_event(event));
    return number;
}

/* "moves any pending events"; "will block while there are any unacknowledged events" */
static void migration(void **state)
{
    enum { REQUESTS = 100 };
    struct rdma_event_channel *other = rdma_create_event_channel();
    struct rdma_cm_id *clients[REQUESTS];
    struct rdma_cm_event *event;
    bool seen[REQUESTS] = {false};
    pthread_t thread;

    (void)state;
    for (unsigned i = 0; i < REQUESTS; i++) {
        struct rdma_conn_param param = cm_param(&i, sizeof(i));

        clients[i] = cm_resolved(RDMA_PS_TCP);
        CM_WORKS(rdma_connect(clients[i], &param));
        usleep(500);
    }
    event = cm_next(cm_serving, RDMA_CM_EVENT_CONNECT_REQUEST);
    seen[number_of(event, REQUESTS)] = true;
    destroy(event->id);
    acknowledged = false;
    assert_int_equal(pthread_create(&thread, NULL, acknowledge_later, event), 0);
    CM_WORKS(rdma_migrate_id(cm_listener, other));
    assert_true(__atomic_load_n(&acknowledged, __ATOMIC_SEQ_CST));
    pthread_join(thread, NULL);
    assert_ptr_equal(cm_listener->channel, other);
    for (unsigned left = REQUESTS - 1; left > 0;) {
        const unsigned number = reject_next(other, REQUESTS);

        left -= seen[number] ? 0 : 1;
        seen[number] = true;
    }
    cm_silent(cm_serving);
    for (unsigned rejected = 0, idle = 0; rejected < REQUESTS;) {
        /* On a busy machine a refusal may be lost, and then the request comes again. */
        if (cm_waits(other, 0)) {
            reject_next(other, REQUESTS);
        } else if (cm_waits(cm_asking, 100)) {
            assert_int_equal(cm_take(cm_asking, RDMA_CM_EVENT_REJECTED), 28);
            rejected++;
            idle = 0;
        } else {
            assert_true(++idle < 200);
        }
    }
    for (unsigned i = 0; i < REQUESTS; i++)
        destroy(clients[i]);
    while (cm_waits(other, 100))
        reject_next(other, REQUESTS);
    CM_WORKS(rdma_migrate_id(cm_listener, cm_serving));
    rdma_destroy_event_channel(other);
}

/* ---- synchronous operation ---- */

struct endpoint {
    struct rdma_addrinfo *found;
    struct rdma_cm_id *id;
    int status, error;
};

static struct rdma_addrinfo *found(uint16_t port, int flags)
{
    struct rdma_addrinfo hints = {.ai_flags = flags, .ai_port_space = RDMA_PS_TCP}, *result;
    char text[8];

    snprintf(text, sizeof(text), "%u", port);
    assert_int_equal(rdma_getaddrinfo(getenv("OCHE_DEVICE"), text, &hints, &result), 0);
    assert_int_equal(result->ai_qp_type, IBV_QPT_RC);
    assert_true((flags & RAI_PASSIVE) != 0 ? result->ai_src_len > 0 : result->ai_dst_len > 0);
    return result;
}

static void *connect_endpoint(void *argument)
{
    struct endpoint *own = argument;
    struct ibv_qp_init_attr attr = {
        .cap = {.max_send_wr = 2, .max_recv_wr = 2, .max_send_sge = 1, .max_recv_sge = 1},
        .qp_type = IBV_QPT_RC};

    CM_WORKS(rdma_create_ep(&own->id, own->found, NULL, &attr));
    assert_non_null(own->id->qp);
    own->status = rdma_connect(own->id, NULL);
    own->error = own->status == 0 ? 0 : errno;
    return NULL;
}

static void endpoints(void **state)
{
    struct ibv_qp_init_attr attr = {
        .cap = {.max_send_wr = 2, .max_recv_wr = 2, .max_send_sge = 1, .max_recv_sge = 1},
        .qp_type = IBV_QPT_RC};
    struct rdma_addrinfo *passive = found(0, RAI_PASSIVE | RAI_NUMERICHOST);
    struct endpoint client = {.found = NULL};
    struct rdma_cm_id *listener, *asked;
    pthread_t thread;

    (void)state;
    CM_WORKS(rdma_create_ep(&listener, passive, NULL, &attr));
    assert_null(listener->qp);
    CM_WORKS(rdma_listen(listener, 1));
    client.found = found(ntohs(rdma_get_src_port(listener)), RAI_NUMERICHOST);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(pthread_create(&thread, NULL, connect_endpoint, &client), 0);
        CM_WORKS(rdma_get_request(listener, &asked));
        assert_non_null(asked->qp); /* made with the listener's attributes */
        assert_int_equal(asked->event->event, RDMA_CM_EVENT_CONNECT_REQUEST);
        if (i == 0)
            CM_WORKS(rdma_accept(asked, NULL));
        else
            CM_WORKS(rdma_reject(asked, "no", 2));
        pthread_join(thread, NULL);
        assert_int_equal(client.status, i == 0 ? 0 : -1);
        assert_int_equal(client.error, i == 0 ? 0 : ECONNREFUSED);
        assert_int_equal(client.id->event->event,
                         i == 0 ? RDMA_CM_EVENT_ESTABLISHED : RDMA_CM_EVENT_REJECTED);
        rdma_destroy_ep(client.id);
        rdma_destroy_ep(asked);
    }
    CM_FAILS(rdma_get_request(cm_listener, &asked), EINVAL); /* has a channel */
    rdma_destroy_ep(listener);
    rdma_freeaddrinfo(passive);
    rdma_freeaddrinfo(client.found);
}

/* ---- things that do not exist ---- */

static void multicast(void **state)
{
    struct rdma_cm_id *id = fresh(RDMA_PS_UDP);

    (void)state;
    CM_WORKS(rdma_bind_addr(id, cm_address(0)));
    CM_FAILS(rdma_join_multicast(id, cm_address(0), NULL), EOPNOTSUPP);
    CM_FAILS(rdma_leave_multicast(id, cm_address(0)), EADDRNOTAVAIL);
    destroy(id);
}

static int begin(void **state)
{
    (void)state;
    cm_open(RDMA_PS_TCP, 0);
    return 0;
}

static int end(void **state)
{
    (void)state;
    cm_silent(cm_serving);
    cm_silent(cm_asking);
    cm_close();
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(identifiers), TEST(not_local), TEST(options),           TEST(steps_in_order),
        TEST(depths),      TEST(notified),  TEST(answered_once),     TEST(nobody_listens),
        TEST(queue_pairs), TEST(channels),  TEST(destruction_waits), TEST(migration),
        TEST(endpoints),   TEST(multicast),
    };

    setenv("OCHE_DEVICE", "127.34.0.15", 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
