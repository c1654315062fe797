/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prometheus' text format: https://prometheus.io/docs/instrumenting/exposition_formats/. All
 * samples of a metric are together, under one HELP and one TYPE. The labels of a device are unique,
 * because reader.h leaves out duplicates.
 */
#include <inttypes.h>
#include <string.h>

#include "cli/stat/span.h"
#include "device/path/address.h"

/* Writes a label's value and escapes its special characters. */
static void print_label(FILE *out, const char *name, const char *value)
{
    fprintf(out, "%s=\"", name);
    for (; *value != '\0'; value++) {
        if (*value == '"' || *value == '\\')
            fputc('\\', out);
        if (*value == '\n')
            fputs("\\n", out);
        else
            fputc(*value, out);
    }
    fputc('"', out);
}

static void print_process(FILE *out, const struct oche_view_entry *entry)
{
    char user[STAT_USER_BYTES], pid[48];

    stat_user(entry->user, user);
    snprintf(pid, sizeof(pid), entry->is_elsewhere ? "%d@%" PRIu64 : "%d", (int)entry->pid,
             entry->view.pid_namespace);
    print_label(out, "pid", pid);
    fputc(',', out);
    print_label(out, "command", entry->view.command);
    fputc(',', out);
    print_label(out, "user", user);
}

/* Writes what names the device. */
static void print_device(FILE *out, const struct oche_view_entry *entry)
{
    char text[OCHE_ADDRESS_TEXT], number[24];
    struct oche_address address;

    print_process(out, entry);
    memcpy(address.ip, entry->view.address, sizeof(address.ip));
    oche_address_print(&address, text);
    fputc(',', out);
    print_label(out, "device", text);
    snprintf(number, sizeof(number), "%" PRIu64, entry->view.network_namespace);
    fputc(',', out);
    print_label(out, "network_namespace", number);
}

static void print_head(FILE *out, const char *name, const char *type, const char *help)
{
    fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* ---- counters ---- */

static void print_counters(FILE *out, const struct oche_views *views)
{
    const char *family = "";

    for (unsigned i = 0; i < OCHE_VIEW_COUNTERS; i++) {
        const struct oche_view_row row = oche_view_row(i);
        char name[80];

        snprintf(name, sizeof(name), "oche_%s_total", row.name);
        if (strcmp(family, row.name) != 0)
            print_head(out, name, "counter", row.help);
        family = row.name;
        for (size_t e = 0; e < views->count; e++) {
            fprintf(out, "%s{", name);
            print_device(out, views->entries[e]);
            if (row.cause != NULL) {
                fputc(',', out);
                print_label(out, "cause", row.cause);
            }
            fprintf(out, "} %" PRIu64 "\n", views->entries[e]->view.counters[i]);
        }
    }
}

/* The counters of adapters, by their names with oche_adapter_ before. */
static void print_adapter(FILE *out, const struct oche_views *views)
{
    for (unsigned i = 0; i < OCHE_ADAPTER_COUNTERS; i++) {
        const struct oche_adapter_counter counter = oche_adapter_counter(i);
        char name[80];

        if (!counter.counted || counter.group == OCHE_ADAPTER_SOFTROCE)
            continue;
        snprintf(name, sizeof(name), "oche_adapter_%s_total", counter.name);
        print_head(out, name, "counter", counter.help);
        for (size_t e = 0; e < views->count; e++) {
            fprintf(out, "%s{", name);
            print_device(out, views->entries[e]);
            fprintf(out, "} %" PRIu64 "\n", views->entries[e]->view.adapter[i]);
        }
    }
}

/* Writes one of a scheme's counters, for all devices that run the scheme. */
static void print_scheme_row(FILE *out, const struct oche_views *views,
                             const struct oche_counters *counters, unsigned row)
{
    char name[120];
    bool begun = false;

    snprintf(name, sizeof(name), "oche_%s_%s_total", counters->prefix, counters->rows[row].name);
    for (char *at = name; *at != '\0'; at++)
        if (*at == '.' || *at == '-')
            *at = '_';
    for (size_t e = 0; e < views->count; e++) {
        if (stat_scheme_counters(&views->entries[e]->view) != counters)
            continue;
        if (!begun)
            print_head(out, name, "counter", counters->rows[row].help);
        begun = true;
        fprintf(out, "%s{", name);
        print_device(out, views->entries[e]);
        fprintf(out, "} %" PRIu64 "\n", views->entries[e]->view.scheme[row]);
    }
}

/* Two schemes may have the same counters (a scheme and its patch): they are written once. */
static bool is_first_with(size_t scheme)
{
    for (size_t i = 0; i < scheme; i++)
        if (oche_cc_schemes[i]->counters == oche_cc_schemes[scheme]->counters)
            return false;
    return true;
}

static void print_schemes(FILE *out, const struct oche_views *views)
{
    for (size_t i = 0; i < oche_cc_scheme_count; i++) {
        const struct oche_counters *counters = oche_cc_schemes[i]->counters;

        for (unsigned row = 0; counters != NULL && is_first_with(i) && row < counters->count; row++)
            print_scheme_row(out, views, counters, row);
    }
}

static void print_connections(FILE *out, const struct oche_views *views)
{
    print_head(out, "oche_connections_total", "counter",
               "connections by address that the process has made; those of sockets over RDMA are "
               "also by rdma_cm");
    for (size_t e = 0; e < views->count; e++)
        for (unsigned i = 0; views->entries[e]->is_first && i < OCHE_VIEW_CONNECTIONS; i++) {
            fputs("oche_connections_total{", out);
            print_process(out, views->entries[e]);
            fputc(',', out);
            print_label(out, "how", oche_view_connection_name((enum oche_view_connections)i));
            fprintf(out, "} %" PRIu64 "\n", views->entries[e]->view.connections[i]);
        }
}

/* ---- gauges ---- */

static bool has_senders(const struct oche_view_entry *entry)
{
    return entry->view.senders_counted != OCHE_VIEW_NOBODY;
}

static double qps(const struct oche_view_entry *entry)
{
    return entry->view.qps;
}

static double peers(const struct oche_view_entry *entry)
{
    return entry->view.peers;
}

static double senders(const struct oche_view_entry *entry)
{
    return entry->view.senders_counted;
}

static double told(const struct oche_view_entry *entry)
{
    return entry->view.senders_told;
}

static bool has_line_rate(const struct oche_view_entry *entry)
{
    return entry->view.line_rate_bps != 0;
}

static double line_rate(const struct oche_view_entry *entry)
{
    return (double)entry->view.line_rate_bps;
}

static double open_s(const struct oche_view_entry *entry)
{
    return (double)entry->view.open_ns / 1e9;
}

static double silent_s(const struct oche_view_entry *entry)
{
    return entry->silent_s;
}

static const struct gauge {
    const char *name, *help;
    double (*value)(const struct oche_view_entry *entry);
    bool (*has)(const struct oche_view_entry *entry); /* NULL: always */
} gauges[] = {
    {"oche_queue_pairs", "queue pairs of the program", qps, NULL},
    {"oche_peers", "addresses that it is connected with or may send to", peers, NULL},
    {"oche_active_senders", "hosts that send to this device now, as its scheme counts them",
     senders, has_senders},
    {"oche_active_senders_told", "the n that they are told", told, has_senders},
    {"oche_line_rate_bits_per_second", "the link's rate, where it is known", line_rate,
     has_line_rate},
    {"oche_open_seconds", "how long the device has been open", open_s, NULL},
    {"oche_silent_seconds", "how long ago the process wrote this; above 2 it is stale", silent_s,
     NULL},
};

static void print_gauges(FILE *out, const struct oche_views *views)
{
    for (size_t i = 0; i < OCHE_COUNT_OF(gauges); i++) {
        print_head(out, gauges[i].name, "gauge", gauges[i].help);
        for (size_t e = 0; e < views->count; e++) {
            if (gauges[i].has != NULL && !gauges[i].has(views->entries[e]))
                continue;
            fprintf(out, "%s{", gauges[i].name);
            print_device(out, views->entries[e]);
            fprintf(out, "} %.17g\n", gauges[i].value(views->entries[e]));
        }
    }
}

static void print_info(FILE *out, const struct oche_views *views)
{
    print_head(out, "oche_device_info", "gauge", "what the device runs");
    for (size_t e = 0; e < views->count; e++) {
        fputs("oche_device_info{", out);
        print_device(out, views->entries[e]);
        fputc(',', out);
        print_label(out, "congestion_control", views->entries[e]->view.cc);
        fputc(',', out);
        print_label(out, "recovery", views->entries[e]->view.recovery);
        fputs("} 1\n", out);
    }
}

void stat_print_metrics(FILE *out, const struct oche_views *views)
{
    print_head(out, "oche_unreadable_views", "gauge",
               "views of running processes that cannot be read, or are of another version");
    fprintf(out, "oche_unreadable_views %u\n", views->unreadable + views->other_versions);
    print_info(out, views);
    print_gauges(out, views);
    print_connections(out, views);
    print_counters(out, views);
    print_adapter(out, views);
    print_schemes(out, views);
}
