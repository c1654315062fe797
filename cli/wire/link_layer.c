/* SPDX-License-Identifier: Apache-2.0 */
/* The header before the IP header in a capture, by libpcap's link types. */
#include "cli/wire/link_layer.h"

#include <pcap/pcap.h>

#include "core/wire/bytes.h"
#include "core/wire/frame.h"

#define SLL_BYTES    16
#define SLL2_BYTES   20
#define FAMILY_BYTES 4 /* DLT_NULL and DLT_LOOP */
#define VLAN_BYTES   4

static bool is_vlan(uint16_t type)
{
    return type == 0x8100 || type == 0x88a8 || type == 0x9100;
}

static uint64_t hash_bytes(const uint8_t *bytes, size_t count)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */

    for (size_t i = 0; i < count; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    return hash;
}

bool oche_link_supported(int datalink)
{
    switch (datalink) {
    case DLT_EN10MB:
    case DLT_RAW:
    case DLT_IPV4:
    case DLT_IPV6:
    case DLT_LINUX_SLL:
    case DLT_LINUX_SLL2:
    case DLT_NULL:
    case DLT_LOOP:
        return true;
    default:
        return false;
    }
}

/* Sets view->ip according to `type`, the protocol at view->ip_at; skips VLAN tags. */
static bool follow_type(uint16_t type, const uint8_t *bytes, size_t count,
                        struct oche_link_view *view)
{
    while (is_vlan(type)) {
        if (count < view->ip_at + VLAN_BYTES)
            return false;
        type = oche_get16(bytes + view->ip_at + 2);
        view->ip_at += VLAN_BYTES;
        view->vlans++;
    }
    view->ip = type == OCHE_ETHERTYPE_IPV4 || type == OCHE_ETHERTYPE_IPV6;
    return true;
}

bool oche_link_ethernet(const uint8_t *bytes, size_t count, struct oche_link_view *view)
{
    if (count < view->ip_at || count - view->ip_at < OCHE_ETH_BYTES)
        return false;
    view->ip_at += OCHE_ETH_BYTES;
    return follow_type(oche_get16(bytes + view->ip_at - 2), bytes, count, view);
}

bool oche_link_view(int datalink, const uint8_t *bytes, size_t count, struct oche_link_view *view)
{
    *view = (struct oche_link_view){.end = SIZE_MAX};
    switch (datalink) {
    case DLT_EN10MB:
        if (!oche_link_ethernet(bytes, count, view))
            return false;
        view->place = hash_bytes(bytes, 12);
        return true;
    case DLT_LINUX_SLL:
        if (count < SLL_BYTES)
            return false;
        view->ip_at = SLL_BYTES;
        view->place = hash_bytes(bytes, SLL_BYTES - 2);
        return follow_type(oche_get16(bytes + 14), bytes, count, view);
    case DLT_LINUX_SLL2:
        if (count < SLL2_BYTES)
            return false;
        view->ip_at = SLL2_BYTES;
        view->place = hash_bytes(bytes + 4, SLL2_BYTES - 4);
        return follow_type(oche_get16(bytes), bytes, count, view);
    case DLT_NULL:
    case DLT_LOOP:
        if (count < FAMILY_BYTES)
            return false;
        view->ip_at = FAMILY_BYTES;
        break;
    default:
        break;
    }
    /* There is no type field, or its numbers differ between systems. So the IP version decides. */
    view->ip =
        count > view->ip_at && (bytes[view->ip_at] >> 4 == 4 || bytes[view->ip_at] >> 4 == 6);
    return count > view->ip_at;
}
