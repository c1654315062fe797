/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer target: any text as scripted events (up to a newline), and any packets behind it. What
 * is accepted is valid, and is the same when it is written and read again. Each event happens once,
 * and each kept packet goes on once. tools/fuzz 60 events runs it.
 */
#include <stdlib.h>

#include "device/link/event_text.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/target.h"

static struct oche_packet_event list[OCHE_MOST_PACKET_EVENTS], again[OCHE_MOST_PACKET_EVENTS];

static const char *check_list(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        char text[OCHE_EVENT_TEXT_BYTES];
        struct oche_error error;
        uint32_t one;

        if (!oche_packet_event_valid(&list[i]))
            return "an event that is not valid";
        oche_event_text_write(&list[i], text);
        if (!oche_event_text_read(text, again, &one, &error) || one != 1 ||
            !oche_packet_event_same(&list[i], &again[0]) || list[i].type != again[0].type ||
            list[i].delay != again[0].delay || list[i].overtake != again[0].overtake)
            return "an event that is another one when it is read again";
    }
    return NULL;
}

/* Two bytes are a packet. Returns the rule that is broken, or NULL. */
static const char *see_packets(struct oche_packet_events *events, const uint8_t *bytes,
                               size_t count)
{
    static uint8_t handles[OCHE_MOST_PACKET_EVENTS];
    struct oche_packet_event_counts counts;
    uint64_t happened = 0, kept = 0, released = 0;
    uint8_t *handle;

    for (size_t i = 0; i + 1 < count; i += 2) {
        const struct oche_packet packet = {.opcode = bytes[i],
                                           .psn = bytes[i + 1] >> 3,
                                           .dest_qpn = bytes[i + 1] >> 1 & 3,
                                           .src = bytes[i + 1] & 1};
        const struct oche_packet_event *event = oche_packet_events_see(events, &packet);

        happened += event != NULL;
        if (event != NULL && event->type == OCHE_PACKET_EVENT_REORDER)
            oche_packet_events_keep(events, &handles[kept++]);
        while ((handle = oche_packet_events_release(events)) != NULL) {
            if (handle < handles || handle >= handles + kept)
                return "a packet that was not kept goes on";
            released++;
        }
    }
    oche_packet_events_counts(events, &counts);
    if (counts.happened != happened || counts.happened + counts.never != counts.listed)
        return "events that are not counted once";
    return counts.kept == kept - released ? NULL : "packets that are kept and go on";
}

const char *fuzz_input(const uint8_t *bytes, size_t count)
{
    static char text[OCHE_MOST_PACKET_EVENTS * OCHE_EVENT_TEXT_BYTES];
    struct oche_error error = {""};
    const uint8_t *end = memchr(bytes, '\n', count);
    size_t length = end != NULL ? (size_t)(end - bytes) : count;
    struct oche_packet_events *events;
    const char *wrong;
    uint32_t events_count;

    length = length < sizeof(text) - 1 ? length : sizeof(text) - 1;
    memcpy(text, bytes, length);
    text[length] = '\0';
    if (!oche_event_text_read(text, list, &events_count, &error))
        return error.text[0] == '\0' || strchr(error.text, '\n') != NULL
                   ? "events that are refused without a reason"
                   : NULL;
    wrong = check_list(events_count);
    if (wrong != NULL)
        return wrong;
    events = oche_packet_events_create(malloc(oche_packet_events_bytes(list, events_count)), list,
                                       events_count);
    wrong = end != NULL ? see_packets(events, end + 1, count - length - 1) : NULL;
    free(events);
    return wrong;
}
