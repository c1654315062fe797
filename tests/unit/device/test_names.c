/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of processes that share an address. A slot has one process, while processes start and end.
 * Remains of killed processes do no harm. Networks are separate. An unreachable process is noticed.
 * A process that is not trusted gets nothing. test_other_users.c has what other users can do.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device/host/private_folder.h"
#include "device/internal.h"
#include "tests/unit/device/pair.h"

#define PORT    4791
#define SERVICE UINT64_C(0x1061c06)

static const struct oche_device_config shared = {.share = true};

static int new_inbox(void)
{
    const int inbox = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    assert_true(inbox >= 0);
    return inbox;
}

static enum oche_names_result open_names(struct oche_names *names, const char *address, int inbox)
{
    struct oche_address parsed;
    struct oche_error error;

    assert_true(oche_address_parse(address, &parsed));
    return oche_names_open(names, &parsed, PORT, inbox, &error);
}

/* Runs `what` in a child. Returns its status. */
static int in_child(int (*what)(const char *address), const char *address)
{
    const pid_t child = fork();
    int status;

    assert_true(child >= 0);
    if (child == 0) {
        alarm(60);
        _exit(what(address));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

/* ---- killed processes ---- */

static int take_names_and_die(const char *address)
{
    struct oche_names names;

    if (open_names(&names, address, new_inbox()) != OCHE_NAMES_TAKEN ||
        !oche_names_take_service(&names, SERVICE))
        return 1;
    kill(getpid(), SIGKILL);
    return 2;
}

/* Writes the path of an address's file, which may be there or not. */
static void path_of(const char *address, char *path, size_t bytes)
{
    struct oche_names names;
    const int inbox = new_inbox();

    assert_int_equal(open_names(&names, address, inbox), OCHE_NAMES_TAKEN);
    snprintf(path, bytes, "%s", names.path);
    oche_names_close(&names);
    close(inbox);
}

static void killed_processes(void **state)
{
    char address[32], other[32], path[128], inbox_path[160];
    struct oche_names names;
    int inbox;

    (void)state;
    loopback_address(address, 1);
    loopback_address(other, 2);
    path_of(address, path, sizeof(path));
    assert_int_equal(access(path, F_OK), -1); /* the last one to go has removed it */
    snprintf(inbox_path, sizeof(inbox_path), "%s.0", path);
    assert_int_equal(in_child(take_names_and_die, address), -SIGKILL);
    assert_int_equal(access(path, F_OK), 0);
    assert_int_equal(access(inbox_path, F_OK), 0);

    /* the next process has the slot and the service */
    inbox = new_inbox();
    assert_int_equal(open_names(&names, address, inbox), OCHE_NAMES_TAKEN);
    assert_int_equal(names.slot, 0);
    assert_int_equal(oche_names_service_slot(&names, SERVICE), -1);
    assert_true(oche_names_take_service(&names, SERVICE));
    oche_names_close(&names);
    close(inbox);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(access(inbox_path, F_OK), -1);

    /* the next one of another address cleans up */
    assert_int_equal(in_child(take_names_and_die, address), -SIGKILL);
    assert_int_equal(access(path, F_OK), 0);
    inbox = new_inbox();
    assert_int_equal(open_names(&names, other, inbox), OCHE_NAMES_TAKEN);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(access(inbox_path, F_OK), -1);
    oche_names_close(&names);
    close(inbox);
}

/* Opens a device and forks a child, which writes its number to the pipe; then both wait. */
static void open_and_fork(const char *address, int told)
{
    struct end end;
    pid_t child;

    alarm(60);
    end_open(&end, &shared, address, 0);
    child = fork();
    if (child == 0) {
        alarm(60);
        oche_device_leave(end.device);
        child = getpid();
        if (write(told, &child, sizeof(child)) != sizeof(child))
            _exit(1);
    }
    for (;;)
        pause();
}

/* A child that lives on does not keep the slot of its parent, which was killed. */
static void forked_children(void **state)
{
    char address[32];
    struct end end;
    pid_t parent, child;
    int ends[2];

    (void)state;
    loopback_address(address, 1);
    assert_int_equal(pipe(ends), 0);
    parent = fork();
    if (parent == 0)
        open_and_fork(address, ends[1]);
    assert_int_equal(read(ends[0], &child, sizeof(child)), sizeof(child));
    end_open(&end, &shared, address, 0);
    assert_int_equal(end.device->share.slot, 1);
    end_close(&end);
    assert_int_equal(kill(parent, SIGKILL), 0);
    assert_int_equal(waitpid(parent, NULL, 0), parent);
    end_open(&end, &shared, address, 0);
    assert_int_equal(end.device->share.slot, 0);
    end_close(&end);
    assert_int_equal(kill(child, SIGKILL), 0);
    close(ends[0]);
    close(ends[1]);
}

/* Waits until the other end of the pipe is closed. The parent's names are still open here. */
static void keep_descriptors(const int ends[2])
{
    char byte;

    alarm(60);
    close(ends[1]);
    _exit(read(ends[0], &byte, 1) == 0 ? 0 : 1);
}

static int take_slot_and_service(const char *address)
{
    struct oche_names names;
    const int inbox = new_inbox();

    if (open_names(&names, address, inbox) != OCHE_NAMES_TAKEN)
        return 98;
    return oche_names_take_service(&names, SERVICE) ? (int)names.slot : 99;
}

/*
 * A process that gives its names up has none, also while a child has not yet closed its copy of the
 * descriptor: one between fork and exec, say.
 */
static void closed_beside_a_child(void **state)
{
    struct oche_names names, others;
    const int inbox = new_inbox(), second = new_inbox();
    char address[32];
    int ends[2], status;
    pid_t child;

    (void)state;
    loopback_address(address, 1);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(open_names(&names, address, inbox), OCHE_NAMES_TAKEN);
    assert_int_equal(open_names(&others, address, second), OCHE_NAMES_TAKEN);
    assert_int_equal(names.slot, 0);
    assert_true(oche_names_take_service(&names, SERVICE));
    child = fork();
    if (child == 0)
        keep_descriptors(ends);
    oche_names_close(&names); /* `others` keeps the file */
    assert_false(oche_names_slot_taken(&others, 0));
    assert_int_equal(oche_names_service_slot(&others, SERVICE), -1);
    assert_int_equal(in_child(take_slot_and_service, address), 0);
    close(ends[1]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    oche_names_close(&others);
    close(ends[0]);
    close(inbox);
    close(second);
}

/*
 * A program may close our descriptor, and its next file gets the number. That file is not taken for
 * a removed one, and not closed.
 */
static void closed_by_the_program(void **state)
{
    const int inbox = new_inbox(), own = memfd_create("own", MFD_CLOEXEC);
    struct oche_names names;
    struct stat before, after;
    char address[32];

    (void)state;
    loopback_address(address, 1);
    assert_int_equal(open_names(&names, address, inbox), OCHE_NAMES_TAKEN);
    const int number = names.file;

    assert_int_equal(dup2(own, number), number); /* closes the other one first */
    assert_int_equal(fstat(own, &before), 0);
    assert_int_equal(before.st_nlink, 0);
    assert_false(oche_names_lost(&names));
    oche_names_close(&names);
    assert_int_equal(fstat(number, &after), 0);
    assert_int_equal(after.st_ino, before.st_ino);
    path_of(address, names.path, sizeof(names.path)); /* removes what is left */
    close(number);
    close(own);
    close(inbox);
}

/* A process that cannot have a name where others are uses no other place, and is told why. */
static void no_room_beside_others(void **state)
{
    const int inbox = new_inbox(), second = new_inbox();
    struct oche_names names, others;
    char address[32], inbox_path[160];
    struct oche_address parsed;
    struct oche_error error;

    (void)state;
    loopback_address(address, 1);
    assert_true(oche_address_parse(address, &parsed));
    assert_int_equal(open_names(&others, address, inbox), OCHE_NAMES_TAKEN);
    snprintf(inbox_path, sizeof(inbox_path), "%s.1", others.path);
    assert_int_equal(mkdir(inbox_path, 0700), 0); /* as little room as on a full file system */
    assert_int_equal(oche_names_open(&names, &parsed, PORT, second, &error), OCHE_NAMES_NOWHERE);
    assert_memory_equal(error.text, others.path, (size_t)(strrchr(others.path, '/') - others.path));
    assert_non_null(strstr(error.text, ": Is a directory"));
    assert_null(strchr(error.text, ';')); /* one place */
    assert_int_equal(rmdir(inbox_path), 0);
    assert_int_equal(oche_names_open(&names, &parsed, PORT, second, &error), OCHE_NAMES_TAKEN);
    assert_string_equal(names.path, others.path);
    oche_names_close(&names);
    oche_names_close(&others);
    close(second);
    close(inbox);
}

static int slot_elsewhere(const char *address)
{
    static const char *const variables[] = {"HOME", "TMPDIR", "XDG_RUNTIME_DIR", "OCHE_VIEW"};
    struct oche_names names;

    for (size_t i = 0; i < OCHE_COUNT_OF(variables); i++)
        if (setenv(variables[i], "/nowhere", 1) != 0)
            return 99;
    return open_names(&names, address, new_inbox()) == OCHE_NAMES_TAKEN ? (int)names.slot : 98;
}

/* Processes of a user meet, whatever their environments say. */
static void environments(void **state)
{
    struct oche_names names;
    const int inbox = new_inbox();
    char address[32];

    (void)state;
    loopback_address(address, 1);
    assert_int_equal(open_names(&names, address, inbox), OCHE_NAMES_TAKEN);
    assert_int_equal(in_child(slot_elsewhere, address), 1);
    assert_true(oche_names_take_service(&names, SERVICE));
    oche_names_close(&names);
    close(inbox);
}

/* ---- at the same time ---- */

enum { RUSHING = 6, ROUNDS = 300 };

static _Atomic unsigned *owners; /* of each slot, of all processes */

static int come_and_go(const char *address)
{
    struct oche_random random = oche_random_stream((uint64_t)getpid(), "come and go", 0);

    for (unsigned i = 0; i < ROUNDS; i++) {
        struct oche_names names;
        const int inbox = new_inbox();

        if (open_names(&names, address, inbox) != OCHE_NAMES_TAKEN)
            return 1;
        if (atomic_fetch_add(&owners[names.slot], 1) != 0)
            return 2; /* two have it */
        if (oche_random_below(&random, 2) != 0)
            sched_yield();
        atomic_fetch_sub(&owners[names.slot], 1);
        oche_names_close(&names);
        close(inbox);
    }
    return 0;
}

/* Files are made and removed all the time, and no slot ever has two processes. */
static void a_slot_has_one_process(void **state)
{
    pid_t children[RUSHING];
    char address[32];
    int status;

    (void)state;
    loopback_address(address, 1);
    owners = mmap(NULL, OCHE_SLOTS * sizeof(*owners), PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(owners, MAP_FAILED);
    for (unsigned i = 0; i < RUSHING; i++)
        if ((children[i] = fork()) == 0)
            _exit(come_and_go(address));
    for (unsigned i = 0; i < RUSHING; i++) {
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
    munmap((void *)(uintptr_t)owners, OCHE_SLOTS * sizeof(*owners));
}

/* Removes the file while it has all locks on it, as the last process does. */
static void *remove_file(void *context)
{
    const int file = *(int *)context;
    char path[128], link[32];
    ssize_t bytes;

    snprintf(link, sizeof(link), "/proc/self/fd/%d", file);
    bytes = readlink(link, path, sizeof(path) - 1);
    path[bytes > 0 ? bytes : 0] = '\0';
    usleep(100);
    unlink(path);
    close(file);
    return NULL;
}

/* A process that opened the file before its removal, and locks it afterwards, tries again. */
static void removed_meanwhile(void **state)
{
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    struct oche_names names;
    struct stat there, ours;
    char address[32], path[128];
    pthread_t thread;

    (void)state;
    loopback_address(address, 1);
    path_of(address, path, sizeof(path));
    for (unsigned i = 0; i < 400; i++) {
        int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        const int inbox = new_inbox();

        assert_true(file >= 0);
        assert_int_equal(fcntl(file, F_OFD_SETLK, &all), 0);
        assert_int_equal(pthread_create(&thread, NULL, remove_file, &file), 0);
        assert_int_equal(open_names(&names, address, inbox), OCHE_NAMES_TAKEN);
        assert_int_equal(stat(path, &there), 0);
        assert_int_equal(fstat(names.file, &ours), 0);
        assert_true(there.st_ino == ours.st_ino);
        assert_int_equal(pthread_join(thread, NULL), 0);
        oche_names_close(&names);
        close(inbox);
    }
}

/* ---- networks ---- */

static bool write_to(const char *path, const char *text)
{
    const int file = open(path, O_WRONLY | O_CLOEXEC);
    const bool written = file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text);

    if (file >= 0)
        close(file);
    return written;
}

/* Enters a network namespace, as the same user. Returns false if this user cannot. */
static bool enter_network(void)
{
    char users[40], groups[40];

    snprintf(users, sizeof(users), "%u %u 1", (unsigned)geteuid(), (unsigned)geteuid());
    snprintf(groups, sizeof(groups), "%u %u 1", (unsigned)getegid(), (unsigned)getegid());
    return unshare(CLONE_NEWNET) == 0 ||
           (unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0 &&
            write_to("/proc/self/setgroups", "deny") && write_to("/proc/self/uid_map", users) &&
            write_to("/proc/self/gid_map", groups));
}

static bool loopback_is_up(void)
{
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct ifreq request = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
    const bool up = ioctl(fd, SIOCSIFFLAGS, &request) == 0;

    close(fd);
    return up;
}

#define NO_NAMESPACES 77

static int open_in_another_network(const char *address)
{
    struct end end;

    if (!enter_network() || !loopback_is_up())
        return NO_NAMESPACES;
    end_open(&end, &shared, address, 0);
    const int slot = end.device->share.slot;
    end_close(&end);
    return slot;
}

/* The same address of another network is another one, with all slots, in the same folder. */
static void networks_are_apart(void **state)
{
    struct end end;
    int slot;

    (void)state;
    end_open(&end, &shared, NULL, 1);
    assert_int_equal(end.device->share.slot, 0);
    slot = in_child(open_in_another_network, end.address);
    end_close(&end);
    if (slot == NO_NAMESPACES) {
        print_message("SKIPPED: this user may not have a network namespace\n");
        skip();
    }
    assert_int_equal(slot, 0);
}

/* ---- those that cannot be met ---- */

/* A process of our user has the port, and has no name where we look. */
static void hidden_processes(void **state)
{
    const struct oche_socket_options options = {.shared = true, .buffer_bytes = 1 << 16};
    struct oche_device_config config = shared;
    struct oche_socket other;
    struct oche_address parsed;
    struct oche_error error;
    char address[32];

    (void)state;
    config.address = loopback_address(address, 1);
    assert_true(oche_address_parse(address, &parsed));
    assert_true(oche_socket_open(&other, &parsed, PORT, &options, &error));
    assert_null(oche_device_open(&config, &error));
    assert_int_equal(errno, EADDRINUSE);
    assert_non_null(strstr(error.text, "cannot be met"));
    oche_socket_close(&other);
    struct oche_device *device = oche_device_open(&config, &error);
    assert_non_null(device);
    assert_true(oche_device_close(device));
}

/* One that ends meanwhile does not count. */
static void hidden_for_a_moment(void **state)
{
    const struct oche_socket_options options = {.shared = true, .buffer_bytes = 1 << 16};
    struct oche_device_config config = shared;
    struct oche_address parsed;
    struct oche_error error;
    char address[32];
    pid_t child;

    (void)state;
    config.address = loopback_address(address, 1);
    assert_true(oche_address_parse(address, &parsed));
    child = fork();
    if (child == 0) {
        struct oche_socket other;

        if (!oche_socket_open(&other, &parsed, PORT, &options, &error))
            _exit(1);
        usleep(300000);
        _exit(0);
    }
    usleep(100000);
    struct oche_device *device = oche_device_open(&config, &error);
    if (device == NULL)
        fail_msg("%s", error.text);
    assert_true(oche_device_close(device));
    assert_int_equal(waitpid(child, NULL, 0), child);
}

/* Runs a device, whose service others ask for, until it is killed. */
static pid_t start_server(const char *address)
{
    const pid_t pid = fork();
    struct end end;

    if (pid != 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* if the test fails */
    alarm(60);
    end_open(&end, &shared, address, 0);
    if (!oche_device_take_service(end.device, SERVICE))
        _exit(1);
    for (;;) {
        oche_device_progress(end.device);
        usleep(1000);
    }
}

/* Removes what the folder has of the address. */
static void remove_names(const char *address)
{
    char folder[128], path[512], part[64];
    const struct dirent *entry;
    unsigned removed = 0;
    DIR *names;

    path_of(address, folder, sizeof(folder)); /* a second slot, for a moment */
    *strrchr(folder, '/') = '\0';
    snprintf(part, sizeof(part), "-%s-", address);
    names = opendir(folder);
    assert_non_null(names);
    while ((entry = readdir(names)) != NULL)
        if (strstr(entry->d_name, part) != NULL) {
            snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
            assert_int_equal(unlink(path), 0);
            removed++;
        }
    closedir(names);
    assert_true(removed >= 2);
}

static bool wait_for_service(struct end *end)
{
    for (unsigned tries = 0; tries < 3000; tries++) {
        if (oche_device_service_taken(end->device, SERVICE))
            return true;
        oche_device_progress(end->device);
        usleep(1000);
    }
    return false;
}

/* A running process whose names were removed makes them again, and new ones meet it. */
static void lost_names(void **state)
{
    char address[32];
    struct end end;
    pid_t server;
    bool met = false;

    (void)state;
    loopback_address(address, 1);
    server = start_server(address);
    usleep(200000);
    remove_names(address);
    end_open(&end, &shared, address, 0);
    assert_int_equal(end.device->share.slot, 1);
    assert_true(wait_for_service(&end));
    assert_false(oche_device_take_service(end.device, SERVICE));
    for (unsigned tries = 0; tries < 3000 && !met; tries++) {
        oche_device_progress(end.device);
        met = end.device->share.neighbours[0].trusted;
        usleep(1000);
    }
    assert_true(met);
    end_close(&end);
    assert_int_equal(kill(server, SIGKILL), 0);
    assert_int_equal(waitpid(server, NULL, 0), server);
}

/* ---- trust ---- */

/* The beginning of a message, as in share.c. */
struct heard {
    uint32_t magic;
    uint8_t version, kind, slot, place;
    uint64_t nonce;
    uint8_t rest[64];
};
enum { HELLO, ANSWER, TABLE = 5 };

/* Returns the next message of this kind that comes to the inbox, and the descriptor with it, or -1.
 */
static struct heard hear(int inbox, uint8_t kind, struct end *end, int *descriptor)
{
    struct heard heard = {0};
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(struct ucred)) + CMSG_SPACE(sizeof(int))];
    } control;

    for (unsigned tries = 0; tries < 2000; tries++) {
        struct iovec piece = {.iov_base = &heard, .iov_len = sizeof(heard)};
        struct msghdr header = {.msg_iov = &piece,
                                .msg_iovlen = 1,
                                .msg_control = &control,
                                .msg_controllen = sizeof(control)};
        const ssize_t count = recvmsg(inbox, &header, MSG_DONTWAIT);

        *descriptor = -1;
        oche_device_progress(end->device);
        if (count < 0) {
            usleep(1000);
            continue;
        }
        for (struct cmsghdr *c = CMSG_FIRSTHDR(&header); c != NULL; c = CMSG_NXTHDR(&header, c))
            if (c->cmsg_type == SCM_RIGHTS)
                memcpy(descriptor, CMSG_DATA(c), sizeof(*descriptor));
        if (heard.kind == kind)
            return heard;
        assert_int_equal(*descriptor, -1);
    }
    fail_msg("no message of kind %u", kind);
    return heard;
}

/* A process with a slot gets the table of senders once it has answered, and read-only. */
static void given_when_trusted(void **state)
{
    const struct oche_device_config dart = {.share = true, .cc = oche_cc_find("dart")};
    struct oche_names names;
    struct sockaddr_un to;
    struct heard message;
    const int inbox = new_inbox();
    char address[32], byte = 0;
    struct end end;
    int table;

    (void)state;
    loopback_address(address, 1);
    assert_int_equal(open_names(&names, address, inbox), OCHE_NAMES_TAKEN);
    assert_int_equal(names.slot, 0);
    end_open(&end, &dart, address, 0);
    for (unsigned i = 0; i < 3; i++) { /* one at joining, one when it knows its place, … */
        message = hear(inbox, HELLO, &end, &table);
        assert_int_equal(table, -1);
        if (message.place != OCHE_PLACE_NONE)
            break;
    }
    const socklen_t to_bytes = oche_names_inbox(&names, end.device->share.slot, &to);
    message.slot = 0;
    message.kind = HELLO; /* a greeting of ours is answered, which proves nothing of us */
    assert_true(sendto(inbox, &message, sizeof(message), 0, (struct sockaddr *)&to, to_bytes) > 0);
    hear(inbox, ANSWER, &end, &table);
    assert_int_equal(table, -1);
    message.kind = ANSWER;
    message.nonce++; /* a wrong answer */
    assert_true(sendto(inbox, &message, sizeof(message), 0, (struct sockaddr *)&to, to_bytes) > 0);
    for (unsigned i = 0; i < 200; i++)
        oche_device_progress(end.device);
    assert_false(end.device->share.neighbours[0].trusted);
    assert_int_equal(recv(inbox, &byte, 1, MSG_DONTWAIT), -1);
    message.nonce--;
    assert_true(sendto(inbox, &message, sizeof(message), 0, (struct sockaddr *)&to, to_bytes) > 0);
    hear(inbox, TABLE, &end, &table);
    assert_true(table >= 0);
    assert_int_equal(write(table, &byte, 1), -1);
    assert_ptr_equal(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, table, 0), MAP_FAILED);
    void *memory = mmap(NULL, 4096, PROT_READ, MAP_SHARED, table, 0);
    assert_ptr_not_equal(memory, MAP_FAILED);
    assert_int_equal(mprotect(memory, 4096, PROT_READ | PROT_WRITE), -1);
    assert_int_equal(munmap(memory, 4096), 0);
    close(table);
    oche_names_close(&names);
    close(inbox);
    end_close(&end);
}

/* ---- who can reach what ---- */

/* A device's sockets have no abstract names, as any user could send to these. */
static void no_abstract_names(void **state)
{
    FILE *rows = fopen("/proc/net/unix", "r");
    char row[512], part[64];
    unsigned inboxes = 0;
    struct end end;

    (void)state;
    assert_non_null(rows);
    end_open(&end, &shared, NULL, 1);
    assert_true(oche_device_take_service(end.device, SERVICE));
    snprintf(part, sizeof(part), "%s", end.address);
    while (fgets(row, sizeof(row), rows) != NULL) {
        if (strstr(row, part) == NULL)
            continue;
        assert_null(strchr(row, '@'));
        inboxes++;
    }
    assert_int_equal(inboxes, 1);
    fclose(rows);
    end_close(&end);
}

/* A folder whose path may lead elsewhere tomorrow is not taken. */
static void folders_stay(void **state)
{
    char above[] = "oche-names-XXXXXX", folder[64];

    (void)state;
    assert_non_null(mkdtemp(above));
    snprintf(folder, sizeof(folder), "%s/oche", above);
    assert_int_equal(chmod(above, 01777), 0);
    assert_true(oche_folder_stays(folder));
    assert_int_equal(chmod(above, 0777), 0); /* others can rename what is in it */
    assert_false(oche_folder_stays(folder));
    assert_int_equal(chmod(above, 0775), 0);
    assert_false(oche_folder_stays(folder));
    assert_int_equal(chmod(above, 0755), 0);
    assert_true(oche_folder_stays(folder));
    assert_int_equal(rmdir(above), 0);
}

/* An inbox's path fits the longest address, network and user. */
static void longest_names(void **state)
{
    struct sockaddr_un inbox;
    struct oche_names names = {.file = -1};

    (void)state;
    snprintf(names.path, sizeof(names.path),
             "/run/user/4294967295/oche/net-18446744073709551615-%s-65535",
             "2001:0db8:1111:2222:3333:4444:5555:6666");
    assert_true(strlen(names.path) + strlen(".63") < sizeof(inbox.sun_path));
    oche_names_inbox(&names, OCHE_SLOTS - 1, &inbox);
    assert_string_equal(strrchr(inbox.sun_path, '.'), ".63");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(killed_processes),       cmocka_unit_test(forked_children),
        cmocka_unit_test(closed_beside_a_child),  cmocka_unit_test(closed_by_the_program),
        cmocka_unit_test(no_room_beside_others),  cmocka_unit_test(environments),
        cmocka_unit_test(a_slot_has_one_process), cmocka_unit_test(removed_meanwhile),
        cmocka_unit_test(networks_are_apart),     cmocka_unit_test(hidden_processes),
        cmocka_unit_test(hidden_for_a_moment),    cmocka_unit_test(lost_names),
        cmocka_unit_test(given_when_trusted),     cmocka_unit_test(no_abstract_names),
        cmocka_unit_test(folders_stay),           cmocka_unit_test(longest_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
