/* SPDX-License-Identifier: Apache-2.0 */
/* Orders captured packets; see order.h. */
#include "cli/check_nic/order.h"

#include <stdlib.h>

#define LAST_NUMBER UINT64_C(0x7fffffff) /* of Lumina's switch; after it comes 1 */
#define CLOCK_BITS  48                   /* of its clock, in nanoseconds: it wraps after 78 hours */
#define SMALL_FALL  1000                 /* ns: clocks of a switch's ports differ by less */

typedef unsigned long long number;

/* ---- the order ---- */

static int compare_in_files(const void *left, const void *right)
{
    const struct oche_check_frame *a = left, *b = right;

    if (a->file != b->file)
        return a->file < b->file ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

static int compare_mirrored(const void *left, const void *right)
{
    const struct oche_check_frame *a = left, *b = right;

    if (a->mirror_number != b->mirror_number)
        return a->mirror_number < b->mirror_number ? -1 : 1;
    return compare_in_files(left, right);
}

static bool has_switch_number(const struct oche_check_frame *frame)
{
    return frame->ethernet && frame->mirror_number >= 1 && frame->mirror_number <= LAST_NUMBER;
}

/*
 * Says whether packets without the mirror's UDP port look like a mirror's: the test may not name
 * the port, or the switch may have kept it. Most numbers of a mirror differ; other captures have
 * the MAC addresses of two hosts.
 */
static bool looks_mirrored(struct oche_check_frames *frames)
{
    size_t differ = 1;

    if (frames->count < 3)
        return false;
    for (size_t i = 0; i < frames->count; i++)
        if (frames->list[i].ttl > OCHE_SEEN_DAMAGED || !has_switch_number(&frames->list[i]))
            return false;
    qsort(frames->list, frames->count, sizeof(*frames->list), compare_mirrored);
    for (size_t i = 1; i < frames->count; i++)
        differ += frames->list[i].mirror_number != frames->list[i - 1].mirror_number;
    qsort(frames->list, frames->count, sizeof(*frames->list), compare_in_files);
    return differ > 2 && 2 * differ >= frames->count;
}

/* Returns false, with an error, if a packet cannot be of Lumina's switch. */
static bool check_mirrored(const struct oche_check_frames *frames, char *const *paths,
                           struct oche_error *error)
{
    const struct oche_check_frame *port = NULL;

    for (size_t i = 0; i < frames->count; i++)
        if (frames->list[i].rewritten)
            port = &frames->list[i];
    for (size_t i = 0; i < frames->count; i++) {
        const struct oche_check_frame *frame = &frames->list[i];
        const char *path = paths[frame->file];

        if (port != NULL && !frame->rewritten)
            return oche_fail(error,
                             "%s: frame %llu: has RoCE's UDP port, but others have that of "
                             "Lumina's mirror; give captures of the mirror alone",
                             path, (number)frame->number);
        if (!has_switch_number(frame))
            return oche_fail(error,
                             "%s: frame %llu: is mirrored, but its source MAC address is no number "
                             "of Lumina's switch (1 to %llu)",
                             path, (number)frame->number, (number)LAST_NUMBER);
        if (frame->ttl > OCHE_SEEN_DAMAGED)
            return oche_fail(error,
                             "%s: frame %llu: is mirrored, but its TTL is %u; Lumina's switch "
                             "writes 0 to 3",
                             path, (number)frame->number, frame->ttl);
    }
    return true;
}

static bool check_numbers(const struct oche_check_frames *frames, char *const *paths,
                          struct oche_error *error)
{
    for (size_t i = 1; i < frames->count; i++) {
        const struct oche_check_frame *a = &frames->list[i - 1], *b = &frames->list[i];

        if (a->mirror_number == b->mirror_number)
            return oche_fail(error,
                             "two packets have the number %llu of Lumina's switch: frame %llu of "
                             "%s and frame %llu of %s; give each file once, and files of one test",
                             (number)a->mirror_number, (number)a->number, paths[a->file],
                             (number)b->number, paths[b->file]);
    }
    return true;
}

/* Reverses the frames from `from` to the one before `end`. */
static void reverse(struct oche_check_frame *frames, size_t from, size_t end)
{
    for (; from + 1 < end; from++, end--) {
        const struct oche_check_frame kept = frames[from];

        frames[from] = frames[end - 1];
        frames[end - 1] = kept;
    }
}

/*
 * Puts sorted frames with different numbers in the switch's order. The numbers are a circle, and
 * the first packet is the one behind the largest gap. Returns how many numbers are missing.
 */
static uint64_t begin_behind_gap(struct oche_check_frames *frames)
{
    struct oche_check_frame *list = frames->list;
    const size_t count = frames->count;
    uint64_t largest = list[0].mirror_number + LAST_NUMBER - list[count - 1].mirror_number;
    size_t first = 0;

    for (size_t i = 1; i < count; i++) {
        const uint64_t gap = list[i].mirror_number - list[i - 1].mirror_number;

        if (gap > largest) {
            largest = gap;
            first = i;
        }
    }
    if (first > 0) { /* rotates */
        reverse(list, 0, first);
        reverse(list, first, count);
        reverse(list, 0, count);
    }
    return LAST_NUMBER - largest + 1 - count;
}

static bool order_mirrored(struct oche_check_frames *frames, char *const *paths,
                           struct oche_check_capture *capture, struct oche_error *error)
{
    if (!check_mirrored(frames, paths, error))
        return false;
    qsort(frames->list, frames->count, sizeof(*frames->list), compare_mirrored);
    if (!check_numbers(frames, paths, error))
        return false;
    capture->mirror = true;
    capture->missing = begin_behind_gap(frames);
    for (size_t i = 0; i < frames->count; i++) {
        struct oche_check_frame *frame = &frames->list[i];

        frame->time_ns = frame->mirror_time_ns;
        if (frame->udp_checksum != 0) /* the switch keeps the source port there */
            frame->packet.udp_source_port = frame->udp_checksum;
    }
    return true;
}

/* ---- the times ---- */

/*
 * Sets each time to the time since the first packet, for a clock of so many bits. No time falls: a
 * packet that is earlier than one before it gets the time of that one. Counts those that are
 * earlier by more than a small deviation of the clock.
 */
static uint64_t set_times(struct oche_check_frames *frames, unsigned bits)
{
    const uint64_t begin = frames->count > 0 ? frames->list[0].time_ns : 0;
    uint64_t earlier = 0, last = 0;

    for (size_t i = 0; i < frames->count; i++) {
        struct oche_check_frame *frame = &frames->list[i];
        const uint64_t since_last = (frame->time_ns - begin - last) << (64 - bits);
        const uint64_t now = last + (since_last >> (64 - bits));

        if (since_last >> 63 == 0 && now >= last) /* the sum could overflow */
            last = now;
        else if ((0 - since_last) >> (64 - bits) > SMALL_FALL)
            earlier++;
        frame->time_ns = last;
    }
    return earlier;
}

bool oche_check_order(struct oche_check_frames *frames, char *const *paths, size_t path_count,
                      struct oche_check_capture *capture, struct oche_error *error)
{
    bool mirrored = false;

    for (size_t i = 0; i < frames->count; i++)
        mirrored = mirrored || frames->list[i].rewritten;
    if (mirrored || looks_mirrored(frames)) {
        if (!order_mirrored(frames, paths, capture, error))
            return false;
    } else if (path_count > 1) {
        return oche_fail(error,
                         "%s and %s: are no mirror of Lumina's, and clocks of two places differ; "
                         "capture both directions in one place (mergecap joins captures of one "
                         "clock)",
                         paths[0], paths[1]);
    }
    capture->earlier = set_times(frames, capture->mirror ? CLOCK_BITS : 64);
    return true;
}
