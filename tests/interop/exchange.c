/* SPDX-License-Identifier: Apache-2.0 */
/* The out-of-band exchange. */
#include "tests/interop/exchange.h"

#include <errno.h>
#include <sys/socket.h>

static bool send_all(int fd, const void *bytes, size_t count)
{
    return send(fd, bytes, count, MSG_NOSIGNAL) == (ssize_t)count;
}

bool exchange_endpoints(int fd, const struct endpoint *mine, struct endpoint *theirs)
{
    if (!send_all(fd, mine, sizeof(*mine)))
        return false;
    if (recv(fd, theirs, sizeof(*theirs), MSG_WAITALL) != (ssize_t)sizeof(*theirs))
        return false;
    theirs->address[sizeof(theirs->address) - 1] = '\0';
    return true;
}

bool exchange_say(int fd, char step)
{
    return send_all(fd, &step, 1);
}

int exchange_hear(int fd)
{
    char step;
    const ssize_t got = recv(fd, &step, 1, MSG_DONTWAIT);

    if (got == 1)
        return step;
    return got < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -1;
}
