/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The links of a device; see links.h. With marks, a packet's fate is decided when its transmission
 * starts, as only then is known what waits behind it; otherwise at once.
 */
#include "device/link/links.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/wire/frame.h"
#include "device/link/hold.h"
#include "fabric/ecn.h"

#define MOST_LINKS   (2 * OCHE_LINK_RULES)
#define SLOTS        (UINT32_C(1) << 15) /* packets on their way, in each direction */
#define LEAST_FRAME  64                  /* bytes; more packets than that cannot wait */
#define MOST_WAITING SLOTS
#define ECN_MASK     UINT8_C(3)

struct state {
    const struct oche_link_rule *rule;
    uint8_t direction;
    unsigned step; /* of the rule's, in force */
    bool changed;  /* at run time: the rule's steps wait until … */
    oche_time changed_until;
    struct oche_link link;
    struct oche_red_ramp ramp;
    struct oche_random red;
    struct oche_shared_port port;
};

struct oche_links {
    struct oche_link_plan plan;
    uint64_t seed;
    bool cut;
    char path[OCHE_SHARED_PORT_PATH]; /* of shared ports; empty: none */
    const struct oche_clock *clock;
    unsigned count;
    uint32_t packet_bytes;
    struct state states[MOST_LINKS];
    struct oche_hold holds[2]; /* by direction */
};

static struct oche_hold *hold_of(struct oche_links *links, uint8_t direction)
{
    return &links->holds[direction == OCHE_LINK_OUT];
}

/* ---- opening and closing ---- */

static size_t slot_bytes(const struct oche_links *links)
{
    return oche_lines(sizeof(struct oche_parcel)) + oche_lines(links->packet_bytes);
}

static const struct oche_link_step *step_of(const struct oche_links *links,
                                            const struct state *state)
{
    return &links->plan.steps[state->rule->first + state->step];
}

/* Computes what follows from the parameters in force. */
static void parameters_changed(struct state *state)
{
    const struct oche_link_params *params = &state->link.params;
    struct oche_switch_params marks = {.ecn = params->ecn_min_bytes != OCHE_NEVER,
                                       .kmin_bytes = params->ecn_min_bytes,
                                       .kmax_bytes = params->ecn_max_bytes,
                                       .pmax = params->ecn_pmax};

    if (marks.ecn && marks.kmax_bytes == OCHE_NEVER)
        marks.kmax_bytes = marks.kmin_bytes;
    state->ramp = oche_red_ramp(&marks, params->rate_bps);
}

/* Returns the largest queue of the rule's steps and of the parameters in force; 0: no rate. */
static uint64_t largest_queue(const struct oche_links *links, const struct state *state)
{
    const struct oche_link_rule *rule = state->rule;
    uint64_t most = state->link.params.rate_bps != 0 ? state->link.params.queue_bytes : 0;

    for (unsigned i = 0; i < rule->count; i++) {
        const struct oche_link_params *params = &links->plan.steps[rule->first + i].params;

        if (params->rate_bps != 0 && params->queue_bytes > most)
            most = params->queue_bytes;
    }
    return most;
}

/* Returns a number for the port: processes with the same rule share it. */
static uint64_t port_name(const struct oche_links *links, const struct state *state)
{
    const struct oche_link_rule *rule = state->rule;
    uint64_t name = oche_mix64(state->direction + UINT64_C(2) * rule->of_peer), words[2];

    memcpy(words, rule->peer.ip, sizeof(words));
    name = oche_mix64(oche_mix64(name ^ words[0]) ^ words[1]);
    for (unsigned i = 0; i < rule->count; i++) {
        const struct oche_link_params *params = &links->plan.steps[rule->first + i].params;

        name = oche_mix64(oche_mix64(name ^ params->rate_bps) ^ params->queue_bytes);
    }
    return name;
}

/* Opens the port of a link that has a rate, unless it is open. Returns false without memory. */
static bool open_port(struct oche_links *links, struct state *state)
{
    const char *above = links->path[0] != '\0' ? links->path : NULL;
    const uint64_t queue = largest_queue(links, state);
    uint64_t packets = queue / LEAST_FRAME + 1;
    char path[OCHE_SHARED_PORT_PATH];

    if (queue == 0 || state->port.memory != NULL)
        return true;
    if (packets > MOST_WAITING)
        packets = MOST_WAITING;
    if (above != NULL && (size_t)snprintf(path, sizeof(path), "%s-%016" PRIx64, above,
                                          port_name(links, state)) >= sizeof(path))
        above = NULL;
    return oche_shared_port_open(&state->port, above != NULL ? path : NULL, packets, links->clock);
}

static bool add_link(struct oche_links *links, const struct oche_link_rule *rule, uint8_t direction)
{
    const uint64_t entity = 2 * (uint64_t)(rule - links->plan.rules) + (direction == OCHE_LINK_OUT);
    struct state *state = &links->states[links->count++];
    struct oche_link_params params = links->plan.steps[rule->first].params;

    *state = (struct state){.rule = rule, .direction = direction, .port = {.file = -1}};
    if (params.seed == 0)
        params.seed = links->seed;
    oche_link_init(&state->link, &params, entity, 0);
    state->red = oche_random_stream(params.seed, "link red", entity);
    parameters_changed(state);
    return open_port(links, state);
}

static bool add_links(struct oche_links *links)
{
    for (unsigned i = 0; i < links->plan.rule_count; i++) {
        const struct oche_link_rule *rule = &links->plan.rules[i];

        if ((rule->directions & OCHE_LINK_IN) && !add_link(links, rule, OCHE_LINK_IN))
            return false;
        if ((rule->directions & OCHE_LINK_OUT) && !add_link(links, rule, OCHE_LINK_OUT))
            return false;
    }
    return oche_hold_open(&links->holds[0], slot_bytes(links), SLOTS) &&
           oche_hold_open(&links->holds[1], slot_bytes(links), SLOTS);
}

struct oche_links *oche_links_open(const struct oche_links_config *config, struct oche_error *error)
{
    struct oche_links *links = calloc(1, sizeof(*links));

    if (links != NULL) {
        links->plan = config->plan != NULL ? *config->plan : (struct oche_link_plan){0};
        links->seed = config->seed;
        if (config->path != NULL)
            snprintf(links->path, sizeof(links->path), "%s", config->path);
        links->clock = config->clock;
        links->packet_bytes = config->packet_bytes;
        if (add_links(links))
            return links;
        oche_links_close(links);
    }
    oche_fail(error, "out of memory for the packets on a link");
    return NULL;
}

void oche_links_close(struct oche_links *links)
{
    if (links == NULL)
        return;
    for (unsigned i = 0; i < links->count; i++)
        oche_shared_port_close(&links->states[i].port);
    oche_hold_close(&links->holds[0]);
    oche_hold_close(&links->holds[1]);
    free(links);
}

void oche_links_leave(struct oche_links *links)
{
    for (unsigned i = 0; links != NULL && i < links->count; i++)
        oche_shared_port_leave(&links->states[i].port);
}

/* ---- sending ---- */

int oche_links_find(const struct oche_links *links, uint8_t direction,
                    const struct oche_address *peer)
{
    int found = OCHE_NO_LINK;

    for (unsigned i = 0; i < links->count; i++) {
        const struct state *state = &links->states[i];

        if (state->direction != direction)
            continue;
        if (!state->rule->of_peer)
            found = (int)i;
        else if (memcmp(&state->rule->peer, peer, sizeof(*peer)) == 0)
            return (int)i;
    }
    return found;
}

/* Brings the rule's step into force whose time has come, once no change is in force. */
static void advance_steps(struct oche_links *links, struct state *state, oche_time now)
{
    const bool ends = state->changed && now >= state->changed_until;
    const unsigned before = state->step;

    while (state->step + 1 < state->rule->count &&
           links->plan.steps[state->rule->first + state->step + 1].at <= now)
        state->step++;
    if (ends)
        state->changed = false;
    if (state->changed || (state->step == before && !ends))
        return;
    oche_link_change(&state->link, &step_of(links, state)->params, step_of(links, state)->at);
    parameters_changed(state);
}

/* ---- changes at run time ---- */

static struct state *exact_link(struct oche_links *links, uint8_t direction,
                                const struct oche_address *peer)
{
    for (unsigned i = 0; i < links->count; i++) {
        struct state *state = &links->states[i];

        if (state->direction == direction && state->rule->of_peer == (peer != NULL) &&
            (peer == NULL || memcmp(&state->rule->peer, peer, sizeof(*peer)) == 0))
            return state;
    }
    return NULL;
}

/* Makes a link for the peers that `peer` says, with the parameters of the link that they have. */
static struct state *make_link(struct oche_links *links, uint8_t direction,
                               const struct oche_address *peer)
{
    struct oche_link_plan *plan = &links->plan;
    const struct state *general = peer != NULL ? exact_link(links, direction, NULL) : NULL;
    struct oche_link_rule *rule = &plan->rules[plan->rule_count];
    struct oche_link_step *step = &plan->steps[plan->step_count];

    if (plan->rule_count == OCHE_LINK_RULES || plan->step_count == OCHE_LINK_STEPS ||
        links->count == MOST_LINKS)
        return NULL;
    *rule = (struct oche_link_rule){.of_peer = peer != NULL,
                                    .peer = peer != NULL ? *peer : (struct oche_address){{0}},
                                    .directions = direction,
                                    .first = plan->step_count,
                                    .count = 1};
    *step = (struct oche_link_step){.at = 0};
    if (general != NULL)
        step->params = step_of(links, general)->params;
    else
        oche_param_defaults(&oche_link_params, &step->params);
    plan->rule_count++;
    plan->step_count++;
    return add_link(links, rule, direction) ? &links->states[links->count - 1] : NULL;
}

/* True if the change is for this link. */
static bool concerns(struct oche_links *links, const struct state *state, uint8_t directions,
                     const struct oche_address *peer)
{
    return (state->direction & directions) != 0 &&
           (peer == NULL || state == exact_link(links, state->direction, peer));
}

/* Computes the parameters of a link after the change. Returns false, with an error. */
static bool changed_params(const struct state *state, const char *text,
                           struct oche_link_params *params, struct oche_error *error)
{
    *params = state->link.params;
    if (!oche_link_params_parse(params, text, error))
        return false;
    return params->seed == state->link.params.seed ||
           oche_fail(error, "seed: cannot be changed at run time; leave it out");
}

bool oche_links_change(struct oche_links *links, uint8_t directions,
                       const struct oche_address *peer, const char *text, oche_time now,
                       oche_time until, struct oche_error *error)
{
    struct oche_link_params params;

    for (uint8_t direction = OCHE_LINK_IN; direction <= OCHE_LINK_OUT; direction++)
        if ((directions & direction) != 0 && exact_link(links, direction, peer) == NULL &&
            make_link(links, direction, peer) == NULL)
            return oche_fail(error, "no room for another link: a device has at most %d rules",
                             OCHE_LINK_RULES);
    for (unsigned i = 0; i < links->count; i++) { /* all or none */
        advance_steps(links, &links->states[i], now);
        if (concerns(links, &links->states[i], directions, peer) &&
            !changed_params(&links->states[i], text, &params, error))
            return false;
    }
    for (unsigned i = 0; i < links->count; i++) {
        struct state *state = &links->states[i];

        if (!concerns(links, state, directions, peer) ||
            !changed_params(state, text, &params, error))
            continue;
        oche_link_change(&state->link, &params, now);
        parameters_changed(state);
        state->changed = true;
        state->changed_until = until;
        if (!open_port(links, state)) {
            oche_links_restore(links, now);
            return oche_fail(error, "out of memory for a queue");
        }
    }
    return true;
}

bool oche_links_cut(struct oche_links *links, bool cut)
{
    for (uint8_t direction = OCHE_LINK_IN; cut && direction <= OCHE_LINK_OUT; direction++)
        if (exact_link(links, direction, NULL) == NULL && make_link(links, direction, NULL) == NULL)
            return false;
    links->cut = cut;
    return true;
}

void oche_links_restore(struct oche_links *links, oche_time now)
{
    for (unsigned i = 0; i < links->count; i++)
        if (links->states[i].changed) {
            links->states[i].changed_until = now;
            advance_steps(links, &links->states[i], now);
        }
}

/* The packet's last bit leaves at `left`: decides on its way. Returns false if it is lost. */
static bool start_crossing(struct state *state, struct oche_parcel *parcel, oche_time left)
{
    parcel->waits = false;
    oche_link_cross(&state->link, left, parcel->count, &parcel->fate);
    if (parcel->fate.corrupt)
        parcel->bytes[parcel->fate.bit / 8] ^= (uint8_t)(1U << parcel->fate.bit % 8);
    return parcel->fate.copies > 0;
}

struct oche_parcel *oche_links_send(struct oche_links *links, int link, oche_time now,
                                    const uint8_t *bytes, uint32_t count, uint32_t frame_bytes,
                                    uint8_t tos)
{
    struct state *state = &links->states[link];
    struct oche_hold *hold = hold_of(links, state->direction);
    struct oche_link_departure departure = {.leaves = now};
    struct oche_parcel *parcel;
    oche_time due;

    advance_steps(links, state, now);
    if (links->cut) {
        state->link.lost[OCHE_LINK_LOST_DOWN]++;
        return NULL;
    }
    const struct oche_link_params *params = &state->link.params;
    if (count > links->packet_bytes ||
        (params->rate_bps != 0 &&
         !oche_shared_port_take(&state->port, now, frame_bytes, OCHE_GAP_BYTES, params->rate_bps,
                                params->queue_bytes, &departure)) ||
        (parcel = oche_hold_take(hold)) == NULL) {
        state->link.lost[OCHE_LINK_LOST_QUEUE]++;
        return NULL;
    }
    parcel->count = count;
    parcel->tos = tos;
    parcel->link = (uint8_t)link;
    parcel->frame_bytes = frame_bytes;
    parcel->departure = departure;
    parcel->bytes = (uint8_t *)parcel + oche_lines(sizeof(*parcel));
    memcpy(parcel->bytes, bytes, count);
    parcel->waits = params->rate_bps != 0 && params->ecn_min_bytes != OCHE_NEVER;
    if (!parcel->waits && !start_crossing(state, parcel, departure.leaves)) {
        oche_hold_give_back(hold, parcel);
        return NULL;
    }
    due = parcel->waits ? departure.starts : parcel->fate.arrives[0];
    oche_hold_put(hold, parcel, due);
    return parcel;
}

/* ---- arriving ---- */

/* The parcel's transmission starts: marks it, if the queue behind it is long. */
static void mark(struct state *state, struct oche_parcel *parcel)
{
    const struct oche_packet packet = {.ecn = parcel->tos & ECN_MASK};
    const uint64_t behind = oche_shared_port_behind(&state->port, &parcel->departure);

    if (behind <= state->ramp.kmin || !oche_ecn_capable(&packet) ||
        !oche_red_chooses(&state->ramp, &state->red, &packet, behind))
        return;
    parcel->tos |= OCHE_ECN_CE;
    state->link.marked++;
}

struct oche_parcel *oche_links_arrived(struct oche_links *links, uint8_t direction, oche_time now)
{
    struct oche_hold *hold = hold_of(links, direction);
    struct oche_parcel *parcel;

    while ((parcel = oche_hold_due(hold, now)) != NULL) {
        struct state *state = &links->states[parcel->link];

        if (!parcel->waits)
            return parcel;
        mark(state, parcel);
        if (start_crossing(state, parcel, parcel->departure.leaves))
            oche_hold_put(hold, parcel, parcel->fate.arrives[0]);
        else
            oche_hold_give_back(hold, parcel);
    }
    return NULL;
}

void oche_links_done(struct oche_links *links, struct oche_parcel *parcel)
{
    struct oche_hold *hold = hold_of(links, links->states[parcel->link].direction);

    if (parcel->fate.copies-- > 1)
        oche_hold_put(hold, parcel, parcel->fate.arrives[1]);
    else
        oche_hold_give_back(hold, parcel);
}

void oche_links_defer(struct oche_links *links, struct oche_parcel *parcel, oche_time when)
{
    oche_hold_put(hold_of(links, links->states[parcel->link].direction), parcel, when);
}

/* ---- queries ---- */

oche_time oche_links_next(const struct oche_links *links, uint8_t direction)
{
    return oche_hold_next(&links->holds[direction == OCHE_LINK_OUT]);
}

oche_time oche_links_last(const struct oche_links *links)
{
    return links->holds[1].count > 0 ? links->holds[1].latest : 0;
}

uint64_t oche_links_lost(const struct oche_links *links, uint8_t direction)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < links->count; i++)
        for (unsigned cause = 0; cause < OCHE_LINK_LOSSES; cause++)
            if (links->states[i].direction == direction)
                sum += links->states[i].link.lost[cause];
    return sum;
}
