/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A server that listens with one identifier at devices of two network namespaces: oche's of the one
 * that it starts in, and the kernel's of another one, as soft-RoCE leaves none of its own namespace
 * to oche. It answers each client of rdma_client with its 16 bytes, and says at which device.
 *
 * usage: both_namespaces NAMESPACE PORT CLIENTS
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>

#define MESSAGE_BYTES 16 /* rdma_client's */

static void fail(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    exit(1);
}

/* Opens oche's devices here, and goes over to the other namespace. */
static void open_devices_and_leave(const char *namespace)
{
    struct ibv_context **all = rdma_get_devices(NULL);
    const int other = open(namespace, O_RDONLY | O_CLOEXEC);

    if (all == NULL || all[0] == NULL)
        fail("rdma_get_devices");
    rdma_free_devices(all);
    if (other < 0 || setns(other, CLONE_NEWNET) != 0)
        fail(namespace);
}

static struct rdma_cm_event *expect(struct rdma_event_channel *channel,
                                    enum rdma_cm_event_type type)
{
    struct rdma_cm_event *event;

    if (rdma_get_cm_event(channel, &event) != 0)
        fail("rdma_get_cm_event");
    if (event->event == type)
        return event;
    fprintf(stderr, "%s, status %d, in place of %s\n", rdma_event_str(event->event), event->status,
            rdma_event_str(type));
    exit(1);
}

static void serve(struct rdma_event_channel *channel)
{
    struct ibv_qp_init_attr attr = {.qp_type = IBV_QPT_RC,
                                    .sq_sig_all = 1,
                                    .cap = {.max_send_wr = 1,
                                            .max_recv_wr = 1,
                                            .max_send_sge = 1,
                                            .max_recv_sge = 1,
                                            .max_inline_data = MESSAGE_BYTES}};
    struct rdma_cm_event *event = expect(channel, RDMA_CM_EVENT_CONNECT_REQUEST);
    struct rdma_cm_id *id = event->id;
    uint8_t message[MESSAGE_BYTES];
    struct ibv_mr *mr;
    struct ibv_wc wc;

    printf("a client at %s\n", id->verbs->device->name);
    fflush(stdout);
    if (rdma_create_qp(id, NULL, &attr) != 0)
        fail("rdma_create_qp");
    mr = rdma_reg_msgs(id, message, sizeof(message));
    if (mr == NULL || rdma_post_recv(id, NULL, message, sizeof(message), mr) != 0)
        fail("rdma_post_recv");
    rdma_ack_cm_event(event);
    if (rdma_accept(id, NULL) != 0)
        fail("rdma_accept");
    rdma_ack_cm_event(expect(channel, RDMA_CM_EVENT_ESTABLISHED));
    if (rdma_get_recv_comp(id, &wc) != 1 || wc.status != IBV_WC_SUCCESS)
        fail("rdma_get_recv_comp");
    if (rdma_post_send(id, NULL, message, sizeof(message), NULL, IBV_SEND_INLINE) != 0 ||
        rdma_get_send_comp(id, &wc) != 1 || wc.status != IBV_WC_SUCCESS)
        fail("rdma_post_send");
    rdma_ack_cm_event(expect(channel, RDMA_CM_EVENT_DISCONNECTED));
    rdma_dereg_mr(mr);
    rdma_destroy_qp(id);
    rdma_destroy_id(id);
}

int main(int argc, char **argv)
{
    struct sockaddr_in any = {.sin_family = AF_INET};
    struct rdma_event_channel *channel;
    struct rdma_cm_id *listener;

    if (argc != 4) {
        fprintf(stderr, "usage: both_namespaces NAMESPACE PORT CLIENTS\n");
        return 2;
    }
    any.sin_port = htons((uint16_t)strtoul(argv[2], NULL, 10));
    open_devices_and_leave(argv[1]);
    channel = rdma_create_event_channel();
    if (channel == NULL || rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP) != 0)
        fail("rdma_create_id");
    if (rdma_bind_addr(listener, (struct sockaddr *)&any) != 0 || rdma_listen(listener, 2) != 0)
        fail("rdma_listen");
    for (unsigned long i = strtoul(argv[3], NULL, 10); i > 0; i--)
        serve(channel);
    rdma_destroy_id(listener);
    rdma_destroy_event_channel(channel);
    return 0;
}
