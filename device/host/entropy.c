/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of random bytes from the kernel. */
#include "device/host/entropy.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

static bool ask_kernel(void *context, void *bytes, size_t count)
{
    ssize_t got;

    (void)context;
    do {
        got = getrandom(bytes, count, 0);
    } while (got < 0 && errno == EINTR);
    if (got >= 0 && (size_t)got < count)
        errno = EIO; /* never, for so few bytes */
    return got == (ssize_t)count;
}

void oche_entropy_init(struct oche_entropy *entropy, oche_entropy_fill *fill, void *context)
{
    *entropy = (struct oche_entropy){.fill = fill != NULL ? fill : ask_kernel, .context = context};
}

uint64_t oche_entropy_u64(struct oche_entropy *entropy)
{
    uint64_t number;
    uint8_t *from;

    if (entropy->left < sizeof(number) && !entropy->failed) {
        errno = 0;
        entropy->failed = !entropy->fill(entropy->context, entropy->block, sizeof(entropy->block));
        entropy->error = errno;
        entropy->left = sizeof(entropy->block);
    }
    if (OCHE_UNLIKELY(entropy->failed))
        return 0;
    from = entropy->block + sizeof(entropy->block) - entropy->left;
    memcpy(&number, from, sizeof(number));
    memset(from, 0, sizeof(number));
    entropy->left -= (uint32_t)sizeof(number);
    return number;
}

uint64_t oche_entropy_below(struct oche_entropy *entropy, uint64_t n)
{
    return (uint64_t)(((unsigned __int128)oche_entropy_u64(entropy) * n) >> 64);
}
