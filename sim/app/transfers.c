/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transfers: pairs of hosts, given by number or name, each of which sends messages one after the
 * other: a given number, or until the end of the run. The senders of DCQCN's secs 2.2 and 3.2 (Figs
 * 3, 4, 8, 9) are such pairs. With host.connections per_pair all messages of a pair use one queue
 * pair, so its path through the network and its congestion-control state last for the whole run;
 * with per_flow each message has its own queue pair.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "params/error.h"
#include "sim/app/generate.h"
#include "sim/app/host_names.h"

struct transfers {
    uint64_t initial_rate, tenant;
    uint32_t verb;
    const char *pairs;
    uint64_t bytes, messages, outstanding;
    oche_time start, stagger;
};

static const struct oche_param params[] = {
    {OCHE_PARAM(struct transfers, pairs), OCHE_IS_TEXT,
     .help =
         "sender and receiver by number or name, such as \"0>15, host5>host15\"; a pair that is "
         "named twice sends twice as much at a time"},
    {OCHE_PARAM(struct transfers, bytes), OCHE_IS_BYTES(4000000, 1, OCHE_MAX_FLOW_BYTES),
     .help = "size of a message"},
    {OCHE_PARAM(struct transfers, messages), OCHE_IS_COUNT(0, 0, 1000000),
     .help = "of each pair, one after the other; 0: on and on to the end of the run"},
    {OCHE_PARAM(struct transfers, outstanding), OCHE_IS_COUNT(1, 1, 1000),
     .help = "messages that a pair has under way at the same time"},
    {OCHE_PARAM(struct transfers, start), OCHE_IS_TIME(0, 0, 1000 * OCHE_SEC),
     .help = "of the first pair"},
    {OCHE_PARAM(struct transfers, stagger), OCHE_IS_TIME(0, 0, OCHE_SEC),
     .help = "each further pair starts this much later"},
    OCHE_PARAM_INITIAL_RATE(transfers),
};
static const struct oche_param_table table = OCHE_PARAM_TABLE(params, struct transfers);

/* State of reading the parameter `pairs`; `at` is the next character. */
struct reader {
    const char *at;
    const struct oche_workload_facts *facts;
    struct oche_host_names names;
    struct oche_error *error;
};

static void skip_blanks(struct reader *reader)
{
    reader->at += strspn(reader->at, " \t\r\n");
}

#define NO_PAIR "pairs: \"%.*s\" is no pair; two hosts, such as 0>15 or host0>host15"

/* Reads a host's name, which begins with no digit. */
static bool read_name(struct reader *reader, const char *begin, uint32_t *host)
{
    const size_t bytes = strcspn(reader->at, ">, \t\r\n");
    char name[OCHE_TOPOLOGY_NAME_BYTES];

    if (bytes == 0)
        return oche_fail(reader->error, NO_PAIR, (int)strcspn(begin, ","), begin);
    snprintf(name, sizeof(name), "%.*s", (int)bytes, reader->at);
    if (bytes >= sizeof(name) || !oche_host_names_find(&reader->names, name, host))
        return oche_fail(reader->error,
                         "pairs: no host is called \"%.*s\"; a number, 0 to %u, or a name as in "
                         "tables",
                         (int)bytes, reader->at, reader->facts->host_count - 1);
    reader->at += bytes;
    skip_blanks(reader);
    return true;
}

static bool read_host(struct reader *reader, const char *begin, uint32_t *host)
{
    size_t digits;

    skip_blanks(reader);
    digits = strspn(reader->at, "0123456789");
    if (digits == 0)
        return read_name(reader, begin, host);
    unsigned long number = digits < 10 ? strtoul(reader->at, NULL, 10) : UINT32_MAX;

    if (number >= reader->facts->host_count)
        return oche_fail(reader->error, "pairs: there is no host %.*s; 0 to %u", (int)digits,
                         reader->at, reader->facts->host_count - 1);
    *host = (uint32_t)number;
    reader->at += digits;
    skip_blanks(reader);
    return true;
}

/* Reads one pair, and the comma that separates it from the next pair. */
static bool read_pair(struct reader *reader, struct oche_host_pair *pair)
{
    skip_blanks(reader);
    const char *begin = reader->at;

    if (!read_host(reader, begin, &pair->src))
        return false;
    if (*reader->at != '>')
        return oche_fail(reader->error, NO_PAIR, (int)strcspn(begin, ","), begin);
    reader->at++;
    if (!read_host(reader, begin, &pair->dst))
        return false;
    if (*reader->at != ',' && *reader->at != '\0')
        return oche_fail(reader->error, "pairs: \"%.*s\" is more than a pair; a comma after each",
                         (int)strcspn(begin, ","), begin);
    reader->at += *reader->at == ',';
    if (pair->src == pair->dst)
        return oche_fail(reader->error, "pairs: host %u sends to itself; another host", pair->src);
    return true;
}

/*
 * Reads all pairs, at least one. The caller frees the returned array; NULL, with an error, on
 * failure.
 */
static struct oche_host_pair *read_pairs(struct reader *reader, size_t *count)
{
    size_t most = 1;

    if (reader->at == NULL || reader->at[strspn(reader->at, " \t\r\n")] == '\0') {
        oche_fail(reader->error, "pairs: not given; sender and receiver, such as \"0>15, 5>15\"");
        return NULL;
    }
    for (const char *c = reader->at; *c != '\0'; c++)
        most += *c == ',';
    struct oche_host_pair *pairs = malloc(most * sizeof(*pairs));

    if (pairs == NULL) {
        oche_fail(reader->error, "pairs: no memory for %zu of them; fewer", most);
        return NULL;
    }
    for (*count = 0; *count < most; (*count)++)
        if (!read_pair(reader, &pairs[*count])) {
            free(pairs);
            return NULL;
        }
    return pairs;
}

/* Returns how many messages a chain of the pair has if it goes on to the end of the run. */
static uint64_t enough(const struct transfers *p, const struct oche_workload_facts *facts,
                       const struct oche_host_pair *pair, oche_time start)
{
    return oche_workload_enough(facts, start, p->bytes,
                                oche_workload_pair_bps(facts, pair->src, pair->dst));
}

static bool check(const struct transfers *p, const struct oche_workload_facts *facts,
                  const struct oche_host_pair *list, size_t pairs, struct oche_error *error)
{
    uint64_t messages = p->messages * pairs;

    if (p->stagger > 0 && pairs - 1 > (facts->duration - 1 - p->start) / p->stagger)
        return oche_fail(error,
                         "stagger: the last of %zu pairs would start after the end of "
                         "the run; less, or fewer pairs",
                         pairs);
    for (size_t i = 0; p->messages == 0 && i < pairs; i++)
        messages += p->outstanding * enough(p, facts, &list[i], p->start);
    if (messages > OCHE_WORKLOAD_MAX_FLOWS)
        return oche_fail(error, "%s: %llu messages of each pair make more than %u flows; %s",
                         p->messages == 0 ? "bytes" : "messages",
                         (unsigned long long)(messages / pairs), OCHE_WORKLOAD_MAX_FLOWS,
                         p->messages == 0 ? "larger ones" : "fewer");
    return true;
}

/* Adds the messages of one pair, as `outstanding` chains. Returns false without memory. */
static bool add_pair(const struct transfers *p, const struct oche_workload_facts *facts,
                     struct oche_flow_list *list, const struct oche_host_pair *pair,
                     oche_time start)
{
    bool good = true;

    for (uint64_t k = 0; k < p->outstanding && good; k++) {
        uint64_t messages = p->messages == 0
                                ? enough(p, facts, pair, start)
                                : (p->messages + p->outstanding - 1 - k) / p->outstanding;

        good = oche_workload_chain(list, facts, pair->src, pair->dst, p->bytes, start, messages);
    }
    return good;
}

static bool generate(const void *values, const struct oche_workload_facts *facts,
                     struct oche_flow_list *list, struct oche_error *error)
{
    const struct transfers *p = values;
    struct reader reader = {
        .at = p->pairs, .facts = facts, .names = {.topology = facts->topology}, .error = error};
    struct oche_host_pair *pairs;
    size_t count;
    bool good = true;

    if (!oche_workload_has_hosts(facts, error) || !oche_workload_starts(p->start, facts, error))
        return false;
    pairs = read_pairs(&reader, &count);
    oche_host_names_free(&reader.names);
    if (pairs == NULL || !check(p, facts, pairs, count, error)) {
        free(pairs);
        return false;
    }
    list->initial_rate_bps = p->initial_rate;
    list->tenant = (uint8_t)p->tenant;
    for (size_t i = 0; i < count && good; i++)
        good = add_pair(p, facts, list, &pairs[i], p->start + i * p->stagger);
    free(pairs);
    return good || oche_workload_no_memory(list, error);
}

static const char *endless(const void *values)
{
    const struct transfers *p = values;

    return p->messages == 0 ? "set its messages" : NULL;
}

const struct oche_workload_type oche_workload_transfers = {
    .name = "transfers",
    .help = "pairs of hosts, given by number or name, that send message after message",
    .table = &table,
    .ends = "ends by itself with messages above 0; else goes on for as long as the run",
    .endless = endless,
    .generate = generate,
};
