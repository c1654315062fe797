/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SipHash-2-4 (Aumasson and Bernstein, 2012): numbers that nobody can predict without the key,
 * after any number of others.
 */
#ifndef OCHE_ROGUE_VERBS_SIPHASH_H
#define OCHE_ROGUE_VERBS_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

/* Returns the hash of bytes, whose count is a multiple of 8. */
uint64_t rv_siphash(const uint64_t key[2], const uint8_t *bytes, size_t count);

#endif
