/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages between the libraries of two hosts, as datagrams with immediate data. The simulator
 * moves no payload unless asked to, so what a message says is packed into the 32 bits of immediate
 * data: connection, kind, queue pair, and the low bits of the epoch. The PSN follows from them
 * (oche_rogue_psn in ends.c). The datagram has the length of the message as it is on the wire.
 */
#include "sim/endpoint/rogue/rogue_host.h"

#define KIND_BIT       9
#define QP_BIT         8
#define CONNECTION_BIT 11
#define DATAGRAM_KEY   1

_Static_assert(((uint64_t)OCHE_ROGUE_MOST_CONNECTIONS - 1) << CONNECTION_BIT <= UINT32_MAX,
               "a connection's number fits");

void oche_rogue_tell(struct oche_rogue_end *end, const struct rogue_resync *message)
{
    struct oche_rogue *rogue = end->rogue;
    const struct oche_connection *connection = &rogue->host->flows->connections[end->connection];
    uint32_t me = rogue->host->address;
    uint32_t hash = oche_host_flow_hash(rogue->host->shared->seed, end->connection);
    struct oche_destination to = {.address =
                                      connection->src == me ? connection->dst : connection->src,
                                  .qpn = OCHE_ROGUE_DATAGRAM_QPN,
                                  .qkey = OCHE_ROGUE_QKEY,
                                  .flow_hash = hash,
                                  .udp_source_port = (uint16_t)(0xc000 | (hash & 0x3fff)),
                                  .traffic_class = OCHE_DATA_CLASS};
    struct oche_send_work work = {
        .opcode = OCHE_WORK_SEND_IMM,
        .sge_count = 1,
        .sge[0] = {.va = OCHE_GRH_BYTES, .length = ROGUE_RESYNC_BYTES, .lkey = DATAGRAM_KEY},
        .imm = end->connection << CONNECTION_BIT | (uint32_t)message->kind << KIND_BIT |
               (uint32_t)message->qp << QP_BIT | (message->epoch & 0xff),
        .to = &to,
    };

    oche_rogue_post_datagram(rogue, &work);
}

/* Returns the epoch nearest to `present` whose low 8 bits are `low`. */
static uint32_t nearest(uint32_t low, uint32_t present)
{
    uint32_t ahead = (low - present) & 0xff;

    return ahead < 0x80 ? present + ahead : present + ahead - 0x100;
}

static void arrived(struct oche_rogue *rogue, uint32_t imm, oche_time now)
{
    const struct oche_flows *flows = rogue->host->flows;
    uint32_t number = imm >> CONNECTION_BIT;
    struct rogue_resync message = {.kind = (uint8_t)(imm >> KIND_BIT & 3),
                                   .qp = (uint8_t)(imm >> QP_BIT & 1)};

    if (number >= flows->connection_count || message.kind == 0)
        return;
    const struct oche_connection *connection = &flows->connections[number];
    struct oche_rogue_end *end = oche_rogue_find(rogue, number);
    if (end == NULL &&
        (connection->dst == rogue->host->address || oche_rogue_find_parked(rogue, number) != NULL))
        end = oche_rogue_open(rogue, number);
    if (end == NULL)
        return;
    message.epoch = nearest(imm & 0xff, rogue_epoch(end->library, message.qp));
    message.psn =
        oche_rogue_psn(connection->src == rogue->host->address, number, message.qp, message.epoch);
    rogue_told(end->library, &message, now);
    oche_rogue_report(end, now);
}

void oche_rogue_receive_datagrams(struct oche_rogue *rogue)
{
    static const struct oche_recv_work work = {
        .sge_count = 1,
        .sge[0] = {.length = OCHE_GRH_BYTES + ROGUE_RESYNC_BYTES, .lkey = DATAGRAM_KEY}};

    while (oche_qp_post_recv(rogue->datagrams, &work) == 0)
        ;
}

void oche_rogue_poll_datagrams(struct oche_rogue *rogue, oche_time now)
{
    struct oche_completion done[8];
    unsigned count;

    while ((count = oche_rogue_take_completions(rogue, rogue->datagram_cq, done, 8)) > 0)
        for (unsigned i = 0; i < count; i++)
            if (done[i].status == OCHE_STATUS_SUCCESS && done[i].opcode == OCHE_DONE_RECV)
                arrived(rogue, done[i].imm, now);
    oche_rogue_receive_datagrams(rogue);
}
