/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that fail on demand (params/fail_rules.h), by OCHE_FAIL or `oche fault`, and those of a
 * device that was made to vanish: they fail with EIO. The rules and the counts of calls are the
 * process's.
 */
#include <pthread.h>

#include "device/verbs/internal.h"

_Atomic bool ov_failing;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects the next three */
static struct oche_fail_rules rules, of_environment;
static uint64_t made[OCHE_CALLS]; /* calls so far, since there are rules */

void ov_fail_set(const struct oche_fail_rules *to)
{
    pthread_mutex_lock(&lock);
    for (unsigned call = 0; call < OCHE_CALLS; call++)
        if (to->of[call].first != 0) {
            rules.of[call] = to->of[call];
            made[call] = 0;
        }
    atomic_store(&ov_failing, true);
    pthread_mutex_unlock(&lock);
}

void ov_fail_begin(const struct oche_fail_rules *to)
{
    of_environment = *to;
    ov_fail_set(to);
}

void ov_fail_restore(void)
{
    pthread_mutex_lock(&lock);
    rules = of_environment;
    pthread_mutex_unlock(&lock);
}

/* Counts the call. Returns the errno that the rules have for it; 0: it goes on. */
static int by_rules(enum oche_call call)
{
    const struct oche_fail_rule *rule = &rules.of[call];
    int error = 0;

    pthread_mutex_lock(&lock);
    made[call]++;
    if (rule->first != 0 && made[call] >= rule->first && made[call] <= rule->last)
        error = rule->error;
    pthread_mutex_unlock(&lock);
    return error;
}

int ov_fails_slow(const struct ov_port *port, enum oche_call call)
{
    const int error = by_rules(call);

    if (port != NULL && atomic_load_explicit(&port->vanished, memory_order_relaxed))
        return EIO;
    return error;
}
