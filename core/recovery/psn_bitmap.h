/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One bit for each PSN of a window that moves along the circle of PSNs: PSN p has bit p modulo the
 * size. When the caller moves the window, it clears the bits of the PSNs that leave the window, so
 * bits outside of the window are 0. Zeroed memory is an empty bitmap.
 */
#ifndef OCHE_CORE_RECOVERY_PSN_BITMAP_H
#define OCHE_CORE_RECOVERY_PSN_BITMAP_H

#include "core/base.h"

#define OCHE_PSN_BITMAP_BITS  4096 /* the widest window; a power of two */
#define OCHE_PSN_BITMAP_WORDS (OCHE_PSN_BITMAP_BITS / 64)

struct oche_psn_bitmap {
    uint64_t words[OCHE_PSN_BITMAP_WORDS];
};

static inline uint64_t *oche_psn_word(struct oche_psn_bitmap *bitmap, uint32_t psn)
{
    return &bitmap->words[psn / 64 % OCHE_PSN_BITMAP_WORDS];
}

static inline bool oche_psn_has(const struct oche_psn_bitmap *bitmap, uint32_t psn)
{
    return bitmap->words[psn / 64 % OCHE_PSN_BITMAP_WORDS] >> psn % 64 & 1;
}

static inline void oche_psn_set(struct oche_psn_bitmap *bitmap, uint32_t psn)
{
    *oche_psn_word(bitmap, psn) |= UINT64_C(1) << psn % 64;
}

/* Clears the bits of PSNs [from, from + count). */
static inline void oche_psn_clear(struct oche_psn_bitmap *bitmap, uint32_t from, uint32_t count)
{
    if (count >= OCHE_PSN_BITMAP_BITS) { /* clears the whole bitmap, and not beyond it */
        *bitmap = (struct oche_psn_bitmap){0};
        return;
    }
    while (count > 0) {
        uint32_t low = from % 64, bits = 64 - low < count ? 64 - low : count;
        uint64_t mask = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
        *oche_psn_word(bitmap, from) &= ~(mask << low);
        from = oche_psn_add(from, bits);
        count -= bits;
    }
}

/* Returns how many bits of PSNs [from, from + count) are 1. */
static inline uint32_t oche_psn_count(const struct oche_psn_bitmap *bitmap, uint32_t from,
                                      uint32_t count)
{
    uint32_t ones = 0;

    if (count > OCHE_PSN_BITMAP_BITS)
        count = OCHE_PSN_BITMAP_BITS;
    while (count > 0) {
        uint32_t low = from % 64, bits = 64 - low < count ? 64 - low : count;
        uint64_t mask = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;

        ones += (uint32_t)__builtin_popcountll(bitmap->words[from / 64 % OCHE_PSN_BITMAP_WORDS] &
                                               mask << low);
        from = oche_psn_add(from, bits);
        count -= bits;
    }
    return ones;
}

/* Returns the bits of PSNs [from, from + 64); the lowest bit of the result is that of `from`. */
static inline uint64_t oche_psn_get64(const struct oche_psn_bitmap *bitmap, uint32_t from)
{
    uint32_t word = from / 64 % OCHE_PSN_BITMAP_WORDS, low = from % 64;
    uint64_t bits = bitmap->words[word] >> low;

    if (low == 0)
        return bits;
    return bits | bitmap->words[(word + 1) % OCHE_PSN_BITMAP_WORDS] << (64 - low);
}

/* Returns the first PSN in [from, end) whose bit is 1, or `end`. */
static inline uint32_t oche_psn_first_set(const struct oche_psn_bitmap *bitmap, uint32_t from,
                                          uint32_t end)
{
    while (oche_psn_diff(from, end) < 0) {
        const uint64_t bits = oche_psn_get64(bitmap, from);

        if (bits != 0) {
            from = oche_psn_add(from, (uint32_t)__builtin_ctzll(bits));
            break;
        }
        from = oche_psn_add(from, 64);
    }
    return oche_psn_diff(from, end) < 0 ? from : end;
}

/* Returns the first PSN in [from, end) whose bit is 0, or `end`. */
static inline uint32_t oche_psn_first_clear(const struct oche_psn_bitmap *bitmap, uint32_t from,
                                            uint32_t end)
{
    while (oche_psn_diff(from, end) < 0) {
        uint64_t bits = oche_psn_get64(bitmap, from);
        uint32_t run = bits == UINT64_MAX ? 64 : (uint32_t)__builtin_ctzll(~bits);
        from = oche_psn_add(from, run);
        if (run < 64)
            break;
    }
    return oche_psn_diff(from, end) < 0 ? from : end;
}

#endif
