/* SPDX-License-Identifier: Apache-2.0 */
/* The ports that packets leave from: which they are, which queue pair has which, full sockets. */
#include <errno.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/recovery/selective_repeat.h"
#include "core/wire/frame.h"
#include "device/internal.h"
#include "tests/support/crc.h"
#include "tests/support/entropy.h"
#include "tests/unit/device/pair.h"

#define QPS   24
#define BYTES 30000 /* each writes */

/* A process writes to a file once: each capture has its own. */
static const char *capture_folder;
static char capture_path[4096];

static const char *next_capture(void)
{
    static unsigned number;

    snprintf(capture_path, sizeof(capture_path), "%s/source_ports-%u.pcap", capture_folder,
             ++number);
    return capture_path;
}

static struct oche_address address_of(const char *text)
{
    struct oche_address address;

    assert_true(oche_address_parse(text, &address));
    return address;
}

static void open_ports(struct oche_source_ports *ports, const char *address, unsigned wanted,
                       uint64_t seed)
{
    const struct oche_socket device = {.fd = 77};
    const struct oche_address own = address_of(address);
    struct oche_random random = oche_random_stream(seed, "test", 0);
    struct oche_entropy entropy;

    oche_entropy_init(&entropy, entropy_from, &random);
    oche_source_ports_open(ports, &device, &own, 4791, wanted, &entropy);
}

/* ---- which they are ---- */

/* One for each remainder, in the standard's range, above the ports of other programs. */
static void one_a_remainder(void **state)
{
    static const unsigned counts[] = {2, 3, 7, 8, 16, OCHE_MAX_SOURCE_PORTS};
    struct oche_source_ports ports, more;
    char address[32];

    (void)state;
    loopback_address(address, 1);
    for (unsigned i = 0; i < OCHE_COUNT_OF(counts); i++) {
        open_ports(&ports, address, counts[i], i);
        open_ports(&more, address, counts[i], i); /* the same seed: the ports are taken */
        assert_int_equal(ports.count, counts[i]);
        assert_int_equal(more.count, counts[i]);
        for (uint32_t port = 0xc000; port <= 0xffff; port++) {
            const uint16_t from = ports.ports[oche_source_ports_choose(&ports, (uint16_t)port)];

            assert_in_range(from, 61000, 65535);
            assert_int_equal(from % counts[i], port % counts[i]);
            assert_int_not_equal(more.ports[oche_source_ports_choose(&more, (uint16_t)port)], from);
        }
        oche_source_ports_close(&ports);
        oche_source_ports_close(&more);
    }
}

/* The device's own socket, which is not closed, where one port is wanted or none can be had. */
static void the_device_s_own(void **state)
{
    struct oche_source_ports ports;
    char address[32];

    (void)state;
    loopback_address(address, 1);
    for (unsigned i = 0; i < 2; i++) {
        open_ports(&ports, i == 0 ? address : "198.51.100.77", i == 0 ? 1 : 8, 1);
        assert_int_equal(ports.count, 1);
        assert_false(ports.own);
        for (uint32_t port = 0; port <= 0xffff; port += 5)
            assert_int_equal(oche_source_ports_choose(&ports, (uint16_t)port), 0);
        assert_int_equal(ports.fds[0], 77);
        assert_int_equal(ports.ports[0], 4791);
        oche_source_ports_close(&ports);
    }
}

/* If all ports of a remainder are taken, or no descriptor is left, other ports are used. */
static void fewer(void **state)
{
    struct rlimit before, limit;
    struct oche_source_ports ports;
    struct oche_address own;
    int taken[80], next;
    unsigned count = 0;
    char address[32];

    (void)state;
    own = address_of(loopback_address(address, 1));
    for (unsigned port = 61000; port <= 65535; port++) {
        if (port % 64 != 5)
            continue;
        taken[count] = oche_socket_open_sender(&own);
        assert_true(oche_socket_bind(taken[count++], &own, (uint16_t)port));
    }
    open_ports(&ports, address, 64, 1);
    assert_int_equal(ports.count, 63);
    assert_in_range(oche_source_ports_choose(&ports, 64 * 800 + 5), 0, 62);
    oche_source_ports_close(&ports);
    while (count > 0)
        close(taken[--count]);

    next = dup(0);
    assert_true(next >= 0);
    close(next);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    limit = before;
    limit.rlim_cur = (rlim_t)next + 3; /* three descriptors are left */
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    open_ports(&ports, address, 8, 1);
    assert_int_equal(ports.count, 3);
    for (uint16_t port = 0xc000; port < 0xc100; port++)
        assert_in_range(oche_source_ports_choose(&ports, port), 0, 2);
    oche_source_ports_close(&ports);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
}

static void too_many(void **state)
{
    const struct oche_device_config config = {.address = "127.0.0.1",
                                              .source_ports = OCHE_MAX_SOURCE_PORTS + 1};
    struct oche_error error;

    (void)state;
    assert_null(oche_device_open(&config, &error));
    assert_string_equal(error.text, "127.0.0.1: 65 source ports; 1 to 64 are possible");
}

/* Packets sent to one of them do not enter its buffer, and their sender gets no error. */
static void nothing_comes_in(void **state)
{
    struct oche_source_ports ports;
    struct oche_socket sender;
    struct sockaddr_storage to;
    char address[32], byte;
    struct oche_error error;
    socklen_t bytes;

    (void)state;
    loopback_address(address, 1);
    open_ports(&ports, address, 2, 1);
    const struct oche_address own = address_of(address);
    assert_true(oche_socket_open(&sender, &own, 4791, &(struct oche_socket_options){0}, &error));
    bytes = oche_address_to_socket(&own, ports.ports[0], &to);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(sendto(sender.fd, "x", 1, 0, (struct sockaddr *)&to, bytes), 1);
    assert_int_equal(recv(ports.fds[0], &byte, 1, MSG_DONTWAIT), -1);
    assert_int_equal(errno, EAGAIN);
    oche_socket_close(&sender);
    oche_source_ports_close(&ports);
}

/* ---- which queue pair has which ---- */

struct seen {
    unsigned packets, wrong;
    uint32_t qpn[QPS]; /* of the destination */
    uint16_t port[QPS];
    uint32_t next_psn[QPS];
    unsigned out_of_order, changed, ports;
};

static void note(struct seen *seen, const struct oche_packet *packet)
{
    unsigned i = 0;

    while (i < QPS && seen->qpn[i] != 0 && seen->qpn[i] != packet->dest_qpn)
        i++;
    assert_true(i < QPS);
    if (seen->qpn[i] == 0) {
        seen->qpn[i] = packet->dest_qpn;
        seen->port[i] = packet->udp_source_port;
        seen->next_psn[i] = packet->psn;
        for (unsigned other = 0; other <= i; other++)
            if (seen->port[other] == packet->udp_source_port) {
                seen->ports += other == i;
                break;
            }
    }
    seen->changed += seen->port[i] != packet->udp_source_port;
    seen->out_of_order += seen->next_psn[i] != packet->psn;
    seen->next_psn[i] = (packet->psn + 1) & OCHE_PSN_MASK;
}

/* Returns the packets that the first device (127.x.y.1) has sent. */
static struct seen read_capture(void)
{
    char error[PCAP_ERRBUF_SIZE];
    pcap_t *pcap = pcap_open_offline(capture_path, error);
    struct seen seen = {0};
    struct pcap_pkthdr *header;
    const u_char *bytes;

    if (pcap == NULL)
        fail_msg("%s", error);
    while (pcap_next_ex(pcap, &header, &bytes) == 1) {
        struct oche_packet packet;
        struct oche_frame frame;
        const enum oche_wire_error is =
            oche_decode_ip(bytes, header->caplen, crc_zlib, &packet, &frame);

        seen.packets++;
        seen.wrong += is != OCHE_WIRE_OK;
        if (is == OCHE_WIRE_OK && frame.src_ip[15] == 1)
            note(&seen, &packet);
    }
    pcap_close(pcap);
    unlink(capture_path);
    return seen;
}

/* Many queue pairs write at once; *b's memory is a's then. */
static void write_all(struct pair *pair, struct oche_qp *const qps[QPS])
{
    end_fill(&pair->a, 1);
    end_fill(&pair->b, 0);
    for (unsigned i = 0; i < QPS; i++) {
        const struct oche_send_work work =
            work_between(&pair->a, &pair->b, OCHE_WORK_WRITE, i * BYTES, BYTES);

        assert_int_equal(oche_device_post_send(pair->a.device, qps[i], &work), 0);
    }
}

static void complete_all(struct pair *pair)
{
    for (unsigned i = 0; i < QPS; i++)
        assert_int_equal(pump(pair, &pair->a).status, OCHE_STATUS_SUCCESS);
    assert_memory_equal(pair->a.memory, pair->b.memory, QPS * BYTES);
    pump_quiet(pair);
}

static void open_many(struct pair *pair, uint32_t source_ports, struct oche_qp *qps[QPS])
{
    struct oche_random of_a = oche_random_stream(7, "test", 0),
                       of_b = oche_random_stream(8, "test", 0);
    const struct oche_device_config with = {.entropy = entropy_from,
                                            .entropy_context = &of_a,
                                            .source_ports = source_ports,
                                            .capture = next_capture(),
                                            .strict_ip_id = true},
                                    plain = {.entropy = entropy_from,
                                             .entropy_context = &of_b,
                                             .source_ports = source_ports};
    /* Long enough that no packet is resent, even on a slow machine. */
    const struct oche_qp_connection patient = {.ack_timeout = 60 * OCHE_SEC, .retry_count = 7};

    end_open(&pair->a, &with, NULL, 1);
    end_open(&pair->b, &plain, NULL, 2);
    for (unsigned i = 0; i < QPS; i++) {
        ends_connect(&pair->a, &pair->b, OCHE_TRANSPORT_RC, 1024);
        qps[i] = pair->a.qp;
        oche_device_lock(pair->a.device);
        oche_qp_set_retries(qps[i], &patient);
        oche_device_unlock(pair->a.device);
    }
}

static void many(void **state)
{
    static const uint32_t counts[] = {0, 1, 2, 3, 8, 64};
    static const unsigned least[] = {3, 1, 2, 2, 5, 13}; /* of 24 queue pairs */
    struct oche_device_stats stats;
    struct oche_qp *qps[QPS];
    struct pair pair;
    struct seen seen;

    (void)state;
    for (unsigned i = 0; i < OCHE_COUNT_OF(counts); i++) {
        open_many(&pair, counts[i], qps);
        write_all(&pair, qps);
        complete_all(&pair);
        oche_device_stats(pair.a.device, &stats);
        assert_int_equal(stats.source_ports, counts[i] == 0 ? 4 : counts[i]);
        assert_int_equal(stats.nic.retransmitted_packets, 0);
        pair_close(&pair);
        seen = read_capture();
        assert_int_equal(seen.wrong, 0);
        assert_int_equal(seen.changed, 0);
        assert_int_equal(seen.out_of_order, 0);
        for (unsigned qp = 0; qp < QPS; qp++) {
            if (counts[i] == 1)
                assert_int_equal(seen.port[qp], 4791);
            else
                assert_in_range(seen.port[qp], 61000, 65535);
        }
        assert_in_range(seen.ports, least[i], stats.source_ports);
    }
}

/* ---- full sockets ---- */

/* A socket that is always full, as its peer does not read. */
static int full_socket(int *peer)
{
    int ends[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
    while (send(ends[0], "x", 1, MSG_DONTWAIT) == 1)
        continue;
    assert_int_equal(errno, EAGAIN);
    *peer = ends[1];
    return ends[0];
}

static uint64_t sent_packets(struct oche_device *device)
{
    struct oche_device_stats stats;

    oche_device_stats(device, &stats);
    return stats.sent_packets;
}

/* One socket stays full: after a while it stops no other, and its packets are lost. */
static void one_stays_full(void **state)
{
    struct oche_device_stats stats;
    struct oche_qp *qps[QPS];
    struct oche_device *device;
    struct pair pair;
    int full, peer, kept;
    oche_time begun;
    uint64_t before;

    (void)state;
    open_many(&pair, 3, qps);
    device = pair.a.device;
    full = full_socket(&peer);
    kept = device->source_ports.fds[1];
    device->source_ports.fds[1] = full;
    write_all(&pair, qps);
    begun = oche_device_now(device);
    oche_device_progress(device);
    assert_int_equal(transmit_full(device), 1 << 1);
    while (transmit_full(device) != 0 && oche_device_now(device) < begun + 20 * OCHE_SEC) {
        /* It wakes in time although no packet arrives. */
        oche_device_wait(device, oche_device_events(device), 20 * OCHE_SEC);
        oche_device_progress(device);
    }
    assert_in_range(oche_device_now(device) - begun, 250 * OCHE_MS, 19 * OCHE_SEC);
    oche_device_stats(device, &stats);
    assert_true(stats.send_errors > 0);
    for (unsigned i = 0; i < 3; i++) { /* and from now on at once */
        before = sent_packets(device);
        write_all(&pair, qps);
        oche_device_progress(device);
        assert_int_equal(transmit_full(device), 0);
        assert_true(sent_packets(device) > before);
    }
    assert_int_not_equal(device->transmitter.full_since[1], 0);
    device->source_ports.fds[1] = kept;
    write_all(&pair, qps);
    oche_device_progress(device);
    assert_int_equal(device->transmitter.full_since[1], 0);
    pair_close(&pair);
    close(full);
    close(peer);
}

/* Returns how many packets wait in the device. */
static unsigned waiting_packets(const struct oche_device *device)
{
    const struct transmitter *t = &device->transmitter;
    unsigned count = 0;

    for (unsigned i = 0; i < t->lane_count; i++)
        if (t->lanes[i].unsent < t->lanes[i].datagrams_end)
            count += t->lanes[i].end - t->first_of[t->lanes[i].unsent];
    return count;
}

/* One socket is full: the others' packets leave, its own stay in order, and waiters wake. */
static void one_is_full(void **state)
{
    struct oche_device_stats stats;
    struct oche_qp *qps[QPS];
    struct oche_device *device;
    struct pair pair;
    struct seen seen;
    int full, peer, kept, *fd;
    uint64_t before, waiting, counted = 0;

    (void)state;
    open_many(&pair, 3, qps);
    device = pair.a.device;
    for (unsigned port = 0; port < 3; port++) {
        fd = &device->source_ports.fds[port];
        full = full_socket(&peer);
        kept = *fd;
        *fd = full;
        write_all(&pair, qps);
        before = sent_packets(device);
        assert_int_not_equal(oche_device_progress(device), 0);
        assert_int_equal(transmit_full(device), 1 << port);
        assert_true(sent_packets(device) > before);
        oche_device_stats(device, &stats);
        waiting = stats.send_full;
        before = sent_packets(device);
        for (unsigned i = 0; i < 10; i++) {
            /* With room in the others and none in this one, nothing is to be done. */
            oche_device_wait(device, oche_device_events(device), OCHE_MS);
            oche_device_progress(device);
        }
        assert_int_equal(sent_packets(device), before);
        oche_device_stats(device, &stats);
        /* Packets are counted, once each, and not how often they were tried. */
        assert_int_equal(stats.send_full, waiting);
        assert_int_equal(waiting - counted, waiting_packets(device));
        counted = waiting;
        *fd = kept;
        oche_device_wait(device, oche_device_events(device), OCHE_NEVER); /* there is room now */
        oche_device_progress(device);
        assert_true(sent_packets(device) > before);
        complete_all(&pair);
        close(full);
        close(peer);
    }
    oche_device_stats(device, &stats);
    assert_int_equal(stats.nic.retransmitted_packets, 0);
    pair_close(&pair);
    seen = read_capture();
    assert_int_equal(seen.wrong, 0);
    assert_int_equal(seen.changed, 0);
    assert_int_equal(seen.out_of_order, 0);
}

/* ---- spraying by what ACKs say ---- */

/* Returns what is wrong with a device of these settings; "" if it opens. */
static const char *refused(const struct oche_device_config *config)
{
    static struct oche_error error;
    struct oche_device_config with = *config;
    struct oche_device *device;
    char address[32];

    error.text[0] = '\0';
    with.address = loopback_address(address, 1);
    device = oche_device_open(&with, &error);
    if (device != NULL)
        oche_device_close(device);
    return error.text;
}

static void needs_even_remainders(void **state)
{
    const struct oche_path_scheme *reps = oche_path_scheme(3);
    struct oche_device_config config = {.paths = reps, .any_peer_ports = true};

    (void)state;
    assert_string_equal(oche_path_choices[3], "reps");
    assert_string_equal(refused(&config), "");
    config.source_ports = 6;
    assert_non_null(strstr(refused(&config), "6 source ports; a scheme that learns"));
    config.source_ports = 1;
    assert_non_null(strstr(refused(&config), "1 source ports; a scheme that learns"));
    config.source_ports = 64;
    assert_string_equal(refused(&config), "");
    config.any_peer_ports = false;
    assert_non_null(strstr(refused(&config), "the peer's ports are pinned"));
    config.paths = oche_path_scheme(1); /* oblivious needs neither */
    config.source_ports = 6;
    assert_string_equal(refused(&config), "");
}

/* Reads the capture of the first device: remainders of data's ports, and of ACKs that name one. */
static void read_paths(unsigned ports, uint64_t *data, uint64_t *named)
{
    char error[PCAP_ERRBUF_SIZE];
    pcap_t *pcap = pcap_open_offline(capture_path, error);
    struct pcap_pkthdr *header;
    const u_char *bytes;

    if (pcap == NULL)
        fail_msg("%s", error);
    *data = *named = 0;
    while (pcap_next_ex(pcap, &header, &bytes) == 1) {
        struct oche_packet packet;
        struct oche_frame frame;

        assert_int_equal(oche_decode_ip(bytes, header->caplen, crc_zlib, &packet, &frame),
                         OCHE_WIRE_OK);
        if (frame.src_ip[15] == 1)
            *data |= UINT64_C(1) << packet.udp_source_port % ports;
        else if (packet.bth_reserved & OCHE_BTH_PATH)
            *named |= UINT64_C(1) << packet.udp_source_port % ports;
    }
    pcap_close(pcap);
    unlink(capture_path);
}

/* An ACK leaves from the socket with the remainder of the data that it answers. */
static void acks_name_paths(void **state)
{
    struct oche_device_config config = {.paths = oche_path_scheme(3),
                                        .any_peer_ports = true,
                                        .source_ports = 8,
                                        .recovery = &oche_recovery_selective_repeat};
    uint64_t data, named;
    struct pair pair;

    (void)state;
    end_open(&pair.b, &config, NULL, 2);
    config.capture = next_capture();
    end_open(&pair.a, &config, NULL, 1);
    ends_connect(&pair.a, &pair.b, OCHE_TRANSPORT_RC, 1024);
    pair_be_patient(&pair);
    end_fill(&pair.a, 1);
    for (unsigned i = 0; i < 30; i++) {
        const struct oche_send_work work =
            work_between(&pair.a, &pair.b, OCHE_WORK_WRITE, i * BYTES, BYTES);

        assert_int_equal(oche_device_post_send(pair.a.device, pair.a.qp, &work), 0);
        assert_int_equal(pump(&pair, &pair.a).status, OCHE_STATUS_SUCCESS);
    }
    assert_memory_equal(pair.a.memory, pair.b.memory, 30 * BYTES);
    pair_close(&pair);
    read_paths(8, &data, &named);
    assert_int_equal(data, 0xff);
    assert_true((named & (named - 1)) != 0); /* ACKs name several */
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_a_remainder),
        cmocka_unit_test(the_device_s_own),
        cmocka_unit_test(fewer),
        cmocka_unit_test(too_many),
        cmocka_unit_test(nothing_comes_in),
        cmocka_unit_test(many),
        cmocka_unit_test(one_is_full),
        cmocka_unit_test(one_stays_full),
        cmocka_unit_test(needs_even_remainders),
        cmocka_unit_test(acks_name_paths),
    };

    if (argc != 2)
        return 2;
    capture_folder = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
