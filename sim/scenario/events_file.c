/* SPDX-License-Identifier: Apache-2.0 */
/* Reads scripted events from YAML; see events_file.h. */
#include "sim/scenario/events_file.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "params/printable.h"
#include "params/units.h"
#include "sim/scenario/document.h"

#define LUMINA  "data-pkt-events"
#define EXAMPLE "write - {qpn: 0, psn: 5, type: drop, iter: 1}"

/* ---- one event ---- */

/* Fails because the event has no such key. */
static bool no_key(const struct oche_document *document, const struct oche_yaml *item,
                   struct oche_error *error)
{
    const char *words[8], *near;
    size_t count = 0;

    OCHE_MUST(oche_packet_event_params.count < OCHE_COUNT_OF(words));
    for (; count < oche_packet_event_params.count; count++)
        words[count] = oche_packet_event_params.params[count].name;
    words[count++] = "by";
    near = oche_nearest_word(item->key, words, count);
    if (near != NULL)
        return oche_document_fail(document, item, NULL, error,
                                  "an event has no such key; did you mean %s?", near);
    return oche_document_fail(document, item, NULL, error,
                              "an event has no such key; qpn, psn, type, iter and by are possible");
}

static bool read_member(const struct oche_document *document, const struct oche_yaml *item,
                        const struct oche_param *param, struct oche_packet_event *event,
                        struct oche_error *error)
{
    union oche_value value;
    struct oche_error why;

    if (item->kind != OCHE_YAML_SCALAR)
        return oche_document_fail(document, item, NULL, error, "is no single value; " EXAMPLE);
    if (!oche_value_parse(param, item->text, &value, &why))
        return oche_document_fail(document, item, NULL, error, "%s", why.text);
    oche_param_set(param, event, value);
    return true;
}

static bool read_by(const struct oche_document *document, const struct oche_yaml *entry,
                    struct oche_packet_event *event, struct oche_error *error)
{
    const struct oche_yaml *item = oche_yaml_find(entry, "by");
    const struct oche_param *by = oche_packet_event_by(event->type);

    if (by == NULL && item != NULL)
        return oche_document_fail(document, item, NULL, error,
                                  "is for delay and reorder alone; leave it out");
    if (by != NULL && item == NULL)
        return oche_document_fail(document, entry, "by", error, "is missing; write by: %s",
                                  event->type == OCHE_PACKET_EVENT_DELAY
                                      ? "20us, or another time"
                                      : "3, or another number of packets that overtake this one");
    return by == NULL || read_member(document, item, by, event, error);
}

/* True if the event is for all packets of each message, as Lumina writes it. */
static bool is_for_all(const struct oche_yaml *item)
{
    return strcmp(item->key, "psn") == 0 && item->kind == OCHE_YAML_SCALAR &&
           strcasecmp(item->text, "all") == 0;
}

/* `all`: whether the PSN may be "all", and then whether it is. */
static bool read_event(const struct oche_document *document, const struct oche_yaml *entry,
                       struct oche_packet_event *event, bool *all, struct oche_error *error)
{
    const bool may_be_all = *all;

    *event = (struct oche_packet_event){.iter = 0};
    *all = false;
    if (entry->kind != OCHE_YAML_MAP)
        return oche_document_fail(document, entry, NULL, error, "is no event; " EXAMPLE);
    for (uint32_t i = 0; i < entry->count; i++) {
        const struct oche_yaml *item = entry->child[i];
        const struct oche_param *param = oche_param_find(&oche_packet_event_params, item->key);

        if (param == NULL && strcmp(item->key, "by") != 0)
            return no_key(document, item, error);
        if (may_be_all && is_for_all(item)) {
            *all = true;
            continue;
        }
        if (param != NULL && !read_member(document, item, param, event, error))
            return false;
    }
    for (size_t i = 0; i < oche_packet_event_params.count; i++) {
        const char *name = oche_packet_event_params.params[i].name;

        if (oche_yaml_find(entry, name) == NULL)
            return oche_document_fail(document, entry, name, error, "is missing; " EXAMPLE);
    }
    return read_by(document, entry, event, error);
}

/* ---- the list ---- */

/* How often Lumina repeats each event: for every message, of so many packets. */
struct repeats {
    uint64_t messages, packets; /* packets 0: not known, and nothing is repeated */
};

/* The events so far, and the entry that each is from. */
struct list {
    const struct oche_document *document;
    const struct oche_yaml *entries;
    struct oche_packet_event *events;
    uint32_t from[OCHE_MOST_PACKET_EVENTS];
    uint32_t count;
};

static bool add_event(struct list *list, uint32_t entry, const struct oche_packet_event *event,
                      struct oche_error *error)
{
    const struct oche_yaml *item = list->entries->child[entry];

    if (list->count == OCHE_MOST_PACKET_EVENTS)
        return oche_document_fail(list->document, item, NULL, error, "more than %d events",
                                  OCHE_MOST_PACKET_EVENTS);
    for (uint32_t i = 0; i < list->count; i++)
        if (oche_packet_event_same(&list->events[i], event))
            return oche_document_fail(list->document, item, NULL, error,
                                      "is for the same packet as the event in line %u; one is "
                                      "possible",
                                      (unsigned)list->entries->child[list->from[i]]->line);
    list->from[list->count] = entry;
    list->events[list->count++] = *event;
    return true;
}

/* Adds the event for each message, and for each of its packets if it is for all. */
static bool repeat_event(struct list *list, uint32_t entry, struct oche_packet_event event,
                         bool all, const struct repeats *repeats, struct oche_error *error)
{
    const uint64_t within = all ? 0 : event.psn;
    const uint64_t packets = all ? repeats->packets : 1;

    if (repeats->packets > 0 && within >= repeats->packets)
        return oche_document_fail(list->document, list->entries->child[entry], "psn", error,
                                  "a message has only %llu packets, from PSN 0 on; each event is "
                                  "for every message",
                                  (unsigned long long)repeats->packets);
    for (uint64_t message = 0; message < repeats->messages; message++)
        for (uint64_t packet = 0; packet < packets; packet++) {
            event.psn = message * repeats->packets + within + packet;
            if (event.psn > OCHE_PSN_MASK)
                return oche_document_fail(list->document, list->entries->child[entry], "psn", error,
                                          "is beyond the last PSN in message %llu",
                                          (unsigned long long)message);
            if (!add_event(list, entry, &event, error))
                return false;
        }
    return true;
}

static bool read_list(struct list *list, const struct repeats *repeats, struct oche_error *error)
{
    const struct oche_yaml *entries = list->entries;

    if (entries->kind != OCHE_YAML_LIST || entries->count == 0)
        return oche_document_fail(list->document, entries, NULL, error, "has no events; " EXAMPLE);
    for (uint32_t i = 0; i < entries->count; i++) {
        struct oche_packet_event event;
        bool all = repeats->packets > 0;

        if (!read_event(list->document, entries->child[i], &event, &all, error) ||
            !repeat_event(list, i, event, all, repeats, error))
            return false;
    }
    return true;
}

/* Reads a whole number above 0 of the section `traffic`. Returns 0 if it is not there, or is none.
 */
static uint64_t number_of(const struct oche_yaml *traffic, const char *key)
{
    const struct oche_yaml *item = oche_yaml_find(traffic, key);
    unsigned long long number;
    char *end;

    if (item == NULL || item->kind != OCHE_YAML_SCALAR || !isdigit((unsigned char)item->text[0]))
        return 0;
    number = strtoull(item->text, &end, 10);
    return *end == '\0' && number < UINT32_MAX ? number : 0;
}

/*
 * Returns how often a file's events are repeated. In a test of Lumina that says how large messages
 * are, each event is for every message, and PSNs count within it.
 */
static struct repeats repeats_of(const struct oche_document *document)
{
    const struct oche_yaml *root = oche_document_root(document);
    const struct oche_yaml *traffic = oche_yaml_find(root, "traffic");
    struct repeats repeats = {.messages = 1};

    if (oche_yaml_find(root, "events") != NULL || traffic == NULL || traffic->kind != OCHE_YAML_MAP)
        return repeats;
    const uint64_t messages = number_of(traffic, "num-msgs-per-qp"),
                   size = number_of(traffic, "message-size"), mtu = number_of(traffic, "mtu");

    if (messages > 0 && size > 0 && mtu > 0)
        repeats = (struct repeats){.messages = messages, .packets = (size + mtu - 1) / mtu};
    return repeats;
}

/* Returns the list of events, or NULL, with an error. */
static const struct oche_yaml *find_list(const struct oche_document *document,
                                         struct oche_error *error)
{
    const struct oche_yaml *root = oche_document_root(document);
    const struct oche_yaml *own = oche_yaml_find(root, "events"),
                           *traffic = oche_yaml_find(root, "traffic"), *theirs = NULL;

    if (traffic != NULL && traffic->kind == OCHE_YAML_MAP)
        theirs = oche_yaml_find(traffic, LUMINA);
    if (own == NULL && theirs != NULL)
        return theirs;
    if (own == NULL) {
        oche_document_fail(document, traffic != NULL ? traffic : root, NULL, error,
                           "a list of events is missing; write events: and below it "
                           "- {qpn: 0, psn: 5, type: drop, iter: 1}");
        return NULL;
    }
    if (root->count == 1)
        return own;
    oche_document_fail(document, root->child[root->child[0] == own], NULL, error,
                       "is not known here; only events: is, or traffic: with " LUMINA ":");
    return NULL;
}

bool oche_events_file_read(const char *path, struct oche_packet_event *events, uint32_t *count,
                           struct oche_error *error)
{
    struct list list = {.events = events};
    struct oche_document *document;
    char shown[OCHE_ERROR_BYTES / 2];
    struct repeats repeats;
    struct stat about;
    bool whole;

    oche_printable(path, shown, sizeof(shown));
    if (access(path, R_OK) != 0 || stat(path, &about) != 0)
        return oche_fail(error, "%s: cannot be read: %s", shown, strerror(errno));
    if (S_ISDIR(about.st_mode))
        return oche_fail(error, "%s: is a folder; give a file of events", shown);
    document = oche_document_open(path, error);
    if (document == NULL)
        return false;
    list.document = document;
    list.entries = find_list(document, error);
    repeats = repeats_of(document);
    whole = list.entries != NULL && read_list(&list, &repeats, error);
    *count = list.count;
    oche_document_close(document);
    return whole;
}
