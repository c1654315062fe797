/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the experiment's program and keeps its measurements. */
#include "cli/reproduce/wire.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/whole_file.h"
#include "lab/reproduce/paper.h"

#define BLOCK 65536 /* bytes copied at a time */

/* Runs a program to its end. */
static bool run(const char *const *words, struct oche_error *error)
{
    const pid_t child = fork();
    int status = 0;

    if (child == 0) {
        execv(words[0], (char *const *)(uintptr_t)words);
        _exit(127);
    }
    if (child < 0)
        return oche_fail(error, "%s: %s", words[0], strerror(errno));
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return oche_fail(error, "%s: %s", words[0], strerror(errno));
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
        return oche_fail(error, "%s: cannot be run; it needs python3", words[0]);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool oche_wire_measure(const struct oche_reproduce_options *options, const char *papers,
                       const char *paper, const char *out, struct oche_error *error)
{
    char program[PATH_MAX], build[PATH_MAX];
    const char *words[8] = {program, "--out", out};
    unsigned count = 3;
    const ssize_t own = readlink("/proc/self/exe", build, sizeof(build) - 1);
    const int bytes = snprintf(program, sizeof(program), "%s/../tools/wire-%s", papers, paper);

    if (own <= 0 || bytes >= (int)sizeof(program) || access(program, X_OK) != 0)
        return oche_fail(error,
                         "--measure: no %s: an experiment is part of the source tree, and not of "
                         "every paper",
                         program);
    build[own] = '\0';
    *strrchr(build, '/') = '\0';
    if (options->quick)
        words[count++] = "--quick";
    if (options->restart)
        words[count++] = "--restart";
    words[count] = build;
    return run(words, error);
}

static bool copy(const char *from, const char *to, struct oche_error *error)
{
    static char block[BLOCK];
    struct oche_whole_file file;
    size_t bytes;
    FILE *in = fopen(from, "r");

    if (in == NULL)
        return oche_fail(error, "%s: cannot be read: %s", from, strerror(errno));
    bool ok = oche_whole_file_begin(&file, to, error);

    if (ok) {
        while ((bytes = fread(block, 1, sizeof(block), in)) > 0)
            fwrite(block, 1, bytes, file.out);
        ok = oche_whole_file_end(&file, error);
    }
    fclose(in);
    return ok;
}

bool oche_wire_keep(const struct oche_study *study, const char *out, struct oche_error *error)
{
    bool ok = true;

    for (size_t g = 0; ok && g < study->grid_count; g++) {
        const char *name = study->measured_names[g];
        char *from = NULL, *to = NULL;

        if (name == NULL)
            continue;
        OCHE_GOT(asprintf(&to, "%s/measured", study->paper->folder) >= 0);
        ok = mkdir(to, 0777) == 0 || errno == EEXIST ||
             oche_fail(error, "%s: cannot be made: %s", to, strerror(errno));
        free(to);
        OCHE_GOT(asprintf(&to, "%s/measured/%s.csv", study->paper->folder, name) >= 0);
        OCHE_GOT(asprintf(&from, "%s/%s.csv", out, name) >= 0);
        ok = ok && copy(from, to, error);
        free(from);
        free(to);
    }
    return ok;
}
