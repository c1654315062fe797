/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses, and the headers before a datagram's bytes. */
#include "device/path/address.h"

#include <arpa/inet.h>
#include <string.h>

#include "core/wire/bytes.h"
#include "core/wire/frame.h"

#define TTL 64

bool oche_address_is_ipv4(const struct oche_address *address)
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

    return memcmp(address->ip, mapped, sizeof(mapped)) == 0;
}

bool oche_address_parse(const char *text, struct oche_address *address)
{
    uint8_t ipv4[4];

    if (inet_pton(AF_INET, text, ipv4) == 1) {
        oche_ip_map_ipv4(address->ip, ipv4);
        return true;
    }
    return inet_pton(AF_INET6, text, address->ip) == 1;
}

void oche_address_print(const struct oche_address *address, char text[OCHE_ADDRESS_TEXT])
{
    if (oche_address_is_ipv4(address))
        inet_ntop(AF_INET, address->ip + 12, text, OCHE_ADDRESS_TEXT);
    else
        inet_ntop(AF_INET6, address->ip, text, OCHE_ADDRESS_TEXT);
}

bool oche_address_is_unicast(const struct oche_address *address)
{
    static const uint8_t none[16];

    if (oche_address_is_ipv4(address))
        return address->ip[12] != 0 && address->ip[12] < 224;
    return address->ip[0] != 0xff && memcmp(address->ip, none, 16) != 0;
}

bool oche_address_is_link_local(const struct oche_address *address)
{
    return address->ip[0] == 0xfe && (address->ip[1] & 0xc0) == 0x80;
}

socklen_t oche_address_to_socket(const struct oche_address *address, uint16_t port,
                                 struct sockaddr_storage *out)
{
    struct sockaddr_in ipv4 = {.sin_family = AF_INET, .sin_port = htons(port)};
    struct sockaddr_in6 ipv6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)};

    memset(out, 0, sizeof(*out));
    if (oche_address_is_ipv4(address)) {
        memcpy(&ipv4.sin_addr, address->ip + 12, 4);
        memcpy(out, &ipv4, sizeof(ipv4));
        return sizeof(ipv4);
    }
    memcpy(&ipv6.sin6_addr, address->ip, 16);
    memcpy(out, &ipv6, sizeof(ipv6));
    return sizeof(ipv6);
}

bool oche_address_from_socket(const struct sockaddr_storage *in, struct oche_address *address,
                              uint16_t *port)
{
    struct sockaddr_in ipv4;
    struct sockaddr_in6 ipv6;
    uint8_t bytes[4];

    if (in->ss_family == AF_INET) {
        memcpy(&ipv4, in, sizeof(ipv4));
        memcpy(bytes, &ipv4.sin_addr, 4);
        oche_ip_map_ipv4(address->ip, bytes);
        *port = ntohs(ipv4.sin_port);
        return true;
    }
    if (in->ss_family != AF_INET6)
        return false;
    memcpy(&ipv6, in, sizeof(ipv6));
    memcpy(address->ip, &ipv6.sin6_addr, 16);
    *port = ntohs(ipv6.sin6_port);
    return true;
}

void oche_ip_header_make(struct oche_ip_header *header, const struct oche_address *from,
                         const struct oche_address *to, uint16_t from_port, uint16_t to_port,
                         uint8_t tos)
{
    const bool ipv4 = oche_address_is_ipv4(from);
    uint8_t *at = header->bytes;

    memset(header, 0, sizeof(*header));
    header->count = (uint8_t)((ipv4 ? OCHE_IPV4_BYTES : OCHE_IPV6_BYTES) + OCHE_UDP_BYTES);
    if (ipv4) {
        at[0] = 0x45; /* version 4, five words */
        at[1] = tos;
        at[6] = OCHE_IP_DF;
        at[8] = TTL;
        at[9] = OCHE_IP_UDP;
        memcpy(at + 12, from->ip + 12, 4);
        memcpy(at + 16, to->ip + 12, 4);
    } else {
        at[0] = (uint8_t)(0x60 | tos >> 4); /* version 6; the traffic class lies in two bytes */
        at[1] = (uint8_t)(tos << 4);
        at[6] = OCHE_IP_UDP;
        at[7] = TTL;
        memcpy(at + 8, from->ip, 16);
        memcpy(at + 24, to->ip, 16);
    }
    oche_put16(at + header->count - 8, from_port);
    oche_put16(at + header->count - 6, to_port);
}

void oche_ip_header_set_bytes(struct oche_ip_header *header, uint32_t transport_bytes)
{
    const uint16_t udp_bytes = (uint16_t)(OCHE_UDP_BYTES + transport_bytes);

    if (header->count == OCHE_IPV4_BYTES + OCHE_UDP_BYTES)
        oche_put16(header->bytes + 2, (uint16_t)(OCHE_IPV4_BYTES + udp_bytes));
    else
        oche_put16(header->bytes + 4, udp_bytes);
    oche_put16(header->bytes + header->count - 4, udp_bytes);
}

void oche_ip_header_set_id(struct oche_ip_header *header, uint16_t id)
{
    if (header->count == OCHE_IPV4_BYTES + OCHE_UDP_BYTES)
        oche_put16(header->bytes + 4, id);
}
