/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The links of a device; see links.h. With marks, a packet's fate is decided when its transmission
 * starts, as only then is known what waits behind it; otherwise at once.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/wire/frame.h"
#include "device/link/links_internal.h"

#define SLOTS        (UINT32_C(1) << 15) /* packets on their way, in each direction */
#define LEAST_FRAME  64                  /* bytes; more packets than that cannot wait */
#define MOST_WAITING SLOTS
#define LEAST_ROOM   (UINT64_C(1) << 14) /* packets that can wait on any line */
#define USUAL_FRAME  256                 /* bytes */
#define ECN_MASK     UINT8_C(3)

uint64_t links_lost_on(const struct oche_link *link)
{
    uint64_t sum = 0;

    for (unsigned cause = 0; cause < OCHE_LINK_LOSSES; cause++)
        sum += link->lost[cause];
    return sum;
}

/* ---- opening and closing ---- */

static size_t slot_bytes(const struct oche_links *links)
{
    return oche_lines(sizeof(struct oche_parcel)) + oche_lines(links->packet_bytes);
}

static struct oche_red_ramp ramp_of(const struct oche_link_params *params)
{
    struct oche_switch_params marks = {.ecn = params->ecn_min_bytes != OCHE_NEVER,
                                       .kmin_bytes = params->ecn_min_bytes,
                                       .kmax_bytes = params->ecn_max_bytes,
                                       .pmax = params->ecn_pmax};

    if (marks.ecn && marks.kmax_bytes == OCHE_NEVER)
        marks.kmax_bytes = marks.kmin_bytes;
    return oche_red_ramp(&marks, params->rate_bps);
}

/* Returns a number for the line: processes with the same rule share it. */
static uint64_t line_name(const struct state *state, bool of_peer, uint64_t rate_bps,
                          uint64_t queue_bytes)
{
    uint64_t name = oche_mix64(state->direction + UINT64_C(2) * of_peer), words[2] = {0};

    if (of_peer)
        memcpy(words, state->rule->peer.ip, sizeof(words));
    name = oche_mix64(oche_mix64(name ^ words[0]) ^ words[1]);
    return oche_mix64(oche_mix64(name ^ rate_bps) ^ queue_bytes);
}

/*
 * True if the link has a line of its own. A link that was made for a peer, and whose rate no change
 * of its own has set, goes on with the line that the peer has had.
 */
static bool has_own_line(struct oche_links *links, const struct state *state)
{
    const struct state *general =
        state->made && state->rule->of_peer ? links_exact(links, state->direction, NULL) : NULL;

    return state->rule->of_peer &&
           (general == NULL || general->link.params.rate_bps != state->link.params.rate_bps);
}

static struct line *open_line(struct oche_links *links, const struct state *state, uint64_t name,
                              uint64_t rule_queue_bytes)
{
    const uint64_t rate = state->link.params.rate_bps;
    const bool shared = links->path[0] != '\0' && rule_queue_bytes > 0;
    uint64_t packets = shared ? rule_queue_bytes / LEAST_FRAME + 1 : MOST_WAITING;
    struct line *line = links->lines;
    char path[OCHE_SHARED_PORT_PATH];
    const char *given = NULL;

    while (line->users > 0)
        line++;
    packets = packets < LEAST_ROOM ? LEAST_ROOM : packets > MOST_WAITING ? MOST_WAITING : packets;
    if (shared &&
        (size_t)snprintf(path, sizeof(path), "%s-%016" PRIx64, links->path, name) < sizeof(path))
        given = path;
    *line = (struct line){.name = name, .rate_bps = rate, .packets = packets};
    if (!oche_shared_port_open(&line->port, given, packets, links->clock))
        return NULL;
    line->number = ++links->lines_opened;
    return line;
}

void links_leave_line(struct state *state)
{
    struct line *line = state->line;

    state->line = NULL;
    if (line != NULL && --line->users == 0)
        oche_shared_port_close(&line->port);
}

/*
 * A line for each rate: what waits at a slow one does not keep a link busy once its rate is
 * another. A queue that changes alone leaves the line as it is, if packets of 256 bytes have room.
 */
static bool follow_rate(struct oche_links *links, struct state *state)
{
    const struct oche_link_params *params = &state->link.params, *rule;
    const bool is_needed = params->rate_bps != 0 && !(state->made && state->change_count == 0);
    struct line *line = NULL;
    uint64_t name;

    if (!is_needed) {
        links_leave_line(state);
        return true;
    }
    rule = &step_of(links, state)->params;
    const uint64_t of_rule = rule->rate_bps == params->rate_bps ? rule->queue_bytes : 0;

    name = line_name(state, has_own_line(links, state), params->rate_bps, of_rule);
    for (unsigned i = 0; i < OCHE_COUNT_OF(links->lines); i++) {
        struct line *other = &links->lines[i];

        if (other->users > 0 && other->name == name &&
            (other->packets == MOST_WAITING || other->packets * USUAL_FRAME >= params->queue_bytes))
            line = other;
    }
    if (line == NULL)
        line = open_line(links, state, name, of_rule);
    if (line == NULL)
        return false;
    line->users++;
    links_leave_line(state);
    state->line = line;
    return true;
}

bool links_parameters_changed(struct oche_links *links, struct state *state)
{
    state->ramp = ramp_of(&state->link.params);
    return follow_rate(links, state);
}

bool links_begin(struct oche_links *links, struct state *state, uint64_t entity)
{
    struct oche_link_params params = step_of(links, state)->params;

    state->line = NULL;
    state->next_end = OCHE_NEVER;
    if (params.seed == 0)
        params.seed = links->seed;
    oche_link_init(&state->link, &params, entity, 0);
    state->red = oche_random_stream(params.seed, "link red", entity);
    return links_parameters_changed(links, state);
}

static bool add_link(struct oche_links *links, const struct oche_link_rule *rule, uint8_t direction)
{
    const uint64_t entity = 2 * (uint64_t)(rule - links->plan.rules) + (direction == OCHE_LINK_OUT);
    struct state *state = &links->states[links->count++];

    *state = (struct state){.rule = rule, .direction = direction};
    return links_begin(links, state, entity);
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
        links_leave_line(&links->states[i]);
    oche_hold_close(&links->holds[0]);
    oche_hold_close(&links->holds[1]);
    free(links);
}

void oche_links_leave(struct oche_links *links)
{
    for (unsigned i = 0; links != NULL && i < OCHE_COUNT_OF(links->lines); i++)
        if (links->lines[i].users > 0)
            oche_shared_port_leave(&links->lines[i].port);
}

/* ---- sending ---- */

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

    links_advance(links, state, now);
    if (links->cut) {
        state->link.lost[OCHE_LINK_LOST_DOWN]++;
        return NULL;
    }
    const struct oche_link_params *params = &state->link.params;
    if (count > links->packet_bytes ||
        (params->rate_bps != 0 && state->line != NULL &&
         !oche_shared_port_take(&state->line->port, now, frame_bytes, OCHE_GAP_BYTES,
                                params->rate_bps, params->queue_bytes, &departure)) ||
        (parcel = oche_hold_take(hold)) == NULL) {
        state->link.lost[OCHE_LINK_LOST_QUEUE]++;
        return NULL;
    }
    parcel->count = count;
    parcel->tos = tos;
    parcel->link = (uint8_t)link;
    parcel->line = state->line != NULL ? state->line->number : 0;
    parcel->frame_bytes = frame_bytes;
    parcel->departure = departure;
    parcel->bytes = (uint8_t *)parcel + oche_lines(sizeof(*parcel));
    memcpy(parcel->bytes, bytes, count);
    parcel->waits = params->rate_bps != 0 && params->ecn_min_bytes != OCHE_NEVER;
    if (!parcel->waits && !start_crossing(state, parcel, departure.leaves)) {
        oche_hold_give_back(hold, parcel);
        return NULL;
    }
    state->parcels++;
    due = parcel->waits ? departure.starts : parcel->fate.arrives[0];
    oche_hold_put(hold, parcel, due);
    return parcel;
}

/* ---- arriving ---- */

static void give_back(struct oche_links *links, struct oche_parcel *parcel)
{
    struct state *state = &links->states[parcel->link];

    state->parcels--;
    oche_hold_give_back(hold_of(links, state->direction), parcel);
}

/* The parcel's transmission starts: marks it, if the queue behind it is long. */
static void mark(struct state *state, struct oche_parcel *parcel)
{
    const struct oche_packet packet = {.ecn = parcel->tos & ECN_MASK};
    uint64_t behind;

    if (state->line == NULL || parcel->line != state->line->number)
        return; /* it left an earlier line */
    behind = oche_shared_port_behind(&state->line->port, &parcel->departure);
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
            give_back(links, parcel);
            continue;
        }
        if (!parcel->waits)
            return parcel;
        mark(state, parcel);
        if (start_crossing(state, parcel, parcel->departure.leaves))
            oche_hold_put(hold, parcel, parcel->fate.arrives[0]);
        else
            give_back(links, parcel);
    }
    return NULL;
}

void oche_links_done(struct oche_links *links, struct oche_parcel *parcel)
{
    struct oche_hold *hold = hold_of(links, links->states[parcel->link].direction);

    if (parcel->fate.copies-- > 1)
        oche_hold_put(hold, parcel, parcel->fate.arrives[1]);
    else
        give_back(links, parcel);
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
    return links->holds[1].count > 0 && !links->cut ? links->holds[1].latest : 0;
}

uint64_t oche_links_lost(const struct oche_links *links, uint8_t direction)
{
    uint64_t sum = links->lost[direction == OCHE_LINK_OUT];

    for (unsigned i = 0; i < links->count; i++)
        if (links->states[i].direction == direction)
            sum += links_lost_on(&links->states[i].link);
    return sum;
}

void links_add_report(const struct oche_link *link, struct oche_links_report *report)
{
    for (unsigned cause = 0; cause < OCHE_LINK_LOSSES; cause++)
        report->lost[cause] += link->lost[cause];
    report->late += link->reordered;
    report->twice += link->duplicated;
    report->damaged += link->corrupted;
    report->marked += link->marked;
}

struct oche_links_report oche_links_report(const struct oche_links *links)
{
    struct oche_links_report report = links->past;

    for (unsigned i = 0; i < links->count; i++)
        links_add_report(&links->states[i].link, &report);
    report.seed = links->count > 0 ? step_of(links, &links->states[0])->params.seed : 0;
    if (report.seed == 0)
        report.seed = links->seed;
    return report;
}
