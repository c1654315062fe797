/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program in which `oche fault` makes faults (faults.py, fault_storm.py): PAIRS pairs of
 * connected queue pairs of one device, 1 by default, write to each other all the time. It prints a
 * line for all that verbs tell it:
 *
 *     ready QPN            the queue pairs of a pair are connected, again after each error
 *     wc STATUS CAUSE      a completion that is no success
 *     event NAME           an asynchronous event
 *     port STATE           the port's state, when it changes
 *     reg_mr ERRNO         after the word "reg" on standard input; 0: it worked
 *     receive STATUS       the completion of a receive
 *     counts N N ...       after the word "count": how often each pair has written
 *
 * After the word "rest", on a device that has vanished, it prints what other calls return, closes
 * the device and opens it again. It ends then, or when standard input does.
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BYTES      4096
#define MOST_PAIRS 64
#define RECEIVE    1   /* wr_id of receives; all others are addresses */
#define SLOW_US    200 /* between two looks, with several pairs: a machine may run many processes */

static pthread_t hears;
static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_mr *mr;
static struct ibv_cq *cq;
static char memory[2 * BYTES];

static struct pair {
    struct ibv_qp *qps[2];
    int alive, under_way;
    unsigned long written;
} pairs[MOST_PAIRS];
static int pair_count = 1;

static void need(int truth, const char *what)
{
    if (truth)
        return;
    printf("failed %s %d\n", what, errno);
    exit(1);
}

static void *hear_events(void *argument)
{
    struct ibv_async_event event;

    (void)argument;
    do {
        if (ibv_get_async_event(context, &event) != 0)
            return NULL;
        printf("event %s\n", ibv_event_type_str(event.event_type));
        fflush(stdout);
        ibv_ack_async_event(&event);
    } while (event.event_type != IBV_EVENT_DEVICE_FATAL);
    return NULL;
}

/* ---- queue pairs ---- */

static struct ibv_qp *make_qp(void)
{
    struct ibv_qp_init_attr attr = {
        .send_cq = cq,
        .recv_cq = cq,
        .qp_type = IBV_QPT_RC,
        .cap = {.max_send_wr = 16, .max_recv_wr = 16, .max_send_sge = 1, .max_recv_sge = 1}};

    return ibv_create_qp(pd, &attr);
}

static int connect_qp(struct ibv_qp *qp, const struct ibv_qp *peer)
{
    struct ibv_qp_attr init = {
        .qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = IBV_ACCESS_REMOTE_WRITE};
    struct ibv_qp_attr rtr = {.qp_state = IBV_QPS_RTR,
                              .path_mtu = IBV_MTU_1024,
                              .dest_qp_num = peer->qp_num,
                              .min_rnr_timer = 12,
                              .ah_attr = {.is_global = 1, .port_num = 1}};
    struct ibv_qp_attr rts = {
        .qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7};

    if (ibv_query_gid(context, 1, 0, &rtr.ah_attr.grh.dgid) != 0)
        return -1;
    if (ibv_modify_qp(qp, &init,
                      IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) != 0 ||
        ibv_modify_qp(qp, &rtr,
                      IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                          IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) != 0)
        return -1;
    return ibv_modify_qp(qp, &rts,
                         IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                             IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

/* Connects new queue pairs. Without them, as calls fail, the pair tries again later. */
static void begin(struct pair *pair)
{
    struct ibv_qp **qps = pair->qps;

    pair->alive = pair->under_way = 0;
    for (int i = 0; i < 2; i++) {
        if (qps[i] != NULL)
            ibv_destroy_qp(qps[i]);
        qps[i] = make_qp();
    }
    if (qps[0] == NULL || qps[1] == NULL || connect_qp(qps[0], qps[1]) != 0 ||
        connect_qp(qps[1], qps[0]) != 0) {
        printf("gone %d\n", errno);
        return;
    }
    pair->alive = 1;
    ibv_post_recv(qps[1], &(struct ibv_recv_wr){.wr_id = RECEIVE}, &(struct ibv_recv_wr *){NULL});
    printf("ready %u\n", qps[0]->qp_num);
}

static int post(struct pair *pair)
{
    struct ibv_sge sge = {(uintptr_t)memory, BYTES, mr->lkey};
    struct ibv_send_wr wr = {.wr_id = (uintptr_t)pair,
                             .sg_list = &sge,
                             .num_sge = 1,
                             .opcode = IBV_WR_RDMA_WRITE,
                             .send_flags = IBV_SEND_SIGNALED,
                             .wr.rdma = {(uintptr_t)memory + BYTES, mr->rkey}},
                       *bad;

    return ibv_post_send(pair->qps[0], &wr, &bad);
}

/* Handles the completions that are there. */
static void poll_all(void)
{
    struct ibv_wc wc;

    while (ibv_poll_cq(cq, 1, &wc) > 0) {
        struct pair *pair = (struct pair *)(uintptr_t)wc.wr_id;

        if (wc.wr_id == RECEIVE) {
            printf("receive %d\n", wc.status);
            continue;
        }
        pair->under_way = 0;
        if (wc.status == IBV_WC_SUCCESS) {
            pair->written++;
            continue;
        }
        printf("wc %d %u\n", wc.status, wc.vendor_err);
        begin(pair);
    }
}

/* Posts the next write of a pair, if its last one has ended. */
static void go_on(struct pair *pair)
{
    if (!pair->alive || pair->under_way)
        return;
    pair->under_way = 1;
    if (post(pair) == 0)
        return;
    printf("gone %d\n", errno);
    pair->alive = pair->under_way = 0;
}

/* ---- standard input ---- */

static void tell_port(void)
{
    static int last = -1;
    struct ibv_port_attr port;
    const int error = ibv_query_port(context, 1, &port);
    const int state = error != 0 ? -error : (int)port.state;

    if (state != last)
        printf("port %s\n", error != 0 ? strerror(error) : ibv_port_state_str(port.state));
    last = state;
}

/* Prints what calls on a vanished device return, and whether it opens again after its end. */
static void tell_rest(void)
{
    struct ibv_device **devices = ibv_get_device_list(NULL);
    const int rereg =
        ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, 0) != 0 ? errno : 0;
    const int opens = ibv_open_device(devices[0]) == NULL ? errno : 0;

    printf("open %d rereg %d resize %d notify %d\n", opens, rereg, ibv_resize_cq(cq, 8),
           ibv_req_notify_cq(cq, 0));
    for (int i = 0; i < pair_count; i++)
        for (int end = 0; end < 2; end++)
            if (pairs[i].qps[end] != NULL)
                ibv_destroy_qp(pairs[i].qps[end]);
    pthread_join(hears, NULL);
    printf("closed %d", ibv_destroy_cq(cq));
    printf(" %d", ibv_dereg_mr(mr));
    printf(" %d", ibv_dealloc_pd(pd));
    printf(" %d\n", ibv_close_device(context));
    context = ibv_open_device(devices[0]);
    printf("again %d\n", context != NULL ? 0 : errno);
    fflush(stdout);
}

/* Returns false at the end of the input. */
static int hear_input(void)
{
    struct pollfd in = {.fd = 0, .events = POLLIN};
    char word[16];
    ssize_t count;

    if (poll(&in, 1, 0) <= 0)
        return 1;
    count = read(0, word, sizeof(word));
    if (count <= 0)
        return 0;
    if (strncmp(word, "reg", 3) == 0) {
        struct ibv_mr *more = ibv_reg_mr(pd, memory, BYTES, 0);

        printf("reg_mr %d\n", more != NULL ? 0 : errno);
        if (more != NULL)
            ibv_dereg_mr(more);
    } else if (strncmp(word, "rest", 4) == 0) {
        tell_rest();
        return 0;
    } else if (strncmp(word, "count", 5) == 0) {
        printf("counts");
        for (int i = 0; i < pair_count; i++)
            printf(" %lu", pairs[i].written);
        printf("\n");
    }
    return 1;
}

/* Pairs that could not connect try again, if there are several: calls may have failed on demand. */
static void try_again(void)
{
    for (int i = 0; pair_count > 1 && i < pair_count; i++)
        if (!pairs[i].alive)
            begin(&pairs[i]);
}

int main(int argc, char **argv)
{
    struct ibv_device **devices = ibv_get_device_list(NULL);

    if (argc > 1)
        pair_count = atoi(argv[1]);
    need(pair_count > 0 && pair_count <= MOST_PAIRS, "the number of pairs");
    need(devices != NULL && devices[0] != NULL, "devices");
    context = ibv_open_device(devices[0]);
    need(context != NULL, "ibv_open_device");
    pd = ibv_alloc_pd(context);
    need(pd != NULL, "ibv_alloc_pd");
    mr = ibv_reg_mr(pd, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    need(mr != NULL, "ibv_reg_mr");
    cq = ibv_create_cq(context, 4 * MOST_PAIRS, NULL, NULL, 0);
    need(cq != NULL, "ibv_create_cq");
    need(pthread_create(&hears, NULL, hear_events, NULL) == 0, "pthread_create");
    for (int i = 0; i < pair_count; i++)
        begin(&pairs[i]);
    for (unsigned long rounds = 0; hear_input(); rounds++, fflush(stdout)) {
        tell_port();
        for (int i = 0; i < pair_count; i++)
            go_on(&pairs[i]);
        poll_all();
        if (rounds % 1000 == 0)
            try_again();
        if (pair_count > 1 || !pairs[0].alive)
            usleep(SLOW_US);
    }
    _exit(0);
}
