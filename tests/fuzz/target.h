/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fuzz target is one function. target.c builds the functions for libFuzzer and replay.c from it.
 */
#ifndef OCHE_TESTS_FUZZ_TARGET_H
#define OCHE_TESTS_FUZZ_TARGET_H

#include <stddef.h>
#include <stdint.h>

/* Tries one input. Returns NULL, or the broken rule. */
const char *fuzz_input(const uint8_t *bytes, size_t count);

#endif
