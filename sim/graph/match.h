/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matches messages to receives, as MPI does: by source and tag, each of which a receive may leave
 * open. Of several receives that fit a message, the one that was posted first gets it; of several
 * messages that fit a receive, the one that arrived first. Both sides wait here for the other.
 */
#ifndef OCHE_SIM_GRAPH_MATCH_H
#define OCHE_SIM_GRAPH_MATCH_H

#include "core/base.h"

#define OCHE_NO_MATCH UINT32_MAX

struct oche_match;

struct oche_match *oche_match_create(void);
void oche_match_free(struct oche_match *match);

/*
 * Posts a receive; source and tag may be OCHE_GOAL_ANY. Returns the handle of the message that
 * fits, which waits no longer; OCHE_NO_MATCH: `handle` of the receive waits. Handles are the
 * caller's, below OCHE_NO_MATCH.
 */
uint32_t oche_match_post(struct oche_match *match, uint32_t source, uint32_t tag, uint32_t handle);
/* A message has arrived. Returns the handle of the receive that fits, or OCHE_NO_MATCH: it waits.
 */
uint32_t oche_match_arrive(struct oche_match *match, uint32_t source, uint32_t tag,
                           uint32_t handle);

/* Return how many receives, and messages, wait. */
uint32_t oche_match_posted(const struct oche_match *match);
uint32_t oche_match_unexpected(const struct oche_match *match);

/* A receive or a message that waits. */
struct oche_match_waits {
    uint32_t source, tag, handle;
};
/* Return the one of them that waits longest; there must be one. */
struct oche_match_waits oche_match_first_posted(const struct oche_match *match);
struct oche_match_waits oche_match_first_unexpected(const struct oche_match *match);

#endif
