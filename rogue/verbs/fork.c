/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handling of fork. The child may not use objects of its parent, but may open devices of its own.
 * So the child uses no state of the parent's library.
 */
#include "rogue/verbs/internal.h"

static void in_child(void)
{
    rv_tables_release();
    rv_thread_leave();
    rv_counts_leave();
}

__attribute__((constructor)) static void watch_forks(void)
{
    pthread_atfork(rv_tables_hold, rv_tables_release, in_child);
}
