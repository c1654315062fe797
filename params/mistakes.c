/* SPDX-License-Identifier: Apache-2.0 */
#include "params/mistakes.h"

#include <string.h>

size_t oche_mistakes_kept(const struct oche_mistakes *mistakes)
{
    return mistakes->count < OCHE_MISTAKES_KEPT ? mistakes->count : OCHE_MISTAKES_KEPT;
}

void oche_mistakes_add(struct oche_mistakes *mistakes, uint64_t place,
                       const struct oche_error *error)
{
    const size_t kept = oche_mistakes_kept(mistakes);
    size_t at = kept;

    while (at > 0 && mistakes->kept[at - 1].place > place)
        at--;
    mistakes->count++;
    if (at == OCHE_MISTAKES_KEPT)
        return;
    /* If the list is full, its last mistake is removed. */
    const size_t moved = (kept == OCHE_MISTAKES_KEPT ? kept - 1 : kept) - at;

    memmove(&mistakes->kept[at + 1], &mistakes->kept[at], moved * sizeof(mistakes->kept[0]));
    mistakes->kept[at].place = place;
    mistakes->kept[at].error = *error;
}
