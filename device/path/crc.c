/* SPDX-License-Identifier: Apache-2.0 */
/* Finds isa-l's CRC-32 at run time, so that it is not a dependency; otherwise zlib's is used. */
#include "device/path/crc.h"

#include <dlfcn.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif
#include <string.h>
#include <zlib.h>

#define LIBRARY "libisal.so.2"
#define SYMBOL  "crc32_gzip_refl"

_Static_assert(sizeof(size_t) == sizeof(uint64_t), "isa-l's length is 64 bits");

uint32_t oche_crc_zlib(uint32_t crc, const uint8_t *bytes, size_t count)
{
    return (uint32_t)crc32_z(crc, bytes, count);
}

#if defined(__x86_64__)
/*
 * isa-l's fast version leaves the upper halves of vector registers in use. After that, the next
 * instructions that use only the lower halves (SSE) wait for tens of nanoseconds.
 */
static oche_crc32 *isal;

__attribute__((target("avx"))) static uint32_t isal_and_clean(uint32_t crc, const uint8_t *bytes,
                                                              size_t count)
{
    const uint32_t sum = isal(crc, bytes, count);

    _mm256_zeroupper();
    return sum;
}

static oche_crc32 *cleaned(oche_crc32 *crc32)
{
    isal = crc32;
    return __builtin_cpu_supports("avx") ? isal_and_clean : crc32;
}
#else
static oche_crc32 *cleaned(oche_crc32 *crc32)
{
    return crc32;
}
#endif

/*
 * True if the function computes the same sums as zlib. A library of that name might be something
 * else.
 */
static bool agrees(oche_crc32 *crc32)
{
    uint8_t bytes[512];
    uint32_t theirs = 0, ours = 0;

    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)(i * 37 + 11);
    for (size_t count = 1; count <= sizeof(bytes); count += 1 + count / 2) {
        theirs = crc32(theirs, bytes, count);
        ours = oche_crc_zlib(ours, bytes, count);
        if (theirs != ours)
            return false;
    }
    return true;
}

oche_crc32 *oche_crc_choose(const char **name)
{
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    void *symbol = library != NULL ? dlsym(library, SYMBOL) : NULL;
    oche_crc32 *crc32 = NULL;

    if (symbol != NULL)
        memcpy(&crc32, &symbol,
               sizeof(crc32)); /* POSIX allows this conversion; ISO C forbids the cast */
    if (crc32 != NULL && !agrees(crc32))
        crc32 = NULL;
    if (crc32 == NULL && library != NULL)
        dlclose(library);
    if (name != NULL)
        *name = crc32 != NULL ? "isa-l" : "zlib";
    return crc32 != NULL ? cleaned(crc32) : oche_crc_zlib;
}
