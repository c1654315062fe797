/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The time before the first run, in which every combination of a paper is opened. Prints the
 * progress on standard error: on a terminal one line that is redrawn and removed at the end,
 * elsewhere a line every half minute. SIGINT, SIGTERM or SIGHUP interrupt it between two
 * combinations. A signal that was ignored before stays ignored.
 */
#ifndef OCHE_CLI_REPRODUCE_CHECKING_H
#define OCHE_CLI_REPRODUCE_CHECKING_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

struct oche_checking {
    bool quiet, terminal, drawn, interrupted;
    const char *paper;
    size_t total, done; /* combinations of the paper, and those checked */
    double shown_at;    /* seconds on the monotonic clock */
    sigset_t waited, before;
};

void oche_checking_begin(struct oche_checking *checking, bool quiet);
/* Continues with a paper of `total` combinations; `paper` must stay valid. */
void oche_checking_paper(struct oche_checking *checking, const char *paper, size_t total);
/* Prints that `done` of the paper's combinations are checked. */
void oche_checking_reached(struct oche_checking *checking, size_t done);
/* Counts a combination. False: the program was interrupted. `context`: the struct oche_checking. */
bool oche_checking_go_on(void *context);
/* Clears the line. A signal that comes later has its usual effect. */
void oche_checking_end(struct oche_checking *checking);

#endif
