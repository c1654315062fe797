/* SPDX-License-Identifier: Apache-2.0 */
/* Two devices over loopback. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/random.h"
#include "tests/unit/device/pair.h"

#define ALL_ACCESS                                                                                 \
    (OCHE_ACCESS_LOCAL_WRITE | OCHE_ACCESS_REMOTE_WRITE | OCHE_ACCESS_REMOTE_READ |                \
     OCHE_ACCESS_REMOTE_ATOMIC)

const char *loopback_address(char text[32], unsigned last)
{
    const uint64_t own = oche_mix64((uint64_t)getpid());

    snprintf(text, 32, "127.%u.%u.%u", (unsigned)(1 + own % 250), (unsigned)(own >> 32) % 250,
             last);
    return text;
}

void end_open(struct end *end, const struct oche_device_config *config, const char *address,
              unsigned last)
{
    struct oche_device_config full = *config;
    struct oche_error error;

    *end = (struct end){0};
    if (address != NULL)
        snprintf(end->address, sizeof(end->address), "%s", address);
    else
        loopback_address(end->address, last);
    full.address = end->address;
    end->device = oche_device_open(&full, &error);
    /* another test may have drawn the same address, and will be over soon */
    for (unsigned i = 0; end->device == NULL && strstr(error.text, "in use") != NULL && i < 300;
         i++) {
        usleep(100000);
        end->device = oche_device_open(&full, &error);
    }
    if (end->device == NULL)
        fail_msg("%s", error.text);
    end->memory = aligned_alloc(64, PAIR_MEMORY);
    assert_non_null(end->memory);
    memset(end->memory, 0, PAIR_MEMORY);
    end->key = oche_device_register(end->device, end->memory, PAIR_MEMORY, ALL_ACCESS);
    assert_int_not_equal(end->key, 0);
    end->cq = oche_device_create_cq(end->device, 256);
    assert_non_null(end->cq);
}

void end_close(struct end *end)
{
    assert_true(oche_device_close(end->device));
    free(end->memory);
}

static void make_qp(struct end *end, enum oche_transport transport, uint32_t mtu)
{
    const struct oche_qp_config config = {
        .transport = (uint8_t)transport,
        .mtu_bytes = mtu,
        .send_depth = PAIR_DEPTH,
        .recv_depth = PAIR_DEPTH,
        .responder_resources = 4,
        .initiator_depth = transport == OCHE_TRANSPORT_RC ? 4 : 0,
        .access = ALL_ACCESS,
        .max_inline_bytes = 64,
        .groups = transport == OCHE_TRANSPORT_RC && oche_device_names_groups(end->device),
        .send_cq = end->cq,
        .recv_cq = end->cq,
    };

    end->qp = oche_device_create_qp(end->device, &config);
    assert_non_null(end->qp);
}

static void connect_qp(struct end *end, const struct end *peer, uint32_t send_psn,
                       uint32_t recv_psn, uint32_t mtu)
{
    const struct oche_qp_connection connection = {
        .remote_address = oche_device_peer(end->device, peer->address),
        .remote_qpn = oche_qp_number(peer->qp),
        .send_psn = send_psn,
        .recv_psn = recv_psn,
        .ack_every_packets = 16,
        .window_packets = oche_device_window_packets(end->device, mtu),
        .ack_timeout = 5 * OCHE_MS,
        .retry_count = 7,
        .rnr_retry = 7,
        .min_rnr_timer = 1,
    };

    assert_true(oche_device_connect(end->device, end->qp, &connection));
}

void ends_connect(struct end *a, struct end *b, enum oche_transport transport, uint32_t mtu)
{
    make_qp(a, transport, mtu);
    make_qp(b, transport, mtu);
    connect_qp(a, b, 0xfffff0, 0x1234, mtu); /* passes the end of the circle */
    connect_qp(b, a, 0x1234, 0xfffff0, mtu);
}

void pair_open(struct pair *pair, const struct oche_device_config *config,
               enum oche_transport transport)
{
    end_open(&pair->a, config, NULL, 1);
    end_open(&pair->b, config, NULL, 2);
    ends_connect(&pair->a, &pair->b, transport, 1024);
}

void pair_be_patient(struct pair *pair)
{
    const struct oche_qp_connection patient = {
        .ack_timeout = OCHE_SEC, .retry_count = 7, .rnr_retry = 7, .min_rnr_timer = 1};

    oche_qp_set_retries(pair->a.qp, &patient);
    oche_qp_set_retries(pair->b.qp, &patient);
}

void pair_close(struct pair *pair)
{
    end_close(&pair->a);
    end_close(&pair->b);
}

void end_fill(struct end *end, unsigned seed)
{
    struct oche_random random = oche_random_stream(seed, "pair memory", 0);
    uint64_t word = 0;

    for (size_t i = 0; i < PAIR_MEMORY; i += sizeof(word)) {
        if (seed != 0)
            word = oche_random_u64(&random);
        memcpy(end->memory + i, &word, sizeof(word));
    }
}

struct oche_send_work work_between(const struct end *from, const struct end *to, uint8_t opcode,
                                   uint32_t offset, uint32_t bytes)
{
    return (struct oche_send_work){
        .wr_id = (uint64_t)opcode << 32 | offset,
        .opcode = opcode,
        .flags = OCHE_WORK_SIGNALED,
        .sge_count = 1,
        .imm = 0x12345678,
        .remote_va = (uint64_t)(uintptr_t)to->memory + offset,
        .rkey = to->key,
        .sge = {{.va = (uint64_t)(uintptr_t)from->memory + offset,
                 .length = bytes,
                 .lkey = from->key}},
    };
}

void post_receive(struct end *end, uint64_t wr_id, uint32_t offset, uint32_t bytes)
{
    const struct oche_recv_work work = {
        .wr_id = wr_id,
        .sge_count = 1,
        .sge = {{.va = (uint64_t)(uintptr_t)end->memory + offset,
                 .length = bytes,
                 .lkey = end->key}},
    };

    assert_int_equal(oche_qp_post_recv(end->qp, &work), 0);
}

struct oche_completion pump(struct pair *pair, struct end *end)
{
    const oche_time start = oche_device_now(end->device);
    struct oche_completion done;

    while (oche_cq_poll(end->cq, &done, 1) == 0) {
        oche_device_progress(pair->a.device);
        if (pair->b.device != NULL)
            oche_device_progress(pair->b.device);
        if (oche_device_now(end->device) - start > 10 * OCHE_SEC)
            fail_msg("no completion in ten seconds");
    }
    return done;
}

void pump_quiet(struct pair *pair)
{
    unsigned quiet = 0;

    while (quiet < 100) {
        unsigned packets = oche_device_progress(pair->a.device);

        if (pair->b.device != NULL)
            packets += oche_device_progress(pair->b.device);
        quiet = packets == 0 ? quiet + 1 : 0;
    }
}
