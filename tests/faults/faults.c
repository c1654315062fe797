/* SPDX-License-Identifier: Apache-2.0 */
/* The calls, counted by kind. */
#include "tests/faults/faults.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *memory, size_t bytes);
void *__real_aligned_alloc(size_t alignment, size_t bytes);
int __real_socket(int domain, int type, int protocol);
int __real_eventfd(unsigned start, int flags);
int __real_bind(int fd, const struct sockaddr *address, socklen_t bytes);
int __real_setsockopt(int fd, int level, int name, const void *value, socklen_t bytes);
ssize_t __real_getrandom(void *bytes, size_t count, unsigned flags);
ssize_t __real_sendmsg(int fd, const struct msghdr *message, int flags);
int __real_sendmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags);
ssize_t __real_recvmsg(int fd, struct msghdr *message, int flags);
int __real_recvmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags,
                    struct timespec *timeout);

void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *memory, size_t bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t bytes);
int __wrap_socket(int domain, int type, int protocol);
int __wrap_eventfd(unsigned start, int flags);
int __wrap_bind(int fd, const struct sockaddr *address, socklen_t bytes);
int __wrap_setsockopt(int fd, int level, int name, const void *value, socklen_t bytes);
ssize_t __wrap_getrandom(void *bytes, size_t count, unsigned flags);
ssize_t __wrap_sendmsg(int fd, const struct msghdr *message, int flags);
int __wrap_sendmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags);
ssize_t __wrap_recvmsg(int fd, struct msghdr *message, int flags);
int __wrap_recvmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags,
                    struct timespec *timeout);

static unsigned long calls[FAULTS], fails_at;
static enum fault failing = FAULTS;
static bool fails_once;
static int own_error;

static const char *const names[FAULTS] = {
    [FAULT_MEMORY] = "allocation", [FAULT_SOCKET] = "descriptor", [FAULT_BIND] = "bind",
    [FAULT_OPTION] = "setsockopt", [FAULT_RANDOM] = "getrandom",  [FAULT_SEND] = "send",
    [FAULT_RECEIVE] = "receive",
};

void faults_set(enum fault kind, unsigned long n, bool once)
{
    for (unsigned i = 0; i < FAULTS; i++)
        calls[i] = 0;
    failing = kind;
    fails_at = n;
    fails_once = once;
}

void faults_error(int error)
{
    own_error = error;
}

void faults_stop(void)
{
    fails_at = 0;
}

unsigned long faults_calls(enum fault kind)
{
    return calls[kind];
}

const char *faults_name(enum fault kind)
{
    return names[kind];
}

static bool fails(enum fault kind, int error)
{
    const unsigned long number = ++calls[kind];

    if (kind != failing || fails_at == 0 || number < fails_at || (fails_once && number > fails_at))
        return false;
    errno = error;
    return true;
}

void *__wrap_malloc(size_t bytes)
{
    return fails(FAULT_MEMORY, ENOMEM) ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    return fails(FAULT_MEMORY, ENOMEM) ? NULL : __real_calloc(count, bytes);
}

void *__wrap_realloc(void *memory, size_t bytes)
{
    return fails(FAULT_MEMORY, ENOMEM) ? NULL : __real_realloc(memory, bytes);
}

void *__wrap_aligned_alloc(size_t alignment, size_t bytes)
{
    return fails(FAULT_MEMORY, ENOMEM) ? NULL : __real_aligned_alloc(alignment, bytes);
}

int __wrap_socket(int domain, int type, int protocol)
{
    return fails(FAULT_SOCKET, EMFILE) ? -1 : __real_socket(domain, type, protocol);
}

int __wrap_eventfd(unsigned start, int flags)
{
    return fails(FAULT_SOCKET, EMFILE) ? -1 : __real_eventfd(start, flags);
}

int __wrap_bind(int fd, const struct sockaddr *address, socklen_t bytes)
{
    return fails(FAULT_BIND, EACCES) ? -1 : __real_bind(fd, address, bytes);
}

int __wrap_setsockopt(int fd, int level, int name, const void *value, socklen_t bytes)
{
    return fails(FAULT_OPTION, ENOPROTOOPT) ? -1 : __real_setsockopt(fd, level, name, value, bytes);
}

ssize_t __wrap_getrandom(void *bytes, size_t count, unsigned flags)
{
    return fails(FAULT_RANDOM, ENOSYS) ? -1 : __real_getrandom(bytes, count, flags);
}

ssize_t __wrap_sendmsg(int fd, const struct msghdr *message, int flags)
{
    return fails(FAULT_SEND, own_error) ? -1 : __real_sendmsg(fd, message, flags);
}

int __wrap_sendmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags)
{
    return fails(FAULT_SEND, own_error) ? -1 : __real_sendmmsg(fd, messages, count, flags);
}

ssize_t __wrap_recvmsg(int fd, struct msghdr *message, int flags)
{
    return fails(FAULT_RECEIVE, own_error) ? -1 : __real_recvmsg(fd, message, flags);
}

int __wrap_recvmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags,
                    struct timespec *timeout)
{
    return fails(FAULT_RECEIVE, own_error) ? -1
                                           : __real_recvmmsg(fd, messages, count, flags, timeout);
}
