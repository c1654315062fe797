/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a device's view to its file, by pwrite instead of a mapping: a program must not end by
 * SIGBUS because its file was cut short or memory ran out. A failure here does not affect the
 * program: it runs on without a live view.
 *
 * Called by one thread at a time, with SIGXFSZ blocked.
 */
#ifndef OCHE_DEVICE_VIEW_WRITER_H
#define OCHE_DEVICE_VIEW_WRITER_H

#include "device/view/control.h"
#include "device/view/format.h"

struct oche_view_writer;

/*
 * Makes the file; `given` is the user's folder, or NULL (place.h). Removes files of processes that
 * have ended. The caller fills in the constant members of `view`. Returns NULL on failure.
 */
struct oche_view_writer *oche_view_writer_open(const char *given);
/* Returns the view that will be written next; the caller may change it. */
struct oche_view *oche_view_writer_view(struct oche_view_writer *writer);
/* Returns the name of its file. */
const char *oche_view_writer_name(const struct oche_view_writer *writer);
/* Writes the view. Makes the file again if it was removed. */
void oche_view_writer_write(struct oche_view_writer *writer);
/* Returns the writer's end of the way by which others reach the process (control.h). */
struct oche_control *oche_view_writer_control(struct oche_view_writer *writer);
/* Removes the file. */
void oche_view_writer_close(struct oche_view_writer *writer);
/* For the child of a process that forked, which must not use the writer: closes its copy. */
void oche_view_writer_leave(struct oche_view_writer *writer);

#endif
