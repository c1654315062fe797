/* SPDX-License-Identifier: Apache-2.0 */
/* From packets to the judges' trace: which answers belong to which data, and what was lost. */
#include <stdio.h>
#include <string.h>

#include "core/wire/aeth.h"
#include "core/wire/opcode.h"
#include "lab/check_nic/watch.h"
#include "tests/support/test.h"

#define MESSAGE 4 /* packets */
#define MTU     1024

static struct oche_nic_watch *watch;
static struct oche_watched watched;
static uint64_t number;

static void begin(const struct oche_packet_event *events, uint32_t count,
                  enum oche_watch_place place)
{
    const struct oche_watch_config config = {.events = events,
                                             .event_count = count,
                                             .place = place,
                                             .mtu_bytes = MTU,
                                             .message_packets = MESSAGE};

    watch = oche_nic_watch_create(&config);
    number = 0;
}

static void see(const struct oche_packet *packet, enum oche_seen_event event)
{
    number++;
    oche_nic_watch_see(watch, packet, number * OCHE_US, number, event);
}

/* A packet of host 0, the sender, to queue pair 100 + `connection` of host 1. */
static struct oche_packet data(uint32_t connection, uint32_t psn, uint32_t first)
{
    return (struct oche_packet){
        .kind = OCHE_PACKET_ROCE,
        .opcode = (psn - first) % MESSAGE == 0 ? OCHE_RC_WRITE_FIRST : OCHE_RC_WRITE_MIDDLE,
        .src = 0,
        .dst = 1,
        .dest_qpn = 100 + connection,
        .psn = psn & OCHE_PSN_MASK,
    };
}

/* An answer to queue pair 200 + `connection` of host 0. */
static struct oche_packet answer(uint32_t connection, uint32_t psn, uint8_t syndrome)
{
    return (struct oche_packet){
        .kind = OCHE_PACKET_ROCE,
        .opcode = OCHE_RC_ACK,
        .src = 1,
        .dst = 0,
        .dest_qpn = 200 + connection,
        .psn = psn & OCHE_PSN_MASK,
        .aeth = oche_aeth(syndrome, 0),
    };
}

static void sees_data(uint32_t psn)
{
    const struct oche_packet packet = data(0, psn, 0);

    see(&packet, OCHE_SEEN_PASSED);
}

static void sees_answer(uint32_t psn, uint8_t syndrome)
{
    const struct oche_packet packet = answer(0, psn, syndrome);

    see(&packet, OCHE_SEEN_PASSED);
}

/* Compares the trace with words such as "d0 d1x n1": data, and what was lost; NACK, ACK, CNP. */
static void must_be(const char *words)
{
    static const char kinds[] = {[OCHE_SEEN_DATA] = 'd',
                                 [OCHE_SEEN_READ_REQUEST] = 'r',
                                 [OCHE_SEEN_ACK] = 'a',
                                 [OCHE_SEEN_NAK] = 'n',
                                 [OCHE_SEEN_CNP] = 'c'};
    static const char *const ends[] = {"", "x", "m", "b"};
    char text[512] = "";

    watched = oche_nic_watch_finish(watch);
    for (size_t i = 0; i < watched.trace.count; i++) {
        const struct oche_seen_packet *packet = &watched.trace.packets[i];
        const size_t used = strlen(text);

        snprintf(text + used, sizeof(text) - used, "%s%c%u%s", i > 0 ? " " : "",
                 kinds[packet->kind], packet->psn, ends[packet->event]);
    }
    assert_string_equal(text, words);
    assert_int_equal(watched.events_seen, watched.events);
    oche_nic_watch_free(watch);
}

#define EVENTS(...)                                                                                \
    (const struct oche_packet_event[])                                                             \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#define DROP(number, pass)                                                                         \
    {                                                                                              \
        .psn = (number), .type = OCHE_PACKET_EVENT_DROP, .iter = (pass)                            \
    }

/* What the sender's capture has. */
static void before(void **state)
{
    (void)state;
    begin(EVENTS(DROP(1, 1), {.psn = 2, .type = OCHE_PACKET_EVENT_ECN, .iter = 2}), 2,
          OCHE_WATCH_BEFORE);
    for (uint32_t psn = 0; psn < 4; psn++)
        sees_data(psn);
    sees_answer(1, OCHE_SYNDROME_NAK_SEQUENCE);
    for (uint32_t psn = 1; psn < 4; psn++)
        sees_data(psn);
    sees_answer(3, OCHE_SYNDROME_ACK);
    must_be("d0 d1x d2 d3 n1 d1 d2m d3 a3");
}

/* What a receiver's capture has: the lost packets are put in where the script says. */
static void behind(void **state)
{
    (void)state;
    begin(EVENTS(DROP(1, 1)), 1, OCHE_WATCH_BEHIND); /* in the middle */
    sees_data(0);
    sees_data(2);
    sees_data(3);
    sees_answer(1, OCHE_SYNDROME_NAK_SEQUENCE);
    for (uint32_t psn = 1; psn < 4; psn++)
        sees_data(psn);
    must_be("d0 d1x d2 d3 n1 d1 d2 d3");
    begin(EVENTS(DROP(1, 1), DROP(1, 2)), 2, OCHE_WATCH_BEHIND); /* again, after the NACK */
    sees_data(0);
    sees_data(2);
    sees_data(3);
    sees_answer(1, OCHE_SYNDROME_NAK_SEQUENCE);
    sees_data(2);
    sees_data(3);
    for (uint32_t psn = 1; psn < 4; psn++)
        sees_data(psn); /* after a timeout */
    must_be("d0 d1x d2 d3 n1 d1x d2 d3 d1 d2 d3");
    begin(EVENTS(DROP(3, 1), DROP(3, 2)), 2, OCHE_WATCH_BEHIND); /* the last one, twice */
    for (uint32_t psn = 0; psn < 3; psn++)
        sees_data(psn);
    sees_answer(2, OCHE_SYNDROME_ACK);
    sees_data(3);
    must_be("d0 d1 d2 a2 d3x d3x d3");
    begin(EVENTS(DROP(3, 1)), 1, OCHE_WATCH_BEHIND); /* the last one, and all are sent again */
    for (uint32_t psn = 0; psn < 3; psn++)
        sees_data(psn);
    for (uint32_t psn = 0; psn < 4; psn++)
        sees_data(psn);
    must_be("d0 d1 d2 d3x d0 d1 d2 d3");
    begin(EVENTS(DROP(4, 1)), 1, OCHE_WATCH_BEHIND); /* a message's first one */
    for (uint32_t psn = 0; psn < 8; psn++)
        if (psn != 4)
            sees_data(psn);
    must_be("d0 d1 d2 d3 d4x d5 d6 d7");
    begin(EVENTS(DROP(0, 1)), 1, OCHE_WATCH_BEHIND); /* the stream's first one */
    for (uint32_t psn = 1; psn < 4; psn++)
        sees_data(psn);
    sees_answer(0, OCHE_SYNDROME_NAK_SEQUENCE);
    for (uint32_t psn = 0; psn < 4; psn++)
        sees_data(psn);
    must_be("d0x d1 d2 d3 n0 d0 d1 d2 d3");
}

/* A caller that says what happened, and the script that says something else. */
static void told(void **state)
{
    const struct oche_packet packet = data(0, 1, 0);

    (void)state;
    begin(EVENTS(DROP(1, 1)), 1, OCHE_WATCH_TOLD);
    sees_data(0);
    see(&packet, OCHE_SEEN_DROPPED);
    must_be("d0 d1x");
    assert_int_equal(watched.contradicted, 0);
    begin(EVENTS(DROP(1, 1)), 1, OCHE_WATCH_TOLD);
    sees_data(0);
    see(&packet, OCHE_SEEN_MARKED);
    must_be("d0 d1m");
    assert_int_equal(watched.contradicted, 1);
}

/* Returns the stream to which the last answer belongs. */
static uint32_t last_stream(void)
{
    watched = oche_nic_watch_finish(watch);
    assert_true(watched.trace.count > 0);
    return watched.trace.packets[watched.trace.count - 1].stream;
}

static void answers_by_psn(void **state)
{
    struct oche_packet packet;

    (void)state;
    begin(NULL, 0, OCHE_WATCH_BEFORE);
    for (uint32_t connection = 0; connection < 3; connection++) {
        packet = data(connection, OCHE_PSN_MASK + connection * 1000, 0); /* the first one wraps */
        see(&packet, OCHE_SEEN_PASSED);
    }
    packet = answer(7, OCHE_PSN_MASK + 2000, OCHE_SYNDROME_ACK);
    see(&packet, OCHE_SEEN_PASSED);
    assert_int_equal(last_stream(), 2);
    oche_nic_watch_free(watch);
}

static void answers_by_port(void **state)
{
    struct oche_packet packet;

    (void)state;
    begin(NULL, 0, OCHE_WATCH_BEFORE);
    for (uint32_t connection = 0; connection < 3; connection++) {
        packet = data(connection, 0, 0);
        packet.udp_source_port = (uint16_t)(0xc000 + connection);
        see(&packet, OCHE_SEEN_PASSED);
    }
    packet = answer(7, 0, OCHE_SYNDROME_ACK);
    packet.udp_source_port = 0xc001;
    see(&packet, OCHE_SEEN_PASSED);
    packet = (struct oche_packet){.kind = OCHE_PACKET_ROCE, .opcode = OCHE_CNP, .src = 1};
    packet.dest_qpn = 207;
    see(&packet, OCHE_SEEN_PASSED); /* to the same queue pair */
    assert_int_equal(last_stream(), 1);
    oche_nic_watch_free(watch);
}

static void strangers(void **state)
{
    struct oche_packet packet = data(0, 5, 0);

    (void)state;
    begin(NULL, 0, OCHE_WATCH_BEFORE);
    see(&packet, OCHE_SEEN_PASSED);
    packet = answer(1, 40, OCHE_SYNDROME_ACK); /* a wrong PSN, of data that was seen */
    see(&packet, OCHE_SEEN_PASSED);
    packet = answer(3, 90000, OCHE_SYNDROME_ACK); /* of data that was not seen */
    see(&packet, OCHE_SEEN_PASSED);
    packet = answer(2, 5, OCHE_SYNDROME_NAK_REMOTE_ACCESS); /* judged by nobody */
    see(&packet, OCHE_SEEN_PASSED);
    packet.kind = OCHE_PACKET_PFC;
    see(&packet, OCHE_SEEN_PASSED);
    watched = oche_nic_watch_finish(watch);
    assert_int_equal(watched.trace.count, 2);
    assert_int_equal(watched.strangers, 1);
    oche_nic_watch_free(watch);
    begin(NULL, 0, OCHE_WATCH_BEFORE);
    for (uint32_t i = 0; i < 5000; i++) { /* more queue pairs than there is room for */
        packet = data(i, 0, 0);
        see(&packet, OCHE_SEEN_PASSED);
    }
    watched = oche_nic_watch_finish(watch);
    assert_int_equal(watched.trace.count + watched.strangers, 5000);
    assert_int_equal(watched.trace.stream_count, 4096);
    oche_nic_watch_free(watch);
}

/* READ requests travel against their data, and say how many packets they ask for. */
static void reads(void **state)
{
    struct oche_packet packet = {.kind = OCHE_PACKET_ROCE,
                                 .opcode = OCHE_RC_READ_REQUEST,
                                 .src = 0,
                                 .dst = 1,
                                 .dest_qpn = 100,
                                 .psn = 7,
                                 .ext = OCHE_EXT_RETH};

    (void)state;
    begin(NULL, 0, OCHE_WATCH_BEFORE);
    packet.reth.dma_length = 3 * MTU + 1;
    see(&packet, OCHE_SEEN_PASSED);
    packet = (struct oche_packet){.kind = OCHE_PACKET_ROCE,
                                  .opcode = OCHE_RC_READ_RESPONSE_FIRST,
                                  .src = 1,
                                  .dst = 0,
                                  .dest_qpn = 200,
                                  .psn = 7};
    see(&packet, OCHE_SEEN_PASSED);
    watched = oche_nic_watch_finish(watch);
    assert_int_equal(watched.trace.count, 2);
    assert_int_equal(watched.trace.packets[0].span, 4);
    assert_true(watched.trace.streams[0].responses);
    assert_int_equal(watched.strangers, 0);
    oche_nic_watch_free(watch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(before),
        cmocka_unit_test(behind),
        cmocka_unit_test(told),
        cmocka_unit_test(answers_by_psn),
        cmocka_unit_test(answers_by_port),
        cmocka_unit_test(strangers),
        cmocka_unit_test(reads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
