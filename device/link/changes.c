/* SPDX-License-Identifier: Apache-2.0 */
/* Changes of links at run time, and the steps of their rules; see links.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "device/link/links_internal.h"

/* Applies the changes that are possible. Returns a bit for each of the others. */
static unsigned apply_changes(const struct state *state, unsigned which,
                              struct oche_link_params *params)
{
    unsigned left = 0;

    for (unsigned i = 0; i < state->change_count; i++) {
        struct oche_link_params with = *params;
        struct oche_error ignored;

        if ((which >> i & 1) == 0)
            continue;
        if (oche_link_params_parse(&with, state->changes[i].text, &ignored))
            *params = with;
        else
            left |= 1U << i;
    }
    return left;
}

/*
 * Computes the parameters in force: those of the rule's step, and on top of them all changes.
 * Marks need a rate, which a later change may have: then they are applied after it. Without a rate
 * they have to wait.
 */
static void compute(const struct oche_links *links, const struct state *state,
                    struct oche_link_params *params)
{
    *params = state != NULL ? step_of(links, state)->params : links->none.params;
    if (state != NULL && state->change_count > 0)
        apply_changes(state, apply_changes(state, UINT32_MAX, params), params);
}

/* Returns since when the link has been up and down in turns. Only another flap begins anew. */
static oche_time flaps_since(const struct oche_links *links, const struct state *state,
                             const struct oche_link_params *params)
{
    const struct oche_link *link = &state->link;
    oche_time since = step_of(links, state)->at;

    if (params->flap_up == link->params.flap_up && params->flap_down == link->params.flap_down)
        return link->since;
    for (unsigned i = 0; i < state->change_count; i++)
        since = oche_time_max(since, state->changes[i].since);
    return since;
}

/*
 * Brings into force what has been computed, and keeps the end that comes next. Returns false if
 * there is no memory for a queue.
 */
static bool apply(struct oche_links *links, struct state *state)
{
    struct oche_link_params params;

    state->next_end = OCHE_NEVER;
    for (unsigned i = 0; i < state->change_count; i++)
        state->next_end = oche_time_min(state->next_end, state->changes[i].until);
    compute(links, state, &params);
    oche_link_change(&state->link, &params, flaps_since(links, state, &params));
    return links_parameters_changed(links, state);
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

void links_advance(struct oche_links *links, struct state *state, oche_time now)
{
    const bool ends = now >= state->next_end;
    const unsigned before = state->step;
    struct state *general;

    while (state->step + 1 < state->rule->count &&
           links->plan.steps[state->rule->first + state->step + 1].at <= now)
        state->step++;
    if (ends)
        end_changes(state, now);
    if (!ends && state->step == before)
        return;
    general = state->made ? links_exact(links, state->direction, NULL) : NULL;
    if (general != NULL && general != state) /* whose line may be this one's, too */
        links_advance(links, general, now);
    (void)apply(links, state); /* without memory, the line before goes on */
}

/* ---- changes at run time ---- */

struct state *links_exact(struct oche_links *links, uint8_t direction,
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
            state->parcels > 0)
            continue;
        links->lost[direction == OCHE_LINK_OUT] += links_lost_on(&state->link);
        links_add_report(&state->link, &links->past);
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
    const struct state *general = peer != NULL ? links_exact(links, direction, NULL) : NULL;
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
    if (!links_begin(links, state, MOST_LINKS + (uint64_t)(state - links->states)))
        return NULL;
    if (general != NULL) {
        state->change_count = general->change_count;
        memcpy(state->changes, general->changes, sizeof(state->changes));
        if (!apply(links, state))
            return NULL;
    }
    return state;
}

/* True if the change is for this link. */
static bool concerns(struct oche_links *links, const struct state *state, uint8_t directions,
                     const struct oche_address *peer)
{
    if ((state->direction & directions) == 0)
        return false;
    return state == links_exact(links, state->direction, peer) ||
           (peer == NULL && !is_over(links, state));
}

/* Writes the names of an item without its values: "jitter=5us:normal" is "jitter=:". */
static void names_of(const char *item, size_t bytes, char *names)
{
    bool in_value = false;

    for (size_t i = 0; i < bytes; i++) {
        in_value = in_value && item[i] != ':';
        if (!in_value)
            *names++ = item[i];
        in_value |= item[i] == '=' || item[i] == ':';
    }
    *names = '\0';
}

/* True if an item of the text sets all that this one sets. */
static bool is_named(const char *item, size_t bytes, const char *text)
{
    char mine[CHANGE_BYTES], other[CHANGE_BYTES];

    names_of(item, bytes, mine);
    while (*text != '\0') {
        const size_t length = strcspn(text, ",");

        names_of(text, length, other);
        if (strcmp(mine, other) == 0)
            return true;
        text += length + (text[length] == ',');
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

static bool add_change(struct oche_links *links, struct state *state, const char *text,
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
    return apply(links, state);
}

/* True if the change can be made to the link; NULL: one without a rule. */
static bool can_change(const struct oche_links *links, const struct state *state, const char *text,
                       oche_time until, struct oche_error *error)
{
    unsigned left = state != NULL ? state->change_count : 0;
    struct oche_link_params params;
    uint64_t seed;
    bool right;

    compute(links, state, &params);
    seed = params.seed;
    right = oche_link_params_parse(&params, text, error);
    errno = EINVAL;
    if (!right)
        return false;
    if (params.seed != seed)
        return oche_fail(error, "seed: cannot be changed at run time; leave it out");
    for (unsigned i = 0; state != NULL && i < state->change_count; i++)
        left -= is_replaced(&state->changes[i], text, until);
    if (left < MOST_CHANGES)
        return true;
    errno = ENOSPC;
    return oche_fail(error, "%d changes of this link are in force already; \"restore\" ends them",
                     MOST_CHANGES);
}

/* True if the change can be made to all links that it concerns. */
static bool can_change_all(struct oche_links *links, uint8_t directions,
                           const struct oche_address *peer, const char *text, oche_time until,
                           struct oche_error *error)
{
    for (uint8_t direction = OCHE_LINK_IN; direction <= OCHE_LINK_OUT; direction++)
        if ((directions & direction) != 0 && links_exact(links, direction, peer) == NULL &&
            !can_change(links, links_exact(links, direction, NULL), text, until, error))
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
    errno = EINVAL;
    if (strlen(text) >= CHANGE_BYTES)
        return oche_fail(error, "a change has at most %d characters", CHANGE_BYTES - 1);
    for (unsigned i = 0; i < links->count; i++)
        links_advance(links, &links->states[i], now);
    if (!can_change_all(links, directions, peer, text, until, error)) /* all or none */
        return false;
    for (uint8_t direction = OCHE_LINK_IN; direction <= OCHE_LINK_OUT; direction++)
        if ((directions & direction) != 0 && links_exact(links, direction, peer) == NULL &&
            make_link(links, direction, peer) == NULL) {
            errno = ENOSPC;
            return oche_fail(error, "no room for another link: a device has at most %d of peers",
                             MOST_OF_PEERS);
        }
    for (unsigned i = 0; i < links->count; i++) {
        struct state *state = &links->states[i];

        if (!concerns(links, state, directions, peer))
            continue;
        if (!add_change(links, state, text, now, until)) {
            oche_links_restore(links, now);
            errno = ENOMEM;
            return oche_fail(error, "out of memory for a queue");
        }
    }
    for (unsigned i = 0; i < links->count; i++) /* with the lines of those that changed later */
        (void)links_parameters_changed(links, &links->states[i]);
    return true;
}

bool oche_links_cut(struct oche_links *links, bool cut)
{
    for (uint8_t direction = OCHE_LINK_IN; cut && direction <= OCHE_LINK_OUT; direction++)
        if (links_exact(links, direction, NULL) == NULL &&
            make_link(links, direction, NULL) == NULL)
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
        links_advance(links, state, now);
    }
}
