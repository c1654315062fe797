/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A peer is known by its address and the port of its first packet. Another program on its host (the
 * test, from another port, with valid ICRCs; it knows every number except the PSN) tries PSNs
 * beside an honest transfer, and floods CNPs. Ports move when they may. All packets of a queue pair
 * of ours have one port.
 */
#include <stdlib.h>
#include <string.h>

#include "core/cc/cc.h"
#include "core/wire/cnp.h"
#include "device/internal.h"
#include "tests/support/crc.h"
#include "tests/support/losing.h"
#include "tests/unit/device/pair.h"

#define THEIR_PORT        5555 /* the attacker's */
#define BYTES             40000
#define FILL              0xa5
#define NAK_REMOTE_ACCESS 0x62

static uint64_t strange(struct end *end)
{
    struct oche_device_stats stats;

    oche_device_stats(end->device, &stats);
    return stats.strange_ports;
}

/* ---- forged packets ---- */

/* A packet to `to`, which says that it comes from `from` and `port`. */
static void forge(struct end *to, const struct end *from, uint16_t port,
                  const struct oche_packet *packet)
{
    static uint8_t bytes[2048];
    struct oche_datagram_in in = {.bytes = bytes, .from_port = port};
    struct oche_device *device = to->device;
    struct oche_ip_header header;
    struct oche_pseudo pseudo;

    assert_true(oche_address_parse(from->address, &in.from));
    oche_ip_header_make(&header, &in.from, &device->address, port, OCHE_ROCE_UDP_PORT, 0);
    oche_pseudo_from_bytes(&pseudo, header.bytes);
    in.count = in.segment_bytes =
        (uint32_t)oche_encode_transport(packet, &pseudo, device->crc32, bytes, sizeof(bytes));
    oche_device_lock(device);
    device_take(device, &in, oche_device_now(device));
    oche_device_unlock(device);
}

/* A WRITE of 64 bytes 0xee to the end of `to`'s memory. */
static struct oche_packet forged_write(const struct end *to, uint32_t psn)
{
    static uint8_t payload[64];

    memset(payload, 0xee, sizeof(payload));
    return (struct oche_packet){.opcode = OCHE_RC_WRITE_ONLY,
                                .bth = OCHE_BTH_ACKREQ,
                                .pkey = 0xffff,
                                .dest_qpn = oche_qp_number(to->qp),
                                .psn = psn & OCHE_PSN_MASK,
                                .payload_bytes = sizeof(payload),
                                .payload = payload,
                                .reth.va = (uint64_t)(uintptr_t)to->memory + PAIR_MEMORY - 64,
                                .reth.rkey = to->key,
                                .reth.dma_length = sizeof(payload),
                                .ext = OCHE_EXT_RETH | OCHE_EXT_PAYLOAD};
}

/* An ACK of everything, or a NAK that ends the queue pair. */
static struct oche_packet forged_answer(const struct end *to, uint32_t psn, uint8_t syndrome)
{
    return (struct oche_packet){.opcode = OCHE_RC_ACK,
                                .pkey = 0xffff,
                                .dest_qpn = oche_qp_number(to->qp),
                                .psn = psn & OCHE_PSN_MASK,
                                .aeth = (uint32_t)syndrome << 24};
}

static bool untouched(const struct end *end)
{
    for (unsigned i = 64; i > 0; i--)
        if (end->memory[PAIR_MEMORY - i] != FILL)
            return false;
    return true;
}

/* ---- honest work ---- */

/* `from` writes to `to`, and it arrives. */
static void write_bytes(struct pair *pair, struct end *from, struct end *to, unsigned seed)
{
    const struct oche_send_work work = work_between(from, to, OCHE_WORK_WRITE, 0, BYTES);

    end_fill(from, seed);
    assert_int_equal(oche_device_post_send(from->device, from->qp, &work), 0);
    assert_int_equal(pump(pair, from).status, OCHE_STATUS_SUCCESS);
    assert_memory_equal(from->memory, to->memory, BYTES);
}

static void open_patient(struct pair *pair, const struct oche_device_config *config)
{
    pair_open(pair, config, OCHE_TRANSPORT_RC);
    pair_be_patient(pair);
}

static void set_timeout(struct pair *pair, oche_time timeout)
{
    const struct oche_qp_connection retries = {
        .ack_timeout = timeout, .retry_count = 1, .rnr_retry = 7, .min_rnr_timer = 1};

    oche_qp_set_retries(pair->a.qp, &retries);
    oche_qp_set_retries(pair->b.qp, &retries);
}

/* Waits, with progress, so that time passes. */
static void let_pass(struct pair *pair, oche_time time)
{
    const oche_time start = oche_device_now(pair->a.device);

    while (oche_device_now(pair->a.device) - start < time) {
        oche_device_progress(pair->a.device);
        oche_device_progress(pair->b.device);
    }
}

/* ---- the attack ---- */

/*
 * All PSNs (the short form: those around the expected one, and some thousand others) from another
 * port: no byte is taken, no ACK or NAK counts, and the honest transfer goes on between them.
 */
static void psns_are_tried(void **state)
{
    const bool whole = getenv("OCHE_LONG") != NULL && strcmp(getenv("OCHE_LONG"), "yes") == 0;
    const uint32_t tries = whole ? UINT32_C(1) << 24 : 1 << 15;
    struct pair pair;

    (void)state;
    open_patient(&pair, &(struct oche_device_config){.no_gso = false});
    memset(pair.b.memory + PAIR_MEMORY - 64, FILL, 64);
    write_bytes(&pair, &pair.a, &pair.b, 1);
    for (uint32_t i = 0; i < tries; i++) {
        /* from just before the expected one on, which is a few dozen after this */
        const struct oche_packet write = forged_write(&pair.b, 0xfffff0 + i);

        forge(&pair.b, &pair.a, THEIR_PORT, &write);
        if (i % (tries / 64) == 0) {
            const struct oche_packet nak = forged_answer(&pair.a, 0xfffff0 + i, NAK_REMOTE_ACCESS);

            forge(&pair.a, &pair.b, THEIR_PORT, &nak);
            write_bytes(&pair, &pair.a, &pair.b, i + 2);
        }
    }
    assert_true(untouched(&pair.b));
    assert_int_equal(strange(&pair.b), tries);
    assert_int_equal(oche_qp_state(pair.a.qp), OCHE_QP_RTS);
    pair_close(&pair);
}

/*
 * Before the peer's first packet: another port pins nothing without the expected PSN, and another
 * address not even with it.
 */
static void what_pins_no_port(void **state)
{
    struct oche_packet write;
    struct end other = {0};
    struct pair pair;

    (void)state;
    open_patient(&pair, &(struct oche_device_config){.no_gso = false});
    loopback_address(other.address, 77);
    assert_int_not_equal(oche_device_peer(pair.b.device, other.address), UINT32_MAX);
    memset(pair.b.memory + PAIR_MEMORY - 64, FILL, 64);
    write = forged_write(&pair.b, 0xfffff0);
    forge(&pair.b, &other, THEIR_PORT, &write);
    write.pkey = 0x8001; /* of another partition */
    forge(&pair.b, &pair.a, THEIR_PORT, &write);
    for (uint32_t i = 1; i < 1000; i++) {
        write = forged_write(&pair.b, 0xfffff0 + (i % 2 == 0 ? i : -i));
        forge(&pair.b, &pair.a, THEIR_PORT, &write);
    }
    assert_int_equal(device_owned(pair.b.qp)->ports.port[OCHE_PORT_REQUESTS], 0);
    assert_true(untouched(&pair.b));
    write_bytes(&pair, &pair.a, &pair.b, 1);
    assert_int_equal(strange(&pair.b), 0);
    pair_close(&pair);
}

/* Packets from another port do not change what we know of the peer's IP identifications. */
static void identifications_are_the_peers(void **state)
{
    const struct oche_ip_ids *ids;
    struct oche_ip_ids before;
    struct oche_packet write;
    struct pair pair;

    (void)state;
    open_patient(&pair, &(struct oche_device_config){.no_gso = false});
    write_bytes(&pair, &pair.a, &pair.b, 1);
    pump_quiet(&pair);
    write = forged_write(&pair.b, 0);
    ids = &pair.b.device->peers.peers[pair.b.device->peers.count - 1].ids;
    before = *ids;
    assert_true(before.packets > 0);
    forge(&pair.b, &pair.a, THEIR_PORT, &write);
    assert_memory_equal(ids, &before, sizeof(before));
    forge(&pair.b, &pair.a, device_owned(pair.b.qp)->ports.port[OCHE_PORT_REQUESTS], &write);
    assert_int_equal(ids->packets, before.packets + 1);
    pair_close(&pair);
}

/*
 * The peer only answers, so its answers pin its port. Requests from another port are not checked
 * either, except one each ACK timeout.
 */
static void requests_of_a_peer_that_answers(void **state)
{
    struct pair pair;

    (void)state;
    open_patient(&pair, &(struct oche_device_config){.no_gso = false});
    write_bytes(&pair, &pair.a, &pair.b, 1);
    memset(pair.a.memory + PAIR_MEMORY - 64, FILL, 64);
    for (uint32_t i = 0; i < 2000; i++) {
        const struct oche_packet write = forged_write(&pair.a, 0x1234 - 1000 + i);

        forge(&pair.a, &pair.b, THEIR_PORT, &write);
    }
    assert_true(untouched(&pair.a));
    assert_in_range(strange(&pair.a), 1990, 2000);
    write_bytes(&pair, &pair.b, &pair.a, 2);
    pair_close(&pair);
}

/* ---- CNPs ---- */

/* They name the right PSN, as if it were known: only the port is wrong. */
static void forge_cnps(struct pair *pair, uint16_t port, unsigned count)
{
    struct oche_packet cnp = {
        .opcode = OCHE_CNP, .pkey = 0xffff, .dest_qpn = oche_qp_number(pair->a.qp)};
    struct oche_qp_losses losses;

    oche_qp_losses(pair->a.qp, &losses);
    oche_cnp_put_psn(&cnp, losses.una);
    for (unsigned i = 0; i < count; i++)
        forge(&pair->a, &pair->b, port, &cnp);
}

static uint64_t cnps_received(struct end *end)
{
    struct oche_device_stats stats;

    oche_device_stats(end->device, &stats);
    return stats.nic.cnps_received;
}

/*
 * A flood of CNPs from another port, before the connection's first packet and beside a transfer:
 * none counts, the rate is not cut once. From the peer's own port one does cut it.
 */
static void cnps_are_forged(void **state)
{
    const struct oche_device_config config = {.cc = oche_cc_find("dcqcn")};
    struct pair pair;
    uint16_t port;
    uint64_t rate;

    (void)state;
    open_patient(&pair, &config);
    rate = oche_qp_rate_bps(pair.a.qp);
    forge_cnps(&pair, THEIR_PORT, 1000);
    for (unsigned i = 0; i < 20; i++) {
        write_bytes(&pair, &pair.a, &pair.b, i + 1);
        forge_cnps(&pair, THEIR_PORT, 1000);
        assert_int_equal(oche_qp_rate_bps(pair.a.qp), rate);
    }
    assert_int_equal(cnps_received(&pair.a), 0);
    assert_int_equal(strange(&pair.a), 21000);
    port = device_owned(pair.a.qp)->ports.port[OCHE_PORT_RESPONSES];
    assert_in_range(port, 61000, 65535);
    forge_cnps(&pair, port, 1);
    assert_int_equal(cnps_received(&pair.a), 1);
    assert_true(oche_qp_rate_bps(pair.a.qp) < rate);
    pair_close(&pair);
}

/* An unreliable connection gets nothing else from its peer: there CNPs count from any port. */
static void cnps_without_answers(void **state)
{
    const struct oche_device_config config = {.cc = oche_cc_find("dcqcn")};
    struct pair pair;

    (void)state;
    pair_open(&pair, &config, OCHE_TRANSPORT_UC);
    forge_cnps(&pair, THEIR_PORT, 1);
    assert_int_equal(cnps_received(&pair.a), 1);
    pair_close(&pair);
}

/* ---- ports that move ---- */

/*
 * While the pinned port speaks no other is looked at; when it has been silent for the retry time
 * one packet each ACK timeout is, and the right PSN moves the pin; then the old port is strange.
 */
static void a_port_moves(void **state)
{
    const oche_time timeout = 100 * OCHE_MS;
    struct oche_packet write;
    struct pair pair;
    uint16_t port;
    uint32_t psn;

    (void)state;
    open_patient(&pair, &(struct oche_device_config){.no_gso = false});
    write_bytes(&pair, &pair.a, &pair.b, 1);
    pump_quiet(&pair);
    psn = 0xfffff0 + (BYTES + 1023) / 1024; /* the next */
    port = device_owned(pair.b.qp)->ports.port[OCHE_PORT_REQUESTS];
    write = forged_write(&pair.b, psn);
    memset(pair.b.memory + PAIR_MEMORY - 64, FILL, 64);
    forge(&pair.b, &pair.a, THEIR_PORT, &write); /* the retry time is eight seconds */
    assert_true(untouched(&pair.b));
    set_timeout(&pair, timeout); /* … and now 200 ms, which pass */
    let_pass(&pair, 2 * timeout + OCHE_MS);
    write.psn = (psn + 1) & OCHE_PSN_MASK;
    forge(&pair.b, &pair.a, THEIR_PORT, &write); /* the one guess is wrong */
    write.psn = psn & OCHE_PSN_MASK;
    forge(&pair.b, &pair.a, THEIR_PORT, &write);
    assert_true(untouched(&pair.b));
    assert_int_equal(strange(&pair.b), 3);
    let_pass(&pair, timeout + OCHE_MS);
    forge(&pair.b, &pair.a, THEIR_PORT, &write); /* right */
    assert_false(untouched(&pair.b));
    write.psn = (psn + 1) & OCHE_PSN_MASK;
    forge(&pair.b, &pair.a, port, &write);
    assert_int_equal(strange(&pair.b), 4);
    forge(&pair.b, &pair.a, THEIR_PORT, &write);
    assert_int_equal(strange(&pair.b), 4);
    pair_close(&pair);
}

/* A peer that starts to repeat from a new port gets its answer, so that it can continue. */
static void a_repeated_request_is_answered(void **state)
{
    const oche_time timeout = 100 * OCHE_MS;
    struct oche_device_stats before, after;
    struct oche_packet write;
    struct pair pair;

    (void)state;
    open_patient(&pair, &(struct oche_device_config){.no_gso = false});
    write_bytes(&pair, &pair.a, &pair.b, 1);
    pump_quiet(&pair);
    set_timeout(&pair, timeout);
    let_pass(&pair, 2 * timeout + OCHE_MS);
    oche_device_stats(pair.b.device, &before);
    write = forged_write(&pair.b, 0xfffff0);
    forge(&pair.b, &pair.a, THEIR_PORT, &write);
    pump_quiet(&pair);
    oche_device_stats(pair.b.device, &after);
    assert_int_equal(after.nic.acks_sent, before.nic.acks_sent + 1);
    assert_int_equal(after.strange_ports, before.strange_ports);
    assert_int_not_equal(device_owned(pair.b.qp)->ports.port[OCHE_PORT_REQUESTS], THEIR_PORT);
    pair_close(&pair);
}

/*
 * On an unreliable connection nothing is answered, so what is behind is not looked at either: there
 * a message may begin at any PSN, and half of all guesses are behind.
 */
static void a_guess_behind_on_uc(void **state)
{
    const oche_time timeout = 20 * OCHE_MS;
    const uint32_t psn = 0xfffff1; /* the next */
    struct oche_send_work work;
    struct oche_packet write;
    struct pair pair;

    (void)state;
    pair_open(&pair, &(struct oche_device_config){.no_gso = false}, OCHE_TRANSPORT_UC);
    work = work_between(&pair.a, &pair.b, OCHE_WORK_WRITE, 0, 100);
    assert_int_equal(oche_device_post_send(pair.a.device, pair.a.qp, &work), 0);
    assert_int_equal(pump(&pair, &pair.a).status, OCHE_STATUS_SUCCESS);
    pump_quiet(&pair);
    assert_int_not_equal(device_owned(pair.b.qp)->ports.port[OCHE_PORT_REQUESTS], 0);
    set_timeout(&pair, timeout);
    write = forged_write(&pair.b, psn - 1000);
    write.opcode = OCHE_UC_WRITE_ONLY;
    memset(pair.b.memory + PAIR_MEMORY - 64, FILL, 64);
    let_pass(&pair, 2 * timeout + OCHE_MS);
    forge(&pair.b, &pair.a, THEIR_PORT, &write);
    assert_true(untouched(&pair.b));
    assert_int_equal(strange(&pair.b), 1);
    let_pass(&pair, timeout + OCHE_MS);
    write.psn = psn; /* the right one, which moves the pin as ever */
    forge(&pair.b, &pair.a, THEIR_PORT, &write);
    assert_false(untouched(&pair.b));
    pair_close(&pair);
}

/* A peer that answers from another port than it asks from: both are pinned, and none else. */
static void two_ports(void **state)
{
    struct oche_packet write;
    struct pair pair;
    uint16_t port;

    (void)state;
    open_patient(&pair, &(struct oche_device_config){.no_gso = false});
    write_bytes(&pair, &pair.a, &pair.b, 1); /* a's pin is where b's answers come from */
    port = device_owned(pair.a.qp)->ports.port[OCHE_PORT_RESPONSES];
    write = forged_write(&pair.a, 0x1234);
    memset(pair.a.memory + PAIR_MEMORY - 64, FILL, 64);
    forge(&pair.a, &pair.b, THEIR_PORT, &write); /* b's first request */
    assert_false(untouched(&pair.a));
    assert_int_equal(device_owned(pair.a.qp)->ports.port[OCHE_PORT_REQUESTS], THEIR_PORT);
    assert_int_equal(device_owned(pair.a.qp)->ports.port[OCHE_PORT_RESPONSES], port);
    write_bytes(&pair, &pair.a, &pair.b, 2);
    assert_int_equal(strange(&pair.a), 0);
    forge_cnps(&pair, THEIR_PORT, 1);
    forge_cnps(&pair, port, 1);
    forge_cnps(&pair, THEIR_PORT + 1, 1);
    assert_int_equal(cnps_received(&pair.a), 2);
    pair_close(&pair);
}

/* any_peer_ports: each packet may come from another, as it was once; what is expected is taken. */
static void any_ports(void **state)
{
    struct pair pair;

    (void)state;
    open_patient(&pair, &(struct oche_device_config){.any_peer_ports = true});
    for (uint16_t i = 0; i < 5; i++) {
        const struct oche_packet write = forged_write(&pair.b, 0xfffff0 + i);

        memset(pair.b.memory + PAIR_MEMORY - 64, FILL, 64);
        forge(&pair.b, &pair.a, THEIR_PORT + i, &write);
        assert_false(untouched(&pair.b));
    }
    assert_int_equal(strange(&pair.b), 0);
    pair_close(&pair);
}

/* A queue pair that is connected again has a new peer, at a new port. */
static void connected_again(void **state)
{
    struct pair pair;
    uint16_t port;

    (void)state;
    open_patient(&pair, &(struct oche_device_config){.no_gso = false});
    write_bytes(&pair, &pair.a, &pair.b, 1);
    port = device_owned(pair.b.qp)->ports.port[OCHE_PORT_REQUESTS];
    assert_int_not_equal(port, 0);
    oche_qp_fail(pair.b.qp, 0);
    oche_qp_reset(pair.b.qp);
    assert_true(oche_device_connect(pair.b.device, pair.b.qp,
                                    &(struct oche_qp_connection){.remote_address = 1,
                                                                 .remote_qpn = 5,
                                                                 .ack_timeout = OCHE_SEC}));
    assert_int_equal(device_owned(pair.b.qp)->ports.port[OCHE_PORT_REQUESTS], 0);
    pair_close(&pair);
}

/* ---- our own packets ---- */

/*
 * Data, READ responses, ACKs, NAKs and CNPs of a queue pair leave from one port: the other end,
 * which has pinned it, sees no other. Many queue pairs, as each chooses its port.
 */
static void one_port_for_all_packets(void **state)
{
    const struct oche_device_config config = {.cc = oche_cc_find("dcqcn"),
                                              .seed = 3,
                                              .links = losing(OCHE_LINK_OUT, 5000),
                                              .source_ports = 8};
    struct pair pair;

    (void)state;
    pair_open(&pair, &config, OCHE_TRANSPORT_RC);
    for (unsigned i = 0; i < 12; i++) {
        struct oche_send_work read;
        uint16_t port[2];

        if (i > 0) {
            oche_device_destroy_qp(pair.a.device, pair.a.qp);
            oche_device_destroy_qp(pair.b.device, pair.b.qp);
            ends_connect(&pair.a, &pair.b, OCHE_TRANSPORT_RC, 1024);
        }
        pair_be_patient(&pair);
        write_bytes(&pair, &pair.a, &pair.b, i + 1);
        write_bytes(&pair, &pair.b, &pair.a, i + 2);
        read = work_between(&pair.a, &pair.b, OCHE_WORK_READ, 0, BYTES);
        assert_int_equal(oche_device_post_send(pair.a.device, pair.a.qp, &read), 0);
        assert_int_equal(pump(&pair, &pair.a).status, OCHE_STATUS_SUCCESS);
        pump_quiet(&pair);
        memcpy(port, device_owned(pair.b.qp)->ports.port, sizeof(port));
        assert_int_equal(port[0], port[1]);
        assert_in_range(port[0], 61000, 65535);
    }
    assert_int_equal(strange(&pair.a) + strange(&pair.b), 0);
    pair_close(&pair);
}

/*
 * A device that spreads a queue pair's packets: a peer that takes any port gets them all, and one
 * that pins the first port sees strange ones. A scheme that learns from ACKs is refused then.
 */
static void spread_packets(void **state)
{
    struct oche_device_config config = {.recovery = oche_recovery_find("selective_repeat"),
                                        .source_ports = 8,
                                        .paths = oche_path_scheme(1),
                                        .any_peer_ports = true};
    struct oche_error error;
    struct oche_send_work work;
    struct pair pair;

    (void)state;
    open_patient(&pair, &config);
    for (unsigned i = 0; i < 20; i++)
        write_bytes(&pair, &pair.a, &pair.b, i + 1);
    assert_int_equal(strange(&pair.b), 0);
    pair_close(&pair);

    config.any_peer_ports = false;
    open_patient(&pair, &config);
    work = work_between(&pair.a, &pair.b, OCHE_WORK_WRITE, 0, 1);
    assert_int_equal(oche_device_post_send(pair.a.device, pair.a.qp, &work), 0);
    assert_int_equal(pump(&pair, &pair.a).status, OCHE_STATUS_SUCCESS);
    work = work_between(&pair.a, &pair.b, OCHE_WORK_WRITE, 0, BYTES);
    assert_int_equal(oche_device_post_send(pair.a.device, pair.a.qp, &work), 0);
    for (unsigned tries = 0; tries < 100 && strange(&pair.b) == 0; tries++)
        let_pass(&pair, 20 * OCHE_MS);
    assert_true(strange(&pair.b) > 0);
    pair_close(&pair);

    config.address = "127.0.0.1";
    for (uint32_t i = 2; oche_path_choices[i] != NULL; i++) {
        config.paths = oche_path_scheme(i);
        assert_null(oche_device_open(&config, &error));
        assert_non_null(strstr(error.text, "needs --peer-ports=any at both ends"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(psns_are_tried),
        cmocka_unit_test(what_pins_no_port),
        cmocka_unit_test(identifications_are_the_peers),
        cmocka_unit_test(requests_of_a_peer_that_answers),
        cmocka_unit_test(cnps_are_forged),
        cmocka_unit_test(cnps_without_answers),
        cmocka_unit_test(a_port_moves),
        cmocka_unit_test(a_repeated_request_is_answered),
        cmocka_unit_test(two_ports),
        cmocka_unit_test(any_ports),
        cmocka_unit_test(connected_again),
        cmocka_unit_test(one_port_for_all_packets),
        cmocka_unit_test(spread_packets),
        cmocka_unit_test(a_guess_behind_on_uc),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
