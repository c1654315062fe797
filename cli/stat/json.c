/* SPDX-License-Identifier: Apache-2.0 */
/* `oche stat --json`: processes, their devices, and if asked for their queue pairs. */
#include <string.h>
#include <time.h>

#include "cli/json_line.h"
#include "cli/stat/span.h"
#include "device/path/address.h"

static void add_address(struct json_object *object, const char *key, const uint8_t ip[16])
{
    char text[OCHE_ADDRESS_TEXT];
    struct oche_address address;

    memcpy(address.ip, ip, sizeof(address.ip));
    oche_address_print(&address, text);
    oche_json_add_text(object, key, text);
}

static struct json_object *counters_of(const struct oche_view *view, const struct stat_span *span)
{
    struct json_object *object = oche_json_object(), *causes = NULL;
    const struct oche_counters *scheme = stat_scheme_counters(view);
    const char *family = "";

    for (unsigned i = 0; i < OCHE_VIEW_COUNTERS; i++) {
        const struct oche_view_row row = oche_view_row(i);

        if (row.cause == NULL) {
            oche_json_add_int(object, row.name, stat_counted(view, span, i));
            continue;
        }
        if (strcmp(family, row.name) != 0) {
            family = row.name;
            causes = oche_json_object();
            oche_json_add(object, family, causes);
        }
        oche_json_add_int(causes, row.cause, stat_counted(view, span, i));
    }
    if (scheme == NULL)
        return object;
    causes = oche_json_object();
    for (unsigned i = 0; i < scheme->count; i++)
        oche_json_add_int(causes, scheme->rows[i].name,
                          view->scheme[i] - (span->from != NULL ? span->from->scheme[i] : 0));
    oche_json_add(object, scheme->prefix, causes);
    return object;
}

/* The counters that adapters have, by the names of their files. */
static struct json_object *adapter_of(const struct oche_view *view, const struct stat_span *span)
{
    struct json_object *object = oche_json_object(), *folder = NULL;

    for (unsigned i = 0; i < OCHE_ADAPTER_COUNTERS; i++) {
        const struct oche_adapter_counter counter = oche_adapter_counter(i);
        const bool is_first = i == 0 || oche_adapter_counter(i - 1).group != counter.group;

        if (counter.group == OCHE_ADAPTER_SOFTROCE || !counter.counted)
            continue;
        if (is_first || folder == NULL) {
            folder = oche_json_object();
            oche_json_add(object, counter.group == OCHE_ADAPTER_HW ? "hw_counters" : "counters",
                          folder);
        }
        oche_json_add_int(folder, counter.name,
                          view->adapter[i] - (span->from != NULL ? span->from->adapter[i] : 0));
    }
    return object;
}

static struct json_object *qps_of(const struct oche_view *view)
{
    struct json_object *array = oche_json_array((int)view->listed);

    for (uint32_t i = 0; i < view->listed; i++) {
        const struct oche_view_qp *qp = &view->qp[i];
        struct json_object *object = oche_json_object();

        oche_json_add_int(object, "qp", qp->qpn);
        oche_json_add_text(object, "type", stat_transports[qp->transport]);
        oche_json_add_text(object, "state", stat_states[qp->state]);
        if (qp->remote_qpn != 0) {
            add_address(object, "peer", qp->peer);
            oche_json_add_int(object, "peer_qp", qp->remote_qpn);
        }
        if (qp->rate_bps != UINT64_MAX)
            oche_json_add_int(object, "rate_bps", qp->rate_bps);
        if (qp->window_bytes != UINT64_MAX)
            oche_json_add_int(object, "window_bytes", qp->window_bytes);
        oche_json_add_int(object, "flight_bytes", qp->flight_bytes);
        oche_json_add_int(object, "resent_packets", qp->retransmitted_packets);
        oche_json_add_int(object, "timeouts", qp->timeouts);
        oche_json_push(array, object);
    }
    return array;
}

static struct json_object *device_of(const struct oche_view_entry *entry,
                                     const struct oche_views *earlier, bool qps)
{
    const struct oche_view *view = &entry->view;
    const struct stat_span span = stat_span_of(entry, earlier);
    struct json_object *object = oche_json_object();

    add_address(object, "address", view->address);
    oche_json_add_int(object, "network_namespace", view->network_namespace);
    oche_json_add(object, "stale", oche_json_truth(entry->silent_s > OCHE_VIEW_STALE_S));
    oche_json_add(object, "open_s", oche_json_exact((double)view->open_ns / 1e9));
    oche_json_add(object, "over_s", oche_json_exact(span.seconds));
    oche_json_add_text(object, "congestion_control", view->cc);
    oche_json_add_text(object, "recovery", view->recovery);
    if (view->line_rate_bps != 0)
        oche_json_add_int(object, "line_rate_bps", view->line_rate_bps);
    oche_json_add_int(object, "queue_pairs", view->qps);
    oche_json_add_int(object, "peers", view->peers);
    if (view->senders_counted != OCHE_VIEW_NOBODY) {
        oche_json_add_int(object, "senders", view->senders_counted);
        oche_json_add_int(object, "senders_told", view->senders_told);
    }
    oche_json_add(object, "send_bps",
                  oche_json_exact(
                      8 * stat_per_second(&span, stat_counted(view, &span, OCHE_VIEW_SENT_BYTES))));
    oche_json_add(
        object, "receive_bps",
        oche_json_exact(
            8 * stat_per_second(&span, stat_counted(view, &span, OCHE_VIEW_RECEIVED_BYTES))));
    oche_json_add(object, "counters", counters_of(view, &span));
    oche_json_add(object, "adapter", adapter_of(view, &span));
    if (qps)
        oche_json_add(object, "qps", qps_of(view));
    return object;
}

static struct json_object *process_of(const struct oche_view_entry *entry)
{
    const struct oche_view *view = &entry->view;
    struct json_object *object = oche_json_object(), *connections = oche_json_object();
    char user[STAT_USER_BYTES];

    stat_user(entry->user, user);
    oche_json_add_int(object, "pid", (uint64_t)entry->pid);
    oche_json_add(object, "pid_is_its_own", oche_json_truth(entry->is_elsewhere));
    oche_json_add_int(object, "pid_namespace", view->pid_namespace);
    oche_json_add_text(object, "user", user);
    oche_json_add_text(object, "command", view->command);
    oche_json_add_text(object, "arguments", view->arguments);
    for (unsigned i = 0; i < OCHE_VIEW_CONNECTIONS; i++)
        oche_json_add_int(connections, oche_view_connection_name((enum oche_view_connections)i),
                          view->connections[i]);
    oche_json_add(object, "connections", connections);
    return object;
}

void stat_print_json(FILE *out, const struct oche_views *views, const struct oche_views *earlier,
                     bool qps)
{
    struct json_object *all = oche_json_object(), *processes = oche_json_array(0);
    struct json_object *devices = NULL;
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    oche_json_add(all, "time",
                  json_object_new_double((double)now.tv_sec + (double)now.tv_nsec / 1e9));
    for (size_t i = 0; i < views->count; i++) {
        if (views->entries[i]->is_first || devices == NULL) {
            struct json_object *process = process_of(views->entries[i]);

            devices = oche_json_array(0);
            oche_json_add(process, "devices", devices);
            oche_json_push(processes, process);
        }
        oche_json_push(devices, device_of(views->entries[i], earlier, qps));
    }
    oche_json_add(all, "processes", processes);
    oche_json_add_int(all, "other_versions", views->other_versions);
    oche_json_add_int(all, "unreadable", views->unreadable);
    oche_json_print(all, out);
    fputc('\n', out);
}
