/* SPDX-License-Identifier: Apache-2.0 */
/*
 * liboche-exit.so, which `oche exec` loads before a program's other libraries. It replaces the C
 * library's functions by which a program ends, or sets the action of a signal:
 *
 *   _exit, _Exit             call libibverbs.so.1 first
 *   execve, execl, …         the same, and again if the call fails
 *   sigaction, signal, …     a handler of ours (process_exit.c) replaces the default action of a
 *                            signal that would end the program. It completes our work, and ends
 *                            the program by that signal.
 *
 * The program does not notice: sigaction reports the default action. Everything is as usual before
 * a device is open.
 */
#include "device/verbs/exit_hooks.h"

#include <alloca.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#define SHOWN __attribute__((visibility("default")))
/* The function that our function `name` replaces: the next one of this name in the program. */
#define NEXT(name) ((__typeof__(&name))next(&next_##name, #name))

extern const struct oche_exit_hooks oche_exit_hooks SHOWN;

static void *next(void *_Atomic *kept, const char *name)
{
    void *found = atomic_load_explicit(kept, memory_order_relaxed);

    if (found == NULL) {
        found = dlsym(RTLD_NEXT, name);
        atomic_store_explicit(kept, found, memory_order_relaxed);
    }
    return found;
}

static const struct oche_exit_calls *_Atomic calls;
static void (*_Atomic end_by)(int number); /* NULL: no device was open yet */
static pid_t watcher; /* the process with the hooks, not a vfork child that shares its memory */
static sigset_t watched;
static struct sigaction theirs[NSIG]; /* the program's own actions for watched signals */
static atomic_flag changing = ATOMIC_FLAG_INIT;

/* ---- signals ---- */

static void *_Atomic next_sigaction;

static bool is_watched(int number)
{
    return atomic_load(&end_by) != NULL && number > 0 && number < NSIG &&
           sigismember(&watched, number) == 1 && getpid() == watcher;
}

static bool is_default(const struct sigaction *action)
{
    return (action->sa_flags & SA_SIGINFO) == 0 && action->sa_handler == SIG_DFL;
}

static struct sigaction ours(void)
{
    struct sigaction action = {.sa_handler = atomic_load(&end_by),
                               .sa_flags = SA_RESTART | SA_ONSTACK};

    sigfillset(&action.sa_mask);
    return action;
}

/* The handler instead of one that the program installed for one time (SA_RESETHAND). */
static void handle_once(int number, siginfo_t *info, void *context)
{
    const struct sigaction called = theirs[number], after = ours();

    NEXT(sigaction)(number, &after, NULL);
    theirs[number] = (struct sigaction){.sa_handler = SIG_DFL};
    if (called.sa_flags & SA_SIGINFO)
        called.sa_sigaction(number, info, context);
    else
        called.sa_handler(number);
}

/* Returns the action to install instead of the wanted one. */
static struct sigaction in_place_of(const struct sigaction *wanted)
{
    struct sigaction action = *wanted;

    if (is_default(wanted))
        return ours();
    if ((wanted->sa_flags & (int)SA_RESETHAND) != 0 &&
        ((wanted->sa_flags & SA_SIGINFO) != 0 || wanted->sa_handler != SIG_IGN)) {
        action.sa_sigaction = handle_once;
        action.sa_flags = (wanted->sa_flags & ~(int)SA_RESETHAND) | SA_SIGINFO;
    }
    return action;
}

/* True if the handler is one of those above. */
static bool stands_in(const struct sigaction *action)
{
    return action->sa_handler == atomic_load(&end_by) ||
           ((action->sa_flags & SA_SIGINFO) != 0 && action->sa_sigaction == handle_once);
}

/* Handles sigaction for a watched signal. No other thread or handler is here meanwhile. */
static int change(int number, const struct sigaction *given, struct sigaction *before)
{
    struct sigaction now, action;
    int status = NEXT(sigaction)(number, NULL, &now);

    if (status == 0 && !stands_in(&now))
        theirs[number] = now;
    now = theirs[number];
    if (status == 0 && given != NULL) {
        action = in_place_of(given);
        theirs[number] = *given;
        status = NEXT(sigaction)(number, &action, NULL);
    }
    if (status == 0 && before != NULL)
        *before = now;
    return status;
}

static int change_alone(int number, const struct sigaction *given, struct sigaction *before)
{
    const struct sigaction copy = given != NULL ? *given : (struct sigaction){0};
    sigset_t all, kept;
    int status, error;

    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &kept); /* signal mask of this thread alone */
    while (atomic_flag_test_and_set(&changing))
        continue;
    status = change(number, given != NULL ? &copy : NULL, before);
    error = errno;
    atomic_flag_clear(&changing);
    sigprocmask(SIG_SETMASK, &kept, NULL);
    errno = error;
    return status;
}

SHOWN int sigaction(int number, const struct sigaction *given, struct sigaction *before)
{
    return is_watched(number) ? change_alone(number, given, before)
                              : NEXT(sigaction)(number, given, before);
}

/*
 * The C library's function runs first (siginterrupt counts, …); then its action is replaced if
 * needed.
 */
static sighandler_t set(int number, sighandler_t handler,
                        sighandler_t (*set_next)(int, sighandler_t))
{
    struct sigaction before, after;

    if (!is_watched(number))
        return set_next(number, handler);
    sigaction(number, NULL, &before);
    if (set_next(number, handler) == SIG_ERR)
        return SIG_ERR;
    NEXT(sigaction)(number, NULL, &after);
    sigaction(number, &after, NULL);
    return before.sa_handler;
}

#define SET(name)                                                                                  \
    sighandler_t name(int number, sighandler_t handler) SHOWN;                                     \
    static void *_Atomic next_##name;                                                              \
    sighandler_t name(int number, sighandler_t handler)                                            \
    {                                                                                              \
        return set(number, handler, NEXT(name));                                                   \
    }

SET(signal)
SET(bsd_signal)
SET(sysv_signal)
SET(__sysv_signal)

/* ---- exit ---- */

static void prepare(void)
{
    const struct oche_exit_calls *given = atomic_load(&calls);

    if (given != NULL)
        given->before_exit();
}

static void *_Atomic next__exit, *_Atomic next__Exit;

SHOWN void _exit(int status)
{
    prepare();
    NEXT(_exit)(status);
    abort(); /* it does not return */
}

SHOWN void _Exit(int status)
{
    prepare();
    NEXT(_Exit)(status);
    abort();
}

/* ---- exec ---- */

static void *_Atomic next_execve, *_Atomic next_execv, *_Atomic next_execvp, *_Atomic next_execvpe,
    *_Atomic next_execveat, *_Atomic next_fexecve;

static void begin_exec(void)
{
    const struct oche_exit_calls *given = atomic_load(&calls);

    if (given != NULL)
        given->before_exec();
}

/* The call has returned, so it has failed. */
static int end_exec(int status)
{
    const struct oche_exit_calls *given = atomic_load(&calls);
    const int error = errno;

    if (given != NULL)
        given->exec_failed();
    errno = error;
    return status;
}

SHOWN int execve(const char *path, char *const argv[], char *const envp[])
{
    begin_exec();
    return end_exec(NEXT(execve)(path, argv, envp));
}

SHOWN int execv(const char *path, char *const argv[])
{
    begin_exec();
    return end_exec(NEXT(execv)(path, argv));
}

SHOWN int execvp(const char *file, char *const argv[])
{
    begin_exec();
    return end_exec(NEXT(execvp)(file, argv));
}

SHOWN int execvpe(const char *file, char *const argv[], char *const envp[])
{
    begin_exec();
    return end_exec(NEXT(execvpe)(file, argv, envp));
}

SHOWN int execveat(int folder, const char *path, char *const argv[], char *const envp[], int flags)
{
    begin_exec();
    return end_exec(NEXT(execveat)(folder, path, argv, envp, flags));
}

SHOWN int fexecve(int fd, char *const argv[], char *const envp[])
{
    begin_exec();
    return end_exec(NEXT(fexecve)(fd, argv, envp));
}

/* Returns how many arguments there are before NULL. */
static size_t count_arguments(va_list list)
{
    size_t count = 0;

    while (va_arg(list, char *) != NULL)
        count++;
    return count;
}

/*
 * The variants with a list of arguments. After its NULL, execle has the environment. The list
 * becomes an array on the stack, as in the C library: this may be the child of a vfork.
 */
#define EXEC_LIST(name, has_environment, ...)                                                      \
    SHOWN int name(const char *path, const char *first, ...)                                       \
    {                                                                                              \
        va_list list;                                                                              \
        size_t count;                                                                              \
        char **argv, **envp;                                                                       \
                                                                                                   \
        va_start(list, first);                                                                     \
        count = 1 + count_arguments(list);                                                         \
        va_end(list);                                                                              \
        argv = alloca((count + 1) * sizeof(*argv));                                                \
        va_start(list, first);                                                                     \
        argv[0] = (char *)(uintptr_t)first;                                                        \
        for (size_t i = 1; i <= count; i++)                                                        \
            argv[i] = va_arg(list, char *);                                                        \
        envp = has_environment ? va_arg(list, char **) : NULL;                                     \
        va_end(list);                                                                              \
        (void)envp;                                                                                \
        return __VA_ARGS__;                                                                        \
    }

EXEC_LIST(execl, false, execv(path, argv))
EXEC_LIST(execlp, false, execvp(path, argv))
EXEC_LIST(execle, true, execve(path, argv, envp))

/*
 * Looks all functions up before there are threads: the child of a fork must not wait for a lock of
 * the dynamic linker's that another thread of its parent had.
 */
static void __attribute__((constructor)) find_functions(void)
{
    (void)NEXT(sigaction);
    (void)NEXT(_exit);
    (void)NEXT(_Exit);
    (void)NEXT(execve);
    (void)NEXT(execv);
    (void)NEXT(execvp);
    (void)NEXT(execvpe);
    (void)NEXT(execveat);
    (void)NEXT(fexecve);
}

/* ---- what libibverbs.so.1 calls ---- */

static int next_action(int number, const struct sigaction *given, struct sigaction *before)
{
    return NEXT(sigaction)(number, given, before);
}

/* A forked process has a copy of all this, and sees its program's actions. */
static void in_child(void)
{
    watcher = getpid();
    atomic_flag_clear(&changing);
}

static void watch(const sigset_t *signals, void (*handler)(int number),
                  const struct oche_exit_calls *given)
{
    static bool forks_too;
    struct sigaction now;

    watched = *signals;
    watcher = getpid();
    if (!forks_too)
        forks_too = pthread_atfork(NULL, NULL, in_child) == 0;
    atomic_store(&calls, given);
    atomic_store(&end_by, handler);
    for (int number = 1; number < NSIG; number++)
        if (is_watched(number) && sigaction(number, NULL, &now) == 0)
            sigaction(number, &now, NULL);
}

const struct oche_exit_hooks oche_exit_hooks = {.sigaction = next_action, .watch = watch};
