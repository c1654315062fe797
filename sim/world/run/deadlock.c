/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deadlock under PFC, proved from the state of the switches, not guessed from a timeout. We list
 * the ports that are held by PAUSE, and repeatedly strike off ports that may be released. A port
 * may be released if the switch that holds it would resume it after all bytes had left that switch,
 * except bytes that wait at ports that are still on the list. The ports that remain can never send,
 * whatever else happens: each of them is held because of bytes that wait at other ports of the
 * list, so there is a cycle.
 *
 * A PAUSE counts only after it has lasted so long that it has taken effect and no older frame is
 * still on its way (links lose no PFC frames). A port that may be released is not deadlocked,
 * however long it is held.
 *
 * A mechanism may end PAUSEs that last (fabric/pfc_watchdog.h). Then no deadlock is for ever, and
 * we look for none.
 *
 * With ranks each reads its own switches. What is left when nothing more can be struck off does not
 * depend on the order, so each rank strikes off what its switches may release, all tell what is
 * left, and so on until none has anything to strike off.
 */
#include "sim/world/results/readings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct check {
    const struct oche_world *world;
    uint8_t *stuck;     /* for each port, a mask of the classes that are not struck off yet */
    uint32_t *left;     /* for one switch: bytes that wait at stuck ports, by ingress and class */
    struct wait *waits; /* by place (place_of), when no more can be struck off */
};

/* The condition that a stuck place waits for. */
struct wait {
    uint32_t next;   /* the place */
    oche_time since; /* when the PAUSE that holds it began */
};

static const struct oche_switch *switch_of(const struct oche_world *world, uint32_t node)
{
    return world->switches[node - world->topology.host_count];
}

/*
 * Returns a time such that a PAUSE sent before it has surely taken effect by `now`, and no older
 * frame is still on its way.
 */
static oche_time settled_before(const struct oche_world *world, uint32_t port, oche_time now)
{
    const struct oche_topology *topology = &world->topology;
    const struct oche_topology_link *link = &topology->links[topology->ports[port].link];
    oche_time way = oche_time_of_bytes(OCHE_MIN_FRAME_BYTES + OCHE_GAP_BYTES, link->rate_bps) +
                    link->delay + world->config->switches.pfc_response;
    oche_time patience = 2 * way > OCHE_DEADLOCK_PATIENCE ? 2 * way : OCHE_DEADLOCK_PATIENCE;

    return now > patience ? now - patience : 0;
}

/* Marks the classes that a port means to hold at its upstream switch, and has for long. */
static void mark_holding(struct check *check, uint32_t node, uint32_t local, oche_time now)
{
    const struct oche_world *world = check->world;
    const struct oche_topology *topology = &world->topology;
    const struct oche_topology_port *end = oche_topology_port(topology, node, local);
    uint32_t port = topology->nodes[node].first_port + local;
    uint8_t classes = oche_switch_pausing(switch_of(world, node), local), marked = 0;

    if (classes == 0 || end->peer < topology->host_count)
        return;
    for (uint8_t rest = classes; rest != 0; rest &= (uint8_t)(rest - 1)) {
        unsigned cls = (unsigned)__builtin_ctz(rest);
        oche_time since = oche_switch_pausing_since(switch_of(world, node), local, cls);

        if (since < settled_before(world, port, now))
            marked |= (uint8_t)(1U << cls);
    }
    check->stuck[topology->nodes[end->peer].first_port + end->peer_port] = marked;
}

/* Keeps the marks only of those classes at the ports of a switch that are held. */
static bool keep_held(struct check *check, uint32_t node)
{
    const struct oche_topology_node *at = &check->world->topology.nodes[node];
    bool any = false;

    for (uint32_t local = 0; local < at->port_count; local++) {
        uint8_t *stuck = &check->stuck[at->first_port + local];

        for (uint8_t rest = *stuck; rest != 0; rest &= (uint8_t)(rest - 1)) {
            unsigned cls = (unsigned)__builtin_ctz(rest);

            if (!oche_switch_is_paused(switch_of(check->world, node), local, cls))
                *stuck &= (uint8_t) ~(1U << cls);
        }
        any |= *stuck != 0;
    }
    return any;
}

/* Counts the bytes in the switch that wait at stuck ports, by ingress and class. */
static void count_left(struct check *check, uint32_t node)
{
    const struct oche_topology_node *at = &check->world->topology.nodes[node];
    const struct oche_switch *sw = switch_of(check->world, node);

    unsigned classes = check->world->class_count;

    memset(check->left, 0, (size_t)at->port_count * classes * sizeof(*check->left));
    for (uint32_t out = 0; out < at->port_count; out++)
        for (uint8_t rest = check->stuck[at->first_port + out]; rest != 0;
             rest &= (uint8_t)(rest - 1)) {
            unsigned cls = (unsigned)__builtin_ctz(rest);

            for (uint32_t in = 0; in < at->port_count; in++)
                for (unsigned of = 0; of < classes; of++)
                    check->left[in * classes + of] += oche_switch_held_bytes(sw, in, of, out, cls);
        }
}

/* Strikes off the upstream ports that this switch may release. Returns true if there are any. */
static bool strike_off(struct check *check, uint32_t node)
{
    const struct oche_topology *topology = &check->world->topology;
    bool any = false;

    count_left(check, node);
    for (uint32_t local = 0; local < topology->nodes[node].port_count; local++) {
        uint32_t held = oche_topology_far_port(topology, topology->nodes[node].first_port + local);

        for (uint8_t rest = check->stuck[held]; rest != 0; rest &= (uint8_t)(rest - 1)) {
            unsigned cls = (unsigned)__builtin_ctz(rest);

            if (oche_switch_stays_pausing(switch_of(check->world, node), local, cls, check->left))
                continue;
            check->stuck[held] &= (uint8_t) ~(1U << cls);
            any = true;
        }
    }
    return any;
}

/* Returns the number of a pair of port and class. */
static uint32_t place_of(uint32_t port, unsigned cls)
{
    return port * OCHE_CLASSES + cls;
}

/*
 * Returns the place (a port and a class) that `place` waits for. Bytes that came from `place` wait
 * at stuck places of the next switch; the result is the stuck place where most of them wait.
 */
static uint32_t waits_for(const struct check *check, uint32_t place)
{
    const struct oche_topology *topology = &check->world->topology;
    const struct oche_topology_port *end = &topology->ports[place / OCHE_CLASSES];
    const struct oche_topology_node *behind = &topology->nodes[end->peer];
    const struct oche_switch *sw = switch_of(check->world, end->peer);
    uint32_t most = 0, found = OCHE_NO_PORT;

    for (uint32_t out = 0; out < behind->port_count; out++)
        for (unsigned cls = 0; cls < check->world->class_count; cls++) {
            uint32_t bytes =
                oche_switch_held_bytes(sw, end->peer_port, place % OCHE_CLASSES, out, cls);

            if ((check->stuck[behind->first_port + out] >> cls & 1) && bytes > most) {
                most = bytes;
                found = place_of(behind->first_port + out, cls);
            }
        }
    OCHE_MUST(found != OCHE_NO_PORT); /* a place that waits for none would have been struck off */
    return found;
}

/* Returns when the PAUSE that holds the place's port began. */
static oche_time held_since(const struct oche_world *world, uint32_t place)
{
    const struct oche_topology_port *end = &world->topology.ports[place / OCHE_CLASSES];

    return oche_switch_pausing_since(switch_of(world, end->peer), end->peer_port,
                                     place % OCHE_CLASSES);
}

/* ---- with ranks ---- */

/* True if this process has the switch at the other end of a port's link. */
static bool has_peer(const struct check *check, uint32_t port)
{
    return oche_world_has(check->world, check->world->topology.ports[port].peer);
}

/*
 * Sends each rank's message to all ranks, and calls `take` for each message. With one process there
 * is nothing to do.
 */
static void share(struct check *check, void (*take)(struct check *, struct oche_rank_bytes *))
{
    struct oche_ranks *ranks = check->world->network.ranks;

    if (ranks == NULL)
        return;
    oche_ranks_share(ranks);
    for (uint32_t r = 0; r < ranks->count; r++)
        while (oche_rank_has_more(oche_ranks_from(ranks, r)))
            take(check, oche_ranks_from(ranks, r));
}

struct stuck_part {
    uint32_t port;
    uint8_t classes;
};

static void take_stuck(struct check *check, struct oche_rank_bytes *bytes)
{
    struct stuck_part part;

    oche_rank_get(bytes, &part, sizeof(part));
    check->stuck[part.port] = part.classes;
}

/*
 * Exchanges the marks of some ports between ranks: the ports of this rank or, if `of_peers`, the
 * ports whose far ends belong to this rank. Marks of all other ports are forgotten.
 */
static void share_stuck(struct check *check, bool of_peers)
{
    const struct oche_world *world = check->world;
    struct oche_ranks *ranks = world->network.ranks;

    for (uint32_t i = 0; ranks != NULL && i < world->network.port_count; i++) {
        struct stuck_part part = {.port = i, .classes = check->stuck[i]};

        check->stuck[i] = 0;
        if (part.classes != 0 &&
            (of_peers ? has_peer(check, i) : oche_world_has(world, world->network.ports[i].node)))
            oche_rank_put(oche_ranks_to(ranks, 0), &part, sizeof(part));
    }
    share(check, take_stuck);
}

struct wait_part {
    uint32_t place;
    struct wait wait;
};

static void take_wait(struct check *check, struct oche_rank_bytes *bytes)
{
    struct wait_part part;

    oche_rank_get(bytes, &part, sizeof(part));
    check->waits[part.place] = part.wait;
}

/* Finds what each stuck place waits for, at the switches of all ranks. */
static void find_waits(struct check *check)
{
    const struct oche_world *world = check->world;
    struct oche_ranks *ranks = world->network.ranks;

    check->waits =
        oche_world_make((size_t)world->network.port_count * OCHE_CLASSES, sizeof(*check->waits));
    for (uint32_t i = 0; i < world->network.port_count; i++)
        for (uint8_t rest = check->stuck[i]; rest != 0; rest &= (uint8_t)(rest - 1)) {
            struct wait_part part = {.place = place_of(i, (unsigned)__builtin_ctz(rest))};

            if (!has_peer(check, i))
                continue;
            part.wait = (struct wait){.next = waits_for(check, part.place),
                                      .since = held_since(world, part.place)};
            check->waits[part.place] = part.wait;
            if (ranks != NULL)
                oche_rank_put(oche_ranks_to(ranks, 0), &part, sizeof(part));
        }
    share(check, take_wait);
}

/* Follows the dependencies from `start` until they form a cycle. */
static void find_circle(const struct check *check, uint32_t start, struct oche_deadlock *deadlock)
{
    uint32_t room = check->world->network.port_count * OCHE_CLASSES, count = 0, from = 0;
    uint32_t *way = oche_world_make(room, sizeof(*way));
    bool *seen = oche_world_make(room, sizeof(*seen));

    for (uint32_t place = start; !seen[place]; place = check->waits[place].next) {
        seen[place] = true;
        way[count++] = place;
    }
    uint32_t again = check->waits[way[count - 1]].next;

    while (way[from] != again)
        from++;
    count -= from;
    memmove(way, way + from, count * sizeof(*way));
    deadlock->cls = (uint8_t)(way[0] % OCHE_CLASSES);
    for (uint32_t i = 0; i < count; i++) {
        oche_time since = check->waits[way[i]].since;

        deadlock->since = since > deadlock->since ? since : deadlock->since;
        way[i] /= OCHE_CLASSES;
    }
    free(seen);
    deadlock->circle = oche_circle_make(way, count);
}

static void count_stuck(const struct oche_world *world, uint32_t node, uint32_t out, unsigned cls,
                        struct oche_deadlock *deadlock)
{
    deadlock->stuck_ports++;
    for (uint32_t in = 0; in < world->topology.nodes[node].port_count; in++)
        for (unsigned of = 0; of < world->class_count; of++)
            deadlock->stuck_bytes +=
                oche_switch_held_bytes(switch_of(world, node), in, of, out, cls);
}

static void describe(struct check *check, uint32_t start, struct oche_deadlock *deadlock)
{
    const struct oche_world *world = check->world;
    const struct oche_topology *topology = &world->topology;
    uint64_t stuck[2];

    deadlock->found = true;
    deadlock->noticed = world->network.now;
    find_waits(check);
    find_circle(check, place_of(start, (unsigned)__builtin_ctz(check->stuck[start])), deadlock);
    for (uint32_t node = topology->host_count; node < oche_topology_nodes(topology); node++)
        for (uint32_t out = 0;
             oche_world_has(world, node) && out < topology->nodes[node].port_count; out++)
            for (unsigned cls = 0; cls < world->class_count; cls++)
                if (check->stuck[topology->nodes[node].first_port + out] >> cls & 1)
                    count_stuck(world, node, out, cls, deadlock);
    stuck[0] = deadlock->stuck_ports;
    stuck[1] = deadlock->stuck_bytes;
    oche_ranks_sum(world->network.ranks, stuck, OCHE_COUNT_OF(stuck));
    deadlock->stuck_ports = (uint32_t)stuck[0];
    deadlock->stuck_bytes = stuck[1];
}

/* True if this process has the switch, and it has sent or received a PAUSE. */
static bool has_pausing(const struct check *check, uint32_t node)
{
    return oche_world_has(check->world, node) && check->world->network.nodes[node].pauses != NULL;
}

static void prove(struct check *check, struct oche_deadlock *deadlock)
{
    const struct oche_topology *topology = &check->world->topology;
    struct oche_ranks *ranks = check->world->network.ranks;
    uint32_t nodes = oche_topology_nodes(topology), start = 0;
    bool any = false;

    for (uint32_t node = topology->host_count; node < nodes; node++)
        for (uint32_t local = 0;
             has_pausing(check, node) && local < topology->nodes[node].port_count; local++)
            mark_holding(check, node, local, check->world->network.now);
    share_stuck(check, true);
    for (uint32_t node = topology->host_count; node < nodes; node++)
        if (oche_world_has(check->world, node))
            any |= keep_held(check, node);
    share_stuck(check, false);
    while (oche_ranks_any(ranks, any)) {
        any = false;
        for (uint32_t node = topology->host_count; node < nodes; node++)
            if (has_pausing(check, node))
                any |= strike_off(check, node);
        share_stuck(check, true);
    }
    while (start < check->world->network.port_count && check->stuck[start] == 0)
        start++;
    if (start < check->world->network.port_count)
        describe(check, start, deadlock);
}

/* True if a mechanism of the switches ends every PAUSE that lasts. */
static bool pauses_end(const struct oche_world_config *config)
{
    for (uint32_t i = 0; i < config->mechanism_count; i++) {
        const struct oche_switch_mechanism *mechanism = config->mechanisms[i];

        if (mechanism->ends_pauses != NULL && mechanism->ends_pauses(config->mechanism_params[i]))
            return true;
    }
    return false;
}

void oche_world_deadlock_check(struct oche_world *world)
{
    struct check check = {.world = world};

    if (pauses_end(world->config))
        return;
    check.stuck = oche_world_make(world->network.port_count, sizeof(*check.stuck));
    check.left = oche_world_make((size_t)OCHE_MAX_PORTS * world->class_count, sizeof(*check.left));
    prove(&check, &world->deadlock);
    free(check.stuck);
    free(check.left);
    free(check.waits);
}

char *oche_deadlock_text(const struct oche_world *world, const struct oche_deadlock *deadlock)
{
    char *circle = oche_circle_text(&world->topology, &deadlock->circle), *text = NULL;

    OCHE_GOT(asprintf(&text, "%s, class %u", circle, deadlock->cls) >= 0);
    free(circle);
    return text;
}
