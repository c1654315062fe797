/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <linux/close_range.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "device/rsocket/preload/internal.h"

int close(int descriptor)
{
    const struct rp_listener *both = rp_listener_of(descriptor);

    if (!rp_is_own_process())
        return rp_real()->close(descriptor);
    if (both != NULL) {
        if (both->rdma >= 0)
            rclose(both->rdma);
        if (both->tcp != descriptor)
            rp_real()->close(both->tcp);
        rp_set_listener(descriptor, NULL);
    }
    rp_forget(descriptor);
    return rp_is_rdma(descriptor) ? rclose(descriptor) : rp_real()->close(descriptor);
}

/* Closes the sockets among these descriptors, which the kernel is about to close. */
static void close_sockets(unsigned first, unsigned last)
{
    for (unsigned i = first; i <= last && i < RP_MOST; i++)
        if (rp_listener_of((int)i) != NULL || rp_is_rdma((int)i))
            close((int)i);
}

int close_range(unsigned first, unsigned last, int flags)
{
    if (((unsigned)flags & CLOSE_RANGE_CLOEXEC) == 0 && rp_is_own_process())
        close_sockets(first, last);
    return (int)syscall(SYS_close_range, first, last, (unsigned)flags);
}

void closefrom(int first)
{
    close_range(first < 0 ? 0 : (unsigned)first, ~0U, 0);
}

/* ---- copies ---- */

/* `copy` is a copy of the descriptor that the kernel has made. Returns it, or -1 with errno. */
static int copied(int descriptor, int copy)
{
    if (copy < 0 || !rp_is_own_process() || !rp_is_rdma(descriptor))
        return copy;
    if (oche_rsocket_copied(descriptor, copy) != 0) {
        rp_real()->close(copy);
        return -1;
    }
    rp_note_rdma(copy, true);
    return copy;
}

int dup(int descriptor)
{
    return copied(descriptor, rp_real()->dup(descriptor));
}

int dup3(int descriptor, int copy, int flags)
{
    if (copy == descriptor || !rp_is_own_process())
        return rp_real()->dup3(descriptor, copy, flags);
    if (rp_is_rdma(copy) || rp_listener_of(copy) != NULL)
        close(copy);
    rp_forget(copy);
    return copied(descriptor, rp_real()->dup3(descriptor, copy, flags));
}

int dup2(int descriptor, int copy)
{
    return copy == descriptor ? rp_real()->dup2(descriptor, copy) : dup3(descriptor, copy, 0);
}

/* ---- flags ---- */

static int control(int descriptor, int command, long argument)
{
    struct rp_listener *both = rp_listener_of(descriptor);
    int result;

    if (both != NULL && command == F_SETFL) {
        both->nonblocking = (argument & O_NONBLOCK) != 0;
        return 0;
    }
    if (both != NULL && command == F_GETFL)
        return O_RDWR | (both->nonblocking ? O_NONBLOCK : 0);
    if (!rp_is_rdma(descriptor))
        return rp_real()->fcntl(descriptor, command, argument);
    result = rfcntl(descriptor, command, argument);
    if (result >= 0 && (command == F_DUPFD || command == F_DUPFD_CLOEXEC))
        rp_note_rdma(result, true);
    return result;
}

int fcntl(int descriptor, int command, ...)
{
    va_list arguments;
    long argument;

    va_start(arguments, command);
    argument = va_arg(arguments, long); /* a number or a pointer, or unused */
    va_end(arguments);
    return control(descriptor, command, argument);
}

#undef fcntl64
int fcntl64(int descriptor, int command, ...) __attribute__((alias("fcntl")));

int ioctl(int descriptor, unsigned long request, ...)
{
    va_list arguments;
    void *argument;
    ssize_t pending;

    va_start(arguments, request);
    argument = va_arg(arguments, void *);
    va_end(arguments);
    if (request == FIONBIO && (rp_is_rdma(descriptor) || rp_listener_of(descriptor) != NULL))
        return control(descriptor, F_SETFL, O_RDWR | (*(int *)argument != 0 ? O_NONBLOCK : 0));
    if (!rp_is_rdma(descriptor))
        return rp_real()->ioctl(descriptor, request, argument);
    if (request != FIONREAD) {
        errno = ENOTTY;
        return -1;
    }
    pending = oche_rsocket_pending(descriptor);
    *(int *)argument = (int)pending;
    return pending < 0 ? -1 : 0;
}
