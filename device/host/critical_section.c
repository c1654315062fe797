/* SPDX-License-Identifier: Apache-2.0 */
/* Definitions of what critical_section.h declares. */
#include "device/host/critical_section.h"

__thread volatile uint32_t oche_critical_depth;
void (*_Atomic oche_critical_left)(void);
