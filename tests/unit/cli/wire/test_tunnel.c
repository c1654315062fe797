/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets of tunnels: the inner packet is found, for any lengths in the headers and any cut. No
 * byte past the end is read: each packet is in memory of exactly its size, which sanitizers check.
 * The inner packet lies within the outer one.
 */
#include <pcap/pcap.h>
#include <stdlib.h>
#include <string.h>

#include "cli/wire/tunnel.h"
#include "core/random.h"
#include "tests/support/test.h"

#define MOST 256

struct shape {
    const char *kind;
    uint32_t id;
    uint8_t bytes[MOST];
    size_t count, inside; /* where the inner IP header is */
};

static void put(struct shape *shape, size_t count, const uint8_t *bytes)
{
    memcpy(shape->bytes + shape->count, bytes, count);
    shape->count += count;
}

#define PUT(shape, ...)                                                                            \
    put(shape, sizeof((const uint8_t[]){__VA_ARGS__}), (const uint8_t[]){__VA_ARGS__})

static void put_ethernet(struct shape *shape, bool tagged)
{
    PUT(shape, 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2);
    if (tagged)
        PUT(shape, 0x88, 0xa8, 0, 1, 0x81, 0, 0, 7);
    PUT(shape, 8, 0);
}

/* An IPv4 header. Its length covers everything that is written until `end_ip`. */
static size_t put_ip(struct shape *shape, uint8_t protocol)
{
    PUT(shape, 0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2);
    return shape->count - 20;
}

static void end_ip(struct shape *shape, size_t at)
{
    const size_t bytes = shape->count - at;

    shape->bytes[at + 2] = (uint8_t)(bytes >> 8);
    shape->bytes[at + 3] = (uint8_t)bytes;
    if (shape->bytes[at + 9] != 17)
        return;
    shape->bytes[at + 24] = (uint8_t)((bytes - 20) >> 8);
    shape->bytes[at + 25] = (uint8_t)(bytes - 20);
}

static void put_udp(struct shape *shape, uint16_t port)
{
    PUT(shape, 0xc0, 0, (uint8_t)(port >> 8), (uint8_t)port, 0, 0, 0, 0);
}

static void put_inside(struct shape *shape)
{
    size_t at;

    shape->inside = shape->count;
    at = put_ip(shape, 17);
    put_udp(shape, 4791);
    PUT(shape, 1, 2, 3, 4, 5, 6, 7, 8);
    end_ip(shape, at);
}

enum { VXLAN, OLD_VXLAN, GENEVE, GENEVE_IP, GRE, GRE_KEY, IP, TAGGED, SHAPES };

static struct shape make(unsigned which)
{
    struct shape shape = {.kind = "VXLAN", .id = 0x123456};
    size_t at;

    put_ethernet(&shape, which == TAGGED);
    at = put_ip(&shape, which == IP ? 4 : which == GRE || which == GRE_KEY ? 47 : 17);
    if (which == VXLAN || which == OLD_VXLAN || which == TAGGED) {
        put_udp(&shape, which == OLD_VXLAN ? 8472 : 4789);
        PUT(&shape, 8, 0, 0, 0, 0x12, 0x34, 0x56, 0);
        put_ethernet(&shape, which == TAGGED);
    } else if (which == GENEVE) {
        shape.kind = "GENEVE";
        put_udp(&shape, 6081);
        PUT(&shape, 2, 0, 0x65, 0x58, 0x12, 0x34, 0x56, 0, 9, 9, 9, 9, 9, 9, 9, 9);
        put_ethernet(&shape, false);
    } else if (which == GENEVE_IP) {
        shape.kind = "GENEVE";
        put_udp(&shape, 6081);
        PUT(&shape, 0, 0, 8, 0, 0x12, 0x34, 0x56, 0);
    } else if (which == GRE) {
        shape.kind = "GRE";
        shape.id = 0;
        PUT(&shape, 0, 0, 8, 0);
    } else if (which == GRE_KEY) {
        shape.kind = "GRE";
        PUT(&shape, 0xb0, 0, 0x65, 0x58, 1, 1, 0, 0, 0, 0x12, 0x34, 0x56, 0, 0, 0, 9);
        put_ethernet(&shape, false);
    } else {
        shape.kind = "IP";
        shape.id = 0;
    }
    put_inside(&shape);
    end_ip(&shape, at);
    return shape;
}

/* Searches `count` bytes in memory of their own. True if an inner packet was found. */
static bool look(const struct shape *shape, size_t count, struct oche_link_view *view)
{
    uint8_t *bytes = malloc(count > 0 ? count : 1);
    bool found;

    assert_non_null(bytes);
    memcpy(bytes, shape->bytes, count);
    found = oche_link_view(DLT_EN10MB, bytes, count, view) && view->ip;
    for (unsigned i = 0; found && i <= OCHE_MOST_TUNNELS; i++)
        if (!oche_tunnel_enter(bytes, count, view))
            break;
    assert_true(!found || view->ip_at <= count);
    assert_true(!found || view->ip_at <= view->end);
    assert_true(!found || view->tunnels <= OCHE_MOST_TUNNELS);
    free(bytes);
    return found && view->tunnels > 0;
}

static void test_inside(void **state)
{
    (void)state;
    for (unsigned which = 0; which < SHAPES; which++) {
        const struct shape shape = make(which);
        struct oche_link_view view;

        assert_true(look(&shape, shape.count, &view));
        assert_true(view.ip);
        assert_int_equal(view.ip_at, shape.inside);
        assert_int_equal(view.end, shape.count);
        assert_int_equal(view.tunnels, 1);
        assert_string_equal(view.tunnel.kind, shape.kind);
        assert_int_equal(view.tunnel.has_id, shape.id != 0);
        assert_int_equal(view.tunnel.id, shape.id);
        assert_int_equal(view.vlans, which == TAGGED ? 4 : 0);
    }
}

static void test_cut(void **state)
{
    (void)state;
    for (unsigned which = 0; which < SHAPES; which++) {
        const struct shape shape = make(which);
        struct oche_link_view view;

        for (size_t count = 0; count < shape.inside; count++)
            assert_false(look(&shape, count, &view));
        for (size_t count = shape.inside + 1; count < shape.count; count++)
            assert_true(look(&shape, count, &view));
    }
}

/*
 * Headers with wrong lengths of their own or of the packet, and values that mean another protocol.
 */
static void test_wrong(void **state)
{
    static const struct {
        unsigned which;
        size_t at;
        uint8_t value;
    } wrong[] = {
        {VXLAN, 14, 0x44},  /* IP: a header of 16 bytes */
        {VXLAN, 14, 0x55},  /* of version 5 */
        {VXLAN, 17, 10},    /* shorter than its header */
        {VXLAN, 17, 40},    /* shorter than what VXLAN needs */
        {VXLAN, 20, 0x20},  /* a fragment */
        {VXLAN, 21, 1},     /* a later one */
        {VXLAN, 39, 7},     /* UDP: shorter than its header */
        {VXLAN, 39, 12},    /* shorter than what VXLAN needs */
        {VXLAN, 37, 0xb6},  /* another port */
        {VXLAN, 42, 0},     /* VXLAN: without a network's number */
        {GENEVE, 42, 0x42}, /* another version */
        {GENEVE, 42, 0x3f}, /* options that are longer than the packet */
        {GRE, 34, 0x40},    /* with routing */
        {GRE, 35, 1},       /* of version 1 (PPTP) */
        {GRE, 36, 9},       /* neither IP nor Ethernet */
        {IP, 23, 5},        /* another protocol */
    };

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(wrong); i++) {
        struct shape shape = make(wrong[i].which);
        struct oche_link_view view;
        bool found;

        shape.bytes[wrong[i].at] = wrong[i].value;
        found = look(&shape, shape.count, &view);
        if (found && view.ip)
            fail_msg("byte %zu as 0x%02x: taken for a tunnel's", wrong[i].at, wrong[i].value);
    }
}

/* An inner packet does not exceed the outer one. Nesting of tunnels is limited. */
static void test_bounds(void **state)
{
    struct shape shape = make(IP);
    struct oche_link_view view;

    (void)state;
    shape.bytes[17] = 20 + 24;
    assert_true(look(&shape, shape.count, &view));
    assert_int_equal(view.end, 14 + 20 + 24);
    shape = (struct shape){.count = 0};
    put_ethernet(&shape, false);
    for (unsigned i = 0; i < 10; i++)
        end_ip(&shape, put_ip(&shape, 4));
    for (unsigned i = 0; i < 10; i++) {
        shape.bytes[14 + 20 * i + 2] = 0xff;
        shape.bytes[14 + 20 * i + 3] = 0xff;
    }
    assert_true(look(&shape, shape.count, &view));
    assert_int_equal(view.tunnels, OCHE_MOST_TUNNELS);
    assert_int_equal(view.ip_at, 14 + 20 * OCHE_MOST_TUNNELS);
}

static void test_damaged(void **state)
{
    struct oche_random random = oche_random_stream(1, "tunnels", 0);

    (void)state;
    for (unsigned i = 0; i < 200000; i++) {
        struct shape shape = make(i % SHAPES);
        struct oche_link_view view;

        for (uint64_t left = 1 + oche_random_below(&random, 4); left > 0; left--)
            shape.bytes[12 + oche_random_below(&random, shape.count - 12)] =
                (uint8_t)oche_random_u64(&random);
        look(&shape, oche_random_below(&random, shape.count + 1), &view);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_inside), cmocka_unit_test(test_cut),     cmocka_unit_test(test_wrong),
        cmocka_unit_test(test_bounds), cmocka_unit_test(test_damaged),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
