/* SPDX-License-Identifier: Apache-2.0 */
/* In-order flow deflection; see the header. */
#include "fabric/iofd.h"

#include "core/random.h"
#include "core/wire/opcode.h"
#include "fabric/deflected_flows.h"
#include "fabric/ecmp.h"
#include "fabric/switch_state.h"

#define MOST_LANES (OCHE_CLASSES - 1) /* one class is left for control packets */

static const char *const lane_choices[] = {
    [OCHE_IOFD_TURNS] = "turns", [OCHE_IOFD_ESCAPE] = "escape", [OCHE_IOFD_ONE] = "one", NULL};

static const char *const candidate_choices[] = {
    [OCHE_IOFD_BELOW_THRESHOLD] = "below_threshold", [OCHE_IOFD_ANY] = "any", NULL};

static const char *const order_choices[] = {
    [OCHE_IOFD_FOLLOW] = "follow", [OCHE_IOFD_WAIT] = "wait", NULL};

static const struct oche_param params[] = {
    {OCHE_PARAM(struct oche_iofd_params, entries), OCHE_IS_COUNT(8, 1, 1024),
     .where = "Dart sec IV-A", .help = "entries of a switch's table of deflected flows"},
    {OCHE_PARAM_AS("threshold", struct oche_iofd_params, threshold_bytes),
     OCHE_IS_BYTES(15000, 0, INT32_MAX), .where = "Dart sec IV-B; dart.md#d16",
     .help = "a message is deflected if more than this waits in the queue it would join"},
    {OCHE_PARAM(struct oche_iofd_params, candidates),
     OCHE_IS_CHOICE(OCHE_IOFD_BELOW_THRESHOLD, candidate_choices),
     .where = "dart.md#d17; Dart sec IV-A",
     .help = "which other ports a message may take, at random: those where no more than the "
             "threshold waits, or any"},
    {OCHE_PARAM(struct oche_iofd_params, lanes), OCHE_IS_CHOICE(OCHE_IOFD_TURNS, lane_choices),
     .where = "dart.md#d21; Dart sec IV-B",
     .help = "against deadlock: one for each turn from down to up; the paper's two; or one, none"},
    {OCHE_PARAM(struct oche_iofd_params, ageing), OCHE_IS_TIME(100 * OCHE_MS, OCHE_US, OCHE_NEVER),
     .where = "dart.md#d19",
     .help = "an entry that no packet uses for so long is given up; never: it is not"},
    {OCHE_PARAM(struct oche_iofd_params, tokens), OCHE_IS_COUNT(4, 0, OCHE_BTH_TOKENS),
     .where = "Dart sec IV-A", .help = "how often a packet of a short message may be deflected"},
    {OCHE_PARAM_AS("short_message", struct oche_iofd_params, short_bytes),
     OCHE_IS_BYTES(8192, 0, UINT32_MAX), .where = "Dart sec IV-A",
     .help = "messages of at most this get tokens"},
    {OCHE_PARAM(struct oche_iofd_params, order), OCHE_IS_CHOICE(OCHE_IOFD_FOLLOW, order_choices),
     .where = "dart.md#d18",
     .help = "follow: what a queue pair sends behind a short message takes that message's way; "
             "wait: it is kept apart, see hold"},
    {OCHE_PARAM(struct oche_iofd_params, linger), OCHE_IS_TIME(OCHE_MS, 2, OCHE_SEC),
     .needs = "order=follow", .where = "dart.md#d18",
     .help = "order: follow keeps order while no packet is on its way for half of this; an entry "
             "stays for it after its last packet if something may follow, and senders pause for at "
             "most half of it"},
    {OCHE_PARAM(struct oche_iofd_params, hold), OCHE_IS_TIME(OCHE_NEVER, 0, OCHE_NEVER),
     .where = "dart.md#d18",
     .help = "order: wait; never: while a short message is not acknowledged its queue pair sends "
             "nothing else; a time (60us): for that long after its last packet, which is no "
             "guarantee of order"},
};

const struct oche_param_table oche_iofd_params = OCHE_PARAM_TABLE(params, struct oche_iofd_params);

#define REFUSED "messages that met a queue above the threshold and were not deflected: "

static const struct oche_switch_counter counters[OCHE_IOFD_COUNTERS] = {
    [OCHE_IOFD_DEFLECTIONS] = {"deflections", "messages that a switch sent another way", false},
    [OCHE_IOFD_PACKETS] = {"deflected_packets",
                           "packets of deflected messages, retransmissions too", false},
    [OCHE_IOFD_NO_TOKEN] = {"refused_no_token",
                            REFUSED "they had no token left, or as long ones never any", false},
    [OCHE_IOFD_NO_ENTRY] = {"refused_no_entry", REFUSED "the table was full", false},
    [OCHE_IOFD_NO_CANDIDATE] = {"refused_no_candidate", REFUSED "no other port would do", false},
    [OCHE_IOFD_LAST_HOP] = {"refused_last_hop", REFUSED "they waited for the receiver's own port",
                            false},
    [OCHE_IOFD_FOLLOWERS] = {"refused_follower",
                             REFUSED "something of their queue pair was ahead of them", false},
    [OCHE_IOFD_RELEASED] = {"released",
                            "entries freed with the last packet of a message that nothing follows",
                            false},
    [OCHE_IOFD_AGED] = {"aged", "entries given up, as no packet had used them for long", false},
    [OCHE_IOFD_LATE] = {"late",
                        "packets that came after their entry was given up, which may "
                        "overtake what was before them",
                        false},
    [OCHE_IOFD_NOT_FOLLOWED] = {"not_followed",
                                "packets that found an entry in a lower lane, or that led back",
                                false},
    [OCHE_IOFD_ENTRIES_PEAK] = {"entries_peak", "most entries in use at one switch", true},
    [OCHE_IOFD_RETURNED] = {"returned", "packets that left by the port they came by", false},
    [OCHE_IOFD_LANES_EXCEEDED] =
        {"lanes_exceeded",
         "turns from down to up that found no lane left; where links may fail "
         "they are dropped",
         false},
};

/* ---- state ---- */

/* Flags of a port. */
#define PORT_NETWORK UINT8_C(1) /* the port leads to a switch */
#define PORT_UP      UINT8_C(2) /* the node at the other end is above this switch */

struct iofd {
    const struct oche_iofd_params *params;
    const uint64_t *onward; /* not owned; bit port * groups + group: see oche_switch_config */
    uint32_t groups;
    uint8_t lanes; /* number of lanes, which are classes 0 … lanes - 1 */
    bool links_fail;
    bool follows;  /* order: follow */
    uint8_t *port; /* PORT_… flags of each port */
    struct oche_random random;
    uint64_t counted[OCHE_IOFD_COUNTERS];
    struct oche_deflected_flows table; /* last: its entries follow */
};

static unsigned lanes_of(const void *values)
{
    const struct oche_iofd_params *p = values;

    switch ((enum oche_iofd_lanes)p->lanes) {
    case OCHE_IOFD_TURNS:
        return (unsigned)p->tokens + 1;
    case OCHE_IOFD_ESCAPE:
        return 2;
    case OCHE_IOFD_ONE:
        break;
    }
    return 1;
}

static const char *check(const void *values)
{
    const struct oche_iofd_params *p = values;

    if (lanes_of(values) > MOST_LANES)
        return "tokens: 7 would need 8 lanes beside the class of ACKs, and there are 8 classes in "
               "all; would be right: at most 6, or lanes: escape";
    if (p->order == OCHE_IOFD_FOLLOW && p->hold != OCHE_NEVER)
        return "hold: with order: follow nothing is held; would be right: order: wait";
    return NULL;
}

/* Returns the offset in the state where the table ends and the port flags begin. */
static size_t table_end(const struct oche_iofd_params *p)
{
    size_t end = offsetof(struct iofd, table) + oche_deflected_bytes((uint32_t)p->entries);

    return end > sizeof(struct iofd) ? end : sizeof(struct iofd);
}

static size_t state_bytes(const struct oche_switch_config *config, const void *values)
{
    return table_end(values) + config->port_count;
}

/* Returns how long an entry stays after END. */
static oche_time entries_stay(const struct oche_iofd_params *p)
{
    if (p->order == OCHE_IOFD_FOLLOW)
        return p->linger;
    return p->hold != OCHE_NEVER ? p->hold : 0;
}

static void create(void *state, const struct oche_switch_config *config, const void *values)
{
    struct iofd *iofd = state;
    const struct oche_iofd_params *p = values;

    iofd->params = p;
    iofd->onward = config->onward;
    iofd->groups = config->groups;
    iofd->lanes = (uint8_t)lanes_of(p);
    iofd->links_fail = config->links_fail;
    iofd->port = (uint8_t *)state + table_end(p);
    iofd->random = oche_random_stream(config->seed, "iofd", config->node);
    iofd->follows = p->order == OCHE_IOFD_FOLLOW;
    oche_deflected_init(&iofd->table, (uint32_t)p->entries,
                        iofd->follows && p->ageing < p->linger ? p->linger : p->ageing,
                        entries_stay(p));
    iofd->table.lingers = iofd->follows;
    for (uint32_t port = 0; port < config->port_count; port++) {
        if (config->ports[port].place != OCHE_PLACE_TO_HOST)
            iofd->port[port] |= PORT_NETWORK;
        if (config->ports[port].up)
            iofd->port[port] |= PORT_UP;
    }
}

/* ---- choosing another port ---- */

int oche_iofd_other_port(const struct oche_routes *routes, uint64_t salt, unsigned in_port,
                         const struct oche_packet *packet)
{
    struct oche_port_set set = routes->sets[routes->set_of_group[routes->group_of[packet->dst]]];
    uint32_t others = 0, pick;

    for (uint32_t i = 0; i < set.count; i++)
        others += routes->ports[set.first + i] != in_port;
    if (others == 0)
        return -1;
    pick = oche_ecmp_pick(salt, packet->flow_hash, others);
    for (uint32_t i = 0;; i++)
        if (routes->ports[set.first + i] != in_port && pick-- == 0)
            return routes->ports[set.first + i];
}

/*
 * For a packet whose routes lead back to `in_port`, the port by which it came in: returns another
 * port, or `in_port` if there is no other.
 */
static int other_way(struct iofd *iofd, const struct oche_switch *sw, unsigned in_port,
                     const struct oche_packet *packet)
{
    int port = oche_iofd_other_port(&sw->routes, sw->salt, in_port, packet);

    if (port >= 0)
        return port;
    iofd->counted[OCHE_IOFD_RETURNED]++;
    return (int)in_port;
}

/* True if there is a path from `port` to the packet's destination that does not come back here. */
static bool leads_on(const struct iofd *iofd, const struct oche_switch *sw, unsigned port,
                     const struct oche_packet *packet)
{
    size_t bit = (size_t)port * iofd->groups + sw->routes.group_of[packet->dst];

    return iofd->onward == NULL || (iofd->onward[bit / 64] >> bit % 64 & 1);
}

/* True if the queue that the packet would join at `port` does not rule that port out. */
static bool has_room(const struct iofd *iofd, const struct oche_switch *sw, unsigned port,
                     const struct oche_packet *packet)
{
    return iofd->params->candidates == OCHE_IOFD_ANY ||
           oche_switch_class_bytes(sw, oche_switch_egress(sw, port), packet->traffic_class) <=
               iofd->params->threshold_bytes;
}

static bool is_candidate(const struct iofd *iofd, const struct oche_switch *sw, unsigned port,
                         const struct oche_packet *packet)
{
    return (iofd->port[port] & PORT_NETWORK) && !oche_switch_link_is_down(sw, port) &&
           has_room(iofd, sw, port, packet) && leads_on(iofd, sw, port, packet);
}

/* Returns one of the candidate ports, chosen at random; -1: there is no candidate. */
static int pick_candidate(struct iofd *iofd, const struct oche_switch *sw, unsigned in_port,
                          const struct oche_packet *packet, unsigned ordinary)
{
    uint32_t count = 0, pick;

    for (unsigned port = 0; port < sw->port_count; port++)
        count += port != in_port && port != ordinary && is_candidate(iofd, sw, port, packet);
    if (count == 0)
        return -1;
    pick = (uint32_t)oche_random_below(&iofd->random, count);
    for (unsigned port = 0;; port++)
        if (port != in_port && port != ordinary && is_candidate(iofd, sw, port, packet) &&
            pick-- == 0)
            return (int)port;
}

/* ---- lanes ---- */

#define NO_LANE UINT8_MAX /* no lane is left for the packet: see the header on failures */

uint8_t oche_iofd_lane(const struct oche_iofd_params *p, uint8_t lane, bool turns,
                       unsigned tokens_left)
{
    switch ((enum oche_iofd_lanes)p->lanes) {
    case OCHE_IOFD_TURNS:
        return (uint8_t)(turns && lane + 1U < lanes_of(p) ? lane + 1 : lane);
    case OCHE_IOFD_ESCAPE:
        return lane == 1 || tokens_left == 0;
    case OCHE_IOFD_ONE:
        break;
    }
    return lane;
}

static uint8_t lane_behind(struct iofd *iofd, const struct oche_packet *packet, unsigned in_port,
                           unsigned port, unsigned tokens_left)
{
    const bool turns = iofd->port[in_port] & iofd->port[port] & PORT_UP;

    if (turns && iofd->params->lanes == OCHE_IOFD_TURNS &&
        packet->traffic_class + 1 >= iofd->lanes) {
        iofd->counted[OCHE_IOFD_LANES_EXCEEDED]++;
        if (iofd->links_fail)
            return NO_LANE;
    }
    return oche_iofd_lane(iofd->params, packet->traffic_class, turns, tokens_left);
}

/* ---- the packet ---- */

/*
 * Called when START finds a queue above the threshold. Returns the port by which START is
 * deflected, or -1 if START takes the ordinary port.
 */
static int decide(struct iofd *iofd, const struct oche_switch *sw, unsigned in_port,
                  const struct oche_packet *packet, unsigned ordinary, unsigned tokens,
                  bool needs_entry)
{
    enum oche_iofd_counter refused;
    int port = -1;

    if (!(iofd->port[ordinary] & PORT_NETWORK))
        refused = OCHE_IOFD_LAST_HOP;
    else if (tokens == 0)
        refused = OCHE_IOFD_NO_TOKEN;
    else if (needs_entry && iofd->table.count == iofd->table.capacity)
        refused = OCHE_IOFD_NO_ENTRY;
    else if ((port = pick_candidate(iofd, sw, in_port, packet, ordinary)) < 0)
        refused = OCHE_IOFD_NO_CANDIDATE;
    else
        return port;
    iofd->counted[refused]++;
    return -1;
}

/* Puts the packet into `lane` and returns `port`. Returns -1 if the lane is NO_LANE. */
static int go(struct oche_packet *packet, int port, uint8_t lane)
{
    if (OCHE_UNLIKELY(lane == NO_LANE))
        return -1;
    packet->traffic_class = lane;
    return port;
}

static int deflect(struct iofd *iofd, struct oche_packet *packet, int port, uint8_t lane)
{
    iofd->counted[OCHE_IOFD_PACKETS]++;
    packet->bth_reserved--; /* uses up one token; the tokens are the lowest bits */
    packet->traffic_class = lane;
    return port;
}

/*
 * Corrects a packet that comes from a host, because hosts are not trusted: it begins in the first
 * lane, with at most the configured number of tokens.
 */
static void admit(const struct iofd *iofd, struct oche_packet *packet)
{
    packet->traffic_class = 0;
    if ((packet->bth_reserved & OCHE_BTH_TOKENS) > iofd->params->tokens)
        packet->bth_reserved =
            (uint8_t)((packet->bth_reserved & ~OCHE_BTH_TOKENS) | (uint8_t)iofd->params->tokens);
}

static unsigned tokens_of(const struct iofd *iofd, const struct oche_packet *packet)
{
    if (iofd->params->lanes == OCHE_IOFD_ESCAPE && packet->traffic_class == 1)
        return 0; /* packets of the escape lane are never deflected */
    return packet->bth_reserved & OCHE_BTH_TOKENS;
}

static struct oche_deflected_key key_of(const struct oche_packet *packet, unsigned tokens)
{
    return (struct oche_deflected_key){
        .dst = packet->dst, .dest_qpn = packet->dest_qpn, .tokens = (uint8_t)tokens};
}

/* True if the packet may only use an entry, and not make one. */
static bool is_follower(const struct iofd *iofd, const struct oche_packet *packet)
{
    return iofd->follows && (packet->bth & OCHE_BTH_FOLLOWS);
}

/* True if this packet is END, after which no packet follows. */
static bool is_release(const struct iofd *iofd, const struct oche_packet *packet)
{
    return iofd->follows && (packet->bth_reserved & OCHE_BTH_RELEASE);
}

/* Notes that END, `packet`, has passed by the entry. */
static void end(struct iofd *iofd, struct oche_deflected_flow *entry,
                const struct oche_packet *packet)
{
    if (is_release(iofd, packet)) {
        iofd->counted[OCHE_IOFD_RELEASED]++;
        oche_deflected_release(&iofd->table, entry);
    } else {
        oche_deflected_end(&iofd->table, entry);
    }
}

/* Returns the port by which START is deflected, or -1: see decide. */
static int other_port(struct iofd *iofd, const struct oche_switch *sw, unsigned in_port,
                      const struct oche_packet *packet, unsigned ordinary, bool needs_entry,
                      oche_time now)
{
    if (oche_switch_class_bytes(sw, oche_switch_egress(sw, ordinary), packet->traffic_class) <=
        iofd->params->threshold_bytes)
        return -1;
    if (is_follower(iofd, packet)) {
        iofd->counted[OCHE_IOFD_FOLLOWERS]++;
        return -1;
    }
    if (needs_entry && iofd->table.count == iofd->table.capacity)
        oche_deflected_age(&iofd->table, sw, now);
    return decide(iofd, sw, in_port, packet, ordinary, tokens_of(iofd, packet), needs_entry);
}

/*
 * Returns the port for START: the ordinary port or, if START is deflected, another one, which the
 * table then remembers for the packets that follow. Returns -1 if no lane is left.
 */
static int start(struct iofd *iofd, const struct oche_switch *sw, unsigned in_port,
                 struct oche_packet *packet, unsigned ordinary, oche_time now)
{
    bool whole = oche_opcode_has(packet->opcode, OCHE_OP_LAST);
    bool needs_entry = !whole || (oche_iofd_pipelines(iofd->params) && !is_release(iofd, packet));
    unsigned tokens = tokens_of(iofd, packet);
    int port = other_port(iofd, sw, in_port, packet, ordinary, needs_entry, now);

    if (port < 0)
        return go(packet, (int)ordinary, lane_behind(iofd, packet, in_port, ordinary, tokens));
    uint8_t lane = lane_behind(iofd, packet, in_port, (unsigned)port, tokens - 1);

    if (lane == NO_LANE)
        return -1;
    if (needs_entry) {
        const struct oche_deflected_flow flow = {
            .key = key_of(packet, tokens), .port = (uint16_t)port, .lane = lane};
        struct oche_deflected_flow *entry = oche_deflected_add(&iofd->table, sw, &flow, now);

        OCHE_MUST(entry != NULL);
        if (whole)
            oche_deflected_end(&iofd->table, entry);
    }
    iofd->counted[OCHE_IOFD_DEFLECTIONS]++;
    return deflect(iofd, packet, port, lane);
}

/* True if the packet may take the entry's way: its lane does not fall, and it does not go back. */
static bool may_use(const struct iofd *iofd, const struct oche_deflected_flow *entry,
                    unsigned in_port, const struct oche_packet *packet)
{
    const bool turns = iofd->port[in_port] & iofd->port[entry->port] & PORT_UP;
    const bool rises = turns && iofd->params->lanes == OCHE_IOFD_TURNS;

    return entry->port != in_port && entry->lane >= packet->traffic_class + rises;
}

/*
 * Returns the port that the table has for the packet's message, or -1 if the packet does not follow
 * an entry.
 */
static int follow(struct iofd *iofd, const struct oche_switch *sw, unsigned in_port,
                  struct oche_packet *packet, uint32_t flags, oche_time now)
{
    const bool last = flags & OCHE_OP_LAST;
    struct oche_deflected_key key = key_of(packet, tokens_of(iofd, packet));

    if (iofd->follows && (flags & OCHE_OP_FIRST) && !is_follower(iofd, packet)) {
        oche_deflected_forget(&iofd->table, &key);
        return -1;
    }
    struct oche_deflected_flow *entry = oche_deflected_look(&iofd->table, sw, &key, now);

    if (entry == NULL) {
        iofd->counted[OCHE_IOFD_LATE] += oche_deflected_gone(&iofd->table, &key);
        return -1;
    }
    if (OCHE_UNLIKELY(!may_use(iofd, entry, in_port, packet))) {
        if ((flags & OCHE_OP_FIRST) && !iofd->follows)
            oche_deflected_forget(&iofd->table, &key);
        else
            iofd->counted[OCHE_IOFD_NOT_FOLLOWED]++;
        return -1;
    }
    const int port = entry->port;

    if (OCHE_UNLIKELY(oche_switch_link_is_down(sw, entry->port))) {
        if (last)
            end(iofd, entry, packet);
        return port; /* the link is down, so the switch will drop the packet */
    }
    const uint8_t lane = entry->lane;

    iofd->counted[OCHE_IOFD_DEFLECTIONS] += iofd->follows && (flags & OCHE_OP_FIRST);
    oche_deflected_use(&iofd->table, sw, entry, now);
    if (last)
        end(iofd, entry, packet);
    return deflect(iofd, packet, port, lane);
}

/* True if packets of this kind may have an entry to follow. */
static bool may_follow(const struct iofd *iofd, const struct oche_packet *packet, uint32_t flags)
{
    const uint32_t kind = OCHE_OP_REQUEST | (iofd->follows ? 0 : OCHE_OP_PAYLOAD);

    return (flags & kind) == kind && iofd->table.count + iofd->table.gone > 0 &&
           tokens_of(iofd, packet) > 0;
}

static int route(void *state, struct oche_switch *sw, unsigned in_port, struct oche_packet *packet,
                 int port, oche_time now)
{
    const uint32_t starts = OCHE_OP_REQUEST | OCHE_OP_PAYLOAD | OCHE_OP_FIRST;
    struct iofd *iofd = state;
    uint32_t flags;
    int other;

    if (packet->kind != OCHE_PACKET_ROCE || packet->traffic_class >= iofd->lanes)
        return port;
    flags = oche_opcode(packet->opcode)->flags;
    if (!(iofd->port[in_port] & PORT_NETWORK))
        admit(iofd, packet);
    if (OCHE_UNLIKELY(port == (int)in_port) && (iofd->port[port] & PORT_NETWORK))
        port = other_way(iofd, sw, in_port, packet);
    if (may_follow(iofd, packet, flags) &&
        (other = follow(iofd, sw, in_port, packet, flags, now)) >= 0)
        return other;
    if ((flags & starts) == starts)
        return start(iofd, sw, in_port, packet, (unsigned)port, now);
    return go(packet, port,
              lane_behind(iofd, packet, in_port, (unsigned)port, tokens_of(iofd, packet)));
}

/* ---- packets at the ports ---- */

/*
 * True if the packet at a port may be one of an entry; `key` gets the key by which it would have
 * come in. A packet with as many tokens that was not deflected here may look the same; then the
 * entry lives longer, which does no harm.
 */
static bool key_at_port(const struct iofd *iofd, const struct oche_packet *packet,
                        struct oche_deflected_key *key)
{
    if (!iofd->follows || iofd->table.count == 0 || packet->kind != OCHE_PACKET_ROCE ||
        !oche_opcode_has(packet->opcode, OCHE_OP_REQUEST))
        return false;
    *key = key_of(packet, (packet->bth_reserved & OCHE_BTH_TOKENS) + 1U);
    return true;
}

static void enqueue(void *state, struct oche_switch *sw, unsigned port, struct oche_packet *packet,
                    oche_time now)
{
    struct iofd *iofd = state;
    struct oche_deflected_key key;

    (void)sw;
    (void)now;
    if (key_at_port(iofd, packet, &key))
        oche_deflected_queued(&iofd->table, &key, port);
}

static void dequeue(void *state, struct oche_switch *sw, unsigned port, struct oche_packet *packet,
                    oche_time now)
{
    struct iofd *iofd = state;
    struct oche_deflected_key key;

    if (key_at_port(iofd, packet, &key))
        oche_deflected_left(&iofd->table, sw, &key, port, now);
}

static void discard(void *state, struct oche_switch *sw, unsigned port,
                    const struct oche_packet *packet)
{
    struct iofd *iofd = state;
    struct oche_deflected_key key;

    (void)sw;
    if (key_at_port(iofd, packet, &key))
        oche_deflected_lost(&iofd->table, &key, port);
}

static void rerouted(void *state, const uint64_t *onward)
{
    struct iofd *iofd = state;

    iofd->onward = onward;
}

/* ---- counters ---- */

static void read_counters(const void *state, uint64_t *values)
{
    const struct iofd *iofd = state;

    for (unsigned i = 0; i < OCHE_IOFD_COUNTERS; i++)
        values[i] = iofd->counted[i];
    values[OCHE_IOFD_AGED] = iofd->table.aged;
    values[OCHE_IOFD_ENTRIES_PEAK] = iofd->table.peak;
}

static void reset_counters(void *state)
{
    struct iofd *iofd = state;

    for (unsigned i = 0; i < OCHE_IOFD_COUNTERS; i++)
        iofd->counted[i] = 0;
    iofd->table.aged = 0;
    iofd->table.peak = iofd->table.count;
}

const struct oche_switch_mechanism oche_iofd = {
    .name = "iofd",
    .help = "in-order flow deflection: short messages go round a queue (Dart sec IV)",
    .params = &oche_iofd_params,
    .check = check,
    .rnic_only = true,
    .lanes = lanes_of,
    .state_bytes = state_bytes,
    .create = create,
    .route = route,
    .enqueue = enqueue,
    .dequeue = dequeue,
    .discard = discard,
    .rerouted = rerouted,
    .counters = counters,
    .counter_count = OCHE_IOFD_COUNTERS,
    .read_counters = read_counters,
    .reset_counters = reset_counters,
};
