/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets that arrive at a device from a peer that the test plays itself, byte by byte. Malformed
 * ones are counted by cause and do nothing else; IP identifications of all kinds are found; a CE
 * mark becomes a CNP. The device sends what rocev2.md says. The capture has all of it.
 */
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/cc/cc.h"
#include "core/random.h"
#include "core/wire/frame.h"
#include "device/internal.h"
#include "device/path/socket.h"
#include "device/view/format.h"
#include "tests/support/crc.h"
#include "tests/support/losing.h"
#include "tests/unit/device/pair.h"

#define NO_SUCH_QPN 0x5 /* below those that are given out */

static const char *capture_path;

/* The peer that the test plays, at 127.x.y.3 (or .4, whom the device does not know). */
struct fake {
    struct oche_socket socket;
    struct sockaddr_storage device;
    socklen_t device_bytes;
    struct oche_ip_header header; /* of what it sends */
    unsigned next, count;         /* of what it received */
    uint16_t from_port;           /* of the last packet */
};

static struct oche_datagram_in in[OCHE_SOCKET_IN];

static struct oche_address address_of(const char *text)
{
    struct oche_address address;

    assert_true(oche_address_parse(text, &address));
    return address;
}

static void fake_open_port(struct fake *fake, struct end *end, unsigned last, uint16_t port)
{
    const struct oche_socket_options options = {.no_gro = true, .buffer_bytes = 1 << 20};
    const struct oche_address device = address_of(end->address);
    struct oche_address own;
    char text[32];
    struct oche_error error;

    *fake = (struct fake){0};
    own = address_of(loopback_address(text, last));
    if (!oche_socket_open(&fake->socket, &own, port, &options, &error))
        fail_msg("%s", error.text);
    fake->device_bytes = oche_address_to_socket(&device, 4791, &fake->device);
    oche_ip_header_make(&fake->header, &own, &device, port, 4791, 0);
    if (last == 3)
        assert_int_not_equal(oche_device_peer(end->device, text), UINT32_MAX);
}

static void fake_open(struct fake *fake, struct end *end, unsigned last)
{
    fake_open_port(fake, end, last, 4791);
}

static void fake_send_as(struct fake *fake, uint8_t *bytes, size_t count, size_t segment,
                         uint8_t tos)
{
    struct iovec piece = {.iov_base = bytes, .iov_len = count};
    struct oche_datagram_out out = {.to = &fake->device,
                                    .to_bytes = fake->device_bytes,
                                    .pieces = &piece,
                                    .piece_count = 1,
                                    .segment_bytes = (uint16_t)segment,
                                    .tos = tos};
    unsigned sent;

    assert_int_equal(oche_socket_send(&fake->socket, fake->socket.fd, &out, 1, &sent),
                     OCHE_SEND_DONE);
    assert_int_equal(sent, 1);
}

static void fake_send(struct fake *fake, uint8_t *bytes, size_t count)
{
    fake_send_as(fake, bytes, count, 0, 0);
}

/* Encodes a packet with the ICRC that it has with IP identification `id`. */
static size_t fake_encode(struct fake *fake, const struct oche_packet *packet, uint16_t id,
                          uint8_t *out)
{
    struct oche_pseudo pseudo;

    oche_ip_header_set_id(&fake->header, id);
    oche_pseudo_from_bytes(&pseudo, fake->header.bytes);
    return oche_encode_transport(packet, &pseudo, crc_zlib, out, 5000);
}

/* Until the device has seen `packets` in all. */
static struct oche_device_stats seen(struct end *end, uint64_t packets)
{
    const oche_time start = oche_device_now(end->device);
    struct oche_device_stats stats;

    do {
        oche_device_progress(end->device);
        oche_device_stats(end->device, &stats);
        if (oche_device_now(end->device) - start > 5 * OCHE_SEC)
            fail_msg("%u of %u packets arrived", (unsigned)stats.received_packets,
                     (unsigned)packets);
    } while (stats.received_packets < packets);
    assert_int_equal(stats.received_packets, packets);
    return stats;
}

static uint64_t no_qp(struct end *end)
{
    return oche_nic_rejected(oche_device_nic(end->device), OCHE_REJECT_NO_QP);
}

/* A SEND ONLY of 8 bytes to a queue pair that does not exist. */
static const struct oche_packet to_nobody = {
    .opcode = OCHE_RC_SEND_ONLY, .dest_qpn = NO_SUCH_QPN, .pkey = 0xffff, .payload_bytes = 8};

static void malformed(void **state)
{
    static const struct {
        uint8_t bytes[24]; /* opcode, flags and pad, P_Key, 0, QPN, … */
        size_t count;
        enum oche_wire_error error;
    } cases[] = {
        {{0}, 0, OCHE_WIRE_TRUNCATED},
        {{4}, 1, OCHE_WIRE_TRUNCATED},
        {{4, 0, 0xff, 0xff}, 15, OCHE_WIRE_TRUNCATED},
        {{4, 0, 0xff, 0xff}, 17, OCHE_WIRE_ALIGNMENT},
        {{4, 1, 0xff, 0xff}, 20, OCHE_WIRE_TVER},
        {{0xff, 0, 0xff, 0xff}, 20, OCHE_WIRE_OPCODE},
        {{0x40, 0, 0xff, 0xff}, 20, OCHE_WIRE_OPCODE},
        {{OCHE_RC_WRITE_ONLY, 0, 0xff, 0xff}, 16, OCHE_WIRE_HEADER},
        {{4, 0x30, 0xff, 0xff}, 16, OCHE_WIRE_PAD},
        {{OCHE_RC_SEND_MIDDLE, 0, 0xff, 0xff}, 16, OCHE_WIRE_PAYLOAD},
        {{4, 0, 0xff, 0xff}, 20, OCHE_WIRE_ICRC},
    };
    uint64_t want[OCHE_WIRE_ERROR_COUNT] = {0};
    struct oche_device_stats stats;
    struct fake fake;
    struct end end;
    uint8_t bytes[24];

    (void)state;
    end_open(&end, &(struct oche_device_config){.seed = 1}, NULL, 1);
    fake_open(&fake, &end, 3);
    for (size_t i = 0; i < OCHE_COUNT_OF(cases); i++) {
        memcpy(bytes, cases[i].bytes, sizeof(bytes));
        fake_send(&fake, bytes, cases[i].count);
        stats = seen(&end, i + 1);
        want[cases[i].error]++;
        assert_memory_equal(stats.wrong, want, sizeof(want));
    }
    assert_int_equal(stats.nic.rejected_packets, 0); /* none came that far */
    assert_int_equal(no_qp(&end), 0);
    fake_send(&fake, bytes, fake_encode(&fake, &to_nobody, 0, bytes));
    seen(&end, OCHE_COUNT_OF(cases) + 1);
    assert_int_equal(no_qp(&end), 1); /* this one did */
    assert_int_equal(stats.sent_packets, 0);
    oche_socket_close(&fake.socket);
    end_close(&end);
}

/* Random bytes, of random lengths, some with a right ICRC: all are counted, none is believed. */
static void garbage(void **state)
{
    struct oche_random random = oche_random_stream(1, "garbage", 0);
    struct oche_device_stats stats;
    static uint8_t bytes[9000];
    uint64_t wrong = 0;
    struct fake fake;
    struct end end;

    (void)state;
    end_open(&end, &(struct oche_device_config){.seed = 1}, NULL, 1);
    fake_open(&fake, &end, 3);
    for (unsigned i = 1; i <= 3000; i++) {
        size_t count = 4 * oche_random_below(&random, i % 10 == 0 ? sizeof(bytes) / 4 : 40);

        for (size_t k = 0; k < count; k++)
            bytes[k] = (uint8_t)oche_random_u64(&random);
        if (i % 3 != 0 && count >= 16) {
            struct oche_span body = {.bytes = bytes, .count = count - 4};
            struct oche_pseudo pseudo;

            bytes[0] = (uint8_t)oche_random_below(&random, 0x66);
            bytes[1] &= 0xf0;
            if (count >= 16 + oche_bth_trailer_bytes(bytes))
                body.count -= oche_bth_trailer_bytes(bytes);
            oche_ip_header_set_bytes(&fake.header, (uint32_t)count);
            oche_pseudo_from_bytes(&pseudo, fake.header.bytes);
            oche_icrc_put(bytes + body.count, oche_icrc(crc_zlib, &pseudo, &body, 1));
        }
        fake_send(&fake, bytes, count);
        stats = seen(&end, i);
    }
    for (unsigned i = 0; i < OCHE_WIRE_ERROR_COUNT; i++)
        wrong += stats.wrong[i];
    assert_int_equal(wrong + stats.nic.rejected_packets, 3000);
    assert_true(stats.nic.rejected_packets > 500 && wrong > 1000);
    assert_int_equal(stats.sent_packets, 0);
    oche_socket_close(&fake.socket);
    end_close(&end);
}

/* Ten packets in one datagram, the fourth corrupted, the last one shorter. */
static void several_in_one(void **state)
{
    uint8_t bytes[10 * 24];
    struct oche_packet packet = to_nobody;
    struct oche_device_stats stats;
    struct fake fake;
    struct end end;
    size_t at = 0;

    (void)state;
    end_open(&end, &(struct oche_device_config){.strict_ip_id = true}, NULL, 1);
    fake_open(&fake, &end, 3);
    for (uint16_t i = 0; i < 10; i++) {
        packet.payload_bytes = i == 9 ? 4 : 8;
        at += fake_encode(&fake, &packet, i, bytes + at);
    }
    bytes[3 * 24 + 15] ^= 1;
    fake_send_as(&fake, bytes, at, 24, 0);
    stats = seen(&end, 10);
    assert_int_equal(no_qp(&end), 9);
    assert_int_equal(stats.wrong[OCHE_WIRE_ICRC], 1);
    assert_int_equal(stats.received_datagrams, 1);
    oche_socket_close(&fake.socket);
    end_close(&end);
}

/* Returns the packets that `oche stat` shows as dropped. */
static uint64_t dropped(struct end *end)
{
    uint64_t counters[OCHE_VIEW_COUNTERS], sum = 0;

    oche_device_counters_now(end->device, counters);
    for (unsigned i = OCHE_VIEW_DROPPED_AT; i < OCHE_VIEW_COUNTERS; i++)
        sum += counters[i];
    return sum;
}

/* Sends packets as if their identifications were these; returns how many were accepted. */
static uint64_t send_ids(bool strict, const uint16_t *ids, unsigned count, unsigned last,
                         uint64_t *unexpected, uint64_t *strangers)
{
    struct oche_device_stats stats;
    struct fake fake;
    struct end end;
    uint64_t accepted;
    uint8_t bytes[64];

    end_open(&end, &(struct oche_device_config){.strict_ip_id = strict}, NULL, 1);
    fake_open(&fake, &end, last);
    for (unsigned i = 0; i < count; i++) {
        fake_send(&fake, bytes, fake_encode(&fake, &to_nobody, ids[i], bytes));
        stats = seen(&end, i + 1);
    }
    accepted = no_qp(&end);
    assert_int_equal(accepted + stats.wrong[OCHE_WIRE_ICRC], count);
    assert_int_equal(dropped(&end), count); /* each once, also a stranger's */
    *unexpected = stats.unexpected_ip_ids;
    *strangers = stats.strangers;
    oche_socket_close(&fake.socket);
    end_close(&end);
    return accepted;
}

static void identifications(void **state)
{
    static const uint16_t ids[] = {0, 1, 2, 63, 0, 40000, 40001, 40003, 40002, 0, 65535, 0, 30000};
    const unsigned count = OCHE_COUNT_OF(ids);
    uint64_t unexpected, strangers;

    (void)state;
    assert_int_equal(send_ids(false, ids, count, 3, &unexpected, &strangers), count);
    assert_int_equal(unexpected, 3); /* 40000, 65535, 30000 */
    assert_int_equal(strangers, 0);
    assert_int_equal(send_ids(true, ids, count, 3, &unexpected, &strangers), count - 3);
    assert_int_equal(unexpected, 3);
    /* The same of a stranger. */
    assert_int_equal(send_ids(false, ids, count, 4, &unexpected, &strangers), count);
    assert_int_equal(unexpected, 3);
    assert_int_equal(strangers, count);
}

/* After 64 expected identifications, another one is dropped as damaged, unless packets follow it.
 */
static void proven_identifications(void **state)
{
    uint16_t ids[80] = {0};
    uint64_t unexpected, strangers;

    (void)state;
    for (uint16_t i = 0; i < 10; i++)
        ids[70 + i] = (uint16_t)(30000 + i);
    assert_int_equal(send_ids(false, ids, 80, 3, &unexpected, &strangers), 79);
    assert_int_equal(unexpected, 1);
    for (uint16_t i = 0; i < 10; i++)
        ids[70 + i] = (uint16_t)(30000 + 1000 * i); /* the second one is believed */
    assert_int_equal(send_ids(false, ids, 80, 3, &unexpected, &strangers), 79);
    assert_int_equal(unexpected, 10);
}

/* The next packet that the fake gets. Its identification must be 0, or 1 if `second`. */
static void fake_receive(struct fake *fake, struct end *end, bool second,
                         struct oche_packet *packet, uint8_t *tos)
{
    const oche_time start = oche_device_now(end->device);
    const struct oche_address device = address_of(end->address);
    struct oche_address own;
    const struct oche_datagram_in *one;
    struct oche_ip_header header;
    struct oche_pseudo pseudo;
    bool right;

    while (fake->next == fake->count) {
        fake->next = 0;
        fake->count = oche_socket_receive(&fake->socket, in);
        oche_device_progress(end->device);
        if (oche_device_now(end->device) - start > 5 * OCHE_SEC)
            fail_msg("nothing arrived");
    }
    one = &in[fake->next++];
    assert_memory_equal(&one->from, &device, sizeof(device));
    assert_in_range(one->from_port, 61000, 65535);
    fake->from_port = one->from_port;
    assert_int_equal(oche_decode_transport(one->bytes, one->count, packet, NULL), OCHE_WIRE_OK);
    oche_ip_map_ipv4(own.ip, fake->header.bytes + 12);
    oche_ip_header_make(&header, &device, &own, one->from_port, 4791, one->tos);
    oche_pseudo_from_bytes(&pseudo, header.bytes);
    oche_pseudo_set_bytes(&pseudo, one->count);
    right = oche_icrc_check(crc_zlib, &pseudo, one->bytes, one->count);
    oche_pseudo_set_id(&pseudo, 1);
    right = right || (second && oche_icrc_check(crc_zlib, &pseudo, one->bytes, one->count));
    assert_true(right);
    *tos = one->tos;
}

static void end_connect_to_fake(struct end *end, uint8_t tag)
{
    const struct oche_qp_config config = {.transport = OCHE_TRANSPORT_RC,
                                          .mtu_bytes = 1024,
                                          .send_depth = 8,
                                          .responder_resources = 1,
                                          .access =
                                              OCHE_ACCESS_REMOTE_WRITE | OCHE_ACCESS_REMOTE_READ,
                                          .send_cq = end->cq,
                                          .recv_cq = end->cq};
    char text[32];
    struct oche_qp_connection connection = {
        .remote_address = oche_device_peer(end->device, loopback_address(text, 3)),
        .remote_qpn = 0x777,
        .send_psn = 100,
        .recv_psn = 200,
        .tag = tag,
        .ack_timeout = OCHE_NEVER};

    end->qp = oche_device_create_qp(end->device, &config);
    assert_non_null(end->qp);
    assert_true(oche_device_connect(end->device, end->qp, &connection));
}

static void congestion_as(bool ack_priority, uint8_t tag, unsigned data_dscp, unsigned ack_dscp)
{
    const struct oche_device_config config = {.cc = oche_cc_find("dcqcn"),
                                              .ack_priority = ack_priority};
    struct end end, far = {0};
    struct oche_packet write = {.opcode = OCHE_RC_WRITE_ONLY,
                                .bth = OCHE_BTH_ACKREQ,
                                .pkey = 0xffff,
                                .psn = 200,
                                .payload_bytes = 8,
                                .reth.dma_length = 8,
                                .ext = OCHE_EXT_RETH | OCHE_EXT_PAYLOAD};
    struct oche_packet packet;
    struct oche_send_work work;
    uint8_t bytes[64], payload[8] = "marked!", tos;
    struct fake fake;
    bool cnp = false, ack = false;
    uint16_t port;

    end_open(&end, &config, NULL, 1);
    fake_open(&fake, &end, 3);
    end_connect_to_fake(&end, tag);

    work = work_between(&end, &far, OCHE_WORK_WRITE, 0, 8);
    assert_int_equal(oche_device_post_send(end.device, end.qp, &work), 0);
    fake_receive(&fake, &end, false, &packet, &tos);
    assert_int_equal(packet.opcode, OCHE_RC_WRITE_ONLY);
    assert_int_equal(packet.dest_qpn, 0x777);
    assert_int_equal(packet.psn, 100);
    port = fake.from_port;
    assert_int_equal(tos, data_dscp << 2 | OCHE_ECN_ECT0);

    write.dest_qpn = oche_qp_number(end.qp);
    write.reth.va = (uint64_t)(uintptr_t)end.memory + 16;
    write.reth.rkey = end.key;
    write.payload = payload;
    fake_send_as(&fake, bytes, fake_encode(&fake, &write, 0, bytes), 0, OCHE_ECN_CE);
    for (unsigned i = 0; i < 2; i++) {
        fake_receive(&fake, &end, i == 1, &packet, &tos);
        cnp = cnp || packet.opcode == OCHE_CNP;
        ack = ack || packet.opcode == OCHE_RC_ACK;
        assert_int_equal(fake.from_port, port); /* all of a queue pair from one port */
        assert_int_equal(packet.dest_qpn, 0x777);
        assert_int_equal(tos, (packet.opcode == OCHE_CNP ? 48 : ack_dscp) << 2);
    }
    assert_true(cnp && ack);
    assert_memory_equal(end.memory + 16, payload, 8);
    assert_int_equal(seen(&end, 1).nic.ce_received, 1);
    oche_socket_close(&fake.socket);
    end_close(&end);
}

/*
 * Data leaves ECN-capable in class 0. A packet with CE causes a CNP in class 6 and an ACK in the
 * class of data. A connection's DSCP is in all its packets except CNPs; it cannot set ECN. With
 * ack_priority ACKs have the DSCP of CNPs.
 */
static void congestion(void **state)
{
    (void)state;
    congestion_as(false, 0, 0, 0);
    congestion_as(false, 26 << 2, 26, 26);
    congestion_as(false, 63 << 2 | OCHE_ECN_CE, 63, 63);
    congestion_as(false, OCHE_ECN_CE, 0, 0);
    congestion_as(true, 26 << 2, 26, 48);
}

/* A peer that repeats a READ without progress gets its data 64 times (docs/verbs.md). */
static void reads_without_end(void **state)
{
    struct oche_packet read = {.opcode = OCHE_RC_READ_REQUEST,
                               .pkey = 0xffff,
                               .psn = 200,
                               .reth.dma_length = 8,
                               .ext = OCHE_EXT_RETH};
    struct oche_device_stats stats;
    uint8_t bytes[64];
    struct fake fake;
    struct end end;

    (void)state;
    end_open(&end, &(struct oche_device_config){.seed = 1}, NULL, 1);
    fake_open(&fake, &end, 3);
    end_connect_to_fake(&end, 0);
    read.dest_qpn = oche_qp_number(end.qp);
    read.reth.va = (uint64_t)(uintptr_t)end.memory;
    read.reth.rkey = end.key;
    for (unsigned i = 0; i < 200; i++) {
        fake_send(&fake, bytes, fake_encode(&fake, &read, 0, bytes));
        stats = seen(&end, i + 1);
    }
    oche_device_progress(end.device);
    oche_device_stats(end.device, &stats);
    assert_int_equal(stats.sent_packets, 1 + 64);
    assert_int_equal(oche_nic_rejected(oche_device_nic(end.device), OCHE_REJECT_REPEATS), 199 - 64);
    oche_socket_close(&fake.socket);
    end_close(&end);
}

/* Sends a packet; the device has seen `*packets`. Returns true if it was taken. */
static bool believed(struct fake *fake, struct end *end, const struct oche_packet *packet,
                     uint16_t id, uint64_t *packets)
{
    struct oche_device_stats stats;
    uint64_t before;
    uint8_t bytes[64];

    oche_device_stats(end->device, &stats);
    before = stats.wrong[OCHE_WIRE_ICRC];
    fake_send(fake, bytes, fake_encode(fake, packet, id, bytes));
    return seen(end, ++*packets).wrong[OCHE_WIRE_ICRC] == before;
}

/*
 * A peer counts its identifications. Somebody else sends in its name, but does not know our queue
 * pair: what that one's are does not matter to the peer.
 */
static void forged_identifications(void **state)
{
    struct oche_packet packet = to_nobody;
    uint64_t packets = 0;
    struct fake fake;
    struct end end;

    (void)state;
    end_open(&end, &(struct oche_device_config){.seed = 1}, NULL, 1);
    fake_open(&fake, &end, 3);
    end_connect_to_fake(&end, 0);
    packet.dest_qpn = oche_qp_number(end.qp);
    for (uint16_t i = 0; i < 400; i++) {
        assert_true(believed(&fake, &end, &packet, (uint16_t)(5000 + i), &packets));
        for (uint16_t j = 0; j < 5 && i >= 100; j++) { /* all counts are others' */
            believed(&fake, &end, &to_nobody, (uint16_t)(20000 + 1000 * j + 7 * i), &packets);
            believed(&fake, &end, &to_nobody, 0, &packets);
        }
    }
    oche_socket_close(&fake.socket);
    end_close(&end);
}

/*
 * Somebody whose numbers are by chance has the address of a predictable peer (NAT): what is not
 * believed of him is when it comes again.
 */
static void two_with_one_address(void **state)
{
    struct oche_packet packet = to_nobody;
    unsigned lost = 0, tries;
    uint64_t packets = 0;
    struct fake fake;
    struct end end;

    (void)state;
    end_open(&end, &(struct oche_device_config){.seed = 1}, NULL, 1);
    fake_open(&fake, &end, 3);
    end_connect_to_fake(&end, 0);
    packet.dest_qpn = oche_qp_number(end.qp);
    for (unsigned i = 0; i < 2000; i++) {
        packet.psn = i;
        assert_true(believed(&fake, &end, &packet, 0, &packets));
        packet.psn = 2000 + i;
        for (tries = 0; i % 100 == 99 && tries < 7; tries++) {
            if (believed(&fake, &end, &packet, (uint16_t)(1000 + 3000 * tries + 7 * i), &packets))
                break;
            lost++;
            packet.psn = i;
            assert_true(believed(&fake, &end, &packet, 0, &packets));
            packet.psn = 2000 + i;
        }
        assert_in_range(tries, 0, 1);
    }
    assert_in_range(lost, 10, 20);
    oche_socket_close(&fake.socket);
    end_close(&end);
}

/* A CNP is no answer of the application's: where only those are sent, no ACK waits for one. */
static void cnps_are_no_answers(void **state)
{
    struct oche_packet write = {.opcode = OCHE_RC_WRITE_ONLY,
                                .bth = OCHE_BTH_ACKREQ,
                                .pkey = 0xffff,
                                .payload_bytes = 8,
                                .reth.dma_length = 8,
                                .ext = OCHE_EXT_RETH | OCHE_EXT_PAYLOAD};
    uint8_t bytes[64], payload[8] = "marked!";
    struct oche_device_stats stats = {0};
    struct fake fake;
    struct end end;

    const struct oche_cc_scheme *dcqcn = oche_cc_find("dcqcn");
    _Alignas(8) unsigned char paper[1024]; /* with 50 us between two CNPs */

    (void)state;
    assert_true(dcqcn->table.struct_bytes <= sizeof(paper));
    oche_param_defaults(&dcqcn->table, paper);
    end_open(&end, &(struct oche_device_config){.cc = dcqcn, .cc_params = paper}, NULL, 1);
    fake_open(&fake, &end, 3);
    end_connect_to_fake(&end, 0);
    write.dest_qpn = oche_qp_number(end.qp);
    write.reth.va = (uint64_t)(uintptr_t)end.memory;
    write.reth.rkey = end.key;
    write.payload = payload;
    for (unsigned i = 0; i < 20; i++) {
        write.psn = 200 + i;
        fake_send_as(&fake, bytes, fake_encode(&fake, &write, 0, bytes), 0, OCHE_ECN_CE);
        stats = seen(&end, i + 1);
        usleep(100); /* more than between two CNPs */
    }
    assert_true(stats.nic.cnps_sent > 10);
    assert_int_equal(stats.held, 0);
    oche_socket_close(&fake.socket);
    end_close(&end);
}

/* With any_peer_ports any will do, also another one for each packet of a connection. */
static void source_ports(void **state)
{
    static const uint16_t ports[] = {0xffff, 0xf132, 20000};
    struct oche_packet write = {.opcode = OCHE_RC_WRITE_ONLY,
                                .bth = OCHE_BTH_ACKREQ,
                                .pkey = 0xffff,
                                .psn = 200,
                                .payload_bytes = 8,
                                .reth.dma_length = 8,
                                .ext = OCHE_EXT_RETH | OCHE_EXT_PAYLOAD};
    struct oche_packet ack;
    struct oche_device_stats stats;
    uint8_t bytes[64], payload[8] = "from 1!", tos;
    struct fake standard, fake;
    struct end end;
    size_t count;

    (void)state;
    end_open(&end, &(struct oche_device_config){.seed = 1, .any_peer_ports = true}, NULL, 1);
    fake_open(&standard, &end, 3);
    end_connect_to_fake(&end, 0);
    write.dest_qpn = oche_qp_number(end.qp);
    write.reth.va = (uint64_t)(uintptr_t)end.memory;
    write.reth.rkey = end.key;
    write.payload = payload;
    for (unsigned i = 0; i < 3; i++, write.psn++, payload[5]++) {
        fake_open_port(&fake, &end, 3, ports[i]);
        /* The ICRC covers it: one that was made for another port is wrong. */
        count = fake_encode(&standard, &write, 0, bytes);
        fake_send(&fake, bytes, count);
        stats = seen(&end, 2 * i + 1);
        assert_int_equal(stats.wrong[OCHE_WIRE_ICRC], i + 1);
        count = fake_encode(&fake, &write, 0, bytes);
        fake_send(&fake, bytes, count);
        seen(&end, 2 * i + 2);
        assert_memory_equal(end.memory, payload, 8);
        /* Answers go to port 4791, not to where the packet came from. */
        fake_receive(&standard, &end, false, &ack, &tos);
        assert_int_equal(ack.opcode, OCHE_RC_ACK);
        assert_int_equal(ack.psn, write.psn);
        assert_int_equal(oche_socket_receive(&fake.socket, in), 0);
        oche_socket_close(&fake.socket);
    }
    oche_socket_close(&standard.socket);
    end_close(&end);
}

/* A way without segmentation offload (here: a socket without checksums): packets go singly. */
static void gso_refused(void **state)
{
    const int on = 1;
    struct oche_device_stats stats;
    struct oche_send_work work;
    struct pair pair;

    (void)state;
    pair_open(&pair, &(struct oche_device_config){.strict_ip_id = true}, OCHE_TRANSPORT_RC);
    pair_be_patient(&pair);
    for (unsigned i = 0; i < pair.a.device->source_ports.count; i++)
        assert_int_equal(setsockopt(pair.a.device->source_ports.fds[i], SOL_SOCKET, SO_NO_CHECK,
                                    &on, sizeof(on)),
                         0);
    end_fill(&pair.a, 1);
    work = work_between(&pair.a, &pair.b, OCHE_WORK_WRITE, 0, 100000);
    assert_int_equal(oche_device_post_send(pair.a.device, pair.a.qp, &work), 0);
    assert_int_equal(pump(&pair, &pair.a).status, OCHE_STATUS_SUCCESS);
    assert_memory_equal(pair.a.memory, pair.b.memory, 100000);
    oche_device_stats(pair.a.device, &stats);
    if (stats.gso)
        assert_int_equal(stats.gso_refused, 1);
    assert_int_equal(stats.send_errors, 0);
    assert_int_equal(stats.nic.retransmitted_packets, 0);
    assert_int_equal(stats.sent_datagrams, stats.sent_packets);
    pair_close(&pair);
}

/* Loopback has no route elsewhere: the packets are lost, and the queue pair gives up. */
static void no_way(void **state)
{
    struct end end, far = {0};
    struct oche_qp_connection connection = {
        .remote_qpn = 0x777, .ack_timeout = OCHE_MS, .retry_count = 2};
    const struct oche_qp_config config = {.mtu_bytes = 1024, .send_depth = 8};
    struct oche_send_work work;
    struct oche_device_stats stats;
    struct pair pair;

    (void)state;
    end_open(&end, &(struct oche_device_config){.seed = 1}, NULL, 1);
    connection.remote_address = oche_device_peer(end.device, "198.51.100.1");
    struct oche_qp_config full = config;
    full.send_cq = full.recv_cq = end.cq;
    end.qp = oche_device_create_qp(end.device, &full);
    assert_true(oche_device_connect(end.device, end.qp, &connection));
    work = work_between(&end, &far, OCHE_WORK_WRITE, 0, 100000);
    assert_int_equal(oche_device_post_send(end.device, end.qp, &work), 0);
    pair = (struct pair){.a = end};
    assert_int_equal(pump(&pair, &end).status, OCHE_STATUS_RETRY_EXCEEDED);
    oche_device_stats(end.device, &stats);
    assert_true(stats.send_errors >= 98);
    assert_int_equal(stats.sent_packets, 0);
    end_close(&end);
}

/* ---- the capture ---- */

struct captured {
    unsigned packets, wrong, with_id, with_pad, from_a;
};

static struct captured read_capture(void)
{
    struct captured captured = {0};
    char error[PCAP_ERRBUF_SIZE];
    struct pcap_pkthdr *header;
    const u_char *bytes;
    pcap_t *pcap = pcap_open_offline(capture_path, error);

    if (pcap == NULL)
        fail_msg("%s", error);
    assert_int_equal(pcap_datalink(pcap), DLT_RAW);
    while (pcap_next_ex(pcap, &header, &bytes) == 1) {
        struct oche_packet packet;
        struct oche_frame frame;
        const enum oche_wire_error is =
            oche_decode_ip(bytes, header->caplen, crc_zlib, &packet, &frame);

        captured.packets++;
        captured.wrong += is != OCHE_WIRE_OK;
        captured.with_id += is == OCHE_WIRE_OK && frame.ip_id != 0;
        captured.from_a += frame.src_ip[15] == 1;
        if (is != OCHE_WIRE_OK || oche_pad_bytes(packet.payload_bytes) == 0)
            continue;
        captured.with_pad++;
        assert_memory_equal(frame.pad, "\0\0\0", oche_pad_bytes(packet.payload_bytes));
    }
    pcap_close(pcap);
    return captured;
}

/* All that was sent, lost packets included, and all that arrived, malformed packets included. */
static void captured(void **state)
{
    const struct oche_device_config plain = {.seed = 1},
                                    with = {.seed = 1,
                                            .links = losing(OCHE_LINK_OUT, 50000),
                                            .capture = capture_path};
    struct oche_device_stats stats;
    struct oche_send_work work;
    struct captured read;
    struct fake fake;
    struct pair pair;
    uint8_t bytes[64];

    (void)state;
    end_open(&pair.a, &with, NULL, 1);
    end_open(&pair.b, &plain, NULL, 2);
    ends_connect(&pair.a, &pair.b, OCHE_TRANSPORT_RC, 1024);
    end_fill(&pair.b, 1);
    work = work_between(&pair.a, &pair.b, OCHE_WORK_READ, 0, 199998);
    assert_int_equal(oche_device_post_send(pair.a.device, pair.a.qp, &work), 0);
    assert_int_equal(pump(&pair, &pair.a).status, OCHE_STATUS_SUCCESS);
    work = work_between(&pair.a, &pair.b, OCHE_WORK_WRITE, 0, 199997);
    assert_int_equal(oche_device_post_send(pair.a.device, pair.a.qp, &work), 0);
    assert_int_equal(pump(&pair, &pair.a).status, OCHE_STATUS_SUCCESS);
    pump_quiet(&pair);
    oche_device_stats(pair.a.device, &stats);
    fake_open(&fake, &pair.a, 3);
    fake_encode(&fake, &to_nobody, 0, bytes);
    bytes[14] ^= 1;
    fake_send(&fake, bytes, 24);
    seen(&pair.a, stats.received_packets + 1);
    oche_socket_close(&fake.socket);
    pair_close(&pair);

    read = read_capture();
    assert_true(stats.dropped_sent > 5);
    assert_int_equal(read.from_a, stats.sent_packets + stats.dropped_sent);
    assert_int_equal(read.packets, read.from_a + stats.received_packets + 1);
    assert_int_equal(read.wrong, 1);
    assert_true(read.with_pad >= 2);
    assert_true(read.with_id > 100 || !stats.gso);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(malformed),
        cmocka_unit_test(garbage),
        cmocka_unit_test(several_in_one),
        cmocka_unit_test(identifications),
        cmocka_unit_test(proven_identifications),
        cmocka_unit_test(forged_identifications),
        cmocka_unit_test(two_with_one_address),
        cmocka_unit_test(congestion),
        cmocka_unit_test(reads_without_end),
        cmocka_unit_test(cnps_are_no_answers),
        cmocka_unit_test(gso_refused),
        cmocka_unit_test(no_way),
        cmocka_unit_test(captured),
        cmocka_unit_test(source_ports),
    };

    if (argc != 2)
        return 2;
    capture_path = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
