/* SPDX-License-Identifier: Apache-2.0 */
/* The hooks of a switch's own mechanisms: order, arguments, permitted changes, the timer. */
#include "tests/unit/fabric/rig.h"

#include <stdio.h>
#include <string.h>

#include "fabric/mechanism.h"

static char story[500]; /* what the hooks were called with */

static void tell(const char *who, const char *hook, unsigned port, oche_time now)
{
    size_t length = strlen(story);

    snprintf(story + length, sizeof(story) - length, "%s.%s(%u)@%u ", who, hook, port,
             (unsigned)now);
}

/* Deflects packets from the port `from` to the port `to`; drops those from port 3. */
struct deflector {
    unsigned from, to;
};

static size_t deflector_bytes(const struct oche_switch_config *config, const void *params)
{
    (void)config;
    (void)params;
    return sizeof(struct deflector);
}

static void deflector_create(void *state, const struct oche_switch_config *config,
                             const void *params)
{
    (void)config;
    memcpy(state, params, sizeof(struct deflector));
}

static int deflector_route(void *state, struct oche_switch *sw, unsigned in_port,
                           struct oche_packet *packet, int port, oche_time now)
{
    const struct deflector *deflector = state;

    (void)packet;
    tell("deflector", "route", (unsigned)port, now);
    assert_int_equal(oche_switch_queue_bytes(sw, (unsigned)port), 0);
    if (in_port == 3)
        return -1;
    return port == (int)deflector->from ? (int)deflector->to : port;
}

static const struct oche_switch_mechanism deflector = {.name = "deflector",
                                                       .state_bytes = deflector_bytes,
                                                       .create = deflector_create,
                                                       .route = deflector_route};

/* Stamps the queue into packets that leave; wakes every `period`. */
struct stamper {
    oche_time period, next;
    unsigned ports, expired;
};

static size_t stamper_bytes(const struct oche_switch_config *config, const void *params)
{
    (void)config;
    (void)params;
    return sizeof(struct stamper);
}

static void stamper_create(void *state, const struct oche_switch_config *config, const void *params)
{
    struct stamper *stamper = state;

    assert_int_equal(stamper->expired, 0); /* zeroed */
    stamper->ports = config->port_count;
    memcpy(&stamper->period, params, sizeof(stamper->period));
    stamper->next = OCHE_NEVER;
}

static int stamper_route(void *state, struct oche_switch *sw, unsigned in_port,
                         struct oche_packet *packet, int port, oche_time now)
{
    (void)state, (void)sw, (void)in_port, (void)packet;
    tell("stamper", "route", (unsigned)port, now);
    return port;
}

static void stamper_enqueue(void *state, struct oche_switch *sw, unsigned port,
                            struct oche_packet *packet, oche_time now)
{
    struct stamper *stamper = state;

    (void)packet;
    tell("stamper", "enqueue", port, now);
    if (oche_switch_queue_bytes(sw, port) == 0)
        stamper->next = now + stamper->period;
}

static void stamper_dequeue(void *state, struct oche_switch *sw, unsigned port,
                            struct oche_packet *packet, oche_time now)
{
    (void)state;
    tell("stamper", "dequeue", port, now);
    packet->aeth = (uint32_t)oche_switch_queue_bytes(sw, port);
}

static oche_time stamper_next(const void *state)
{
    const struct stamper *stamper = state;

    return stamper->next;
}

static void stamper_expire(void *state, struct oche_switch *sw, oche_time now)
{
    struct stamper *stamper = state;

    (void)sw;
    tell("stamper", "expire", stamper->ports, now);
    stamper->next = ++stamper->expired < 2 ? now + stamper->period : OCHE_NEVER;
}

static const struct oche_switch_mechanism stamper = {.name = "stamper",
                                                     .state_bytes = stamper_bytes,
                                                     .create = stamper_create,
                                                     .route = stamper_route,
                                                     .enqueue = stamper_enqueue,
                                                     .dequeue = stamper_dequeue,
                                                     .next = stamper_next,
                                                     .expire = stamper_expire};

static void told(const char *expected)
{
    assert_string_equal(story, expected);
    story[0] = '\0';
}

static void hooks(void **state)
{
    static const struct deflector deflections = {.from = 1, .to = 2};
    static const oche_time period = 1000;
    const struct oche_switch_mechanism *mechanisms[] = {&deflector, &stamper};
    const void *params[] = {&deflections, &period};
    struct rig rig;
    struct oche_packet *packet;

    (void)state;
    rig_init(&rig, 4);
    rig.config.mechanisms = mechanisms;
    rig.config.mechanism_params = params;
    rig.config.mechanism_count = 2;
    rig.params.pfc_response = 10;
    rig_make(&rig);
    assert_int_equal(oche_switch_next(rig.sw), OCHE_NEVER);

    packet = rig_packet(1, 0, 1000);
    assert_int_equal(oche_switch_receive(rig.sw, 0, packet, 10), 2);
    told("deflector.route(1)@10 stamper.route(2)@10 stamper.enqueue(2)@10 ");
    assert_int_equal(oche_switch_next(rig.sw), 1010);
    assert_int_equal(oche_switch_receive(rig.sw, 0, rig_packet(1, 0, 700), 20), 2);
    told("deflector.route(1)@20 stamper.route(2)@20 stamper.enqueue(2)@20 ");
    assert_ptr_equal(oche_switch_transmit(rig.sw, 2, 30), packet);
    told("stamper.dequeue(2)@30 ");
    assert_int_equal(packet->aeth, 700);

    /* If one hook drops the packet, the next is not called. */
    assert_int_equal(oche_switch_receive(rig.sw, 3, packet, 40), -1);
    told("deflector.route(1)@40 ");
    assert_int_equal(rig_stats(&rig, 3, 40).drops[OCHE_DROP_NO_ROUTE], 1);
    /* A packet without a route is not deflected. */
    packet->dst = 99;
    assert_int_equal(oche_switch_receive(rig.sw, 0, packet, 50), -1);
    told("");
    rig_discard(packet);

    /* The timer, with a pause that begins at the same moment. */
    rig_pause(&rig, 2, 0, 10, 1000);
    assert_int_equal(oche_switch_expire(rig.sw, 1009), -1);
    told("");
    assert_int_equal(oche_switch_expire(rig.sw, 1010), -1);
    told("stamper.expire(4)@1010 ");
    assert_true(oche_switch_is_paused(rig.sw, 2, 0));
    assert_int_equal(oche_switch_next(rig.sw), 2010);
    assert_int_equal(oche_switch_expire(rig.sw, 2010), -1);
    told("stamper.expire(4)@2010 ");
    assert_int_equal(oche_switch_next(rig.sw), 1010 + 10 * 12800);
    assert_int_equal(oche_switch_expire(rig.sw, 1010 + 10 * 12800), 2);
    told("");
    rig_free(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(hooks)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
