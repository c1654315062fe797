/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of random cases: small draws, and failures that print how to repeat the case. */
#ifndef OCHE_TESTS_SUPPORT_RANDOM_CASE_H
#define OCHE_TESTS_SUPPORT_RANDOM_CASE_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/random.h"

/* Returns a number from 0 to n - 1. */
static inline uint32_t case_below(struct oche_random *random, uint32_t n)
{
    return (uint32_t)oche_random_below(random, n);
}

/* Prints what is wrong and the command that repeats this case of `test`; ends the test. */
__attribute__((format(printf, 3, 4))) static inline _Noreturn void
case_wrong(const char *test, uint64_t seed, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, "\nto repeat: tests/property/%s %" PRIu64 " %" PRIu64 "\n", test, seed, seed);
    exit(1);
}

#endif
