/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table that is redrawn in place, on the terminal's ordinary screen. So the text above it stays,
 * and the last table remains when the program ends. Also handles the signals that end the program.
 */
#ifndef OCHE_CLI_STAT_SCREEN_H
#define OCHE_CLI_STAT_SCREEN_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

/* From now on SIGINT, SIGTERM and SIGHUP end the program only while it waits in stat_wait. */
void stat_signals_catch(void);
/*
 * As poll, but allows signals. Waits for `seconds`, or without end if they are below 0. Returns
 * false if a signal has come that ends the program.
 */
bool stat_wait(struct pollfd *fds, nfds_t count, double seconds);

struct stat_screen {
    bool terminal;          /* false: tables follow each other, without sequences */
    unsigned rows, columns; /* 0: unknown */
    unsigned drawn;         /* lines of the last table */
};

/* Opens standard output and reads its size. */
void stat_screen_measure(struct stat_screen *screen);
void stat_screen_draw(struct stat_screen *screen, const char *text);
/* Leaves the cursor below the last table. */
void stat_screen_end(struct stat_screen *screen);

#endif
