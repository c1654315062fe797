/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The topology files of ns-3's HPCC fork and its children (ConWeave, ns3-datacenter). Numbers and
 * texts with blanks between:
 *
 *     NODES SWITCHES LINKS        ns3-datacenter: NODES SWITCHES TORS LINKS
 *     ID …                        of each switch
 *     SRC DST 100Gbps 1000ns 0    each link; the last number is a rate of loss
 *
 * Nodes that are no switches are hosts. A node's name has its number in the file: host7, switch8.
 * If hosts have the lowest numbers, these are their numbers here, too; else lists of flows find
 * hosts by their names (struct oche_topology.numbered_by_name).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/topology/file_links.h"
#include "sim/topology/ns3_rate.h"

#define WORDS_HPCC       3
#define WORDS_DATACENTER 4
#define WORDS_SIMAI      5 /* or 6 */

/* The words of a file, over all its lines. */
struct words {
    struct oche_statements *file;
    char *rest;            /* of the line; NULL: the next one comes */
    const uint32_t *place; /* of each node of the file, among the nodes of the topology */
};

static const char *next_word(struct words *words)
{
    char *word;

    for (;;) {
        while ((word = strsep(&words->rest, " \t")) != NULL)
            if (*word != '\0')
                return word;
        words->rest = oche_text_next(&words->file->input);
        words->file->line = words->file->input.line;
        if (words->rest == NULL)
            return NULL;
    }
}

static bool to_number(struct oche_statements *file, const char *word, const char *what,
                      uint64_t most, uint32_t *number)
{
    uint64_t value;

    if (word == NULL)
        return oche_statements_fail(file, "ends where %s should be", what);
    if (!oche_text_count(word, &value) || value > most)
        return oche_statements_fail(file, "\"%.40s\" is no %s; a whole number, at most %llu", word,
                                    what, (unsigned long long)most);
    *number = (uint32_t)value;
    return true;
}

struct head {
    uint32_t nodes, switches, links;
};

static bool read_head(struct oche_statements *file, struct head *head)
{
    const unsigned count = file->word_count;

    if (count >= WORDS_SIMAI)
        return oche_statements_fail(
            file,
            "%u numbers, as in SimAI's topologies, whose GPUs have several links; here a "
            "host has one: write a topology without NVSwitches, and set ranks_per_host and "
            "local_rate",
            count);
    if (count < WORDS_HPCC)
        return oche_statements_fail(file, "%u numbers; nodes, switches and links would be right",
                                    count);
    return to_number(file, file->words[0], "number of nodes", OCHE_TOPOLOGY_MAX_NODES,
                     &head->nodes) &&
           to_number(file, file->words[1], "number of switches", OCHE_TOPOLOGY_MAX_NODES,
                     &head->switches) &&
           to_number(file, file->words[count - 1], "number of links", OCHE_TOPOLOGY_MAX_LINKS,
                     &head->links);
}

/* Reads the numbers of the switches, and marks them. */
static bool read_switches(struct words *words, const struct head *head, bool *is_switch)
{
    for (uint32_t i = 0; i < head->switches; i++) {
        uint32_t number = 0;

        if (!to_number(words->file, next_word(words), "node", head->nodes - 1, &number))
            return false;
        if (is_switch[number])
            return oche_statements_fail(words->file, "node %u is in the list of switches twice",
                                        number);
        is_switch[number] = true;
    }
    return true;
}

/* Gives the nodes names and places: hosts first, each kind in the order of its numbers. */
static void name_nodes(struct oche_topology *topology, const bool *is_switch, uint32_t *place)
{
    const uint32_t nodes = oche_topology_nodes(topology);
    uint32_t hosts = 0, switches = topology->host_count;

    for (uint32_t i = 0; i < nodes; i++) {
        place[i] = is_switch[i] ? switches++ : hosts++;
        topology->numbered_by_name |= place[i] != i;
        oche_topology_name(topology, place[i], is_switch[i] ? OCHE_TIER_BY_LINKS : OCHE_NODE_HOST,
                           OCHE_NO_POD, is_switch[i] ? "switch" : "host", i);
    }
}

static bool read_link(struct words *words, struct oche_topology *topology)
{
    const uint32_t nodes = oche_topology_nodes(topology);
    const char *rate, *delay, *loss;
    char rate_text[40], delay_text[40];
    uint32_t a = 0, b = 0;
    uint64_t rate_bps;
    double lost;

    if (!to_number(words->file, next_word(words), "node", nodes - 1, &a) ||
        !to_number(words->file, next_word(words), "node", nodes - 1, &b))
        return false;
    rate = next_word(words);
    if (rate != NULL && oche_ns3_rate(rate, &rate_bps))
        snprintf(rate_text, sizeof(rate_text), "%llubps", (unsigned long long)rate_bps);
    else
        snprintf(rate_text, sizeof(rate_text), "%s", rate != NULL ? rate : "");
    delay = next_word(words);
    snprintf(delay_text, sizeof(delay_text), "%s", delay != NULL ? delay : "");
    loss = next_word(words);
    if (loss == NULL)
        return oche_statements_fail(words->file, "ends within a link; two nodes, a rate, a delay "
                                                 "and a rate of loss would be right");
    if (!oche_text_real(loss, &lost) || lost > 0)
        return oche_statements_fail(words->file,
                                    "a loss of %.40s; 0 would be right here: set it in the "
                                    "scenario, in `loss`",
                                    loss);
    return oche_file_link(words->file, topology, words->place[a], words->place[b], rate_text,
                          delay_text);
}

/* Reads the links. *more is true if something follows them, which those programs do not read. */
static bool read_links(struct words *words, struct oche_topology *topology, uint32_t links,
                       bool *more)
{
    for (uint32_t i = 0; i < links; i++)
        if (!read_link(words, topology))
            return false;
    *more = next_word(words) != NULL;
    return true;
}

bool oche_hpcc_topology_read(struct oche_statements *file, struct oche_topology *topology,
                             uint32_t *links, bool *more)
{
    struct words words = {.file = file};
    struct head head = {.nodes = 0};
    uint32_t *place;
    bool *is_switch, good;

    if (!read_head(file, &head))
        return false;
    if (head.nodes < head.switches + 2 || head.switches == 0)
        return oche_statements_fail(file,
                                    "%u nodes and %u switches; at least two hosts and a "
                                    "switch would be right",
                                    head.nodes, head.switches);
    is_switch = calloc(head.nodes, sizeof(*is_switch));
    place = calloc(head.nodes, sizeof(*place));
    OCHE_GOT(is_switch != NULL && place != NULL);
    words.place = place;
    good = read_switches(&words, &head, is_switch) &&
           oche_topology_begin(topology, head.nodes - head.switches, head.switches, head.links,
                               file->error);
    if (good) {
        name_nodes(topology, is_switch, place);
        good = read_links(&words, topology, head.links, more);
    }
    free(is_switch);
    free(place);
    *links = head.links;
    return good;
}
