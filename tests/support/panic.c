/* SPDX-License-Identifier: Apache-2.0 */
/*
 * oche_panic for unit tests: a broken invariant fails the test. expect_assert_failure() can expect
 * one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/base.h"

void oche_panic(const char *file, int line, const char *what)
{
    mock_assert(0, what, file, line);
    abort();
}
