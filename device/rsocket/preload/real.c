/* SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "device/rsocket/preload/internal.h"

static struct real real;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Through a copy, as ISO C has no conversion from a pointer to an object to one to a function. */
#define FIND(name)                                                                                 \
    do {                                                                                           \
        void *found = dlsym(RTLD_NEXT, #name);                                                     \
                                                                                                   \
        memcpy(&real.name, &found, sizeof(found));                                                 \
    } while (0)

static void find_all(void)
{
    FIND(connect);
    FIND(listen);
    FIND(accept4);
    FIND(shutdown);
    FIND(close);
    FIND(read);
    FIND(readv);
    FIND(recv);
    FIND(recvfrom);
    FIND(recvmsg);
    FIND(recvmmsg);
    FIND(write);
    FIND(writev);
    FIND(send);
    FIND(sendto);
    FIND(sendmsg);
    FIND(sendmmsg);
    FIND(sendfile);
    FIND(splice);
    FIND(poll);
    FIND(ppoll);
    FIND(select);
    FIND(pselect);
    FIND(epoll_wait);
    FIND(epoll_pwait);
    FIND(epoll_ctl);
    FIND(getpeername);
    FIND(getsockname);
    FIND(setsockopt);
    FIND(getsockopt);
    FIND(fcntl);
    FIND(ioctl);
    FIND(dup);
    FIND(dup2);
    FIND(dup3);
}

const struct real *rp_real(void)
{
    pthread_once(&once, find_all);
    return &real;
}

void rp_say(const char *format, ...)
{
    char line[256];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    fprintf(stderr, "oche: librspreload: %s\n", line);
}
