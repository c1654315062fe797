/* SPDX-License-Identifier: Apache-2.0 */
/* Rates as ns-3's DataRate reads them: "100Gbps", "50Mb/s", "12.5GB/s", "25000000000.0". */
#ifndef OCHE_SIM_TOPOLOGY_NS3_RATE_H
#define OCHE_SIM_TOPOLOGY_NS3_RATE_H

#include "core/base.h"

/*
 * Reads a rate in bits per second. A plain number is in bits per second, too. Returns false if the
 * text is no rate, or one above 2^60 bit/s.
 */
bool oche_ns3_rate(const char *text, uint64_t *bps);

#endif
