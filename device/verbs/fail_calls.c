/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that fail on demand (params/fail_rules.h), by OCHE_FAIL or `oche fault`, and those of a
 * device that was made to vanish: they fail with EIO. The rules and the counts of calls are the
 * process's.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "device/verbs/internal.h"

_Atomic bool ov_failing;

/* Rules and calls from two sides, each with its own count. */
static struct calls {
    struct oche_fail_rules rules;
    uint64_t made[OCHE_CALLS]; /* so far, since there is a rule */
    bool happened[OCHE_CALLS], told[OCHE_CALLS];
} of_environment, of_faults; /* `oche fault`: a rule goes before the environment's */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects both */

void ov_fail_begin(const struct oche_fail_rules *to)
{
    pthread_mutex_lock(&lock);
    of_environment = (struct calls){.rules = *to};
    atomic_store(&ov_failing, true);
    pthread_mutex_unlock(&lock);
}

void ov_fail_set(const struct oche_fail_rules *to)
{
    pthread_mutex_lock(&lock);
    for (unsigned call = 0; call < OCHE_CALLS; call++)
        if (to->of[call].first != 0) {
            of_faults.rules.of[call] = to->of[call];
            of_faults.made[call] = 0;
            of_faults.happened[call] = of_faults.told[call] = false;
        }
    atomic_store(&ov_failing, true);
    pthread_mutex_unlock(&lock);
}

void ov_fail_restore(void)
{
    pthread_mutex_lock(&lock);
    of_faults = (struct calls){.made = {0}};
    pthread_mutex_unlock(&lock);
}

void ov_fail_before_fork(void)
{
    pthread_mutex_lock(&lock);
}

void ov_fail_after_fork(void)
{
    pthread_mutex_unlock(&lock);
}

void ov_fail_in_child(void)
{
    of_environment = (struct calls){.rules = of_environment.rules};
    of_faults = (struct calls){.made = {0}};
    pthread_mutex_unlock(&lock);
}

/* Counts the call. Returns the errno that the rules have for it; 0: it goes on. */
static int by_rules(enum oche_call call)
{
    const struct oche_fail_rule *rule;
    struct calls *of;
    uint64_t number;
    int error = 0;
    bool first;

    pthread_mutex_lock(&lock);
    of = of_faults.rules.of[call].first != 0 ? &of_faults : &of_environment;
    rule = &of->rules.of[call];
    of_environment.made[call]++;
    of_faults.made[call]++;
    if (rule->first != 0 && of->made[call] >= rule->first && of->made[call] <= rule->last)
        error = rule->error;
    first = error != 0 && !of->happened[call];
    of->happened[call] |= first;
    number = of->made[call];
    pthread_mutex_unlock(&lock);
    if (first)
        ov_say("%s fails on purpose: call %" PRIu64 ", %s", oche_call_name(call), number,
               strerror(error));
    return error;
}

/* Under the lock. Numbers of calls are counted from now on, as `oche fault … fail` has them. */
static void list(const struct calls *of, const struct calls *before, const char *by, char *text,
                 size_t bytes)
{
    for (unsigned call = 0; call < OCHE_CALLS; call++) {
        const struct oche_fail_rule *rule = &of->rules.of[call];
        const uint64_t made = of->made[call];
        const size_t length = strlen(text);
        char range[64] = "";

        if (rule->first == 0 || rule->last <= made ||
            (before != NULL && before->rules.of[call].first != 0))
            continue;
        if (rule->last == UINT64_MAX)
            snprintf(range, sizeof(range), "..");
        else if (rule->last > rule->first)
            snprintf(range, sizeof(range), "..%" PRIu64, rule->last - made);
        snprintf(text + length, bytes - length, "; %s: fail %s=%" PRIu64 "%s", by,
                 oche_call_name(call), rule->first > made ? rule->first - made : 1, range);
    }
}

void ov_fail_list(char *text, size_t bytes)
{
    pthread_mutex_lock(&lock);
    list(&of_faults, NULL, "changed", text, bytes);
    list(&of_environment, &of_faults, "from the start", text, bytes);
    pthread_mutex_unlock(&lock);
}

/* Under the lock. */
static void report(struct calls *of)
{
    for (unsigned call = 0; call < OCHE_CALLS; call++)
        if (of->rules.of[call].first > of->made[call] && !of->told[call]) {
            of->told[call] = true;
            ov_say("%s=%" PRIu64 " has not happened: so far the program has made %" PRIu64
                   " such calls",
                   oche_call_name(call), of->rules.of[call].first, of->made[call]);
        }
}

void ov_report_fails(void)
{
    if (pthread_mutex_trylock(&lock) != 0)
        return; /* perhaps a thread that was stopped as the process ends */
    report(&of_environment);
    report(&of_faults);
    pthread_mutex_unlock(&lock);
}

int ov_fails_slow(const struct ov_port *port, enum oche_call call)
{
    const int error = by_rules(call);

    if (port != NULL && atomic_load_explicit(&port->vanished, memory_order_relaxed))
        return EIO;
    return error;
}
