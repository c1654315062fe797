/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a device's view to its file. It is written by pwrite and not through a mapping: a program
 * must not end by SIGBUS because its file was cut short or memory ran out. What fails here is no
 * failure of the program: it runs on, without a live view.
 *
 * Called by one thread at a time that has SIGXFSZ blocked.
 */
#ifndef OCHE_DEVICE_VIEW_WRITER_H
#define OCHE_DEVICE_VIEW_WRITER_H

#include "device/view/format.h"

struct oche_view_writer;

/*
 * Makes the file; `given` is the folder that the user names, or NULL (place.h). Removes files of
 * processes that are gone. The members of `view` that do not change are the caller's to fill in.
 * Returns NULL if there can be no file.
 */
struct oche_view_writer *oche_view_writer_open(const char *given);
/* What is written next; it stays as the caller leaves it. */
struct oche_view *oche_view_writer_view(struct oche_view_writer *writer);
/* Writes the view. If the file was removed, it is made again. */
void oche_view_writer_write(struct oche_view_writer *writer);
/* Removes the file. */
void oche_view_writer_close(struct oche_view_writer *writer);
/* For the child of a process that forked, which must not use the writer: closes its copy. */
void oche_view_writer_leave(struct oche_view_writer *writer);

#endif
