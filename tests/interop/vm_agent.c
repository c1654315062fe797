/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first process of the virtual machine of vm.py: takes commands from a serial port, runs them
 * side by side, and sends back what they print and how they end.
 *     vm_agent PORT
 * From the other side come
 *     run ID BYTES     and then so many bytes, for `sh -c`
 *     kill ID SIGNAL   for the command and what it has started
 * and from here
 *     ready
 *     said ID BYTES    and then so many bytes
 *     ended ID STATUS  below 0: by that signal. What it has left running is no longer listened to.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST    64     /* commands at a time */
#define LONGEST 131072 /* bytes of one, and of a piece of what it says */

struct command {
    int id; /* 0: none */
    pid_t pid;
    int output;
};

static struct command commands[MOST];
static int port;

/* Waits while the port is full, until the process that started the machine reads. */
static void put(const char *bytes, size_t count)
{
    struct pollfd writable = {.fd = port, .events = POLLOUT};

    while (count > 0) {
        const ssize_t done = write(port, bytes, count);

        if (done < 0 && errno == EAGAIN)
            poll(&writable, 1, -1);
        else if (done < 0 && errno != EINTR)
            exit(1);
        bytes += done > 0 ? done : 0;
        count -= done > 0 ? (size_t)done : 0;
    }
}

static void tell(const char *format, ...)
{
    char line[64];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    put(line, strlen(line));
}

static void run(int id, const char *text)
{
    struct command *command = commands;
    sigset_t none;
    int ends[2];

    while (command < commands + MOST && command->id != 0)
        command++;
    if (command == commands + MOST || pipe2(ends, O_CLOEXEC) != 0) {
        tell("ended %d 126\n", id);
        return;
    }
    command->pid = fork();
    if (command->pid == 0) {
        setsid();
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        execl("/bin/sh", "sh", "-c", text, NULL);
        _exit(127);
    }
    close(ends[1]);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    command->id = id;
    command->output = ends[0];
}

/* Passes on the command's new output. Returns false if there can be no more output. */
static int pass_on(struct command *command)
{
    static char bytes[LONGEST];
    ssize_t count;

    while ((count = read(command->output, bytes, sizeof(bytes))) > 0) {
        tell("said %d %zd\n", command->id, count);
        put(bytes, (size_t)count);
    }
    if (count < 0 && (errno == EAGAIN || errno == EINTR))
        return 1;
    close(command->output);
    command->output = -1;
    return 0;
}

/* Collects the statuses of ended processes, also of processes whose parents have ended. */
static void reap(void)
{
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        for (unsigned i = 0; i < MOST; i++) {
            if (commands[i].id == 0 || commands[i].pid != pid)
                continue;
            if (commands[i].output >= 0 && pass_on(&commands[i]))
                close(commands[i].output);
            tell("ended %d %d\n", commands[i].id,
                 WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status));
            commands[i].id = 0;
        }
}

/* Takes what is whole of the bytes that came; returns how many are left. */
static size_t obey(char *bytes, size_t count)
{
    char *end;

    while ((end = memchr(bytes, '\n', count)) != NULL) {
        const size_t head = (size_t)(end + 1 - bytes);
        size_t length = 0;
        int id, number;

        if (sscanf(bytes, "run %d %zu", &id, &length) == 2) {
            char *text;

            if (count < head + length)
                break;
            text = strndup(end + 1, length);
            run(id, text);
            free(text);
        } else if (sscanf(bytes, "kill %d %d", &id, &number) == 2) {
            for (unsigned i = 0; i < MOST; i++)
                if (commands[i].id == id)
                    kill(-commands[i].pid, number);
        }
        count -= head + length;
        memmove(bytes, bytes + head + length, count);
    }
    return count;
}

/* Waits until something has come or ended. */
static void wait_for(struct pollfd *fds)
{
    static const struct timespec longest = {.tv_sec = 1};
    sigset_t none;

    sigemptyset(&none);
    for (unsigned i = 0; i < MOST; i++)
        fds[i + 1] =
            (struct pollfd){.fd = commands[i].id != 0 ? commands[i].output : -1, .events = POLLIN};
    ppoll(fds, MOST + 1, &longest, &none);
}

static void on_child(int number)
{
    (void)number; /* the handler only ends the wait */
}

int main(int argc, char **argv)
{
    static char bytes[LONGEST + 64];
    static struct pollfd fds[MOST + 1];
    size_t count = 0;
    sigset_t child;

    port = argc == 2 ? open(argv[1], O_RDWR | O_NONBLOCK | O_CLOEXEC) : -1;
    if (port < 0)
        return 2;
    signal(SIGCHLD, on_child);
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, NULL);
    fds[0] = (struct pollfd){.fd = port, .events = POLLIN};
    tell("ready\n");
    for (;;) {
        wait_for(fds);
        for (ssize_t got; (got = read(port, bytes + count, sizeof(bytes) - 1 - count)) > 0;) {
            count += (size_t)got;
            bytes[count] = 0;
            count = obey(bytes, count);
        }
        for (unsigned i = 0; i < MOST; i++)
            if (commands[i].id != 0 && fds[i + 1].revents != 0)
                pass_on(&commands[i]);
        reap();
    }
}
