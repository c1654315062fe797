/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unpredictable numbers: memory keys, queue pair numbers, nonces, source ports. They come from the
 * kernel (getrandom), many at a time, and none is computed from another: knowing some reveals
 * nothing about the rest. Numbers that were given out are wiped from the block.
 *
 * Reproducible random numbers, the same for the same seed, are in core/random.h.
 */
#ifndef OCHE_DEVICE_HOST_ENTROPY_H
#define OCHE_DEVICE_HOST_ENTROPY_H

#include "core/base.h"

#define OCHE_ENTROPY_BLOCK 256 /* the most that getrandom gives without being interrupted */

/* Fills `bytes` with random bytes. Returns false, with errno, on failure. */
typedef bool oche_entropy_fill(void *context, void *bytes, size_t count);

struct oche_entropy {
    oche_entropy_fill *fill;
    void *context;
    bool failed;   /* the source has failed at least once: since then all numbers are 0 */
    int error;     /* errno of the failed call */
    uint32_t left; /* unused bytes, at the end of `block` */
    uint8_t block[OCHE_ENTROPY_BLOCK];
};

/* `fill` NULL: the kernel. The first number reads the first block. */
void oche_entropy_init(struct oche_entropy *entropy, oche_entropy_fill *fill, void *context);
/* Returns a random number; 0 if the source has failed (entropy->failed). */
uint64_t oche_entropy_u64(struct oche_entropy *entropy);
/* As oche_entropy_u64, in [0, n); n must not be 0. The bias is below n / 2^64. */
uint64_t oche_entropy_below(struct oche_entropy *entropy, uint64_t n);

#endif
