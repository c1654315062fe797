/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two devices in memory with two connections between them, and honest work on both: WRITE, SEND,
 * READ, atomics and WRITE with immediate data, from either end. The expected memory is known byte
 * by byte. Before the first run a world is made, and both connections carry a packet each way.
 * Before each run the world is restored (snapshot.h).
 */
#ifndef OCHE_TESTS_FUZZ_HOSTILE_WORLD_H
#define OCHE_TESTS_FUZZ_HOSTILE_WORLD_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/device_snapshot.h"
#include "tests/support/entropy.h"
#include "tests/support/memory_wire.h"
#include "tests/support/still_clock.h"

#define HOSTILE_MTU    256
#define HOSTILE_MEMORY 8192 /* of each connection at each end; the middle half is registered */
#define HOSTILE_FILL   0x5a
#define HOSTILE_WORKS  6 /* of each connection, from each end */
#define HOSTILE_RECVS  2
#define HOSTILE_ADD    UINT64_C(0x10001)

/* Places in the registered half. */
enum {
    HOSTILE_SOURCE = 0,
    HOSTILE_TARGET = 1024,   /* place for the peer's WRITEs */
    HOSTILE_READS = 2048,    /* place for data that we READ from the peer */
    HOSTILE_RECEIVED = 3072, /* place for the peer's SENDs */
    HOSTILE_SUM = 4032,      /* word that the peer's atomics add to */
    HOSTILE_SUM_WAS = 4040,  /* the peer's value before our addition */
    HOSTILE_SWAP = 4048,
    HOSTILE_SWAP_WAS = 4056,
    HOSTILE_LONGEST = 900, /* bytes of a message */
};

/* The connection that is not attacked, and the one that is. */
enum { HOSTILE_ALONE, HOSTILE_ATTACKED, HOSTILE_CONNECTIONS };

struct hostile_variant {
    const char *recovery, *cc;
    enum oche_transport attacked;
    bool ipv6, no_gro;
    bool marks;   /* congestion control reacts to marks, of which there are none, and CNPs */
    bool repeats; /* recovery sends the last packets twice, or has a short timer of its own */
};

static const struct hostile_variant hostile_variants[] = {
    {.recovery = "go_back_n", .cc = "none", .marks = true},
    {.recovery = "selective_repeat", .cc = "dcqcn", .no_gro = true, .marks = true, .repeats = true},
    {.recovery = "go_back_0", .cc = "timely", .ipv6 = true},
    {.recovery = "improved_go_back_n", .cc = "ib_cc", .marks = true, .repeats = true},
    {.recovery = "selective_repeat", .cc = "dart", .ipv6 = true, .repeats = true},
    {.recovery = "go_back_n", .cc = "dcqcn", .marks = true, .attacked = OCHE_TRANSPORT_UC},
};
#define HOSTILE_VARIANTS OCHE_COUNT_OF(hostile_variants)

/* One end of one connection. */
struct hostile_half {
    struct oche_qp *qp;
    uint8_t *memory;
    uint32_t key;
    uint16_t port;                                 /* port from which its packets leave */
    uint32_t posted, done, recvs_done;             /* works; completions */
    uint8_t status[HOSTILE_WORKS + HOSTILE_RECVS]; /* status of each work request, once done */
};

struct hostile_end {
    struct oche_device *device;
    struct oche_cq *cq;
    struct oche_address address;
    struct hostile_half half[HOSTILE_CONNECTIONS];
    uint8_t *read_only; /* memory of the attacked connection */
    uint32_t read_key;
};

struct hostile_world {
    /* 0: the attacked device; 1: the device in whose name packets are forged */
    struct hostile_end end[2];
    const struct hostile_variant *variant;
    uint32_t bytes[3]; /* bytes of a WRITE, a SEND, a READ in this run */
    oche_time passed;
    uint8_t packet[1024]; /* the hostile packet */
    const char *wrong;
    struct oche_random entropy;
    struct snapshot snapshot;
};

static inline void hostile_must(struct hostile_world *world, bool holds, const char *what)
{
    if (!holds && world->wrong == NULL)
        world->wrong = what;
}

static inline uint8_t *hostile_at(const struct hostile_half *half, uint32_t place)
{
    return half->memory + HOSTILE_MEMORY / 4 + place;
}

/* ---- making ---- */

static inline uint8_t *hostile_memory(void)
{
    uint8_t *memory = aligned_alloc(64, HOSTILE_MEMORY);

    OCHE_MUST(memory != NULL);
    return memset(memory, HOSTILE_FILL, HOSTILE_MEMORY);
}

static inline uint32_t hostile_register(struct hostile_end *end, unsigned which, uint8_t *memory,
                                        uint32_t access)
{
    struct oche_region region = {.va = (uint64_t)(uintptr_t)memory + HOSTILE_MEMORY / 4,
                                 .length = HOSTILE_MEMORY / 2,
                                 .access = access,
                                 .pd = 1 + which,
                                 .base = memory + HOSTILE_MEMORY / 4};

    OCHE_MUST(oche_device_add_region(end->device, &region));
    return region.key;
}

static inline enum oche_transport hostile_transport(const struct hostile_world *world,
                                                    unsigned which)
{
    return which == HOSTILE_ATTACKED ? world->variant->attacked : OCHE_TRANSPORT_RC;
}

static inline void hostile_make_half(struct hostile_world *world, unsigned e, unsigned which)
{
    struct hostile_end *end = &world->end[e];
    struct hostile_half *half = &end->half[which];
    const struct oche_qp_config config = {
        .transport = (uint8_t)hostile_transport(world, which),
        .pd = 1 + which,
        .mtu_bytes = HOSTILE_MTU,
        .send_depth = 16,
        .recv_depth = 8,
        .responder_resources = 2,
        .initiator_depth = 2,
        .access = OCHE_ACCESS_REMOTE_WRITE | OCHE_ACCESS_REMOTE_READ | OCHE_ACCESS_REMOTE_ATOMIC,
        .send_cq = end->cq,
        .recv_cq = end->cq,
    };

    half->memory = hostile_memory();
    half->key = hostile_register(end, which, half->memory,
                                 OCHE_ACCESS_LOCAL_WRITE | OCHE_ACCESS_REMOTE_WRITE |
                                     OCHE_ACCESS_REMOTE_READ | OCHE_ACCESS_REMOTE_ATOMIC);
    half->qp = oche_device_create_qp(end->device, &config);
    OCHE_MUST(half->qp != NULL);
    for (uint32_t i = 0; i < HOSTILE_MEMORY / 2 && i < HOSTILE_TARGET; i++)
        *hostile_at(half, i) = (uint8_t)(i * 7 + e * 31 + which * 101);
    memset(hostile_at(half, HOSTILE_SUM), 0, 32);
}

static inline bool hostile_make_end(struct hostile_world *world, unsigned e, unsigned variant)
{
    struct hostile_end *end = &world->end[e];
    struct oche_error error;
    char address[32];
    const struct oche_device_config config = {
        .address = address,
        .mtu_bytes = HOSTILE_MTU,
        .max_qps = 4,
        .max_regions = 4,
        .max_peers = 4,
        .cc = oche_cc_find(world->variant->cc),
        .recovery = oche_recovery_find(world->variant->recovery),
        .seed = 1,
        .entropy = entropy_from,
        .entropy_context = &world->entropy,
        .no_gro = world->variant->no_gro,
    };

    snprintf(address, sizeof(address), world->variant->ipv6 ? "fd00::%u:%u" : "10.0.%u.%u", variant,
             e + 1);
    end->device = oche_device_open(&config, &error);
    if (end->device == NULL)
        return false;
    end->address = end->device->address;
    end->cq = oche_device_create_cq(end->device, 64);
    end->read_only = hostile_memory();
    end->read_key =
        hostile_register(end, HOSTILE_ATTACKED, end->read_only, OCHE_ACCESS_REMOTE_READ);
    for (unsigned which = 0; which < HOSTILE_CONNECTIONS; which++)
        hostile_make_half(world, e, which);
    return true;
}

/* The two connections use different ports, so the peer of one is not that of the other. */
static inline void hostile_connect(struct hostile_world *world, unsigned e, unsigned which)
{
    struct hostile_end *end = &world->end[e];
    const struct oche_source_ports *ports = &end->device->source_ports;
    char peer[OCHE_ADDRESS_TEXT];
    struct oche_qp_connection connection = {
        .remote_qpn = oche_qp_number(world->end[1 - e].half[which].qp),
        .send_psn = (e == 0 ? 0xfffff0 : 0x7ffffc) + which,
        .recv_psn = (e == 1 ? 0xfffff0 : 0x7ffffc) + which,
        .udp_source_port = (uint16_t)(0xc000 + which),
        .ack_every_packets = 4,
        .ack_timeout = which == HOSTILE_ALONE ? 16 * OCHE_MS : 2 * OCHE_MS,
        .retry_count = which == HOSTILE_ALONE ? 7 : 3,
        .rnr_retry = 3,
        .min_rnr_timer = 1,
        .extensions = which == HOSTILE_ALONE,
    };

    oche_address_print(&world->end[1 - e].address, peer);
    connection.remote_address = oche_device_peer(end->device, peer);
    OCHE_MUST(oche_device_connect(end->device, end->half[which].qp, &connection));
    end->half[which].port =
        ports->ports[oche_source_ports_choose(ports, connection.udp_source_port)];
}

/* ---- work ---- */

static inline void hostile_post_recv(struct hostile_half *half, uint32_t number)
{
    const struct oche_recv_work work = {
        .wr_id = HOSTILE_WORKS + number,
        .sge_count = 1,
        .sge = {{.va = (uint64_t)(uintptr_t)hostile_at(half, HOSTILE_RECEIVED),
                 .length = HOSTILE_LONGEST,
                 .lkey = half->key}}};

    OCHE_MUST(oche_qp_post_recv(half->qp, &work) == 0);
}

/* The next work of this end on this connection; it may be the last. */
static inline void hostile_post(struct hostile_world *world, unsigned e, unsigned which)
{
    static const uint8_t opcodes[HOSTILE_WORKS] = {OCHE_WORK_WRITE,     OCHE_WORK_SEND,
                                                   OCHE_WORK_READ,      OCHE_WORK_FETCH_ADD,
                                                   OCHE_WORK_WRITE_IMM, OCHE_WORK_COMPARE_SWAP};
    static const uint16_t here[] = {HOSTILE_SOURCE,  HOSTILE_SOURCE, HOSTILE_READS,
                                    HOSTILE_SUM_WAS, HOSTILE_SOURCE, HOSTILE_SWAP_WAS};
    static const uint16_t there[] = {HOSTILE_TARGET, 0,           HOSTILE_SOURCE, HOSTILE_SUM,
                                     HOSTILE_TARGET, HOSTILE_SWAP};
    struct hostile_half *half = &world->end[e].half[which], *peer = &world->end[1 - e].half[which];
    const uint32_t kind = half->posted % HOSTILE_WORKS;
    struct oche_send_work work = {.wr_id = half->posted,
                                  .opcode = opcodes[kind],
                                  .flags = OCHE_WORK_SIGNALED,
                                  .sge_count = 1,
                                  .imm = kind,
                                  .remote_va = (uint64_t)(uintptr_t)hostile_at(peer, there[kind]),
                                  .rkey = peer->key,
                                  .swap_add = HOSTILE_ADD,
                                  .compare = 0,
                                  .sge = {{.va = (uint64_t)(uintptr_t)hostile_at(half, here[kind]),
                                           .length = kind < 3    ? world->bytes[kind]
                                                     : kind == 4 ? world->bytes[0]
                                                                 : 8,
                                           .lkey = half->key}}};

    if (half->posted == HOSTILE_WORKS)
        return;
    if (hostile_transport(world, which) == OCHE_TRANSPORT_UC && work.opcode >= OCHE_WORK_READ)
        work.opcode = OCHE_WORK_WRITE, work.sge[0].va -= here[kind],
        work.remote_va += HOSTILE_TARGET - (uint32_t)there[kind];
    OCHE_MUST(oche_device_post_send(world->end[e].device, half->qp, &work) == 0);
    half->posted++;
}

/* Notes what has completed. */
static inline void hostile_poll(struct hostile_world *world, unsigned e)
{
    struct hostile_end *end = &world->end[e];
    struct oche_completion done;

    while (oche_cq_poll(end->cq, &done, 1) == 1) {
        const bool alone = done.qpn == oche_qp_number(end->half[HOSTILE_ALONE].qp);
        struct hostile_half *half = &end->half[alone ? HOSTILE_ALONE : HOSTILE_ATTACKED];
        const bool recv = done.wr_id >= HOSTILE_WORKS;
        uint32_t *next = recv ? &half->recvs_done : &half->done;

        hostile_must(world, done.qpn == oche_qp_number(half->qp), "a completion of nobody");
        hostile_must(world, done.wr_id == *next + (recv ? HOSTILE_WORKS : 0),
                     "a completion twice, or out of order");
        hostile_must(world, recv ? *next < HOSTILE_RECVS : *next < half->posted,
                     "a completion without its work");
        if (world->wrong != NULL)
            return;
        half->status[done.wr_id] = done.status;
        ++*next;
    }
}

/* Lets both ends work once. Returns how many packets moved. */
static inline unsigned hostile_pump(struct hostile_world *world)
{
    unsigned packets = 0;

    for (unsigned e = 0; e < 2; e++) {
        packets += oche_device_progress(world->end[e].device);
        hostile_poll(world, e);
    }
    return packets;
}

static inline void hostile_pass(struct hostile_world *world, oche_time time)
{
    for (unsigned e = 0; e < 2; e++)
        still_clock_pass(&world->end[e].device->clock, time);
}

/* Returns the time until the next event without arrivals; OCHE_NEVER: both ends are idle. */
static inline oche_time hostile_wait(struct hostile_world *world)
{
    oche_time wait = OCHE_NEVER;

    for (unsigned e = 0; e < 2; e++) {
        struct oche_device *device = world->end[e].device;
        const oche_time due = transmit_due(device), now = oche_device_now(device);

        if (due != OCHE_NEVER)
            wait = oche_time_min(wait, due > now ? due - now : 0);
    }
    return wait;
}

/* Continues until both ends are idle. */
static inline void hostile_run(struct hostile_world *world)
{
    for (unsigned rounds = 0; world->wrong == NULL; rounds++) {
        const bool moved = hostile_pump(world) > 0;
        const oche_time wait = moved ? 0 : hostile_wait(world);

        if (wait == OCHE_NEVER)
            return;
        if (wait > 0)
            hostile_pass(world, wait);
        hostile_must(world, rounds < 5000, "the two ends do not come to rest");
    }
}

/* ---- opening ---- */

/*
 * A packet each way on each connection, which pins the ports. Little time passes, because a peer
 * that is silent for longer than all retries can lose its pin.
 */
static inline void hostile_greet(struct hostile_world *world)
{
    for (unsigned e = 0; e < 2; e++)
        for (unsigned which = 0; which < HOSTILE_CONNECTIONS; which++) {
            struct hostile_half *half = &world->end[e].half[which];
            struct oche_send_work work = {.opcode = OCHE_WORK_WRITE, .flags = OCHE_WORK_SIGNALED};

            work.rkey = world->end[1 - e].half[which].key;
            OCHE_MUST(oche_device_post_send(world->end[e].device, half->qp, &work) == 0);
            half->posted++;
            for (unsigned i = 0; i < 20; i++, hostile_pass(world, 10 * OCHE_US))
                hostile_pump(world);
            OCHE_MUST(world->wrong == NULL && half->done == 1 &&
                      half->status[0] == OCHE_STATUS_SUCCESS);
            half->posted = half->done = 0;
        }
}

/* Makes a world. False: not possible here. */
static inline bool hostile_open(struct hostile_world *world, unsigned variant)
{
    *world = (struct hostile_world){.variant = &hostile_variants[variant]};
    world->entropy = oche_random_stream(variant, "entropy", 0);
    for (unsigned e = 0; e < 2; e++)
        if (!hostile_make_end(world, e, variant))
            return false;
    for (unsigned e = 0; e < 2; e++)
        for (unsigned which = 0; which < HOSTILE_CONNECTIONS; which++)
            hostile_connect(world, e, which);
    hostile_greet(world);
    for (unsigned e = 0; e < 2; e++) {
        struct hostile_end *end = &world->end[e];

        OCHE_MUST(end->half[HOSTILE_ALONE].port != end->half[HOSTILE_ATTACKED].port);
        for (unsigned which = 0; which < HOSTILE_CONNECTIONS; which++) {
            for (uint32_t i = 0; i < HOSTILE_RECVS; i++)
                hostile_post_recv(&end->half[which], i);
            snapshot_add(&world->snapshot, end->half[which].memory, HOSTILE_MEMORY);
        }
        snapshot_add(&world->snapshot, end->read_only, HOSTILE_MEMORY);
        device_snapshot(&world->snapshot, end->device);
    }
    return true;
}

static inline void hostile_restore(struct hostile_world *world)
{
    snapshot_restore(&world->snapshot);
    world->wrong = NULL;
    world->passed = 0;
    for (unsigned e = 0; e < 2; e++) {
        memory_wire_clear(&world->end[e].device->socket);
        for (unsigned which = 0; which < HOSTILE_CONNECTIONS; which++) {
            struct hostile_half *half = &world->end[e].half[which];

            half->posted = half->done = half->recvs_done = 0;
        }
    }
}

#endif
