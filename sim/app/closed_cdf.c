/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Closed loops with sizes from a distribution: random pairs of hosts, each of which keeps
 * `outstanding` messages in flight; when a message is acknowledged the next one starts, until the
 * end of the run. This is the user traffic of DCQCN's benchmark (sec 6.2): if the network is slow,
 * a pair sends less, so its load does not build up. Each pair has random streams of its own, so
 * adding pairs, or messages in flight, does not change the others.
 */
#include <stdlib.h>
#include <string.h>

#include "params/error.h"
#include "sim/app/cdf.h"
#include "sim/app/cdf_data.h"
#include "sim/app/generate.h"

#define X(name, text) CDF_##name,
enum cdf { OCHE_CDF_DATA };
#undef X

struct closed {
    uint64_t initial_rate, tenant;
    uint32_t verb;
    uint64_t pairs, outstanding;
    uint32_t cdf; /* index into oche_cdf_names */
    const char *cdf_file;
    oche_time start;
};

static const struct oche_param params[] = {
    {OCHE_PARAM(struct closed, pairs), OCHE_IS_COUNT(1, 1, 100000),
     .help = "sender and receiver, drawn at random, no two pairs the same"},
    {OCHE_PARAM(struct closed, cdf), OCHE_IS_CHOICE(CDF_websearch, oche_cdf_names),
     .needs = "!cdf_file", .where = "workloads.md#distributions",
     .help = "published distribution of message sizes"},
    {OCHE_PARAM(struct closed, cdf_file), OCHE_IS_TEXT, .where = "workloads.md#files",
     .help = "instead of cdf: a file of lines \"size_bytes cdf\", in percent or fractions"},
    {OCHE_PARAM(struct closed, outstanding), OCHE_IS_COUNT(1, 1, 1000),
     .help = "messages that a pair has under way at the same time"},
    {OCHE_PARAM(struct closed, start), OCHE_IS_TIME(0, 0, 1000 * OCHE_SEC), .help = "of all pairs"},
    OCHE_PARAM_INITIAL_RATE(closed),
};
static const struct oche_param_table table = OCHE_PARAM_TABLE(params, struct closed);

/* The distribution that messages are drawn from, and the sizes that turn bytes into packets. */
struct sizes {
    struct oche_cdf cdf;
    uint32_t mtu_bytes, header_bytes;
};

static void release_sizes(void *context)
{
    struct sizes *sizes = context;

    oche_cdf_free(&sizes->cdf);
    free(sizes);
}

#define ENOUGH UINT64_MAX /* of `left`: there is no further message */

/*
 * Draws the next message of a loop, until the messages last longer than the run even if nothing
 * else uses the two hosts' links: `left` is the room on the line that they have not filled.
 */
static bool draw_message(struct oche_flow_source *source)
{
    const struct sizes *sizes = source->context;
    uint64_t bytes, packets;

    if (source->left == ENOUGH)
        return false;
    bytes = source->flow.bytes = oche_cdf_sample(&sizes->cdf, &source->random);
    packets = (bytes + sizes->mtu_bytes - 1) / sizes->mtu_bytes;
    bytes += sizes->header_bytes * packets;
    if (source->left == 0)
        source->left = ENOUGH;
    else
        source->left -= source->left < bytes ? source->left : bytes;
    return true;
}

/* True if the messages of all pairs are not too many; else writes an error. */
static bool check_messages(const struct closed *p, const struct oche_workload_facts *facts,
                           const struct sizes *sizes, const struct oche_host_pair *pairs,
                           struct oche_error *error)
{
    double messages = 0;

    for (uint64_t i = 0; i < p->pairs; i++)
        messages +=
            (double)oche_bytes_in_time(facts->duration - p->start,
                                       oche_workload_pair_bps(facts, pairs[i].src, pairs[i].dst)) /
                (sizes->cdf.mean + facts->header_bytes) +
            2;
    if (messages * (double)p->outstanding <= OCHE_WORKLOAD_MAX_FLOWS)
        return true;
    return oche_fail(error,
                     "pairs: make more than %u flows until the end of the run; fewer pairs, "
                     "larger messages, or a shorter run",
                     OCHE_WORKLOAD_MAX_FLOWS);
}

static bool add_pairs(const struct closed *p, const struct oche_workload_facts *facts,
                      struct oche_flow_list *list, const struct sizes *sizes,
                      const struct oche_host_pair *pairs)
{
    bool good = true;

    for (uint64_t pair = 0; pair < p->pairs && good; pair++) {
        uint32_t src = pairs[pair].src, dst = pairs[pair].dst;

        for (uint64_t loop = 0; loop < p->outstanding && good; loop++) {
            struct oche_flow_source source =
                oche_flow_list_source(list, facts->number, src, dst, p->start);

            source.draw = draw_message;
            source.context = sizes;
            source.random = oche_workload_stream(facts, "closed sizes", loop << 17 | pair);
            source.left = oche_bytes_in_time(facts->duration - p->start,
                                             oche_workload_pair_bps(facts, src, dst));
            source.chain = true;
            good = oche_flow_list_add_source(list, &source);
        }
    }
    return good;
}

static bool check(const struct closed *p, const struct oche_workload_facts *facts,
                  struct oche_error *error)
{
    if (!oche_workload_has_hosts(facts, error) || !oche_workload_starts(p->start, facts, error))
        return false;
    return oche_workload_has_pairs(p->pairs, facts, error);
}

static bool generate(const void *values, const struct oche_workload_facts *facts,
                     struct oche_flow_list *list, struct oche_error *error)
{
    const struct closed *p = values;
    struct oche_host_pair *pairs;
    struct sizes *sizes;
    bool good = false;

    if (!check(p, facts, error))
        return false;
    sizes = calloc(1, sizeof(*sizes));
    if (sizes == NULL)
        return oche_workload_no_memory(list, error);
    if (!oche_cdf_read(&sizes->cdf, p->cdf, p->cdf_file, error)) {
        free(sizes);
        return false;
    }
    sizes->mtu_bytes = facts->mtu_bytes;
    sizes->header_bytes = facts->header_bytes;
    list->initial_rate_bps = p->initial_rate;
    list->tenant = (uint8_t)p->tenant;
    pairs = oche_workload_draw_pairs(facts, "closed pair", p->pairs);
    if (pairs == NULL)
        oche_workload_no_memory(list, error);
    else if (check_messages(p, facts, sizes, pairs, error))
        good = add_pairs(p, facts, list, sizes, pairs) || oche_workload_no_memory(list, error);
    free(pairs);
    return (oche_flow_list_keep(list, sizes, release_sizes) ||
            oche_workload_no_memory(list, error)) &&
           good;
}

static const char *endless(const void *values)
{
    (void)values;
    return "";
}

const struct oche_workload_type oche_workload_closed_cdf = {
    .name = "closed_cdf",
    .help = "random pairs that send messages of random sizes, one after the other",
    .table = &table,
    .ends = "goes on for as long as the run",
    .endless = endless,
    .generate = generate,
};
