/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/stat/screen.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define UP          "\033[%uA"
#define CLEAR_LINE  "\033[K"
#define CLEAR_BELOW "\033[J"
#define CLEAR_ALL   "\033[H\033[2J"
#define HIDE_CURSOR "\033[?25l"
#define SHOW_CURSOR "\033[?25h"

/* ---- signals ---- */

static volatile sig_atomic_t ended, redraw;
static sigset_t waiting; /* signals that are blocked while the program works */

static void end(int number)
{
    (void)number;
    ended = 1;
}

static void draw_again(int number)
{
    (void)number;
    redraw = 1;
}

void stat_signals_catch(void)
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP}, redraws[] = {SIGWINCH, SIGCONT};
    struct sigaction action = {.sa_handler = end}, before;
    sigset_t caught;

    sigemptyset(&caught);
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        /* one that was ignored (nohup) stays so */
        if (sigaction(ends[i], NULL, &before) == 0 && before.sa_handler == SIG_IGN)
            continue;
        sigaddset(&caught, ends[i]);
        sigaction(ends[i], &action, NULL);
    }
    action.sa_handler = draw_again;
    for (size_t i = 0; i < sizeof(redraws) / sizeof(redraws[0]); i++) {
        sigaddset(&caught, redraws[i]);
        sigaction(redraws[i], &action, NULL);
    }
    sigprocmask(SIG_BLOCK, &caught, &waiting);
}

bool stat_wait(struct pollfd *fds, nfds_t count, double seconds)
{
    const struct timespec limit = {.tv_sec = (time_t)seconds,
                                   .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};

    if (ppoll(fds, count, seconds < 0 ? NULL : &limit, &waiting) < 0)
        for (nfds_t i = 0; i < count; i++)
            fds[i].revents = 0;
    return ended == 0;
}

/* ---- the terminal ---- */

void stat_screen_measure(struct stat_screen *screen)
{
    const char *kind = getenv("TERM");
    struct winsize size;

    screen->terminal =
        isatty(STDOUT_FILENO) && kind != NULL && kind[0] != '\0' && strcmp(kind, "dumb") != 0;
    screen->rows = screen->columns = 0;
    if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0)
        return;
    screen->rows = size.ws_row;
    screen->columns = size.ws_col;
}

void stat_screen_draw(struct stat_screen *screen, const char *text)
{
    unsigned lines = 0;

    if (!screen->terminal) {
        fputs(text, stdout);
        return;
    }
    if (redraw != 0) /* the old text may have been wrapped again, or be another program's */
        fputs(CLEAR_ALL, stdout);
    else if (screen->drawn > 0)
        printf("\r" UP, screen->drawn);
    redraw = 0;
    fputs(HIDE_CURSOR, stdout);
    while (*text != '\0') {
        const size_t bytes = strcspn(text, "\n");

        if (screen->rows > 3 && lines == screen->rows - 2 && text[bytes] == '\n' &&
            text[bytes + 1] != '\0') {
            printf("… (the terminal is too low for all)" CLEAR_LINE "\n");
            lines++;
            break;
        }
        printf("%.*s" CLEAR_LINE "\n", (int)bytes, text);
        text += bytes + (text[bytes] == '\n');
        lines++;
    }
    fputs(CLEAR_BELOW, stdout);
    fflush(stdout);
    screen->drawn = lines;
}

void stat_screen_end(struct stat_screen *screen)
{
    if (screen->terminal && screen->drawn > 0)
        fputs("\r" CLEAR_LINE SHOW_CURSOR, stdout); /* the terminal may have shown ^C */
    fflush(stdout);
}
