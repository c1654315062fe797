/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OCHE_CLI_RUN_PROCESSORS_H
#define OCHE_CLI_RUN_PROCESSORS_H

#include <stdint.h>

/*
 * Returns how many processors this process may use, 1 or more: those that it may run on, or as many
 * as its control group has the time of.
 */
uint32_t oche_processors(void);

#endif
