/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the report's page, and runs the script that draws charts. */
#include "cli/report_files.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base.h"
#include "params/error.h"

extern char **environ;

/* Returns the folder of the running program (malloc'd); NULL if there is no /proc. */
static char *program_folder(void)
{
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);

    if (length <= 0)
        return NULL;
    path[length] = '\0';
    char *slash = strrchr(path, '/');

    if (slash == NULL)
        return NULL;
    *slash = '\0';
    return strdup(path);
}

/* Returns `path` if the file can be read; otherwise frees `path` and returns NULL. */
static char *readable(char *path)
{
    if (access(path, R_OK) == 0)
        return path;
    free(path);
    return NULL;
}

char *oche_report_file(const char *name, struct oche_error *error)
{
    static const char *const beside[] = {"report/page", "../" OCHE_DATADIR_FROM_BIN};
    char *folder = program_folder(), *path = NULL, *found = NULL;

    for (size_t i = 0; folder != NULL && found == NULL && i < 2; i++) {
        OCHE_GOT(asprintf(&path, "%s/%s/%s", folder, beside[i], name) >= 0);
        found = readable(path);
    }
    if (found == NULL) {
        OCHE_GOT(asprintf(&path, "%s/%s", OCHE_DATADIR, name) >= 0);
        found = readable(path);
    }
    free(folder);
    if (found == NULL)
        oche_fail(error, "%s",
                  "oche report: its page is neither beside the program nor in " OCHE_DATADIR
                  "; run \"make\", which builds it, and installs node for that, or \"make "
                  "install\" again");
    return found;
}

char *oche_report_read(const char *path, struct oche_error *error)
{
    FILE *in = fopen(path, "r");
    size_t count = 0, capacity = 1 << 20;
    char *text = malloc(capacity);

    OCHE_GOT(text != NULL);
    while (in != NULL) {
        count += fread(text + count, 1, capacity - count - 1, in);
        if (count < capacity - 1)
            break;
        capacity *= 2;
        text = realloc(text, capacity);
        OCHE_GOT(text != NULL);
    }
    text[count] = '\0';
    if (in == NULL || ferror(in)) {
        oche_fail(error, "%s: cannot be read: %s", path, strerror(errno));
        free(text);
        text = NULL;
    }
    if (in != NULL)
        fclose(in);
    return text;
}

static bool write_all(int fd, const char *data, size_t bytes)
{
    while (bytes > 0) {
        ssize_t written = write(fd, data, bytes);

        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        data += written;
        bytes -= (size_t)written;
    }
    return true;
}

static int spawn_node(const char *script, const char *folder, int input, pid_t *child)
{
    char *arguments[] = {"node", (char *)(uintptr_t)script, (char *)(uintptr_t)folder, NULL};
    posix_spawn_file_actions_t actions;
    int status;

    OCHE_GOT(posix_spawn_file_actions_init(&actions) == 0);
    OCHE_GOT(posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO) == 0);
    status = posix_spawnp(child, "node", &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    return status;
}

bool oche_report_draw(const char *script, const char *folder, const char *data, size_t bytes,
                      struct oche_error *error)
{
    int ends[2], status = 0;
    pid_t child;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return oche_fail(error, "--svg: no pipe: %s", strerror(errno));
    int refused = spawn_node(script, folder, ends[0], &child);

    close(ends[0]);
    if (refused != 0) {
        close(ends[1]);
        return oche_fail(error,
                         refused == ENOENT
                             ? "--svg needs node, which is not in PATH; install nodejs"
                             : "--svg: node cannot be started: %s",
                         strerror(refused));
    }
    void (*before)(int) = signal(SIGPIPE, SIG_IGN);
    int wrong = write_all(ends[1], data, bytes) ? 0 : errno;

    signal(SIGPIPE, before);
    if (wrong != 0 && wrong != EPIPE) /* EPIPE: it has ended, and prints why */
        kill(child, SIGKILL);         /* the script gets all of the data or none */
    close(ends[1]);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (wrong == 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    if (wrong != 0 && wrong != EPIPE)
        return oche_fail(error, "--svg: node cannot be given the data: %s", strerror(wrong));
    error->text[0] = '\0'; /* the script has printed the error */
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 2)
        oche_fail(error, "--svg: node could not draw the charts (status %d)",
                  WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
    return false;
}
