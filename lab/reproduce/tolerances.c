/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the commit by running git, without a shell, or by reading the installed list. */
#include "lab/reproduce/tolerances.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lab/reproduce/digest.h"
#include "params/text_stream.h"

extern char **environ;

#define MOST_COMMITS 1000 /* most commits of a file to examine */
/* If git cannot run, that is an error; it does not mean that the claims are not committed. */
#define NOTHING_LEFT OCHE_OUT_OF_MEMORY ", processes or descriptors"

/* Starts a program. Returns -1 if there is none. */
static pid_t start(const char *const *command, const posix_spawn_file_actions_t *actions)
{
    pid_t child = -1;
    const int refused =
        posix_spawnp(&child, command[0], actions, NULL, (char *const *)(uintptr_t)command, environ);

    if (refused == EAGAIN || refused == ENOMEM || refused == EMFILE || refused == ENFILE)
        oche_panic(__FILE__, __LINE__, NOTHING_LEFT);
    return refused == 0 ? child : -1;
}

/* Returns the output of a program (malloc'd); NULL if there is no such program, or it fails. */
static char *output_of(const char *const *command)
{
    posix_spawn_file_actions_t actions;
    int ends[2], status = 1;
    pid_t child;
    char *text = NULL, buffer[4096];
    size_t bytes;
    ssize_t got;

    if (pipe2(ends, O_CLOEXEC) != 0)
        oche_panic(__FILE__, __LINE__, NOTHING_LEFT);
    OCHE_GOT(posix_spawn_file_actions_init(&actions) == 0 &&
             posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO) == 0 &&
             posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0) ==
                 0);
    child = start(command, &actions);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    FILE *out = oche_text_stream_open(&text, &bytes);

    while (child != -1 && (got = read(ends[0], buffer, sizeof(buffer))) > 0)
        fwrite(buffer, 1, (size_t)got, out);
    oche_text_stream_close(out);
    close(ends[0]);
    while (child != -1 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (child != -1 && status == 0)
        return text;
    free(text);
    return NULL;
}

static struct oche_document *document_at(const char *folder, const char *commit, const char *file)
{
    char *object = NULL, *text;
    struct oche_error ignored;
    struct oche_document *document = NULL;

    OCHE_GOT(asprintf(&object, "%s:./%s", commit, file) >= 0);
    text = output_of((const char *[]){"git", "-C", folder, "show", object, NULL});
    if (text != NULL)
        document = oche_document_parse(file, text, strlen(text), &ignored);
    free(object);
    free(text);
    return document;
}

/*
 * True if the figure's claims in this commit have the same digest as now. Also looks beside
 * paper.yaml, where figures were in older commits.
 */
static bool is_same_at(const struct oche_study *study, const char *commit, const char *file,
                       const char *old_file)
{
    struct oche_document *then = document_at(study->paper->folder, commit, file);

    if (then == NULL)
        then = document_at(study->paper->folder, commit, old_file);

    struct oche_document *paper = document_at(study->paper->folder, commit, "paper.yaml");
    bool same = then != NULL && paper != NULL && oche_claims_digest(then, paper) == study->digest;

    oche_document_close(then);
    oche_document_close(paper);
    return same;
}

/*
 * Returns the commit according to git. NULL if there is no git or no work tree, or if git does not
 * know the file.
 */
static char *ask_git(const struct oche_study *study)
{
    char *file = NULL, *log, *fixed = NULL, *rest, *commit, most[32];
    const char *old_file;

    OCHE_GOT(asprintf(&file, "figures/%s.yaml", study->name) >= 0);
    old_file = file + strlen("figures/");
    snprintf(most, sizeof(most), "-n%d", MOST_COMMITS);
    log = output_of((const char *[]){"git", "-C", study->paper->folder, "log", most, "--format=%H",
                                     "--", file, old_file, "paper.yaml", NULL});
    rest = log;
    while (rest != NULL && (commit = strsep(&rest, "\n")) != NULL && commit[0] != '\0') {
        if (!is_same_at(study, commit, file, old_file))
            break;
        free(fixed);
        fixed = strdup(commit);
        OCHE_GOT(fixed != NULL);
    }
    if (fixed == NULL && log != NULL && log[0] != '\0')
        fixed = strdup(OCHE_NOT_COMMITTED);
    free(log);
    free(file);
    return fixed;
}

static char *ask_list(const struct oche_study *study)
{
    const struct oche_paper *paper = study->paper;
    char *path = NULL, name[256], commit[64], *found = NULL, *wanted = NULL;
    uint64_t digest;

    OCHE_GOT(asprintf(&path, "%s/../commits.txt", paper->folder) >= 0);
    OCHE_GOT(asprintf(&wanted, "%s/%s", paper->name, study->name) >= 0);
    FILE *list = fopen(path, "r");

    while (list != NULL && found == NULL &&
           fscanf(list, "%255s %63s %" SCNx64, name, commit, &digest) == 3)
        if (strcmp(name, wanted) == 0 && digest == study->digest && strcmp(commit, "-") != 0)
            found = strdup(commit);
    if (list != NULL)
        fclose(list);
    free(path);
    free(wanted);
    return found;
}

char *oche_tolerances_commit(const struct oche_study *study)
{
    char *commit = study->paper != NULL ? ask_git(study) : NULL;

    if (commit == NULL && study->paper != NULL)
        commit = ask_list(study);
    if (commit == NULL)
        commit = strdup(OCHE_NOT_COMMITTED);
    OCHE_GOT(commit != NULL);
    return commit;
}
