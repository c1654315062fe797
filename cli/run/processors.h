/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OCHE_CLI_RUN_PROCESSORS_H
#define OCHE_CLI_RUN_PROCESSORS_H

#include <stdint.h>

/*
 * Returns how many processors this process may use, at least 1: the minimum of its processors and
 * its control group's quota of processor time.
 */
uint32_t oche_processors(void);

#endif
