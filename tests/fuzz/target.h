/* SPDX-License-Identifier: Apache-2.0 */
/* A fuzz target is one function; target.c makes of it what libFuzzer and replay.c call. */
#ifndef OCHE_TESTS_FUZZ_TARGET_H
#define OCHE_TESTS_FUZZ_TARGET_H

#include <stddef.h>
#include <stdint.h>

/* Tries one input. Returns NULL, or which rule it broke. */
const char *fuzz_input(const uint8_t *bytes, size_t count);

#endif
