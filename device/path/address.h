/* SPDX-License-Identifier: Apache-2.0 */
/*
 * IP addresses in one form: 16 bytes in network order with IPv4 as ::ffff:a.b.c.d, as in GIDs. Also
 * the IP and UDP headers that the kernel adds to our bytes: the ICRC covers them (rocev2.md#icrc),
 * and a capture shows them.
 */
#ifndef OCHE_DEVICE_PATH_ADDRESS_H
#define OCHE_DEVICE_PATH_ADDRESS_H

#include <netinet/in.h>
#include <sys/socket.h>

#include "core/wire/icrc.h"

struct oche_address {
    uint8_t ip[16];
};

/* Bytes of an address as text: the longest IPv6 address with its terminating 0. */
#define OCHE_ADDRESS_TEXT INET6_ADDRSTRLEN

/*
 * Parses "192.0.2.1" or "2001:db8::1". Returns false for any other text, including host names and
 * addresses with a scope.
 */
bool oche_address_parse(const char *text, struct oche_address *address);
void oche_address_print(const struct oche_address *address, char text[OCHE_ADDRESS_TEXT]);
bool oche_address_is_ipv4(const struct oche_address *address);
/* False for 0.0.0.0, ::, multicast and broadcast addresses, on which no device can be opened. */
bool oche_address_is_unicast(const struct oche_address *address);

/* Messages for users. */
#define OCHE_NO_LINK_LOCAL                                                                         \
    "link-local addresses have no device, as a GID does not say of which interface they are; use " \
    "another address (`ip -6 addr add fd00::1/64 dev IF`)"
/*
 * True for fe80::/10. Such an address identifies a host only together with an interface (its
 * scope).
 */
bool oche_address_is_link_local(const struct oche_address *address);

/* Fills `out` and returns the number of bytes used. */
socklen_t oche_address_to_socket(const struct oche_address *address, uint16_t port,
                                 struct sockaddr_storage *out);
/* Returns false for anything but IPv4 and IPv6. */
bool oche_address_from_socket(const struct sockaddr_storage *in, struct oche_address *address,
                              uint16_t *port);

/* The IP and UDP headers of one datagram, as bytes. */
struct oche_ip_header {
    uint8_t bytes[OCHE_IPV6_BYTES + OCHE_UDP_BYTES];
    uint8_t count; /* bytes in use: 28 for IPv4, 48 for IPv6 */
};

/*
 * Makes headers with TTL 64 and don't-fragment set. Checksums, lengths and identification are 0.
 * `tos`: DSCP and ECN. Both addresses must have the same IP version.
 */
void oche_ip_header_make(struct oche_ip_header *header, const struct oche_address *from,
                         const struct oche_address *to, uint16_t from_port, uint16_t to_port,
                         uint8_t tos);
/* Sets the length fields of both headers. `transport_bytes`: from BTH to ICRC. */
void oche_ip_header_set_bytes(struct oche_ip_header *header, uint32_t transport_bytes);
/* Sets the IPv4 identification; does nothing for IPv6. */
void oche_ip_header_set_id(struct oche_ip_header *header, uint16_t id);

#endif
