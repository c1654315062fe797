/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of the program by a signal, _exit or exec. An adapter acknowledges arriving packets and
 * sends posted work even if the program ends a microsecond later. Here ACKs may wait for data
 * (device/path/ack_delay.h), and posted work for the next poll. So everything that is due is sent
 * first (ov_ports_finish). Counters are printed (OCHE_STATS) and captures completed (OCHE_CAPTURE),
 * as ib_write_bw --run_infinitely always ends like this.
 *
 * If the default action of a signal would end the program, we install a handler. It may interrupt
 * any function, so it only wakes the exit thread and waits. The exit thread takes the locks, sends,
 * prints and writes. It then ends the program by the same signal, with its default action, so the
 * program's parent sees the usual status. If the handler has interrupted a thread that has a lock
 * of ours, that thread continues until it releases the lock (device/host/critical_section.h). After
 * some seconds the signal ends the program in any case.
 *
 * A handler of the program's own stays. If it calls _exit, or asks for the default action and
 * raises the signal again, liboche-exit.so informs us (exit_hooks.h); also of exec, which ends our
 * part in the process, unless it fails. SIGKILL cannot be noticed. Faults (SIGSEGV, SIGABRT …) and
 * SIGQUIT are left alone, so that a core file shows the program as it was: a delayed ACK may then
 * be lost, no counters are printed, and a capture lacks the packet that was being handled.
 */
#include <dlfcn.h>
#include <errno.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "device/host/critical_section.h"
#include "device/verbs/exit_hooks.h"
#include "device/verbs/internal.h"
#include "device/verbs/manager.h"

#define BY_EXIT   -1   /* in place of a signal's number */
#define LONGEST   5000 /* milliseconds that the end of the program is put off for, at most */
#define REPORTERS 8

static pid_t owner; /* the process that this is set up for; a forked one does it again */
static pthread_t exit_thread;
static sem_t asked;
static _Atomic int reason; /* the signal that ends the program, or BY_EXIT; 0: it continues */
static _Atomic bool done;
static _Atomic bool tells; /* there are counters to print, or captures */
/* The thread that ends the program is in a critical section and keeps its locks. */
static _Atomic bool has_locks;
static const struct oche_exit_hooks *hooks; /* NULL: liboche-exit.so is not loaded */
/* The signal that will end this thread when it has left its critical section. */
static __thread volatile int pending __attribute__((tls_model("initial-exec")));

static int set_action(int number, const struct sigaction *given, struct sigaction *before)
{
    return hooks != NULL ? hooks->sigaction(number, given, before)
                         : sigaction(number, given, before);
}

/* Ends the process by the default action of this signal. */
static void die_by(int number)
{
    const struct sigaction standard = {.sa_handler = SIG_DFL};
    sigset_t alone;

    set_action(number, &standard, NULL);
    sigemptyset(&alone);
    sigaddset(&alone, number);
    pthread_sigmask(SIG_UNBLOCK, &alone, NULL);
    raise(number);
}

/* Waits for a millisecond. */
static void nap(void)
{
    const struct timespec time = {.tv_nsec = 1000000};

    nanosleep(&time, NULL);
}

static void wait_for_the_end(int number)
{
    for (unsigned i = 0; i < LONGEST; i++)
        nap();
    die_by(number);
}

static void left(void)
{
    if (pending != 0)
        wait_for_the_end(pending);
}

/* Returns false if the program is about to end already. */
static bool begin(int why)
{
    int none = 0;

    return atomic_compare_exchange_strong(&reason, &none, why);
}

static void ask(void)
{
    atomic_store(&oche_critical_left, left);
    sem_post(&asked);
}

/* The handler in place of a signal's default action. */
static void end_by(int number)
{
    const int error = errno;

    if (getpid() != owner) /* a forked process, or one that shares our memory (vfork) */
        die_by(number);
    if (begin(number))
        ask();
    if (oche_critical_depth == 0)
        wait_for_the_end(number);
    pending = number;
    errno = error;
}

static bool has_reporters(void);

/*
 * Sends due packets, in this thread. Printing may need foreign locks (malloc's) that this thread
 * may hold, so the exit thread prints.
 */
void ov_exit_now(void)
{
    if (getpid() != owner)
        return;
    if (begin(BY_EXIT)) {
        atomic_store(&ov_exiting, true);
        atomic_store(&has_locks, oche_critical_depth > 0);
        ov_ports_finish(!atomic_load(&has_locks));
        if (!atomic_load(&tells) && !has_reporters())
            atomic_store(&done, true);
        else
            ask();
    }
    for (unsigned i = 0; i < LONGEST && !atomic_load(&done); i++)
        nap();
}

static void before_exec(void)
{
    if (getpid() == owner)
        ov_ports_finish(oche_critical_depth == 0);
}

static void exec_failed(void)
{
    if (getpid() == owner && oche_critical_depth == 0)
        ov_ports_resume();
}

static void *run(void *unused)
{
    (void)unused;
    while (sem_wait(&asked) != 0)
        continue;
    atomic_store(&ov_exiting, true);
    ov_ports_finish(!atomic_load(&has_locks));
    ov_ports_report();
    atomic_store(&done, true);
    if (atomic_load(&reason) != BY_EXIT)
        die_by(atomic_load(&reason));
    return NULL;
}

/* ---- others that have something to tell ---- */

static void (*_Atomic reporters[REPORTERS])(void);

void oche_at_end(void (*tell)(void))
{
    for (unsigned i = 0; i < REPORTERS; i++) {
        void (*none)(void) = NULL;

        if (atomic_compare_exchange_strong(&reporters[i], &none, tell))
            return;
    }
}

static bool has_reporters(void)
{
    return atomic_load(&reporters[0]) != NULL;
}

void ov_others_report(void)
{
    for (unsigned i = 0; i < REPORTERS; i++) {
        void (*tell)(void) = atomic_load(&reporters[i]);

        if (tell != NULL)
            tell();
    }
}

/* ---- watching ---- */

/* Signals whose default action ends a program, without a core file. */
static const int ends[] = {SIGHUP,  SIGINT,  SIGTERM,   SIGALRM, SIGUSR1,
                           SIGUSR2, SIGPIPE, SIGVTALRM, SIGPROF};

static bool start_exit_thread(void)
{
    sigset_t all, before;
    bool started;

    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    started = pthread_create(&exit_thread, NULL, run, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (started)
        pthread_detach(exit_thread);
    return started;
}

static void install(void)
{
    static const struct oche_exit_calls calls = {
        .before_exit = ov_exit_now, .before_exec = before_exec, .exec_failed = exec_failed};
    struct sigaction ours = {.sa_handler = end_by, .sa_flags = SA_RESTART | SA_ONSTACK}, now;
    sigset_t watched;

    sigfillset(&ours.sa_mask);
    sigemptyset(&watched);
    for (size_t i = 0; i < OCHE_COUNT_OF(ends); i++)
        sigaddset(&watched, ends[i]);
    if (hooks != NULL) {
        hooks->watch(&watched, end_by, &calls);
        return;
    }
    for (size_t i = 0; i < OCHE_COUNT_OF(ends); i++)
        if (sigaction(ends[i], NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) == 0 &&
            now.sa_handler == SIG_DFL)
            sigaction(ends[i], &ours, NULL);
}

/* Called under the lock of all ports. Without memory the program ends as usual. */
void ov_exit_watch(bool has_something)
{
    static bool at_quick_exit_too;

    if (has_something)
        atomic_store(&tells, true);
    if (owner == getpid())
        return;
    atomic_store(&reason, 0);
    atomic_store(&done, false);
    atomic_store(&oche_critical_left, NULL);
    if (sem_init(&asked, 0, 0) != 0 || !start_exit_thread())
        return;
    owner = getpid();
    if (!at_quick_exit_too)
        at_quick_exit_too = at_quick_exit(ov_exit_now) == 0;
    hooks = dlsym(RTLD_DEFAULT, "oche_exit_hooks");
    install();
}
