/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures the way from one device to another, by numbered datagrams on an unreliable queue pair,
 * which nothing repeats. The first process receives, and prints what it saw as one line of JSON.
 *
 *     link_probe PORT                               receives
 *     link_probe PORT ADDRESS COUNT BYTES GAP_US    sends COUNT datagrams, so far apart; 0: at once
 *
 * Both are on one machine, so that their clock is the same. The delay is from the call that posts a
 * datagram to the poll that finds it.
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <math.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define ROOM     4096 /* posted receives */
#define GRH      40
#define MOST     4096 /* bytes of a datagram */
#define SENDS    64
#define QKEY     0x1234
#define SILENCE  2000000000ULL /* ns without a datagram, after which no more come */
#define PERCENTS 4

struct end {
    union ibv_gid gid;
    uint32_t qpn, count;
};

/* What a datagram says. */
struct probe {
    uint64_t number, sent_ns;
};

struct verbs {
    struct ibv_context *context;
    struct ibv_pd *pd;
    struct ibv_mr *mr;
    struct ibv_cq *cq;
    struct ibv_qp *qp;
    char *memory;
};

static void need(int truth, const char *what)
{
    if (truth)
        return;
    perror(what);
    exit(1);
}

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* ---- meeting ---- */

static int meet(const char *port, const char *receiver)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
    int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;

    if (receiver != NULL) {
        need(inet_pton(AF_INET, receiver, &address.sin_addr) == 1, receiver);
        need(connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0, "connect");
        return fd;
    }
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    need(bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0, "bind");
    need(listen(fd, 1) == 0, "listen");
    return accept(fd, NULL, NULL);
}

static void swap(int fd, const struct end *mine, struct end *theirs)
{
    need(write(fd, mine, sizeof(*mine)) == sizeof(*mine), "write");
    need(recv(fd, theirs, sizeof(*theirs), MSG_WAITALL) == sizeof(*theirs), "recv");
}

/* ---- verbs ---- */

static void open_verbs(struct verbs *v)
{
    struct ibv_device **devices = ibv_get_device_list(NULL);
    const size_t bytes = (size_t)ROOM * (GRH + MOST);
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY};

    need(devices != NULL && devices[0] != NULL, "no device");
    v->context = ibv_open_device(devices[0]);
    need(v->context != NULL, "ibv_open_device");
    v->pd = ibv_alloc_pd(v->context);
    v->memory = calloc(1, bytes);
    v->mr = ibv_reg_mr(v->pd, v->memory, bytes, IBV_ACCESS_LOCAL_WRITE);
    v->cq = ibv_create_cq(v->context, ROOM + SENDS, NULL, NULL, 0);
    struct ibv_qp_init_attr init = {
        .send_cq = v->cq,
        .recv_cq = v->cq,
        .qp_type = IBV_QPT_UD,
        .cap = {.max_send_wr = SENDS, .max_recv_wr = ROOM, .max_send_sge = 1, .max_recv_sge = 1}};
    v->qp = ibv_create_qp(v->pd, &init);
    need(v->mr != NULL && v->cq != NULL && v->qp != NULL, "making objects");
    need(ibv_modify_qp(v->qp, &attr,
                       IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY) == 0,
         "INIT");
    attr.qp_state = IBV_QPS_RTR;
    need(ibv_modify_qp(v->qp, &attr, IBV_QP_STATE) == 0, "RTR");
    attr.qp_state = IBV_QPS_RTS;
    need(ibv_modify_qp(v->qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN) == 0, "RTS");
    ibv_free_device_list(devices);
}

static void post_receive(struct verbs *v, uint64_t slot)
{
    struct ibv_sge sge = {(uintptr_t)v->memory + slot * (GRH + MOST), GRH + MOST, v->mr->lkey};
    struct ibv_recv_wr wr = {.wr_id = slot, .sg_list = &sge, .num_sge = 1}, *bad;

    need(ibv_post_recv(v->qp, &wr, &bad) == 0, "ibv_post_recv");
}

/* ---- receiving ---- */

struct seen {
    uint64_t arrived, twice, overtaken, marked, bytes, first_ns, last_ns, highest;
    uint8_t *times;   /* by number: how often it came */
    double *delay_us; /* of each first arrival */
    uint64_t delays;
};

static void take(struct seen *seen, const struct verbs *v, const struct ibv_wc *wc, uint64_t count)
{
    const char *const slot = v->memory + wc->wr_id * (GRH + MOST);
    const uint64_t now = now_ns();
    struct probe probe;

    memcpy(&probe, slot + GRH, sizeof(probe));
    need(probe.number < count, "the number of a datagram");
    seen->first_ns = seen->arrived == 0 ? now : seen->first_ns;
    seen->last_ns = now;
    seen->arrived++;
    seen->bytes += wc->byte_len - GRH;
    seen->marked += (slot[21] & 3) == 3; /* the TOS of the IPv4 header, at the end of the GRH */
    if (seen->times[probe.number]++ > 0) {
        seen->twice++;
        return;
    }
    seen->overtaken += probe.number < seen->highest;
    seen->highest = probe.number > seen->highest ? probe.number : seen->highest;
    seen->delay_us[seen->delays++] = (double)(now - probe.sent_ns) / 1e3;
}

static int compare(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;

    return a < b ? -1 : a > b;
}

static void print(struct seen *seen, uint64_t count)
{
    static const double shares[PERCENTS] = {0.01, 0.5, 0.99, 0.999};
    double sum = 0, squares = 0, at[PERCENTS] = {0};
    uint64_t lost = 0;

    for (uint64_t i = 0; i < count; i++)
        lost += seen->times[i] == 0;
    for (uint64_t i = 0; i < seen->delays; i++) {
        sum += seen->delay_us[i];
        squares += seen->delay_us[i] * seen->delay_us[i];
    }
    qsort(seen->delay_us, seen->delays, sizeof(seen->delay_us[0]), compare);
    for (unsigned i = 0; i < PERCENTS && seen->delays > 0; i++)
        at[i] = seen->delay_us[(uint64_t)((double)(seen->delays - 1) * shares[i])];
    const double n = seen->delays > 0 ? (double)seen->delays : 1, mean = sum / n;
    const double span_s = (double)(seen->last_ns - seen->first_ns) / 1e9;

    printf("{\"sent\": %" PRIu64 ", \"lost\": %" PRIu64 ", \"twice\": %" PRIu64
           ", \"overtaken\": %" PRIu64 ", \"marked\": %" PRIu64
           ", \"delay_us\": {\"mean\": %.3f, \"deviation\": %.3f, \"p1\": %.3f, \"p50\": %.3f, "
           "\"p99\": %.3f, \"p99.9\": %.3f}, \"payload_bps\": %.0f}\n",
           count, lost, seen->twice, seen->overtaken, seen->marked, mean,
           sqrt(squares / n - mean * mean), at[0], at[1], at[2], at[3],
           span_s > 0 ? (double)seen->bytes * 8 / span_s : 0);
}

static void receive(struct verbs *v, int fd)
{
    struct end mine = {.qpn = v->qp->qp_num}, theirs;
    struct seen seen = {0};
    struct ibv_wc wc[64];
    uint64_t last;
    int got, ended = 0;

    for (uint64_t slot = 0; slot < ROOM; slot++)
        post_receive(v, slot);
    need(ibv_query_gid(v->context, 1, 0, &mine.gid) == 0, "ibv_query_gid");
    swap(fd, &mine, &theirs);
    seen.times = calloc(theirs.count, sizeof(seen.times[0]));
    seen.delay_us = calloc(theirs.count, sizeof(seen.delay_us[0]));
    need(seen.times != NULL && seen.delay_us != NULL, "calloc");
    for (last = now_ns(); !ended || now_ns() - last < SILENCE;) {
        char word;

        got = ibv_poll_cq(v->cq, 64, wc);
        need(got >= 0, "ibv_poll_cq");
        for (int i = 0; i < got; i++) {
            need(wc[i].status == IBV_WC_SUCCESS, ibv_wc_status_str(wc[i].status));
            take(&seen, v, &wc[i], theirs.count);
            post_receive(v, wc[i].wr_id);
            last = now_ns();
        }
        if (!ended && got == 0 && recv(fd, &word, 1, MSG_DONTWAIT) >= 0) {
            ended = 1; /* the sender's process has ended, after its last packet has left */
            last = now_ns();
        }
    }
    print(&seen, theirs.count);
}

/* ---- sending ---- */

static void send_all(struct verbs *v, int fd, uint64_t count, uint32_t bytes, uint64_t gap_ns)
{
    struct end mine = {.qpn = v->qp->qp_num, .count = (uint32_t)count}, theirs;
    unsigned under_way = 0;
    struct ibv_wc wc[SENDS];
    uint64_t next;

    need(ibv_query_gid(v->context, 1, 0, &mine.gid) == 0, "ibv_query_gid");
    swap(fd, &mine, &theirs);
    struct ibv_ah_attr where = {.is_global = 1, .port_num = 1, .grh = {.dgid = theirs.gid}};
    struct ibv_ah *ah = ibv_create_ah(v->pd, &where);

    need(ah != NULL, "ibv_create_ah");
    next = now_ns();
    for (uint64_t number = 0; number < count; number++, next += gap_ns) {
        char *slot = v->memory + number % SENDS * MOST;
        struct ibv_sge sge = {(uintptr_t)slot, bytes, v->mr->lkey};
        struct ibv_send_wr wr = {.sg_list = &sge,
                                 .num_sge = 1,
                                 .opcode = IBV_WR_SEND,
                                 .send_flags = IBV_SEND_SIGNALED,
                                 .wr.ud = {ah, theirs.qpn, QKEY}},
                           *bad;
        do { /* polls all the time: the device works then */
            const int done = ibv_poll_cq(v->cq, SENDS, wc);

            need(done >= 0, "ibv_poll_cq");
            under_way -= (unsigned)done;
        } while (under_way == SENDS || now_ns() < next);
        const struct probe probe = {.number = number, .sent_ns = now_ns()};

        memcpy(slot, &probe, sizeof(probe));
        need(ibv_post_send(v->qp, &wr, &bad) == 0, "ibv_post_send");
        under_way++;
    }
    while (under_way > 0) {
        const int done = ibv_poll_cq(v->cq, SENDS, wc);

        need(done >= 0, "ibv_poll_cq");
        under_way -= (unsigned)done;
    }
    ibv_destroy_ah(ah);
}

int main(int argc, char **argv)
{
    const int sends = argc == 6;
    struct verbs v;
    int fd;

    if (argc != 2 && argc != 6) {
        fprintf(stderr, "usage: link_probe PORT [ADDRESS COUNT BYTES GAP_US]\n");
        return 2;
    }
    open_verbs(&v);
    fd = meet(argv[1], sends ? argv[2] : NULL);
    if (sends)
        send_all(&v, fd, strtoull(argv[3], NULL, 10), (uint32_t)strtoul(argv[4], NULL, 10),
                 (uint64_t)(strtod(argv[5], NULL) * 1000));
    else
        receive(&v, fd);
    ibv_destroy_qp(v.qp);
    ibv_destroy_cq(v.cq);
    ibv_dereg_mr(v.mr);
    ibv_dealloc_pd(v.pd);
    ibv_close_device(v.context);
    return 0;
}
