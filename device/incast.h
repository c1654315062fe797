/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Look-ahead by devices (Dart sec III-D, dart.md#d39): the user lists the hosts that send to one
 * receiver together, and gives all of them and the receiver the same list. The hosts are the first
 * peers of each device, so they have the same indices everywhere, and packets can name them.
 */
#ifndef OCHE_DEVICE_INCAST_H
#define OCHE_DEVICE_INCAST_H

#include "core/wire/extension.h"
#include "device/host/lock.h"
#include "params/error.h"

struct oche_device;
struct oche_device_config;
struct oche_incast_list;

/* Groups of senders, by receiver. */
struct device_incast {
    uint32_t count; /* hosts; their indices are 1 to count */
    /*
     * groups[i] is the group of receiver i, from 1 to count, and has all other hosts. groups[0] is
     * for receivers that are not in the list, and has all hosts.
     */
    struct oche_group groups[OCHE_GROUP_MOST + 1];
    uint8_t members[OCHE_GROUP_MOST + 1][2 * OCHE_GROUP_MOST];
};

/* Returns the number of address indices that mean the same host to every device of the list. */
uint32_t device_incast_numbers(const struct oche_device_config *config);
#endif
