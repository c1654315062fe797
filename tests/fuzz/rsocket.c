/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer target: any hello and any messages of a peer, and anything written into the memory that
 * it may write to, while a program sends and receives on a socket over RDMA. What is sent comes
 * from the socket's own memory, no more is under way than the queue pair has room for, and flow
 * control keeps to its sums. tools/fuzz 60 rsocket runs it.
 *
 * The real files are pair.c, progress.c, send.c, receive.c, iomap.c, wire.c and flow.c; the verbs
 * below them are at the end of this file.
 */
#include "device/rsocket/internal.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/target.h"

#define MOST_STEPS 200
#define IOMAPS     4
#define TABLE      (RS_PLACES * RS_PLACE_BYTES + IOMAPS * RS_IOMAP_BYTES)
#define MOST_WORK  64 /* more than the queue pair has room for */

static struct rs_socket s;
static struct ibv_wc arrivals[MOST_WORK];
static unsigned arrived, under_way, receives;
static uint64_t works[MOST_WORK];
static struct ibv_qp_cap cap;
static const char *wrong;
static uint8_t sum;

static void must(bool holds, const char *what)
{
    if (!holds && wrong == NULL)
        wrong = what;
}

/* Reads every byte, so that a sanitizer sees those that are not ours. */
static void touch(const uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        sum ^= bytes[i];
}

/* ---- steps ---- */

/* The peer writes with immediate data, which consumes a receive. */
static void message(struct fuzz_input *input)
{
    const uint8_t kind = fuzz_byte(input);
    const uint32_t value = (uint32_t)fuzz_number(input, 2);
    const uint32_t written = (kind & 8) != 0                 ? (uint32_t)fuzz_number(input, 3)
                             : kind % 8 == RS_MESSAGE_CREDIT ? (kind & 16)
                                                             : value;

    if (receives == 0 || arrived == MOST_WORK)
        return;
    receives--;
    arrivals[arrived++] =
        (struct ibv_wc){.status = kind == 0xff ? IBV_WC_WR_FLUSH_ERR : IBV_WC_SUCCESS,
                        .opcode = kind == 0xfe ? IBV_WC_RECV : IBV_WC_RECV_RDMA_WITH_IMM,
                        .wc_flags = IBV_WC_WITH_IMM,
                        .imm_data = htobe32(rs_immediate((enum rs_message)(kind % 8), value)),
                        .byte_len = written};
}

/* The peer writes into our list of places and our iomap. */
static void write_table(struct fuzz_input *input)
{
    const size_t at = fuzz_byte(input) % TABLE;
    size_t count;
    const uint8_t *bytes = fuzz_bytes(input, fuzz_byte(input) % (TABLE - at) + 1, &count);

    memcpy(s.table + at, bytes, count < TABLE - at ? count : TABLE - at);
}

/* The oldest work under way completes. */
static void complete(enum ibv_wc_status status)
{
    if (under_way == 0 || arrived == MOST_WORK)
        return;
    arrivals[arrived++] = (struct ibv_wc){.status = status, .wr_id = works[0]};
    memmove(works, works + 1, --under_way * sizeof(works[0]));
}

static void map_memory(struct fuzz_input *input)
{
    static uint8_t memory[256];
    const uint8_t what = fuzz_byte(input);

    if (what < 128)
        riomap(1, memory + what, 1 + what % 64, PROT_WRITE, 0, what % 2 == 0 ? -1 : what);
    else
        riounmap(1, memory + what % 128, 1 + what % 64);
}

static void step(struct fuzz_input *input)
{
    static uint8_t program[6000];
    const uint8_t what = fuzz_byte(input);

    switch (what % 8) {
    case 0:
        message(input);
        break;
    case 1:
        rsend(1, program, fuzz_number(input, 2) % sizeof(program), MSG_DONTWAIT);
        break;
    case 2:
        rrecv(1, program, fuzz_number(input, 2) % sizeof(program),
              MSG_DONTWAIT | ((what & 8) != 0 ? MSG_PEEK : 0));
        break;
    case 3:
        complete(what == 0xfb ? IBV_WC_RETRY_EXC_ERR : IBV_WC_SUCCESS);
        break;
    case 4:
        write_table(input);
        break;
    case 5:
        riowrite(1, program, fuzz_number(input, 2) % sizeof(program),
                 (off_t)fuzz_number(input, what / 8 % 9), MSG_DONTWAIT);
        break;
    case 6:
        map_memory(input);
        break;
    default:
        s.receive_shut |= what == 0xff;
        if ((what & 8) != 0)
            rs_probe(&s);
        if ((what & 16) != 0)
            rs_send_control(&s, (enum rs_control)((what >> 5) % 3));
        must(rs_events(&s) != 0 || !rs_can_read(&s), "what can be read is not shown");
        rs_progress(&s);
        break;
    }
}

static void check(void)
{
    must(s.in.granted + s.in.filled + s.in.free == 2 * s.in.half, "bytes of the ring are missing");
    must(s.in.head < 2 * s.in.half && s.in.tail < 2 * s.in.half, "beyond the ring");
    must(s.out.count <= RS_PLACES && s.out.current < RS_PLACES, "more places than there are");
    must(!rs_all_sent(&s) || s.lost || s.sends == 0, "all is sent, and some is not");
    must(s.send_used <= s.send_bytes && s.send_head < s.send_bytes, "beyond the send ring");
    must(receives <= cap.max_recv_wr, "more receives than there is room for");
    must(!s.lost || s.error != 0 || s.send_error != 0, "lost, but nobody learns of it");
}

static struct ibv_context context;
static struct ibv_cq queue = {.context = &context};
static struct ibv_qp pair = {.context = &context};
static struct rdma_cm_id id = {.verbs = &context};

static bool begin(struct fuzz_input *input)
{
    uint8_t hello[RS_HELLO_BYTES], again[RS_HELLO_BYTES];
    struct rs_hello peer, back;
    size_t count;
    const uint8_t *bytes = fuzz_bytes(input, fuzz_byte(input) % 64, &count);

    s = (struct rs_socket){.lock = PTHREAD_MUTEX_INITIALIZER,
                           .changed = PTHREAD_COND_INITIALIZER,
                           .nonblocking = true,
                           .state = RS_CONNECTED,
                           .id = &id,
                           .want_send_bytes = RS_LEAST_BYTES,
                           .want_receive_bytes = RS_LEAST_BYTES,
                           .most_sends = RS_LEAST_MESSAGES,
                           .most_receives = RS_LEAST_MESSAGES,
                           .iomaps = IOMAPS,
                           .inline_bytes = 64};
    arrived = under_way = receives = 0;
    wrong = NULL;
    if (!rs_pair_make(&s))
        abort();
    rs_hello_of(&s, hello);
    must(rs_hello_read(hello, sizeof(hello), &back) == NULL, "our own hello is wrong");
    if (!rs_hello_from(&s, bytes, count))
        return false;
    must(rs_hello_read(bytes, count, &peer) == NULL, "a hello is right and wrong");
    rs_hello_write(&peer, again);
    must(rs_hello_read(again, sizeof(again), &back) == NULL && back.credits == peer.credits &&
             back.iomaps == peer.iomaps && back.places.address == peer.places.address &&
             back.buffer.key == peer.buffer.key,
         "a hello that was read is written differently");
    return true;
}

const char *fuzz_input(const uint8_t *bytes, size_t count)
{
    struct fuzz_input input = {bytes, count};

    if (begin(&input))
        for (unsigned i = 0; i < MOST_STEPS && input.left > 0 && wrong == NULL; i++) {
            step(&input);
            check();
        }
    rs_pair_drop(&s);
    return wrong;
}

/* ---- the verbs, and other functions that those files need ---- */

static int poll_cq(struct ibv_cq *cq, int count, struct ibv_wc *wc)
{
    const unsigned some = arrived < (unsigned)count ? arrived : (unsigned)count;

    (void)cq;
    memcpy(wc, arrivals, some * sizeof(*wc));
    arrived -= some;
    memmove(arrivals, arrivals + some, arrived * sizeof(*wc));
    return (int)some;
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
    const struct ibv_sge *piece = wr->sg_list;
    const uint8_t *from = (const uint8_t *)(uintptr_t)piece->addr;

    (void)qp;
    must(under_way < cap.max_send_wr, "more sends than there is room for");
    if (under_way >= cap.max_send_wr) {
        *bad = wr;
        return ENOMEM;
    }
    if (wr->num_sge > 0) {
        must(wr->wr.rdma.remote_addr <= UINT64_MAX - piece->length, "beyond the address space");
        must((wr->send_flags & IBV_SEND_INLINE) == 0 || piece->length <= cap.max_inline_data,
             "more bytes in a work request than it takes");
        must(piece->lkey == 0 || (from >= s.send_ring && piece->length <= s.send_bytes &&
                                  from + piece->length <= s.send_ring + s.send_bytes),
             "bytes of other memory are sent");
        if (wrong == NULL)
            touch(from, piece->length);
    }
    works[under_way++] = wr->wr_id;
    return 0;
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    (void)qp;
    (void)wr;
    (void)bad;
    receives++;
    return 0;
}

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *verbs)
{
    static struct ibv_comp_channel channel;

    verbs->ops.poll_cq = poll_cq;
    verbs->ops.post_send = post_send;
    verbs->ops.post_recv = post_recv;
    return &channel;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
    return channel == NULL;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *verbs, int cqe, void *cq_context,
                             struct ibv_comp_channel *channel, int vector)
{
    (void)verbs;
    (void)cqe;
    (void)cq_context;
    (void)channel;
    (void)vector;
    return &queue;
}

int ibv_destroy_cq(struct ibv_cq *cq)
{
    return cq == NULL;
}

int rdma_create_qp(struct rdma_cm_id *own, struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
    (void)pd;
    cap = attr->cap;
    own->qp = &pair;
    return 0;
}

int ibv_destroy_qp(struct ibv_qp *qp)
{
    return qp == NULL;
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
    (void)qp;
    must(mask == IBV_QP_STATE && attr->qp_state == IBV_QPS_ERR, "another state");
    return 0;
}

#undef ibv_reg_mr
struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *memory, size_t length, int access)
{
    struct ibv_mr *mr = calloc(1, sizeof(*mr));

    (void)access;
    if (mr == NULL)
        abort();
    *mr = (struct ibv_mr){.pd = pd, .addr = memory, .length = length, .lkey = 1, .rkey = 2};
    return mr;
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *memory, size_t length, uint64_t iova,
                                unsigned int access)
{
    (void)iova;
    return ibv_reg_mr(pd, memory, length, (int)access);
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
    free(mr);
    return 0;
}

struct rs_socket *rs_get(int descriptor)
{
    return descriptor == 1 ? &s : NULL;
}

void rs_put(struct rs_socket *own)
{
    (void)own;
}

int rs_wait(struct rs_socket *own, rs_test *test, bool wait, uint32_t timeout_ms)
{
    (void)wait;
    (void)timeout_ms;
    rs_progress(own);
    return test(own) ? 0 : EAGAIN;
}

void rs_kick(struct rs_socket *own)
{
    (void)own;
}

void rs_ready_show(struct rs_socket *own, bool heard)
{
    (void)own;
    (void)heard;
}

int rgetpeername(int socket, struct sockaddr *address, socklen_t *bytes)
{
    (void)socket;
    (void)address;
    *bytes = 0;
    return 0;
}
