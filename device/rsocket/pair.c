/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A connection's queue pair and memory: the ring that the peer writes to, the list in which it
 * writes the places of its own ring (and after that its iomaps), and the ring from which we send.
 */
#include <stdlib.h>
#include <string.h>

#include "device/rsocket/internal.h"

static uint32_t within(uint32_t value, uint32_t least, uint32_t most)
{
    return value < least ? least : value > most ? most : value;
}

static size_t table_bytes(const struct rs_socket *s)
{
    return RS_PLACES * RS_PLACE_BYTES + s->iomaps * RS_IOMAP_BYTES;
}

static bool make_memory(struct rs_socket *s)
{
    const uint32_t half = s->want_receive_bytes / 2;

    s->receive_ring = calloc(2, half);
    s->send_ring = calloc(1, s->send_bytes);
    s->table = aligned_alloc(16, (table_bytes(s) + 15) / 16 * 16);
    if (s->receive_ring == NULL || s->send_ring == NULL || s->table == NULL)
        return false;
    memset(s->table, 0, table_bytes(s));
    s->in.half = half;
    s->receive_mr = ibv_reg_mr(s->id->pd, s->receive_ring, 2 * (size_t)half,
                               IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    s->send_mr = ibv_reg_mr(s->id->pd, s->send_ring, s->send_bytes, IBV_ACCESS_LOCAL_WRITE);
    s->table_mr = ibv_reg_mr(s->id->pd, s->table, table_bytes(s),
                             IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    return s->receive_mr != NULL && s->send_mr != NULL && s->table_mr != NULL;
}

/* Room for messages of data, for those of control, and for probes. */
static unsigned send_slots(const struct rs_socket *s)
{
    return s->most_sends + RS_CONTROLS + 2;
}

static unsigned receive_slots(const struct rs_socket *s)
{
    return s->most_receives + 2 * RS_CONTROLS;
}

static bool make_queue_pair(struct rs_socket *s)
{
    struct ibv_qp_init_attr attr = {.cap = {.max_send_wr = send_slots(s),
                                            .max_recv_wr = receive_slots(s),
                                            .max_send_sge = 1,
                                            .max_recv_sge = 1,
                                            .max_inline_data = s->inline_bytes},
                                    .qp_type = IBV_QPT_RC,
                                    .sq_sig_all = 1};

    s->channel = ibv_create_comp_channel(s->id->verbs);
    if (s->channel == NULL)
        return false;
    s->cq = ibv_create_cq(s->id->verbs, (int)(send_slots(s) + receive_slots(s)), s, s->channel, 0);
    if (s->cq == NULL)
        return false;
    attr.send_cq = attr.recv_cq = s->cq;
    if (rdma_create_qp(s->id, NULL, &attr) != 0)
        return false;
    s->qp = s->id->qp;
    s->inline_bytes = attr.cap.max_inline_data;
    for (unsigned i = 0; i < receive_slots(s); i++)
        if (!rs_post_receive(s))
            return false;
    return true;
}

bool rs_pair_make(struct rs_socket *s)
{
    s->send_bytes = within(s->want_send_bytes, RS_LEAST_BYTES, RS_MOST_BYTES);
    s->want_receive_bytes = within(s->want_receive_bytes, RS_LEAST_BYTES, RS_MOST_BYTES) & ~1U;
    s->heard = rs_now();
    return make_queue_pair(s) && make_memory(s);
}

void rs_pair_drop(struct rs_socket *s)
{
    if (s->id != NULL)
        s->id->qp = NULL;
    if (s->qp != NULL)
        ibv_destroy_qp(s->qp);
    rs_iomaps_drop(s);
    if (s->table_mr != NULL)
        ibv_dereg_mr(s->table_mr);
    if (s->send_mr != NULL)
        ibv_dereg_mr(s->send_mr);
    if (s->receive_mr != NULL)
        ibv_dereg_mr(s->receive_mr);
    if (s->cq != NULL)
        ibv_destroy_cq(s->cq);
    if (s->channel != NULL)
        ibv_destroy_comp_channel(s->channel);
    free(s->table);
    free(s->send_ring);
    free(s->receive_ring);
    s->table_mr = s->send_mr = s->receive_mr = NULL;
    s->qp = NULL;
    s->cq = NULL;
    s->channel = NULL;
    s->table = s->send_ring = s->receive_ring = NULL;
}

/* ---- the hello ---- */

void rs_hello_of(const struct rs_socket *s, uint8_t bytes[RS_HELLO_BYTES])
{
    const struct rs_hello hello = {
        .big_endian = rs_is_big_endian(),
        .iomap = true,
        .credits = (uint16_t)s->most_receives,
        .iomaps = s->iomaps,
        .places = {.address = (uintptr_t)s->table, .key = s->table_mr->rkey, .length = RS_PLACES},
        .buffer = {.address = (uintptr_t)s->receive_ring,
                   .key = s->receive_mr->rkey,
                   .length = s->in.half}};

    rs_hello_write(&hello, bytes);
}

bool rs_hello_from(struct rs_socket *s, const uint8_t *bytes, size_t count)
{
    struct rs_hello peer;

    if (rs_hello_read(bytes, count, &peer) != NULL) {
        errno = EPROTO;
        return false;
    }
    s->swap = peer.big_endian != rs_is_big_endian();
    s->list = peer.places;
    s->peer_iomap = (struct rs_place){.address = peer.places.address +
                                                 (uint64_t)peer.places.length * RS_PLACE_BYTES,
                                      .key = peer.places.key,
                                      .length = peer.iomaps};
    rs_outflow_start(&s->out, &peer);
    rs_inflow_start(&s->in, s->in.half, (uint16_t)s->most_receives, peer.places.length);
    return true;
}

/* ---- work ---- */

bool rs_post_receive(struct rs_socket *s)
{
    struct ibv_recv_wr work = {.wr_id = rs_work_id(RS_WORK_RECEIVE, 0)}, *bad;
    const int error = ibv_post_recv(s->qp, &work, &bad);

    errno = error;
    return error == 0;
}

int rs_post_write(struct rs_socket *s, const struct rs_place *to, const void *from, uint32_t bytes,
                  uint32_t lkey, uint64_t id, const uint32_t *immediate)
{
    struct ibv_sge piece = {.addr = (uintptr_t)from, .length = bytes, .lkey = lkey};
    struct ibv_send_wr work = {.wr_id = id,
                               .sg_list = &piece,
                               .num_sge = bytes > 0,
                               .opcode = immediate != NULL ? IBV_WR_RDMA_WRITE_WITH_IMM
                                                           : IBV_WR_RDMA_WRITE,
                               .send_flags = lkey == 0 && bytes > 0 ? IBV_SEND_INLINE : 0,
                               .imm_data = immediate != NULL ? htobe32(*immediate) : 0,
                               .wr.rdma = {.remote_addr = to->address, .rkey = to->key}};
    struct ibv_send_wr *bad;

    return ibv_post_send(s->qp, &work, &bad);
}
