/* SPDX-License-Identifier: Apache-2.0 */
/* Seals and checks a view. Needs nothing of the NIC, so that liboche-files.so has it, too. */
#include <string.h>

#include "device/view/format.h"

#define HEAD_BYTES offsetof(struct oche_view, qp)
#define SUMMED     offsetof(struct oche_view, open_ns)

_Static_assert(sizeof(struct oche_view_qp) % 8 == 0 && HEAD_BYTES % 8 == 0 && SUMMED % 8 == 0,
               "the sum is of whole words");

/*
 * Distinguishes a half-written file from a whole one (FNV-1a, by words); not a protection against
 * forgery.
 */
static uint64_t checksum(const struct oche_view *view, size_t bytes)
{
    const uint8_t *at = (const uint8_t *)view;
    uint64_t sum = UINT64_C(0xcbf29ce484222325), word;

    for (size_t i = SUMMED; i < bytes; i += sizeof(word)) {
        memcpy(&word, at + i, sizeof(word));
        sum = (sum ^ word) * UINT64_C(0x100000001b3);
        sum ^= sum >> 29;
    }
    return sum;
}

void oche_view_seal(struct oche_view *view)
{
    const uint32_t listed = view->listed < OCHE_VIEW_QPS ? view->listed : OCHE_VIEW_QPS;

    view->magic = OCHE_VIEW_MAGIC;
    view->version = OCHE_VIEW_VERSION;
    view->bytes = (uint32_t)(HEAD_BYTES + listed * sizeof(view->qp[0]));
    view->sum = checksum(view, view->bytes);
}

static void make_text(char *text, size_t bytes)
{
    text[bytes - 1] = '\0';
    for (; *text != '\0'; text++)
        if (*text < ' ' || *text > '~')
            *text = '?';
}

enum oche_view_fault oche_view_check(struct oche_view *view, size_t count)
{
    if (count < SUMMED)
        return OCHE_VIEW_TORN; /* it may be written at this moment */
    if (view->magic != OCHE_VIEW_MAGIC)
        return OCHE_VIEW_BAD;
    if (view->version != OCHE_VIEW_VERSION)
        return OCHE_VIEW_OTHER_VERSION;
    if (view->bytes < HEAD_BYTES || view->bytes > sizeof(*view) || view->bytes % 8 != 0)
        return OCHE_VIEW_BAD;
    if (view->bytes > count || checksum(view, view->bytes) != view->sum)
        return OCHE_VIEW_TORN;
    if (view->listed > OCHE_VIEW_QPS || view->qps < view->listed ||
        view->bytes != HEAD_BYTES + view->listed * sizeof(view->qp[0]))
        return OCHE_VIEW_BAD;
    for (uint32_t i = 0; i < view->listed; i++)
        if (view->qp[i].transport > OCHE_TRANSPORT_UD || view->qp[i].state > OCHE_QP_ERR)
            return OCHE_VIEW_BAD;
    make_text(view->command, sizeof(view->command));
    make_text(view->arguments, sizeof(view->arguments));
    make_text(view->cc, sizeof(view->cc));
    make_text(view->recovery, sizeof(view->recovery));
    return OCHE_VIEW_GOOD;
}
