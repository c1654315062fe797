/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer target: any bytes as messages to a connection manager, and as the actions of its
 * programs. tools/fuzz 60 connections runs it; replay.c does so without libFuzzer.
 */
#include "tests/fuzz/connections_check.h"
#include "tests/fuzz/target.h"

const char *fuzz_input(const uint8_t *bytes, size_t count)
{
    return connections_check(bytes, count);
}
