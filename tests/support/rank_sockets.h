/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks that are processes of one test, joined by sockets: what MPI does, without mpirun. */
#ifndef OCHE_TESTS_SUPPORT_RANK_SOCKETS_H
#define OCHE_TESTS_SUPPORT_RANK_SOCKETS_H

#include <sys/types.h>

#include "sim/network/rank_mail.h"

struct rank_sockets {
    struct oche_rank_mail mail;
    int to[OCHE_MOST_RANKS]; /* -1: this rank, or none */
    pid_t children[OCHE_MOST_RANKS];
};

/*
 * Makes `count` ranks: the caller is rank 0, and the others are its children, which return from
 * this, too. A child ends by rank_sockets_close, or if another rank is gone.
 */
void rank_sockets_open(struct rank_sockets *sockets, uint32_t count);
/* Children do not return from this. Rank 0 waits for them, and fails unless all ended well. */
void rank_sockets_close(struct rank_sockets *sockets);

#endif
