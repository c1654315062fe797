/* SPDX-License-Identifier: Apache-2.0 */
/* What every unit test includes: cmocka and the headers that must come before it. */
#ifndef OCHE_TESTS_SUPPORT_TEST_H
#define OCHE_TESTS_SUPPORT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
