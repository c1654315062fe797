/* SPDX-License-Identifier: Apache-2.0 */
/* A star of one switch, for its tests. */
#include "tests/unit/fabric/rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/invariants.h"

void rig_init(struct rig *rig, unsigned ports)
{
    memset(rig, 0, sizeof(*rig));
    oche_param_defaults(&oche_switch_params, &rig->params);
    rig->params.pfc_priorities = 2;
    for (unsigned i = 0; i < RIG_PORTS; i++) {
        rig->ports[i] = (struct oche_switch_port_config){40 * OCHE_GBPS, OCHE_US, 0};
        rig->port_of_address[i] = (uint16_t)i;
    }
    rig->config = (struct oche_switch_config){
        .params = &rig->params,
        .node = 3,
        .seed = 1,
        .port_count = ports,
        .ports = rig->ports,
        .class_count = 2,
        .lossless_classes = 3,
        .mtu_frame_bytes = RIG_MTU,
        .routes = {.group_of = rig->group_of,
                   .port_of_address = rig->port_of_address,
                   .own_group = 0,
                   .addresses = ports},
    };
}

void rig_make(struct rig *rig)
{
    struct oche_error why;

    if (!oche_switch_check(&rig->config, &why))
        fail_msg("%s", why.text);
    size_t bytes = oche_switch_bytes(&rig->config);
    void *memory = aligned_alloc(OCHE_CACHE_LINE, bytes);

    assert_non_null(memory);
    memset(memory, 0xa5, bytes);
    rig->sw = oche_switch_create(memory, &rig->config);
}

void rig_free(struct rig *rig)
{
    const oche_time late = 1000 * OCHE_SEC; /* every pause has run out */

    while (oche_switch_expire(rig->sw, late) >= 0)
        continue;
    for (unsigned port = 0; port < rig->config.port_count; port++)
        while (rig_out(rig, port, late) > 0)
            continue;
    assert_int_equal(oche_switch_occupied_bytes(rig->sw), 0);
    free(rig->sw);
}

struct oche_packet *rig_packet(uint32_t dst, unsigned cls, uint16_t bytes)
{
    struct oche_packet *packet = aligned_alloc(OCHE_CACHE_LINE, sizeof(*packet));

    assert_non_null(packet);
    *packet = (struct oche_packet){.dst = dst,
                                   .frame_bytes = bytes,
                                   .payload_bytes = (uint16_t)(bytes > 64 ? bytes - 64 : 0),
                                   .traffic_class = (uint8_t)cls,
                                   .ecn = cls == 0 ? OCHE_ECN_ECT0 : OCHE_ECN_NOT_ECT};
    return packet;
}

void rig_discard(struct oche_packet *packet)
{
    free(packet);
}

bool rig_in(struct rig *rig, unsigned in, unsigned out, unsigned cls, uint16_t bytes, oche_time now)
{
    struct oche_packet *packet = rig_packet(out, cls, bytes);
    int port = oche_switch_receive(rig->sw, in, packet, now);

    if (port < 0) {
        rig_discard(packet);
        return false;
    }
    assert_int_equal(port, out);
    return true;
}

unsigned rig_out(struct rig *rig, unsigned out, oche_time now)
{
    struct oche_packet *packet = oche_switch_transmit(rig->sw, out, now);
    unsigned bytes;

    if (packet == NULL)
        return 0;
    bytes = packet->frame_bytes;
    rig_discard(packet);
    return bytes;
}

int rig_pause_frame(struct rig *rig, unsigned port, unsigned cls, oche_time now)
{
    struct oche_packet frame = {.tag = 77};

    if (!oche_switch_take_pause(rig->sw, port, &frame, now))
        return -1;
    assert_int_equal(frame.kind, OCHE_PACKET_PFC);
    assert_int_equal(frame.frame_bytes, OCHE_MIN_FRAME_BYTES);
    assert_int_equal(frame.tag, 77);
    assert_true(frame.ext & OCHE_EXT_LINK);
    return oche_pfc_has(&frame, cls) ? frame.pfc.quanta[cls] : -1;
}

void rig_pause(struct rig *rig, unsigned port, unsigned cls, uint16_t quanta, oche_time now)
{
    struct oche_packet frame = {.kind = OCHE_PACKET_PFC};

    oche_pfc_set(&frame, cls, quanta);
    oche_switch_receive_pause(rig->sw, port, &frame, now);
}

void rig_check(const struct rig *rig)
{
    uint32_t port;
    const char *broken = oche_switch_broken(rig->sw, &port);

    if (broken != NULL)
        fail_msg("port %d: it does not hold that %s", (int)port, broken);
}

struct oche_switch_port_stats rig_stats(const struct rig *rig, unsigned port, oche_time now)
{
    struct oche_switch_port_stats stats;

    oche_switch_port_stats(rig->sw, port, now, &stats);
    return stats;
}
