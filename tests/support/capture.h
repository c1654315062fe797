/* SPDX-License-Identifier: Apache-2.0 */
/* Reads captures in tests. */
#ifndef OCHE_TESTS_SUPPORT_CAPTURE_H
#define OCHE_TESTS_SUPPORT_CAPTURE_H

#include <stddef.h>
#include <stdint.h>

/*
 * The captures of tests/golden. rxe-* are between two Linux kernels with soft-RoCE. Those with
 * "oche" in their name are between one and our device; a packet was lost, or a receive was missing.
 * The first name is the responder (tests/interop/soft_roce_golden.py).
 */
struct golden_file {
    const char *name;
    unsigned packets;
};
extern const struct golden_file golden_files[];
extern const size_t golden_file_count;

/*
 * Calls `each` for every frame of an Ethernet capture, in a buffer of exactly its size, so that a
 * sanitizer finds reads beyond it. Returns the number of frames. Fails the test if the file is
 * invalid.
 */
unsigned capture_each(const char *directory, const char *name,
                      void (*each)(void *context, unsigned number, uint8_t *bytes, size_t count),
                      void *context);

#endif
