/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hosts that send to one receiver together (Dart sec III-D: look-ahead), as the user lists
 * them: "192.0.2.1,192.0.2.2". A host's number is its place among the addresses in rising order,
 * counted from 1, so the order of the text does not matter.
 */
#ifndef OCHE_PARAMS_INCAST_LIST_H
#define OCHE_PARAMS_INCAST_LIST_H

#include <stdint.h>

#include "core/wire/opcode.h"
#include "params/error.h"

struct oche_incast_list {
    uint32_t count;
    bool ipv6;
    /* IPv6, or IPv4 mapped into it, in rising order */
    uint8_t addresses[OCHE_GROUP_MOST][16];
};

/*
 * Returns false, with an error, for anything but 2 to OCHE_GROUP_MOST different addresses of hosts,
 * all IPv4 or all IPv6.
 */
bool oche_incast_list_parse(struct oche_incast_list *list, const char *text,
                            struct oche_error *error);

#endif
