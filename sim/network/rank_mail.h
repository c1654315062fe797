/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How messages get from one rank to another: over MPI (cli/mpi/mail.c), or over sockets between
 * processes of one test.
 */
#ifndef OCHE_SIM_NETWORK_RANK_MAIL_H
#define OCHE_SIM_NETWORK_RANK_MAIL_H

#include "core/base.h"

#define OCHE_MOST_RANKS 128

/* Bytes of a message; `read` of them have been taken out. */
struct oche_rank_bytes {
    char *at;
    size_t count, capacity, read;
};

struct oche_rank_mail {
    uint32_t rank, count;
    /*
     * Sends out[r] to each other rank r, and fills in[r] with what that sent here. Returns when all
     * have come. If a rank is gone, it ends the process.
     */
    void (*exchange)(struct oche_rank_mail *mail, const struct oche_rank_bytes *out,
                     struct oche_rank_bytes *in);
};

/* Makes room for `count` bytes at the end, and returns where; they count from now on. */
void *oche_rank_room(struct oche_rank_bytes *bytes, size_t count);
void oche_rank_put(struct oche_rank_bytes *bytes, const void *from, size_t count);
/*
 * Returns the next `count` bytes of a message, with any alignment. The message must have so many
 * left.
 */
const void *oche_rank_take(struct oche_rank_bytes *bytes, size_t count);
void oche_rank_get(struct oche_rank_bytes *bytes, void *to, size_t count);
static inline bool oche_rank_has_more(const struct oche_rank_bytes *bytes)
{
    return bytes->read < bytes->count;
}

#endif
