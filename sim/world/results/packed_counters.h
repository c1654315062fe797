/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packs structs of counters that are mostly 0: a bit for each word tells whether the word is
 * present, and the present words follow. Used for messages between ranks, and for storing results.
 */
#ifndef OCHE_SIM_WORLD_RESULTS_PACKED_COUNTERS_H
#define OCHE_SIM_WORLD_RESULTS_PACKED_COUNTERS_H

#include "sim/network/rank_mail.h"

#define OCHE_PACKED_WORDS 512 /* of a struct, at most */

/* Memory for packed structs. A zeroed one is empty. */
struct oche_packed_store {
    struct oche_packed_chunk *chunks;
    size_t left; /* words in the first */
};

void oche_packed_free(struct oche_packed_store *store);

/* Puts a struct of `bytes`, a multiple of 8, into a message. */
void oche_packed_put(struct oche_rank_bytes *message, const void *from, size_t bytes);
/* Takes one out of a message, as it is. Returns where it is in the store. */
const uint64_t *oche_packed_get(struct oche_packed_store *store, struct oche_rank_bytes *message,
                                size_t bytes);
/* Makes the struct of what is packed; all is 0 if `packed` is NULL. */
void oche_packed_open(const uint64_t *packed, void *to, size_t bytes);

#endif
