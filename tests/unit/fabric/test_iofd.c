/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In-order flow deflection at one switch: when and where a message is deflected, which packets
 * follow it, what is rejected and why, and the lanes. A ToR: hosts at ports 0 and 1, switches above
 * at 2 to 5, one below at 6. Address 0 and 1 are its own. The ordinary way to 2 is port 2, to 3 it
 * is 2 or 3, to 4 it is 6.
 */
#include "tests/unit/fabric/rig.h"

#include <string.h>

#include "core/random.h"
#include "core/wire/opcode.h"
#include "fabric/iofd.h"
#include "fabric/switch_state.h"

#define PORTS  7
#define GROUPS 4 /* own; of address 2; of 3; of 4 */

struct tor {
    struct rig rig;
    struct oche_iofd_params params;
    const struct oche_switch_mechanism *mechanisms[1];
    const void *mechanism_params[1];
    struct oche_port_set sets[3];
    uint16_t set_of_group[GROUPS], ports[4];
    uint64_t onward[1];
    oche_time now;
};

static void tor_init(struct tor *tor)
{
    memset(tor, 0, sizeof(*tor));
    rig_init(&tor->rig, PORTS);
    oche_param_defaults(&oche_iofd_params, &tor->params);
    tor->params.order = OCHE_IOFD_WAIT;
    tor->mechanisms[0] = &oche_iofd;
    tor->mechanism_params[0] = &tor->params;
    tor->rig.config.mechanisms = tor->mechanisms;
    tor->rig.config.mechanism_params = tor->mechanism_params;
    tor->rig.config.mechanism_count = 1;
    for (unsigned port = 2; port < PORTS; port++) {
        tor->rig.ports[port].place = OCHE_PLACE_TOR_UP;
        tor->rig.ports[port].up = port < 6;
    }
    for (uint32_t address = 2; address < 5; address++)
        tor->rig.group_of[address] = address - 1;
    tor->set_of_group[2] = 1;
    tor->set_of_group[3] = 2;
    tor->sets[0] = (struct oche_port_set){.first = 0, .count = 1};
    tor->sets[1] = (struct oche_port_set){.first = 0, .count = 2};
    tor->sets[2] = (struct oche_port_set){.first = 2, .count = 1};
    tor->ports[0] = 2;
    tor->ports[1] = 3;
    tor->ports[2] = 6;
    tor->rig.config.routes.set_of_group = tor->set_of_group;
    tor->rig.config.routes.sets = tor->sets;
    tor->rig.config.routes.ports = tor->ports;
    tor->onward[0] = UINT64_MAX;
    tor->rig.config.onward = tor->onward;
    tor->rig.config.groups = GROUPS;
}

static void tor_make(struct tor *tor)
{
    unsigned lanes = oche_iofd.lanes(&tor->params);

    tor->rig.config.class_count = (uint8_t)(lanes + 1);
    tor->rig.config.lanes = (uint8_t)lanes;
    tor->rig.config.lossless_classes = (uint8_t)((1U << (lanes + 1)) - 1);
    tor->rig.params.pfc_priorities = 0;
    tor->rig.params.ecn = false;
    rig_make(&tor->rig);
}

/*
 * A packet of a message to `dst`. Returns the port. `left` becomes the packet as the switch sends
 * it.
 */
static int send(struct tor *tor, unsigned in, uint32_t dst, uint32_t qpn, uint8_t opcode,
                unsigned tokens, unsigned cls, struct oche_packet *left)
{
    struct oche_packet *packet = rig_packet(dst, cls, 1000);
    int port;

    packet->dest_qpn = qpn;
    packet->opcode = opcode;
    packet->bth_reserved = (uint8_t)(OCHE_BTH_EXTENSIONS | tokens);
    port = oche_switch_receive(tor->rig.sw, in, packet, ++tor->now);
    assert_true(port >= 0);
    if (left != NULL)
        *left = *packet;
    return port;
}

/* So many packets of long messages wait at `port`. */
static void fill(struct tor *tor, unsigned port, unsigned packets)
{
    static const uint32_t behind[PORTS] = {[0] = 0, [1] = 1, [2] = 2, [6] = 4};

    for (unsigned i = 0; i < packets; i++) {
        if (port == 2 || port == 6 || port < 2) {
            assert_int_equal(
                send(tor, port == 1 ? 0 : 1, behind[port], 1, OCHE_RC_WRITE_MIDDLE, 0, 0, NULL),
                port);
            continue;
        }
        /* This port is the only ordinary way to nowhere, so the route is changed for a moment. */
        struct oche_packet *packet = rig_packet(2, 0, 1000);

        packet->opcode = OCHE_RC_WRITE_MIDDLE;
        tor->ports[0] = (uint16_t)port;
        assert_int_equal(oche_switch_receive(tor->rig.sw, 1, packet, ++tor->now), port);
        tor->ports[0] = 2;
    }
}

static uint64_t count(const struct tor *tor, enum oche_iofd_counter which)
{
    uint64_t values[OCHE_IOFD_COUNTERS];

    oche_switch_mechanism_counters(tor->rig.sw, 0, values);
    return values[which];
}

static void threshold(void **state)
{
    struct tor tor;
    struct oche_packet left;

    (void)state;
    tor_init(&tor);
    tor_make(&tor);
    fill(&tor, 2, 15); /* 15 KB exactly: not above */
    assert_int_equal(send(&tor, 0, 2, 7, OCHE_RC_WRITE_ONLY, 4, 0, &left), 2);
    assert_int_equal(left.bth_reserved, OCHE_BTH_EXTENSIONS | 4);
    for (unsigned i = 0; i < 20; i++) {
        int port = send(&tor, 0, 2, 8 + i, OCHE_RC_WRITE_ONLY, 4, 0, &left);

        assert_true(port >= 3 && port <= 6);
        assert_int_equal(left.bth_reserved, OCHE_BTH_EXTENSIONS | 3);
    }
    assert_int_equal(count(&tor, OCHE_IOFD_DEFLECTIONS), 20);
    assert_int_equal(count(&tor, OCHE_IOFD_ENTRIES_PEAK), 0); /* dart.md#d20: ONLY needs none */
    rig_free(&tor.rig);
}

static void message_follows(void **state)
{
    struct tor tor;
    struct oche_packet left;
    int port;

    (void)state;
    tor_init(&tor);
    tor_make(&tor);
    fill(&tor, 2, 16);
    port = send(&tor, 0, 2, 7, OCHE_RC_WRITE_FIRST, 4, 0, &left);
    assert_true(port >= 3);
    while (rig_out(&tor.rig, 2, tor.now) > 0)
        continue; /* the queue is gone, but the message keeps its way */
    assert_int_equal(send(&tor, 0, 2, 7, OCHE_RC_WRITE_MIDDLE, 4, 0, &left), port);
    assert_int_equal(left.bth_reserved, OCHE_BTH_EXTENSIONS | 3);
    /* Not part of the message: another queue pair, other tokens, no tokens, ACKs. */
    assert_int_equal(send(&tor, 0, 2, 8, OCHE_RC_WRITE_MIDDLE, 4, 0, NULL), 2);
    assert_int_equal(send(&tor, 0, 2, 7, OCHE_RC_WRITE_MIDDLE, 3, 0, NULL), 2);
    assert_int_equal(send(&tor, 0, 2, 7, OCHE_RC_WRITE_MIDDLE, 0, 0, &left), 2);
    assert_int_equal(left.bth_reserved, OCHE_BTH_EXTENSIONS);
    assert_int_equal(send(&tor, 0, 2, 7, OCHE_RC_ACK, 4, 5, NULL), 2);
    /* START again, a retransmission: no second entry. */
    assert_int_equal(send(&tor, 0, 2, 7, OCHE_RC_WRITE_FIRST, 4, 0, NULL), port);
    assert_int_equal(count(&tor, OCHE_IOFD_ENTRIES_PEAK), 1);
    assert_int_equal(send(&tor, 0, 2, 7, OCHE_RC_WRITE_LAST, 4, 0, NULL), port);
    assert_int_equal(send(&tor, 0, 2, 7, OCHE_RC_WRITE_FIRST, 4, 0, NULL), 2);
    assert_int_equal(count(&tor, OCHE_IOFD_DEFLECTIONS), 1);
    assert_int_equal(count(&tor, OCHE_IOFD_PACKETS), 4);
    rig_free(&tor.rig);
}

static void candidates(void **state)
{
    struct tor tor;
    unsigned seen = 0;

    (void)state;
    tor_init(&tor);
    tor.onward[0] &= ~(UINT64_C(1) << (5 * GROUPS + 1)); /* behind 5 all ways lead back */
    tor_make(&tor);
    fill(&tor, 2, 16);
    fill(&tor, 4, 16);
    /* Ports 3 and 6 remain: not the hosts' ports, not 2 (the ordinary way), not 4 (full), not 5. */
    for (unsigned i = 0; i < 40 && seen != (1 << 3 | 1 << 6); i++)
        seen |= 1U << send(&tor, 0, 2, 7, OCHE_RC_WRITE_ONLY, 4, 0, NULL);
    assert_int_equal(seen, 1 << 3 | 1 << 6);
    /* Never back through the port of arrival. */
    while (rig_out(&tor.rig, 3, tor.now) + rig_out(&tor.rig, 6, tor.now) > 0)
        continue;
    for (unsigned i = 0; i < 12; i++)
        assert_int_equal(send(&tor, 3, 2, 7, OCHE_RC_WRITE_ONLY, 4, 0, NULL), 6);
    fill(&tor, 6, 10);
    assert_int_equal(send(&tor, 3, 2, 7, OCHE_RC_WRITE_ONLY, 4, 0, NULL), 2);
    assert_int_equal(count(&tor, OCHE_IOFD_NO_CANDIDATE), 1);
    rig_free(&tor.rig);
}

/* Any port to a switch, full ones too, but not the ordinary one and not the port of arrival. */
static void any_candidate(void **state)
{
    struct tor tor;
    unsigned seen = 0;

    (void)state;
    tor_init(&tor);
    tor.params.candidates = OCHE_IOFD_ANY;
    tor_make(&tor);
    fill(&tor, 2, 16);
    fill(&tor, 4, 16);
    for (unsigned i = 0; i < 100; i++)
        seen |= 1U << send(&tor, 0, 2, 7, OCHE_RC_WRITE_ONLY, 4, 0, NULL);
    assert_int_equal(seen, 1 << 3 | 1 << 4 | 1 << 5 | 1 << 6);
    assert_int_equal(send(&tor, 4, 2, 7, OCHE_RC_WRITE_ONLY, 0, 0, NULL), 2);
    for (unsigned i = 0; i < 100; i++)
        assert_int_not_equal(send(&tor, 4, 2, 7, OCHE_RC_WRITE_ONLY, 4, 0, NULL), 4);
    assert_int_equal(count(&tor, OCHE_IOFD_NO_CANDIDATE), 0);
    rig_free(&tor.rig);
}

static void refusals(void **state)
{
    struct tor tor;
    struct oche_packet left;
    int port;

    (void)state;
    tor_init(&tor);
    tor.params.entries = 1;
    tor_make(&tor);
    fill(&tor, 0, 16);
    fill(&tor, 2, 16);
    assert_int_equal(send(&tor, 1, 0, 7, OCHE_RC_WRITE_FIRST, 4, 0, NULL), 0);
    assert_int_equal(count(&tor, OCHE_IOFD_LAST_HOP), 1);
    assert_int_equal(send(&tor, 1, 2, 7, OCHE_RC_WRITE_FIRST, 0, 0, &left), 2);
    assert_int_equal(left.bth_reserved, OCHE_BTH_EXTENSIONS);
    assert_int_equal(count(&tor, OCHE_IOFD_NO_TOKEN), 1);
    port = send(&tor, 1, 2, 7, OCHE_RC_SEND_FIRST, 4, 0, NULL);
    assert_true(port >= 3);
    assert_int_equal(send(&tor, 1, 2, 8, OCHE_RC_SEND_FIRST, 4, 0, &left), 2);
    assert_int_equal(left.bth_reserved, OCHE_BTH_EXTENSIONS | 4);
    assert_int_equal(count(&tor, OCHE_IOFD_NO_ENTRY), 1);
    assert_int_equal(send(&tor, 1, 2, 7, OCHE_RC_SEND_LAST, 4, 0, NULL), port);
    assert_int_equal(count(&tor, OCHE_IOFD_ENTRIES_PEAK), 1);
    assert_int_equal(count(&tor, OCHE_IOFD_DEFLECTIONS), 1);
    /* The counters begin anew. */
    oche_switch_reset_stats(tor.rig.sw, tor.now);
    for (unsigned i = 0; i < OCHE_IOFD_COUNTERS; i++)
        assert_int_equal(count(&tor, i), 0);
    rig_free(&tor.rig);
}

/* An entry whose END was lost is given up. START takes its place. */
static void aged(void **state)
{
    struct tor tor;

    (void)state;
    tor_init(&tor);
    tor.params.entries = 1;
    tor_make(&tor);
    fill(&tor, 2, 16);
    assert_true(send(&tor, 0, 2, 7, OCHE_RC_WRITE_FIRST, 4, 0, NULL) >= 3);
    tor.now += 100 * OCHE_MS - 2;
    assert_int_equal(send(&tor, 0, 2, 8, OCHE_RC_WRITE_FIRST, 4, 0, NULL), 2);
    assert_int_equal(count(&tor, OCHE_IOFD_AGED), 0);
    assert_true(send(&tor, 0, 2, 9, OCHE_RC_WRITE_FIRST, 4, 0, NULL) >= 3);
    assert_int_equal(count(&tor, OCHE_IOFD_AGED), 1);
    assert_int_equal(send(&tor, 0, 2, 7, OCHE_RC_WRITE_MIDDLE, 4, 0, NULL), 2);
    rig_free(&tor.rig);
}

/* Senders that pipeline: ONLY takes an entry, and packets that follow soon take the same way. */
static void pipelining(void **state)
{
    struct tor tor;
    int port;

    (void)state;
    tor_init(&tor);
    tor.params.hold = 60 * OCHE_US;
    tor_make(&tor);
    fill(&tor, 2, 16);
    port = send(&tor, 0, 2, 7, OCHE_RC_WRITE_ONLY, 4, 0, NULL);
    assert_true(port >= 3);
    assert_int_equal(count(&tor, OCHE_IOFD_ENTRIES_PEAK), 1);
    while (rig_out(&tor.rig, 2, tor.now) > 0)
        continue;
    tor.now += 50 * OCHE_US;
    assert_int_equal(send(&tor, 0, 2, 7, OCHE_RC_WRITE_FIRST, 4, 0, NULL), port);
    tor.now += 70 * OCHE_US; /* in the middle of a message no entry is given up */
    assert_int_equal(send(&tor, 0, 2, 7, OCHE_RC_WRITE_LAST, 4, 0, NULL), port);
    tor.now += 60 * OCHE_US;
    assert_int_equal(send(&tor, 0, 2, 7, OCHE_RC_WRITE_ONLY, 4, 0, NULL), 2);
    assert_int_equal(count(&tor, OCHE_IOFD_AGED), 0);
    rig_free(&tor.rig);
}

/* ---- order: follow ---- */

/* Like `send`, for a packet with the FOLLOWS bit. */
static int send_behind(struct tor *tor, unsigned in, uint8_t opcode, unsigned tokens, unsigned cls,
                       struct oche_packet *left)
{
    struct oche_packet *packet = rig_packet(2, cls, 1000);
    int port;

    packet->dest_qpn = 7;
    packet->opcode = opcode;
    packet->bth |= OCHE_BTH_FOLLOWS;
    packet->bth_reserved = (uint8_t)(OCHE_BTH_EXTENSIONS | tokens);
    port = oche_switch_receive(tor->rig.sw, in, packet, ++tor->now);
    assert_true(port >= 0);
    if (left != NULL)
        *left = *packet;
    return port;
}

static void drain(struct tor *tor)
{
    for (unsigned port = 0; port < PORTS; port++)
        while (rig_out(&tor->rig, port, tor->now) > 0)
            continue;
}

static void tor_follow(struct tor *tor)
{
    tor_init(tor);
    tor->params.order = OCHE_IOFD_FOLLOW;
    tor_make(tor);
}

/* Every packet with the bit follows a deflected packet. A leader is decided anew. */
static void following(void **state)
{
    static const uint8_t behind[] = {OCHE_RC_WRITE_LAST,   OCHE_RC_WRITE_ONLY,
                                     OCHE_RC_WRITE_FIRST,  OCHE_RC_WRITE_MIDDLE,
                                     OCHE_RC_READ_REQUEST, OCHE_RC_FETCH_ADD};
    struct oche_packet left;
    struct tor tor;
    int port;

    (void)state;
    tor_follow(&tor);
    fill(&tor, 2, 16);
    assert_int_equal(send_behind(&tor, 0, OCHE_RC_WRITE_ONLY, 4, 0, &left), 2);
    assert_int_equal(left.bth_reserved, OCHE_BTH_EXTENSIONS | 4);
    assert_int_equal(count(&tor, OCHE_IOFD_FOLLOWERS), 1);
    port = send(&tor, 0, 2, 7, OCHE_RC_WRITE_FIRST, 4, 0, NULL);
    assert_true(port >= 3);
    drain(&tor);
    for (unsigned i = 0; i < OCHE_COUNT_OF(behind); i++) {
        assert_int_equal(send_behind(&tor, 0, behind[i], 4, 0, &left), port);
        assert_int_equal(left.bth_reserved, OCHE_BTH_EXTENSIONS | 3);
    }
    assert_int_equal(count(&tor, OCHE_IOFD_DEFLECTIONS), 5); /* messages, not packets */
    assert_int_equal(send(&tor, 0, 2, 7, OCHE_RC_WRITE_ONLY, 4, 0, NULL), 2);
    assert_int_equal(send_behind(&tor, 0, OCHE_RC_WRITE_ONLY, 4, 0, NULL), 2);
    assert_int_equal(count(&tor, OCHE_IOFD_LATE), 0);
    rig_free(&tor.rig);
}

/*
 * An END with the bit frees its entry, also an END alone. Without `follow` the bit has no meaning.
 */
static void released(void **state)
{
    const uint8_t release = OCHE_BTH_RELEASE;
    struct tor tor;
    int port;

    (void)state;
    tor_init(&tor);
    tor.params.order = OCHE_IOFD_FOLLOW;
    tor.params.entries = 1;
    tor_make(&tor);
    fill(&tor, 2, 16);
    for (unsigned i = 0; i < 3; i++) { /* one entry is enough for successive messages */
        port = send(&tor, 0, 2, 7 + i, OCHE_RC_WRITE_FIRST, 4, 0, NULL);
        assert_true(port >= 3);
        assert_int_equal(send(&tor, 0, 2, 7 + i, OCHE_RC_WRITE_MIDDLE, release | 4, 0, NULL), port);
        assert_int_equal(send(&tor, 0, 2, 7 + i, OCHE_RC_WRITE_LAST, release | 4, 0, NULL), port);
        assert_int_equal(send(&tor, 0, 2, 7 + i, OCHE_RC_WRITE_LAST, 4, 0, NULL), 2);
        assert_int_equal(count(&tor, OCHE_IOFD_RELEASED), i + 1);
    }
    /* A message of one packet needs no entry. */
    assert_true(send(&tor, 0, 2, 7, OCHE_RC_WRITE_FIRST, 4, 0, NULL) >= 3);
    assert_true(send(&tor, 0, 2, 8, OCHE_RC_WRITE_ONLY, release | 4, 0, NULL) >= 3);
    assert_int_equal(count(&tor, OCHE_IOFD_NO_ENTRY), 0);
    assert_int_equal(send(&tor, 0, 2, 9, OCHE_RC_WRITE_ONLY, 4, 0, NULL), 2);
    assert_int_equal(count(&tor, OCHE_IOFD_NO_ENTRY), 1);
    assert_int_equal(count(&tor, OCHE_IOFD_LATE), 0);
    rig_free(&tor.rig);

    tor_init(&tor);
    tor.params.order = OCHE_IOFD_WAIT;
    tor.params.hold = 60 * OCHE_US;
    tor_make(&tor);
    fill(&tor, 2, 16);
    port = send(&tor, 0, 2, 7, OCHE_RC_WRITE_ONLY, release | 4, 0, NULL);
    assert_int_equal(send(&tor, 0, 2, 7, OCHE_RC_WRITE_ONLY, 4, 0, NULL), port);
    assert_int_equal(count(&tor, OCHE_IOFD_RELEASED), 0);
    rig_free(&tor.rig);
}

/* An entry stays for `linger`, and while packets of it wait. Later packets are counted. */
static void lingering(void **state)
{
    struct tor tor;
    int port;

    (void)state;
    tor_follow(&tor);
    fill(&tor, 2, 16);
    port = send(&tor, 0, 2, 7, OCHE_RC_WRITE_ONLY, 4, 0, NULL);
    assert_true(port >= 3);
    tor.now += 5 * OCHE_MS; /* it waits all the time */
    assert_int_equal(send_behind(&tor, 0, OCHE_RC_WRITE_ONLY, 4, 0, NULL), port);
    tor.now += 5 * OCHE_MS;
    drain(&tor);
    tor.now += OCHE_MS - 2;
    assert_int_equal(send_behind(&tor, 0, OCHE_RC_WRITE_ONLY, 4, 0, NULL), port);
    drain(&tor);
    tor.now += OCHE_MS;
    assert_int_equal(send_behind(&tor, 0, OCHE_RC_WRITE_ONLY, 4, 0, NULL), 2);
    assert_int_equal(count(&tor, OCHE_IOFD_LATE), 1);
    assert_int_equal(count(&tor, OCHE_IOFD_AGED), 0);
    /* A leader ends that. */
    assert_int_equal(send(&tor, 0, 2, 7, OCHE_RC_WRITE_ONLY, 4, 0, NULL), 2);
    assert_int_equal(send_behind(&tor, 0, OCHE_RC_WRITE_ONLY, 4, 0, NULL), 2);
    assert_int_equal(count(&tor, OCHE_IOFD_LATE), 1);
    rig_free(&tor.rig);
}

/* While the port is paused no entry of its lane ages. */
static void paused(void **state)
{
    struct oche_packet frame = {.kind = OCHE_PACKET_PFC};
    struct tor tor;
    int port;

    (void)state;
    tor_follow(&tor);
    fill(&tor, 2, 16);
    port = send(&tor, 0, 2, 7, OCHE_RC_WRITE_ONLY, 4, 0, NULL);
    drain(&tor);
    oche_pfc_set(&frame, 0, UINT16_MAX);
    oche_switch_receive_pause(tor.rig.sw, (unsigned)port, &frame, tor.now);
    tor.now += OCHE_MS; /* the pause lasts for a part of it at least */
    oche_switch_reset_stats(tor.rig.sw, tor.now);
    assert_int_equal(send_behind(&tor, 0, OCHE_RC_WRITE_ONLY, 4, 0, NULL), port);
    rig_free(&tor.rig);
}

/* A packet follows an entry neither into a lower lane nor back. */
static void lower_lane(void **state)
{
    struct oche_packet left;
    struct tor tor;
    int port;

    (void)state;
    tor_follow(&tor);
    fill(&tor, 2, 16);
    for (unsigned i = 3; i < 6; i++)
        fill(&tor, i, i == 4 ? 0 : 16);
    fill(&tor, 6, 16);
    port = send(&tor, 0, 2, 7, OCHE_RC_WRITE_ONLY, 4, 0, &left);
    assert_int_equal(port, 4);
    assert_int_equal(left.traffic_class, 0);
    assert_int_equal(send_behind(&tor, 6, OCHE_RC_WRITE_ONLY, 4, 1, &left), 2);
    assert_int_equal(left.traffic_class, 1);
    assert_int_equal(send_behind(&tor, 5, OCHE_RC_WRITE_ONLY, 4, 0, &left), 2); /* it turns */
    assert_int_equal(left.traffic_class, 1);
    assert_int_equal(send_behind(&tor, 4, OCHE_RC_WRITE_ONLY, 4, 0, NULL), 2);
    assert_int_equal(count(&tor, OCHE_IOFD_NOT_FOLLOWED), 3);
    assert_int_equal(send_behind(&tor, 1, OCHE_RC_WRITE_ONLY, 4, 0, NULL), 4);
    rig_free(&tor.rig);
}

/* The ordinary way leads back, so another one of equal length is taken, always the same. */
static void back(void **state)
{
    struct tor tor;

    (void)state;
    tor_init(&tor);
    tor_make(&tor);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(send(&tor, 2, 3, 7, OCHE_RC_WRITE_MIDDLE, 0, 0, NULL), 3);
        assert_int_equal(send(&tor, 3, 3, 7, OCHE_RC_WRITE_MIDDLE, 4, 0, NULL), 2);
    }
    assert_int_equal(count(&tor, OCHE_IOFD_RETURNED), 0);
    assert_int_equal(send(&tor, 2, 2, 7, OCHE_RC_WRITE_MIDDLE, 0, 0, NULL), 2);
    assert_int_equal(count(&tor, OCHE_IOFD_RETURNED), 1);
    rig_free(&tor.rig);
}

static void turns(void **state)
{
    struct tor tor;
    struct oche_packet left;

    (void)state;
    tor_init(&tor);
    tor.params.tokens = 2;
    tor_make(&tor);
    assert_int_equal(tor.rig.config.lanes, 3);
    /* From above to above is a turn. From above down, from below up, or from a host up is none. */
    send(&tor, 4, 2, 7, OCHE_RC_WRITE_ONLY, 2, 0, &left);
    assert_int_equal(left.traffic_class, 1);
    send(&tor, 4, 2, 7, OCHE_RC_WRITE_MIDDLE, 0, 1, &left);
    assert_int_equal(left.traffic_class, 2);
    send(&tor, 4, 4, 7, OCHE_RC_WRITE_ONLY, 2, 1, &left);
    assert_int_equal(left.traffic_class, 1);
    send(&tor, 4, 0, 7, OCHE_RC_WRITE_ONLY, 2, 1, &left);
    assert_int_equal(left.traffic_class, 1);
    send(&tor, 6, 2, 7, OCHE_RC_WRITE_ONLY, 2, 1, &left);
    assert_int_equal(left.traffic_class, 1);
    send(&tor, 0, 2, 7, OCHE_RC_WRITE_ONLY, 2, 0, &left);
    assert_int_equal(left.traffic_class, 0);
    assert_int_equal(count(&tor, OCHE_IOFD_LANES_EXCEEDED), 0);
    send(&tor, 4, 2, 7, OCHE_RC_WRITE_ONLY, 2, 2, &left);
    assert_int_equal(left.traffic_class, 2);
    assert_int_equal(count(&tor, OCHE_IOFD_LANES_EXCEEDED), 1);
    /* ACKs have no lane. */
    send(&tor, 4, 2, 7, OCHE_RC_ACK, 0, 3, &left);
    assert_int_equal(left.traffic_class, 3);
    /* The message's packets change lanes together. */
    fill(&tor, 2, 16);
    int port = send(&tor, 6, 2, 9, OCHE_RC_WRITE_FIRST, 2, 0, &left);
    unsigned lane = left.traffic_class;

    assert_int_equal(lane, 0);
    assert_int_equal(send(&tor, 6, 2, 9, OCHE_RC_WRITE_LAST, 2, 0, &left), port);
    assert_int_equal(left.traffic_class, lane);
    rig_free(&tor.rig);
}

static void escape(void **state)
{
    struct tor tor;
    struct oche_packet left;

    (void)state;
    tor_init(&tor);
    tor.params.lanes = OCHE_IOFD_ESCAPE;
    tor_make(&tor);
    assert_int_equal(tor.rig.config.lanes, 2);
    send(&tor, 4, 2, 7, OCHE_RC_WRITE_ONLY, 4, 0, &left);
    assert_int_equal(left.traffic_class, 0);
    send(&tor, 4, 2, 7, OCHE_RC_WRITE_ONLY, 0, 0, &left);
    assert_int_equal(left.traffic_class, 1);
    fill(&tor, 2, 16);
    assert_true(send(&tor, 4, 2, 7, OCHE_RC_WRITE_ONLY, 1, 0, &left) > 2);
    assert_int_equal(left.traffic_class, 1); /* with its last token */
    assert_int_equal(send(&tor, 4, 2, 7, OCHE_RC_WRITE_ONLY, 4, 1, &left), 2);
    assert_int_equal(left.traffic_class, 1); /* never deflected again, never back */
    assert_int_equal(left.bth_reserved & OCHE_BTH_TOKENS, 4);
    rig_free(&tor.rig);
}

/* A host chooses neither its lane nor the number of deflections. */
static void hostile_host(void **state)
{
    struct tor tor;
    struct oche_packet left;

    (void)state;
    tor_init(&tor);
    tor.params.tokens = 2;
    tor_make(&tor);
    send(&tor, 0, 2, 7, OCHE_RC_WRITE_MIDDLE, 7, 2, &left);
    assert_int_equal(left.traffic_class, 0);
    assert_int_equal(left.bth_reserved, OCHE_BTH_EXTENSIONS | 2);
    assert_int_equal(oche_switch_ingress_bytes(tor.rig.sw, 0, 2), 1000);
    rig_free(&tor.rig);
}

/* For any packets: no failure, no loss, no new tokens. */
static void nonsense(void **state)
{
    struct oche_random random = oche_random_stream(1, "nonsense", 0);

    (void)state;
    for (unsigned lanes = OCHE_IOFD_TURNS; lanes <= OCHE_IOFD_ONE; lanes++) {
        struct tor tor;

        tor_init(&tor);
        tor.params.lanes = lanes;
        tor.params.threshold_bytes = 3000;
        tor.params.order = lanes == OCHE_IOFD_TURNS ? OCHE_IOFD_FOLLOW : OCHE_IOFD_WAIT;
        tor_make(&tor);
        for (unsigned i = 0; i < 100000; i++) {
            uint8_t tokens = (uint8_t)oche_random_below(&random, 8);
            struct oche_packet *packet = rig_packet((uint32_t)oche_random_below(&random, 6),
                                                    (unsigned)oche_random_below(&random, 9), 500);
            unsigned in = (unsigned)oche_random_below(&random, PORTS);
            int port;

            packet->kind = oche_random_below(&random, 8) == 0 ? OCHE_PACKET_TCP : OCHE_PACKET_ROCE;
            packet->opcode = (uint8_t)(oche_random_below(&random, 2)
                                           ? OCHE_RC_WRITE_FIRST + oche_random_below(&random, 5)
                                           : oche_random_below(&random, 256));
            packet->dest_qpn = (uint32_t)oche_random_below(&random, 6);
            packet->bth_reserved = tokens | (uint8_t)(oche_random_below(&random, 8) << 3);
            packet->bth |= oche_random_below(&random, 2) ? OCHE_BTH_FOLLOWS : 0;
            packet->bth_reserved |= oche_random_below(&random, 2) ? OCHE_BTH_RELEASE : 0;
            port = oche_switch_receive(tor.rig.sw, in, packet, ++tor.now);
            assert_true(port < PORTS);
            assert_true((packet->bth_reserved & OCHE_BTH_TOKENS) <= tokens);
            if (port < 0)
                rig_discard(packet);
            for (unsigned out = 0; out < PORTS; out++)
                if (oche_random_below(&random, 6) == 0)
                    rig_out(&tor.rig, out, tor.now);
        }
        assert_true(count(&tor, OCHE_IOFD_DEFLECTIONS) > 100);
        rig_free(&tor.rig);
    }
}

/* ---- ports that are down ---- */

/* Like `send`; what the switch drops is freed. */
static int try(struct tor *tor, uint32_t qpn, uint8_t opcode)
{
    struct oche_packet *packet = rig_packet(2, 0, 1000);
    int port;

    packet->dest_qpn = qpn;
    packet->opcode = opcode;
    packet->bth_reserved = OCHE_BTH_EXTENSIONS | 4;
    port = oche_switch_receive(tor->rig.sw, 0, packet, ++tor->now);
    if (port < 0)
        rig_discard(packet);
    return port;
}

static void take_down(struct tor *tor, unsigned port)
{
    struct oche_packet *packet;

    oche_switch_link_down(tor->rig.sw, port, tor->now);
    while ((packet = oche_switch_flush(tor->rig.sw, port, tor->now)) != NULL)
        rig_discard(packet);
}

/* A message whose entry leads to a dead port is dropped until END frees the entry. */
static void dead_until_end(void **state)
{
    struct tor tor;

    (void)state;
    tor_init(&tor);
    tor.rig.config.links_fail = true;
    tor_make(&tor);
    fill(&tor, 2, 16);
    int way = try(&tor, 9, OCHE_RC_WRITE_FIRST);

    assert_true(way > 2);
    take_down(&tor, (unsigned)way);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(try(&tor, 9, OCHE_RC_WRITE_MIDDLE), -1);
    assert_int_equal(try(&tor, 9, OCHE_RC_WRITE_FIRST), -1); /* sent again: not rerouted either */
    assert_int_equal(try(&tor, 9, OCHE_RC_WRITE_LAST), -1);
    assert_int_equal(rig_stats(&tor.rig, (unsigned)way, tor.now).drops[OCHE_DROP_LINK_DOWN], 5 + 1);
    assert_int_equal(count(&tor, OCHE_IOFD_AGED), 0);
    /* Now it may take any port but that one, and so may all others. */
    for (uint32_t qpn = 9; qpn < 17; qpn++) {
        int other = try(&tor, qpn, OCHE_RC_WRITE_FIRST);

        assert_true(other >= 2 && other != way);
    }
    oche_switch_link_up(tor.rig.sw, (unsigned)way);
    rig_free(&tor.rig);
}

/* END does not come: dropped packets do not keep the entry alive. */
static void dead_until_old(void **state)
{
    struct tor tor;

    (void)state;
    tor_init(&tor);
    tor.rig.config.links_fail = true;
    tor.params.ageing = OCHE_MS;
    tor_make(&tor);
    fill(&tor, 2, 16);
    int way = try(&tor, 9, OCHE_RC_WRITE_FIRST);

    take_down(&tor, (unsigned)way);
    for (unsigned i = 0; i < 9; i++) {
        assert_int_equal(try(&tor, 9, OCHE_RC_WRITE_FIRST), -1);
        tor.now += 100 * OCHE_US;
    }
    tor.now += 100 * OCHE_US;
    assert_true(try(&tor, 9, OCHE_RC_WRITE_FIRST) >= 2);
    assert_int_equal(count(&tor, OCHE_IOFD_AGED), 1);
    oche_switch_link_up(tor.rig.sw, (unsigned)way);
    rig_free(&tor.rig);
}

static void parameters(void **state)
{
    struct oche_iofd_params params;

    (void)state;
    oche_param_defaults(&oche_iofd_params, &params);
    assert_null(oche_iofd.check(&params));
    assert_int_equal(oche_iofd.lanes(&params), 5);
    params.tokens = 7;
    assert_non_null(strstr(oche_iofd.check(&params), "at most 6"));
    params.lanes = OCHE_IOFD_ESCAPE;
    assert_null(oche_iofd.check(&params));
    assert_int_equal(oche_iofd.lanes(&params), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threshold),      cmocka_unit_test(message_follows),
        cmocka_unit_test(candidates),     cmocka_unit_test(any_candidate),
        cmocka_unit_test(refusals),       cmocka_unit_test(aged),
        cmocka_unit_test(pipelining),     cmocka_unit_test(back),
        cmocka_unit_test(turns),          cmocka_unit_test(escape),
        cmocka_unit_test(hostile_host),   cmocka_unit_test(nonsense),
        cmocka_unit_test(parameters),     cmocka_unit_test(dead_until_end),
        cmocka_unit_test(dead_until_old), cmocka_unit_test(following),
        cmocka_unit_test(released),       cmocka_unit_test(lingering),
        cmocka_unit_test(paused),         cmocka_unit_test(lower_lane),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
