/* SPDX-License-Identifier: Apache-2.0 */
/* Sockets that are only for sending, and how one of them is chosen. */
#include "device/path/source_ports.h"

#include <errno.h>
#include <unistd.h>

/* Returns the first port of the range with this remainder. */
static uint32_t first_of(uint32_t remainder, uint32_t divisor)
{
    return OCHE_FIRST_SOURCE_PORT +
           (remainder + divisor - OCHE_FIRST_SOURCE_PORT % divisor) % divisor;
}

/* Binds `fd` to any free port with this remainder. Returns 0 if there is none. */
static uint16_t bind_to_one(int fd, const struct oche_address *address, uint32_t remainder,
                            uint32_t divisor, struct oche_entropy *entropy)
{
    const uint32_t first = first_of(remainder, divisor);
    const uint32_t count = (OCHE_LAST_SOURCE_PORT - first) / divisor + 1;
    uint32_t at = (uint32_t)oche_entropy_below(entropy, count);

    for (uint32_t tries = 0; tries < count; tries++, at = at + 1 < count ? at + 1 : 0) {
        const uint16_t port = (uint16_t)(first + at * divisor);

        if (oche_socket_bind(fd, address, port))
            return port;
        if (errno != EADDRINUSE)
            return 0;
    }
    return 0;
}

static bool open_one(struct oche_source_ports *ports, const struct oche_address *address,
                     uint32_t remainder, struct oche_entropy *entropy)
{
    const int fd = oche_socket_open_sender(address);
    const uint16_t port = fd >= 0 ? bind_to_one(fd, address, remainder, ports->wanted, entropy) : 0;

    if (port == 0) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    ports->of[remainder] = (uint8_t)ports->count;
    ports->fds[ports->count] = fd;
    ports->ports[ports->count++] = port;
    return true;
}

void oche_source_ports_open(struct oche_source_ports *to_open, const struct oche_socket *device,
                            const struct oche_address *address, uint16_t device_port,
                            unsigned wanted, struct oche_entropy *entropy)
{
    unsigned stand_in = 0;

    *to_open = (struct oche_source_ports){.wanted = wanted, .own = true};
    for (unsigned i = 0; i < wanted && wanted > 1; i++)
        if (!open_one(to_open, address, i, entropy))
            to_open->of[i] = UINT8_MAX;
    if (to_open->count == 0) {
        to_open->own = false;
        to_open->fds[0] = device->fd;
        to_open->ports[0] = device_port;
        to_open->count = 1;
        return;
    }
    for (unsigned i = 0; i < wanted; i++)
        if (to_open->of[i] == UINT8_MAX)
            to_open->of[i] = (uint8_t)(stand_in++ % to_open->count);
}

void oche_source_ports_close(struct oche_source_ports *to_close)
{
    for (unsigned i = 0; to_close->own && i < to_close->count; i++)
        close(to_close->fds[i]);
    *to_close = (struct oche_source_ports){0};
}
