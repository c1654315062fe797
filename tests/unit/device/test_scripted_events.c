/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scripted events at a device's receive side: each type, for WRITEs and READs, over a connection
 * whose 20 packets share datagrams. A timeout is a minute, so that each pass is one that a NAK
 * began; or a second, where no NAK tells of a loss.
 */
#include <string.h>

#include "core/wire/bytes.h"
#include "core/wire/icrc.h"
#include "device/internal.h"
#include "device/link/event_text.h"
#include "device/path/crc.h"
#include "tests/support/losing.h"
#include "tests/unit/device/pair.h"

#define MESSAGE 20480 /* 20 packets */

/* Opens two devices, `b` with these events, and connects them. */
static void open_with(struct pair *pair, const char *events, const char *recovery,
                      const struct oche_link_plan *links)
{
    static struct oche_packet_event list[OCHE_MOST_PACKET_EVENTS];
    static const struct oche_qp_connection patient = {
        .ack_timeout = 60 * OCHE_SEC, .retry_count = 7, .rnr_retry = 7, .min_rnr_timer = 1};
    struct oche_device_config config = {.recovery = oche_recovery_find(recovery), .seed = 1};
    struct oche_error error;

    end_open(&pair->a, &config, NULL, 1);
    config.events = list;
    config.links = links;
    if (!oche_event_text_read(events, list, &config.event_count, &error))
        fail_msg("%s", error.text);
    end_open(&pair->b, &config, NULL, 2);
    memset(list, 0xff, sizeof(list)); /* the device has copied it */
    ends_connect(&pair->a, &pair->b, OCHE_TRANSPORT_RC, 1024);
    oche_qp_set_retries(pair->a.qp, &patient);
    oche_qp_set_retries(pair->b.qp, &patient);
}

/* Moves one message into `b`'s memory, by a's WRITE or b's READ, and compares. */
static void move(struct pair *pair, uint8_t opcode, uint32_t bytes)
{
    struct end *posts = opcode == OCHE_WORK_READ ? &pair->b : &pair->a;
    struct end *other = opcode == OCHE_WORK_READ ? &pair->a : &pair->b;
    const struct oche_send_work work = work_between(posts, other, opcode, 0, bytes);
    static unsigned seed;

    end_fill(&pair->a, ++seed);
    assert_int_equal(oche_device_post_send(posts->device, posts->qp, &work), 0);
    assert_int_equal(pump(pair, posts).status, OCHE_STATUS_SUCCESS);
    assert_memory_equal(pair->a.memory, pair->b.memory, bytes);
}

static struct oche_packet_event_counts counts_of(struct pair *pair)
{
    struct oche_packet_event_counts counts;
    struct oche_packet_event first;

    assert_true(oche_device_event_counts_now(pair->b.device, &counts, &first));
    assert_false(oche_device_event_counts_now(pair->a.device, &counts, &first));
    oche_device_event_counts_now(pair->b.device, &counts, &first);
    return counts;
}

static struct oche_device_stats stats_of(struct end *end)
{
    struct oche_device_stats stats;

    oche_device_stats(end->device, &stats);
    return stats;
}

/* Two packets are lost, the second one in the second pass, of which a NAK tells again. */
static void drops(void **state)
{
    struct oche_device_stats at_a, at_b;
    struct pair pair;

    (void)state;
    open_with(&pair, "0:5:1:drop,0:7:2:drop,0:30:1:drop,1:0:1:drop", "go_back_n", NULL);
    move(&pair, OCHE_WORK_WRITE, MESSAGE);
    at_a = stats_of(&pair.a);
    at_b = stats_of(&pair.b);
    assert_int_equal(at_b.dropped_received, 2);
    assert_true(at_b.nic.naks_sent >= 2);
    assert_true(at_a.nic.retransmitted_packets >= 15 + 13);
    assert_int_equal(at_b.nic.duplicate_packets, 0);
    assert_int_equal(counts_of(&pair).by_type[OCHE_PACKET_EVENT_DROP], 2);
    assert_int_equal(counts_of(&pair).never, 2);
    move(&pair, OCHE_WORK_WRITE, MESSAGE); /* PSNs 20 … 39 */
    assert_int_equal(stats_of(&pair.b).dropped_received, 3);
    assert_int_equal(counts_of(&pair).never, 1);
    assert_int_equal(counts_of(&pair).first_left, 3);
    pair_close(&pair);
}

static void bit_error(void **state)
{
    struct oche_device_stats at_b;
    struct pair pair;

    (void)state;
    open_with(&pair, "0:0:1:bit-error,0:19:2:bit-error", "go_back_n", NULL);
    pair_be_patient(&pair);
    move(&pair, OCHE_WORK_WRITE, MESSAGE);
    at_b = stats_of(&pair.b);
    assert_int_equal(at_b.wrong[OCHE_WIRE_ICRC], 2);
    assert_int_equal(at_b.dropped_received, 0);
    assert_int_equal(counts_of(&pair).by_type[OCHE_PACKET_EVENT_BIT_ERROR], 2);
    pair_close(&pair);
}

/* No other identification of the IP header explains the inverted bit, whatever the length. */
static void bit_is_found(void **state)
{
    static uint8_t bytes[OCHE_MAX_HEADER_BYTES + 4096];
    struct oche_pseudo pseudo;
    uint8_t header[OCHE_IPV4_BYTES + OCHE_UDP_BYTES] = {0x45};
    uint16_t change;

    (void)state;
    header[9] = 17;
    oche_pseudo_from_bytes(&pseudo, header);
    for (uint32_t count = OCHE_BTH_BYTES; count <= sizeof(bytes); count += 4) {
        const struct oche_span body = {.bytes = bytes, .count = count};
        uint32_t right, wrong;

        right = oche_icrc(oche_crc_zlib, &pseudo, &body, 1);
        bytes[count - 1] ^= 1;
        wrong = oche_icrc(oche_crc_zlib, &pseudo, &body, 1);
        bytes[count - 1] ^= 1;
        if (oche_ip_id_solve(right ^ wrong, OCHE_IPV4_BYTES - 6 + OCHE_UDP_BYTES + count, &change))
            fail_msg("%u bytes: an identification explains it", count);
    }
}

static void mark_and_duplicate(void **state)
{
    struct oche_device_stats at_b;
    struct pair pair;

    (void)state;
    open_with(&pair, "0:3:1:ecn,0:4:1:duplicate,0:19:1:duplicate", "go_back_n", NULL);
    move(&pair, OCHE_WORK_WRITE, MESSAGE);
    pump_quiet(&pair);
    at_b = stats_of(&pair.b);
    assert_int_equal(at_b.nic.ce_received, 1);
    assert_int_equal(at_b.nic.duplicate_packets, 2);
    assert_int_equal(at_b.received_packets, 22);
    assert_int_equal(stats_of(&pair.a).nic.retransmitted_packets, 0);
    pair_close(&pair);
}

/* Three packets overtake one, and wait behind the gap. */
static void reordered(void **state)
{
    struct oche_device_stats at_b;
    struct pair pair;

    (void)state;
    open_with(&pair, "0:5:1:reorder=3,0:19:1:reorder=2", "go_back_n", NULL);
    pair_be_patient(&pair);
    move(&pair, OCHE_WORK_WRITE, MESSAGE);
    at_b = stats_of(&pair.b);
    assert_true(at_b.nic.out_of_order_packets >= 3);
    assert_true(stats_of(&pair.a).nic.retransmitted_packets > 0);
    assert_int_equal(counts_of(&pair).by_type[OCHE_PACKET_EVENT_REORDER], 2);
    pair_close(&pair);
    open_with(&pair, "0:6:1:reorder=3", "selective_repeat", NULL);
    move(&pair, OCHE_WORK_WRITE, 1000); /* shows a and b each other's extensions */
    move(&pair, OCHE_WORK_WRITE, MESSAGE);
    at_b = stats_of(&pair.b);
    assert_int_equal(at_b.nic.placed_packets, 3);
    assert_int_equal(counts_of(&pair).kept, 0);
    pair_close(&pair);
}

static void delayed(void **state)
{
    oche_time before;
    struct pair pair;

    (void)state;
    open_with(&pair, "0:0:1:delay=30ms,0:1:1:delay=1ps", "go_back_n", NULL);
    before = oche_device_now(pair.b.device);
    move(&pair, OCHE_WORK_WRITE, 1000);
    assert_true(oche_device_now(pair.b.device) - before >= 30 * OCHE_MS);
    move(&pair, OCHE_WORK_WRITE, 1000);
    assert_int_equal(counts_of(&pair).by_type[OCHE_PACKET_EVENT_DELAY], 2);
    assert_int_equal(stats_of(&pair.a).nic.retransmitted_packets, 0);
    pair_close(&pair);
}

/* READ responses are a stream of their own. */
static void read_responses(void **state)
{
    struct oche_device_stats at_b;
    struct pair pair;

    (void)state;
    open_with(&pair, "0:2:1:drop,0:2:2:bit-error,0:9:1:ecn,1:1:1:duplicate", "go_back_n", NULL);
    pair_be_patient(&pair); /* nothing but a timeout tells of the second loss */
    move(&pair, OCHE_WORK_READ, MESSAGE);
    move(&pair, OCHE_WORK_WRITE, MESSAGE);
    pump_quiet(&pair);
    at_b = stats_of(&pair.b);
    assert_int_equal(at_b.dropped_received, 1);
    assert_int_equal(at_b.wrong[OCHE_WIRE_ICRC], 1);
    assert_true(at_b.nic.duplicate_packets >= 1);
    assert_int_equal(counts_of(&pair).never, 0);
    pair_close(&pair);
}

/* Behind a link that delays all packets: these come one by one. */
static void behind_a_link(void **state)
{
    static struct oche_link_plan plan;
    struct oche_error error;
    struct pair pair;

    (void)state;
    plan = (struct oche_link_plan){.rule_count = 0};
    assert_true(oche_link_plan_add(&plan, OCHE_LINK_IN, "delay=1ms", &error));
    open_with(&pair, "0:5:1:drop,0:7:1:reorder=2,0:8:2:bit-error", "go_back_n", &plan);
    move(&pair, OCHE_WORK_WRITE, MESSAGE);
    assert_int_equal(stats_of(&pair.b).dropped_received, 1);
    assert_int_equal(stats_of(&pair.b).wrong[OCHE_WIRE_ICRC], 1);
    assert_int_equal(counts_of(&pair).never, 0);
    pair_close(&pair);
}

/* A host that b's queue pair is not connected to sends it data: it begins no stream. */
static void strangers(void **state)
{
    const struct oche_device_config config = {.seed = 2};
    struct oche_qp_config stranger = {.mtu_bytes = 1024, .send_depth = 4, .recv_depth = 4};
    struct oche_qp_connection connection = {
        .window_packets = 16, .ack_timeout = 60 * OCHE_SEC, .retry_count = 7};
    struct oche_send_work work;
    struct pair pair;
    struct end c;

    (void)state;
    open_with(&pair, "0:1:1:drop", "go_back_n", NULL);
    end_open(&c, &config, NULL, 3);
    stranger.send_cq = stranger.recv_cq = c.cq;
    c.qp = oche_device_create_qp(c.device, &stranger);
    assert_non_null(c.qp);
    connection.remote_address = oche_device_peer(c.device, pair.b.address);
    connection.remote_qpn = oche_qp_number(pair.b.qp);
    assert_true(oche_device_connect(c.device, c.qp, &connection));
    assert_int_not_equal(oche_device_peer(pair.b.device, c.address), UINT32_MAX); /* known to b */
    work = work_between(&c, &pair.b, OCHE_WORK_WRITE, 0, 100);
    assert_int_equal(oche_device_post_send(c.device, c.qp, &work), 0);
    while (stats_of(&pair.b).received_packets == 0) {
        oche_device_progress(c.device);
        oche_device_progress(pair.b.device);
    }
    move(&pair, OCHE_WORK_WRITE, MESSAGE);
    assert_int_equal(counts_of(&pair).never, 0);
    assert_true(stats_of(&pair.b).nic.rejected_packets >= 1);
    end_close(&c);
    pair_close(&pair);
}

/* A connection that ends with packets kept, of both kinds. */
static void closes_with_packets(void **state)
{
    struct oche_send_work work;
    struct pair pair;

    (void)state;
    open_with(&pair, "0:0:1:delay=1000s,0:1:1:reorder=9,0:2:1:drop", "go_back_n", NULL);
    end_fill(&pair.a, 1);
    for (unsigned i = 0; i < 3; i++) {
        work = work_between(&pair.a, &pair.b, OCHE_WORK_WRITE, 0, 100);
        assert_int_equal(oche_device_post_send(pair.a.device, pair.a.qp, &work), 0);
    }
    while (counts_of(&pair).never > 0) {
        oche_device_progress(pair.a.device);
        oche_device_progress(pair.b.device);
    }
    assert_int_equal(counts_of(&pair).kept, 1);
    pair_close(&pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drops),          cmocka_unit_test(bit_error),
        cmocka_unit_test(bit_is_found),   cmocka_unit_test(mark_and_duplicate),
        cmocka_unit_test(reordered),      cmocka_unit_test(delayed),
        cmocka_unit_test(read_responses), cmocka_unit_test(behind_a_link),
        cmocka_unit_test(strangers),      cmocka_unit_test(closes_with_packets),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
