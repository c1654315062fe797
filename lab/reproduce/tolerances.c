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
#include <sys/mman.h>
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

/*
 * Returns the output of a program (malloc'd); NULL if there is no such program, or it fails. input:
 * its standard input; NULL: empty.
 */
static char *output_of(const char *const *command, FILE *input, size_t *bytes)
{
    posix_spawn_file_actions_t actions;
    int ends[2], status = 1;
    pid_t child;
    char *text = NULL, buffer[4096];
    ssize_t got;

    if (pipe2(ends, O_CLOEXEC) != 0)
        oche_panic(__FILE__, __LINE__, NOTHING_LEFT);
    OCHE_GOT(posix_spawn_file_actions_init(&actions) == 0 &&
             posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO) == 0 &&
             posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0) ==
                 0);
    if (input != NULL)
        OCHE_GOT(posix_spawn_file_actions_adddup2(&actions, fileno(input), STDIN_FILENO) == 0);
    child = start(command, &actions);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    FILE *out = oche_text_stream_open(&text, bytes);

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

/* The files of one commit that contain the claims, in the order in which git is asked for them. */
struct claimed {
    const char *file;     /* the figure */
    const char *old_file; /* beside paper.yaml, where figures were in older commits */
};

/* Returns a file in memory, at its beginning, with the name of each object on a line. */
static FILE *object_names(const struct claimed *claimed, const char *commits)
{
    const int memory = memfd_create("object names", MFD_CLOEXEC);
    FILE *names = memory < 0 ? NULL : fdopen(memory, "w");

    if (names == NULL)
        oche_panic(__FILE__, __LINE__, NOTHING_LEFT);
    while (*commits != '\0') {
        const int length = (int)strcspn(commits, "\n");

        fprintf(names, "%.*s:./%s\n%.*s:./%s\n%.*s:./paper.yaml\n", length, commits, claimed->file,
                length, commits, claimed->old_file, length, commits);
        commits += length + (commits[length] == '\n');
    }
    OCHE_GOT(fflush(names) == 0 && fseek(names, 0, SEEK_SET) == 0);
    return names;
}

/*
 * Reads the output of git cat-file --batch for one object from *rest: a line that ends with its
 * size, its bytes and a newline; one line if there is no such object. Returns NULL then.
 */
static struct oche_document *next_document(const char **rest, const char *end, const char *file)
{
    const char *line = *rest, *newline = memchr(line, '\n', (size_t)(end - line));
    struct oche_error ignored;
    size_t bytes;

    *rest = newline == NULL ? end : newline + 1;
    if (newline == NULL || sscanf(line, "%*s blob %zu", &bytes) != 1 ||
        bytes >= (size_t)(end - *rest))
        return NULL;
    *rest += bytes + 1;
    return oche_document_parse(file, newline + 1, bytes, &ignored);
}

/* True if the figure's claims in the next commit of *rest have the same digest as now. */
static bool is_next_same(const struct oche_study *study, const struct claimed *claimed,
                         const char **rest, const char *end)
{
    struct oche_document *then = next_document(rest, end, claimed->file);
    struct oche_document *older = next_document(rest, end, claimed->old_file);
    struct oche_document *paper = next_document(rest, end, "paper.yaml");
    struct oche_document *figure = then != NULL ? then : older;
    const bool same =
        figure != NULL && paper != NULL && oche_claims_digest(figure, paper) == study->digest;

    oche_document_close(then);
    oche_document_close(older);
    oche_document_close(paper);
    return same;
}

/*
 * Returns the last of these commits (newest first) from which on no claim differs from now; NULL if
 * it differs in the first. One git process reads all of them, because its start takes far longer
 * than the reading.
 */
static char *oldest_same(const struct oche_study *study, const struct claimed *claimed,
                         const char *commits)
{
    FILE *names = object_names(claimed, commits);
    size_t bytes;
    char *told =
        output_of((const char *[]){"git", "-C", study->paper->folder, "cat-file", "--batch", NULL},
                  names, &bytes);
    const char *rest = told, *fixed = NULL;

    fclose(names);
    while (told != NULL && *commits != '\0' && is_next_same(study, claimed, &rest, told + bytes)) {
        fixed = commits;
        commits += strcspn(commits, "\n");
        commits += *commits == '\n';
    }
    free(told);
    if (fixed == NULL)
        return NULL;
    char *commit = strndup(fixed, strcspn(fixed, "\n"));

    OCHE_GOT(commit != NULL);
    return commit;
}

/*
 * Returns the commit according to git. NULL if there is no git or no work tree, or if git does not
 * know the file.
 */
static char *ask_git(const struct oche_study *study)
{
    char *file = NULL, *log, *fixed = NULL, most[32];
    size_t bytes;

    OCHE_GOT(asprintf(&file, "figures/%s.yaml", study->name) >= 0);
    const struct claimed claimed = {file, file + strlen("figures/")};

    snprintf(most, sizeof(most), "-n%d", MOST_COMMITS);
    log = output_of((const char *[]){"git", "-C", study->paper->folder, "log", most, "--format=%H",
                                     "--", file, claimed.old_file, "paper.yaml", NULL},
                    NULL, &bytes);
    if (log != NULL && log[0] != '\0') {
        fixed = oldest_same(study, &claimed, log);
        if (fixed == NULL)
            fixed = strdup(OCHE_NOT_COMMITTED);
        OCHE_GOT(fixed != NULL);
    }
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

/* True if a line of `git status --porcelain` names a file that decides results. */
static bool decides_results(const char *line, size_t length)
{
    static const char *const ends[] = {".csv", ".md"};

    for (size_t i = 0; i < OCHE_COUNT_OF(ends); i++) {
        const size_t bytes = strlen(ends[i]);

        if (length >= bytes && strncmp(line + length - bytes, ends[i], bytes) == 0)
            return false;
    }
    return length > 0;
}

char *oche_work_tree_commit(const char *folder)
{
    size_t bytes;
    char *head =
        output_of((const char *[]){"git", "-C", folder, "rev-parse", "--short=12", "HEAD", NULL},
                  NULL, &bytes);
    char *status = output_of((const char *[]){"git", "-C", folder, "status", "--porcelain",
                                              "--untracked-files=no", NULL},
                             NULL, &bytes);
    char *commit = NULL;
    bool differs = false;

    for (const char *line = status; line != NULL && *line != '\0';) {
        const size_t length = strcspn(line, "\n");

        differs |= decides_results(line, length);
        line += length + (line[length] == '\n');
    }
    if (head != NULL)
        head[strcspn(head, "\n")] = '\0';
    OCHE_GOT(asprintf(&commit, "%s%s", head != NULL ? head : "-", differs ? "+" : "") >= 0);
    free(head);
    free(status);
    return commit;
}
