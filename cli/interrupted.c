/* SPDX-License-Identifier: Apache-2.0 */
/* Removes unfinished files when a signal or lack of memory ends the program. */
#include "cli/interrupted.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/time.h>
#include <unistd.h>

#include "core/base.h"

static const char *_Atomic unfinished[OCHE_UNFINISHED];

void oche_remove_unfinished(void)
{
    for (unsigned i = 0; i < OCHE_UNFINISHED; i++) {
        const char *path = atomic_load(&unfinished[i]);
        if (path != NULL)
            unlink(path);
    }
}

/* Less than the second after which mpirun kills the processes that it has asked to end. */
#define LATE_US 900000

#define INTERRUPTED 130

static volatile sig_atomic_t asked, gentle, by_mpirun, hurried;
static volatile sig_atomic_t counting; /* towards the end of the patience with a SIGINT */

static void remove_and_end(int signal);

static void listen_to(int signal)
{
    const struct sigaction ours = {.sa_handler = remove_and_end, .sa_flags = (int)SA_RESETHAND};

    sigaction(signal, &ours, NULL);
}

/* Called if the run has not ended LATE_US after SIGTERM: ends the process without results. */
static void end_late(int signal)
{
    (void)signal;
    oche_remove_unfinished();
    sigaction(SIGTERM, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
    raise(SIGTERM);
}

/* Called if what the program hurries with is not done OCHE_PATIENCE_MS after a SIGINT. */
static void end_impatiently(int signal)
{
    static const char line[] = "interrupted before the run began; there are no results\n";

    (void)signal;
    oche_remove_unfinished();
    const ssize_t written = write(STDERR_FILENO, line, sizeof(line) - 1);

    (void)written; /* nobody may read it */
    _exit(INTERRUPTED);
}

static void end_after(suseconds_t time_us, void (*end)(int signal))
{
    const struct itimerval late = {.it_value.tv_usec = time_us};

    sigaction(SIGALRM, &(struct sigaction){.sa_handler = end}, NULL);
    setitimer(ITIMER_REAL, &late, NULL);
}

static void count_down(void)
{
    counting = 1;
    end_after(OCHE_PATIENCE_MS * 1000, end_impatiently);
}

static bool is_gentle(int signal)
{
    return signal == SIGINT || (by_mpirun && (signal == SIGTERM || signal == SIGUSR1));
}

static void remove_and_end(int signal)
{
    if (gentle && is_gentle(signal)) {
        if (signal == SIGTERM)
            end_after(LATE_US, end_late);
        else if (hurried)
            count_down();
        gentle = 0;
        asked = 1;
        listen_to(signal); /* the next one ends the program */
        return;
    }
    oche_remove_unfinished();
    raise(signal); /* has its default effect when this handler returns */
}

static void listen(void)
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
    static bool listening;

    for (size_t i = 0; !listening && i < OCHE_COUNT_OF(ends); i++) {
        struct sigaction now;

        if (sigaction(ends[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL)
            listen_to(ends[i]);
    }
    listening = true;
}

void oche_remove_if_interrupted(enum oche_unfinished which, const char *path)
{
    atomic_store(&unfinished[which], path);
    if (path != NULL)
        listen();
}

void oche_interrupt_by_mpirun(void)
{
    by_mpirun = 1;
    listen_to(SIGUSR1);
}

void oche_interrupt_hurriedly(bool hurriedly)
{
    hurried = hurriedly;
    if (hurriedly && asked && !by_mpirun)
        count_down();
    if (!hurriedly && counting) {
        setitimer(ITIMER_REAL, &(struct itimerval){.it_value.tv_usec = 0}, NULL);
        counting = 0;
    }
}

const volatile sig_atomic_t *oche_interrupt_gently(bool gently)
{
    if (gently)
        listen();
    gentle = gently;
    return &asked;
}
