/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --events: a file of YAML becomes the text that the library reads, as the library has no reader of
 * YAML.
 */
#include "cli/exec_events.h"

#include <stdlib.h>
#include <string.h>

#include "cli/refuse.h"
#include "device/link/event_text.h"
#include "sim/scenario/events_file.h"

static struct oche_packet_event list[OCHE_MOST_PACKET_EVENTS];

char *oche_events_option(const struct argp_state *state, const char *path)
{
    struct oche_error error;
    char *text, *at;
    uint32_t count;

    if (!oche_events_file_read(path, list, &count, &error))
        oche_refuse(state, "--events: %s", error.text);
    text = at = malloc((size_t)count * OCHE_EVENT_TEXT_BYTES);
    OCHE_GOT(text != NULL);
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0)
            *at++ = ',';
        oche_event_text_write(&list[i], at);
        at += strlen(at);
    }
    return text;
}

void oche_events_check(const struct argp_state *state, const char *name, const char *text)
{
    struct oche_error error;
    uint32_t count;

    if (!oche_event_text_read(text, list, &count, &error))
        oche_refuse(state, "%s: %s", name, error.text);
}
