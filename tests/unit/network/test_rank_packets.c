/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets of every kind arrive at another rank as they left, with all fields that a node may read.
 * Structs of counters are packed and unpacked.
 */
#include <stdlib.h>
#include <string.h>

#include "core/wire/extension.h"
#include "core/wire/telemetry.h"
#include "sim/network/payload.h"
#include "sim/network/rank_packets.h"
#include "sim/world/results/packed_counters.h"
#include "tests/support/test.h"

#define WHEN (7 * OCHE_US)
#define KEY  UINT32_C(0x1234)

/* Two ranks. The second has its lists at other addresses. */
static struct {
    struct oche_shard from, to;
    struct oche_flows flows, others;
    uint8_t lists[64], copies[64];
    struct oche_crossing crossing;
    struct oche_mailbox box;
    struct oche_rank_bytes bytes;
} ranks;

static void empty_queue(void)
{
    const struct oche_event_queue_config config = {
        .independent = OCHE_US, .horizon = OCHE_MS, .node_count = 4};

    if (ranks.to.events.buckets != NULL)
        oche_events_free(&ranks.to.events);
    oche_events_init(&ranks.to.events, &config);
}

static int set_up(void **state)
{
    (void)state;
    memset(&ranks, 0, sizeof(ranks));
    oche_packet_pool_init(&ranks.from.pool);
    oche_packet_pool_init(&ranks.to.pool);
    empty_queue();
    for (uint8_t i = 0; i < sizeof(ranks.lists); i++)
        ranks.lists[i] = ranks.copies[i] = i;
    ranks.flows.incast_members = ranks.lists;
    ranks.others.incast_members = ranks.copies;
    ranks.box.list = &ranks.crossing;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    oche_packet_pool_free(&ranks.from.pool);
    oche_packet_pool_free(&ranks.to.pool);
    oche_events_free(&ranks.to.events);
    free(ranks.bytes.at);
    return 0;
}

/* Returns a packet of the first rank whose bytes in the hot line all differ. */
static struct oche_packet *make(uint8_t kind)
{
    struct oche_packet *packet = oche_packet_take(&ranks.from.pool);
    uint8_t *payload = packet->payload;

    memset(packet, 0x5a, sizeof(*packet));
    packet->payload = payload;
    packet->kind = kind;
    packet->when = WHEN;
    packet->ext = 0;
    packet->bth &= (uint8_t)~OCHE_BTH_TELEMETRY; /* nothing lies behind the packet */
    return packet;
}

static struct oche_packet *cross(struct oche_packet *packet)
{
    struct oche_event event;

    ranks.crossing = (struct oche_crossing){.packet = packet, .key = KEY};
    ranks.box.count = 1;
    ranks.bytes.count = ranks.bytes.read = 0;
    empty_queue();
    oche_rank_packets_put(&ranks.from, &ranks.box, &ranks.flows, &ranks.bytes);
    assert_int_equal(ranks.box.count, 0);
    oche_rank_packets_get(&ranks.to, &ranks.others, &ranks.bytes, 1);
    assert_false(oche_rank_has_more(&ranks.bytes));
    assert_true(oche_event_pop(&ranks.to.events, OCHE_MS, &event));
    assert_int_equal(event.key, KEY);
    assert_true(event.time == WHEN);
    /* The network holds one packet, which the first rank has taken. */
    assert_int_equal(ranks.from.pool.taken + ranks.to.pool.taken, 1);
    return event.target;
}

/* The hot line without the pointer in front, and the extension line's union if it must be equal. */
static void assert_same(const struct oche_packet *sent, const struct oche_packet *came, bool all)
{
    const size_t hot = sizeof(sent->next), more = offsetof(struct oche_packet, reth);

    assert_memory_equal((const char *)sent + hot, (const char *)came + hot, OCHE_CACHE_LINE - hot);
    if (all)
        assert_memory_equal((const char *)sent + more, (const char *)came + more,
                            sizeof(*sent) - more);
}

static void test_every_kind(void **state)
{
    static const struct {
        uint8_t kind, ext;
    } cases[] = {
        {OCHE_PACKET_ROCE, 0},
        {OCHE_PACKET_ROCE, OCHE_EXT_PAYLOAD},
        {OCHE_PACKET_ROCE, OCHE_EXT_RETH | OCHE_EXT_IMM},
        {OCHE_PACKET_ROCE, OCHE_EXT_TRAILER | OCHE_EXT_SCHEME},
        {OCHE_PACKET_ROCE, OCHE_EXT_DETH},
        {OCHE_PACKET_PFC, OCHE_EXT_LINK},
        {OCHE_PACKET_FCP, OCHE_EXT_LINK},
        {OCHE_PACKET_TCP, OCHE_EXT_SCHEME},
        {OCHE_PACKET_XPASS, OCHE_EXT_SCHEME},
    };

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(cases); i++) {
        struct oche_packet *packet = make(cases[i].kind), sent, *came;

        packet->ext = cases[i].ext;
        sent = *packet;
        came = cross(packet);
        assert_same(&sent, came, (sent.ext & ~OCHE_EXT_PAYLOAD) != 0);
        assert_null(came->payload);
        oche_packet_return(&ranks.to.pool, came);
    }
}

static void test_telemetry(void **state)
{
    struct oche_packet *packet, *came;
    struct oche_telemetry sent;

    (void)state;
    oche_packet_pool_add_telemetry(&ranks.from.pool);
    oche_packet_pool_add_telemetry(&ranks.to.pool);
    packet = make(OCHE_PACKET_ROCE);
    packet->ext = OCHE_EXT_TRAILER;
    packet->bth |= OCHE_BTH_TELEMETRY;
    memset(oche_telemetry_of(packet), 0xa5, sizeof(sent));
    sent = *oche_telemetry_of(packet);
    came = cross(packet);
    assert_memory_equal(oche_telemetry_of(came), &sent, sizeof(sent));
    oche_packet_return(&ranks.to.pool, came);
}

static void test_list_of_senders(void **state)
{
    struct oche_packet *packet = make(OCHE_PACKET_ROCE), *came;
    const struct oche_group group = {.id = 9, .count = 3, .members = ranks.lists + 10};

    (void)state;
    oche_group_put(packet, &group, 1);
    came = cross(packet);
    assert_ptr_equal(came->members, ranks.copies + 10);
    assert_int_equal(oche_group_get(came).count, 3);
    oche_packet_return(&ranks.to.pool, came);
}

static void test_payload(void **state)
{
    struct oche_packet *packet = make(OCHE_PACKET_ROCE), *came;

    (void)state;
    oche_payload_buffer(packet);
    oche_payload_fill(4000, packet->payload, 1000);
    packet->ext = OCHE_EXT_PAYLOAD;
    packet->payload_bytes = 1000;
    came = cross(packet);
    assert_ptr_not_equal(came->payload, packet->payload);
    assert_int_equal(oche_payload_differs(4000, came->payload, 1000), 0);
    oche_packet_return(&ranks.to.pool, came);
}

static void test_packed(void **state)
{
    struct oche_packed_store store = {.left = 0};
    struct oche_rank_bytes bytes = {.at = NULL};
    uint64_t sent[130] = {0}, opened[130];

    (void)state;
    for (unsigned round = 0; round < 1000; round++) {
        sent[round % 130] = round % 3 == 0 ? 0 : round;
        bytes.count = bytes.read = 0;
        oche_packed_put(&bytes, sent, sizeof(sent));
        const uint64_t *packed = oche_packed_get(&store, &bytes, sizeof(sent));
        assert_false(oche_rank_has_more(&bytes));
        oche_packed_open(packed, opened, sizeof(opened));
        assert_memory_equal(sent, opened, sizeof(sent));
    }
    oche_packed_open(NULL, opened, sizeof(opened));
    for (size_t i = 0; i < OCHE_COUNT_OF(opened); i++)
        assert_int_equal(opened[i], 0);
    oche_packed_free(&store);
    free(bytes.at);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_every_kind, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_telemetry, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_list_of_senders, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_payload, set_up, tear_down),
        cmocka_unit_test(test_packed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
