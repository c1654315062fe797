/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The messages of the soak. Each follows from the numbers of its two queue pairs and its own, so
 * the receiver knows what it has to find: a part of the table that all processes have. A reliable
 * queue pair carries all operations; at the latest every fourth one tells the receiver (SEND, or
 * WRITE with immediate), which then checks it and the WRITEs before it, and writes back how many
 * messages it has checked (a credit). The requester checks the results of READs and atomics. UC's
 * messages and datagrams carry their number, and may be missing.
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <string.h>

#include "tests/interop/soak.h"

#define NOTIFY_EVERY 4
#define UC_PATIENCE  1.0 /* seconds until what was not heard of is lost */
#define PROBE_AFTER  1.0 /* seconds without work */

/* The kind of work that a completion belongs to: the upper 32 bits of its wr_id. */
enum { OF_SEND = 1, OF_RECEIVE, OF_SHARED, OF_DATAGRAM };

static uint64_t wr_id(unsigned of, unsigned peer, unsigned role, uint32_t number)
{
    return (uint64_t)(of << 16 | peer << 8 | role) << 32 | number;
}

/* ---- what a message is ---- */

static uint64_t mixed(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* Returns a size: 0, a few bytes, up to a receive's, or now and then the longest. */
static uint32_t size_of(uint64_t draw, uint32_t most)
{
    const unsigned kind = draw % 16;
    uint32_t limit = kind < 8 ? 1024 : kind < 14 ? RECEIVE_BYTES : most;
    unsigned bits = 1;

    if (kind == 0)
        return 0;
    limit = limit < most ? limit : most;
    while (limit >> bits != 0)
        bits++;
    bits = 1 + (unsigned)(draw >> 8) % bits;
    limit = 1u << bits <= limit ? 1u << bits : limit;
    return (uint32_t)(draw >> 32) % limit + 1;
}

static struct soak_message message_of(const struct soak *s, uint32_t from, uint32_t to,
                                      unsigned role, uint32_t number)
{
    static const enum soak_op telling[] = {OP_SEND, OP_SEND_IMM, OP_WRITE_IMM, OP_WRITE_IMM};
    const uint64_t draw = mixed(mixed((uint64_t)from << 32 | to) + number);
    const uint64_t more = mixed(draw);
    struct soak_message message = {.op = (enum soak_op)(draw % OPS)};

    if (role == ROLE_UC)
        message.op = draw % 2 == 0 ? OP_SEND_IMM : OP_WRITE_IMM;
    else if (number % NOTIFY_EVERY == NOTIFY_EVERY - 1)
        message.op = telling[draw % 4];
    message.bytes = size_of(
        more, role == ROLE_UC || message.op == OP_SEND || message.op == OP_SEND_IMM ? RECEIVE_BYTES
                                                                                    : s->largest);
    message.offset = (uint32_t)(draw >> 32) % TABLE_MORE;
    if (message.op == OP_ADD || message.op == OP_SWAP)
        message.bytes = 8;
    return message;
}

static struct soak_message outgoing(const struct soak *s, const struct soak_queue *queue,
                                    uint32_t number)
{
    return message_of(s, queue->qp->qp_num, queue->remote_qpn, queue->role, number);
}

static struct soak_message incoming(const struct soak *s, const struct soak_queue *queue,
                                    uint32_t number)
{
    return message_of(s, queue->remote_qpn, queue->qp->qp_num, queue->role, number);
}

static struct soak_message datagram(const struct soak *s, uint32_t from, uint32_t to,
                                    uint32_t number)
{
    struct soak_message message = message_of(s, from, to, ROLE_UC, number);

    message.bytes %= DATAGRAM_BYTES + 1;
    return message;
}

static bool tells(enum soak_op op)
{
    return op == OP_SEND || op == OP_SEND_IMM || op == OP_WRITE_IMM;
}

static bool writes(enum soak_op op)
{
    return op == OP_WRITE || op == OP_WRITE_IMM;
}

/* Takes room for a WRITE in a ring. Returns the offset in the ring. */
static uint32_t take_room(const struct soak *s, uint64_t *place, uint32_t bytes)
{
    const uint32_t ring = soak_ring_bytes(s);
    uint32_t at = (uint32_t)(*place % ring);

    if (at + bytes > ring) {
        *place += ring - at;
        at = 0;
    }
    *place += bytes;
    return at;
}

static void check(const struct soak *s, const struct soak_message *message, const uint8_t *bytes,
                  const struct soak_queue *queue, uint32_t number, const char *what)
{
    const uint8_t *right = s->table + message->offset;
    uint32_t at = 0;

    if (memcmp(bytes, right, message->bytes) == 0)
        return;
    while (bytes[at] == right[at])
        at++;
    soak_fail("%s of %u bytes, number %" PRIu32 " with node %u by queue pair %x of role %u: byte "
              "%" PRIu32 " is %02x, not %02x",
              what, message->bytes, number, queue->link->peer, queue->qp->qp_num, queue->role, at,
              bytes[at], right[at]);
}

/* ---- posting ---- */

static void note_posted(struct soak_queue *queue, enum soak_work work, uint32_t number)
{
    MUST(queue->last - queue->first < DEPTH);
    queue->posted[queue->last++ % DEPTH] =
        (struct soak_posted){.work = work, .number = number, .at = soak_now()};
}

static void post(struct soak_queue *queue, struct ibv_send_wr *wr, enum soak_work work,
                 uint32_t number)
{
    struct ibv_send_wr *bad;

    wr->wr_id = wr_id(OF_SEND, queue->link->peer, queue->role, number);
    wr->send_flags |= IBV_SEND_SIGNALED;
    note_posted(queue, work, number);
    MUST(ibv_post_send(queue->qp, wr, &bad) == 0);
}

void soak_post_receive(struct soak *s, struct soak_queue *queue, unsigned number)
{
    const struct soak_link *link = queue->link;
    struct ibv_sge piece = {
        .addr = (uintptr_t)soak_receive_buffer(s, link, queue->role, number),
        .length = RECEIVE_BYTES,
        .lkey = link->mr->lkey,
    };
    struct ibv_recv_wr *bad, wr = {.wr_id = wr_id(OF_RECEIVE, link->peer, queue->role, number),
                                   .sg_list = &piece,
                                   .num_sge = 1};

    MUST(ibv_post_recv(queue->qp, &wr, &bad) == 0);
    queue->receives++;
}

void soak_post_shared(struct soak *s, unsigned number)
{
    struct ibv_sge piece = {
        .addr = (uintptr_t)(s->shared + (size_t)SHARED_BYTES * number),
        .length = RECEIVE_BYTES + GRH,
        .lkey = s->shared_mr->lkey,
    };
    struct ibv_recv_wr *bad,
        wr = {.wr_id = wr_id(OF_SHARED, 0, 0, number), .sg_list = &piece, .num_sge = 1};

    MUST(ibv_post_srq_recv(s->srq, &wr, &bad) == 0);
}

static uint32_t credit_of(struct soak_queue *queue)
{
    const uint64_t credit = *soak_credit(queue->link, queue->role);

    if (credit > queue->next)
        soak_fail("node %u has checked %" PRIu64 " messages of %" PRIu32, queue->link->peer, credit,
                  queue->next);
    return (uint32_t)credit;
}

/* True if the next message, which needs that much of the ring, may be posted. */
static bool has_room(const struct soak *s, struct soak_queue *queue,
                     const struct soak_message *message)
{
    const uint32_t credit = credit_of(queue);
    uint64_t freed = 0, end = queue->place;

    if (queue->role == ROLE_UC) {
        const uint32_t heard = credit > queue->forgiven ? credit : queue->forgiven;

        if (queue->next - heard < UC_WINDOW)
            return queue->last - queue->first < UC_WINDOW;
        if (soak_now() - queue->progress > UC_PATIENCE)
            queue->forgiven = queue->next;
        return false;
    }
    if (queue->next - credit >= WINDOW || queue->next - queue->done >= WINDOW)
        return false;
    if (message->op == OP_READ && queue->reads_begun - queue->reads_done >= READS)
        return false;
    if (credit > 0)
        freed = queue->ends[(credit - 1) % WINDOW];
    if (writes(message->op))
        take_room(s, &end, message->bytes);
    return end - freed <= soak_ring_bytes(s);
}

static void prepare_write(const struct soak *s, struct soak_queue *queue,
                          const struct soak_message *message, struct ibv_send_wr *wr)
{
    const struct soak_remote *remote = &queue->link->remote;
    const uint32_t at = queue->role == ROLE_UC ? queue->next % UC_SLOTS * RECEIVE_BYTES
                                               : take_room(s, &queue->place, message->bytes);

    wr->wr.rdma.remote_addr = remote->memory + soak_ring_offset(s, queue->role) + at;
    wr->wr.rdma.rkey = remote->memory_key;
}

/* In every third exchange, the comparison must fail. */
static void prepare_atomic(struct soak_queue *queue, const struct soak_message *message,
                           struct ibv_send_wr *wr)
{
    const bool fails = queue->next % 3 == 0;

    queue->results[queue->next % WINDOW] = queue->word;
    wr->wr.atomic.remote_addr = queue->link->remote.memory + soak_word_offset(queue->role);
    wr->wr.atomic.rkey = queue->link->remote.memory_key;
    if (message->op == OP_ADD) {
        wr->wr.atomic.compare_add = message->offset;
        queue->word += message->offset;
        return;
    }
    wr->wr.atomic.compare_add = queue->word + fails;
    wr->wr.atomic.swap = mixed(queue->word);
    if (!fails)
        queue->word = mixed(queue->word);
}

static void prepare(const struct soak *s, struct soak_queue *queue,
                    const struct soak_message *message, struct ibv_send_wr *wr)
{
    static const enum ibv_wr_opcode opcodes[OPS] = {
        [OP_SEND] = IBV_WR_SEND,
        [OP_SEND_IMM] = IBV_WR_SEND_WITH_IMM,
        [OP_WRITE] = IBV_WR_RDMA_WRITE,
        [OP_WRITE_IMM] = IBV_WR_RDMA_WRITE_WITH_IMM,
        [OP_READ] = IBV_WR_RDMA_READ,
        [OP_ADD] = IBV_WR_ATOMIC_FETCH_AND_ADD,
        [OP_SWAP] = IBV_WR_ATOMIC_CMP_AND_SWP,
    };

    wr->opcode = opcodes[message->op];
    wr->imm_data = htonl(queue->next);
    if (writes(message->op))
        prepare_write(s, queue, message, wr);
    if (message->op == OP_ADD || message->op == OP_SWAP)
        prepare_atomic(queue, message, wr);
    if (message->op == OP_READ) {
        wr->wr.rdma.remote_addr = queue->link->remote.table + message->offset;
        wr->wr.rdma.rkey = queue->link->remote.table_key;
    }
}

/* The pieces of local memory that a message comes from or goes to; returns how many. */
static int pieces_of(const struct soak *s, struct soak_queue *queue,
                     const struct soak_message *message, struct ibv_sge *pieces)
{
    const struct soak_link *link = queue->link;
    const uint32_t front = message->bytes / 3;

    pieces[0] = (struct ibv_sge){.length = message->bytes, .lkey = link->mr->lkey};
    if (message->op == OP_READ) {
        pieces[0].addr = (uintptr_t)soak_read_buffer(s, link, queue->role, queue->reads_begun++);
        return message->bytes > 0; /* adapters take a piece of no bytes for 2 GB */
    }
    if (message->op == OP_ADD || message->op == OP_SWAP) {
        pieces[0].addr = (uintptr_t)soak_result(link, queue->role, queue->next);
        return 1;
    }
    pieces[0].lkey = s->table_mr->lkey;
    pieces[0].addr = (uintptr_t)(s->table + message->offset);
    if (message->bytes < 3 || queue->next % 2 == 0)
        return message->bytes > 0;
    pieces[1] = pieces[0];
    pieces[1].addr += front;
    pieces[1].length -= front;
    pieces[0].length = front;
    return 2;
}

int64_t soak_post_message(struct soak *s, struct soak_queue *queue)
{
    struct soak_message message;
    struct ibv_sge pieces[2];
    struct ibv_send_wr wr = {.sg_list = pieces};

    if (queue->failed)
        return -1;
    message = outgoing(s, queue, queue->next);
    if (!has_room(s, queue, &message))
        return -1;
    prepare(s, queue, &message, &wr);
    wr.num_sge = pieces_of(s, queue, &message, pieces);
    queue->ends[queue->next % WINDOW] = queue->place;
    if (queue->role == ROLE_UC) {
        s->sent_uc++;
        queue->progress = soak_now();
    }
    post(queue, &wr, WORK_MESSAGE, queue->next++);
    return message.bytes;
}

int64_t soak_post_datagram(struct soak *s, struct soak_link *link)
{
    const uint32_t number = link->datagram_next;
    const struct soak_message message =
        datagram(s, s->datagrams->qp_num, link->datagram_qpn, number);
    struct ibv_sge piece = {
        .addr = (uintptr_t)(s->table + message.offset),
        .length = message.bytes,
        .lkey = s->table_mr->lkey,
    };
    struct ibv_send_wr *bad, wr = {.wr_id = wr_id(OF_DATAGRAM, link->peer, 0, number),
                                   .sg_list = &piece,
                                   .num_sge = 1,
                                   .opcode = IBV_WR_SEND_WITH_IMM,
                                   .send_flags = IBV_SEND_SIGNALED,
                                   .imm_data = htonl(number)};

    if (s->datagrams_posted == DEPTH)
        return -1;
    wr.wr.ud.ah = link->ah;
    wr.wr.ud.remote_qpn = link->datagram_qpn;
    wr.wr.ud.remote_qkey = QKEY;
    MUST(ibv_post_send(s->datagrams, &wr, &bad) == 0);
    s->datagrams_posted++;
    s->sent_ud++;
    link->datagram_next++;
    return message.bytes;
}

/* UC's credits go over the first reliable queue pair, as UC would lose some. */
static void post_credit(struct soak_queue *queue)
{
    struct soak_link *link = queue->link;
    struct soak_queue *by = queue->role == ROLE_UC ? &link->queues[ROLE_SHORT] : queue;
    uint64_t checked = queue->checked;
    struct ibv_sge piece = {.addr = (uintptr_t)&checked, .length = sizeof(checked)};
    struct ibv_send_wr wr = {.sg_list = &piece,
                             .num_sge = 1,
                             .opcode = IBV_WR_RDMA_WRITE,
                             .send_flags = IBV_SEND_INLINE};

    if (by->failed)
        return;
    wr.wr.rdma.remote_addr = link->remote.memory + soak_credit_offset(queue->role);
    wr.wr.rdma.rkey = link->remote.memory_key;
    queue->credit_due = false;
    queue->credit_posted = true;
    post(by, &wr, WORK_CREDIT, queue->role);
}

/* A queue pair that waits for nothing would never notice that its peer is gone. */
static void post_probe(struct soak_queue *queue)
{
    struct ibv_send_wr wr = {.opcode = IBV_WR_RDMA_WRITE};

    wr.wr.rdma.remote_addr = queue->link->remote.memory;
    wr.wr.rdma.rkey = queue->link->remote.memory_key;
    post(queue, &wr, WORK_PROBE, 0);
}

void soak_post_others(struct soak *s, struct soak_link *link)
{
    for (unsigned role = 0; link->state == LINK_LIVE && role < ROLES; role++) {
        struct soak_queue *queue = &link->queues[role];

        if (queue->credit_due && !queue->credit_posted)
            post_credit(queue);
        if (soak_is_reliable(role) && !queue->failed && queue->first == queue->last &&
            !s->stopping && soak_now() - queue->progress > PROBE_AFTER)
            post_probe(queue);
    }
}

/* ---- completions of what we sent ---- */

static void count(struct soak *s, unsigned what, uint32_t bytes)
{
    s->messages[what]++;
    s->bytes[what] += bytes;
}

static void message_done(struct soak *s, struct soak_queue *queue, uint32_t number)
{
    const struct soak_message message = outgoing(s, queue, number);

    MUST(number == queue->done);
    queue->done++;
    if (queue->role == ROLE_UC)
        return;
    count(s, message.op, message.bytes);
    if (message.op == OP_READ)
        check(s, &message, soak_read_buffer(s, queue->link, queue->role, queue->reads_done++),
              queue, number, "READ");
    if (message.op != OP_ADD && message.op != OP_SWAP)
        return;
    const uint64_t was = *soak_result(queue->link, queue->role, number);

    if (was != queue->results[number % WINDOW])
        soak_fail("atomic %" PRIu32 " with node %u: %" PRIx64 " was there, not %" PRIx64, number,
                  queue->link->peer, was, queue->results[number % WINDOW]);
}

/* A queue pair's first failure is reported; work posted behind it must be flushed. */
static void send_failed(struct soak_queue *queue, const struct soak_posted *posted,
                        const struct ibv_wc *wc)
{
    const double since = posted->at > queue->progress ? posted->at : queue->progress;

    if (queue->link->state == LINK_FAILING && wc->status == IBV_WC_WR_FLUSH_ERR)
        return;
    if (queue->failed && wc->status != IBV_WC_WR_FLUSH_ERR)
        soak_fail("work behind a failure: %s", ibv_wc_status_str(wc->status));
    if (queue->failed)
        return;
    queue->failed = true;
    soak_say("failed %u %u %u %d %.0f", queue->link->peer, queue->link->epoch, queue->role,
             (int)wc->status, 1000 * (soak_now() - since));
}

static void sent(struct soak *s, struct soak_queue *queue, const struct ibv_wc *wc)
{
    const struct soak_posted *posted = &queue->posted[queue->first % DEPTH];
    const double now = soak_now();

    MUST(queue->first != queue->last);
    if (posted->number != (uint32_t)wc->wr_id)
        soak_fail("work %u with node %u is completed before %" PRIu32, (unsigned)wc->wr_id,
                  queue->link->peer, posted->number);
    queue->first++;
    if (wc->status != IBV_WC_SUCCESS) {
        send_failed(queue, posted, wc);
        return;
    }
    MUST(!queue->failed);
    if (soak_is_reliable(queue->role) && now - posted->at > s->slowest)
        s->slowest = now - posted->at;
    queue->progress = now;
    if (posted->work == WORK_CREDIT)
        queue->link->queues[posted->number].credit_posted = false;
    if (posted->work == WORK_MESSAGE)
        message_done(s, queue, posted->number);
}

/* ---- completions of what we received ---- */

static void check_telling(const struct soak *s, const struct soak_queue *queue,
                          const struct soak_message *message, uint32_t number,
                          const struct ibv_wc *wc, const uint8_t *buffer, uint32_t place)
{
    const bool written = message->op == OP_WRITE_IMM;

    if (wc->opcode != (written ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV) ||
        (wc->wc_flags & IBV_WC_WITH_IMM) != (message->op != OP_SEND ? IBV_WC_WITH_IMM : 0))
        soak_fail("message %" PRIu32 " of node %u came as another kind", number, queue->link->peer);
    if ((wc->wc_flags & IBV_WC_WITH_IMM) && ntohl(wc->imm_data) != number)
        soak_fail("message %u of node %u came for %" PRIu32, ntohl(wc->imm_data), queue->link->peer,
                  number);
    if (wc->byte_len != message->bytes)
        soak_fail("message %" PRIu32 " of node %u has %u bytes, not %u", number, queue->link->peer,
                  wc->byte_len, message->bytes);
    if (written)
        buffer = queue->link->memory + soak_ring_offset(s, queue->role) + place;
    check(s, message, buffer, queue, number, written ? "WRITE with immediate" : "SEND");
}

/* All messages up to the one with a completion have been carried out. */
static void received_reliably(struct soak *s, struct soak_queue *queue, const struct ibv_wc *wc,
                              const uint8_t *buffer)
{
    for (;;) {
        const uint32_t number = queue->checked++;
        const struct soak_message message = incoming(s, queue, number);
        uint32_t place = 0;

        if (writes(message.op))
            place = take_room(s, &queue->checked_place, message.bytes);
        if (tells(message.op)) {
            check_telling(s, queue, &message, number, wc, buffer, place);
            return;
        }
        if (message.op == OP_WRITE)
            check(s, &message, queue->link->memory + soak_ring_offset(s, queue->role) + place,
                  queue, number, "WRITE");
    }
}

static void received_uc(struct soak *s, struct soak_queue *queue, const struct ibv_wc *wc,
                        const uint8_t *buffer)
{
    const uint32_t number = ntohl(wc->imm_data);
    const struct soak_message message = incoming(s, queue, number);

    if (s->doubled && number < queue->checked)
        return; /* it came before, or a later message has overtaken it */
    if (!(wc->wc_flags & IBV_WC_WITH_IMM) || number < queue->checked)
        soak_fail("UC: message %" PRIu32 " of node %u came after %" PRIu32, number,
                  queue->link->peer, queue->checked);
    check_telling(s, queue, &message, number, wc, buffer, number % UC_SLOTS * RECEIVE_BYTES);
    queue->checked = number + 1;
    count(s, COUNT_UC, message.bytes);
}

static void received(struct soak *s, struct soak_queue *queue, const struct ibv_wc *wc,
                     const uint8_t *buffer)
{
    if (queue->role == ROLE_UC)
        received_uc(s, queue, wc, buffer);
    else
        received_reliably(s, queue, wc, buffer);
    queue->credit_due = true;
}

static void received_datagram(struct soak *s, const struct ibv_wc *wc, const uint8_t *buffer)
{
    for (unsigned i = 0; i < PEERS; i++) {
        struct soak_link *link = &s->links[i];

        if (link->state < LINK_READY || link->datagram_qpn != wc->src_qp)
            continue;
        const struct soak_message message =
            datagram(s, wc->src_qp, s->datagrams->qp_num, ntohl(wc->imm_data));

        if (!(wc->wc_flags & IBV_WC_WITH_IMM) || wc->byte_len != message.bytes + GRH ||
            memcmp(buffer + GRH, s->table + message.offset, message.bytes) != 0)
            soak_fail("datagram %u of node %u is wrong", ntohl(wc->imm_data), i);
        count(s, COUNT_UD, message.bytes);
        return;
    }
    s->foreign++; /* completion for a process that was killed */
}

static struct soak_queue *queue_of_number(struct soak *s, uint32_t qpn)
{
    for (unsigned i = 0; i < PEERS; i++)
        for (unsigned role = 0; s->links[i].state != LINK_DOWN && role < ROLES; role++)
            if (s->links[i].queues[role].qp->qp_num == qpn)
                return &s->links[i].queues[role];
    soak_fail("a completion of queue pair %x, which is gone", qpn);
}

static void received_shared(struct soak *s, const struct ibv_wc *wc)
{
    const unsigned number = (unsigned)wc->wr_id;
    const uint8_t *buffer = s->shared + (size_t)SHARED_BYTES * number;

    if (wc->status != IBV_WC_SUCCESS && wc->status != IBV_WC_WR_FLUSH_ERR)
        soak_fail("a shared receive: %s", ibv_wc_status_str(wc->status));
    if (wc->status == IBV_WC_SUCCESS && wc->qp_num == s->datagrams->qp_num)
        received_datagram(s, wc, buffer);
    else if (wc->status == IBV_WC_SUCCESS)
        received(s, queue_of_number(s, wc->qp_num), wc, buffer);
    soak_post_shared(s, number);
}

void soak_completed(struct soak *s, const struct ibv_wc *wc)
{
    const unsigned of = (unsigned)(wc->wr_id >> 48), peer = (unsigned)(wc->wr_id >> 40) & 0xff;
    const unsigned role = (unsigned)(wc->wr_id >> 32) & 0xff, number = (unsigned)wc->wr_id;
    struct soak_queue *queue;

    if (of == OF_SHARED) {
        received_shared(s, wc);
        return;
    }
    if (of == OF_DATAGRAM) {
        if (wc->status != IBV_WC_SUCCESS)
            soak_fail("a datagram: %s", ibv_wc_status_str(wc->status));
        s->datagrams_posted--;
        return;
    }
    MUST((of == OF_SEND || of == OF_RECEIVE) && peer < PEERS && role < ROLES);
    queue = &s->links[peer].queues[role];
    if (s->links[peer].state == LINK_DOWN || queue->qp->qp_num != wc->qp_num)
        soak_fail("a completion of queue pair %x, which is gone", wc->qp_num);
    if (of == OF_SEND) {
        sent(s, queue, wc);
        return;
    }
    MUST(queue->receives > 0);
    queue->receives--;
    if (wc->status == IBV_WC_WR_FLUSH_ERR)
        return;
    if (wc->status != IBV_WC_SUCCESS)
        soak_fail("a receive of node %u: %s", peer, ibv_wc_status_str(wc->status));
    received(s, queue, wc, soak_receive_buffer(s, queue->link, role, number));
    if (!queue->failed && queue->link->state != LINK_FAILING)
        soak_post_receive(s, queue, number);
}
