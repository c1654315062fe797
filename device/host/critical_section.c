/* SPDX-License-Identifier: Apache-2.0 */
/* The variables of critical_section.h. */
#include "device/host/critical_section.h"

__thread volatile uint32_t oche_critical_depth;
void (*_Atomic oche_critical_left)(void);
