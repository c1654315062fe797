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

#define MOST_OF_PEERS (2 * OCHE_LINK_RULES)
#define MOST_LINKS    (MOST_OF_PEERS + 2) /* one for all peers, by direction, always has room */
#define MOST_CHANGES  16                  /* that are in force on a link at a time */
#define CHANGE_BYTES  256
#define SLOTS         (UINT32_C(1) << 15) /* packets on their way, in each direction */
#define LEAST_FRAME   64                  /* bytes; more packets than that cannot wait */
#define MOST_WAITING  SLOTS
#define ECN_MASK      UINT8_C(3)

/* A change at run time: on top of the rule's step, and of changes before it. */
struct change {
    oche_time since, until;
    char text[CHANGE_BYTES];
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
    struct oche_shared_port port;
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
    struct oche_hold holds[2]; /* by direction */
    uint64_t lost[2];          /* by direction, on links whose place another one has */
};

static uint64_t lost_on(const struct oche_link *link)
{
    uint64_t sum = 0;

    for (unsigned cause = 0; cause < OCHE_LINK_LOSSES; cause++)
        sum += link->lost[cause];
    return sum;
}

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
    return state->rule->count == 0 ? &links->none
                                   : &links->plan.steps[state->rule->first + state->step];
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

/* Begins a link whose rule and direction are known. `entity`: no other link has this number. */
static bool begin_link(struct oche_links *links, struct state *state, uint64_t entity)
{
    struct oche_link_params params = step_of(links, state)->params;

    state->port = (struct oche_shared_port){.file = -1};
    state->next_end = OCHE_NEVER;
    if (params.seed == 0)
        params.seed = links->seed;
    oche_link_init(&state->link, &params, entity, 0);
    state->red = oche_random_stream(params.seed, "link red", entity);
    parameters_changed(state);
    return open_port(links, state);
}

static bool add_link(struct oche_links *links, const struct oche_link_rule *rule, uint8_t direction)
{
    const uint64_t entity = 2 * (uint64_t)(rule - links->plan.rules) + (direction == OCHE_LINK_OUT);
    struct state *state = &links->states[links->count++];

    *state = (struct state){.rule = rule, .direction = direction};
    return begin_link(links, state, entity);
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
        oche_param_defaults(&oche_link_params, &links->none.params);
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

/* True for a link that was made at run time and whose changes are over. */
static bool is_over(const struct oche_links *links, const struct state *state)
{
    return state->made && state->change_count == 0 && !links->cut;
}

int oche_links_find(const struct oche_links *links, uint8_t direction,
                    const struct oche_address *peer)
{
    int found = OCHE_NO_LINK;

    for (unsigned i = 0; i < links->count; i++) {
        const struct state *state = &links->states[i];

        if (state->direction != direction || is_over(links, state))
            continue;
        if (!state->rule->of_peer)
            found = (int)i;
        else if (memcmp(&state->rule->peer, peer, sizeof(*peer)) == 0)
            return (int)i;
    }
    return found;
}

/*
 * Computes the parameters in force: those of the rule's step, and on top of them all changes. A
 * change that is not possible with what it is based on, such as marks without a rate, has to wait.
 */
static void compute(const struct oche_links *links, const struct state *state,
                    struct oche_link_params *params, oche_time *since)
{
    const struct oche_link_step *step = state != NULL ? step_of(links, state) : &links->none;

    *params = step->params;
    *since = step->at;
    for (unsigned i = 0; state != NULL && i < state->change_count; i++) {
        const struct change *change = &state->changes[i];
        struct oche_link_params with = *params;
        struct oche_error ignored;

        if (oche_link_params_parse(&with, change->text, &ignored))
            *params = with;
        *since = oche_time_max(*since, change->since);
    }
}

/* Brings into force what has been computed, and keeps the end that comes next. */
static void apply(struct oche_links *links, struct state *state)
{
    struct oche_link_params params;
    oche_time since;

    state->next_end = OCHE_NEVER;
    for (unsigned i = 0; i < state->change_count; i++)
        state->next_end = oche_time_min(state->next_end, state->changes[i].until);
    compute(links, state, &params, &since);
    oche_link_change(&state->link, &params, since);
    parameters_changed(state);
}

static void remove_change(struct state *state, unsigned i)
{
    state->change_count--;
    memmove(&state->changes[i], &state->changes[i + 1],
            (state->change_count - i) * sizeof(state->changes[0]));
}

/* Ends changes whose time is over. Packets that are late because of them are overtaken. */
static void end_changes(struct state *state, oche_time now)
{
    for (unsigned i = state->change_count; i-- > 0;)
        if (now >= state->changes[i].until)
            remove_change(state, i);
    oche_link_forget_order(&state->link);
}

/* Brings the rule's step into force whose time has come, and ends changes. */
static void advance_steps(struct oche_links *links, struct state *state, oche_time now)
{
    const bool ends = now >= state->next_end;
    const unsigned before = state->step;

    while (state->step + 1 < state->rule->count &&
           links->plan.steps[state->rule->first + state->step + 1].at <= now)
        state->step++;
    if (ends)
        end_changes(state, now);
    if (ends || state->step != before)
        apply(links, state);
}

/* ---- changes at run time ---- */

/* Returns the link for this peer alone, or for peers without a link of their own; or NULL. */
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

/* Returns a place for a link, perhaps of one whose changes are over; NULL: there is none. */
static struct state *place_for_link(struct oche_links *links, uint8_t direction, bool of_peer)
{
    if (links->count < (of_peer ? MOST_OF_PEERS : MOST_LINKS))
        return &links->states[links->count++];
    for (unsigned i = 0; of_peer && i < links->count; i++) {
        struct state *state = &links->states[i];

        if (!state->rule->of_peer || state->direction != direction || !is_over(links, state) ||
            hold_of(links, direction)->count > 0) /* a packet may still be on it */
            continue;
        links->lost[direction == OCHE_LINK_OUT] += lost_on(&state->link);
        oche_shared_port_close(&state->port);
        return state;
    }
    return NULL;
}

/*
 * Makes a link for the peer, or for all without one of their own. It begins as the link that the
 * peer has had, with its steps and changes.
 */
static struct state *make_link(struct oche_links *links, uint8_t direction,
                               const struct oche_address *peer)
{
    const struct state *general = peer != NULL ? exact_link(links, direction, NULL) : NULL;
    struct state *state = place_for_link(links, direction, peer != NULL);

    if (state == NULL)
        return NULL;
    *state = (struct state){.direction = direction, .made = true};
    state->rule = &state->made_rule;
    state->made_rule.of_peer = peer != NULL;
    state->made_rule.directions = direction;
    if (peer != NULL)
        state->made_rule.peer = *peer;
    if (general != NULL) {
        state->made_rule.first = general->rule->first;
        state->made_rule.count = general->rule->count;
        state->step = general->step;
    }
    if (!begin_link(links, state, MOST_LINKS + (uint64_t)(state - links->states)))
        return NULL;
    if (general != NULL) {
        state->change_count = general->change_count;
        memcpy(state->changes, general->changes, sizeof(state->changes));
        apply(links, state);
    }
    return state;
}

/* True if the change is for this link. */
static bool concerns(struct oche_links *links, const struct state *state, uint8_t directions,
                     const struct oche_address *peer)
{
    if ((state->direction & directions) == 0)
        return false;
    return state == exact_link(links, state->direction, peer) ||
           (peer == NULL && !is_over(links, state));
}

/* True if the item's key is one of the text's. Items with more than one value are not compared. */
static bool is_named(const char *item, size_t bytes, const char *text)
{
    const char *equals = memchr(item, '=', bytes);
    const size_t key = equals != NULL ? (size_t)(equals - item) + 1 : 0;

    if (key == 0 || memchr(item, ':', bytes) != NULL)
        return false;
    for (; text != NULL; text = strchr(text, ',')) {
        text += *text == ',';
        if (strncmp(text, item, key) == 0)
            return true;
    }
    return false;
}

/* True if nothing of the change is left under a later one with this text. */
static bool is_replaced(const struct change *change, const char *text, oche_time until)
{
    const char *item = change->text;

    for (; change->until <= until; item++) {
        const size_t bytes = strcspn(item, ",");

        if (!is_named(item, bytes, text))
            return false;
        item += bytes;
        if (*item == '\0')
            return true;
    }
    return false;
}

static void add_change(struct oche_links *links, struct state *state, const char *text,
                       oche_time now, oche_time until)
{
    struct change *change;

    for (unsigned i = state->change_count; i-- > 0;)
        if (is_replaced(&state->changes[i], text, until))
            remove_change(state, i);
    change = &state->changes[state->change_count++];
    *change = (struct change){.since = now, .until = until};
    snprintf(change->text, sizeof(change->text), "%s", text);
    oche_link_forget_order(&state->link);
    apply(links, state);
}

/* True if the change can be made to the link; NULL: one without a rule. */
static bool can_change(const struct oche_links *links, const struct state *state, const char *text,
                       oche_time until, struct oche_error *error)
{
    unsigned left = state != NULL ? state->change_count : 0;
    struct oche_link_params params;
    oche_time unused;
    uint64_t seed;

    compute(links, state, &params, &unused);
    seed = params.seed;
    if (!oche_link_params_parse(&params, text, error))
        return false;
    if (params.seed != seed)
        return oche_fail(error, "seed: cannot be changed at run time; leave it out");
    for (unsigned i = 0; state != NULL && i < state->change_count; i++)
        left -= is_replaced(&state->changes[i], text, until);
    return left < MOST_CHANGES ||
           oche_fail(error, "%d changes of this link are in force already; \"restore\" ends them",
                     MOST_CHANGES);
}

/* True if the change can be made to all links that it concerns. */
static bool can_change_all(struct oche_links *links, uint8_t directions,
                           const struct oche_address *peer, const char *text, oche_time until,
                           struct oche_error *error)
{
    for (uint8_t direction = OCHE_LINK_IN; direction <= OCHE_LINK_OUT; direction++)
        if ((directions & direction) != 0 && exact_link(links, direction, peer) == NULL &&
            !can_change(links, exact_link(links, direction, NULL), text, until, error))
            return false;
    for (unsigned i = 0; i < links->count; i++)
        if (concerns(links, &links->states[i], directions, peer) &&
            !can_change(links, &links->states[i], text, until, error))
            return false;
    return true;
}

bool oche_links_change(struct oche_links *links, uint8_t directions,
                       const struct oche_address *peer, const char *text, oche_time now,
                       oche_time until, struct oche_error *error)
{
    if (strlen(text) >= CHANGE_BYTES)
        return oche_fail(error, "a change has at most %d characters", CHANGE_BYTES - 1);
    for (unsigned i = 0; i < links->count; i++)
        advance_steps(links, &links->states[i], now);
    if (!can_change_all(links, directions, peer, text, until, error)) /* all or none */
        return false;
    for (uint8_t direction = OCHE_LINK_IN; direction <= OCHE_LINK_OUT; direction++)
        if ((directions & direction) != 0 && exact_link(links, direction, peer) == NULL &&
            make_link(links, direction, peer) == NULL)
            return oche_fail(error, "no room for another link: a device has at most %d of peers",
                             MOST_OF_PEERS);
    for (unsigned i = 0; i < links->count; i++) {
        struct state *state = &links->states[i];

        if (!concerns(links, state, directions, peer))
            continue;
        add_change(links, state, text, now, until);
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
    for (unsigned i = 0; i < links->count; i++) {
        struct state *state = &links->states[i];

        if (state->change_count == 0)
            continue;
        state->change_count = 0;
        state->next_end = now;
        advance_steps(links, state, now);
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

        if (links->cut) {
            state->link.lost[OCHE_LINK_LOST_DOWN]++;
            oche_hold_give_back(hold, parcel);
            continue;
        }
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
    uint64_t sum = links->lost[direction == OCHE_LINK_OUT];

    for (unsigned i = 0; i < links->count; i++)
        if (links->states[i].direction == direction)
            sum += lost_on(&links->states[i].link);
    return sum;
}
