/* SPDX-License-Identifier: Apache-2.0 */
/* The links of a device, as links.c and changes.c know them. */
#ifndef OCHE_DEVICE_LINK_LINKS_INTERNAL_H
#define OCHE_DEVICE_LINK_LINKS_INTERNAL_H

#include "device/link/hold.h"
#include "device/link/links.h"
#include "fabric/ecn.h"

#define MOST_OF_PEERS (2 * OCHE_LINK_RULES)
#define MOST_LINKS    (MOST_OF_PEERS + 2) /* one for all peers, by direction, always has room */
#define MOST_CHANGES  16                  /* that are in force on a link at a time */
#define CHANGE_BYTES  256

/* A change at run time: on top of the rule's step, and of changes before it. */
struct change {
    oche_time since, until;
    char text[CHANGE_BYTES];
};

/* A line of one rate. Links of one rule share it, and those that were made for single peers. */
struct line {
    struct oche_shared_port port;
    uint64_t name, rate_bps;
    uint64_t packets; /* so many can wait */
    uint32_t number;  /* of all lines so far, from 1 */
    unsigned users;   /* links; 0: the line is closed */
};

struct state {
    const struct oche_link_rule *rule;
    uint8_t direction;
    bool made;     /* at run time; without changes it is as if it were not there */
    unsigned step; /* of the rule's, in force */
    unsigned change_count;
    oche_time next_end; /* of a change */
    struct oche_link link;
    struct oche_red_ramp ramp;
    struct oche_random red;
    struct line *line;               /* NULL: the link has no rate */
    uint32_t parcels;                /* on the link */
    struct oche_link_rule made_rule; /* if it was made at run time */
    struct change changes[MOST_CHANGES];
};

struct oche_links {
    struct oche_link_plan plan;
    struct oche_link_step none; /* of links that the plan does not have */
    uint64_t seed;
    bool cut;
    char path[OCHE_SHARED_PORT_PATH]; /* of shared ports; empty: none */
    const struct oche_clock *clock;
    unsigned count;
    uint32_t packet_bytes;
    struct state states[MOST_LINKS];
    struct line lines[MOST_LINKS + 1]; /* a link has its old line while it opens another one */
    uint32_t lines_opened;
    struct oche_hold holds[2];     /* by direction */
    uint64_t lost[2];              /* by direction, on links whose place another one has */
    struct oche_links_report past; /* of these links */
};

static inline struct oche_hold *hold_of(struct oche_links *links, uint8_t direction)
{
    return &links->holds[direction == OCHE_LINK_OUT];
}

/* Returns the rule's step that is in force. */
static inline const struct oche_link_step *step_of(const struct oche_links *links,
                                                   const struct state *state)
{
    return state->rule->count == 0 ? &links->none
                                   : &links->plan.steps[state->rule->first + state->step];
}

/* True for a link that was made at run time and whose changes are over. */
static inline bool is_over(const struct oche_links *links, const struct state *state)
{
    return state->made && state->change_count == 0 && !links->cut;
}

/* links.c: the number of packets that a link has lost. */
uint64_t links_lost_on(const struct oche_link *link);
/* links.c: adds what a link has done. */
void links_add_report(const struct oche_link *link, struct oche_links_report *report);
/* links.c: begins a link whose rule and direction are known. `entity`: no other link has it. */
bool links_begin(struct oche_links *links, struct state *state, uint64_t entity);
/*
 * links.c: computes what follows from the parameters in force, and opens the port that they need.
 * Returns false without memory; the port is as before then.
 */
bool links_parameters_changed(struct oche_links *links, struct state *state);
/* links.c: the link leaves its line. */
void links_leave_line(struct state *state);
/* changes.c: returns the link for this peer alone (NULL: for peers without one of their own), or
 * NULL. */
struct state *links_exact(struct oche_links *links, uint8_t direction,
                          const struct oche_address *peer);
/* changes.c: brings the rule's step into force whose time has come, and ends changes. */
void links_advance(struct oche_links *links, struct state *state, oche_time now);

#endif
