/* SPDX-License-Identifier: Apache-2.0 */
/* Shows the check of the points before the first run; Ctrl-C ends it. */
#include "cli/reproduce/checking.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "core/base.h"

#define DRAW_EVERY_S 0.2
#define LINE_EVERY_S 30

static double monotonic_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void oche_checking_begin(struct oche_checking *checking, bool quiet)
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP};

    *checking = (struct oche_checking){
        .quiet = quiet, .terminal = isatty(STDERR_FILENO) == 1, .shown_at = monotonic_s()};
    sigemptyset(&checking->waited);
    for (size_t i = 0; i < OCHE_COUNT_OF(ends); i++) {
        struct sigaction now;

        if (sigaction(ends[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            sigaddset(&checking->waited, ends[i]);
    }
    sigprocmask(SIG_BLOCK, &checking->waited, &checking->before);
}

static void show(struct oche_checking *checking)
{
    if (checking->quiet)
        return;
    checking->shown_at = monotonic_s();
    fprintf(stderr, "%schecking %zu combination%s of %s", checking->terminal ? "\r\033[K" : "",
            checking->total, checking->total == 1 ? "" : "s", checking->paper);
    if (checking->done > 0)
        fprintf(stderr, ", %zu done", checking->done);
    if (!checking->terminal)
        fputc('\n', stderr);
    fflush(stderr);
    checking->drawn = checking->terminal;
}

void oche_checking_paper(struct oche_checking *checking, const char *paper, size_t total)
{
    checking->paper = paper;
    checking->total = total;
    checking->done = 0;
    if (checking->terminal)
        show(checking);
}

void oche_checking_reached(struct oche_checking *checking, size_t done)
{
    checking->done = done;
}

bool oche_checking_go_on(void *context)
{
    struct oche_checking *checking = context;
    const double every = checking->terminal ? DRAW_EVERY_S : LINE_EVERY_S;
    const struct timespec at_once = {0};

    if (sigtimedwait(&checking->waited, NULL, &at_once) > 0) {
        checking->interrupted = true;
        return false;
    }
    if (monotonic_s() - checking->shown_at >= every)
        show(checking);
    checking->done++;
    return true;
}

void oche_checking_end(struct oche_checking *checking)
{
    if (checking->drawn)
        fputs("\r\033[K", stderr);
    checking->drawn = false;
    sigprocmask(SIG_SETMASK, &checking->before, NULL);
}
