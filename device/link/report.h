/* SPDX-License-Identifier: Apache-2.0 */
/* Counts of packets that the links of a device have lost or changed. */
#ifndef OCHE_DEVICE_LINK_REPORT_H
#define OCHE_DEVICE_LINK_REPORT_H

#include "fabric/link.h"

/* In both directions. */
struct oche_links_report {
    uint64_t lost[OCHE_LINK_LOSSES];
    uint64_t late, twice, damaged, marked;
    uint64_t seed; /* of the first link */
};

#endif
