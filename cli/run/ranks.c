/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks: found by mpirun's environment variables, joined by the functions of liboche-mpi.so. */
#include "cli/run/ranks.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "cli/interrupted.h"
#include "cli/mpi/mail.h"
#include "cli/refuse.h"
#include "core/random.h"
#include "lab/sweep/file_digest.h"

#define LIBRARY "liboche-mpi.so"

/* Set by Open MPI; by MPICH, and by others that start processes in the same way. */
static const char *const counts[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"};
static const char *const numbers[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK"};

/* Returns the number in a variable of the environment; 0: there is none. */
static uint32_t number_of(const char *name)
{
    const char *text = getenv(name);
    char *end;
    unsigned long number = text == NULL ? 0 : strtoul(text, &end, 10);

    return text == NULL || *text == '\0' || *end != '\0' || number > UINT32_MAX ? 0
                                                                                : (uint32_t)number;
}

/*
 * A rank other than 0 that cannot join the others. Rank 0 most likely has the same error, so it
 * prints first, and mpirun ends all ranks. A rank that still runs after a while has another error.
 * Until a rank has joined, its standard error goes to a file in memory.
 */
#define PATIENCE_MS      3000
#define PATIENCE_EACH_MS 50

static bool reading; /* this rank has not joined the others, and is not rank 0 */
static uint32_t own_rank;
static int errors = -1, said = -1; /* standard error, and its replacement */

static void be_silent(void)
{
    const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

    said = memfd_create("said", MFD_CLOEXEC);
    errors = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
    if (null < 0)
        return;
    dup2(null, STDOUT_FILENO);
    dup2(said >= 0 ? said : null, STDERR_FILENO);
    close(null);
}

/* From now on, a failing rank prints the reason. */
static void speak_of_errors(void)
{
    reading = false;
    if (errors < 0)
        return;
    dup2(errors, STDERR_FILENO);
    close(errors);
    close(said);
    errors = said = -1;
}

/* Prints the messages so far, with the number of the rank. */
static void say_it_again(void)
{
    char text[OCHE_ERROR_BYTES];
    const ssize_t bytes = said < 0 ? 0 : pread(said, text, sizeof(text) - 1, 0);

    speak_of_errors();
    text[bytes > 0 ? bytes : 0] = '\0';
    fprintf(stderr, "rank %u: %s%s", own_rank, bytes > 0 ? text : "cannot join the others",
            bytes > 0 && text[bytes - 1] == '\n' ? "" : "\n");
}

/* Called at the end of the process. A request for help is no error. */
static void end_after_the_first(int status, void *unused)
{
    (void)unused;
    if (!reading)
        return;
    fflush(stderr);
    if (status != 0) {
        const uint32_t wait_ms = PATIENCE_MS + PATIENCE_EACH_MS * own_rank;

        nanosleep(&(struct timespec){.tv_sec = wait_ms / 1000,
                                     .tv_nsec = (long)(wait_ms % 1000) * 1000000},
                  NULL);
        say_it_again();
    }
    _exit(status);
}

static void await_the_first(void)
{
    be_silent();
    reading = true;
    on_exit(end_after_the_first, NULL);
}

struct oche_run_ranks oche_run_ranks_find(void)
{
    struct oche_run_ranks ranks = {.count = 1};

    for (size_t i = 0; i < OCHE_COUNT_OF(counts) && ranks.count == 1; i++) {
        if (number_of(counts[i]) < 2)
            continue;
        ranks.count = number_of(counts[i]);
        ranks.rank = number_of(numbers[i]);
    }
    own_rank = ranks.rank;
    if (ranks.rank > 0)
        await_the_first();
    return ranks;
}

int oche_run_ranks_refuse(const char *command)
{
    for (size_t i = 0; i < OCHE_COUNT_OF(counts); i++) {
        if (number_of(counts[i]) < 2)
            continue;
        own_rank = number_of(numbers[i]);
        if (own_rank > 0)
            await_the_first();
        oche_print_error("%s: is one process, which starts others itself; leave out mpirun",
                         command);
        return 2;
    }
    return 0;
}

static bool refuse_options(const struct oche_run_options *options, struct oche_error *error)
{
    if (options->pcap != NULL)
        return oche_fail(error, "--pcap: a capture is made in one process; leave out mpirun");
    if (options->trace != NULL)
        return oche_fail(error, "--trace: events are written by one process; leave out mpirun");
    if (options->until_stable != NULL)
        return oche_fail(error, "--until-stable: one process judges it; leave out mpirun");
    if (options->report_parts > 0)
        return oche_fail(error, "--partition-report: is made in one process; leave out mpirun");
    if (options->threads > 1)
        return oche_fail(error,
                         "--threads %u: each process that mpirun starts has one thread; leave it "
                         "out, and start more processes",
                         options->threads);
    return true;
}

/*
 * Returns the library, from beside this program or from where it is installed; NULL, with the
 * reason.
 */
static void *load(struct oche_error *error)
{
    static const char *const places[] = {"", "/" OCHE_LIBRARY_FROM_PROGRAM};
    char own[PATH_MAX], path[2 * PATH_MAX];
    const ssize_t count = readlink("/proc/self/exe", own, sizeof(own) - 1);

    own[count > 0 ? count : 0] = '\0';
    if (strrchr(own, '/') != NULL)
        *strrchr(own, '/') = '\0';
    for (size_t i = 0; i < OCHE_COUNT_OF(places); i++) {
        snprintf(path, sizeof(path), "%s%s/" LIBRARY, own, places[i]);
        if (access(path, R_OK) != 0)
            continue;
        void *library =
            /* Open MPI loads further libraries that need it */
            dlopen(path, RTLD_NOW | RTLD_GLOBAL);

        if (library == NULL)
            oche_fail(error, "%s: cannot be loaded: %s", path, dlerror());
        return library;
    }
    oche_fail(error,
              "mpirun: " LIBRARY " is neither beside this program nor in " OCHE_LIBRARY_FROM_PROGRAM
              " from there: \"make\" builds it where MPI is installed (libopenmpi-dev)");
    return NULL;
}

/* ---- joining ---- */

#define WAIT_S 10 /* silently, for all processes to join; rank 1: one and a half times as long */

static char waits[128];

static void say_who_waits(int signal)
{
    const int to = errors >= 0 ? errors : STDERR_FILENO;

    (void)signal;
    if (write(to, waits, strlen(waits)) < 0)
        return;
}

/* Ranks 0 and 1 print one line that this process has been waiting, until `on` is false. */
static void speak_of_waiting(bool on)
{
    const struct sigaction action = {.sa_handler = on ? say_who_waits : SIG_DFL,
                                     .sa_flags = SA_RESTART};

    if (own_rank > 1)
        return;
    snprintf(waits, sizeof(waits),
             "rank %u: waits for the other processes that mpirun has started; is each of them "
             "\"oche run\"?\n",
             own_rank);
    sigaction(SIGALRM, &action, NULL);
    alarm(!on ? 0 : own_rank == 0 ? WAIT_S : 3 * WAIT_S / 2);
}

/* Loads the library, and has it join. */
static bool load_and_join(struct oche_run_ranks *ranks, struct oche_error *error)
{
    void *library = ranks->count > 1 ? load(error) : NULL;

    if (library == NULL)
        return false;
    oche_mpi_join *enter = (oche_mpi_join *)dlsym(library, OCHE_MPI_JOIN);

    ranks->leave = (oche_mpi_leave *)dlsym(library, OCHE_MPI_LEAVE);
    if (enter == NULL || ranks->leave == NULL)
        return oche_fail(error, LIBRARY ": is of another version of oche");
    ranks->mail = enter();
    if (ranks->mail->count == ranks->count)
        return true;
    const uint32_t found = ranks->mail->count;

    ranks->leave();
    ranks->mail = NULL;
    return oche_fail(error,
                     "mpirun: started %u processes, but " LIBRARY
                     " finds %u: it is built with another MPI than this mpirun's",
                     ranks->count, found);
}

/* The message that each rank sends to all others, by which they check that they agree. */
struct told {
    uint64_t fine; /* 1, or 0 */
    uint64_t digest;
    struct oche_error error;
};

/* Evaluates the message of rank `other`. */
static bool agrees(uint32_t other, struct oche_rank_bytes *in, uint64_t digest, const char *differs,
                   struct oche_error *error)
{
    struct told told;

    if (in->count != sizeof(told))
        return oche_fail(error, "rank %u: is not \"oche run\" of this version", other);
    oche_rank_get(in, &told, sizeof(told));
    told.error.text[sizeof(told.error.text) - 1] = '\0';
    if (told.fine != 1)
        return oche_fail(error, "rank %u: %s", other, told.error.text);
    return told.digest == digest || oche_fail(error, "rank %u: %s", other, differs);
}

/*
 * Returns true if all are fine and have the same digest. Otherwise `differs` describes the
 * difference.
 */
static bool agree(struct oche_run_ranks *ranks, bool fine, uint64_t digest, const char *differs,
                  struct oche_error *error)
{
    struct told told;

    if (ranks->mail == NULL)
        return fine;
    struct oche_rank_bytes *in = calloc(ranks->count, sizeof(*in));
    struct oche_rank_bytes *out = calloc(ranks->count, sizeof(*out));

    OCHE_GOT(in != NULL && out != NULL);
    memset(&told, 0, sizeof(told));
    told.fine = fine;
    told.digest = digest;
    if (!fine)
        told.error = *error;
    for (uint32_t r = 0; r < ranks->count; r++)
        out[r] = (struct oche_rank_bytes){.at = (char *)&told, .count = sizeof(told)};
    ranks->mail->exchange(ranks->mail, out, in);
    for (uint32_t r = 0; fine && r < ranks->count; r++)
        fine = r == ranks->rank || agrees(r, &in[r], digest, differs, error);
    for (uint32_t r = 0; r < ranks->count; r++)
        free(in[r].at);
    free(in);
    free(out);
    return fine;
}

bool oche_run_ranks_join(struct oche_run_ranks *ranks, struct oche_run_options *options,
                         struct oche_error *error)
{
    uint64_t program = 0;

    if (ranks->count == 1)
        return true;
    bool fine = refuse_options(options, error);

    if (fine && ranks->count > OCHE_MOST_RANKS)
        fine = oche_fail(error, "mpirun -np %u: a run has at most %u ranks", ranks->count,
                         OCHE_MOST_RANKS);
    speak_of_waiting(fine);
    oche_file_digest("/proc/self/exe", &program);
    fine = fine && load_and_join(ranks, error) &&
           agree(ranks, true, program + options->show_defaults,
                 "is another build of oche, or one of the two only shows defaults; start the same "
                 "on each machine",
                 error);
    speak_of_waiting(false);
    if (ranks->mail == NULL)
        return false;
    speak_of_errors();
    oche_interrupt_by_mpirun();
    options->quiet |= ranks->rank > 0;
    options->verbose &= ranks->rank == 0;
    return fine;
}

/* ---- agreeing ---- */

#define OTHER_SCENARIO                                                                             \
    "has another scenario, other files of it, or other options; give each the same"

static uint64_t mix_text(uint64_t digest, const char *text)
{
    for (; *text != '\0'; text++)
        digest = oche_mix64(digest ^ (uint64_t)(unsigned char)*text);
    return oche_mix64(digest) + 1; /* here it ends */
}

/* Mixes in a value and, if it names a file, the file's content. */
static void mix_parameter(void *context, const char *key, const char *value, const char *unit,
                          bool given)
{
    uint64_t *digest = context, contents;

    (void)unit;
    (void)given;
    *digest = mix_text(mix_text(*digest, key), value);
    if (oche_names_file(key) && value[0] != '\0' && oche_file_digest(value, &contents))
        *digest = oche_mix64(*digest ^ contents);
}

void oche_run_ranks_note(struct oche_run_ranks *ranks, const struct oche_scenario *scenario)
{
    if (ranks->mail == NULL)
        return;
    ranks->digest = mix_text(ranks->digest, oche_document_text(scenario->document));
    oche_bindings_each(&scenario->bindings, mix_parameter, &ranks->digest);
}

bool oche_run_ranks_agree(struct oche_run_ranks *ranks, bool fine, struct oche_error *error)
{
    return agree(ranks, fine, ranks->digest, OTHER_SCENARIO, error);
}

bool oche_run_ranks_agree_on(struct oche_run_ranks *ranks, bool fine,
                             const struct oche_world *world, struct oche_error *error)
{
    return agree(ranks, fine, fine && ranks->mail != NULL ? oche_world_digest(world) : 0,
                 OTHER_SCENARIO, error);
}

bool oche_run_ranks_have_terminal(void)
{
    char path[64];
    bool terminal;

    if (number_of(counts[0]) < 2 && number_of(counts[1]) < 2)
        return false;
    snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)getppid(), STDERR_FILENO);
    const int fd = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);

    terminal = fd >= 0 && isatty(fd) == 1;
    if (fd >= 0)
        close(fd);
    return terminal;
}

int oche_run_ranks_leave(struct oche_run_ranks *ranks, int status)
{
    if (ranks->mail == NULL)
        return status;
    ranks->leave();
    return ranks->rank == 0 ? status : 0;
}
