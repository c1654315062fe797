/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks that are processes of one test, joined by sockets instead of MPI. */
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
 * Makes `count` ranks. The caller is rank 0. The others are its children, which return from this
 * function, too. A child ends by rank_sockets_close, or if another rank is gone.
 */
void rank_sockets_open(struct rank_sockets *sockets, uint32_t count);
/* Children do not return from this. Rank 0 waits for them, and fails if one had an error. */
void rank_sockets_close(struct rank_sockets *sockets);

#endif
