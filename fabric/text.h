/* SPDX-License-Identifier: Apache-2.0 */
/* One line of words and numbers into the caller's memory, for the checks of configurations. */
#ifndef OCHE_FABRIC_TEXT_H
#define OCHE_FABRIC_TEXT_H

#include "core/base.h"

/*
 * Writes `format` to `text` (of `size` bytes; 0: nowhere), cut to fit and zero-terminated, each
 * '#' replaced by the next of `numbers`. Always false, so that a check can return it.
 */
bool oche_fabric_refuse(char *text, size_t size, const char *format, const uint64_t *numbers);

#endif
