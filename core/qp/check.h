/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariants of queue pairs and of the NIC's lists, for tests: what holds between any two events.
 * The statements are tables in check_send.c, check_receive.c and check_nic.c.
 */
#ifndef OCHE_CORE_QP_CHECK_H
#define OCHE_CORE_QP_CHECK_H

#include "core/qp/nic.h"

OCHE_C_BEGIN

/*
 * Returns the first statement that does not hold for the queue pair, a static string; NULL if all
 * hold. The time grows with the posted work. Call it under the driver's lock, outside of hooks.
 */
const char *oche_qp_check(const struct oche_qp *qp);

/*
 * The same for the NIC's lists, heaps and counters, and for each of its queue pairs. If a queue
 * pair breaks a statement, `*which` is that queue pair, else NULL. `which` may be NULL.
 */
const char *oche_nic_check(const struct oche_nic *nic, const struct oche_qp **which);

OCHE_C_END

#endif
