/* SPDX-License-Identifier: Apache-2.0 */
/* Reads scripted events from YAML; see events_file.h. */
#include "sim/scenario/events_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
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

static bool read_event(const struct oche_document *document, const struct oche_yaml *entry,
                       struct oche_packet_event *event, struct oche_error *error)
{
    *event = (struct oche_packet_event){.iter = 0};
    if (entry->kind != OCHE_YAML_MAP)
        return oche_document_fail(document, entry, NULL, error, "is no event; " EXAMPLE);
    for (uint32_t i = 0; i < entry->count; i++) {
        const struct oche_yaml *item = entry->child[i];
        const struct oche_param *param = oche_param_find(&oche_packet_event_params, item->key);

        if (param == NULL && strcmp(item->key, "by") != 0)
            return no_key(document, item, error);
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

static bool read_list(const struct oche_document *document, const struct oche_yaml *entries,
                      struct oche_packet_event *list, uint32_t *count, struct oche_error *error)
{
    if (entries->kind != OCHE_YAML_LIST || entries->count == 0)
        return oche_document_fail(document, entries, NULL, error, "has no events; " EXAMPLE);
    if (entries->count > OCHE_MOST_PACKET_EVENTS)
        return oche_document_fail(document, entries, NULL, error, "more than %d events",
                                  OCHE_MOST_PACKET_EVENTS);
    for (*count = 0; *count < entries->count; ++*count) {
        const struct oche_yaml *entry = entries->child[*count];

        if (!read_event(document, entry, &list[*count], error))
            return false;
        for (uint32_t i = 0; i < *count; i++)
            if (oche_packet_event_same(&list[i], &list[*count]))
                return oche_document_fail(document, entry, NULL, error,
                                          "is for the same packet as the event in line %u; one is "
                                          "possible",
                                          (unsigned)entries->child[i]->line);
    }
    return true;
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

bool oche_events_file_read(const char *path, struct oche_packet_event *list, uint32_t *count,
                           struct oche_error *error)
{
    const struct oche_yaml *entries;
    struct oche_document *document;
    char shown[OCHE_ERROR_BYTES / 2];
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
    entries = find_list(document, error);
    whole = entries != NULL && read_list(document, entries, list, count, error);
    oche_document_close(document);
    return whole;
}
