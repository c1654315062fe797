/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program that tools/bench-rogue runs as server and as client. It opens one connection with
 * RoGUE (rogue/rogue.h) and two without.
 *
 *     bench_rogue serve PORT
 *     bench_rogue rtt PORT ADDRESS KIND LOAD ROUNDS [apart]
 *     bench_rogue cpu PORT ADDRESS KIND rogue|plain VERB_BYTES SIGNAL_BYTES SECONDS
 *
 * KIND: rc_read, rc_write, uc_write.
 *
 * rtt: in each round some empty WRITEs one after the other on a reliable connection without RoGUE,
 * the oracle of RoGUE sec 5.4; then a row of verbs of 64 KiB with RoGUE. Prints "oracle ROUND NS"
 * for each empty WRITE, from before it is posted to the adapter's time stamp, and "estimate ROUND
 * NS" for each round trip that the library has measured. LOAD: so many verbs of 64 KiB in the same
 * direction, on the third connection, are under way all the time. apart: a verb is posted when the
 * round trip of the one before it is known, so that it never waits for that.
 *
 * cpu: verbs of VERB_BYTES, with a signal each SIGNAL_BYTES; 1 MiB or two verbs are under way, and
 * the program sleeps until an event. Prints "cpu BYTES NS CLIENT_NS SERVER_NS": what was moved, how
 * long it took, and processor time of both processes.
 */
#include <arpa/inet.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "core/base.h"
#include "rogue/rogue.h"

#define BYTES   (4 << 20)
#define VERB    65536
#define DEPTH   512
#define ORACLES 16 /* a round */
#define VERBS   32
#define TRIPS   256
#define WAIT_NS 20000000

enum { ROGUE, ORACLE, LOAD, QPS };
enum kind { RC_READ, RC_WRITE, UC_WRITE, KINDS };
static const char *const kinds[KINDS] = {"rc_read", "rc_write", "uc_write"};

struct end {
    union ibv_gid gid;
    uint64_t address;
    uint32_t rkey, qpn[QPS];
};

struct side {
    int fd;
    enum kind kind;
    bool measures_cpu;
    struct ibv_context *context;
    struct ibv_pd *pd;
    struct ibv_comp_channel *channel, *plain_channel;
    struct ibv_cq *cq, *plain_cq; /* CQ of ROGUE's queue pairs; of LOAD's */
    struct ibv_cq_ex *stamped;    /* of ORACLE */
    struct ibv_qp *qp[QPS];
    struct ibv_mr *mr;
    struct end mine, theirs;
};

static _Noreturn void fail(const char *what)
{
    perror(what);
    exit(1);
}

static void need(bool truth, const char *what)
{
    if (!truth)
        fail(what);
}

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec time;

    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * UINT64_C(1000000000) + (uint64_t)time.tv_nsec;
}

/* ---- the two processes ---- */

static int meet(const char *port, const char *server)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
    int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;

    if (server != NULL) {
        need(inet_pton(AF_INET, server, &address.sin_addr) == 1, server);
        need(connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0, "connect");
        return fd;
    }
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    need(bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0, "bind");
    need(listen(fd, 1) == 0, "listen");
    fd = accept(fd, NULL, NULL);
    need(fd >= 0, "accept");
    return fd;
}

static void tell(const struct side *side, const void *what, size_t bytes)
{
    need(write(side->fd, what, bytes) == (ssize_t)bytes, "write");
}

static void hear(const struct side *side, void *what, size_t bytes)
{
    need(recv(side->fd, what, bytes, MSG_WAITALL) == (ssize_t)bytes, "the other side");
}

static void wait_for_other(const struct side *side)
{
    char byte = 0;

    tell(side, &byte, 1);
    hear(side, &byte, 1);
}

/* ---- connections ---- */

static int change(const struct side *side, int which, struct ibv_qp_attr *attr, int mask)
{
    return which == ROGUE ? rogue_modify_qp(side->qp[which], attr, mask)
                          : ibv_modify_qp(side->qp[which], attr, mask);
}

static void connect_qp(const struct side *side, int which)
{
    const bool rc = side->qp[which]->qp_type == IBV_QPT_RC;
    struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT,
                               .port_num = 1,
                               .qp_access_flags =
                                   IBV_ACCESS_REMOTE_WRITE | (rc ? IBV_ACCESS_REMOTE_READ : 0)};
    struct ibv_qp_attr rtr = {
        .qp_state = IBV_QPS_RTR,
        .path_mtu = IBV_MTU_1024,
        .dest_qp_num = side->theirs.qpn[which],
        .max_dest_rd_atomic = 16,
        .min_rnr_timer = 12,
        .ah_attr = {.is_global = 1, .port_num = 1, .grh.dgid = side->theirs.gid}};
    struct ibv_qp_attr rts = {.qp_state = IBV_QPS_RTS,
                              /* half a second, because other programs use the machine */
                              .timeout = 17,
                              .retry_cnt = 7,
                              .rnr_retry = 7,
                              .max_rd_atomic = 16};

    need(change(side, which, &init,
                IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) == 0,
         "INIT");
    need(change(side, which, &rtr,
                IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                    (rc ? IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER : 0)) == 0,
         "RTR");
    need(change(side, which, &rts,
                IBV_QP_STATE | IBV_QP_SQ_PSN |
                    (rc ? IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                              IBV_QP_MAX_QP_RD_ATOMIC
                        : 0)) == 0,
         "RTS");
}

/* A load is reliable, so no more of it is under way than requested. */
static bool is_unreliable(const struct side *side, int which)
{
    return side->kind == UC_WRITE && (which == ROGUE || (which == LOAD && side->measures_cpu));
}

static struct ibv_qp *make_qp(struct side *side, int which, struct ibv_cq *cq)
{
    struct ibv_qp_init_attr attr = {
        .send_cq = cq,
        .recv_cq = cq,
        .qp_type = is_unreliable(side, which) ? IBV_QPT_UC : IBV_QPT_RC,
        .cap = {.max_send_wr = DEPTH, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1}};
    struct ibv_qp *qp =
        which == ROGUE ? rogue_create_qp(side->pd, &attr) : ibv_create_qp(side->pd, &attr);

    need(qp != NULL, "create_qp");
    side->mine.qpn[which] = qp->qp_num;
    return qp;
}

static void set_up(struct side *side)
{
    struct ibv_cq_init_attr_ex stamps = {.cqe = 2 * DEPTH,
                                         .wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK};
    struct ibv_device **list = ibv_get_device_list(NULL);
    void *memory = calloc(1, BYTES);

    need(list != NULL && list[0] != NULL && memory != NULL, "no device");
    side->context = rogue_open_device(list[0]);
    need(side->context != NULL, "rogue_open_device");
    ibv_free_device_list(list);
    side->pd = ibv_alloc_pd(side->context);
    side->mr =
        ibv_reg_mr(side->pd, memory, BYTES,
                   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
    side->channel = rogue_create_comp_channel(side->context);
    side->plain_channel = ibv_create_comp_channel(side->context);
    need(side->mr != NULL && side->channel != NULL && side->plain_channel != NULL, "objects");
    side->cq = rogue_create_cq(side->context, 2 * DEPTH, NULL, side->channel, 0);
    side->plain_cq = ibv_create_cq(side->context, 2 * DEPTH, NULL, side->plain_channel, 0);
    side->stamped = ibv_create_cq_ex(side->context, &stamps);
    need(side->cq != NULL && side->plain_cq != NULL && side->stamped != NULL, "queues");
    side->qp[ROGUE] = make_qp(side, ROGUE, side->cq);
    side->qp[ORACLE] = make_qp(side, ORACLE, ibv_cq_ex_to_cq(side->stamped));
    side->qp[LOAD] = make_qp(side, LOAD, side->plain_cq);
    need(ibv_query_gid(side->context, 1, 0, &side->mine.gid) == 0, "ibv_query_gid");
    side->mine.address = (uintptr_t)memory;
    side->mine.rkey = side->mr->rkey;
    tell(side, &side->mine, sizeof(side->mine));
    hear(side, &side->theirs, sizeof(side->theirs));
    for (int which = 0; which < QPS; which++)
        connect_qp(side, which);
    wait_for_other(side);
}

/* ---- work ---- */

static void post(const struct side *side, int which, uint32_t bytes, bool signal)
{
    struct ibv_sge sge = {
        .addr = (uintptr_t)side->mr->addr, .length = bytes, .lkey = side->mr->lkey};
    struct ibv_send_wr wr = {.sg_list = &sge,
                             .num_sge = bytes > 0 ? 1 : 0,
                             .opcode = side->kind == RC_READ && which != ORACLE ? IBV_WR_RDMA_READ
                                                                                : IBV_WR_RDMA_WRITE,
                             .send_flags = signal ? IBV_SEND_SIGNALED : 0,
                             .wr.rdma = {side->theirs.address, side->theirs.rkey}},
                       *bad;

    need(ibv_post_send(side->qp[which], &wr, &bad) == 0, "ibv_post_send");
}

/* Returns how many have completed. */
static unsigned take(struct ibv_cq *cq)
{
    struct ibv_wc wc[16];
    int count = ibv_poll_cq(cq, 16, wc);

    need(count >= 0, "ibv_poll_cq");
    for (int i = 0; i < count; i++)
        if (wc[i].status != IBV_WC_SUCCESS) {
            fprintf(stderr, "a verb failed: %s\n", ibv_wc_status_str(wc[i].status));
            exit(1);
        }
    return (unsigned)count;
}

/* Keeps `load` verbs under way. */
static void keep_load(const struct side *side, unsigned load, unsigned *posted)
{
    if (load == 0)
        return;
    *posted -= take(side->plain_cq);
    for (; *posted < load; ++*posted)
        post(side, LOAD, VERB, true);
}

static uint64_t ask_oracle(const struct side *side, unsigned load, unsigned *posted)
{
    struct ibv_poll_cq_attr none = {0};
    uint64_t begin = clock_ns(CLOCK_REALTIME), end;

    post(side, ORACLE, 0, true);
    while (ibv_start_poll(side->stamped, &none) != 0)
        keep_load(side, load, posted);
    need(side->stamped->status == IBV_WC_SUCCESS, "the oracle");
    end = ibv_wc_read_completion_wallclock_ns(side->stamped);
    ibv_end_poll(side->stamped);
    return end > begin ? end - begin : 0;
}

/* Returns how many there were. */
static int print_trips(const struct side *side, unsigned round)
{
    static struct rogue_round_trip trips[TRIPS];
    int count = rogue_take_round_trips(side->qp[ROGUE], trips, TRIPS);

    for (int i = 0; i < count; i++)
        printf("estimate %u %llu\n", round, (unsigned long long)trips[i].rtt_ns);
    return count;
}

/* On UC answers come after completions. Not each batch has a usable round trip. */
static void wait_for_trip(const struct side *side, unsigned round, unsigned load, unsigned *posted)
{
    const uint64_t end = clock_ns(CLOCK_MONOTONIC) + WAIT_NS;

    while (print_trips(side, round) == 0 && clock_ns(CLOCK_MONOTONIC) < end) {
        take(side->cq);
        keep_load(side, load, posted);
    }
}

static void run_row(const struct side *side, unsigned round, unsigned load, bool apart,
                    unsigned *posted)
{
    for (unsigned sent = 0, done = 0; done < VERBS;) {
        for (; sent < VERBS && (!apart || sent == done); sent++)
            post(side, ROGUE, VERB, true);
        done += take(side->cq);
        keep_load(side, load, posted);
        if (apart && sent == done)
            wait_for_trip(side, round, load, posted);
    }
    wait_for_trip(side, round, load, posted);
}

static void rtt(struct side *side, unsigned load, unsigned rounds, bool apart)
{
    unsigned posted = 0;

    rogue_take_round_trips(side->qp[ROGUE], NULL, 0);
    for (unsigned round = 0; round < rounds; round++) {
        for (int i = 0; i < ORACLES; i++)
            printf("oracle %u %llu\n", round, (unsigned long long)ask_oracle(side, load, &posted));
        run_row(side, round, load, apart, &posted);
    }
}

/* ---- processor time ---- */

static uint64_t used_ns(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * UINT64_C(1000000000) +
           (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000;
}

static void sleep_until_event(bool with, struct ibv_comp_channel *channel, struct ibv_cq *cq)
{
    struct ibv_cq *which;
    void *unused;

    if (with) {
        need(rogue_get_cq_event(channel, &which, &unused) == 0, "rogue_get_cq_event");
        rogue_ack_cq_events(which, 1);
    } else {
        need(ibv_get_cq_event(channel, &which, &unused) == 0, "ibv_get_cq_event");
        ibv_ack_cq_events(which, 1);
    }
    need(ibv_req_notify_cq(cq, 0) == 0, "ibv_req_notify_cq");
}

static void cpu(struct side *side, bool with, uint32_t verb, uint32_t signal, double seconds)
{
    const int which = with ? ROGUE : LOAD;
    struct ibv_cq *cq = with ? side->cq : side->plain_cq;
    struct ibv_comp_channel *channel = with ? side->channel : side->plain_channel;
    /* number of verbs that share one signal */
    const uint32_t verbs = signal > verb ? signal / verb : 1;
    const uint32_t group = verbs * verb;
    const uint32_t most = group * 2 > 1 << 20 ? 2 : (1 << 20) / group;
    uint64_t posted = 0, done = 0, theirs, mine, begin, end;

    need(ibv_req_notify_cq(cq, 0) == 0, "ibv_req_notify_cq");
    wait_for_other(side);
    mine = used_ns();
    begin = clock_ns(CLOCK_MONOTONIC);
    end = begin + (uint64_t)(seconds * 1e9);
    for (;;) {
        unsigned count;
        while ((count = take(cq)) > 0)
            done += count;
        if (clock_ns(CLOCK_MONOTONIC) >= end && done == posted)
            break;
        for (; posted - done < most && clock_ns(CLOCK_MONOTONIC) < end; posted++)
            for (uint32_t i = 0; i < verbs; i++)
                post(side, which, verb, i + 1 == verbs);
        if (done < posted)
            sleep_until_event(with, channel, cq);
    }
    end = clock_ns(CLOCK_MONOTONIC);
    mine = used_ns() - mine;
    wait_for_other(side);
    hear(side, &theirs, sizeof(theirs));
    printf("cpu %llu %llu %llu %llu\n", (unsigned long long)(done * group),
           (unsigned long long)(end - begin), (unsigned long long)mine, (unsigned long long)theirs);
}

/* ---- command line ---- */

static void serve(struct side *side)
{
    uint64_t used;
    char byte;

    if (side->measures_cpu) {
        wait_for_other(side);
        used = used_ns();
        wait_for_other(side);
        used = used_ns() - used;
        tell(side, &used, sizeof(used));
    }
    if (recv(side->fd, &byte, 1, 0) != 0) /* until the client ends */
        fail("the client");
}

static int usage(void)
{
    fprintf(stderr,
            "usage: bench_rogue serve PORT | rtt PORT ADDRESS KIND LOAD ROUNDS [apart] | cpu "
            "PORT ADDRESS KIND rogue|plain VERB_BYTES SIGNAL_BYTES SECONDS\n");
    return 2;
}

int main(int argc, char **argv)
{
    struct side side = {.kind = KINDS};
    const bool apart = argc == 8 && strcmp(argv[7], "apart") == 0;
    const bool is_rtt = (argc == 7 || apart) && strcmp(argv[1], "rtt") == 0;
    const bool is_cpu = argc == 9 && strcmp(argv[1], "cpu") == 0;
    uint32_t hello[2] = {0, is_cpu};

    if (argc == 3 && strcmp(argv[1], "serve") == 0) {
        side.fd = meet(argv[2], NULL);
        hear(&side, hello, sizeof(hello));
        side.kind = (enum kind)hello[0];
        side.measures_cpu = hello[1] != 0;
        set_up(&side);
        serve(&side);
        return 0;
    }
    for (uint32_t i = 0; (is_rtt || is_cpu) && i < KINDS; i++)
        if (strcmp(argv[4], kinds[i]) == 0)
            side.kind = (enum kind)(hello[0] = i);
    if (side.kind == KINDS)
        return usage();
    if (is_cpu && (atoi(argv[6]) < 1 || atoi(argv[6]) > BYTES || atoi(argv[7]) < 1 ||
                   atoi(argv[7]) / atoi(argv[6]) > DEPTH / 2))
        return usage();
    side.measures_cpu = is_cpu;
    side.fd = meet(argv[2], argv[3]);
    tell(&side, hello, sizeof(hello));
    set_up(&side);
    if (is_rtt)
        rtt(&side, (unsigned)atoi(argv[5]), (unsigned)atoi(argv[6]), apart);
    else
        cpu(&side, strcmp(argv[5], "rogue") == 0, (uint32_t)atoi(argv[6]), (uint32_t)atoi(argv[7]),
            atof(argv[8]));
    return 0;
}
