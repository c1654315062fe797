/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The user's settings, and the counters:
 *
 *   OCHE_ROGUE      parameters of RoGUE: KEY=VALUE,…; empty: the defaults
 *   OCHE_LINE_RATE  the link's rate; without it, the port says it
 *   OCHE_STATS      any value: print counters to standard error when the program ends
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "params/say.h"
#include "params/scheme.h"
#include "params/units.h"
#include "rogue/verbs/internal.h"

#define LAST_WORDS_NS 100000000

static struct {
    union oche_scheme_params paired, alone, uc; /* struct rogue_params */
    uint64_t line_rate_bps;
} settings;

static struct {
    pthread_mutex_t lock;
    uint64_t connections, paired, unreliable, events[RV_EVENTS], left[RV_REFUSALS];
    struct rogue_counts counts;
    uint64_t window_bytes;
    oche_time base_rtt, least_rtt, rtt;
} counted = {.lock = PTHREAD_MUTEX_INITIALIZER};

void rv_say(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    oche_say_line(format, arguments);
    va_end(arguments);
}

/* Called by the core if an invariant is broken, which is a bug in oche. */
void oche_panic(const char *file, int line, const char *what)
{
    rv_say("%s:%d: broken invariant: %s; this is a bug", file, line, what);
    abort();
}

uint64_t rv_random(void)
{
    uint64_t number;

    if (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number)) {
        rv_say("rogue: no random numbers");
        abort();
    }
    return number;
}

static struct rogue_params *params_of(union oche_scheme_params *params)
{
    return (struct rogue_params *)(void *)params;
}

bool rv_settings(void)
{
    const char *given = secure_getenv("OCHE_ROGUE"), *text = given != NULL ? given : "";
    const char *rate = secure_getenv("OCHE_LINE_RATE"), *wrong = rogue_verbs_check(text);
    struct oche_error error;

    if (wrong == NULL &&
        !oche_params_parse("rogue", &rogue_param_table, &settings.paired, text, &error)) {
        rv_say("OCHE_ROGUE: %s", error.text);
        return false;
    }
    if (wrong == NULL)
        wrong = rogue_params_check(params_of(&settings.paired));
    if (wrong != NULL) {
        rv_say("OCHE_ROGUE: %s", wrong);
        return false;
    }
    if (rate != NULL && rate[0] != '\0' &&
        !oche_rate_parse(rate, &settings.line_rate_bps, &error)) {
        rv_say("OCHE_LINE_RATE: %s", error.text);
        return false;
    }
    settings.alone = settings.paired;
    params_of(&settings.alone)->shadow = false;
    settings.uc = settings.alone;
    params_of(&settings.uc)->transport = ROGUE_UC;
    return true;
}

const struct rogue_params *rv_params(bool paired)
{
    return params_of(paired ? &settings.paired : &settings.alone);
}

const struct rogue_params *rv_uc_params(void)
{
    return params_of(&settings.uc);
}

bool rv_is_given(const char *name)
{
    const char *text = secure_getenv("OCHE_ROGUE");
    size_t length = strlen(name);

    while (text != NULL && *text != '\0') {
        if (strncmp(text, name, length) == 0 && text[length] == '=')
            return true;
        text += strcspn(text, ",");
        text += *text == ',';
    }
    return false;
}

uint64_t rv_line_rate(void)
{
    return settings.line_rate_bps;
}

/* ---- counters ---- */

void rv_count(enum rv_event event)
{
    pthread_mutex_lock(&counted.lock);
    counted.events[event]++;
    pthread_mutex_unlock(&counted.lock);
}

void rv_count_left(enum rv_refusal refusal)
{
    pthread_mutex_lock(&counted.lock);
    counted.left[refusal]++;
    pthread_mutex_unlock(&counted.lock);
}

void rv_count_connection(const struct rv_qp *qp)
{
    const struct rogue_counts *counts = rogue_counts_of(qp->rogue);
    const struct rogue_window *window = rogue_window_of(qp->rogue, ROGUE_OUT);

    pthread_mutex_lock(&counted.lock);
    counted.connections++;
    counted.paired += qp->paired && qp->uc == NULL;
    counted.unreliable += qp->uc != NULL;
    counted.counts.answers += counts->answers;
    counted.counts.unanswered_batches += counts->unanswered_batches;
    counted.counts.sample_timeouts += counts->sample_timeouts;
    counted.counts.pieces += counts->pieces;
    counted.counts.signals += counts->signals;
    counted.counts.samples += counts->samples;
    counted.counts.switches += counts->switches;
    counted.counts.replayed_pieces += counts->replayed_pieces;
    counted.counts.resynchronised += counts->resynchronised;
    counted.counts.resync_messages += counts->resync_messages;
    counted.counts.limiter_changes += counts->limiter_changes;
    counted.counts.limiter_waits += counts->limiter_waits;
    if (window->rtt == OCHE_NEVER)
        window = rogue_window_of(qp->rogue, ROGUE_IN);
    if (window->rtt != OCHE_NEVER) {
        counted.window_bytes = window->bytes;
        counted.least_rtt = window->base_rtt;
        counted.base_rtt = window->base_rtt > window->params->least_base_rtt
                               ? window->base_rtt
                               : window->params->least_base_rtt;
        counted.rtt = window->rtt;
    }
    pthread_mutex_unlock(&counted.lock);
}

void rv_counts_leave(void)
{
    static const pthread_mutex_t open = PTHREAD_MUTEX_INITIALIZER;

    memset(&counted, 0, sizeof(counted));
    counted.lock = open;
}

static double us(oche_time time)
{
    return (double)time / (double)OCHE_US;
}

static void tell_connections(void)
{
    const struct rogue_counts *c = &counted.counts;

    if (counted.connections == 0)
        return;
    rv_say("rogue: connections %" PRIu64 ", of these with a shadow %" PRIu64 "; pieces %" PRIu64
           ", signals %" PRIu64 ", samples %" PRIu64 ", limiter changes %" PRIu64
           "; switches %" PRIu64 ", replayed %" PRIu64 ", suppressed %" PRIu64
           ", receives moved %" PRIu64 " times; resynchronised %" PRIu64 ", messages %" PRIu64
           ", strangers' %" PRIu64 "; last window %" PRIu64
           " bytes, base RTT %.1f us, least RTT %.1f us, RTT %.1f us; thread %.1f ms",
           counted.connections, counted.paired, c->pieces, c->signals, c->samples,
           c->limiter_changes, c->switches, c->replayed_pieces, counted.events[RV_SUPPRESSED],
           counted.events[RV_MOVES], c->resynchronised, c->resync_messages,
           counted.events[RV_STRANGERS], counted.window_bytes, us(counted.base_rtt),
           us(counted.least_rtt), us(counted.rtt), (double)rv_thread_time() / (double)OCHE_MS);
    if (c->limiter_waits > 0)
        rv_say("rogue: waits for one of %" PRIu64 " limiters: %" PRIu64,
               rv_params(true)->rate_limiters, c->limiter_waits);
    if (counted.unreliable > 0)
        rv_say("rogue: unreliable %" PRIu64 ": answered batches %" PRIu64 ", unanswered %" PRIu64
               ", timeouts %" PRIu64,
               counted.unreliable, c->answers, c->unanswered_batches, c->sample_timeouts);
}

static void tell_left(void)
{
    static const char *const why[RV_REFUSALS] = {
        [RV_TYPE] = "another type than RC",
        [RV_SRQ] = "a shared receive queue",
        [RV_ELSEWHERE] = "an extended completion queue",
        [RV_TOO_LARGE] = "more than half of what the adapter has",
        [RV_FEATURES] = "attributes that a shadow cannot have",
        [RV_FAILED] = "no room for a shadow",
    };
    char text[512] = "";
    uint64_t all = 0;
    size_t used = 0;

    for (unsigned i = 0; i < RV_REFUSALS; i++) {
        if (counted.left[i] == 0)
            continue;
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s %" PRIu64,
                                 all > 0 ? ", " : "", why[i], counted.left[i]);
        all += counted.left[i];
    }
    if (all > 0)
        rv_say("rogue: queue pairs left alone %" PRIu64 ": %s", all, text);
}

/* Waits for the lock for a limited time. Returns true if it has it. */
static bool lock_for_last_words(pthread_mutex_t *lock)
{
    struct timespec end;

    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_nsec += LAST_WORDS_NS;
    end.tv_sec += end.tv_nsec / 1000000000;
    end.tv_nsec %= 1000000000;
    return pthread_mutex_timedlock(lock, &end) == 0;
}

/*
 * Runs when the program ends. Counts connections that it has not destroyed as they are, without
 * locks: a thread that has ended, or that a signal has stopped for good, keeps the locks that it
 * had, and threads that wait for those keep others.
 */
__attribute__((destructor)) void rv_tell_stats(void)
{
    static _Atomic bool told;
    const char *wanted = secure_getenv("OCHE_STATS");
    bool world, own;

    if (wanted == NULL || wanted[0] == '\0' || atomic_exchange(&told, true))
        return;
    world = lock_for_last_words(&rv_world.lock);
    for (struct rv_qp *qp = rv_world.qps; qp != NULL; qp = qp->next) {
        own = lock_for_last_words(&qp->lock);
        if (qp->rogue != NULL)
            rv_count_connection(qp);
        if (own)
            pthread_mutex_unlock(&qp->lock);
    }
    if (world)
        pthread_mutex_unlock(&rv_world.lock);
    tell_connections();
    tell_left();
}
