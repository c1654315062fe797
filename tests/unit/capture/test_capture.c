/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tap on a network of two hosts and a switch: the addresses, TTLs and times of frames, on both
 * sides of a link. Records that are reported early are written in order.
 */
#include <pcap/pcap.h>
#include <string.h>
#include <unistd.h>

#include "sim/capture/capture.h"
#include "core/wire/codec.h"
#include "core/wire/pfc_frame.h"
#include "tests/support/crc.h"
#include "tests/support/test.h"

#define SWITCH 2 /* nodes: hosts 0 and 1, then the switch */

static const char *path;
static struct oche_error error;

struct seen {
    long ns;
    uint32_t count;
    uint8_t bytes[256];
};

static void build(struct oche_network *network)
{
    static const uint32_t degree[] = {1, 1, 2};

    assert_true(oche_network_init(network, 2, 1, degree, 1));
    oche_network_link(network, 0, 0, SWITCH, 0, 100 * OCHE_GBPS, OCHE_US);
    oche_network_link(network, 1, 0, SWITCH, 1, 100 * OCHE_GBPS, OCHE_US);
    network->extras[network->nodes[0].first_port].tap = true;
    network->extras[network->nodes[1].first_port].tap = true;
}

static struct oche_capture *begin(const struct oche_network *network)
{
    struct oche_capture *capture = oche_capture_create(path, &error);

    if (capture == NULL)
        fail_msg("%s", error.text);
    oche_capture_attach(capture, network);
    return capture;
}

static unsigned read_all(struct seen *seen, unsigned most)
{
    struct pcap_pkthdr *header;
    const u_char *bytes;
    unsigned count = 0;
    pcap_t *pcap =
        pcap_open_offline_with_tstamp_precision(path, PCAP_TSTAMP_PRECISION_NANO, error.text);

    if (pcap == NULL)
        fail_msg("%s", error.text);
    while (pcap_next_ex(pcap, &header, &bytes) == 1) {
        assert_true(count < most && header->caplen <= sizeof(seen->bytes));
        seen[count].ns = header->ts.tv_sec * 1000000000 + header->ts.tv_usec;
        seen[count].count = header->caplen;
        memcpy(seen[count++].bytes, bytes, header->caplen);
    }
    pcap_close(pcap);
    return count;
}

static void check_frame(const struct seen *seen, long ns, uint8_t from, uint8_t to, uint8_t ttl)
{
    const uint8_t dst_mac[6] = {2, 0, 10, 0, 0, to}, src_mac[6] = {2, 0, 10, 0, 0, from};
    struct oche_packet packet;
    struct oche_frame frame;

    assert_int_equal(oche_decode_ethernet(seen->bytes, seen->count, crc_zlib, &packet, &frame),
                     OCHE_WIRE_OK);
    assert_int_equal(seen->ns, ns);
    assert_memory_equal(frame.dst_mac, dst_mac, 6);
    assert_memory_equal(frame.src_mac, src_mac, 6);
    assert_int_equal(frame.ttl, ttl);
    assert_int_equal(frame.src_ip[15], 1); /* host 0 is 10.0.0.1 on the whole path */
    assert_int_equal(frame.dst_ip[15], 2);
    assert_int_equal(packet.psn, 9);
}

static void both_ends(void **state)
{
    struct oche_packet packet = {.opcode = OCHE_RC_SEND_ONLY, .src = 0, .dst = 1, .psn = 9};
    struct oche_network network = {0};
    struct oche_capture *capture;
    struct seen seen[3];

    (void)state;
    build(&network);
    capture = begin(&network);
    oche_capture_tap(capture, network.nodes[0].first_port, &packet, 5 * OCHE_US, true);
    packet.hops = 1;
    oche_capture_tap(capture, network.nodes[1].first_port, &packet, 8 * OCHE_US, false);
    assert_int_equal(oche_capture_frames(capture), 2);
    assert_true(oche_capture_finish(capture, &error));
    assert_int_equal(read_all(seen, 3), 2);
    check_frame(&seen[0], 5000, 1, 3, 64); /* node n has MAC …:n+1 */
    check_frame(&seen[1], 8000, 3, 2, 63);
    oche_network_free(&network);
}

static void order_and_pauses(void **state)
{
    struct oche_packet packet = {.opcode = OCHE_RC_SEND_ONLY, .src = 0, .dst = 1};
    struct oche_packet pause = {.kind = OCHE_PACKET_PFC}, other = {.kind = OCHE_PACKET_TCP};
    const uint8_t switch_mac[6] = {2, 0, 10, 0, 0, 3};
    struct oche_network network = {0};
    struct oche_capture *capture;
    struct oche_packet back;
    struct seen seen[4];
    uint8_t mac[6];

    (void)state;
    build(&network);
    network.ipv6 = true;
    capture = begin(&network);
    oche_pfc_set(&pause, 3, 77);
    /* Reported at 5 us for an arrival at 6.0 us. Before that, host 0 sends at 5.5 us. */
    oche_capture_tap(capture, network.nodes[0].first_port, &pause, 6 * OCHE_US, false);
    oche_capture_tap(capture, network.nodes[0].first_port, &packet, 5500 * OCHE_NS, true);
    oche_capture_tap(capture, network.nodes[0].first_port, &other, 5600 * OCHE_NS, true);
    assert_int_equal(oche_capture_frames(capture), 2);
    assert_int_equal(oche_capture_skipped(capture), 1);
    assert_true(oche_capture_finish(capture, &error));
    assert_int_equal(read_all(seen, 4), 2);
    assert_int_equal(seen[0].ns, 5500);
    assert_int_equal(seen[0].bytes[12], 0x86); /* IPv6 */
    assert_int_equal(seen[1].ns, 6000);
    assert_true(oche_pfc_decode(seen[1].bytes, seen[1].count, &back, mac));
    assert_memory_equal(mac, switch_mac, 6);
    oche_network_free(&network);
}

static void trouble(void **state)
{
    (void)state;
    assert_null(oche_capture_create("/nonexistent/x.pcap", &error));
    assert_non_null(strstr(error.text, "/nonexistent/x.pcap"));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_ends),
        cmocka_unit_test(order_and_pauses),
        cmocka_unit_test(trouble),
    };
    int failed;

    path = argc > 1 ? argv[1] : "capture.pcap";
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
