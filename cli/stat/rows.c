/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of `oche stat`: one row for each device and, on request, for each queue pair. */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "cli/stat/grid.h"
#include "cli/stat/span.h"
#include "device/path/address.h"

#define NOTE_BYTES 1200

enum {
    PID,
    USER,
    ADDRESS,
    QPS,
    PEERS,
    SCHEME,
    RECOVERY,
    SEND,
    RECEIVE,
    SENDERS,
    CNPS,
    MARKS,
    RESENT,
    TIMEOUTS,
    DROPPED,
    OPEN,
    COMMAND,
    COLUMNS
};

static const struct grid_column columns[COLUMNS] = {
    [PID] = {"PID", false, 0},          [USER] = {"USER", true, 4},
    [ADDRESS] = {"DEVICE", true, 0},    [QPS] = {"QPS", false, 2},
    [PEERS] = {"PEERS", false, 6},      [SCHEME] = {"SCHEME", true, 5},
    [RECOVERY] = {"RECOVERY", true, 9}, [SEND] = {"SEND b/s", false, 0},
    [RECEIVE] = {"RECV b/s", false, 0}, [SENDERS] = {"n", false, 3},
    [CNPS] = {"CNPS", false, 4},        [MARKS] = {"MARKS", false, 4},
    [RESENT] = {"RESENT", false, 1},    [TIMEOUTS] = {"TMOUT", false, 7},
    [DROPPED] = {"DROPS", false, 1},    [OPEN] = {"OPEN", false, 8},
    [COMMAND] = {"COMMAND", true, 0},
};

/* ---- numbers ---- */

#define NUMBER_BYTES 24

/* Writes a number with three or four digits and a prefix: 9.41G. */
static const char *short_number(double value, char text[NUMBER_BYTES])
{
    static const char prefixes[] = " kMGTPE";
    unsigned prefix = 0;

    while (value >= 999.5 && prefixes[prefix + 1] != '\0') {
        value /= 1000;
        prefix++;
    }
    if (prefix == 0)
        snprintf(text, NUMBER_BYTES, value > 0 && value < 9.95 ? "%.1f" : "%.0f", value);
    else
        snprintf(text, NUMBER_BYTES, "%.*f%c",
                 value < 9.995   ? 2
                 : value < 99.95 ? 1
                                 : 0,
                 value, prefixes[prefix]);
    return text;
}

/* Writes a count, or its rate per second. */
static const char *count_of(const struct stat_look *look, const struct stat_span *span,
                            uint64_t counted, char text[NUMBER_BYTES])
{
    if (look->watch)
        return short_number(stat_per_second(span, counted), text);
    if (counted < 100000)
        snprintf(text, NUMBER_BYTES, "%" PRIu64, counted);
    else
        short_number((double)counted, text);
    return text;
}

static const char *duration(double seconds, char text[NUMBER_BYTES])
{
    if (seconds < 99.5)
        snprintf(text, NUMBER_BYTES, "%.0fs", seconds);
    else if (seconds < 6000)
        snprintf(text, NUMBER_BYTES, "%.0fm", seconds / 60);
    else if (seconds < 360000)
        snprintf(text, NUMBER_BYTES, "%.0fh", seconds / 3600);
    else
        snprintf(text, NUMBER_BYTES, "%.0fd", seconds / 86400);
    return text;
}

/* ---- a device ---- */

/* Adds "resent 12: NAK 10, timeout 2" to the note, if there was any since the device was opened. */
static void note_causes(char *note, const char *what, const struct oche_view *view, unsigned first,
                        unsigned end)
{
    size_t at = strlen(note);
    uint64_t sum = 0;
    const char *separator = ": ";

    for (unsigned i = first; i < end; i++)
        sum += view->counters[i];
    if (sum == 0)
        return;
    at += (size_t)snprintf(note + at, NOTE_BYTES - at, "%s%s %" PRIu64, at > 0 ? "; " : "", what,
                           sum);
    for (unsigned i = first; i < end && at < NOTE_BYTES; i++) {
        if (view->counters[i] == 0)
            continue;
        at += (size_t)snprintf(note + at, NOTE_BYTES - at, "%s%s %" PRIu64, separator,
                               oche_view_row(i).cause, view->counters[i]);
        separator = ", ";
    }
}

/* Writes the line below a device: the causes of resends and drops, and anything unusual. */
static void make_note(const struct oche_view_entry *entry, char note[NOTE_BYTES])
{
    const struct oche_view *view = &entry->view;
    const uint64_t tcp = view->connections[OCHE_VIEW_SOCKETS_TCP];
    size_t at;

    note[0] = '\0';
    note_causes(note, "resent", view, OCHE_VIEW_RESENT_AT, OCHE_VIEW_DROPPED_AT);
    note_causes(note, "dropped", view, OCHE_VIEW_DROPPED_AT, OCHE_VIEW_COUNTERS);
    at = strlen(note);
    if (entry->is_first && tcp > 0 && at < NOTE_BYTES)
        at += (size_t)snprintf(note + at, NOTE_BYTES - at,
                               "%ssocket connections: %" PRIu64 " over RDMA, %" PRIu64 " over TCP",
                               at > 0 ? "; " : "", view->connections[OCHE_VIEW_SOCKETS_RDMA], tcp);
    if (view->counters[OCHE_VIEW_HUNG] > 0 && at < NOTE_BYTES)
        at += (size_t)snprintf(note + at, NOTE_BYTES - at,
                               "%shung queue pairs %" PRIu64 ", a fault of oche: please report it",
                               at > 0 ? "; " : "", view->counters[OCHE_VIEW_HUNG]);
    if (entry->silent_s > OCHE_VIEW_STALE_S && at < NOTE_BYTES)
        snprintf(note + at, NOTE_BYTES - at,
                 "%sstale: the process has written nothing for %.0f s; is it stopped?",
                 at > 0 ? "; " : "", entry->silent_s);
}

static void fill_row(struct grid *grid, const struct oche_view_entry *entry,
                     const struct oche_views *earlier, const struct stat_look *look)
{
    const struct oche_view *view = &entry->view;
    const struct stat_span span = stat_span_of(entry, earlier);
    char address[OCHE_ADDRESS_TEXT], user[STAT_USER_BYTES], text[NUMBER_BYTES], note[NOTE_BYTES];
    struct oche_address own;

    memcpy(own.ip, view->address, sizeof(own.ip));
    oche_address_print(&own, address);
    stat_user(entry->user, user);
    grid_row(grid, entry->silent_s > OCHE_VIEW_STALE_S);
    grid_cell(grid, PID, "%d%s", (int)entry->pid, entry->is_elsewhere ? "*" : "");
    grid_cell(grid, USER, "%s", user);
    grid_cell(grid, ADDRESS, "%s%s", address,
              view->network_namespace != stat_network_namespace() ? "+" : "");
    grid_cell(grid, QPS, "%u", view->qps);
    grid_cell(grid, PEERS, "%u", view->peers);
    grid_cell(grid, SCHEME, "%s", view->cc);
    grid_cell(grid, RECOVERY, "%s", view->recovery);
    grid_cell(
        grid, SEND, "%s",
        short_number(stat_per_second(&span, stat_counted(view, &span, OCHE_VIEW_SENT_BYTES)) * 8,
                     text));
    grid_cell(
        grid, RECEIVE, "%s",
        short_number(
            stat_per_second(&span, stat_counted(view, &span, OCHE_VIEW_RECEIVED_BYTES)) * 8, text));
    if (view->senders_counted != OCHE_VIEW_NOBODY)
        grid_cell(grid, SENDERS, "%u", view->senders_counted);
    grid_cell(
        grid, CNPS, "%s",
        count_of(look, &span,
                 stat_counted_sum(view, &span, OCHE_VIEW_CNPS_SENT, OCHE_VIEW_CNPS_RECEIVED + 1),
                 text));
    grid_cell(grid, MARKS, "%s",
              count_of(look, &span, stat_counted(view, &span, OCHE_VIEW_MARKS_RECEIVED), text));
    grid_cell(grid, RESENT, "%s",
              count_of(look, &span,
                       stat_counted_sum(view, &span, OCHE_VIEW_RESENT_AT, OCHE_VIEW_DROPPED_AT),
                       text));
    grid_cell(grid, TIMEOUTS, "%s",
              count_of(look, &span, stat_counted(view, &span, OCHE_VIEW_TIMEOUTS), text));
    grid_cell(grid, DROPPED, "%s",
              count_of(look, &span,
                       stat_counted_sum(view, &span, OCHE_VIEW_DROPPED_AT, OCHE_VIEW_COUNTERS),
                       text));
    grid_cell(grid, OPEN, "%s", duration((double)view->open_ns / 1e9, text));
    grid_cell(grid, COMMAND, "%s", view->arguments[0] != '\0' ? view->arguments : view->command);
    make_note(entry, note);
    if (note[0] != '\0')
        grid_note(grid, note);
}

static void print_devices(FILE *out, const struct oche_views *views,
                          const struct oche_views *earlier, const struct stat_look *look)
{
    struct grid *grid = grid_create(columns, COLUMNS);
    bool has_senders = false, has_users = false;

    for (size_t i = 0; i < views->count; i++) {
        const struct oche_view_entry *entry = views->entries[i];

        has_senders |= entry->view.senders_counted != OCHE_VIEW_NOBODY;
        has_users |= entry->user != views->entries[0]->user;
        fill_row(grid, entry, earlier, look);
    }
    if (!has_senders)
        grid_hide(grid, SENDERS);
    if (!has_users)
        grid_hide(grid, USER);
    grid_print(grid, out, look->width, look->colours);
    grid_free(grid);
}

/* ---- queue pairs ---- */

enum {
    QP_PID,
    QP_DEVICE,
    QP_NUMBER,
    QP_TYPE,
    QP_STATE,
    QP_PEER,
    QP_PEER_NUMBER,
    QP_RATE,
    QP_WINDOW,
    QP_FLIGHT,
    QP_RESENT,
    QP_TIMEOUTS,
    QP_COLUMNS
};

static const struct grid_column qp_columns[QP_COLUMNS] = {
    [QP_PID] = {"PID", false, 0},           [QP_DEVICE] = {"DEVICE", true, 3},
    [QP_NUMBER] = {"QP", true, 0},          [QP_TYPE] = {"TYPE", true, 2},
    [QP_STATE] = {"STATE", true, 1},        [QP_PEER] = {"PEER", true, 0},
    [QP_PEER_NUMBER] = {"ITS QP", true, 4}, [QP_RATE] = {"RATE b/s", false, 1},
    [QP_WINDOW] = {"WINDOW B", false, 1},   [QP_FLIGHT] = {"FLIGHT B", false, 2},
    [QP_RESENT] = {"RESENT", false, 1},     [QP_TIMEOUTS] = {"TMOUT", false, 1},
};

static void fill_qp(struct grid *grid, const struct oche_view_entry *entry,
                    const struct oche_view_qp *qp)
{
    char address[OCHE_ADDRESS_TEXT], text[NUMBER_BYTES];
    struct oche_address ip;

    grid_row(grid, entry->silent_s > OCHE_VIEW_STALE_S);
    grid_cell(grid, QP_PID, "%d%s", (int)entry->pid, entry->is_elsewhere ? "*" : "");
    memcpy(ip.ip, entry->view.address, sizeof(ip.ip));
    oche_address_print(&ip, address);
    grid_cell(grid, QP_DEVICE, "%s", address);
    grid_cell(grid, QP_NUMBER, "0x%06" PRIx32, qp->qpn);
    grid_cell(grid, QP_TYPE, "%s", stat_transports[qp->transport]);
    grid_cell(grid, QP_STATE, "%s", stat_states[qp->state]);
    if (qp->remote_qpn != 0) {
        memcpy(ip.ip, qp->peer, sizeof(ip.ip));
        oche_address_print(&ip, address);
        grid_cell(grid, QP_PEER, "%s", address);
        grid_cell(grid, QP_PEER_NUMBER, "0x%06" PRIx32, qp->remote_qpn);
    }
    if (entry->view.line_rate_bps == 0 ? qp->rate_bps != UINT64_MAX
                                       : qp->rate_bps < entry->view.line_rate_bps)
        grid_cell(grid, QP_RATE, "%s", short_number((double)qp->rate_bps, text));
    else
        grid_cell(grid, QP_RATE, "line");
    if (qp->window_bytes != UINT64_MAX)
        grid_cell(grid, QP_WINDOW, "%s", short_number((double)qp->window_bytes, text));
    else
        grid_cell(grid, QP_WINDOW, "-");
    grid_cell(grid, QP_FLIGHT, "%s", short_number((double)qp->flight_bytes, text));
    grid_cell(grid, QP_RESENT, "%" PRIu64, qp->retransmitted_packets);
    grid_cell(grid, QP_TIMEOUTS, "%" PRIu64, qp->timeouts);
}

static void print_qps(FILE *out, const struct oche_views *views, const struct stat_look *look)
{
    struct grid *grid = grid_create(qp_columns, QP_COLUMNS);
    uint64_t left_out = 0;

    for (size_t i = 0; i < views->count; i++) {
        const struct oche_view_entry *entry = views->entries[i];

        for (uint32_t q = 0; q < entry->view.listed; q++)
            fill_qp(grid, entry, &entry->view.qp[q]);
        left_out += entry->view.qps - entry->view.listed;
    }
    fputc('\n', out);
    grid_print(grid, out, look->width, look->colours);
    if (left_out > 0)
        fprintf(out, "%" PRIu64 " older queue pairs are not listed\n", left_out);
    grid_free(grid);
}

/* ---- all ---- */

/*
 * Writes the tables. `earlier` is NULL in the first one of --watch, which has no earlier one to
 * compare with. Leaves out the time of day if there is no room for it.
 */
static void print_head(FILE *out, const struct oche_views *views, const struct oche_views *earlier,
                       const struct stat_look *look)
{
    const char *since = earlier != NULL ? "per second"
                        : look->watch   ? "per second since opened"
                                        : "since each was opened";
    const time_t now = time(NULL);
    const unsigned width = look->width != 0 ? look->width : UINT32_MAX;
    size_t processes = 0;
    struct tm local;
    char clock[16] = "", counts[100];

    for (size_t i = 0; i < views->count; i++)
        processes += views->entries[i]->is_first;
    if (localtime_r(&now, &local) != NULL)
        strftime(clock, sizeof(clock), "%H:%M:%S  ", &local);
    const int bytes = snprintf(counts, sizeof(counts), "processes %zu, devices %zu; %s", processes,
                               views->count, since);

    if (strlen("oche stat ") + strlen(clock) + (size_t)bytes > width)
        clock[0] = '\0';
    fprintf(out, "oche stat %s%.*s\n", clock,
            width > 10 && width < UINT32_MAX ? (int)width - 10 : bytes, counts);
}

static void print_remarks(FILE *out, const struct oche_views *views)
{
    const uint64_t own = stat_network_namespace();
    bool elsewhere = false, other_network = false;

    for (size_t i = 0; i < views->count; i++) {
        elsewhere |= views->entries[i]->is_elsewhere;
        other_network |= views->entries[i]->view.network_namespace != own;
    }
    if (elsewhere)
        fputs("* as its own PID namespace counts it\n", out);
    if (other_network)
        fputs("+ in another network namespace\n", out);
    if (views->other_versions > 0)
        fprintf(out, "%u of another version of oche cannot be shown\n", views->other_versions);
    if (views->unreadable > 0)
        fprintf(out, "%u cannot be read\n", views->unreadable);
}

void stat_print_tables(FILE *out, const struct oche_views *views, const struct oche_views *earlier,
                       const struct stat_look *look)
{
    if (views->count == 0) {
        fputs("No running program has a device of oche open.\n", out);
        print_remarks(out, views);
        return;
    }
    print_head(out, views, earlier, look);
    print_devices(out, views, earlier, look);
    if (look->qps)
        print_qps(out, views, look);
    print_remarks(out, views);
}
