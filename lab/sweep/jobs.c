/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes for points. A child writes its result, as text, to a file in memory (memfd), and its
 * standard error to another one. The parent reads them when the child has ended. The parent waits
 * for signals by name (sigtimedwait), so handlers are not needed.
 */
#include "lab/sweep/jobs.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define TICK_NS     200000000
#define SAID_BYTES  65536 /* most bytes that are read of a child's standard error */
#define BROKEN_EXIT 3     /* exit status of a child that could not write its result */

struct job {
    pid_t pid; /* process id of the child; 0: no child */
    size_t point;
    int result, said; /* memfds: the result as text, and the child's standard error */
};

struct crew {
    const struct oche_grid *grid;
    struct job *jobs;
    unsigned size, running;
    oche_job_done *done;
    oche_job_tick *tick;
    void *context;
    bool stopped;
    sigset_t before; /* the caller's signal mask */
    sigset_t waited;
    struct sigaction child_before; /* the previous action of SIGCHLD */
};

unsigned oche_jobs_cores(void)
{
    cpu_set_t cores;

    if (sched_getaffinity(0, sizeof(cores), &cores) != 0)
        return 1;
    return (unsigned)CPU_COUNT(&cores);
}

/* ---- the child ---- */

/* If memory runs out, makes the kernel kill a child and not the parent, which has the results. */
static void offer_to_oom_killer(void)
{
    int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

    if (file < 0)
        return;
    if (write(file, "500", 3) < 0) {
        /* failure is harmless: the kernel then chooses by its own rules */
    }
    close(file);
}

static _Noreturn void be_child(const struct crew *crew, const struct job *job, pid_t parent)
{
    struct oche_point_result result;
    char name[16];
    size_t count;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) /* the parent had died before the request took effect */
        _exit(BROKEN_EXIT);
    snprintf(name, sizeof(name), "point %zu", job->point);
    prctl(PR_SET_NAME, name);
    offer_to_oom_killer();
    signal(SIGINT, SIG_IGN); /* Ctrl-C reaches the child too, but the parent decides */
    sigaction(SIGCHLD, &crew->child_before, NULL);
    sigprocmask(SIG_SETMASK, &crew->before, NULL);
    dup2(job->said, STDERR_FILENO);
    FILE *out = fdopen(job->result, "w");
    char **sets = oche_grid_sets(crew->grid, job->point, &count);

    oche_point_run(crew->grid->scenario, (const char *const *)sets, count, &result);
    bool ok = out != NULL && oche_point_write(&result, out);

    fflush(stderr);
    /* not exit(), which would flush and close what the parent had opened */
    _exit(ok ? 0 : BROKEN_EXIT);
}

/* ---- how a child ended ---- */

/*
 * Returns the first line with letters in the child's output, without its newline; "" if there is no
 * such line.
 */
static void first_line(const char *said, char *line, size_t line_bytes)
{
    line[0] = '\0';
    while (*said != '\0') {
        size_t length = strcspn(said, "\n");
        bool letters = false;

        for (size_t i = 0; i < length; i++)
            letters |= isalpha((unsigned char)said[i]) != 0;
        if (letters) {
            snprintf(line, line_bytes, "%.*s", (int)length, said);
            return;
        }
        said += length + (said[length] != '\0');
    }
}

static void describe_end(struct oche_point_result *result, const struct crew *crew, size_t point,
                         int status, const char *said)
{
    char line[512];

    first_line(said, line, sizeof(line));
    *result = (struct oche_point_result){.status = OCHE_POINT_CRASHED,
                                         .seed = oche_grid_seed(crew->grid, point)};
    if (WIFSIGNALED(status))
        OCHE_GOT(asprintf(&result->error, "signal %d (%s)%s%s%s", WTERMSIG(status),
                          strsignal(WTERMSIG(status)),
                          WTERMSIG(status) == SIGKILL ? ", as when memory runs out" : "",
                          line[0] != '\0' ? ": " : "", line) >= 0);
    else
        OCHE_GOT(asprintf(&result->error, "ended with status %d before its result was whole%s%s",
                          WEXITSTATUS(status), line[0] != '\0' ? ": " : "", line) >= 0);
}

/* Returns the file's content as text (malloc'd). */
static char *read_said(int file)
{
    char *text = calloc(1, SAID_BYTES + 1);

    OCHE_GOT(text != NULL);
    if (pread(file, text, SAID_BYTES, 0) < 0)
        text[0] = '\0';
    return text;
}

static bool read_result(struct job *job, struct oche_point_result *result)
{
    FILE *in = lseek(job->result, 0, SEEK_SET) == 0 ? fdopen(job->result, "r") : NULL;

    if (in == NULL)
        return false;
    bool whole = oche_point_read(result, in);

    fclose(in);
    job->result = -1;
    return whole;
}

static void close_job(struct crew *crew, struct job *job)
{
    if (job->result >= 0)
        close(job->result);
    if (job->said >= 0)
        close(job->said);
    *job = (struct job){.result = -1, .said = -1};
    crew->running--;
}

static void report(struct crew *crew, size_t point, const struct oche_point_result *result)
{
    if (!crew->stopped && !crew->done(crew->context, point, result))
        crew->stopped = true;
}

static void end_job(struct crew *crew, struct job *job, int status)
{
    struct oche_point_result result;
    const size_t point = job->point;
    char *said = read_said(job->said);

    if (!(WIFEXITED(status) && WEXITSTATUS(status) == 0 && read_result(job, &result)))
        describe_end(&result, crew, point, status, said);
    else if (said[0] != '\0')
        fputs(said, stderr); /* warnings of a library or a sanitizer should not be hidden */
    close_job(crew, job);
    report(crew, point, &result);
    oche_point_free(&result);
    free(said);
}

/* ---- the parent ---- */

/* Starts a process for the point. Returns NULL on success, else why there is no process. */
static const char *start(struct crew *crew, struct job *job, size_t point)
{
    const pid_t parent = getpid();

    job->point = point;
    job->result = memfd_create("oche-result", MFD_CLOEXEC);
    job->said = memfd_create("oche-said", MFD_CLOEXEC);
    fflush(NULL); /* otherwise the child would print buffered output too */
    job->pid = job->result >= 0 && job->said >= 0 ? fork() : -1;
    if (job->pid == 0)
        be_child(crew, job, parent);
    crew->running++;
    if (job->pid > 0)
        return NULL;
    const char *why = strerror(errno);

    close_job(crew, job);
    return why;
}

static struct job *free_job(const struct crew *crew)
{
    for (unsigned i = 0; i < crew->size; i++)
        if (crew->jobs[i].pid == 0)
            return &crew->jobs[i];
    return NULL;
}

/*
 * Starts the point. Returns false if no process can be made now; another attempt makes sense when
 * other processes have ended.
 */
static bool give(struct crew *crew, size_t point)
{
    struct job *job = free_job(crew);
    struct oche_point_result result = {.status = OCHE_POINT_CRASHED,
                                       .seed = oche_grid_seed(crew->grid, point)};

    if (job == NULL)
        return false;
    const char *why = start(crew, job, point);

    if (why == NULL)
        return true;
    if (crew->running > 0)
        return false;
    OCHE_GOT(asprintf(&result.error, "no process could be started: %s", why) >= 0);
    report(crew, point, &result);
    oche_point_free(&result);
    return true;
}

static void reap(struct crew *crew)
{
    for (unsigned i = 0; i < crew->size; i++) {
        struct job *job = &crew->jobs[i];
        int status;

        if (job->pid != 0 && waitpid(job->pid, &status, WNOHANG) == job->pid)
            end_job(crew, job, status);
    }
}

static void kill_all(struct crew *crew)
{
    for (unsigned i = 0; i < crew->size; i++) {
        struct job *job = &crew->jobs[i];

        if (job->pid == 0)
            continue;
        kill(job->pid, SIGKILL);
        while (waitpid(job->pid, NULL, 0) < 0 && errno == EINTR)
            ;
        close_job(crew, job);
    }
}

/* Waits for a child's end, a signal, or the next tick. */
static void wait_for_something(struct crew *crew)
{
    const struct timespec tick = {.tv_nsec = TICK_NS};
    int signal_number = sigtimedwait(&crew->waited, NULL, &tick);

    if (signal_number > 0 && signal_number != SIGCHLD)
        crew->stopped = true;
    else if (crew->tick != NULL)
        crew->tick(crew->context, crew->running);
}

/*
 * Prepares signals: they are not caught by handlers but waited for. A signal that was ignored stays
 * ignored (nohup, sh's &).
 */
static void take_signals(struct crew *crew)
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
    const struct sigaction usual = {.sa_handler = SIG_DFL};

    sigemptyset(&crew->waited);
    sigaddset(&crew->waited, SIGCHLD);
    for (size_t i = 0; i < OCHE_COUNT_OF(ends); i++) {
        struct sigaction now;

        if (sigaction(ends[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            sigaddset(&crew->waited, ends[i]);
    }
    sigaction(SIGCHLD, &usual, &crew->child_before);
    sigprocmask(SIG_BLOCK, &crew->waited, &crew->before);
}

static void give_signals_back(struct crew *crew)
{
    const struct timespec now = {.tv_nsec = 0};

    /* Handles pending signals: those of ended children, and those of an impatient user. */
    for (int pending; (pending = sigtimedwait(&crew->waited, NULL, &now)) > 0;)
        crew->stopped |= pending != SIGCHLD;
    sigprocmask(SIG_SETMASK, &crew->before, NULL);
    sigaction(SIGCHLD, &crew->child_before, NULL);
}

bool oche_jobs_run_watched(const struct oche_grid *grid, const size_t *points, size_t count,
                           unsigned jobs, oche_job_done *done, oche_job_tick *tick, void *context)
{
    struct crew crew = {.grid = grid,
                        .size = jobs > 0 ? jobs : oche_jobs_cores(),
                        .done = done,
                        .tick = tick,
                        .context = context};
    size_t next = 0;

    crew.jobs = calloc(crew.size, sizeof(*crew.jobs));
    OCHE_GOT(crew.jobs != NULL);
    take_signals(&crew);
    while (!crew.stopped && (next < count || crew.running > 0)) {
        while (!crew.stopped && next < count && give(&crew, points[next]))
            next++;
        if (crew.running > 0)
            wait_for_something(&crew);
        if (!crew.stopped)
            reap(&crew);
    }
    kill_all(&crew);
    give_signals_back(&crew);
    free(crew.jobs);
    return !crew.stopped;
}

bool oche_jobs_run(const struct oche_grid *grid, const size_t *points, size_t count, unsigned jobs,
                   oche_job_done *done, void *context)
{
    return oche_jobs_run_watched(grid, points, count, jobs, done, NULL, context);
}
