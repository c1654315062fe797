/* SPDX-License-Identifier: Apache-2.0 */
/* Included by every unit test: cmocka and the headers that must precede it. */
#ifndef OCHE_TESTS_SUPPORT_TEST_H
#define OCHE_TESTS_SUPPORT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
