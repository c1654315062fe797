/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/interop/cm_bench.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>

#define LIMIT_MS 20000

struct rdma_event_channel *cm_serving, *cm_asking;
struct rdma_cm_id *cm_listener;

void cm_works(bool works, const char *call, const char *file, int line)
{
    if (!works) {
        print_error("%s: %s\n", call, strerror(errno));
        _assert_true(0, call, file, line);
    }
}

struct sockaddr *cm_address(uint16_t port)
{
    static struct sockaddr_in address;

    address = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(port)};
    assert_int_equal(inet_pton(AF_INET, getenv("OCHE_DEVICE"), &address.sin_addr), 1);
    return (struct sockaddr *)&address;
}

uint16_t cm_port(void)
{
    return ntohs(rdma_get_src_port(cm_listener));
}

void cm_open(enum rdma_port_space ps, int backlog)
{
    cm_serving = rdma_create_event_channel();
    cm_asking = rdma_create_event_channel();
    assert_true(cm_serving != NULL && cm_asking != NULL);
    CM_WORKS(rdma_create_id(cm_serving, &cm_listener, NULL, ps));
    CM_WORKS(rdma_bind_addr(cm_listener, cm_address(0)));
    CM_WORKS(rdma_listen(cm_listener, backlog));
}

void cm_close(void)
{
    CM_WORKS(rdma_destroy_id(cm_listener));
    rdma_destroy_event_channel(cm_serving);
    rdma_destroy_event_channel(cm_asking);
}

bool cm_waits(struct rdma_event_channel *channel, int ms)
{
    struct pollfd ready = {.fd = channel->fd, .events = POLLIN};

    return poll(&ready, 1, ms) == 1;
}

struct rdma_cm_event *cm_next(struct rdma_event_channel *channel, enum rdma_cm_event_type type)
{
    struct rdma_cm_event *event;

    if (!cm_waits(channel, LIMIT_MS))
        fail_msg("no %s came", rdma_event_str(type));
    CM_WORKS(rdma_get_cm_event(channel, &event));
    if (event->event != type)
        fail_msg("%s, status %d, instead of %s", rdma_event_str(event->event), event->status,
                 rdma_event_str(type));
    return event;
}

int cm_take(struct rdma_event_channel *channel, enum rdma_cm_event_type type)
{
    struct rdma_cm_event *event = cm_next(channel, type);
    const int status = event->status;

    CM_WORKS(rdma_ack_cm_event(event));
    return status;
}

void cm_silent(struct rdma_event_channel *channel)
{
    assert_false(cm_waits(channel, 0));
}

struct rdma_cm_id *cm_resolved(enum rdma_port_space ps)
{
    struct rdma_cm_id *id;

    CM_WORKS(rdma_create_id(cm_asking, &id, NULL, ps));
    CM_WORKS(rdma_resolve_addr(id, NULL, cm_address(cm_port()), 2000));
    assert_int_equal(cm_take(cm_asking, RDMA_CM_EVENT_ADDR_RESOLVED), 0);
    CM_WORKS(rdma_resolve_route(id, 2000));
    assert_int_equal(cm_take(cm_asking, RDMA_CM_EVENT_ROUTE_RESOLVED), 0);
    return id;
}

struct rdma_conn_param cm_param(const void *data, size_t bytes)
{
    static uint32_t qpn = 0x1000;

    return (struct rdma_conn_param){.private_data = data,
                                    .private_data_len = (uint8_t)bytes,
                                    .responder_resources = 1,
                                    .initiator_depth = 1,
                                    .retry_count = 7,
                                    .rnr_retry_count = 7,
                                    .qp_num = qpn++};
}
