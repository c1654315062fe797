/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The way by which `oche fault` reaches a running process: a Unix socket (SOCK_SEQPACKET) beside
 * the view's file (place.h), with the file's name and ".s". The folder belongs to the user alone,
 * so nobody else, except root, can reach it. A request is one packet of text, and so is the answer:
 *
 *     ok WHAT WAS DONE        no WHY NOT, as things are        bad WHAT IS WRONG WITH THE TEXT
 */
#ifndef OCHE_DEVICE_VIEW_CONTROL_H
#define OCHE_DEVICE_VIEW_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define OCHE_CONTROL_BYTES 4096 /* longest request, and longest answer */

/* The process's end: one asker at a time. */
struct oche_control {
    int listens, asker; /* -1: none */
    /* the sockets' identities, as programs close and reuse unknown descriptors */
    ino_t listens_inode, asker_inode;
    int64_t came; /* second at which the asker came */
};

/* Makes the socket. On failure there is none, and the other functions do nothing. */
void oche_control_open(struct oche_control *control, const char *folder, const char *name);
/* Closes it and removes its name. */
void oche_control_close(struct oche_control *control, const char *folder, const char *name);
/* In a forked child: closes its copies. */
void oche_control_leave(struct oche_control *control);

/* Takes a request, if there is one. Does not wait. `text` has OCHE_CONTROL_BYTES bytes. */
bool oche_control_take(struct oche_control *control, char *text);
/* Answers the request that was taken. Does not wait: an asker that has gone gets no answer. */
void oche_control_answer(struct oche_control *control, const char *text);
/* True if an asker is there whose request has not come yet. */
static inline bool oche_control_expects(const struct oche_control *control)
{
    return control->asker >= 0;
}

/*
 * Asks the process whose view is the file `name` in the folder of which `folder` is a descriptor.
 * Waits for `timeout_ms`. Returns false, with errno, if there is no answer: ENOENT or ECONNREFUSED
 * if the process has no socket, ETIMEDOUT.
 */
bool oche_control_ask(int folder, const char *name, const char *text, char *answer, size_t bytes,
                      int timeout_ms);

#endif
