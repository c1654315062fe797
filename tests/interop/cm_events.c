/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that connects by address and does what it is told, one letter a line on its standard
 * input, and prints the events it gets, each with the time:
 *
 *   a accept   r reject   d disconnect   e establish   s send, and print the completion's status
 *   x send without waiting   g take events (with `lazy` it takes none until then)
 *   q destroy everything and end   u end at once, by _exit
 *
 * usage: cm_events serve ADDRESS PORT [auto|lazy]
 *        cm_events ask ADDRESS PORT [plain|ACK_TIMEOUT]
 *
 * auto: each request is accepted, and nothing is printed; what is over is destroyed. plain: without
 * a queue pair, so that a REP waits for `e`.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>

static struct rdma_event_channel *channel;
static struct rdma_cm_id *last; /* the newest connection */
static bool automatic, plain, lazy;
static uint32_t next_qpn;

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void must(int result, const char *what)
{
    if (result == 0)
        return;
    printf("%s: %s\n", what, strerror(errno));
    exit(1);
}

static void make_qp(struct rdma_cm_id *id)
{
    struct ibv_qp_init_attr attr = {
        .cap = {.max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1},
        .qp_type = IBV_QPT_RC,
        .sq_sig_all = 1};

    static char received[16];

    must(rdma_create_qp(id, NULL, &attr), "rdma_create_qp");
    must(rdma_post_recv(id, NULL, received, sizeof(received),
                        rdma_reg_msgs(id, received, sizeof(received))),
         "rdma_post_recv");
}

static struct rdma_conn_param param(void)
{
    return (struct rdma_conn_param){.responder_resources = 1,
                                    .initiator_depth = 1,
                                    .retry_count = 7,
                                    .rnr_retry_count = 7,
                                    .qp_num = next_qpn++};
}

static void accept_last(void)
{
    struct rdma_conn_param answer = param();

    if (!plain && !automatic)
        make_qp(last);
    if (rdma_accept(last, &answer) != 0 && !automatic)
        must(-1, "rdma_accept");
}

static void send_some(bool wait)
{
    static char text[16];
    struct ibv_mr *mr = rdma_reg_msgs(last, text, sizeof(text));
    struct ibv_wc wc;

    must(rdma_post_send(last, NULL, text, sizeof(text), mr, 0), "rdma_post_send");
    if (wait && rdma_get_send_comp(last, &wc) > 0)
        printf("completion %d %.3f\n", (int)wc.status, now());
}

static void take_event(void)
{
    struct rdma_cm_event *event;
    struct rdma_cm_id *over;

    must(rdma_get_cm_event(channel, &event), "rdma_get_cm_event");
    if (!automatic)
        printf("%s %d %.3f\n", rdma_event_str(event->event) + strlen("RDMA_CM_EVENT_"),
               event->status, now());
    if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST) {
        last = event->id;
        if (automatic)
            accept_last();
    }
    over = automatic && event->event != RDMA_CM_EVENT_CONNECT_REQUEST &&
                   event->event != RDMA_CM_EVENT_ESTABLISHED
               ? event->id
               : NULL;
    rdma_ack_cm_event(event);
    if (over != NULL)
        rdma_destroy_id(over);
}

static bool obey(char letter)
{
    switch (letter) {
    case 'a':
        accept_last();
        break;
    case 'r':
        must(rdma_reject(last, NULL, 0), "rdma_reject");
        break;
    case 'd':
        must(rdma_disconnect(last), "rdma_disconnect");
        break;
    case 'e':
        must(rdma_establish(last), "rdma_establish");
        break;
    case 's':
    case 'x':
        send_some(letter == 's');
        break;
    case 'g':
        lazy = false;
        break;
    case 'u':
        _exit(0);
    default:
        return letter != 'q';
    }
    printf("done %c %.3f\n", letter, now());
    return true;
}

static void listen_to(const struct sockaddr_in *address)
{
    struct rdma_cm_id *id;

    must(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP), "rdma_create_id");
    must(rdma_bind_addr(id, (struct sockaddr *)(uintptr_t)address), "rdma_bind_addr");
    must(rdma_listen(id, 0), "rdma_listen");
    printf("listening\n");
}

static void ask(struct sockaddr_in *address, const char *how)
{
    struct rdma_conn_param request = param();
    uint8_t timeout = how != NULL ? (uint8_t)atoi(how) : 0;

    must(rdma_create_id(channel, &last, NULL, RDMA_PS_TCP), "rdma_create_id");
    if (timeout > 0)
        must(rdma_set_option(last, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &timeout, 1),
             "rdma_set_option");
    must(rdma_resolve_addr(last, NULL, (struct sockaddr *)address, 1000), "rdma_resolve_addr");
    take_event();
    must(rdma_resolve_route(last, 1000), "rdma_resolve_route");
    take_event();
    if (!plain)
        make_qp(last);
    must(rdma_connect(last, &request), "rdma_connect");
    printf("asked %.3f\n", now());
}

int main(int argc, char **argv)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    struct pollfd ready[2] = {{.fd = STDIN_FILENO, .events = POLLIN}};
    char letter = 0;

    if (argc < 4 || inet_pton(AF_INET, argv[2], &address.sin_addr) != 1)
        return 2;
    setvbuf(stdout, NULL, _IOLBF, 0);
    address.sin_port = htons((uint16_t)atoi(argv[3]));
    next_qpn = 0x2000 + ((uint32_t)getpid() << 4 & 0xfffff0); /* differs from another process's */
    automatic = argc > 4 && strcmp(argv[4], "auto") == 0;
    plain = argc > 4 && strcmp(argv[4], "plain") == 0;
    lazy = argc > 4 && strcmp(argv[4], "lazy") == 0;
    channel = rdma_create_event_channel();
    must(channel == NULL ? -1 : 0, "rdma_create_event_channel");
    if (strcmp(argv[1], "serve") == 0)
        listen_to(&address);
    else
        ask(&address, argc > 4 ? argv[4] : NULL);
    ready[1] = (struct pollfd){.fd = channel->fd, .events = POLLIN};
    for (;;) {
        ready[1].fd = lazy ? -1 : channel->fd;
        if (poll(ready, 2, -1) < 0)
            continue;
        if ((ready[1].revents & POLLIN) != 0)
            take_event();
        if (ready[0].revents == 0)
            continue;
        if (read(STDIN_FILENO, &letter, 1) != 1 || !obey(letter))
            break;
    }
    return 0;
}
