/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the experiment's program and becomes it. */
#include "cli/reproduce/wire.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char ending[] = "/wire";

bool oche_wire_named(const struct oche_reproduce_options *options)
{
    const size_t length = options->which != NULL ? strlen(options->which) : 0;

    return length >= sizeof(ending) &&
           strcmp(options->which + length - (sizeof(ending) - 1), ending) == 0;
}

/* Returns the option that the experiment does not have, or NULL. */
static const char *unknown_option(const struct oche_reproduce_options *options)
{
    if (options->mode != OCHE_REPRODUCE_RUN)
        return "--list, --stale and --tolerances are";
    if (options->jobs > 0)
        return "--jobs is";
    if (options->record)
        return "--record is";
    if (options->json)
        return "--json is";
    return options->quiet ? "--quiet is" : NULL;
}

bool oche_wire_run(const struct oche_reproduce_options *options, const char *papers,
                   struct oche_error *error)
{
    const char *unknown = unknown_option(options);
    const size_t length = strlen(options->which) - (sizeof(ending) - 1);
    char program[PATH_MAX], build[PATH_MAX];
    const char *words[8] = {program};
    unsigned count = 1;

    if (unknown != NULL)
        return oche_fail(error, "%s: %s for simulated figures", options->which, unknown);
    const ssize_t own = readlink("/proc/self/exe", build, sizeof(build) - 1);
    const int bytes = snprintf(program, sizeof(program), "%s/../tools/wire-%.*s", papers,
                               (int)length, options->which);
    if (own <= 0 || bytes >= (int)sizeof(program) || access(program, X_OK) != 0)
        return oche_fail(error,
                         "%s: no %s: the experiment is part of the source tree, and not of "
                         "every paper",
                         options->which, program);
    build[own] = '\0';
    *strrchr(build, '/') = '\0';
    if (options->quick)
        words[count++] = "--quick";
    if (options->restart)
        words[count++] = "--restart";
    if (options->out != NULL) {
        words[count++] = "--out";
        words[count++] = options->out;
    }
    words[count] = build;
    execv(program, (char *const *)(uintptr_t)words);
    return oche_fail(error, "%s: %s", program, strerror(errno));
}
