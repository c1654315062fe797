/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the views of running processes, and checks them (format.h). */
#ifndef OCHE_DEVICE_VIEW_READER_H
#define OCHE_DEVICE_VIEW_READER_H

#include <sys/types.h>

#include "device/view/format.h"
#include "device/view/place.h"

#define OCHE_VIEW_STALE_S 2.0 /* a view is stale after this time without a write */

/* A device of a running process. */
struct oche_view_entry {
    uid_t user; /* the file's owner, as the kernel reports it */
    pid_t pid;  /* as the kernel reports it; or the process's own, if it cannot be seen from here */
    bool is_elsewhere; /* … as it is in another PID namespace */
    bool is_first;     /* the first of its process's devices */
    double silent_s;   /* time since the view was written */
    char name[OCHE_VIEW_NAME_BYTES];
    struct oche_view view;
};

struct oche_views {
    struct oche_view_entry **entries; /* by user, process and address */
    size_t count;
    unsigned other_versions, unreadable; /* files of living processes that are left out */
};

/*
 * Reads all views of the effective user, or for root of all users; or only those in the folder
 * `given`. Removes files of processes that have ended. Returns false if memory is out.
 */
bool oche_views_read(struct oche_views *views, const char *given);
/*
 * As oche_views_read, without the views whose file's name `leave_out` names. A process with views
 * of its own must leave them out: opening and closing them would end its locks (place.h).
 */
bool oche_views_read_others(struct oche_views *views, const char *given,
                            bool (*leave_out)(void *context, const char *name), void *context);
void oche_views_free(struct oche_views *views);
/*
 * Returns the earlier entry of the same device, if the two can be compared (no counter, nor the
 * time, has decreased); else NULL. They are equal if nothing was written since.
 */
const struct oche_view_entry *oche_views_before(const struct oche_views *earlier,
                                                const struct oche_view_entry *entry);

#endif
