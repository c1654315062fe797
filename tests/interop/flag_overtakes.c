/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program with a bug that only some networks show: its receiver polls memory for a flag that was
 * written behind the data, and then reads the data. Verbs promise that data is there when its
 * completion is, but no order in memory. Where packets take several paths and each is placed as it
 * comes, the flag may overtake the data.
 *
 *     flag_overtakes [OPTION…] PORT             receives
 *     flag_overtakes [OPTION…] PORT ADDRESS     sends to that host
 *
 * Each round writes BYTES bytes, whose last four are the flag: by one WRITE, or with --two-writes
 * by one for the data and one for the flag. With --mended the receiver waits for a completion
 * instead: of the last WRITE, which then has immediate data (imm), or of a SEND behind it (send).
 * Both sides need the same options. Status 0: all rounds were right. Status 1: the receiver has
 * read a stale byte, and says which, or something else went wrong.
 */
#include <arpa/inet.h>
#include <getopt.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define FLAG        ((uint32_t)sizeof(uint32_t))
#define MOST_BYTES  (UINT32_C(64) << 20)
#define MOST_ROUNDS UINT32_C(1000000000)
#define LOOKS       1000000u /* at the flag, between two looks at the connection */

enum mend { NOT_MENDED, BY_IMM, BY_SEND };

static uint32_t bytes = 16384, rounds = 3000;
static bool two_writes;
static enum mend mend;

/* What the sides tell each other. */
struct end {
    union ibv_gid gid;
    uint64_t va;
    uint32_t qpn, rkey;
};

static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_mr *mr;
static struct ibv_cq *cq;
static struct ibv_qp *qp;
static uint8_t *memory;
static struct end theirs;
static int connection;

static void need(bool truth, const char *what)
{
    if (truth)
        return;
    fprintf(stderr, "flag_overtakes: %s\n", what);
    exit(1);
}

/* ---- the data ---- */

static uint8_t expected(uint32_t round, uint32_t at)
{
    return (uint8_t)(round * 31 + at * 7 + (at >> 8) * 13);
}

static void fill(uint32_t round)
{
    for (uint32_t at = 0; at < bytes - FLAG; at++)
        memory[at] = expected(round, at);
    memcpy(memory + bytes - FLAG, &round, FLAG);
}

/*
 * Checks the data of a round. It begins at the end, as the bytes next to the flag are the last ones
 * to leave.
 */
static bool is_right(uint32_t round)
{
    const volatile uint8_t *const data = memory;

    for (uint32_t at = bytes - FLAG; at-- > 0;) {
        const uint8_t found = data[at];

        if (found == expected(round, at))
            continue;
        printf("round %u: the flag is set, but byte %u of %u is stale: %u, not %u\n", round, at,
               bytes, found, expected(round, at));
        fflush(stdout);
        return false;
    }
    return true;
}

/* ---- meeting ---- */

static int meet(const char *port, const char *receiver)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
    int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;

    if (receiver != NULL) {
        need(inet_pton(AF_INET, receiver, &address.sin_addr) == 1,
             "ADDRESS is not an IPv4 address");
        need(connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0,
             "no receiver listens at that address and port");
        return fd;
    }
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    need(bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0, "the port is in use");
    need(listen(fd, 1) == 0, "listen");
    return accept(fd, NULL, NULL);
}

static void put(const void *what, size_t count)
{
    need(send(connection, what, count, MSG_NOSIGNAL) == (ssize_t)count, "the other side is gone");
}

static void get(void *what, size_t count)
{
    need(recv(connection, what, count, MSG_WAITALL) == (ssize_t)count, "the other side is gone");
}

static bool is_gone(void)
{
    char word;

    return recv(connection, &word, 1, MSG_DONTWAIT | MSG_PEEK) == 0;
}

/* ---- verbs ---- */

static void open_verbs(void)
{
    struct ibv_device **devices = ibv_get_device_list(NULL);

    need(devices != NULL && devices[0] != NULL, "there is no RDMA device");
    context = ibv_open_device(devices[0]);
    need(context != NULL, "ibv_open_device");
    pd = ibv_alloc_pd(context);
    memory = calloc(1, bytes);
    need(pd != NULL && memory != NULL, "ibv_alloc_pd");
    mr = ibv_reg_mr(pd, memory, bytes, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    cq = ibv_create_cq(context, 16, NULL, NULL, 0);
    need(mr != NULL && cq != NULL, "ibv_create_cq");
    qp = ibv_create_qp(pd, &(struct ibv_qp_init_attr){
                               .send_cq = cq,
                               .recv_cq = cq,
                               .qp_type = IBV_QPT_RC,
                               .cap = {.max_send_wr = 4, .max_recv_wr = 1, .max_send_sge = 1}});
    need(qp != NULL, "ibv_create_qp");
    ibv_free_device_list(devices);
}

static void swap_ends(void)
{
    struct end mine = {.va = (uintptr_t)memory, .qpn = qp->qp_num, .rkey = mr->rkey};

    need(ibv_query_gid(context, 1, 0, &mine.gid) == 0, "ibv_query_gid");
    put(&mine, sizeof(mine));
    get(&theirs, sizeof(theirs));
}

static void connect_qp(void)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT,
                               .port_num = 1,
                               .qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
                               .path_mtu = IBV_MTU_1024,
                               .dest_qp_num = theirs.qpn,
                               .min_rnr_timer = 1,
                               .timeout = 14,
                               .retry_cnt = 7,
                               .rnr_retry = 7};

    attr.ah_attr.is_global = 1;
    attr.ah_attr.port_num = 1;
    attr.ah_attr.grh.dgid = theirs.gid;
    need(ibv_modify_qp(qp, &attr,
                       IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) == 0,
         "INIT");
    attr.qp_state = IBV_QPS_RTR;
    need(ibv_modify_qp(qp, &attr,
                       IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                           IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) == 0,
         "RTR");
    attr.qp_state = IBV_QPS_RTS;
    need(ibv_modify_qp(qp, &attr,
                       IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                           IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC) == 0,
         "RTS");
}

/* Waits for the next completion, which must be a success. */
static void wait_for_completion(void)
{
    struct ibv_wc wc;
    int got;

    for (unsigned looks = 1; (got = ibv_poll_cq(cq, 1, &wc)) == 0; looks++)
        need(looks % LOOKS != 0 || !is_gone(), "the other side is gone");
    need(got == 1, "ibv_poll_cq");
    need(wc.status == IBV_WC_SUCCESS, ibv_wc_status_str(wc.status));
}

/* ---- the sender ---- */

static struct ibv_send_wr write_of(struct ibv_sge *sge, uint32_t from, uint32_t count)
{
    *sge = (struct ibv_sge){(uintptr_t)memory + from, count, mr->lkey};
    return (struct ibv_send_wr){.sg_list = sge,
                                .num_sge = 1,
                                .opcode = IBV_WR_RDMA_WRITE,
                                .wr.rdma = {theirs.va + from, theirs.rkey}};
}

/* Posts a round: one or two WRITEs and, with --mended=send, a SEND. */
static void post_round(uint32_t round)
{
    struct ibv_sge sge[2];
    struct ibv_send_wr wr[3], *bad, *last = &wr[0];

    fill(round);
    wr[0] = write_of(&sge[0], 0, two_writes ? bytes - FLAG : bytes);
    if (two_writes) {
        wr[1] = write_of(&sge[1], bytes - FLAG, FLAG);
        last->next = &wr[1];
        last = &wr[1];
    }
    if (mend == BY_IMM)
        last->opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
    if (mend == BY_SEND) {
        wr[2] = (struct ibv_send_wr){.opcode = IBV_WR_SEND};
        last->next = &wr[2];
        last = &wr[2];
    }
    last->send_flags = IBV_SEND_SIGNALED;
    need(ibv_post_send(qp, wr, &bad) == 0, "ibv_post_send");
}

static int run_sender(void)
{
    char answer = 'y';

    get(&answer, 1); /* the receiver is ready */
    for (uint32_t round = 1; round <= rounds && answer == 'y'; round++) {
        post_round(round);
        wait_for_completion();
        get(&answer, 1);
    }
    return answer != 'y';
}

/* ---- the receiver ---- */

static void post_receive(void)
{
    struct ibv_recv_wr wr = {.num_sge = 0}, *bad;

    need(ibv_post_recv(qp, &wr, &bad) == 0, "ibv_post_recv");
}

/* The bug: what the flag says of itself is all that it says. */
static void wait_for_flag(uint32_t round)
{
    const uint32_t *const flag = (const void *)(memory + bytes - FLAG);

    for (unsigned looks = 1; __atomic_load_n(flag, __ATOMIC_ACQUIRE) != round; looks++)
        need(looks % LOOKS != 0 || !is_gone(), "the other side is gone");
}

static int run_receiver(void)
{
    bool right = true;
    char word;

    for (uint32_t round = 1; round <= rounds && right; round++) {
        if (mend != NOT_MENDED)
            post_receive();
        put("y", 1); /* the next round */
        if (mend != NOT_MENDED)
            wait_for_completion();
        else
            wait_for_flag(round);
        right = is_right(round);
    }
    put(right ? "y" : "n", 1);
    if (right)
        printf("%u rounds, all data was there\n", rounds);
    while (recv(connection, &word, 1, 0) > 0) /* the sender still waits for its last ACK */
        ;
    return !right;
}

/* ---- the command line ---- */

static _Noreturn void usage(const char *wrong, const char *text)
{
    if (wrong != NULL)
        fprintf(stderr, "flag_overtakes: %s: %s\n", wrong, text);
    fprintf(stderr, "usage: flag_overtakes [--two-writes] [--mended=imm|send] [--bytes=N] "
                    "[--rounds=N] PORT [ADDRESS]\n");
    exit(2);
}

static uint32_t number(const char *name, const char *text, uint32_t least, uint32_t most)
{
    char *end;
    const unsigned long long value = strtoull(text, &end, 10);

    if (*text < '0' || *text > '9' || *end != '\0' || value < least || value > most)
        usage(name, "a number is needed that fits");
    return (uint32_t)value;
}

static void read_options(int argc, char **argv)
{
    static const struct option options[] = {{"two-writes", no_argument, NULL, '2'},
                                            {"mended", required_argument, NULL, 'm'},
                                            {"bytes", required_argument, NULL, 'b'},
                                            {"rounds", required_argument, NULL, 'r'},
                                            {NULL, 0, NULL, 0}};

    for (int key; (key = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (key == '2')
            two_writes = true;
        else if (key == 'm' && strcmp(optarg, "imm") == 0)
            mend = BY_IMM;
        else if (key == 'm' && strcmp(optarg, "send") == 0)
            mend = BY_SEND;
        else if (key == 'm')
            usage("--mended", "imm or send is needed");
        else if (key == 'b')
            bytes = number("--bytes", optarg, 2 * FLAG, MOST_BYTES) / FLAG * FLAG;
        else if (key == 'r')
            rounds = number("--rounds", optarg, 1, MOST_ROUNDS);
        else
            usage(NULL, NULL);
    }
    if (argc - optind < 1 || argc - optind > 2)
        usage(NULL, NULL);
}

int main(int argc, char **argv)
{
    int status;

    read_options(argc, argv);
    open_verbs();
    connection = meet(argv[optind], argv[optind + 1]);
    swap_ends();
    connect_qp();
    status = argv[optind + 1] != NULL ? run_sender() : run_receiver();
    ibv_destroy_qp(qp);
    ibv_destroy_cq(cq);
    ibv_dereg_mr(mr);
    ibv_dealloc_pd(pd);
    ibv_close_device(context);
    return status;
}
