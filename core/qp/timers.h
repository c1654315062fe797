/* SPDX-License-Identifier: Apache-2.0 */
/* Deadlines of queue pairs; see timers.c. */
#ifndef OCHE_CORE_QP_TIMERS_H
#define OCHE_CORE_QP_TIMERS_H

#include "core/qp/qp_internal.h"

/* Makes sure that timers_run is called for the queue pair at `when` or earlier. */
void timers_want(struct oche_qp *qp, oche_time when);
void timers_run(struct oche_qp *qp, oche_time now);

#endif
