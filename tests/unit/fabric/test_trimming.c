/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trimming: which packets are cut, to what, where they go, and when they are dropped nevertheless.
 * A star of four ports; port 0 leads to a host, port 1 to another switch.
 */
#include "tests/unit/fabric/rig.h"

#include <string.h>

#include "core/wire/opcode.h"
#include "fabric/registry.h"
#include "fabric/switch_state.h"

#define PORTS 4
#define DATA  0
#define HIGH  1
#define FULL  1106 /* WRITE of 1024 bytes, with the headers of an extended opcode */
#define SIZE  128

enum { TRIMMED, LAST_HOP, DROPPED, COUNTERS };

struct star {
    struct rig rig;
    const struct oche_switch_mechanism *mechanisms[1];
    const void *mechanism_params[1];
    _Alignas(16) char params[256];
    oche_time now;
};

static void set(struct star *star, const char *key, uint64_t value)
{
    const struct oche_param *param = oche_param_find(star->mechanisms[0]->params, key);

    assert_non_null(param);
    oche_param_set(param, star->params, (union oche_value){.u = value});
}

/* Queues of four full packets, and of four trimmed ones. */
static void star_init(struct star *star)
{
    memset(star, 0, sizeof(*star));
    rig_init(&star->rig, PORTS);
    star->mechanisms[0] = oche_switch_mechanism_find("trimming");
    assert_non_null(star->mechanisms[0]);
    oche_param_defaults(star->mechanisms[0]->params, star->params);
    star->mechanism_params[0] = star->params;
    star->rig.config.mechanisms = star->mechanisms;
    star->rig.config.mechanism_params = star->mechanism_params;
    star->rig.config.mechanism_count = 1;
    star->rig.params.ecn = false;
    star->rig.params.pfc = false;
    star->rig.ports[0].place = OCHE_PLACE_TO_HOST;
    star->rig.ports[1].place = OCHE_PLACE_TOR_UP;
    set(star, "queue", 4 * FULL);
    set(star, "trimmed_queue", 4 * SIZE);
}

static void star_make(struct star *star)
{
    star_init(star);
    rig_make(&star->rig);
}

static uint64_t count(const struct star *star, unsigned row)
{
    uint64_t values[COUNTERS];

    oche_switch_mechanism_counters(star->rig.sw, 0, values);
    return values[row];
}

/* Puts a packet of `opcode` with 1024 bytes of payload in by port 2. Returns it; NULL: dropped. */
static struct oche_packet *put(struct star *star, unsigned out, uint8_t opcode, uint32_t psn)
{
    struct oche_packet *packet = rig_packet(out, DATA, FULL);
    int port;

    packet->opcode = opcode;
    packet->psn = psn;
    packet->payload_bytes = 1024;
    port = oche_switch_receive(star->rig.sw, 2, packet, star->now++);
    rig_check(&star->rig);
    if (port >= 0) {
        assert_int_equal(port, out);
        return packet;
    }
    rig_discard(packet);
    return NULL;
}

static struct oche_packet *put_write(struct star *star, unsigned out, uint32_t psn)
{
    return put(star, out, OCHE_RC_WRITE_MIDDLE_AT, psn);
}

/* Takes the packet that leaves `out` next and checks what it is; `psn` is its number. */
static void take(struct star *star, unsigned out, uint32_t psn, uint8_t kind)
{
    struct oche_packet *packet = oche_switch_transmit(star->rig.sw, out, star->now++);

    assert_non_null(packet);
    assert_int_equal(packet->psn, psn);
    assert_int_equal(packet->kind, kind);
    rig_discard(packet);
}

static void test_cut(void **state)
{
    struct star star;
    const struct oche_packet *packet;

    (void)state;
    star_make(&star);
    for (uint32_t psn = 0; psn < 4; psn++)
        assert_int_equal(put_write(&star, 0, psn)->kind, OCHE_PACKET_ROCE);
    packet = put_write(&star, 0, 4);
    assert_int_equal(packet->kind, OCHE_PACKET_TRIMMED);
    assert_int_equal(packet->frame_bytes, SIZE);
    assert_int_equal(packet->payload_bytes, 1024);
    assert_int_equal(packet->traffic_class, HIGH);
    assert_int_equal(packet->aeth, OCHE_TRIMMED_LAST_HOP);
    assert_int_equal(count(&star, TRIMMED), 1);
    assert_int_equal(count(&star, LAST_HOP), 1);
    take(&star, 0, 4, OCHE_PACKET_TRIMMED); /* ahead of all data */
    take(&star, 0, 0, OCHE_PACKET_ROCE);
    assert_int_equal(put_write(&star, 0, 5)->kind, OCHE_PACKET_ROCE); /* there is room again */
    assert_int_equal(rig_stats(&star.rig, 0, star.now).drops[OCHE_DROP_MECHANISM], 0);
    rig_free(&star.rig);
}

static void test_on_the_way(void **state)
{
    struct star star;

    (void)state;
    star_make(&star);
    for (uint32_t psn = 0; psn < 4; psn++)
        put_write(&star, 1, psn);
    assert_int_equal(put_write(&star, 1, 4)->aeth, OCHE_TRIMMED_ON_THE_WAY);
    assert_int_equal(count(&star, LAST_HOP), 0);
    rig_free(&star.rig);
}

/* A fifth trimmed packet finds no room, neither one that is cut here nor one from elsewhere. */
static void test_no_room(void **state)
{
    struct star star;
    struct oche_packet *other;

    (void)state;
    star_make(&star);
    for (uint32_t psn = 0; psn < 8; psn++)
        assert_non_null(put_write(&star, 0, psn));
    assert_null(put_write(&star, 0, 8));
    assert_int_equal(count(&star, TRIMMED), 4);
    assert_int_equal(count(&star, DROPPED), 1);
    other = rig_packet(0, HIGH, SIZE);
    other->kind = OCHE_PACKET_TRIMMED;
    assert_int_equal(oche_switch_receive(star.rig.sw, 2, other, star.now++), -1);
    rig_discard(other);
    assert_int_equal(count(&star, DROPPED), 2);
    assert_true(rig_in(&star.rig, 3, 0, HIGH, 64, star.now++)); /* ACKs have no such limit */
    assert_int_equal(rig_stats(&star.rig, 0, star.now).drops[OCHE_DROP_MECHANISM], 2);
    rig_free(&star.rig);
}

/* Only requests with payload on reliable queue pairs are cut. */
static void test_others(void **state)
{
    static const uint8_t others[] = {OCHE_UC_WRITE_MIDDLE, OCHE_UD_SEND_ONLY,
                                     OCHE_RC_READ_RESPONSE_MIDDLE};
    struct star star;

    (void)state;
    star_make(&star);
    for (uint32_t psn = 0; psn < 4; psn++)
        put_write(&star, 0, psn);
    for (size_t i = 0; i < OCHE_COUNT_OF(others); i++)
        assert_null(put(&star, 0, others[i], 4));
    assert_int_equal(count(&star, TRIMMED), 0);
    assert_int_equal(rig_stats(&star.rig, 0, star.now).drops[OCHE_DROP_MECHANISM], 3);
    rig_free(&star.rig);
}

/* What the shared buffer refuses is cut, too; all headers stay, whatever the size is. */
static void test_buffer(void **state)
{
    struct star star;
    const struct oche_packet *packet;

    (void)state;
    star_init(&star);
    star.rig.params.port_buffer_bytes = 2 * FULL;
    set(&star, "size", 64);
    rig_make(&star.rig);
    put_write(&star, 0, 0);
    put_write(&star, 0, 1);
    packet = put_write(&star, 0, 2);
    assert_int_equal(packet->kind, OCHE_PACKET_TRIMMED);
    assert_int_equal(packet->frame_bytes, FULL - 1024 - OCHE_ICRC_BYTES);
    assert_true(rig_in(&star.rig, 3, 0, HIGH, 64, star.now++));
    take(&star, 0, 2, OCHE_PACKET_TRIMMED);
    assert_int_equal(rig_out(&star.rig, 0, star.now++), 64);
    take(&star, 0, 0, OCHE_PACKET_ROCE);
    assert_true(rig_in(&star.rig, 3, 0, HIGH, 64, star.now++));
    /* what waits in the highest class does not keep data out */
    assert_int_equal(put_write(&star, 0, 3)->kind, OCHE_PACKET_ROCE);
    rig_free(&star.rig);
}

/* With `victim: either`, the last packet of the queue is cut about every second time. */
static void test_either(void **state)
{
    struct star star;
    unsigned last = 0;

    (void)state;
    star_init(&star);
    set(&star, "victim", 1);
    set(&star, "burst", 1000);
    set(&star, "trimmed_queue", 1000 * SIZE);
    rig_make(&star.rig);
    for (uint32_t psn = 0; psn < 4; psn++)
        put_write(&star, 0, psn);
    for (uint32_t psn = 4; psn < 104; psn++) {
        const struct oche_packet *packet = put_write(&star, 0, psn);

        last += packet->kind == OCHE_PACKET_ROCE;
        assert_int_equal(oche_switch_queue_bytes(star.rig.sw, 0), 4 * FULL + (psn - 3) * SIZE);
    }
    assert_in_range(last, 30, 70);
    assert_int_equal(count(&star, TRIMMED), 100);
    for (unsigned i = 0; i < 100; i++)
        assert_int_equal(rig_out(&star.rig, 0, star.now++), SIZE);
    take(&star, 0, 0, OCHE_PACKET_ROCE);
    take(&star, 0, 1, OCHE_PACKET_ROCE);
    take(&star, 0, 2, OCHE_PACKET_ROCE);
    assert_int_equal(rig_out(&star.rig, 0, star.now++), FULL);
    rig_free(&star.rig);
}

/* While data waits, a burst of trimmed packets leaves, then one of data. */
static void test_burst(void **state)
{
    static const uint32_t order[] = {4, 5, 0, 6, 7, 1, 8, 2, 3};
    struct star star;

    (void)state;
    star_init(&star);
    set(&star, "burst", 2);
    set(&star, "trimmed_queue", 1000 * SIZE);
    star.rig.config.links_fail = true;
    rig_make(&star.rig);
    for (uint32_t psn = 0; psn < 9; psn++)
        put_write(&star, 0, psn);
    for (size_t i = 0; i < OCHE_COUNT_OF(order); i++) {
        take(&star, 0, order[i], order[i] < 4 ? OCHE_PACKET_ROCE : OCHE_PACKET_TRIMMED);
        rig_check(&star.rig);
    }
    for (uint32_t psn = 0; psn < 8; psn++)
        put_write(&star, 0, psn);
    take(&star, 0, 4, OCHE_PACKET_TRIMMED);
    take(&star, 0, 5, OCHE_PACKET_TRIMMED);
    oche_switch_link_down(star.rig.sw, 0, star.now);
    for (struct oche_packet *lost; (lost = oche_switch_flush(star.rig.sw, 0, star.now)) != NULL;)
        rig_discard(lost);
    oche_switch_link_up(star.rig.sw, 0);
    assert_true(rig_in(&star.rig, 3, 0, HIGH, 64, star.now++)); /* it need not wait for data */
    assert_int_equal(rig_out(&star.rig, 0, star.now++), 64);
    rig_free(&star.rig);
}

static bool fits(const struct star *star, struct oche_error *error)
{
    return star->mechanisms[0]->fits(&star->rig.config, star->params, error);
}

static void test_fits(void **state)
{
    struct star star;
    struct oche_error error;

    (void)state;
    star_init(&star);
    star.rig.params.pfc = true;
    star.rig.config.lossless_classes = 3;
    assert_false(fits(&star, &error));
    assert_string_equal(error.text, "size: where PFC or credits keep packets from being lost, none "
                                    "are trimmed; switch.pfc: false, or leave trimming out");
    star.rig.params.pfc = false;
    assert_true(fits(&star, &error));
    star.rig.config.lanes = 2;
    assert_false(fits(&star, &error));
    star.rig.config.lanes = 1;
    star.rig.config.class_count = 1;
    assert_false(fits(&star, &error));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cut),     cmocka_unit_test(test_on_the_way),
        cmocka_unit_test(test_no_room), cmocka_unit_test(test_others),
        cmocka_unit_test(test_buffer),  cmocka_unit_test(test_either),
        cmocka_unit_test(test_burst),   cmocka_unit_test(test_fits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
