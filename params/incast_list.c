/* SPDX-License-Identifier: Apache-2.0 */
#include "params/incast_list.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

/* Parses one address. Returns false for other text, and for addresses of no single host. */
static bool parse_one(const char *text, uint8_t address[16], bool *ipv6)
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff}, none[16];

    *ipv6 = inet_pton(AF_INET, text, address + 12) != 1;
    if (!*ipv6) {
        memcpy(address, mapped, sizeof(mapped));
        return address[12] != 0 && address[12] < 224;
    }
    return inet_pton(AF_INET6, text, address) == 1 && address[0] != 0xff &&
           memcmp(address, mapped, sizeof(mapped)) != 0 && memcmp(address, none, 16) != 0;
}

static int compare(const void *a, const void *b)
{
    return memcmp(a, b, 16);
}

bool oche_incast_list_parse(struct oche_incast_list *list, const char *text,
                            struct oche_error *error)
{
    char one[INET6_ADDRSTRLEN];
    bool ipv6;

    *list = (struct oche_incast_list){0};
    for (const char *at = text;; at++) {
        const size_t length = strcspn(at, ",");

        if (list->count == OCHE_GROUP_MOST)
            return oche_fail(error, "more than %d hosts", OCHE_GROUP_MOST);
        if (length < sizeof(one)) {
            memcpy(one, at, length);
            one[length] = '\0';
        }
        if (length >= sizeof(one) || !parse_one(one, list->addresses[list->count], &ipv6))
            return oche_fail(error, "\"%.*s\" is not the IP address of a host; 192.0.2.1 is",
                             length < 60 ? (int)length : 60, at);
        if (list->count > 0 && ipv6 != list->ipv6)
            return oche_fail(error, "%s: IPv4 and IPv6 in one list", one);
        list->ipv6 = ipv6;
        list->count++;
        at += length;
        if (*at == '\0')
            break;
    }
    if (list->count < 2)
        return oche_fail(error, "%s: one host alone; an incast has several senders", one);
    qsort(list->addresses, list->count, 16, compare);
    for (uint32_t i = 1; i < list->count; i++)
        if (memcmp(list->addresses[i - 1], list->addresses[i], 16) == 0) {
            inet_ntop(list->ipv6 ? AF_INET6 : AF_INET, list->addresses[i] + (list->ipv6 ? 0 : 12),
                      one, sizeof(one));
            return oche_fail(error, "%s: twice", one);
        }
    return true;
}
