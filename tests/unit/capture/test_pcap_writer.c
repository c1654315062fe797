/* SPDX-License-Identifier: Apache-2.0 */
/* The capture writer, read back with libpcap: order, times, bytes, errors. */
#include <pcap/pcap.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "core/wire/bytes.h"
#include "core/wire/cnp.h"
#include "core/wire/extension.h"
#include "core/wire/pfc_frame.h"
#include "sim/capture/pcap_writer.h"
#include "tests/support/crc.h"
#include "tests/support/sample.h"
#include "tests/support/test.h"

static const char *path;

static struct oche_pcap_writer *create(oche_time slack)
{
    struct oche_error error;
    struct oche_pcap_writer *writer = oche_pcap_create(path, slack, &error);

    if (writer == NULL)
        fail_msg("%s", error.text);
    return writer;
}

static void finish(struct oche_pcap_writer *writer)
{
    struct oche_error error;

    if (!oche_pcap_close(writer, &error))
        fail_msg("%s", error.text);
}

static pcap_t *read_back(void)
{
    char error[PCAP_ERRBUF_SIZE];
    pcap_t *pcap = pcap_open_offline_with_tstamp_precision(path, PCAP_TSTAMP_PRECISION_NANO, error);

    if (pcap == NULL)
        fail_msg("%s", error);
    assert_int_equal(pcap_datalink(pcap), DLT_EN10MB);
    return pcap;
}

static const struct oche_frame plain = {.ttl = 64, .ip_flags = OCHE_IP_DF};

/* Records up to `slack` late are sorted by time. Records of one time keep their order. */
static void order(void **state)
{
    struct oche_random random = oche_random_stream(1, "capture order", 0);
    struct oche_pcap_writer *writer = create(5 * OCHE_US);
    struct oche_packet packet = {.opcode = OCHE_RC_ACK};
    struct pcap_pkthdr *header;
    const u_char *bytes;
    int64_t last = -1;
    uint32_t last_psn = 0, read = 0, late = 0;
    oche_time newest = 0;
    pcap_t *pcap;

    (void)state;
    for (packet.psn = 0; packet.psn < 5000; packet.psn++) {
        const oche_time now = packet.psn / 4 * OCHE_US;
        const oche_time when = now + oche_random_below(&random, 6) * OCHE_US;

        late += when < newest;
        newest = when > newest ? when : newest;
        assert_true(oche_pcap_write(writer, &packet, &plain, when));
    }
    assert_true(late > 1000);
    finish(writer);
    pcap = read_back();
    while (pcap_next_ex(pcap, &header, &bytes) == 1) {
        const int64_t ns = (int64_t)header->ts.tv_sec * 1000000000 + header->ts.tv_usec;
        const uint32_t psn = oche_get24(bytes + 14 + 20 + 8 + 9);

        assert_true(ns >= last);
        if (ns == last)
            assert_true(psn > last_psn);
        last = ns;
        last_psn = psn;
        read++;
    }
    assert_int_equal(read, 5000);
    pcap_close(pcap);
}

static void times(void **state)
{
    static const struct {
        oche_time when;
        long seconds, ns;
    } expected[] = {
        {0, 0, 0},
        {1999, 0, 1},
        {999999999999, 0, 999999999},
        {3 * OCHE_SEC + 12345, 3, 12},
        {5000 * OCHE_SEC, 5000, 0},
    };
    struct oche_pcap_writer *writer = create(0);
    struct oche_packet packet = {.opcode = OCHE_RC_ACK};
    struct pcap_pkthdr *header;
    const u_char *bytes;
    pcap_t *pcap;

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(expected); i++)
        assert_true(oche_pcap_write(writer, &packet, &plain, expected[i].when));
    finish(writer);
    pcap = read_back();
    for (size_t i = 0; i < OCHE_COUNT_OF(expected); i++) {
        assert_int_equal(pcap_next_ex(pcap, &header, &bytes), 1);
        assert_int_equal(header->ts.tv_sec, expected[i].seconds);
        assert_int_equal(header->ts.tv_usec, expected[i].ns);
    }
    pcap_close(pcap);
}

/* One's complement sum over the IPv6 pseudo header and UDP. A right checksum gives all ones. */
static uint16_t udp6_sum(const uint8_t *ip)
{
    const uint16_t udp_bytes = oche_get16(ip + 4);
    uint32_t sum = udp_bytes + 17u;

    for (unsigned i = 0; i < 32; i += 2)
        sum += oche_get16(ip + 8 + i);
    for (unsigned i = 0; i < udp_bytes; i += 2)
        sum += oche_get16(ip + 40 + i);
    while (sum >> 16 != 0)
        sum = (sum & 0xffff) + (sum >> 16);
    return (uint16_t)sum;
}

static void frames(void **state)
{
    struct oche_random random = oche_random_stream(2, "capture", 0);
    struct oche_pcap_writer *writer = create(0);
    struct oche_packet sent[2 * OCHE_OPCODES], back;
    struct oche_frame facts[2 * OCHE_OPCODES], back_facts;
    uint8_t payload[512];
    struct pcap_pkthdr *header;
    const u_char *bytes;
    unsigned count = 0;
    pcap_t *pcap;

    (void)state;
    for (unsigned i = 0; i < 2 * OCHE_OPCODES; i++) {
        const uint8_t opcode = (uint8_t)i;

        if (oche_opcode(opcode)->name == NULL)
            continue;
        sent[count] = sample_packet(&random, opcode, payload, sizeof(payload));
        facts[count] = sample_frame(&random, true, i >= OCHE_OPCODES, &sent[count]);
        assert_true(oche_pcap_write(writer, &sent[count], &facts[count], count * OCHE_US));
        count++;
    }
    finish(writer);
    pcap = read_back();
    for (unsigned i = 0; i < count; i++) {
        const size_t frame_bytes = oche_packet_frame_bytes(&sent[i], facts[i].ipv6);

        assert_int_equal(pcap_next_ex(pcap, &header, &bytes), 1);
        assert_int_equal(header->caplen, frame_bytes - OCHE_FCS_BYTES);
        assert_int_equal(header->len, header->caplen);
        assert_int_equal(oche_decode_ethernet(bytes, header->caplen, crc_isal, &back, &back_facts),
                         OCHE_WIRE_OK);
        assert_int_equal(back.opcode, sent[i].opcode);
        assert_int_equal(back.psn, sent[i].psn);
        assert_memory_equal(back_facts.src_mac, facts[i].src_mac, 6);
        assert_memory_equal(back_facts.dst_ip, facts[i].dst_ip, 16);
        if (facts[i].ipv6)
            assert_int_equal(udp6_sum(bytes + 14), 0xffff);
        else
            assert_int_equal(back_facts.udp_checksum, 0);
    }
    assert_int_equal(pcap_next_ex(pcap, &header, &bytes), PCAP_ERROR_BREAK);
    pcap_close(pcap);
}

static void pfc(void **state)
{
    struct oche_pcap_writer *writer = create(0);
    struct oche_packet pause = {.kind = OCHE_PACKET_PFC}, back;
    struct oche_frame frame = {.src_mac = {2, 0, 0, 0, 0, 7}};
    struct pcap_pkthdr *header;
    const u_char *bytes;
    uint8_t mac[6];
    pcap_t *pcap;

    (void)state;
    oche_pfc_set(&pause, 3, 1234);
    assert_true(oche_pcap_write(writer, &pause, &frame, 0));
    finish(writer);
    pcap = read_back();
    assert_int_equal(pcap_next_ex(pcap, &header, &bytes), 1);
    assert_int_equal(header->caplen, 60);
    assert_true(oche_pfc_decode(bytes, header->caplen, &back, mac));
    assert_memory_equal(mac, frame.src_mac, 6);
    assert_int_equal(back.pfc.quanta[3], 1234);
    assert_int_equal(back.pfc.classes, 8);
    pcap_close(pcap);
}

static void no_bytes(void **state)
{
    struct oche_pcap_writer *writer = create(0);
    struct oche_packet packet = {.kind = OCHE_PACKET_TCP};
    struct pcap_pkthdr *header;
    const u_char *bytes;
    pcap_t *pcap;

    (void)state;
    assert_false(oche_pcap_write(writer, &packet, &plain, 0));
    packet.kind = OCHE_PACKET_ROCE;
    packet.opcode = 0x1f;
    assert_false(oche_pcap_write(writer, &packet, &plain, 0));
    finish(writer);
    pcap = read_back();
    assert_int_equal(pcap_next_ex(pcap, &header, &bytes), PCAP_ERROR_BREAK);
    pcap_close(pcap);
}

static void troubles(void **state)
{
    struct oche_pcap_writer *writer;
    struct oche_error error = {""};
    struct stat status;
    char link[300];

    (void)state;
    assert_null(oche_pcap_create("/nonexistent/x.pcap", 0, &error));
    assert_non_null(strstr(error.text, "/nonexistent/x.pcap"));
    snprintf(link, sizeof(link), "%s.link", path);
    assert_int_equal(symlink("/nonexistent-target", link), 0);
    /* the link is replaced; the file behind it is not written */
    writer = oche_pcap_create(link, 0, &error);
    assert_non_null(writer);
    finish(writer);
    assert_int_equal(lstat(link, &status), 0);
    assert_true(S_ISREG(status.st_mode));
    assert_int_not_equal(access("/nonexistent-target", F_OK), 0);
    assert_int_equal(unlink(link), 0);
    /*
     * Neither a folder nor a device is replaced. Only root can make a device node;
     * for other users mknod fails.
     */
    assert_null(oche_pcap_create("/", 0, &error));
    if (mknod(link, S_IFCHR | 0600, makedev(1, 3)) == 0) {
        assert_null(oche_pcap_create(link, 0, &error));
        assert_int_equal(lstat(link, &status), 0);
        assert_true(S_ISCHR(status.st_mode));
        assert_int_equal(unlink(link), 0);
    }
}

/* One packet is written at close. Many fail earlier, and close must still give the reason. */
static void no_space(void **state)
{
    struct oche_packet packet = {.opcode = OCHE_RC_ACK};
    struct oche_error error = {""};
    struct rlimit own, little;

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &own), 0);
    little = own;
    little.rlim_cur = 10;
    signal(SIGXFSZ, SIG_IGN);
    for (unsigned packets = 1; packets <= 1000; packets += 999) {
        struct oche_pcap_writer *writer = oche_pcap_create(path, 0, &error);

        assert_non_null(writer);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
        for (unsigned i = 0; i < packets; i++)
            assert_true(oche_pcap_write(writer, &packet, &plain, i));
        error.text[0] = '\0';
        assert_false(oche_pcap_close(writer, &error));
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &own), 0);
        assert_non_null(strstr(error.text, ": not written whole: File too large"));
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order),    cmocka_unit_test(times),    cmocka_unit_test(frames),
        cmocka_unit_test(pfc),      cmocka_unit_test(no_bytes), cmocka_unit_test(troubles),
        cmocka_unit_test(no_space),
    };
    int failed;

    path = argc > 1 ? argv[1] : "pcap_writer.pcap";
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
