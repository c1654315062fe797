/* SPDX-License-Identifier: Apache-2.0 */
/* Formats error messages of words and numbers, for checks of configurations. */
#ifndef OCHE_FABRIC_TEXT_H
#define OCHE_FABRIC_TEXT_H

#include "core/base.h"
#include "core/error.h"

/*
 * Writes `format` to `error` (NULL: nowhere), with each '#' replaced by the next of `numbers`.
 * Returns false, so that a check can return it.
 */
bool oche_fabric_refuse(struct oche_error *error, const char *format, const uint64_t *numbers);
/* Like oche_fabric_refuse, but appends to the text that is in `error`. */
bool oche_fabric_refuse_more(struct oche_error *error, const char *format, const uint64_t *numbers);

#endif
