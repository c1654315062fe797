/* SPDX-License-Identifier: Apache-2.0 */
/* Sockets in memory: an inbox for each socket that receives, and a table of bound addresses. */
#include "tests/support/memory_wire.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FDS     1024
#define RECEIVE (UINT32_C(8) << 20)

struct letter {
    struct oche_address from;
    uint16_t from_port;
    uint8_t tos;
    uint32_t count, segment_bytes;
    uint8_t bytes[];
};

struct oche_socket_scratch {
    struct letter *inbox[MEMORY_WIRE_INBOX]; /* a ring */
    unsigned head, tail;
    struct letter *read[OCHE_SOCKET_IN]; /* since the last receive */
    unsigned read_count;
};

/* By descriptor. The descriptors are of /dev/null, so they are unique and can be closed. */
static struct bound {
    struct oche_address address;
    uint16_t port;              /* 0: not bound */
    struct oche_socket *socket; /* its inbox; NULL: it only sends */
} bound[FDS];
static int highest = -1; /* the highest descriptor that has been used */
static uint64_t lost;

static int new_fd(void)
{
    const int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

    OCHE_MUST(fd < FDS);
    if (fd >= 0)
        bound[fd] = (struct bound){.port = 0};
    if (fd > highest)
        highest = fd;
    return fd;
}

static struct bound *find(const struct oche_address *address, uint16_t port)
{
    for (int fd = 0; fd <= highest; fd++)
        if (bound[fd].port == port && memcmp(&bound[fd].address, address, sizeof(*address)) == 0)
            return &bound[fd];
    return NULL;
}

bool oche_socket_bind(int fd, const struct oche_address *address, uint16_t port)
{
    if (find(address, port) != NULL) {
        errno = EADDRINUSE;
        return false;
    }
    bound[fd].address = *address;
    bound[fd].port = port;
    return true;
}

int oche_socket_open_sender(const struct oche_address *address)
{
    (void)address;
    return new_fd();
}

bool oche_socket_open(struct oche_socket *to_open, const struct oche_address *address,
                      uint16_t port, const struct oche_socket_options *options,
                      struct oche_error *error)
{
    *to_open = (struct oche_socket){.fd = new_fd(),
                                    .ipv6 = !oche_address_is_ipv4(address),
                                    .gso = !options->no_gso,
                                    .gro = !options->no_gro,
                                    .receive_bytes = RECEIVE};
    to_open->scratch = calloc(1, sizeof(*to_open->scratch));
    if (to_open->fd < 0 || to_open->scratch == NULL ||
        !oche_socket_bind(to_open->fd, address, port)) {
        oche_fail(error, "no socket in memory: %s", strerror(errno));
        oche_socket_close(to_open);
        return false;
    }
    bound[to_open->fd].socket = to_open;
    return true;
}

static void forget_read(struct oche_socket_scratch *scratch)
{
    while (scratch->read_count > 0)
        free(scratch->read[--scratch->read_count]);
}

void memory_wire_clear(struct oche_socket *to_clear)
{
    struct oche_socket_scratch *scratch = to_clear->scratch;

    forget_read(scratch);
    while (scratch->head != scratch->tail)
        free(scratch->inbox[scratch->head++ % MEMORY_WIRE_INBOX]);
}

void oche_socket_close(struct oche_socket *to_close)
{
    if (to_close->scratch != NULL)
        memory_wire_clear(to_close);
    free(to_close->scratch);
    if (to_close->fd >= 0) {
        bound[to_close->fd] = (struct bound){.port = 0};
        close(to_close->fd);
    }
    to_close->fd = -1;
    to_close->scratch = NULL;
}

uint64_t memory_wire_lost(void)
{
    return lost;
}

/* ---- receiving ---- */

unsigned oche_socket_receive(struct oche_socket *from, struct oche_datagram_in *in)
{
    struct oche_socket_scratch *scratch = from->scratch;
    unsigned count = 0;

    forget_read(scratch);
    for (; count < OCHE_SOCKET_IN && scratch->head != scratch->tail; count++) {
        struct letter *letter = scratch->inbox[scratch->head++ % MEMORY_WIRE_INBOX];

        scratch->read[scratch->read_count++] = letter;
        in[count] = (struct oche_datagram_in){.bytes = letter->bytes,
                                              .count = letter->count,
                                              .segment_bytes = letter->segment_bytes,
                                              .from = letter->from,
                                              .from_port = letter->from_port,
                                              .tos = letter->tos};
    }
    return count;
}

void oche_socket_take_room(const struct oche_socket *of)
{
    (void)of; /* all inboxes have the same size */
}

struct oche_socket_losses oche_socket_losses(const struct oche_socket *of)
{
    (void)of;
    return (struct oche_socket_losses){0};
}

/* ---- sending ---- */

static void put(struct oche_socket *to, const struct letter *like, const uint8_t *bytes,
                uint32_t count, uint32_t segment_bytes)
{
    struct oche_socket_scratch *scratch = to->scratch;
    struct letter *letter;

    if (scratch->tail - scratch->head == MEMORY_WIRE_INBOX) {
        lost++;
        return;
    }
    letter = malloc(sizeof(*letter) + count);
    OCHE_MUST(letter != NULL);
    *letter = *like;
    letter->count = count;
    letter->segment_bytes = segment_bytes;
    memcpy(letter->bytes, bytes, count);
    scratch->inbox[scratch->tail++ % MEMORY_WIRE_INBOX] = letter;
}

static void send_one(int fd, const struct oche_datagram_out *out)
{
    static uint8_t bytes[OCHE_SOCKET_BYTES];
    struct letter like = {.from = bound[fd].address, .from_port = bound[fd].port, .tos = out->tos};
    struct oche_address address;
    struct bound *to = NULL;
    uint32_t count = 0, step;
    uint16_t port;

    for (uint32_t i = 0; i < out->piece_count; i++) {
        OCHE_MUST(count + out->pieces[i].iov_len <= sizeof(bytes));
        memcpy(bytes + count, out->pieces[i].iov_base, out->pieces[i].iov_len);
        count += (uint32_t)out->pieces[i].iov_len;
    }
    if (oche_address_from_socket(out->to, &address, &port))
        to = find(&address, port);
    if (to == NULL || to->socket == NULL) {
        lost++;
        return;
    }
    step = out->segment_bytes == 0 ? count : out->segment_bytes;
    if (to->socket->gro) {
        put(to->socket, &like, bytes, count, step);
        return;
    }
    for (uint32_t at = 0; at < count; at += step) {
        const uint32_t rest = count - at < step ? count - at : step;

        put(to->socket, &like, bytes + at, rest, rest);
    }
}

enum oche_send_result oche_socket_send(struct oche_socket *by, int fd,
                                       struct oche_datagram_out *out, unsigned count,
                                       unsigned *sent)
{
    (void)by;
    for (*sent = 0; *sent < count; ++*sent)
        send_one(fd, &out[*sent]);
    return OCHE_SEND_DONE;
}
