/* SPDX-License-Identifier: Apache-2.0 */
/* Random uneven networks: see the header. */
#include "tests/property/uneven_network.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base.h"
#include "tests/support/test.h"

#define MOST_SWITCHES 7
#define MOST_LINKS    24 /* between switches */
#define BUDGET_BYTES                                                                               \
    1500000. /* bytes that the links of all hosts together can carry in the duration */

static uint64_t below(struct uneven_network *network, uint64_t n)
{
    return oche_random_below(&network->random, n);
}

static uint64_t between(struct uneven_network *network, uint64_t least, uint64_t most)
{
    return least + below(network, most - least + 1);
}

static bool one_in(struct uneven_network *network, uint64_t n)
{
    return below(network, n) == 0;
}

static void *make(size_t count, size_t bytes)
{
    void *memory = calloc(count + 1, bytes);

    assert_non_null(memory);
    return memory;
}

/* ---- the network ---- */

/* Names in random order, some with several digits; each `number` gives another name. */
static void name_node(struct uneven_network *network, char *name, size_t bytes, uint32_t number)
{
    static const char *const words[] = {"gpu", "disk", "h", "x-9-", "Rack", "a.b_", "n00"};

    snprintf(name, bytes, "%s%u%s", words[below(network, OCHE_COUNT_OF(words))],
             (number * 7919U + 13) % 10007, one_in(network, 5) ? "z" : "");
}

/* Most networks have links of some hundred Mbit/s and run fast; some have fast links. */
static void put_values(struct uneven_network *network, bool slow, bool far, char *values,
                       size_t bytes, uint64_t *rate_mbps)
{
    static const uint64_t slow_rates[] = {10, 25, 100, 400, 1000};
    static const uint64_t fast_rates[] = {1000, 10000, 25000, 40000, 100000, 400000};
    const uint64_t rate = slow ? slow_rates[below(network, 5)] : fast_rates[below(network, 6)];
    uint64_t delay_ns = between(network, 20, 3000);

    if (far && one_in(network, 4))
        delay_ns = between(network, 20000, 3000000);
    snprintf(values, bytes, "%lluMbps %lluns", (unsigned long long)rate,
             (unsigned long long)delay_ns);
    *rate_mbps = rate;
}

static void add_link(struct uneven_network *network, bool slow, bool far, const char *a,
                     const char *b, uint64_t *rate_mbps)
{
    struct uneven_link *link = &network->links[network->link_count++];

    snprintf(link->ends[0], sizeof(link->ends[0]), "%s", a);
    snprintf(link->ends[1], sizeof(link->ends[1]), "%s", b);
    put_values(network, slow, far, link->values, sizeof(link->values), rate_mbps);
}

/* Returns the name of a switch, without its tier. */
static const char *switch_name(const struct uneven_network *network, uint64_t number, char *name)
{
    snprintf(name, 32, "%s", network->switches[number]);
    name[strcspn(name, " ")] = '\0';
    return name;
}

/* Makes a tree of switches, some additional links, some of them parallel, and hosts anywhere. */
static void make_links(struct uneven_network *network, bool slow, bool far)
{
    uint32_t switches = network->switch_count;
    uint64_t rate, sum = 0;
    char a[32], b[32];

    network->links = make(network->host_count + MOST_LINKS, sizeof(*network->links));
    for (uint32_t i = 1; i < switches; i++) {
        uint64_t parent = below(network, i);

        add_link(network, slow, far, switch_name(network, i, a), switch_name(network, parent, b),
                 &rate);
        while (one_in(network, 4) && network->link_count < MOST_LINKS / 2)
            add_link(network, slow, far, a, b, &rate);
    }
    for (uint64_t n = switches < 3 ? 0 : below(network, 6); n > 0; n--) {
        uint64_t from = below(network, switches), by = between(network, 1, switches - 1);

        add_link(network, slow, far, switch_name(network, from, a),
                 switch_name(network, (from + by) % switches, b), &rate);
    }
    for (uint32_t host = 0; host < network->host_count; host++) {
        add_link(network, slow, far, network->hosts[host],
                 switch_name(network, host < switches ? host : below(network, switches), a), &rate);
        sum += rate * OCHE_MBPS;
    }
    network->mean_bps = sum / network->host_count;
}

static void make_nodes(struct uneven_network *network)
{
    network->switch_count = (uint32_t)between(network, 1, MOST_SWITCHES);
    network->host_count = (uint32_t)between(network, 2, 20);
    if (network->host_count < network->switch_count)
        network->host_count = network->switch_count + 1;
    if (network->number % 20 == 7)
        network->host_count = (uint32_t)between(network, 257, 320);
    network->hosts = make(network->host_count, sizeof(*network->hosts));
    network->switches = make(network->switch_count, sizeof(*network->switches));
    for (uint32_t i = 0; i < network->host_count; i++)
        name_node(network, network->hosts[i], sizeof(network->hosts[i]), i);
    for (uint32_t i = 0; i < network->switch_count; i++) {
        char name[32];

        name_node(network, name, sizeof(name), 5000 + i);
        snprintf(network->switches[i], sizeof(network->switches[i]), "%s%s", name,
                 one_in(network, 3) ? " tor" : "");
    }
}

/* ---- the scenario ---- */

static void put(struct uneven_network *network, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void put(struct uneven_network *network, const char *format, ...)
{
    size_t used = strlen(network->text);
    va_list args;

    va_start(args, format);
    vsnprintf(network->text + used, sizeof(network->text) - used, format, args);
    va_end(args);
    assert_true(strlen(network->text) + 1 < sizeof(network->text));
}

static void put_load(struct uneven_network *network)
{
    put(network, ", load: 0.%llu", (unsigned long long)between(network, 1, 9));
    put(network, ", load_of: %s",
        network->switch_count > 1 && one_in(network, 2) ? "uplink" : "host");
    put(network, ", headers: %s", one_in(network, 2) ? "true" : "false");
}

static void put_pairs(struct uneven_network *network)
{
    put(network, ", pairs: \"");
    for (uint64_t n = between(network, 1, 5), i = 0; i < n; i++) {
        uint64_t src = below(network, network->host_count);
        uint64_t by = between(network, 1, network->host_count - 1);

        put(network, "%s%s>%s", i == 0 ? "" : ", ", network->hosts[src],
            network->hosts[(src + by) % network->host_count]);
    }
    put(network, "\"");
}

/* Returns a message size; a host's link carries several of them in the duration. */
static unsigned long long size(struct uneven_network *network)
{
    return 1 + below(network, (uint64_t)(BUDGET_BYTES / network->host_count / 3) + 200);
}

/* Returns false if the workload lasts as long as the run. */
static bool put_workload(struct uneven_network *network, unsigned type)
{
    const bool endless = one_in(network, 2);
    const unsigned long long degree =
        between(network, 1, network->host_count < 9 ? network->host_count - 1 : 8);

    switch (type) {
    case 0:
        put(network, "poisson_cdf, cdf: solar2022");
        put_load(network);
        if (one_in(network, 3))
            put(network, ", pairs: 2");
        return false;
    case 1:
        put(network, "closed_cdf, cdf: solar2022, pairs: %llu, outstanding: %llu",
            1 + (unsigned long long)below(network, 2), 1 + (unsigned long long)below(network, 3));
        return false;
    case 2:
        put(network, "background, bytes: %lluB, placement: %s, stagger: 1us", size(network),
            one_in(network, 2) ? "random" : "disjoint");
        return false;
    case 3:
        put(network, "permutation, bytes: %lluB, jitter: 2us, messages: %u", size(network),
            endless ? 0 : 1 + (unsigned)below(network, 3));
        return !endless;
    case 4:
        put(network, "incast, receiver: random, degree: %llu, bytes: %lluB, back_to_back: %s",
            degree, size(network), endless ? "true" : "false");
        return !endless;
    case 5:
        put(network, "incast_groups, sizes: \"200B, 3KB\", degree: %llu, groups: %u, jitter: 1us",
            degree, one_in(network, 2) ? 0 : 3);
        put_load(network);
        return false;
    case 6:
        put(network, "long_flows, bytes: %lluB, spread: 3us", size(network));
        put_load(network);
        if (one_in(network, 2))
            put(network, ", greedy: true, hosts: %s", one_in(network, 2) ? "all" : "by_load");
        return false;
    default:
        put(network, "transfers, bytes: %lluB, outstanding: %llu, messages: %u", size(network),
            1 + (unsigned long long)below(network, 2),
            endless ? 0 : 1 + (unsigned)below(network, 6));
        put_pairs(network);
        return !endless;
    }
}

static void put_scenario(struct uneven_network *network)
{
    static const char *const types[] = {"poisson_cdf", "closed_cdf",    "background", "permutation",
                                        "incast",      "incast_groups", "long_flows", "transfers"};
    static const char *const schemes[] = {"none", "none", "dcqcn", "timely", "dctcp", "ib_cc"};
    static const char *const recoveries[] = {"go_back_n", "selective_repeat"};
    const unsigned type = (unsigned)(network->number % OCHE_COUNT_OF(types));
    const double us = BUDGET_BYTES * 8e6 / (double)network->mean_bps / network->host_count;

    network->workload = types[type];
    network->text[0] = '\0';
    put(network, "seed: %llu\n", (unsigned long long)network->number + 1);
    put(network, "topology: {type: from_file, file: \"%%s\"}\n");
    put(network, "congestion_control: %s\n", schemes[below(network, OCHE_COUNT_OF(schemes))]);
    if (strstr(network->text, "dctcp") == NULL)
        put(network, "recovery: %s\n", recoveries[below(network, 2)]);
    put(network, "host: {mtu: %uB, connections: %s, feedback_jitter: %uns}\n",
        one_in(network, 2) ? 256 : 1024, one_in(network, 2) ? "per_pair" : "per_flow",
        one_in(network, 3) ? 700 : 0);
    put(network, "switch: {pfc: %s, kmin: 3KB, kmax: 30KB, pmax: 0.3}\n",
        one_in(network, 2) ? "true, buffer: 2000MB" : "false, buffer: 200KB");
    if (one_in(network, 4))
        put(network, "loss: {probability: 0.003}\n");
    put(network, "workload: {type: ");
    if (!put_workload(network, type) || one_in(network, 2))
        put(network, "}\nduration: %lluns\n", (unsigned long long)(us * 1000) + 1000);
    else
        put(network, "}\n");
}

void uneven_network_make(struct uneven_network *network, uint64_t number)
{
    *network = (struct uneven_network){.number = number,
                                       .random = oche_random_stream(number, "uneven network", 0)};
    make_nodes(network);
    const bool slow = !one_in(network, 3), far = one_in(network, 2);

    make_links(network, slow, far);
    put_scenario(network);
}

void uneven_network_free(struct uneven_network *network)
{
    free(network->hosts);
    free(network->switches);
    free(network->links);
}

/* ---- the file ---- */

static void make_order(struct uneven_network *network, uint32_t *order, uint32_t count,
                       bool shuffled)
{
    for (uint32_t i = 0; i < count; i++)
        order[i] = i;
    for (uint32_t i = count; shuffled && i > 1; i--) {
        uint64_t j = below(network, i);
        uint32_t at_j = order[j];

        order[j] = order[i - 1];
        order[i - 1] = at_j;
    }
}

static void write_lines(struct uneven_network *network, enum uneven_order order, FILE *out)
{
    uint32_t most =
        network->link_count > network->host_count ? network->link_count : network->host_count;
    uint32_t *lines = make(most + network->switch_count, sizeof(*lines));

    make_order(network, lines, network->host_count, order != UNEVEN_AS_MADE);
    for (uint32_t i = 0; i < network->host_count; i++)
        fprintf(out, "host %s\n", network->hosts[lines[i]]);
    make_order(network, lines, network->switch_count, order != UNEVEN_AS_MADE);
    for (uint32_t i = 0; i < network->switch_count; i++)
        fprintf(out, "switch %s\n", network->switches[lines[i]]);
    make_order(network, lines, network->link_count, order == UNEVEN_ALL_SHUFFLED);
    for (uint32_t i = 0; i < network->link_count; i++) {
        const struct uneven_link *link = &network->links[lines[i]];
        const unsigned turned = order == UNEVEN_ALL_SHUFFLED && one_in(network, 2);

        fprintf(out, "link %s %s %s\n", link->ends[turned], link->ends[1 - turned], link->values);
    }
    free(lines);
}

void uneven_network_write(struct uneven_network *network, enum uneven_order order, char *path)
{
    int file;

    strcpy(path, "/tmp/oche-uneven-XXXXXX");
    file = mkstemp(path);
    assert_true(file >= 0);
    FILE *out = fdopen(file, "w");

    assert_non_null(out);
    write_lines(network, order, out);
    assert_int_equal(fclose(out), 0);
}
