/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks that are processes of one test. */
#include "tests/support/rank_sockets.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* One rank's messages to another one and back; each begins with its length. */
struct way {
    size_t sent, received;
    uint64_t out, in; /* lengths */
};

static void end(const struct oche_rank_mail *mail, uint32_t other)
{
    fprintf(stderr, "rank %u: rank %u is gone\n", mail->rank, other);
    if (mail->rank == 0)
        abort();
    _exit(1);
}

/* Moves as much as possible of `bytes`, which begin with `head`. Returns false at the end. */
static bool move(int fd, bool out, uint64_t *head, char *bytes, size_t count, size_t *done)
{
    char *at = *done < sizeof(*head) ? (char *)head + *done : bytes + *done - sizeof(*head);
    size_t left = *done < sizeof(*head) ? sizeof(*head) - *done : count + sizeof(*head) - *done;
    ssize_t moved = left == 0 ? 0
                    : out     ? send(fd, at, left, MSG_NOSIGNAL | MSG_DONTWAIT)
                              : recv(fd, at, left, MSG_DONTWAIT);

    if (moved < 0 && (errno == EAGAIN || errno == EINTR))
        return true;
    if (left > 0 && moved <= 0)
        return false;
    *done += (size_t)moved;
    return true;
}

static bool step(int fd, struct way *way, const struct oche_rank_bytes *out,
                 struct oche_rank_bytes *in)
{
    if (way->sent < out->count + sizeof(way->out) &&
        !move(fd, true, &way->out, out->at, out->count, &way->sent))
        return false;
    if (way->received < sizeof(way->in))
        return move(fd, false, &way->in, NULL, 0, &way->received);
    if (in->count == 0 && way->in > 0)
        oche_rank_room(in, way->in);
    return way->received == way->in + sizeof(way->in) ||
           move(fd, false, &way->in, in->at, in->count, &way->received);
}

static bool is_over(const struct way *way, const struct oche_rank_bytes *out)
{
    return way->sent == out->count + sizeof(way->out) && way->received >= sizeof(way->in) &&
           way->received == way->in + sizeof(way->in);
}

static void exchange(struct oche_rank_mail *mail, const struct oche_rank_bytes *out,
                     struct oche_rank_bytes *in)
{
    struct rank_sockets *sockets = (struct rank_sockets *)mail;
    struct way ways[OCHE_MOST_RANKS] = {{.sent = 0}};
    struct pollfd polls[OCHE_MOST_RANKS];

    for (uint32_t r = 0; r < mail->count; r++)
        ways[r].out = out[r].count;
    for (;;) {
        nfds_t count = 0;

        for (uint32_t r = 0; r < mail->count; r++) {
            if (r == mail->rank || is_over(&ways[r], &out[r]))
                continue;
            if (!step(sockets->to[r], &ways[r], &out[r], &in[r]))
                end(mail, r);
            if (is_over(&ways[r], &out[r]))
                continue;
            polls[count].fd = sockets->to[r];
            polls[count++].events =
                (short)(POLLIN | (ways[r].sent < out[r].count + sizeof(ways[r].out) ? POLLOUT : 0));
        }
        if (count == 0)
            return;
        poll(polls, count, -1);
    }
}

void rank_sockets_open(struct rank_sockets *sockets, uint32_t count)
{
    static int pairs[OCHE_MOST_RANKS][OCHE_MOST_RANKS];
    uint32_t own = 0;

    for (uint32_t a = 0; a < count; a++)
        for (uint32_t b = a + 1; b < count; b++) {
            int pair[2];

            OCHE_GOT(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
            pairs[a][b] = pair[0];
            pairs[b][a] = pair[1];
        }
    fflush(NULL);
    *sockets = (struct rank_sockets){.mail = {.count = count, .exchange = exchange}};
    for (uint32_t r = 1; r < count && own == 0; r++) {
        sockets->children[r] = fork();
        OCHE_GOT(sockets->children[r] >= 0);
        own = sockets->children[r] == 0 ? r : 0;
    }
    sockets->mail.rank = own;
    for (uint32_t a = 0; a < count; a++)
        for (uint32_t b = 0; b < count; b++)
            if (a == own && b != own)
                sockets->to[b] = pairs[a][b];
            else if (a != b)
                close(pairs[a][b]);
    sockets->to[own] = -1;
}

void rank_sockets_close(struct rank_sockets *sockets)
{
    for (uint32_t r = 0; r < sockets->mail.count; r++)
        if (r != sockets->mail.rank)
            close(sockets->to[r]);
    if (sockets->mail.rank != 0)
        _exit(0);
    for (uint32_t r = 1; r < sockets->mail.count; r++) {
        int status;

        OCHE_MUST(waitpid(sockets->children[r], &status, 0) == sockets->children[r]);
        OCHE_MUST(status == 0);
    }
}
