/* SPDX-License-Identifier: Apache-2.0 */
/* IP headers of the frames of endpoints. */
#include "sim/endpoint/ip_frame.h"

#include <string.h>

#include "core/wire/bytes.h"

uint32_t oche_ip_sum16(uint32_t sum, const uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i + 1 < count; i += 2)
        sum += oche_get16(bytes + i);
    if (count & 1)
        sum += (uint32_t)bytes[count - 1] << 8;
    return sum;
}

uint16_t oche_ip_fold(uint32_t sum)
{
    while (sum > UINT16_MAX)
        sum = (sum & UINT16_MAX) + (sum >> 16);
    return (uint16_t)~sum;
}

void oche_ip_put(const struct oche_packet *packet, const struct oche_frame *frame, uint8_t protocol,
                 size_t bytes, uint8_t *ip)
{
    uint8_t tos = (uint8_t)(frame->dscp << 2 | packet->ecn);

    if (frame->ipv6) {
        oche_put32(ip, UINT32_C(6) << 28 | (uint32_t)tos << 20 | (frame->flow_label & 0xfffff));
        oche_put16(ip + 4, (uint16_t)bytes);
        ip[6] = protocol;
        ip[7] = frame->ttl;
        memcpy(ip + 8, frame->src_ip, 16);
        memcpy(ip + 24, frame->dst_ip, 16);
        return;
    }
    memset(ip, 0, OCHE_IPV4_BYTES);
    ip[0] = 0x45;
    ip[1] = tos;
    oche_put16(ip + 2, (uint16_t)(OCHE_IPV4_BYTES + bytes));
    oche_put16(ip + 4, frame->ip_id);
    ip[6] = frame->ip_flags;
    ip[8] = frame->ttl;
    ip[9] = protocol;
    memcpy(ip + 12, frame->src_ip + 12, 4);
    memcpy(ip + 16, frame->dst_ip + 12, 4);
    oche_put16(ip + 10, oche_ip_fold(oche_ip_sum16(0, ip, OCHE_IPV4_BYTES)));
}

static bool take_ip(const uint8_t *ip, size_t count, uint8_t protocol, struct oche_packet *packet,
                    struct oche_frame *frame, size_t *bytes)
{
    static const uint8_t none[4] = {0};

    if (frame->ipv6) {
        if (count < OCHE_IPV6_BYTES || ip[0] >> 4 != 6 || ip[6] != protocol)
            return false;
        uint8_t tos = (uint8_t)(oche_get16(ip) >> 4);
        frame->dscp = tos >> 2;
        packet->ecn = tos & 3;
        frame->flow_label = oche_get32(ip) & 0xfffff;
        frame->ttl = ip[7];
        memcpy(frame->src_ip, ip + 8, 16);
        memcpy(frame->dst_ip, ip + 24, 16);
        *bytes = oche_get16(ip + 4);
        return *bytes <= count - OCHE_IPV6_BYTES;
    }
    if (count < OCHE_IPV4_BYTES || ip[0] != 0x45 || ip[9] != protocol ||
        oche_ip_fold(oche_ip_sum16(0, ip, OCHE_IPV4_BYTES)) != 0)
        return false;
    frame->dscp = ip[1] >> 2;
    packet->ecn = ip[1] & 3;
    frame->ip_id = oche_get16(ip + 4);
    frame->ip_flags = ip[6];
    frame->ttl = ip[8];
    oche_ip_map_ipv4(frame->src_ip, ip + 12);
    oche_ip_map_ipv4(frame->dst_ip, ip + 16);
    size_t total = oche_get16(ip + 2);
    *bytes = total - OCHE_IPV4_BYTES;
    return total >= OCHE_IPV4_BYTES && total <= count && memcmp(ip + 16, none, 4) != 0;
}

const uint8_t *oche_ip_take_frame(const uint8_t *bytes, size_t count, uint8_t protocol,
                                  struct oche_packet *packet, struct oche_frame *frame,
                                  size_t *behind)
{
    const uint8_t *ip = bytes + OCHE_ETH_BYTES;

    memset(frame, 0, sizeof(*frame));
    if (count < OCHE_ETH_BYTES)
        return NULL;
    uint16_t type = oche_get16(bytes + 12);
    if (type != OCHE_ETHERTYPE_IPV4 && type != OCHE_ETHERTYPE_IPV6)
        return NULL;
    frame->ethernet = true;
    frame->ipv6 = type == OCHE_ETHERTYPE_IPV6;
    memcpy(frame->dst_mac, bytes, 6);
    memcpy(frame->src_mac, bytes + 6, 6);
    if (!take_ip(ip, count - OCHE_ETH_BYTES, protocol, packet, frame, behind))
        return NULL;
    return ip + (frame->ipv6 ? OCHE_IPV6_BYTES : OCHE_IPV4_BYTES);
}
