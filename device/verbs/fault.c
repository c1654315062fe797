/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The requests of `oche fault` (docs/faults.md#fault), words separated by blanks:
 *
 *     link [in|out] [PEER:]KEY=VALUE,… [for TIME]     changes links (device/link/spec.h)
 *     port-down [for TIME]      port-up
 *     kill-qp QPN|all [STATUS]  its oldest work completes with the status, the rest as flushed
 *     path-migrated QPN         path-migration-failed QPN     the event alone
 *     fail CALL=N,…             calls that fail (params/fail_rules.h), counted from now on
 *     device-fatal              the device vanishes, for good
 *     list                      says which of these are in force, and those of --link and --fail
 *     restore                   ends what these have changed; the port comes up
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/cm/mad.h"
#include "device/link/spec.h"
#include "device/verbs/internal.h"
#include "device/view/control.h"
#include "params/printable.h"
#include "params/units.h"

#define WORD_BYTES 64

/* A request that is being read, and its answer. */
struct request {
    struct ov_port *port;
    char *rest; /* the words that are left */
    char *answer;
    size_t bytes;
};

/* ---- words ---- */

/* Returns the next word, or NULL. */
static char *next_word(struct request *request)
{
    char *word;

    while ((word = strsep(&request->rest, " ")) != NULL && word[0] == '\0')
        continue;
    return word;
}

static void say(struct request *request, const char *how, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void say(struct request *request, const char *how, const char *format, ...)
{
    char line[OCHE_ERROR_BYTES];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    snprintf(request->answer, request->bytes, "%s %s", how, line);
}

static void say_bad_word(struct request *request, const char *word, const char *expected)
{
    char shown[WORD_BYTES];

    oche_printable(word != NULL ? word : "", shown, sizeof(shown));
    if (word == NULL)
        say(request, "bad", "a word is missing: %s", expected);
    else
        say(request, "bad", "\"%s\": %s", shown, expected);
}

/* Reads "for TIME" or nothing, and the end. Returns false after saying what is wrong. */
static bool read_duration(struct request *request, oche_time *lasts)
{
    const char *word = next_word(request), *time;
    struct oche_error error;

    *lasts = OCHE_NEVER;
    if (word == NULL)
        return true;
    if (strcmp(word, "for") != 0) {
        say_bad_word(request, word, "\"for TIME\" or nothing is meant here");
        return false;
    }
    time = next_word(request);
    if (time == NULL || !oche_time_parse(time, lasts, &error) || *lasts == OCHE_NEVER) {
        say_bad_word(request, time, "a time is meant, such as 3s or 200ms");
        return false;
    }
    if (next_word(request) == NULL)
        return true;
    say(request, "bad", "more words behind the time");
    return false;
}

static bool at_end(struct request *request)
{
    const char *word = next_word(request);

    if (word != NULL)
        say_bad_word(request, word, "one word too many");
    return word == NULL;
}

/* ---- links ---- */

static void change_links(struct request *request)
{
    uint8_t directions = OCHE_LINK_BOTH;
    char *word = next_word(request);
    struct oche_address peer;
    struct oche_error error;
    bool has_peer = false;
    oche_time lasts;
    char *keys;

    if (word != NULL && (strcmp(word, "in") == 0 || strcmp(word, "out") == 0)) {
        directions = word[0] == 'i' ? OCHE_LINK_IN : OCHE_LINK_OUT;
        word = next_word(request);
    }
    if (word == NULL) {
        say_bad_word(request, word, "KEY=VALUE is meant, such as loss=1%");
        return;
    }
    keys = word;
    if (!oche_link_peer_cut(&keys, &peer, &has_peer, &error)) {
        say(request, "bad", "%s", error.text);
        return;
    }
    if (!read_duration(request, &lasts))
        return;
    if (!oche_device_change_links(request->port->device, directions, has_peer ? &peer : NULL, keys,
                                  lasts, &error))
        say(request, errno == EINVAL ? "bad" : "no", "%s", error.text);
    else
        say(request, "ok", "links changed");
}

/* ---- queue pairs ---- */

static const struct {
    const char *name;
    enum oche_status status;
} statuses[] = {
    {"flush", OCHE_STATUS_SUCCESS},
    {"loc-len", OCHE_STATUS_LOCAL_LENGTH},
    {"loc-qp-op", OCHE_STATUS_LOCAL_QP_OPERATION},
    {"loc-prot", OCHE_STATUS_LOCAL_PROTECTION},
    {"mw-bind", OCHE_STATUS_WINDOW},
    {"bad-resp", OCHE_STATUS_BAD_RESPONSE},
    {"loc-access", OCHE_STATUS_LOCAL_ACCESS},
    {"rem-inv-req", OCHE_STATUS_REMOTE_INVALID_REQUEST},
    {"rem-access", OCHE_STATUS_REMOTE_ACCESS},
    {"rem-op", OCHE_STATUS_REMOTE_OPERATION},
    {"retry-exc", OCHE_STATUS_RETRY_EXCEEDED},
    {"rnr-retry-exc", OCHE_STATUS_RNR_RETRY_EXCEEDED},
    {"rem-abort", OCHE_STATUS_REMOTE_ABORT},
    {"fatal", OCHE_STATUS_FATAL},
    {"resp-timeout", OCHE_STATUS_RESPONSE_TIMEOUT},
    {"general", OCHE_STATUS_GENERAL},
};

static bool read_status(struct request *request, enum oche_status *status)
{
    const char *word = next_word(request);
    char names[OCHE_ERROR_BYTES / 2] = "a status is meant: ";
    const char *words[OCHE_COUNT_OF(statuses)], *near;
    size_t at = strlen(names);

    *status = OCHE_STATUS_RETRY_EXCEEDED;
    if (word == NULL)
        return true;
    for (size_t i = 0; i < OCHE_COUNT_OF(statuses); i++) {
        if (strcmp(word, statuses[i].name) == 0) {
            *status = statuses[i].status;
            return at_end(request);
        }
        words[i] = statuses[i].name;
        at += (size_t)snprintf(names + at, sizeof(names) - at, "%s%s", i > 0 ? ", " : "",
                               statuses[i].name);
    }
    near = oche_nearest_word(word, words, OCHE_COUNT_OF(words));
    if (near != NULL)
        snprintf(names, sizeof(names), "did you mean %s?", near);
    say_bad_word(request, word, names);
    return false;
}

/* Reads a queue pair's number, 18 or 0x12. Returns false after saying what is wrong. */
static bool read_qpn(struct request *request, const char *word, uint32_t *qpn)
{
    const bool is_hex = word != NULL && strncmp(word, "0x", 2) == 0;
    char *end;
    const unsigned long number = word != NULL ? strtoul(word, &end, is_hex ? 16 : 10) : 0;

    if (word == NULL || word[0] < '0' || word[0] > '9' || *end != '\0' || number > OCHE_PSN_MASK) {
        say_bad_word(request, word, "a queue pair's number is meant, such as 0x12 or 18");
        return false;
    }
    *qpn = (uint32_t)number;
    return true;
}

static void kill_qps(struct request *request)
{
    struct oche_device *device = request->port->device;
    const char *word = next_word(request);
    const bool all = word != NULL && strcmp(word, "all") == 0;
    enum oche_status status;
    uint32_t qpn = 0;
    unsigned killed;

    if ((!all && !read_qpn(request, word, &qpn)) || !read_status(request, &status))
        return;
    killed = oche_device_fail_qps(device, all ? NULL : &qpn, status);
    if (killed > 0)
        say(request, "ok", "%u queue pair%s killed", killed, killed > 1 ? "s" : "");
    else if (all)
        say(request, "no", "there is no queue pair to kill");
    else
        say(request, "none", "no queue pair 0x%x, or it is in the reset or the error state", qpn);
}

/* Sends the event of a migrated path to the queue pair's context. */
static void migrate(struct request *request, enum ibv_event_type type)
{
    struct ov_port *port = request->port;
    struct ibv_async_event event = {.event_type = type};
    struct oche_qp *core;
    uint32_t qpn;

    if (!read_qpn(request, next_word(request), &qpn) || !at_end(request))
        return;
    oche_device_lock(port->device);
    core = oche_nic_find_qp(oche_device_nic(port->device), qpn);
    if (core != NULL && qpn != OCHE_CM_QPN) {
        struct ov_qp *qp = oche_qp_user(core);

        event.element.qp = &qp->qp;
        ov_async_push(qp->context, &event);
        say(request, "ok", "the event is sent");
    } else {
        say(request, "no", "no queue pair 0x%x", qpn);
    }
    oche_device_unlock(port->device);
}

/* ---- the port, and calls ---- */

/* True, after saying so, if the device has vanished. */
static bool is_gone(struct request *request)
{
    const bool gone = atomic_load(&request->port->vanished);

    if (gone)
        say(request, "no", "the device has vanished");
    return gone;
}

static void port_down(struct request *request)
{
    oche_time lasts;

    if (!read_duration(request, &lasts) || is_gone(request))
        return;
    ov_port_down(request->port, oche_device_now(request->port->device), lasts);
    say(request, "ok", "the port is down");
}

static void port_up(struct request *request)
{
    if (!at_end(request) || is_gone(request))
        return;
    ov_port_up(request->port);
    say(request, "ok", "the port is up");
}

static void vanish(struct request *request)
{
    if (!at_end(request))
        return;
    ov_port_vanish(request->port);
    say(request, "ok", "the device has vanished");
}

static void fail_calls(struct request *request)
{
    const char *word = next_word(request);
    struct oche_fail_rules rules;
    struct oche_error error;

    if (word == NULL)
        say_bad_word(request, word, "CALL=N is meant, such as reg_mr=1");
    else if (!oche_fail_rules_parse(&rules, word, &error))
        say(request, "bad", "%s", error.text);
    else if (at_end(request)) {
        ov_fail_set(&rules);
        say(request, "ok", "calls will fail");
    }
}

/* Says what is in force. The answer may be long, so it is written in place. */
static void list(struct request *request)
{
    struct ov_port *port = request->port;
    char links[OCHE_CONTROL_BYTES / 2], calls[OCHE_CONTROL_BYTES / 4] = "", state[WORD_BYTES] = "";
    const oche_time now = oche_device_now(port->device);

    if (!at_end(request))
        return;
    if (atomic_load(&port->vanished))
        snprintf(state, sizeof(state), "; the device has vanished");
    else if (atomic_load(&port->down) && port->up_at == OCHE_NEVER)
        snprintf(state, sizeof(state), "; the port is down");
    else if (atomic_load(&port->down))
        snprintf(state, sizeof(state), "; the port is down for %.3g s more",
                 (double)(port->up_at > now ? port->up_at - now : 0) / OCHE_SEC);
    oche_device_list_links(port->device, links, sizeof(links));
    ov_fail_list(calls, sizeof(calls));
    if (links[0] != '\0')
        snprintf(request->answer, request->bytes, "ok %s%s%s", links, state, calls);
    else if (state[0] != '\0' || calls[0] != '\0')
        snprintf(request->answer, request->bytes, "ok %s%s",
                 state[0] != '\0' ? state + 2 : calls + 2, state[0] != '\0' ? calls : "");
    else
        say(request, "ok", "no faults");
}

static void restore(struct request *request)
{
    if (!at_end(request))
        return;
    oche_device_restore_links(request->port->device);
    ov_fail_restore();
    ov_port_up(request->port);
    if (atomic_load(&request->port->vanished))
        say(request, "no", "the device has vanished for good; everything else is restored");
    else
        say(request, "ok", "all is restored");
}

static void path_migrated(struct request *request)
{
    migrate(request, IBV_EVENT_PATH_MIG);
}

static void path_migration_failed(struct request *request)
{
    migrate(request, IBV_EVENT_PATH_MIG_ERR);
}

static const struct {
    const char *word;
    void (*does)(struct request *request);
} requests[] = {
    {"link", change_links}, /* which `oche fault` puts before KEY=VALUE */
    {"port-down", port_down},
    {"port-up", port_up},
    {"kill-qp", kill_qps},
    {"path-migrated", path_migrated},
    {"path-migration-failed", path_migration_failed},
    {"fail", fail_calls},
    {"device-fatal", vanish},
    {"list", list},
    {"restore", restore},
};

static void say_no_fault(struct request *request, const char *word)
{
    const char *words[OCHE_COUNT_OF(requests)], *near = NULL;
    char hint[WORD_BYTES];

    for (size_t i = 0; i < OCHE_COUNT_OF(requests); i++)
        words[i] = requests[i].word;
    if (word != NULL && oche_param_find(&oche_link_params, word) != NULL)
        snprintf(hint, sizeof(hint), "%s=VALUE is meant", word);
    else if (word != NULL && (near = oche_nearest_word(word, words, OCHE_COUNT_OF(words))) != NULL)
        snprintf(hint, sizeof(hint), "did you mean %s?", near);
    else
        hint[0] = '\0';
    say_bad_word(request, word,
                 hint[0] != '\0'
                     ? hint
                     : "a fault is meant: KEY=VALUE such as loss=1%, port-down, port-up, kill-qp, "
                       "path-migrated, path-migration-failed, fail, device-fatal, list or restore");
}

/* Prints a fault that was made: it may explain a failure further down in the program's output. */
static void note(const struct ov_port *port, const char *asked, const char *answer)
{
    char address[OCHE_ADDRESS_TEXT];

    oche_address_print(&port->address, address);
    if (strncmp(answer, "ok ", 3) == 0)
        ov_say("%s: oche fault: %s: %s", address, asked, answer + 3);
}

void ov_fault(struct ov_port *port, char *text, char *answer, size_t bytes)
{
    struct request request = {.port = port, .rest = text, .answer = answer, .bytes = bytes};
    char asked[OCHE_CONTROL_BYTES];
    const char *word;

    oche_printable(text, asked, sizeof(asked));
    word = next_word(&request);
    for (size_t i = 0; word != NULL && i < OCHE_COUNT_OF(requests); i++)
        if (strcmp(word, requests[i].word) == 0) {
            requests[i].does(&request);
            if (requests[i].does != list)
                note(port, asked, answer);
            return;
        }
    say_no_fault(&request, word);
}
