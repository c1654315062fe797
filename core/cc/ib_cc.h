/* SPDX-License-Identifier: Apache-2.0 */
/* Entries of InfiniBand's congestion control table; see ib_cc.c. */
#ifndef OCHE_CORE_CC_IB_CC_H
#define OCHE_CORE_CC_IB_CC_H

#include "core/base.h"

#define OCHE_IB_CCTI_MOST 127 /* two blocks of 64 entries */

/*
 * An entry is 16 bits: a shift (bits 15-14) and a multiplier (13-0). The delay between two packets
 * is the time of one, shifted right by the shift, times the multiplier.
 */
#define OCHE_IB_CCT_SHIFT_BITS 14
#define OCHE_IB_CCT_MULTIPLIER UINT16_C(0x3fff)

/* Returns the entry closest to a delay of `delay` packet times (0 or more). */
uint16_t oche_ib_cct_entry(double delay);
/* Returns the delay that an entry stands for, in eighths of a packet's time. */
uint32_t oche_ib_cct_eighths(uint16_t entry);
/* Returns the rate of packets with a delay of `eighths` between them. */
uint64_t oche_ib_cct_rate(uint64_t line_rate_bps, uint32_t eighths);

#endif
