/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Equipment in use: the defaults of switches and networks for `defaults: deployed`, and for `oche
 * buffers` without options. The sizes of HPCC's network (dcqcn.md#deployed): hosts of 100 Gbit/s,
 * uplinks of four times that, 1 us for each link.
 */
#ifndef OCHE_FABRIC_IN_USE_H
#define OCHE_FABRIC_IN_USE_H

#include "core/base.h"

#define OCHE_IN_USE_PORTS     32                /* of a switch */
#define OCHE_IN_USE_RATE      (100 * OCHE_GBPS) /* of a host's link, in bits per second */
#define OCHE_IN_USE_UPLINK_BY 4                 /* an uplink's rate over a host's */
#define OCHE_IN_USE_DELAY     OCHE_US           /* of each link, one way */
/* Lossless priorities that a switch is divided for, if it carries no more. */
#define OCHE_IN_USE_PRIORITIES 2

#endif
