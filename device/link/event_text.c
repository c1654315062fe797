/* SPDX-License-Identifier: Apache-2.0 */
/* Scripted events as text; see event_text.h. */
#include "device/link/event_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "params/printable.h"
#include "params/units.h"

#define EXAMPLE "write QPN:PSN:ITER:TYPE, such as 0:5:1:drop or 0:7:1:delay=20us"

#define WORD_BYTES 64 /* of what is read, with its end */

/* The fields before the type, in their order. */
static const char *const numbers[] = {"qpn", "psn", "iter"};

void oche_event_text_write(const struct oche_packet_event *event, char text[OCHE_EVENT_TEXT_BYTES])
{
    const struct oche_param *by = oche_packet_event_by(event->type);
    const struct oche_param *type = oche_param_find(&oche_packet_event_params, "type");
    char value[OCHE_VALUE_BYTES] = "";

    if (by != NULL)
        oche_value_format(by, oche_param_get(by, event), value, sizeof(value));
    snprintf(text, OCHE_EVENT_TEXT_BYTES, "%" PRIu64 ":%" PRIu64 ":%" PRIu64 ":%s%s%s", event->qpn,
             event->psn, event->iter, type->choices[event->type], by != NULL ? "=" : "", value);
}

/* Reads the value of one member. `length`: bytes of it at `text`. */
static bool read_member(const struct oche_param *param, const char *text, size_t length,
                        struct oche_packet_event *event, struct oche_error *error)
{
    char value[WORD_BYTES];
    union oche_value parsed;
    struct oche_error why;

    if (length >= sizeof(value))
        return oche_fail(error, "%s: is too long; " EXAMPLE, param->name);
    memcpy(value, text, length);
    value[length] = '\0';
    if (!oche_value_parse(param, value, &parsed, &why))
        return oche_fail(error, "%s: %s", param->name, why.text);
    oche_param_set(param, event, parsed);
    return true;
}

/* Reads "drop" or "delay=20us". */
static bool read_type(const char *text, size_t length, struct oche_packet_event *event,
                      struct oche_error *error)
{
    const char *equals = memchr(text, '=', length);
    const size_t word = equals != NULL ? (size_t)(equals - text) : length;
    const struct oche_param *by;

    if (!read_member(oche_param_find(&oche_packet_event_params, "type"), text, word, event, error))
        return false;
    by = oche_packet_event_by(event->type);
    if ((by == NULL) != (equals == NULL))
        return oche_fail(error, by == NULL ? "by: is for delay and reorder alone; leave it out"
                                           : "by: is missing; write delay=20us, or reorder=3");
    return by == NULL || read_member(by, equals + 1, length - word - 1, event, error);
}

/* Reads one event of `length` bytes. */
static bool read_event(const char *text, size_t length, struct oche_packet_event *event,
                       struct oche_error *error)
{
    const char *const end = text + length;

    *event = (struct oche_packet_event){.iter = 1};
    for (size_t i = 0; i < OCHE_COUNT_OF(numbers); i++) {
        const char *colon = memchr(text, ':', (size_t)(end - text));

        if (colon == NULL)
            return oche_fail(error, "a colon is missing; " EXAMPLE);
        if (!read_member(oche_param_find(&oche_packet_event_params, numbers[i]), text,
                         (size_t)(colon - text), event, error))
            return false;
        text = colon + 1;
    }
    return read_type(text, (size_t)(end - text), event, error);
}

bool oche_event_text_read(const char *text, struct oche_packet_event *list, uint32_t *count,
                          struct oche_error *error)
{
    for (*count = 0;; text++) {
        const size_t length = strcspn(text, ",");
        struct oche_error why;

        if (*count == OCHE_MOST_PACKET_EVENTS)
            return oche_fail(error, "more than %d events", OCHE_MOST_PACKET_EVENTS);
        if (!read_event(text, length, &list[*count], &why)) {
            char part[WORD_BYTES] = "", shown[2 * WORD_BYTES];

            memcpy(part, text, length < sizeof(part) ? length : sizeof(part) - 1);
            oche_printable(part, shown, sizeof(shown));
            return oche_fail(error, "event %u, \"%s\": %s", *count + 1, shown, why.text);
        }
        for (uint32_t i = 0; i < *count; i++)
            if (oche_packet_event_same(&list[i], &list[*count]))
                return oche_fail(error, "events %u and %u are for the same packet; one is possible",
                                 i + 1, *count + 1);
        ++*count;
        text += length;
        if (*text == '\0')
            return true;
    }
}

/* ---- for people ---- */

void oche_event_text_report(const struct oche_packet_event_counts *counts,
                            const struct oche_packet_event *first_left,
                            char text[OCHE_EVENT_REPORT_BYTES])
{
    const struct oche_param *type = oche_param_find(&oche_packet_event_params, "type");
    size_t at = 0;

    for (unsigned i = 0; i < OCHE_PACKET_EVENT_TYPES; i++)
        if (counts->by_type[i] > 0)
            at += (size_t)snprintf(text + at, OCHE_EVENT_REPORT_BYTES - at, "%s%s %" PRIu64,
                                   at > 0 ? ", " : "", type->choices[i], counts->by_type[i]);
    if (at == 0)
        at = (size_t)snprintf(text, OCHE_EVENT_REPORT_BYTES, "none happened");
    if (counts->never > 0)
        at += (size_t)snprintf(text + at, OCHE_EVENT_REPORT_BYTES - at,
                               "; never happened: %" PRIu64 ", the first qpn %" PRIu64
                               " psn %" PRIu64 " iter %" PRIu64 " %s",
                               counts->never, first_left->qpn, first_left->psn, first_left->iter,
                               type->choices[first_left->type]);
    if (counts->kept > 0)
        snprintf(text + at, OCHE_EVENT_REPORT_BYTES - at,
                 "; reordered packets that were not overtaken, and so lost: %" PRIu64,
                 counts->kept);
}
