/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a program whose n-th call of a kind fails, alone or with all later ones.
 *
 *     fail_calls LIBRARY COUNTS CALL N ERROR[+] COMMAND…
 *
 * LIBRARY: preload.c. COUNTS: a file, in which stand in the end how many calls there were of each
 * kind, and what failed. CALL: a name of `kinds`. N: from 1; 0: none fails. ERROR: a number of
 * errno.h, "short" for a write or read of half the bytes, or how the clock jumps: hour, back,
 * still; "+": all later calls, too. The status is the command's; 128 + n for signal n.
 *
 * The kernel asks this process before each call (seccomp's user notifications), so that those which
 * the C library and SQLite make fail, too, in threads and in child processes. Programs that a child
 * executes are left alone; the first process may execute another program, as oche exec does.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/faults/shared.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
#define NOT_HERE        77 /* the kernel has no such notifications: the test is skipped */
#define FOREIGN         64
#define PATH_BYTES      512

static const struct kind {
    int number;
    enum faults_call call;
} kinds[] = {
    {SYS_mmap, CALL_MMAP},
    {SYS_mremap, CALL_MMAP},
    {SYS_openat, CALL_OPEN},
    {SYS_read, CALL_READ},
    {SYS_pread64, CALL_READ},
    {SYS_readv, CALL_READ},
    {SYS_write, CALL_WRITE},
    {SYS_pwrite64, CALL_WRITE},
    {SYS_writev, CALL_WRITE},
    {SYS_ftruncate, CALL_WRITE},
    {SYS_fsync, CALL_SYNC},
    {SYS_fdatasync, CALL_SYNC},
    {SYS_renameat, CALL_RENAME},
    {SYS_renameat2, CALL_RENAME},
    {SYS_mkdirat, CALL_FOLDER},
    {SYS_socket, CALL_DESCRIPTOR},
    {SYS_pipe2, CALL_DESCRIPTOR},
    {SYS_eventfd2, CALL_DESCRIPTOR},
    {SYS_epoll_create1, CALL_DESCRIPTOR},
    {SYS_timerfd_create, CALL_DESCRIPTOR},
    {SYS_memfd_create, CALL_DESCRIPTOR},
    {SYS_accept4, CALL_DESCRIPTOR},
    {SYS_dup, CALL_DESCRIPTOR},
    {SYS_bind, CALL_SOCKET},
    {SYS_connect, CALL_SOCKET},
    {SYS_setsockopt, CALL_SOCKET},
    {SYS_sendto, CALL_SEND},
    {SYS_sendmsg, CALL_SEND},
    {SYS_sendmmsg, CALL_SEND},
    {SYS_recvfrom, CALL_RECEIVE},
    {SYS_recvmsg, CALL_RECEIVE},
    {SYS_recvmmsg, CALL_RECEIVE},
    {SYS_clone, CALL_PROCESS},
    {SYS_clone3, CALL_PROCESS},
    {SYS_ppoll, CALL_WAIT},
    {SYS_epoll_pwait, CALL_WAIT},
    {SYS_rt_sigtimedwait, CALL_WAIT},
    {SYS_wait4, CALL_WAIT},
    {SYS_clock_nanosleep, CALL_WAIT},
#ifdef SYS_open /* older calls, which newer processors do not have */
    {SYS_open, CALL_OPEN},
    {SYS_rename, CALL_RENAME},
    {SYS_mkdir, CALL_FOLDER},
    {SYS_pipe, CALL_DESCRIPTOR},
    {SYS_eventfd, CALL_DESCRIPTOR},
    {SYS_epoll_create, CALL_DESCRIPTOR},
    {SYS_accept, CALL_DESCRIPTOR},
    {SYS_fork, CALL_PROCESS},
    {SYS_vfork, CALL_PROCESS},
    {SYS_poll, CALL_WAIT},
    {SYS_epoll_wait, CALL_WAIT},
#endif
    {SYS_execve, CALL_NONE},
};

static const char *const names[CALLS] = {
    [CALL_NONE] = "none",
    [CALL_MEMORY] = "memory",
    [CALL_CLOCK] = "clock",
    [CALL_MMAP] = "mmap",
    [CALL_OPEN] = "open",
    [CALL_READ] = "read",
    [CALL_WRITE] = "write",
    [CALL_SYNC] = "sync",
    [CALL_RENAME] = "rename",
    [CALL_FOLDER] = "folder",
    [CALL_DESCRIPTOR] = "descriptor",
    [CALL_SOCKET] = "socket",
    [CALL_SEND] = "send",
    [CALL_RECEIVE] = "receive",
    [CALL_PROCESS] = "process",
    [CALL_THREAD] = "thread",
    [CALL_WAIT] = "wait",
};

static struct faults_shared *shared;
static FILE *counts;
static int error_number;
static int halves, begun;
static pid_t first;
static pid_t foreign[FOREIGN];
static unsigned foreigners;

static void die(const char *why)
{
    fprintf(stderr, "fail_calls: %s: %s\n", why, strerror(errno));
    exit(NOT_HERE);
}

/* ---- the child, which becomes the program ---- */

/* Asks for a notification for each call of `kinds`, and for the prctl of preload.c. */
static int listen_to_calls(void)
{
    struct sock_filter filter[4 + 2 * COUNT_OF(kinds) + 4];
    struct sock_fprog program = {.filter = filter};
    unsigned short n = 0;

    filter[n++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
                                                   (uint32_t)kinds[i].number, 0, 1);
        filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
    }
    filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 0, 3);
    filter[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                               offsetof(struct seccomp_data, args[0]));
    filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, FAULTS_BEGIN, 0, 1);
    filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
    filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    program.len = n;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return -1;
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
                        &program);
}

/*
 * The other process takes the descriptor out of this one, because a message would be a call of
 * `kinds`.
 */
static _Noreturn void be_program(_Atomic int *listener, const char *library, char **command)
{
    char process[16];

    snprintf(process, sizeof(process), "%d", getpid());
    setenv("FAULTS_PROCESS", process, 1);
    setenv("LD_PRELOAD", library, 1);
    atomic_store(listener, listen_to_calls());
    if (atomic_load(listener) < 0) {
        atomic_store(listener, -errno);
        _exit(NOT_HERE);
    }
    execvp(command[0], command);
    _exit(127);
}

/* ---- the other process, which decides ---- */

static int is_foreign(pid_t pid)
{
    for (unsigned i = 0; i < foreigners; i++)
        if (foreign[i] == pid)
            return 1;
    return 0;
}

/* Returns the number of the process that a thread belongs to. */
static pid_t process_of(pid_t thread)
{
    char path[64], line[256];
    int process = thread;
    FILE *in;

    snprintf(path, sizeof(path), "/proc/%d/status", thread);
    in = fopen(path, "r");
    while (in != NULL && fgets(line, sizeof(line), in) != NULL)
        if (sscanf(line, "Tgid: %d", &process) == 1)
            break;
    if (in != NULL)
        fclose(in);
    return process;
}

static ssize_t read_memory(pid_t pid, uint64_t at, void *into, size_t bytes)
{
    const struct iovec here = {into, bytes}, there = {(void *)(uintptr_t)at, bytes}; // NOLINT

    return process_vm_readv(pid, &here, 1, &there, 1, 0);
}

/* Takes a descriptor out of the process that makes the call. */
static int descriptor_of(const struct seccomp_notif *call)
{
    const int process = (int)syscall(SYS_pidfd_open, process_of((pid_t)call->pid), 0);
    const int file = (int)syscall(SYS_pidfd_getfd, process, (int)call->data.args[0], 0);

    close(process);
    return file;
}

/*
 * True if a call cannot fail in this way: writing to an eventfd, reading from a pipe, receiving
 * from the kernel itself (netlink, where the C library ends the program).
 */
static int is_safe(const struct seccomp_notif *call, enum faults_call of)
{
    char path[16] = "", link[64];

    if (of == CALL_RECEIVE) {
        const int file = descriptor_of(call);
        int domain = 0;
        socklen_t bytes = sizeof(domain);

        getsockopt(file, SOL_SOCKET, SO_DOMAIN, &domain, &bytes);
        close(file);
        return domain == AF_NETLINK;
    }
    snprintf(link, sizeof(link), "/proc/%u/fd/%d", call->pid, (int)call->data.args[0]);
    if (readlink(link, path, sizeof(path) - 1) < 0)
        return 0;
    return (of == CALL_READ && strncmp(path, "pipe:", 5) == 0) ||
           ((of == CALL_READ || of == CALL_WRITE) && strncmp(path, "anon_inode:", 11) == 0);
}

static enum faults_call call_of(const struct seccomp_notif *call)
{
    enum faults_call of = CALL_NONE;

    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        if (kinds[i].number == call->data.nr)
            of = kinds[i].call;
    if (of == CALL_WRITE && call->data.args[0] == STDERR_FILENO)
        return CALL_NONE;
    if ((of == CALL_READ || of == CALL_WRITE || of == CALL_RECEIVE) && is_safe(call, of))
        return CALL_NONE;
    if (call->data.nr == SYS_clone || call->data.nr == SYS_clone3) {
        uint64_t flags = call->data.args[0];

        if (call->data.nr == SYS_clone3 &&
            read_memory((pid_t)call->pid, call->data.args[0], &flags, sizeof(flags)) <= 0)
            flags = 0;
        if ((flags & CLONE_THREAD) != 0)
            return CALL_THREAD;
    }
    return of;
}

/* Prints the file of a call, if it is easily known. */
static void describe(const struct seccomp_notif *call, enum faults_call of)
{
    char path[PATH_BYTES] = "", link[64];

    if (of == CALL_OPEN) {
        const unsigned argument = call->data.nr == SYS_openat;

        for (size_t i = 0; i < sizeof(path) - 1; i++)
            if (read_memory((pid_t)call->pid, call->data.args[argument] + i, &path[i], 1) != 1 ||
                path[i] == '\0')
                break;
    } else if (of == CALL_READ || of == CALL_WRITE || of == CALL_SYNC) {
        snprintf(link, sizeof(link), "/proc/%u/fd/%d", call->pid, (int)call->data.args[0]);
        if (readlink(link, path, sizeof(path) - 1) < 0)
            path[0] = '\0';
    }
    fprintf(counts, "failed %s %s\n", names[of], path);
    fflush(counts);
}

/* Writes or reads half of the requested bytes. False: a half is not possible. */
static int halve(const struct seccomp_notif *call, int64_t *done)
{
    static unsigned char buffer[1 << 20];
    const __u64 *a = call->data.args;
    const size_t bytes = a[2] / 2 < sizeof(buffer) ? a[2] / 2 : sizeof(buffer);
    int file;

    if ((call->data.nr != SYS_write && call->data.nr != SYS_pwrite64) || bytes == 0 ||
        read_memory((pid_t)call->pid, a[1], buffer, bytes) != (ssize_t)bytes)
        return 0;
    file = descriptor_of(call);
    *done = file < 0                        ? -1
            : call->data.nr == SYS_pwrite64 ? pwrite(file, buffer, bytes, (off_t)a[3])
                                            : write(file, buffer, bytes);
    close(file);
    return *done > 0;
}

static void decide(const struct seccomp_notif *call, struct seccomp_notif_resp *answer)
{
    const pid_t pid = (pid_t)call->pid;
    const enum faults_call of = call_of(call);
    int64_t done;

    if (call->data.nr == SYS_prctl) {
        begun = 1;
        answer->flags = 0;
        answer->error = -EINVAL;
        return;
    }
    if (call->data.nr == SYS_execve && pid == first)
        begun = 0;
    else if (call->data.nr == SYS_execve && foreigners < FOREIGN)
        foreign[foreigners++] = pid;
    if (!begun || of == CALL_NONE || (foreigners > 0 && is_foreign(process_of(pid))) ||
        !faults_fails(shared, of))
        return;
    describe(call, of);
    if (!halves) {
        answer->flags = 0;
        answer->error = -error_number;
    } else if (halve(call, &done)) {
        answer->flags = 0;
        answer->val = done;
    }
}

/* Answers until no process with the filter is left. */
static void serve(int listener)
{
    struct pollfd poll_for = {.fd = listener, .events = POLLIN};

    for (;;) {
        struct seccomp_notif call = {0};
        struct seccomp_notif_resp answer = {.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};

        if (poll(&poll_for, 1, -1) < 0 && errno != EINTR)
            die("poll");
        if ((poll_for.revents & POLLHUP) != 0)
            return;
        if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call) != 0)
            continue; /* one that has been killed */
        answer.id = call.id;
        decide(&call, &answer);
        ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
    }
}

/* Makes the file that the preloaded library maps, too. */
static void share(const char *counts_path)
{
    char path[PATH_BYTES];
    int file;

    snprintf(path, sizeof(path), "%s.shared", counts_path);
    file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0 || ftruncate(file, sizeof(*shared)) != 0)
        die(path);
    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (shared == MAP_FAILED)
        die(path);
    close(file);
    setenv("FAULTS_SHARED", path, 1);
}

static void set(const char *call, const char *n, const char *error)
{
    static const char *const clocks[] = {"hour", "back", "still"};

    for (uint32_t i = 0; i < CALLS; i++)
        if (strcmp(names[i], call) == 0)
            shared->call = i;
    for (uint32_t i = 0; i < COUNT_OF(clocks); i++)
        if (strncmp(error, clocks[i], strlen(clocks[i])) == 0)
            shared->clock = i;
    shared->at = strtoull(n, NULL, 10);
    shared->later = strchr(error, '+') != NULL;
    halves = strncmp(error, "short", 5) == 0;
    error_number = atoi(error);
}

/* Takes the listener out of the child, once it has one. */
static int listener_of(pid_t child, _Atomic int *theirs)
{
    int process = (int)syscall(SYS_pidfd_open, child, 0), number, listener;

    while ((number = atomic_load(theirs)) == 0)
        if (waitpid(child, NULL, WNOHANG) == child)
            die("the program");
    errno = number < 0 ? -number : errno;
    listener = number < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, process, number, 0);
    if (listener < 0)
        die("seccomp notifications");
    close(process);
    return listener;
}

int main(int argc, char **argv)
{
    _Atomic int *theirs;
    int status;

    if (argc < 7)
        return 2;
    share(argv[2]);
    set(argv[3], argv[4], argv[5]);
    counts = fopen(argv[2], "we");
    theirs = mmap(NULL, sizeof(*theirs), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (counts == NULL || theirs == MAP_FAILED)
        die(argv[2]);
    first = fork();
    if (first == 0)
        be_program(theirs, argv[1], &argv[6]);
    serve(listener_of(first, theirs));
    waitpid(first, &status, 0);
    for (int i = 1; i < CALLS; i++)
        fprintf(counts, "%s %lu\n", names[i], (unsigned long)atomic_load(&shared->count[i]));
    fprintf(counts, "failures %u\n", atomic_load(&shared->failed));
    fclose(counts);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
