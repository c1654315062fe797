/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An honest connection beside a hostile peer keeps its goodput. Two devices in memory do honest
 * work; a third, which is the test, sends the first of them a flood of packets with valid ICRCs:
 * all opcodes and reserved bits, random PSNs, or the right ones where it knows them. It is
 *   another peer, with a connection of its own;
 *   another device at the honest peer's address, with a connection of its own from its own port;
 *   a spoofer that sends as the honest peer, address, port and queue pair, and sees nothing;
 *   a requester of connections, and of other things that the connection manager does not have.
 * Time is the test's: a round is 10 us, in which each device makes progress once. Goodput is
 * counted in rounds, and in packets, until the same work is done.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/cc/cc.h"
#include "core/qp/qp_internal.h"
#include "core/wire/cnp.h"
#include "core/wire/extension.h"
#include "device/internal.h"
#include "tests/support/entropy.h"
#include "tests/support/memory_wire.h"
#include "tests/support/still_clock.h"
#include "tests/support/test.h"
#include "tests/unit/device/hostile_manager.h"

#define ROUND        (10 * OCHE_US)
#define MTU          1024
#define WINDOW       16
#define MEMORY       (256 * 1024) /* a message's bytes */
#define MESSAGES     48           /* from each end: WRITEs, SENDs and READs in turn */
#define DEPTH        4            /* of these at a time */
#define WORKS        3
#define MOST         1000000 /* rounds */
#define OWN_PORT     5555    /* the hostile peer's */
#define SLOT_BITS    6
#define FIRST_PSN(e) (0x1000 * ((e) + 1)) /* of what an end sends */
#define PINNED       5                    /* rounds until each end knows the other's port */

enum attack { CALM, OTHER_PEER, OTHER_PORT, SPOOFER, ASKER, ATTACKS };

struct scheme {
    const char *recovery, *cc;
};

static const struct scheme schemes[] = {
    {"go_back_n", "none"},           {"go_back_n", "dcqcn"}, {"go_back_0", "timely"},
    {"improved_go_back_n", "ib_cc"}, {"go_back_n", "dart"},  {"selective_repeat", "dcqcn"},
    {"selective_repeat", "dart"},
};

struct end {
    struct oche_device *device;
    struct oche_cq *cq;
    struct oche_qp *qp;
    uint8_t *memory;
    uint32_t key, posted, sent, received;
};

struct world {
    struct end end[2];   /* the first is attacked */
    struct oche_qp *own; /* its queue pair of the hostile peer's own connection */
    struct manager *manager;
    enum attack attack;
    struct oche_random random, entropy;
    struct oche_address hostile;
};

/* ---- making ---- */

static void make_end(struct world *world, unsigned e, const struct scheme *scheme)
{
    struct end *end = &world->end[e];
    struct oche_error error;
    char address[32];
    const struct oche_device_config config = {
        .address = address,
        .mtu_bytes = MTU,
        .max_qps = 4,
        .max_regions = 4,
        .max_peers = 4,
        .line_rate_bps = 10 * OCHE_GBPS,
        .cc = oche_cc_find(scheme->cc),
        .recovery = oche_recovery_find(scheme->recovery),
        .seed = 1,
        .entropy = entropy_from,
        .entropy_context = &world->entropy,
    };
    struct oche_region region = {.length = 2 * MEMORY,
                                 .access = OCHE_ACCESS_LOCAL_WRITE | OCHE_ACCESS_REMOTE_WRITE |
                                           OCHE_ACCESS_REMOTE_READ | OCHE_ACCESS_REMOTE_ATOMIC,
                                 .pd = 1};
    struct oche_qp_config qp = {.pd = 1,
                                .mtu_bytes = MTU,
                                .send_depth = 16,
                                .recv_depth = 16,
                                .responder_resources = 4,
                                .initiator_depth = 4,
                                .access = OCHE_ACCESS_REMOTE_WRITE | OCHE_ACCESS_REMOTE_READ |
                                          OCHE_ACCESS_REMOTE_ATOMIC};

    snprintf(address, sizeof(address), "10.0.0.%u", e + 1);
    end->device = oche_device_open(&config, &error);
    assert_non_null(end->device);
    /* as where devices share their addresses; here each has its own, in memory */
    end->device->nic->config.peer_qpn_bits = SLOT_BITS;
    end->cq = oche_device_create_cq(end->device, 256);
    end->memory = calloc(2, MEMORY);
    assert_non_null(end->memory);
    region.va = (uint64_t)(uintptr_t)end->memory;
    region.base = end->memory;
    assert_true(oche_device_add_region(end->device, &region));
    end->key = region.key;
    qp.send_cq = qp.recv_cq = end->cq;
    end->qp = oche_device_create_qp(end->device, &qp);
    assert_non_null(end->qp);
    if (e == 0)
        world->own = oche_device_create_qp(end->device, &qp);
}

static void join(struct world *world, unsigned e, struct oche_qp *qp, const char *peer,
                 uint32_t remote_qpn)
{
    const struct oche_qp_connection connection = {
        .remote_address = oche_device_peer(world->end[e].device, peer),
        .remote_qpn = remote_qpn,
        .send_psn = FIRST_PSN(e),
        .recv_psn = FIRST_PSN(1 - e),
        .ack_every_packets = WINDOW / 4,
        .window_packets = WINDOW,
        .ack_timeout = 16 * OCHE_MS,
        .retry_count = 7,
        .rnr_retry = UINT32_MAX,
        .min_rnr_timer = 1,
        .extensions = true,
    };

    assert_true(oche_device_connect(world->end[e].device, qp, &connection));
}

static void open_world(struct world *world, const struct scheme *scheme, enum attack attack)
{
    const char *own = attack == OTHER_PEER || attack == ASKER ? "10.0.0.3" : "10.0.0.2";

    *world = (struct world){.attack = attack};
    world->random = oche_random_stream(attack, "attack", 0);
    world->entropy = oche_random_stream(7, "entropy", 0);
    for (unsigned e = 0; e < 2; e++)
        make_end(world, e, scheme);
    for (unsigned e = 0; e < 2; e++)
        join(world, e, world->end[e].qp, e == 0 ? "10.0.0.2" : "10.0.0.1",
             oche_qp_number(world->end[1 - e].qp));
    /* a queue pair of another process at the honest peer's address, or at an address of its own */
    join(world, 0, world->own, own, oche_qp_number(world->end[1].qp) ^ 1u << 20);
    assert_true(oche_address_parse(own, &world->hostile));
    world->manager = manager_open(world->end[0].device);
}

static void close_world(struct world *world)
{
    for (unsigned e = 0; e < 2; e++) {
        memory_wire_clear(&world->end[e].device->socket);
        oche_device_close(world->end[e].device);
        free(world->end[e].memory);
    }
    manager_close(world->manager);
}

/* ---- the hostile peer ---- */

/* It knows the PSNs of its own connection; as a spoofer it guesses. */
static uint32_t guess(struct world *world, const struct oche_qp *qp)
{
    const uint32_t how = (uint32_t)oche_random_below(&world->random, 4);
    struct oche_qp_losses losses;

    oche_qp_losses(qp, &losses);
    if (world->attack == SPOOFER || how > 1)
        return (uint32_t)oche_random_below(&world->random, OCHE_PSN_MASK + 1);
    return how == 0 ? losses.una : oche_psn_add(losses.epsn, 1);
}

static struct oche_packet draw(struct world *world, const struct oche_qp *qp)
{
    static uint8_t payload[MTU];
    struct oche_random *random = &world->random;
    static const uint8_t special[] = {OCHE_CNP,          OCHE_SHARE,        OCHE_RC_ACK_SHARE,
                                      OCHE_RC_SACK,      OCHE_RC_ACK,       OCHE_RC_WRITE_ONLY,
                                      OCHE_RC_SEND_ONLY, OCHE_RC_WRITE_ONLY};
    const uint64_t bits = oche_random_u64(random);
    struct oche_packet packet = {
        .opcode = bits & 1 ? special[bits >> 1 & 7] : (uint8_t)(bits >> 8),
        .psn = guess(world, qp),
        .bth = (uint8_t)(bits >> 16) & (uint8_t)~OCHE_BTH_PAD_MASK,
        .bth_reserved = (uint8_t)(bits >> 24 & 0x3f),
        .pkey = 0xffff,
        .dest_qpn = oche_qp_number(qp),
        .aeth = (uint32_t)(bits >> 32 & 0x7f) << 24,
        .imm = (uint32_t)bits,
        .reth = {.va = (uint64_t)(uintptr_t)world->end[0].memory + MEMORY,
                 .rkey = world->end[0].key ^ (bits >> 40 & 1),
                 .dma_length = MTU},
        .payload = payload,
        .ext = OCHE_EXT_RETH | OCHE_EXT_ATOMIC | OCHE_EXT_IMM | OCHE_EXT_DETH,
    };
    const struct oche_share share = {.senders = (uint16_t)(bits >> 41),
                                     .sequence = (uint8_t)(bits >> 57)};

    if (oche_opcode_has(packet.opcode, OCHE_OP_PAYLOAD)) {
        packet.payload_bytes = MTU;
        packet.ext |= OCHE_EXT_PAYLOAD;
    }
    if (packet.opcode == OCHE_CNP)
        oche_cnp_put_psn(&packet, packet.psn);
    else if (packet.opcode >= OCHE_SCHEME_OPCODES)
        oche_share_put(&packet, &share);
    return packet;
}

static void arrive(struct world *world, const struct oche_packet *packet)
{
    static uint8_t bytes[2 * MTU];
    struct oche_device *device = world->end[0].device;
    struct oche_datagram_in in = {.bytes = bytes, .from = world->hostile, .from_port = OWN_PORT};
    struct oche_ip_header header;
    struct oche_pseudo pseudo;

    if (world->attack == SPOOFER)
        in.from_port = device_owned(world->end[0].qp)->ports.port[OCHE_PORT_REQUESTS];
    in.tos = (uint8_t)oche_random_below(&world->random, 4);
    oche_ip_header_make(&header, &in.from, &device->address, in.from_port, OCHE_ROCE_UDP_PORT, 0);
    oche_pseudo_from_bytes(&pseudo, header.bytes);
    in.count = in.segment_bytes =
        (uint32_t)oche_encode_transport(packet, &pseudo, device->crc32, bytes, sizeof(bytes));
    if (in.count > 0) /* 0: no such opcode */
        device_take(device, &in, oche_device_now(device));
}

/* A message to the connection manager: a REQ, or any other with numbers that are guessed. */
static void ask(struct world *world)
{
    const uint64_t bits = oche_random_u64(&world->random);
    const struct oche_cm_message message = {
        .kind = (uint8_t)(bits & 3 ? OCHE_CM_REQ : OCHE_CM_REQ + (bits >> 8) % 9),
        .tid = oche_random_u64(&world->random),
        .local_id = (uint32_t)bits,
        .remote_id = (uint32_t)(bits >> 16),
        .qpn = (uint32_t)(bits >> 40) | 2,
        .mtu = 3,
        .local_response_timeout = bits >> 3 & 31,
        .max_cm_retries = 15};
    uint8_t mad[OCHE_MAD_BYTES];
    const struct oche_packet packet = {.opcode = OCHE_UD_SEND_ONLY,
                                       .psn = (uint32_t)bits & OCHE_PSN_MASK,
                                       .pkey = 0xffff,
                                       .dest_qpn = OCHE_CM_QPN,
                                       .deth = {.qkey = OCHE_CM_QKEY, .src_qpn = OCHE_CM_QPN},
                                       .payload = mad,
                                       .payload_bytes = OCHE_MAD_BYTES,
                                       .ext = OCHE_EXT_PAYLOAD | OCHE_EXT_DETH};

    oche_cm_write(&message, mad);
    arrive(world, &packet);
}

/* One packet, to its own connection, or now and then to the honest one, or as the honest peer. */
static void attack(struct world *world)
{
    if (world->attack == ASKER) {
        ask(world);
        return;
    }
    const bool own = world->attack != SPOOFER && oche_random_below(&world->random, 4) > 0;
    const struct oche_packet packet = draw(world, own ? world->own : world->end[0].qp);

    arrive(world, &packet);
}

/* Its own connection's first packet is as it should be, and pins its port. */
static void begin_attack(struct world *world)
{
    struct oche_packet packet = draw(world, world->own);

    packet.opcode = OCHE_RC_WRITE_ONLY;
    packet.psn = FIRST_PSN(1);
    packet.reth.rkey = world->end[0].key;
    packet.payload_bytes = MTU;
    packet.ext |= OCHE_EXT_PAYLOAD;
    packet.bth_reserved = 0;
    arrive(world, &packet);
    assert_int_equal(device_owned(world->own)->ports.port[OCHE_PORT_REQUESTS], OWN_PORT);
}

/* ---- honest work ---- */

static void post(struct world *world, unsigned e)
{
    static const uint8_t opcodes[WORKS] = {OCHE_WORK_WRITE, OCHE_WORK_SEND, OCHE_WORK_READ};
    struct end *end = &world->end[e], *peer = &world->end[1 - e];
    const struct oche_send_work work = {
        .wr_id = 1,
        .opcode = opcodes[end->posted % WORKS],
        .flags = OCHE_WORK_SIGNALED,
        .sge_count = 1,
        .remote_va = (uint64_t)(uintptr_t)peer->memory,
        .rkey = peer->key,
        .sge = {{.va = (uint64_t)(uintptr_t)end->memory, .length = MEMORY, .lkey = end->key}}};

    assert_int_equal(oche_device_post_send(end->device, end->qp, &work), 0);
    end->posted++;
}

static void post_receive(struct end *end)
{
    const struct oche_recv_work work = {
        .wr_id = 2,
        .sge_count = 1,
        .sge = {{.va = (uint64_t)(uintptr_t)end->memory, .length = MEMORY, .lkey = end->key}}};

    assert_int_equal(oche_qp_post_recv(end->qp, &work), 0);
}

static void poll(struct end *end)
{
    struct oche_completion done;

    while (oche_cq_poll(end->cq, &done, 1) == 1) {
        if (done.qpn != oche_qp_number(end->qp))
            continue; /* of the hostile peer's own connection */
        assert_int_equal(done.status, OCHE_STATUS_SUCCESS);
        end->sent += done.wr_id == 1;
        end->received += done.wr_id == 2;
        if (done.wr_id == 2)
            post_receive(end);
    }
}

struct cost {
    uint32_t rounds;
    uint64_t packets; /* of data, sent by the honest connection */
};

static uint64_t data_packets(const struct world *world)
{
    const struct oche_nic_stats *stats = oche_nic_stats(world->end[1].device->nic);

    return stats->data_packets_sent + stats->data_packets_received;
}

/* `every`: the hostile peer sends a packet in each so-manieth round; `burst`: so many. */
static struct cost run(const struct scheme *scheme, enum attack kind, uint32_t every,
                       uint32_t burst)
{
    struct world world;
    struct cost cost = {0};
    bool busy = true;

    still_clock_look = OCHE_NS;
    open_world(&world, scheme, kind);
    for (unsigned e = 0; e < 2; e++)
        for (unsigned i = 0; i < 2 * DEPTH; i++)
            post_receive(&world.end[e]);
    for (; busy && cost.rounds < MOST; cost.rounds++) {
        busy = false;
        for (unsigned e = 0; e < 2; e++) {
            struct end *end = &world.end[e];

            while (end->posted < MESSAGES && end->posted < end->sent + DEPTH)
                post(&world, e);
            still_clock_pass(&end->device->clock, ROUND);
            oche_device_progress(end->device);
            poll(end);
            busy |= end->sent < MESSAGES;
        }
        manager_progress(world.manager);
        oche_cm_tick(&world.manager->cm, oche_device_now(world.end[0].device));
        if (kind == CALM || cost.rounds < PINNED)
            continue;
        if (cost.rounds == PINNED && kind != SPOOFER)
            begin_attack(&world);
        for (uint32_t i = 0; cost.rounds % every == 0 && i < burst; i++)
            attack(&world);
    }
    cost.packets = data_packets(&world);
    if (kind == ASKER) /* the flood went through */
        assert_true(world.manager->replies > 1000 && world.manager->given_up > 1000);
    assert_int_equal(oche_qp_state(world.end[0].qp), OCHE_QP_RTS);
    close_world(&world);
    return cost;
}

static void keeps_its_goodput(void **state)
{
    /* 800,000 packets a second; of a spoofer, some of whose PSNs are near, 100,000 */
    static const uint32_t every[ATTACKS] = {
        [OTHER_PEER] = 2, [OTHER_PORT] = 2, [SPOOFER] = 1, [ASKER] = 2};
    static const uint32_t burst[ATTACKS] = {
        [OTHER_PEER] = 16, [OTHER_PORT] = 16, [SPOOFER] = 1, [ASKER] = 16};

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(schemes); i++) {
        const struct cost calm = run(&schemes[i], CALM, 1, 0);

        for (enum attack kind = OTHER_PEER; kind < ATTACKS; kind++) {
            const struct cost cost = run(&schemes[i], kind, every[kind], burst[kind]);

            print_message("%s %s attack %d: %u rounds of %u, %lu packets of %lu\n",
                          schemes[i].recovery, schemes[i].cc, kind, cost.rounds, calm.rounds,
                          (unsigned long)cost.packets, (unsigned long)calm.packets);
            assert_true(cost.rounds * 9 <= calm.rounds * 10);
            assert_true(cost.packets * 9 <= calm.packets * 10);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_its_goodput),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
