/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the views of running processes. What is in them is checked (format.h). */
#ifndef OCHE_DEVICE_VIEW_READER_H
#define OCHE_DEVICE_VIEW_READER_H

#include <sys/types.h>

#include "device/view/format.h"
#include "device/view/place.h"

#define OCHE_VIEW_STALE_S 2.0 /* a view that was not written for so long is stale */

/* A device of a running process. */
struct oche_view_entry {
    uid_t user;        /* as the kernel has it */
    pid_t pid;         /* likewise; or as the process has it, if it cannot be seen from here */
    bool is_elsewhere; /* … as it is in another PID namespace */
    bool is_first;     /* of the devices of its process */
    double silent_s;   /* how long ago the view was written */
    char name[OCHE_VIEW_NAME_BYTES];
    struct oche_view view;
};

struct oche_views {
    struct oche_view_entry **entries; /* by user, process and address */
    size_t count;
    unsigned other_versions, unreadable; /* files of living processes that are left out */
};

/*
 * Reads all views of the effective user, for root of all users; or those in the folder `given`
 * alone. Removes files of processes that are gone. Returns false if memory is out.
 */
bool oche_views_read(struct oche_views *views, const char *given);
void oche_views_free(struct oche_views *views);
/*
 * Returns the entry of the same device among earlier views, if it can be compared with this one (no
 * counter was higher, nor the time); else NULL. If nothing was written since, they are equal.
 */
const struct oche_view_entry *oche_views_before(const struct oche_views *earlier,
                                                const struct oche_view_entry *entry);

#endif
