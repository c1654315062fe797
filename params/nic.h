/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The habits of an adapter as users write them: a profile, and values that differ from it, as in
 * connectx-6 or connectx-5,limiter_lag=160KB.
 */
#ifndef OCHE_PARAMS_NIC_H
#define OCHE_PARAMS_NIC_H

#include "core/nic/profile.h"
#include "params/error.h"

/*
 * Parses "PROFILE[,KEY=VALUE…]". Returns false if `text` is wrong; `error` tells what is wrong and
 * what would be right.
 */
bool oche_nic_parse(struct oche_nic_habits *habits, const char *text, struct oche_error *error);

/* Sets one habit from its text. `key` and `value` are NUL-terminated. Errors as above. */
bool oche_nic_set(struct oche_nic_habits *habits, const char *key, const char *value,
                  struct oche_error *error);

/* Writes the habits as oche_nic_parse reads them. Returns false if there is no room. */
bool oche_nic_write(const struct oche_nic_habits *habits, char *text, size_t bytes);

/* Starts from a profile. Returns false, with an error, if there is none of that name. */
bool oche_nic_start(struct oche_nic_habits *habits, const char *profile, struct oche_error *error);

#define OCHE_NIC_TEXT_BYTES 2048 /* enough for oche_nic_write */

#endif
