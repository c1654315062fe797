/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks: found by what mpirun puts into the environment, joined by what liboche-mpi.so has. */
#include "cli/run/ranks.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/mpi/mail.h"
#include "cli/refuse.h"
#include "cli/run/show_defaults.h"
#include "core/base.h"
#include "core/random.h"
#include "params/text_stream.h"

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

/* The arguments are not read yet, and this is not rank 0. */
static bool reading;

/* mpirun ends all when one ends with a status other than 0; rank 0 is to speak first. */
static void end_in_silence(void)
{
    if (reading)
        _exit(0);
}

/* Standard error of a rank that is silent until it has joined the others. */
static int errors = -1;

static void be_silent(void)
{
    const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

    errors = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
    if (null < 0)
        return;
    dup2(null, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
    close(null);
}

/* A rank that fails from now on says why. */
static void speak_of_errors(void)
{
    reading = false;
    if (errors < 0)
        return;
    dup2(errors, STDERR_FILENO);
    close(errors);
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
    if (ranks.rank == 0)
        return ranks;
    be_silent();
    reading = true;
    atexit(end_in_silence);
    return ranks;
}

int oche_run_ranks_refuse(const char *command)
{
    for (size_t i = 0; i < OCHE_COUNT_OF(counts); i++) {
        if (number_of(counts[i]) < 2)
            continue;
        if (number_of(numbers[i]) > 0)
            _exit(0); /* rank 0 says it for all */
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

/* Returns the library, from beside this program or from where it is installed; NULL, with why. */
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
            dlopen(path, RTLD_NOW | RTLD_GLOBAL); /* Open MPI loads more that needs it */

        if (library == NULL)
            oche_fail(error, "%s: cannot be loaded: %s", path, dlerror());
        return library;
    }
    oche_fail(error,
              "mpirun: " LIBRARY " is neither beside this program nor in " OCHE_LIBRARY_FROM_PROGRAM
              " from there: \"make\" builds it where MPI is installed (libopenmpi-dev)");
    return NULL;
}

static bool join(struct oche_run_ranks *ranks, struct oche_error *error)
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

bool oche_run_ranks_join(struct oche_run_ranks *ranks, struct oche_run_options *options,
                         struct oche_error *error)
{
    if (ranks->count == 1)
        return true;
    bool fine = refuse_options(options, error);

    if (fine && ranks->count > OCHE_MOST_RANKS)
        fine = oche_fail(error, "mpirun -np %u: a run has at most %u ranks", ranks->count,
                         OCHE_MOST_RANKS);
    if (!fine || !join(ranks, error))
        return false;
    speak_of_errors();
    options->quiet |= ranks->rank > 0;
    options->verbose &= ranks->rank == 0;
    return true;
}

/* Returns a number by which ranks know that they run the same program, scenario and world. */
static uint64_t digest_of(const struct oche_scenario *scenario, const struct oche_world *world)
{
    char *text;
    size_t bytes;
    FILE *out = oche_text_stream_open(&text, &bytes);
    uint64_t digest = oche_world_digest(world);

    fprintf(out, "oche " OCHE_VERSION "\n");
    oche_show_effective(scenario, NULL, out);
    oche_text_stream_close(out);
    for (size_t i = 0; i < bytes; i++)
        digest = oche_mix64(digest ^ (uint64_t)(unsigned char)text[i]);
    free(text);
    return digest;
}

static bool agree(struct oche_run_ranks *ranks, bool fine, uint64_t digest,
                  struct oche_error *error)
{
    struct told {
        bool fine;
        uint64_t digest;
        struct oche_error error;
    } told = {.fine = fine, .digest = digest};

    if (ranks->mail == NULL)
        return fine;
    struct oche_rank_bytes *in = calloc(ranks->count, sizeof(*in));
    struct oche_rank_bytes *out = calloc(ranks->count, sizeof(*out));

    OCHE_GOT(in != NULL && out != NULL);
    if (!fine)
        told.error = *error;
    for (uint32_t r = 0; r < ranks->count; r++)
        out[r] = (struct oche_rank_bytes){.at = (char *)&told, .count = sizeof(told)};
    ranks->mail->exchange(ranks->mail, out, in);
    for (uint32_t r = 0; fine && r < ranks->count; r++) {
        if (r == ranks->rank)
            continue;
        oche_rank_get(&in[r], &told, sizeof(told));
        if (!told.fine)
            fine = oche_fail(error, "rank %u: %s", r, told.error.text);
        else if (told.digest != digest)
            fine = oche_fail(error,
                             "rank %u: has another version of oche, of the scenario and its files, "
                             "or other options; give each the same",
                             r);
    }
    for (uint32_t r = 0; r < ranks->count; r++)
        free(in[r].at);
    free(in);
    free(out);
    return fine;
}

bool oche_run_ranks_agree(struct oche_run_ranks *ranks, bool fine, struct oche_error *error)
{
    return agree(ranks, fine, 0, error);
}

bool oche_run_ranks_agree_on(struct oche_run_ranks *ranks, bool fine,
                             const struct oche_scenario *scenario, const struct oche_world *world,
                             struct oche_error *error)
{
    return agree(ranks, fine, fine && ranks->mail != NULL ? digest_of(scenario, world) : 0, error);
}

int oche_run_ranks_leave(struct oche_run_ranks *ranks, int status)
{
    if (ranks->mail == NULL)
        return status;
    ranks->leave();
    return ranks->rank == 0 ? status : 0;
}
