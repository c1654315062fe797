/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of what other users of the host can do. Root runs them as users that it becomes. An
 * ordinary user runs them in a user namespace with the users of /etc/subuid, by newuidmap (Debian:
 * uidmap).
 */
#ifndef OCHE_TESTS_SUPPORT_OTHER_USER_H
#define OCHE_TESTS_SUPPORT_OTHER_USER_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Prepares this process for becoming other users. Must be called first, with one thread. Returns
 * false, after a line that the tests are skipped and why, if that is impossible.
 */
bool test_may_be_others(void);

/* Returns a user of this process alone, who has no files. `which`: 0 to 2. */
uid_t test_user(unsigned which);
/* Becomes a user for good. Ends the process on failure. */
void test_become(uid_t user);

/* Runs `what` as a user, in a child. Returns its status; below 0: the signal that ended it. */
int test_as(uid_t user, int (*what)(void *context), void *context);

#endif
