/* SPDX-License-Identifier: Apache-2.0 */
/* Host numbers as addresses, traffic classes as DSCP. */
#include "sim/network/address.h"

#include <string.h>

#define TTL 64
/*
 * Traffic class c has DSCP (24 + 8 c) modulo 64. Data has 24, the class of AF31; 32 is control, or
 * a lane of short messages.
 */
#define CLASS_DSCP 24
#define DSCP_MASK  63

static void put_ip(uint32_t host, bool ipv6, uint8_t ip[16])
{
    uint32_t number = host + 1;
    const uint8_t ipv4[4] = {10, (uint8_t)(number >> 16), (uint8_t)(number >> 8), (uint8_t)number};

    if (!ipv6) {
        oche_ip_map_ipv4(ip, ipv4);
        return;
    }
    memset(ip, 0, 16);
    ip[0] = 0xfd;
    memcpy(ip + 12, ipv4, sizeof(ipv4));
}

static uint32_t get_ip(const uint8_t ip[16])
{
    return ((uint32_t)ip[13] << 16 | (uint32_t)ip[14] << 8 | ip[15]) - 1;
}

void oche_address_mac(uint32_t node, uint8_t mac[6])
{
    uint32_t number = node + 1;

    mac[0] = 2;
    mac[1] = 0;
    mac[2] = 10;
    mac[3] = (uint8_t)(number >> 16);
    mac[4] = (uint8_t)(number >> 8);
    mac[5] = (uint8_t)number;
}

void oche_address_frame(const struct oche_packet *packet, bool ipv6, struct oche_frame *frame)
{
    memset(frame, 0, sizeof(*frame));
    frame->ethernet = true;
    frame->ipv6 = ipv6;
    oche_address_mac(packet->src, frame->src_mac);
    oche_address_mac(packet->dst, frame->dst_mac);
    put_ip(packet->src, ipv6, frame->src_ip);
    put_ip(packet->dst, ipv6, frame->dst_ip);
    frame->dscp = (uint8_t)((CLASS_DSCP + 8 * packet->traffic_class) & DSCP_MASK);
    frame->ttl = TTL;
    frame->ip_flags = OCHE_IP_DF;
}

void oche_address_packet(const struct oche_frame *frame, struct oche_packet *packet)
{
    packet->src = get_ip(frame->src_ip);
    packet->dst = get_ip(frame->dst_ip);
    packet->traffic_class = (uint8_t)(((frame->dscp - CLASS_DSCP) & DSCP_MASK) / 8);
}
