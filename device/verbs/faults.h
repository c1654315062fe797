/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Faults on demand, for tests of programs: what `oche fault` asks of a running process (fault.c),
 * calls that fail (fail_calls.c), a port that goes down, and a device that vanishes (health.c).
 */
#ifndef OCHE_DEVICE_VERBS_FAULTS_H
#define OCHE_DEVICE_VERBS_FAULTS_H

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "core/base.h"
#include "params/fail_rules.h"

#pragma GCC visibility push(hidden)

struct ov_port;

/* ---- calls that fail ---- */

extern _Atomic bool ov_failing; /* some call may fail */
int ov_fails_slow(const struct ov_port *port, enum oche_call call);

/* Returns the errno with which this call has to fail; 0: it goes on. `port`: NULL before it is
 * open. */
static inline int ov_fails(const struct ov_port *port, enum oche_call call)
{
    return OCHE_LIKELY(!atomic_load_explicit(&ov_failing, memory_order_relaxed))
               ? 0
               : ov_fails_slow(port, call);
}

/*
 * Reads OCHE_FAIL, once. Returns false, after printing a line, if it is wrong: no device opens
 * then.
 */
bool ov_fail_environment(void);
/* Sets the rules of the environment. To be called once, before the first of the other calls. */
void ov_fail_begin(const struct oche_fail_rules *rules);
/* Adds rules; those of a call replace its earlier ones, and it is counted from now on. */
void ov_fail_set(const struct oche_fail_rules *rules);
/* Around a fork: the child has the environment's rules, and counts its own calls. */
void ov_fail_before_fork(void);
void ov_fail_after_fork(void);
void ov_fail_in_child(void);
/* Ends all rules but those of the environment. */
void ov_fail_restore(void);
/* Appends the rules that can still make a call fail to the text of `bytes` bytes, "; " before each.
 */
void ov_fail_list(char *text, size_t bytes);
/* At a device's end: prints which calls were to fail and have not been made so often, each once. */
void ov_report_fails(void);

/* ---- the port's health ---- */

/* The port goes down, for so long or until ov_port_up, or comes up again. */
void ov_port_down(struct ov_port *port, oche_time now, oche_time lasts);
void ov_port_up(struct ov_port *port);
/* The device vanishes for good: its calls fail with EIO, and nothing arrives. */
void ov_port_vanish(struct ov_port *port);
/* The port closes: once it is open again, it is up. */
void ov_health_forget(struct ov_port *port);
/* Called by the port's thread: a port that is down comes up when its time is over. */
void ov_health_update(struct ov_port *port, oche_time now);

/* ---- requests ---- */

/* Does what the text asks for, and writes the answer (device/view/control.h). */
void ov_fault(struct ov_port *port, char *text, char *answer, size_t bytes);

#pragma GCC visibility pop

#endif
