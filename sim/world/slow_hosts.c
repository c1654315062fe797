/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scenario's lists `slow_receivers` and `pause_storms`: which hosts are in them, and whether
 * what they say fits the network.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/ib_credits.h"
#include "fabric/pfc.h"
#include "fabric/shared_buffer.h"
#include "sim/world/host_list.h"
#include "sim/world/internal.h"

/* One entry of either list, and what is done with its hosts. */
struct entry {
    const struct oche_world *world;
    const char *list; /* "slow_receivers", "pause_storms" */
    uint32_t number;  /* its number in its list, from 0 */
    uint8_t lossless; /* mask of the classes that PFC applies to */
    struct oche_error *error;
    struct oche_receiver_thresholds *thresholds; /* thresholds of the hosts that were examined */
};

#define REFUSE(entry, key, format, ...)                                                            \
    oche_fail((entry)->error, "%s[%u]" key ": " format, (entry)->list,                             \
              (entry)->number __VA_OPT__(, ) __VA_ARGS__)

/* Calls `add` for each host that the entry names. */
static bool each_host(struct entry *entry, const char *hosts, bool (*add)(void *of, uint32_t host))
{
    return oche_world_each_host(&entry->world->topology, entry->list, entry->number, hosts, add,
                                entry, entry->error);
}

/* ---- slow receivers ---- */

/* Returns what arrives at a host after it has decided to pause, at most. */
static uint64_t headroom_of(const struct oche_world *world, uint32_t host)
{
    const struct oche_topology_port *end = oche_topology_port(&world->topology, host, 0);
    struct oche_switch_port_config ports[OCHE_MAX_PORTS];
    struct oche_switch_config config;

    oche_world_switch_config(world, end->peer - world->topology.host_count, &config, ports);
    return oche_buffer_headroom_needed(&config, end->peer_port);
}

/* `params`: of an entry of the list, or of an adapter; entry->list says whose, for errors. */
static bool set_receiver(const struct entry *entry, uint32_t host,
                         const struct oche_receiver_params *params, uint64_t mark_bytes)
{
    struct oche_slow_host_config *slow = &entry->world->slow_hosts[host];
    uint64_t frame = oche_world_packets(entry->world->config).frame_bytes;
    const char *name = entry->world->topology.nodes[host].name;
    uint8_t data = (uint8_t)((1U << (entry->world->class_count - 1U)) - 1);
    uint64_t headroom = entry->lossless != 0 ? headroom_of(entry->world, host) : 0;

    if (slow->drain_bps > 0)
        return REFUSE(entry, ".hosts", "%s is in the list already; name it once", name);
    slow->mark_bytes = mark_bytes;
    slow->waiting = data;
    slow->lossless = entry->lossless & data;
    slow->drain_bps = params->drain_bps;
    slow->buffer_bytes = params->buffer_bytes;
    slow->xoff_bytes = params->xoff_bytes;
    slow->xon_bytes = params->xon_bytes;
    if (slow->buffer_bytes < frame)
        return REFUSE(entry, ".buffer",
                      "%llu bytes, less than a packet; would be right: at least %llu bytes",
                      (unsigned long long)slow->buffer_bytes, (unsigned long long)frame);
    if (slow->xoff_bytes == OCHE_NEVER && slow->buffer_bytes < headroom + frame)
        return REFUSE(entry, ".buffer",
                      "%llu bytes is less than the PFC headroom of %s, %llu bytes, and a packet; "
                      "would be right: at least %llu bytes, or an xoff",
                      (unsigned long long)slow->buffer_bytes, name, (unsigned long long)headroom,
                      (unsigned long long)(headroom + frame));
    if (slow->xoff_bytes == OCHE_NEVER)
        slow->xoff_bytes = slow->buffer_bytes - headroom - frame;
    if (slow->xoff_bytes > slow->buffer_bytes)
        return REFUSE(entry, ".xoff", "%llu bytes is above buffer, %llu bytes; at most buffer",
                      (unsigned long long)slow->xoff_bytes, (unsigned long long)slow->buffer_bytes);
    if (slow->xon_bytes == OCHE_NEVER)
        slow->xon_bytes = slow->xoff_bytes > 2 * frame ? slow->xoff_bytes - 2 * frame : 0;
    if (slow->xon_bytes > slow->xoff_bytes)
        return REFUSE(entry, ".xon", "%llu bytes is above xoff, %llu bytes; at most xoff",
                      (unsigned long long)slow->xon_bytes, (unsigned long long)slow->xoff_bytes);
    return true;
}

static bool add_receiver(void *of, uint32_t host)
{
    const struct entry *entry = of;

    return set_receiver(entry, host, &entry->world->config->receivers[entry->number], OCHE_NEVER);
}

/* Writes the key that names a host's adapter. */
static void name_adapter(const struct oche_world *world, uint32_t host, char *key, size_t bytes)
{
    const struct oche_host_nic *own = world->nics_of != NULL ? world->nics_of[host] : NULL;

    if (own == NULL)
        snprintf(key, bytes, "host.nic");
    else
        snprintf(key, bytes, "nics[%u].nic", (unsigned)(own - world->nics) - 1);
}

/* Gives a host the receive path of its adapter. */
static bool add_adapter(const struct entry *all, uint32_t host,
                        const struct oche_nic_habits *habits)
{
    const struct oche_world *world = all->world;
    const struct oche_receiver_params params = {.drain_bps = habits->drain_bps,
                                                .buffer_bytes = habits->ingress_buffer_bytes,
                                                .xoff_bytes = OCHE_NEVER,
                                                .xon_bytes = OCHE_NEVER};
    static const char without[] = "without it: ingress_buffer=0, drain_rate=0bps, "
                                  "ingress_mark=never";
    const char *name = world->topology.nodes[host].name;
    struct entry entry = *all;
    struct oche_error why;
    char key[40];

    entry.error = &why;
    name_adapter(world, host, key, sizeof(key));
    if (oche_world_mechanism(world->config, &oche_ib_credits) != NULL)
        return oche_fail(all->error,
                         "%s: ingress_buffer of %s: links with credits have no PAUSE; %s", key,
                         name, without);
    if (set_receiver(&entry, host, &params, habits->ingress_mark_bytes))
        return true;
    return oche_fail(all->error,
                     "%s: ingress_buffer of %s: %llu bytes are less than a packet and the headroom "
                     "that PFC needs on its link; switch.pfc: false, or a larger one, or %s",
                     key, name, (unsigned long long)habits->ingress_buffer_bytes, without);
}

/* The same for all hosts, unless they are in the list. */
static bool add_adapters(const struct entry *entry)
{
    const struct oche_world *world = entry->world;

    for (uint32_t host = 0; host < world->topology.host_count; host++) {
        const struct oche_nic_habits *habits = oche_world_nic_of(world, host);

        if (habits->ingress_buffer_bytes > 0 && world->slow_hosts[host].drain_bps == 0 &&
            !add_adapter(entry, host, habits))
            return false;
    }
    return true;
}

static bool take_thresholds(void *of, uint32_t host)
{
    const struct entry *entry = of;
    const struct oche_slow_host_config *slow = &entry->world->slow_hosts[host];
    struct oche_receiver_thresholds *all = entry->thresholds;
    uint64_t headroom;

    all->least_xoff = slow->xoff_bytes < all->least_xoff ? slow->xoff_bytes : all->least_xoff;
    all->most_xoff = slow->xoff_bytes > all->most_xoff ? slow->xoff_bytes : all->most_xoff;
    all->least_xon = slow->xon_bytes < all->least_xon ? slow->xon_bytes : all->least_xon;
    all->most_xon = slow->xon_bytes > all->most_xon ? slow->xon_bytes : all->most_xon;
    if (slow->lossless == 0)
        return false;
    headroom = headroom_of(entry->world, host);
    all->most_headroom = headroom > all->most_headroom ? headroom : all->most_headroom;
    return true;
}

bool oche_world_receiver_thresholds(const struct oche_world *world, uint32_t number,
                                    struct oche_receiver_thresholds *thresholds)
{
    const struct oche_world_config *config = world->config;
    struct oche_error error;
    struct entry entry = {.world = world,
                          .list = "slow_receivers",
                          .number = number,
                          .error = &error,
                          .thresholds = thresholds};

    *thresholds =
        (struct oche_receiver_thresholds){.least_xoff = OCHE_NEVER, .least_xon = OCHE_NEVER};
    return number < config->receiver_count &&
           each_host(&entry, config->receivers[number].hosts, take_thresholds);
}

/* ---- PAUSE storms ---- */

/* Reads "all", or a list of classes by number, into a mask. */
static bool read_priorities(const struct entry *entry, const char *text, uint8_t *mask)
{
    const struct oche_world *world = entry->world;
    unsigned in_use = world->class_count;
    char *copy, *rest;
    bool fine = true;

    *mask = 0;
    if (text == NULL || *text == '\0' || strcmp(text, "all") == 0) {
        *mask = (uint8_t)((1U << in_use) - 1);
        return true;
    }
    copy = rest = strdup(text);
    OCHE_GOT(copy != NULL);
    for (char *word; fine && (word = strsep(&rest, ", ")) != NULL;) {
        if (*word == '\0')
            continue;
        fine = word[1] == '\0' && *word >= '0' && *word < '0' + (char)in_use;
        if (!fine)
            REFUSE(entry, ".priorities",
                   "\"%.64s\" is no class; write numbers from 0 to %u, or all", word, in_use - 1);
        else
            *mask |= (uint8_t)(1U << (*word - '0'));
    }
    free(copy);
    if (fine && *mask == 0)
        return REFUSE(entry, ".priorities", "names none; write numbers from 0 to %u, or all",
                      in_use - 1);
    return fine;
}

static int compare_storms(const void *a, const void *b)
{
    const struct oche_pause_storm *x = a, *y = b;

    return x->at < y->at ? -1 : x->at > y->at;
}

static bool add_storm(void *of, uint32_t host)
{
    const struct entry *entry = of;
    const struct oche_storm_params *params = &entry->world->config->storms[entry->number];
    struct oche_slow_host_config *slow = &entry->world->slow_hosts[host];
    struct oche_pause_storm storm = {
        .at = params->at, .until = params->until, .quanta = (uint16_t)params->quanta};

    if (!read_priorities(entry, params->priorities, &storm.classes))
        return false;
    for (uint32_t i = 0; i < slow->storm_count; i++)
        if (storm.at < slow->storms[i].until && slow->storms[i].at < storm.until)
            return REFUSE(entry, ".at",
                          "%s has a storm at that time already; make one of them end before the "
                          "other begins",
                          entry->world->topology.nodes[host].name);
    if (slow->storms == NULL)
        slow->storms = oche_world_make(entry->world->config->storm_count, sizeof(*slow->storms));
    slow->storms[slow->storm_count++] = storm;
    qsort(slow->storms, slow->storm_count, sizeof(*slow->storms), compare_storms);
    return true;
}

static bool check_storm(const struct entry *entry)
{
    const struct oche_world_config *config = entry->world->config;
    const struct oche_storm_params *params = &config->storms[entry->number];

    if (entry->lossless == 0)
        return REFUSE(entry, "", "nobody obeys: %s; leave it out, or change that",
                      config->switches.pfc ? "PFC does not apply to packets of this "
                                             "congestion_control"
                                           : "switch.pfc is false");
    if (params->until <= params->at)
        return REFUSE(entry, ".until", "is not after at; make it later, or never");
    if (config->run.duration > 0 && params->at >= config->run.duration)
        return REFUSE(entry, ".at", "is not before the end of the run; make it less than duration");
    return true;
}

/* ---- both ---- */

static bool check_credits(const struct entry *entry)
{
    if (oche_world_mechanism(entry->world->config, &oche_ib_credits) == NULL)
        return true;
    return REFUSE(entry, "",
                  "links with credits have no PAUSE; leave it out, or ib_credits in "
                  "switch.mechanisms");
}

bool oche_world_build_slow_hosts(struct oche_world *world, uint8_t lossless,
                                 struct oche_error *error)
{
    const struct oche_world_config *config = world->config;
    uint32_t hosts = world->topology.host_count;
    struct entry entry = {.world = world,
                          .list = "slow_receivers",
                          .lossless = config->switches.pfc ? lossless : 0,
                          .error = error};

    if (config->receiver_count + config->storm_count == 0 && !oche_world_nics_buffer(world))
        return true;
    world->slow_hosts = oche_world_make(hosts, sizeof(*world->slow_hosts));
    for (; entry.number < config->receiver_count; entry.number++)
        if (!check_credits(&entry) ||
            !each_host(&entry, config->receivers[entry.number].hosts, add_receiver))
            return false;
    if (oche_world_nics_buffer(world) && !add_adapters(&entry))
        return false;
    entry.list = "pause_storms";
    for (entry.number = 0; entry.number < config->storm_count; entry.number++)
        if (!check_credits(&entry) || !check_storm(&entry) ||
            !each_host(&entry, config->storms[entry.number].hosts, add_storm))
            return false;
    return true;
}

void oche_world_free_slow_hosts(struct oche_world *world)
{
    for (uint32_t i = 0; world->slow_hosts != NULL && i < world->topology.host_count; i++)
        free(world->slow_hosts[i].storms);
    free(world->slow_hosts);
}

/* ---- parameters ---- */

#define MOST_BUFFER (UINT64_C(1) << 31)

static const struct oche_param receiver_params[] = {
    {OCHE_PARAM(struct oche_receiver_params, hosts), OCHE_IS_TEXT, .where = "our choice",
     .help = "hosts that receive slowly: host3, or a list, or all"},
    {OCHE_PARAM_AS("drain_rate", struct oche_receiver_params, drain_bps),
     OCHE_IS_BPS(10 * OCHE_GBPS, OCHE_MBPS, 1000 * OCHE_GBPS * 1000), .where = "our choice",
     .help = "at which packets of data leave the NIC's receive buffer, headers included"},
    {OCHE_PARAM_AS("buffer", struct oche_receiver_params, buffer_bytes),
     OCHE_IS_BYTES(1000000, 1, MOST_BUFFER), .where = "our choice",
     .help = "the receive buffer; a packet that finds no room is dropped"},
    {OCHE_PARAM_AS("xoff", struct oche_receiver_params, xoff_bytes),
     OCHE_IS_BYTES(OCHE_NEVER, 0, MOST_BUFFER), .automatic = true, .where = "dcqcn.md#a12",
     .help = "with more than this in its buffer the host sends PAUSE; auto: buffer without the "
             "headroom of the link, and a packet"},
    {OCHE_PARAM_AS("xon", struct oche_receiver_params, xon_bytes),
     OCHE_IS_BYTES(OCHE_NEVER, 0, MOST_BUFFER), .automatic = true, .where = "dcqcn.md#a12",
     .help = "with no more than this it resumes; auto: two packets below xoff"},
};
const struct oche_param_table oche_receiver_params =
    OCHE_PARAM_TABLE(receiver_params, struct oche_receiver_params);

static const struct oche_param storm_params[] = {
    {OCHE_PARAM(struct oche_storm_params, hosts), OCHE_IS_TEXT, .where = "our choice",
     .help = "hosts that send PAUSEs: host3, or a list, or all"},
    {OCHE_PARAM(struct oche_storm_params, at), OCHE_IS_TIME(0, 0, 86400 * OCHE_SEC),
     .where = "our choice", .help = "when they begin"},
    {OCHE_PARAM(struct oche_storm_params, until), OCHE_IS_TIME(OCHE_NEVER, 1, OCHE_NEVER),
     .where = "our choice", .help = "when they end, with a RESUME; never: not in this run"},
    {OCHE_PARAM(struct oche_storm_params, priorities), OCHE_IS_TEXT, .where = "rocev2.md#pfc",
     .help = "classes that are paused, by number: 0 is data, the last one ACKs and CNPs; without "
             "it, or all: all of them"},
    {OCHE_PARAM(struct oche_storm_params, quanta),
     OCHE_IS_COUNT(OCHE_PFC_MAX_QUANTA, 64, OCHE_PFC_MAX_QUANTA), .where = "rocev2.md#pfc",
     .help = "of each PAUSE, of 512 bit times; it is repeated when half of them have passed"},
};
const struct oche_param_table oche_storm_params =
    OCHE_PARAM_TABLE(storm_params, struct oche_storm_params);
