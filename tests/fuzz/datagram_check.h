/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules for a device under any datagrams, shared by the fuzz target and by a test that feeds it
 * random bytes. Queue pairs of all transports, RC with receives of its own and with shared ones,
 * windows of both types; three devices, of which one takes what only selective repeat knows, one
 * speaks Dart, one DCQCN over IPv6. The input is a program: each step is a datagram from the peer
 * or from a stranger, as raw bytes or as a packet near to what the queue pairs expect, its ICRC
 * right or not; or work that is posted. Then:
 *   - memory changes only where a key, or a window that is bound, allows it;
 *   - completions are of work that was posted, once each;
 *   - every packet is counted, as wrong, dropped by the NIC, or taken;
 *   - nothing broke (oche_panic, sanitizers).
 */
#ifndef OCHE_TESTS_FUZZ_DATAGRAM_CHECK_H
#define OCHE_TESTS_FUZZ_DATAGRAM_CHECK_H

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/recovery/selective_repeat.h"
#include "core/wire/extension.h"
#include "device/internal.h"
#include "params/error.h"
#include "tests/support/device_snapshot.h"
#include "tests/support/losing.h"

#define DATAGRAM_MEMORY 8192 /* the middle half of it is registered for all access */
#define DATAGRAM_WORKS  16
#define DATAGRAM_MTU    256
#define DATAGRAM_PSN    0xfffffe
#define DATAGRAM_QPN    0x20 /* in the process's part; the same in every run */
#define DATAGRAM_FILL   0x5a
#define DATAGRAM_DONE   16 /* enum oche_completion_opcode has fewer */
#define DATAGRAM_QKEY   0x1234
#define DATAGRAM_WINDOW 0x4d570000 /* its key, before it is bound */

/* Of which device. */
enum { DATAGRAM_PLACED, DATAGRAM_DART, DATAGRAM_IPV6, DATAGRAM_VARIANTS };

/* Queue pairs; 0 … 2 as enum oche_transport has them. */
enum { DATAGRAM_RC, DATAGRAM_UC, DATAGRAM_UD, DATAGRAM_RC_SHARED, DATAGRAM_QPS };

struct datagram_world {
    struct oche_device *device;
    unsigned variant;
    uint8_t *memory, *read_only, *windowed; /* the last: only through the window */
    uint32_t key, read_key, windowed_key;
    struct oche_cq *cq;
    struct oche_qp *qps[DATAGRAM_QPS];
    struct oche_srq *srq;       /* SRQ of the UD queue pair and of the second RC queue pair */
    struct oche_window *window; /* window of type 2; with DATAGRAM_DART of type 1 */
    struct oche_address peer, stranger;
    uint64_t posted, completed; /* bit sets of work numbers, 0 … 63 */
    unsigned next_work;
    uint32_t next_psn[DATAGRAM_QPS]; /* PSN that a queue pair expects next if there is no error */
    uint8_t packet[512];
    struct snapshot snapshot; /* state at the beginning of each program */
    /* Of all programs: */
    unsigned succeeded[DATAGRAM_DONE]; /* by kind of action */
    unsigned datagrams;                /* received */
    struct oche_device_stats stats;    /* numbers of packets and other counters without effect */
    uint64_t rejected[OCHE_REJECT_CAUSES], counters[OCHE_MOST_COUNTERS];
};

/* Takes bytes off the input; zeros when it has ended. */
struct datagram_input {
    const uint8_t *at, *end;
};

static inline uint32_t datagram_number(struct datagram_input *input, unsigned bytes)
{
    uint32_t number = 0;

    while (bytes-- > 0)
        number = number << 8 | (input->at < input->end ? *input->at++ : 0);
    return number;
}

static inline struct oche_qp *datagram_make_qp(struct datagram_world *world, unsigned which)
{
    const uint8_t transport = (uint8_t)(which == DATAGRAM_RC_SHARED ? OCHE_TRANSPORT_RC : which);
    const struct oche_qp_config config = {
        .qpn = ((uint32_t)world->device->share.slot << OCHE_SLOT_SHIFT) + DATAGRAM_QPN + which,
        .transport = transport,
        .mtu_bytes = DATAGRAM_MTU,
        .send_depth = DATAGRAM_WORKS,
        .recv_depth = DATAGRAM_WORKS,
        .responder_resources = 2,
        .initiator_depth = transport == OCHE_TRANSPORT_RC ? 2 : 0,
        .qkey = DATAGRAM_QKEY,
        .srq = which >= DATAGRAM_UD ? world->srq : NULL,
        .windows = transport == OCHE_TRANSPORT_RC,
        .access = OCHE_ACCESS_REMOTE_WRITE | OCHE_ACCESS_REMOTE_READ | OCHE_ACCESS_REMOTE_ATOMIC,
        .send_cq = world->cq,
        .recv_cq = world->cq,
    };
    const struct oche_qp_connection connection = {
        .remote_address = 1,
        .remote_qpn = 0x777,
        .send_psn = DATAGRAM_PSN,
        .recv_psn = DATAGRAM_PSN,
        .ack_every_packets = 4,
        .ack_timeout = OCHE_NEVER,
        .min_rnr_timer = 1,
        /* this queue pair must find out whether the peer has them */
        .extensions = which != DATAGRAM_RC_SHARED,
    };
    struct oche_qp *qp = oche_device_create_qp(world->device, &config);

    OCHE_MUST(qp != NULL && oche_device_connect(world->device, qp, &connection));
    return qp;
}

static inline void *datagram_memory(size_t bytes)
{
    void *memory = aligned_alloc(OCHE_CACHE_LINE, oche_lines(bytes));

    OCHE_MUST(memory != NULL);
    return memset(memory, DATAGRAM_FILL, bytes);
}

/*
 * Closes the sockets to other devices of the address, which are the worlds of the other variants: a
 * snapshot does not include them.
 */
static inline void datagram_leave_neighbours(struct datagram_world *world)
{
    for (unsigned slot = 0; slot < OCHE_SLOTS; slot++) {
        struct oche_neighbour *neighbour = &world->device->share.neighbours[slot];

        if (neighbour->fd >= 0)
            close(neighbour->fd);
        *neighbour = (struct oche_neighbour){.fd = -1, .place = OCHE_PLACE_NONE};
    }
}

/* Makes everything that is not memory, and saves the state. */
static inline void datagram_make_objects(struct datagram_world *world)
{
    const struct oche_srq_config srq = {.depth = DATAGRAM_WORKS, .max_sge = 1};
    const struct oche_window_config window = {
        .key = DATAGRAM_WINDOW,
        .type = world->variant == DATAGRAM_DART ? OCHE_WINDOW_TYPE_1 : OCHE_WINDOW_TYPE_2};
    void *srq_memory = datagram_memory(oche_srq_bytes(&srq));
    void *window_memory = datagram_memory(oche_window_bytes());

    world->srq = oche_srq_create(world->device->nic, srq_memory, &srq);
    world->window = oche_window_create(world->device->nic, window_memory, &window);
    OCHE_MUST(world->srq != NULL && world->window != NULL);
    for (unsigned i = 0; i < DATAGRAM_QPS; i++)
        world->qps[i] = datagram_make_qp(world, i);
    snapshot_add(&world->snapshot, world->memory, DATAGRAM_MEMORY);
    snapshot_add(&world->snapshot, world->read_only, DATAGRAM_MEMORY);
    snapshot_add(&world->snapshot, world->windowed, DATAGRAM_MEMORY);
    snapshot_add_block(&world->snapshot, srq_memory);
    snapshot_add_block(&world->snapshot, window_memory);
    datagram_leave_neighbours(world);
    device_snapshot(&world->snapshot, world->device);
}

/* Opens the device, on an address of its own. False: not possible here. */
static inline bool datagram_open(struct datagram_world *world, unsigned variant,
                                 const char *address, const char *peer, const char *stranger)
{
    const uint32_t all = OCHE_ACCESS_LOCAL_WRITE | OCHE_ACCESS_REMOTE_WRITE |
                         OCHE_ACCESS_REMOTE_READ | OCHE_ACCESS_REMOTE_ATOMIC;
    const struct oche_device_config config = {
        .address = address,
        .seed = 1,
        .max_qps = DATAGRAM_QPS,
        .max_regions = 4,
        .max_peers = 4,
        .share = true,
        .links = losing(OCHE_LINK_OUT, 1000000),
        .any_peer_ports = variant == DATAGRAM_DART,
        .recovery = variant == DATAGRAM_PLACED ? &oche_recovery_selective_repeat : NULL,
        .cc = variant == DATAGRAM_DART   ? oche_cc_find("dart")
              : variant == DATAGRAM_IPV6 ? oche_cc_find("dcqcn")
                                         : NULL,
    };
    struct oche_error error;

    *world = (struct datagram_world){.variant = variant};
    world->device = oche_device_open(&config, &error);
    if (world->device == NULL)
        return false;
    world->memory = datagram_memory(DATAGRAM_MEMORY);
    world->read_only = datagram_memory(DATAGRAM_MEMORY);
    world->windowed = datagram_memory(DATAGRAM_MEMORY);
    world->key = oche_device_register(world->device, world->memory + DATAGRAM_MEMORY / 4,
                                      DATAGRAM_MEMORY / 2, all);
    world->read_key = oche_device_register(world->device, world->read_only, DATAGRAM_MEMORY,
                                           OCHE_ACCESS_REMOTE_READ);
    world->windowed_key = oche_device_register(world->device, world->windowed, DATAGRAM_MEMORY,
                                               OCHE_ACCESS_LOCAL_WRITE | OCHE_ACCESS_MW_BIND);
    world->cq = oche_device_create_cq(world->device, 128);
    OCHE_MUST(oche_device_peer(world->device, peer) == 1);
    datagram_make_objects(world);
    return oche_address_parse(peer, &world->peer) && oche_address_parse(stranger, &world->stranger);
}

static inline void datagram_close(struct datagram_world *world)
{
    for (unsigned i = 0; i < DATAGRAM_QPS; i++)
        oche_device_destroy_qp(world->device, world->qps[i]);
    OCHE_MUST(oche_window_destroy(world->window) && oche_srq_destroy(world->srq));
    oche_device_close(world->device);
    free(world->memory);
    free(world->read_only);
    free(world->windowed);
    free(world->srq);
    free(world->window);
    snapshot_free(&world->snapshot);
}

/* Hands `count` bytes of world->packet to the device, in pieces of `segment`. */
static inline void datagram_arrive(struct datagram_world *world, uint32_t count, uint32_t segment,
                                   bool stranger, uint16_t from_port, uint8_t tos)
{
    /* A copy of exactly its size, so that a sanitizer sees a read beyond it. */
    uint8_t *bytes = malloc(count > 0 ? count : 1);
    const struct oche_datagram_in in = {.bytes = bytes,
                                        .count = count,
                                        .segment_bytes = segment > 0 ? segment : 1,
                                        .from = stranger ? world->stranger : world->peer,
                                        .from_port = from_port,
                                        .tos = tos};

    OCHE_MUST(bytes != NULL);
    memcpy(bytes, world->packet, count);
    device_take(world->device, &in, oche_device_now(world->device));
    free(bytes);
}

static inline void datagram_raw(struct datagram_world *world, struct datagram_input *input)
{
    const uint32_t how = datagram_number(input, 1);
    const uint32_t count = datagram_number(input, 2) % sizeof(world->packet);

    for (uint32_t i = 0; i < count; i++)
        world->packet[i] = (uint8_t)datagram_number(input, 1);
    datagram_arrive(world, count, how >> 4 == 0 ? count : how >> 4 << 3, (how & 1) != 0,
                    OCHE_ROCE_UDP_PORT, 0);
}

/* Usually the next of a queue pair's PSNs, otherwise one near the first. */
static inline uint32_t datagram_psn(struct datagram_world *world, unsigned qp, uint32_t which)
{
    if (which < 64)
        return oche_psn_add(DATAGRAM_PSN, which - 8);
    world->next_psn[qp] = oche_psn_add(world->next_psn[qp], 1);
    return oche_psn_add(world->next_psn[qp], OCHE_PSN_MASK); /* one less */
}

/*
 * Often one that is legal between messages, otherwise any. The extended ones start where 0xe0 is.
 */
static inline uint8_t datagram_opcode(uint32_t which)
{
    if (which >= 0xe0)
        return (uint8_t)(OCHE_SCHEME_OPCODES + which % 11);
    if (which >= 0xd8) /* of Dart; and a CNP, because there is no WRITE_ONLY_GROUP without one */
        return which == 0xd8 ? OCHE_CNP : which < 0xdc ? OCHE_SHARE : OCHE_RC_SEND_ONLY_GROUP;
    static const uint8_t legal[] = {
        OCHE_RC_SEND_ONLY,    OCHE_RC_SEND_ONLY_IMM, OCHE_RC_WRITE_ONLY,   OCHE_RC_WRITE_ONLY_IMM,
        OCHE_RC_READ_REQUEST, OCHE_RC_FETCH_ADD,     OCHE_RC_COMPARE_SWAP, OCHE_RC_ACK};

    if (which == 0x1e)
        return OCHE_RC_SEND_ONLY_INV; /* rarely, because it usually ends the queue pair */
    return which < 0x60 ? legal[which % sizeof(legal)] : (uint8_t)(which - 0x60);
}

/* A list of senders, in order or not, with or without the packet's own. */
static inline void datagram_group(struct oche_packet *packet, uint32_t how)
{
    static const uint8_t members[] = {0, 1, 0, 2, 0, 9, 0, 3};
    const struct oche_group group = {
        .id = how & 3, .count = (uint16_t)(1 + (how >> 2 & 3)), .members = members};

    oche_group_put(packet, &group, 0);
}

/* Headers of the extended opcodes; the bit that lets them in. */
static inline void datagram_extended(struct oche_packet *packet, struct datagram_input *input)
{
    const uint32_t how = datagram_number(input, 1);
    const struct oche_place place = {.receive = how & 8 ? 0 : how >> 4,
                                     .offset = how & 4 ? DATAGRAM_MTU * (how & 3) : 0};
    const struct oche_sack sack = {.first = oche_psn_add(packet->psn, how & 3),
                                   .count = (uint8_t)(how >> 2),
                                   .bits = (uint64_t)datagram_number(input, 2) << 1};

    packet->bth_reserved = how & 0x80 ? 0 : OCHE_BTH_EXTENSIONS | (how & 0x1f);
    if (packet->opcode == OCHE_RC_SACK) {
        oche_sack_put(packet, &sack);
    } else if (packet->opcode == OCHE_RC_SEND_ONLY_GROUP) {
        datagram_group(packet, how);
    } else if (packet->opcode == OCHE_SHARE) {
        const struct oche_share share = {.senders = (uint16_t)how, .sequence = (uint8_t)(how >> 3)};

        oche_share_put(packet, &share);
    } else {
        oche_place_put(packet, &place);
    }
}

/* The target of a packet: its key, and the address. */
struct datagram_target {
    uint32_t key;
    uint8_t *at;
};

static inline struct datagram_target datagram_target(const struct datagram_world *world,
                                                     uint32_t which)
{
    if (which % 8 == 7)
        return (struct datagram_target){oche_window_key(world->window),
                                        world->windowed + DATAGRAM_MEMORY / 4};
    if ((which & 2) != 0)
        return (struct datagram_target){world->read_key, world->read_only};
    return (struct datagram_target){world->key, world->memory + DATAGRAM_MEMORY / 4};
}

/* With its ICRC, usually unchanged. */
static inline void datagram_send(struct datagram_world *world, const struct oche_packet *packet,
                                 uint32_t how)
{
    const bool stranger = (how & 0xe0) == 0xe0;
    /* sometimes not the peer's own */
    const uint16_t from_port = OCHE_ROCE_UDP_PORT + ((how & 0xe3) == 0xc3);
    struct oche_ip_header header;
    struct oche_pseudo pseudo;
    size_t count;

    oche_ip_header_make(&header, stranger ? &world->stranger : &world->peer,
                        &world->device->address, from_port, OCHE_ROCE_UDP_PORT, 0);
    oche_pseudo_from_bytes(&pseudo, header.bytes);
    count = oche_encode_transport(packet, &pseudo, world->device->crc32, world->packet,
                                  sizeof(world->packet));
    if ((how & 0x1c) == 0x1c && count > 0) /* one bit turned over */
        world->packet[how % count] ^= 1;
    datagram_arrive(world, (uint32_t)count, (uint32_t)count, stranger, from_port,
                    how & 4 ? OCHE_ECN_CE : OCHE_ECN_ECT0);
}

/* A datagram for the UD queue pair; from anybody. */
static inline void datagram_ud(struct datagram_world *world, struct datagram_input *input)
{
    const uint32_t how = datagram_number(input, 1), length = datagram_number(input, 2);
    uint8_t payload[DATAGRAM_MTU + 64];
    struct oche_packet packet = {
        .opcode = (uint8_t)(how & 1 ? OCHE_UD_SEND_ONLY_IMM : OCHE_UD_SEND_ONLY),
        .bth = (uint8_t)(how & 2 ? OCHE_BTH_SOLICITED : 0),
        .pkey = 0xffff,
        .dest_qpn = oche_qp_number(world->qps[DATAGRAM_UD]),
        .psn = datagram_number(input, 3),
        .deth.qkey = DATAGRAM_QKEY + (datagram_number(input, 1) > 0xc0),
        .deth.src_qpn = datagram_number(input, 3),
        .payload_bytes = (uint16_t)(length % (length & 0x8000 ? sizeof(payload) : DATAGRAM_MTU)),
        .payload = memset(payload, (int)how, sizeof(payload)),
        .imm = 1,
        .ext = OCHE_EXT_IMM | OCHE_EXT_DETH | OCHE_EXT_PAYLOAD,
    };

    datagram_send(world, &packet, how);
}

/* A connected queue pair, RC with receives of its own more often than the others. */
static inline unsigned datagram_connected(uint32_t how)
{
    if ((how & 1) != 0)
        return DATAGRAM_UC;
    return (how & 0x50) == 0x50 ? DATAGRAM_RC_SHARED : DATAGRAM_RC;
}

/* A packet that one of the queue pairs might expect, or nearly. */
static inline void datagram_crafted(struct datagram_world *world, struct datagram_input *input)
{
    const uint32_t how = datagram_number(input, 1);
    const struct datagram_target target = datagram_target(world, how);
    const unsigned to = datagram_connected(how);
    uint8_t payload[DATAGRAM_MTU + 64];
    struct oche_packet packet = {
        .opcode = datagram_opcode(datagram_number(input, 1)),
        .bth = (uint8_t)datagram_number(input, 1) & (OCHE_BTH_ACKREQ | OCHE_BTH_SOLICITED),
        .pkey = 0xffff,
        .dest_qpn = oche_qp_number(world->qps[to]),
        .psn = datagram_psn(world, to, datagram_number(input, 1)),
        .aeth = datagram_number(input, 1) << 24 | (datagram_number(input, 1) & 0xff),
        .reth.rkey = target.key,
        .reth.va = (uint64_t)(uintptr_t)target.at + 8 * datagram_number(input, 1) +
                   (datagram_number(input, 1) & 0x80 ? 4000 : 0),
        .reth.dma_length = datagram_number(input, 2),
        .imm = (how & 0x30) != 0 ? oche_window_key(world->window) : world->key,
        .atomic.swap_add = how,
        .atomic.compare = how,
        .bth_reserved = how & 8 ? OCHE_BTH_EXTENSIONS : 0,
        .ext = OCHE_EXT_RETH | OCHE_EXT_ATOMIC | OCHE_EXT_IMM | OCHE_EXT_DETH,
    };

    if (packet.opcode >= OCHE_SCHEME_OPCODES)
        datagram_extended(&packet, input);
    if (to == DATAGRAM_UC && packet.opcode < OCHE_RC_READ_REQUEST)
        packet.opcode += OCHE_UC_OF_RC;
    if (oche_opcode_has(packet.opcode, OCHE_OP_PAYLOAD)) {
        const uint32_t length = datagram_number(input, 2);

        packet.payload_bytes = (uint16_t)(length % sizeof(payload));
        if ((length & 0x8000) == 0)
            packet.payload_bytes = oche_opcode_has(packet.opcode, OCHE_OP_LAST)
                                       ? (uint16_t)(length % DATAGRAM_MTU)
                                       : DATAGRAM_MTU;
        packet.payload = memset(payload, (int)how, sizeof(payload));
        packet.ext |= OCHE_EXT_PAYLOAD;
    }
    if ((packet.reth.dma_length & 0x8000) == 0) /* usually the values of a single packet */
        packet.reth.dma_length = packet.payload_bytes;
    datagram_send(world, &packet, how);
}

static inline void datagram_post(struct datagram_world *world, struct datagram_input *input)
{
    const uint32_t how = datagram_number(input, 1);
    const struct oche_sge sge = {.va = (uint64_t)(uintptr_t)world->memory + DATAGRAM_MEMORY / 4,
                                 .length = datagram_number(input, 2) % (DATAGRAM_MEMORY / 2 + 16),
                                 .lkey = world->key};
    const struct oche_recv_work receive = {.wr_id = world->next_work, .sge_count = 1, .sge = {sge}};
    const struct oche_send_work send = {.wr_id = world->next_work,
                                        .opcode = (uint8_t)(how >> 2 & 7),
                                        .flags = OCHE_WORK_SIGNALED,
                                        .sge_count = 1,
                                        .sge = {sge}};
    struct oche_qp *qp = world->qps[datagram_connected(how)];
    int error;

    if (world->next_work >= 64)
        return;
    if ((how & 0x22) == 0x22)
        error = oche_srq_post_recv(world->srq, &receive);
    else if ((how & 2) != 0)
        error = oche_qp_post_recv(qp, &receive);
    else
        error = oche_device_post_send(world->device, qp, &send);
    if (error == 0)
        world->posted |= UINT64_C(1) << world->next_work++;
}

/* Opens the window onto the middle half of its memory, with a key that comes from `key`. */
static inline void datagram_bind(struct datagram_world *world, uint32_t key)
{
    const struct oche_bind bind = {.window = world->window,
                                   .rkey = DATAGRAM_WINDOW | (key & 0xff),
                                   .lkey = world->windowed_key,
                                   .va = (uint64_t)(uintptr_t)world->windowed + DATAGRAM_MEMORY / 4,
                                   .length = DATAGRAM_MEMORY / 2,
                                   .access = OCHE_ACCESS_REMOTE_WRITE};
    const struct oche_send_work work = {.wr_id = world->next_work,
                                        .opcode = OCHE_WORK_BIND_MW,
                                        .flags = OCHE_WORK_SIGNALED,
                                        .bind = &bind};

    if (world->next_work < 64 && oche_device_post_send(world->device, world->qps[0], &work) == 0)
        world->posted |= UINT64_C(1) << world->next_work++;
}

/* True if nothing was written there. */
static inline bool datagram_filled(const uint8_t *bytes, size_t count)
{
    return bytes[0] == DATAGRAM_FILL && memcmp(bytes, bytes + 1, count - 1) == 0;
}

/* True if nothing was written outside of the middle half. */
static inline bool datagram_guarded(const uint8_t *bytes)
{
    return datagram_filled(bytes, DATAGRAM_MEMORY / 4) &&
           datagram_filled(bytes + DATAGRAM_MEMORY * 3 / 4, DATAGRAM_MEMORY / 4);
}

static inline const char *datagram_wrong(struct datagram_world *world)
{
    struct oche_completion done;
    uint64_t counted;

    while (oche_cq_poll(world->cq, &done, 1) == 1) {
        const uint64_t bit = done.wr_id < 64 ? UINT64_C(1) << done.wr_id : 0;

        if ((world->posted & bit) == 0)
            return "a completion without its work";
        if ((world->completed & bit) != 0)
            return "a second completion of one work";
        world->completed |= bit;
        if (done.status == OCHE_STATUS_SUCCESS && done.opcode < DATAGRAM_DONE)
            world->succeeded[done.opcode]++;
        world->datagrams += done.src_qpn != 0;
    }
    if (!datagram_guarded(world->memory) || !datagram_guarded(world->windowed) ||
        !datagram_filled(world->read_only, DATAGRAM_MEMORY))
        return "memory changed that no key allows to be written";
    counted = oche_nic_stats(world->device->nic)->rejected_packets;
    counted += world->device->stats.strange_ports;
    for (unsigned i = 0; i < OCHE_WIRE_ERROR_COUNT; i++)
        counted += world->device->stats.wrong[i];
    return counted <= world->device->stats.received_packets ? NULL : "packets counted twice";
}

/* Adds up the counters of this program. */
static inline void datagram_count(struct datagram_world *world)
{
    const size_t numbers = offsetof(struct oche_device_stats, source_ports) / sizeof(uint64_t);
    const struct oche_counters *counters;
    uint64_t *sums = (uint64_t *)&world->stats, *nic_sums = (uint64_t *)&world->stats.nic;
    struct oche_device_stats stats;
    const void *state;

    oche_device_stats(world->device, &stats);
    for (size_t i = 0; i < numbers; i++)
        sums[i] += ((const uint64_t *)&stats)[i];
    for (size_t i = 0; i < sizeof(stats.nic) / sizeof(uint64_t); i++)
        nic_sums[i] += ((const uint64_t *)&stats.nic)[i];
    for (unsigned i = 0; i < OCHE_REJECT_CAUSES; i++)
        world->rejected[i] += oche_nic_rejected(world->device->nic, (enum oche_reject)i);
    counters = oche_nic_counters(world->device->nic, &state);
    if (counters != NULL)
        oche_counters_add(counters, state, world->counters);
}

/* Returns NULL, or the broken rule after these datagrams. */
static inline const char *datagram_check(struct datagram_world *world, const uint8_t *bytes,
                                         size_t count)
{
    struct datagram_input input = {.at = bytes, .end = bytes + count};
    const char *wrong = NULL;

    datagram_leave_neighbours(world);
    snapshot_restore(&world->snapshot);
    world->posted = world->completed = 0;
    world->next_work = 0;
    for (unsigned i = 0; i < DATAGRAM_QPS; i++)
        world->next_psn[i] = DATAGRAM_PSN;
    while (input.at < input.end && wrong == NULL) {
        const uint32_t what = datagram_number(&input, 1);

        if (what % 16 == 15)
            datagram_bind(world, what >> 4);
        else if (what % 8 == 6)
            datagram_ud(world, &input);
        else if (what % 4 == 0)
            datagram_raw(world, &input);
        else if (what % 4 == 1)
            datagram_post(world, &input);
        else
            datagram_crafted(world, &input);
        world->device->clock.opened.tv_nsec -= 1 << (what >> 4); /* so much time passes */
        oche_nic_expire(world->device->nic, oche_device_now(world->device));
        device_transmit(world->device, oche_device_now(world->device));
        wrong = datagram_wrong(world);
    }
    datagram_count(world);
    return wrong;
}

#endif
