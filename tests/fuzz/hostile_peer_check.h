/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules for any packets of a hostile peer: one with the right address, who knows the port, the
 * queue pair numbers and the keys of the connection that is its own, and whose ICRCs are right.
 * Opcode, reserved bits, PSN, lengths, keys and ports are as the input says; so is when the honest
 * work of both connections is posted and moves. Then:
 *   - the other connection of the same two devices finishes, byte for byte, without a packet sent
 *     again, and is not slowed down;
 *   - memory changes only where a key of the attacked connection allows it;
 *   - each hostile packet is counted: once as wrong or rejected, or else as received;
 *   - on the attacked connection all work completes, in order, once; if one fails, all that had not
 *     succeeded before is flushed;
 *   - both ends come to rest; nothing breaks (oche_panic, sanitizers).
 */
#ifndef OCHE_TESTS_FUZZ_HOSTILE_PEER_CHECK_H
#define OCHE_TESTS_FUZZ_HOSTILE_PEER_CHECK_H

#include "core/wire/cnp.h"
#include "core/wire/extension.h"
#include "tests/fuzz/hostile_world.h"

/*
 * The total time that the honest work must wait: less than its ACK timeout. A pinned port that is
 * silent for longer may be given up (device/path/peer_ports.h).
 */
#define HOSTILE_PATIENCE (8 * OCHE_MS)

/* Takes bytes off the input; zeros when it has ended. */
struct hostile_input {
    const uint8_t *at, *end;
};

static inline uint32_t hostile_number(struct hostile_input *input, unsigned bytes)
{
    uint32_t number = 0;

    while (bytes-- > 0)
        number = number << 8 | (input->at < input->end ? *input->at++ : 0);
    return number;
}

/* ---- one packet ---- */

/* Near the value that the queue pair expects or has outstanding, or anywhere. */
static inline uint32_t hostile_psn(const struct oche_qp *qp, struct hostile_input *input)
{
    const uint32_t how = hostile_number(input, 1);
    const uint32_t near = (how >> 3) - (how & 4 ? 16 : 0);
    struct oche_qp_losses losses;

    oche_qp_losses(qp, &losses);
    switch (how & 3) {
    case 0:
        return oche_psn_add(losses.epsn, near);
    case 1:
        return oche_psn_add(losses.una, near);
    case 2:
        return oche_psn_add(losses.high, near);
    default:
        return hostile_number(input, 3);
    }
}

/* The target of a write or read: in the range of its key, at its edge, or elsewhere. */
static inline void hostile_aim(const struct hostile_world *world, struct oche_packet *packet,
                               struct hostile_input *input)
{
    const struct hostile_end *end = &world->end[0];
    const uint32_t how = hostile_number(input, 1), places = hostile_number(input, 2);
    const uint8_t *base = end->half[HOSTILE_ATTACKED].memory;

    packet->reth.rkey = end->half[HOSTILE_ATTACKED].key;
    if ((how & 7) == 5)
        packet->reth.rkey = end->half[HOSTILE_ALONE].key;
    if ((how & 7) == 6)
        packet->reth.rkey = end->read_key;
    if ((how & 7) == 7)
        packet->reth.rkey ^= 1u << (how >> 3);
    if ((how & 7) >= 5)
        base = (how & 7) == 6 ? end->read_only : end->half[HOSTILE_ALONE].memory;
    packet->reth.va = (uint64_t)(uintptr_t)base + HOSTILE_MEMORY / 4 +
                      (how & 0x80 ? places % (HOSTILE_MEMORY / 2) : 8 * (places % 512));
    if ((how & 0x60) == 0x60)
        packet->reth.va -= how & 0x10 ? HOSTILE_MEMORY / 2 : 64;
    packet->reth.dma_length = packet->payload_bytes;
    if ((how & 0x18) == 0x18) /* of a message of several packets, or not possible */
        packet->reth.dma_length = how & 0x40 ? UINT32_MAX - places : places % 2048;
}

/* Headers of the extended opcodes. */
static inline void hostile_extend(struct oche_packet *packet, struct hostile_input *input)
{
    static const uint8_t members[] = {0, 1, 0, 2, 0, 9, 0, 3};
    const uint32_t how = hostile_number(input, 1);
    const struct oche_place place = {.receive = how >> 4,
                                     .offset = how & 4 ? HOSTILE_MTU * (how & 3) : 0};
    const struct oche_sack sack = {.first = oche_psn_add(packet->psn, how & 3),
                                   .count = (uint8_t)(how >> 2),
                                   .bits = (uint64_t)hostile_number(input, 2) << 1};
    const struct oche_share share = {.senders = (uint16_t)how, .sequence = (uint8_t)(how >> 3)};
    const struct oche_group group = {
        .id = how & 3, .count = (uint16_t)(1 + (how >> 2 & 3)), .members = members};

    if (packet->opcode == OCHE_RC_SACK)
        oche_sack_put(packet, &sack);
    else if (packet->opcode == OCHE_RC_SEND_ONLY_GROUP)
        oche_group_put(packet, &group, 0);
    else if (packet->opcode == OCHE_SHARE)
        oche_share_put(packet, &share);
    else
        oche_place_put(packet, &place);
}

/* Any opcode, those of the transport and the special ones more often. */
static inline uint8_t hostile_opcode(const struct hostile_world *world, uint32_t which)
{
    const bool uc = world->variant->attacked == OCHE_TRANSPORT_UC;

    if (which < 0xa0)
        return (uint8_t)(which % 0x18 + (uc && which >= 0x18 ? OCHE_UC_OF_RC : 0));
    if (which < 0xc0)
        return which & 1 ? OCHE_CNP : OCHE_RC_ACK;
    return which < 0xe0 ? (uint8_t)which : (uint8_t)(which * 37);
}

static inline struct oche_packet hostile_draw(const struct hostile_world *world,
                                              struct hostile_input *input, uint8_t *payload)
{
    const struct hostile_half *half = &world->end[0].half[HOSTILE_ATTACKED];
    struct oche_packet packet = {
        .opcode = hostile_opcode(world, hostile_number(input, 1)),
        .psn = hostile_psn(half->qp, input),
        .bth = (uint8_t)hostile_number(input, 1) & (uint8_t)~OCHE_BTH_PAD_MASK,
        .bth_reserved = (uint8_t)(hostile_number(input, 1) & 0x3f),
        .pkey = 0xffff,
        .dest_qpn = oche_qp_number(half->qp),
        .imm = half->key,
        .payload = payload,
        .ext = OCHE_EXT_RETH | OCHE_EXT_ATOMIC | OCHE_EXT_IMM | OCHE_EXT_DETH,
    };
    const uint32_t length = hostile_number(input, 1);

    if (oche_opcode_has(packet.opcode, OCHE_OP_PAYLOAD)) {
        packet.payload_bytes = (uint16_t)(length < 0x40   ? HOSTILE_MTU
                                          : length < 0xf0 ? length
                                                          : HOSTILE_MTU + length - 0xf4);
        packet.ext |= OCHE_EXT_PAYLOAD;
    }
    memset(payload, 0xa0 | (length & 15), HOSTILE_MTU + 16);
    if (oche_opcode_has(packet.opcode, OCHE_OP_RESPONSE))
        packet.aeth = hostile_number(input, 1) << 24 | (hostile_number(input, 1) & 0xff);
    else
        hostile_aim(world, &packet, input);
    packet.atomic.swap_add = packet.atomic.compare = length;
    if (packet.opcode == OCHE_CNP && (length & 1))
        oche_cnp_put_psn(&packet, packet.psn);
    if (packet.opcode >= OCHE_SCHEME_OPCODES)
        hostile_extend(&packet, input);
    return packet;
}

/* Overwrites bytes of the packet, and then computes its ICRC. */
static inline void hostile_mangle(struct hostile_world *world, size_t count,
                                  const struct oche_pseudo *pseudo, struct hostile_input *input)
{
    const uint32_t how = hostile_number(input, 1);
    struct oche_span body = {.bytes = world->packet, .count = count - OCHE_ICRC_BYTES};

    if (how < 0x80)
        return;
    for (uint32_t i = 0; i < (how & 3); i++)
        world->packet[hostile_number(input, 1) % (count < 40 ? count : 40)] =
            (uint8_t)hostile_number(input, 1);
    if (count < 16 + oche_bth_trailer_bytes(world->packet))
        body.count = count - OCHE_ICRC_BYTES;
    else
        body.count -= oche_bth_trailer_bytes(world->packet);
    oche_icrc_put(world->packet + body.count,
                  oche_icrc(world->end[0].device->crc32, pseudo, &body, 1));
}

/* ---- the results ---- */

static inline uint64_t hostile_refused(const struct oche_device *device)
{
    uint64_t refused = oche_nic_stats(device->nic)->rejected_packets + device->stats.strange_ports;

    for (unsigned i = 0; i < OCHE_WIRE_ERROR_COUNT; i++)
        refused += device->stats.wrong[i];
    return refused;
}

static inline void hostile_arrive(struct hostile_world *world, size_t count, uint16_t port,
                                  uint8_t tos)
{
    struct oche_device *device = world->end[0].device;
    const struct oche_nic_stats before = *oche_nic_stats(device->nic);
    const uint64_t refused = hostile_refused(device), seen = device->stats.received_packets;
    uint8_t *bytes = malloc(count); /* of its size, so that a sanitizer sees a read beyond it */
    const struct oche_datagram_in in = {.bytes = bytes,
                                        .count = (uint32_t)count,
                                        .segment_bytes = (uint32_t)count,
                                        .from = world->end[1].address,
                                        .from_port = port,
                                        .tos = tos};

    OCHE_MUST(bytes != NULL);
    memcpy(bytes, world->packet, count);
    device_take(device, &in, oche_device_now(device));
    free(bytes);
    hostile_must(world, device->stats.received_packets == seen + 1, "a packet was not counted");
    hostile_must(world, hostile_refused(device) <= refused + 1, "a packet was refused twice");
    hostile_must(world,
                 hostile_refused(device) == refused + 1 ||
                     memcmp(&before, oche_nic_stats(device->nic), sizeof(before)) != 0,
                 "a packet vanished without being counted");
    hostile_must(world,
                 !world->variant->marks || oche_qp_rate_bps(world->end[0].half[HOSTILE_ALONE].qp) ==
                                               device->config.line_rate_bps,
                 "the honest connection is slowed down");
}

/*
 * Sends a packet to the attacked connection from its port, or sometimes from another one. Or sends
 * it to the other connection, whose port only its own peer has.
 */
static inline void hostile_send(struct hostile_world *world, struct hostile_input *input)
{
    const struct hostile_end *end = &world->end[0], *peer = &world->end[1];
    const uint32_t how = hostile_number(input, 1);
    const uint32_t alone = oche_qp_number(end->half[HOSTILE_ALONE].qp);
    uint16_t port = peer->half[HOSTILE_ATTACKED].port;
    uint8_t payload[HOSTILE_MTU + 16], qpn[3];
    struct oche_packet packet = hostile_draw(world, input, payload);
    struct oche_ip_header header;
    struct oche_pseudo pseudo;
    size_t count;

    if ((how & 0x0f) == 0x0f)
        port = how & 0x10 ? 4791 : peer->half[HOSTILE_ALONE].port;
    if ((how & 0xe0) == 0xe0)
        packet.dest_qpn = alone;
    if ((how & 0xe0) == 0xc0)
        packet.dest_qpn ^= 1u << (how & 15);
    if ((how & 0xe0) == 0xa0)
        packet.pkey = (uint16_t)(how & 1 ? 0x7fff : 0x8001);
    oche_put24(qpn, alone);
    if (packet.dest_qpn == alone && port == peer->half[HOSTILE_ALONE].port)
        port ^= 1;
    oche_ip_header_make(&header, &peer->address, &end->address, port, OCHE_ROCE_UDP_PORT, 0);
    oche_pseudo_from_bytes(&pseudo, header.bytes);
    count = oche_encode_transport(&packet, &pseudo, end->device->crc32, world->packet,
                                  sizeof(world->packet));
    if (count == 0)
        return; /* no such opcode; hostile_mangle makes those, too */
    oche_pseudo_set_bytes(&pseudo, (uint32_t)count);
    hostile_mangle(world, count, &pseudo, input);
    if (memcmp(world->packet + 5, qpn, 3) != 0 || port != peer->half[HOSTILE_ALONE].port)
        hostile_arrive(world, count, port, how & 0x10 ? OCHE_ECN_CE : OCHE_ECN_ECT0);
}

/* ---- final rules ---- */

static inline void hostile_check_alone(struct hostile_world *world, unsigned e)
{
    const struct hostile_half *half = &world->end[e].half[HOSTILE_ALONE];
    const struct hostile_half *peer = &world->end[1 - e].half[HOSTILE_ALONE];
    const uint64_t words[4] = {HOSTILE_ADD, 0, HOSTILE_ADD, 0};
    const uint8_t *source = hostile_at(peer, HOSTILE_SOURCE);
    uint8_t want[HOSTILE_MEMORY], *at = want + HOSTILE_MEMORY / 4;
    bool succeeded = true;

    memset(want, HOSTILE_FILL, sizeof(want));
    memcpy(at + HOSTILE_SOURCE, hostile_at(half, HOSTILE_SOURCE), HOSTILE_TARGET);
    memcpy(at + HOSTILE_TARGET, source, world->bytes[0]);
    memcpy(at + HOSTILE_RECEIVED, source, world->bytes[1]);
    memcpy(at + HOSTILE_READS, source, world->bytes[2]);
    memcpy(at + HOSTILE_SUM, words, sizeof(words));
    hostile_must(world, half->done == HOSTILE_WORKS && half->recvs_done == HOSTILE_RECVS,
                 "the honest connection did not finish");
    for (uint32_t i = 0; i < HOSTILE_WORKS + HOSTILE_RECVS; i++)
        succeeded &= half->status[i] == OCHE_STATUS_SUCCESS;
    hostile_must(world, succeeded, "the honest connection has failed");
    hostile_must(world, memcmp(want, half->memory, sizeof(want)) == 0,
                 "the honest connection has other bytes");
    hostile_must(world,
                 world->variant->repeats || (oche_qp_timeouts(half->qp) == 0 &&
                                             oche_qp_retransmitted_packets(half->qp) == 0),
                 "the honest connection had to send packets again");
}

static inline bool hostile_filled(const uint8_t *bytes, size_t count)
{
    return bytes[0] == HOSTILE_FILL && memcmp(bytes, bytes + 1, count - 1) == 0;
}

static inline void hostile_check_attacked(struct hostile_world *world, unsigned e)
{
    const struct hostile_end *end = &world->end[e];
    const struct hostile_half *half = &end->half[HOSTILE_ATTACKED];
    const bool failed = oche_qp_state(half->qp) == OCHE_QP_ERR;
    unsigned errors = 0;
    bool flushing = false, flushed = true;

    hostile_must(world, half->done == HOSTILE_WORKS, "work of the attacked connection is stuck");
    hostile_must(world, !failed || half->recvs_done == HOSTILE_RECVS, "receives were not flushed");
    for (uint32_t i = 0; i < half->done; i++) {
        flushed &= !flushing || half->status[i] != OCHE_STATUS_SUCCESS;
        flushing |= half->status[i] != OCHE_STATUS_SUCCESS;
        errors += flushing && half->status[i] != OCHE_STATUS_FLUSHED;
    }
    hostile_must(world, flushed && errors <= 1, "work was done after an error");
    hostile_must(world, !flushing || failed || oche_qp_state(half->qp) == OCHE_QP_SQE,
                 "work failed, and the queue pair did not");
    hostile_must(world, failed || oche_qp_idle(half->qp), "a queue pair is not idle");
    hostile_must(world,
                 hostile_filled(half->memory, HOSTILE_MEMORY / 4) &&
                     hostile_filled(half->memory + HOSTILE_MEMORY * 3 / 4, HOSTILE_MEMORY / 4) &&
                     hostile_filled(end->read_only, HOSTILE_MEMORY),
                 "memory changed that no key allows to be written");
}

static inline void hostile_finish(struct hostile_world *world)
{
    for (unsigned e = 0; e < 2; e++)
        for (unsigned which = 0; which < HOSTILE_CONNECTIONS; which++)
            while (world->end[e].half[which].posted < HOSTILE_WORKS)
                hostile_post(world, e, which);
    hostile_run(world);
    for (unsigned e = 0; e < 2; e++) {
        hostile_check_alone(world, e);
        hostile_check_attacked(world, e);
    }
}

/* Returns NULL, or the broken rule after these bytes. */
static inline const char *hostile_peer_check(struct hostile_world *world, const uint8_t *bytes,
                                             size_t count)
{
    struct hostile_input input = {.at = bytes, .end = bytes + count};

    hostile_restore(world);
    for (unsigned i = 0; i < 3; i++)
        world->bytes[i] = 1 + hostile_number(&input, 1) * (HOSTILE_LONGEST - 1) / UINT8_MAX;
    while (input.at < input.end && world->wrong == NULL) {
        const uint32_t what = hostile_number(&input, 1);

        if (what >= 0x60) {
            hostile_send(world, &input);
        } else if (what >= 0x40) {
            hostile_post(world, what & 1, what >> 1 & 1);
        } else if (what >= 0x20 && world->passed < HOSTILE_PATIENCE) {
            world->passed += (what & 0x1f) * 16 * OCHE_US;
            hostile_pass(world, (what & 0x1f) * 16 * OCHE_US);
        } else {
            hostile_pump(world);
        }
    }
    if (world->wrong == NULL)
        hostile_finish(world);
    return world->wrong;
}

#endif
