/* SPDX-License-Identifier: Apache-2.0 */
/* Definitions of what inside.h declares. */
#include "device/inside.h"

__thread volatile uint32_t oche_inside_depth;
void (*_Atomic oche_inside_left)(void);
