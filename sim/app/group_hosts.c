/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draws the hosts of groups. A set that shares no receiver, or no host, with others has its part of
 * one random order of all hosts.
 */
#include "sim/app/group_hosts.h"

#include <stdlib.h>
#include <string.h>

#include "params/error.h"
#include "sim/app/generate.h"

bool oche_group_hosts_fit(uint64_t sets, uint64_t degree, enum oche_disjoint disjoint,
                          uint32_t host_count, struct oche_error *error)
{
    uint64_t most = disjoint == OCHE_DISJOINT_HOSTS ? host_count / (degree + 1) : host_count;

    if (degree > host_count - 1)
        return oche_fail(error,
                         "degree: %llu senders, but only %u hosts beside the receiver; "
                         "at most %u",
                         (unsigned long long)degree, host_count - 1, host_count - 1);
    if (disjoint == OCHE_DISJOINT_NONE)
        return true;
    if (sets == 0)
        return oche_fail(error, "disjoint: is for fixed sets of hosts; set groups, or none");
    if (sets > most)
        return oche_fail(error,
                         "groups: %llu sets that share no %s, but %u hosts are enough for %llu; "
                         "fewer, or disjoint: none",
                         (unsigned long long)sets,
                         disjoint == OCHE_DISJOINT_HOSTS ? "host" : "receiver", host_count,
                         (unsigned long long)most);
    return true;
}

static void shuffle(uint32_t *order, uint32_t count, struct oche_random *random)
{
    for (uint32_t i = 0; i < count; i++)
        order[i] = i;
    for (uint32_t i = 0; i + 1 < count; i++) {
        uint32_t j = i + (uint32_t)oche_random_below(random, count - i), other = order[j];

        order[j] = order[i];
        order[i] = other;
    }
}

bool oche_group_hosts_make(struct oche_group_hosts *hosts, const struct oche_workload_facts *facts,
                           uint64_t sets, uint32_t degree, enum oche_disjoint disjoint)
{
    *hosts = (struct oche_group_hosts){
        .facts = facts, .sets = sets, .degree = degree, .disjoint = disjoint};
    hosts->senders = malloc(degree * sizeof(*hosts->senders));
    if (!oche_sender_pool_make(&hosts->pool, facts->host_count) || hosts->senders == NULL)
        return false;
    if (disjoint == OCHE_DISJOINT_NONE)
        return true;
    hosts->order = malloc(facts->host_count * sizeof(*hosts->order));
    if (hosts->order == NULL)
        return false;
    hosts->random = oche_workload_stream(facts, "order of hosts in sets", 0);
    shuffle(hosts->order, facts->host_count, &hosts->random);
    for (uint32_t i = 0; i < facts->host_count; i++)
        hosts->order[i] = oche_workload_host_at(facts, hosts->order[i]);
    return true;
}

void oche_group_hosts_free(struct oche_group_hosts *hosts)
{
    oche_sender_pool_free(&hosts->pool);
    free(hosts->senders);
    free(hosts->order);
}

void oche_group_hosts_begin(struct oche_group_hosts *hosts, uint64_t number)
{
    hosts->set = number;
    if (hosts->sets > 0) {
        struct oche_random which = oche_workload_stream(hosts->facts, "which set of hosts", number);

        hosts->set = oche_random_below(&which, hosts->sets);
    }
    hosts->random = oche_workload_stream(hosts->facts, "incast group", hosts->set);
    switch (hosts->disjoint) {
    case OCHE_DISJOINT_NONE:
        hosts->receiver = oche_workload_any_host(hosts->facts, &hosts->random);
        break;
    case OCHE_DISJOINT_RECEIVERS:
        hosts->receiver = hosts->order[hosts->set];
        break;
    case OCHE_DISJOINT_HOSTS:
        hosts->receiver = hosts->order[hosts->set * (hosts->degree + 1)];
        break;
    }
}

void oche_group_hosts_draw_senders(struct oche_group_hosts *hosts)
{
    if (hosts->disjoint == OCHE_DISJOINT_HOSTS) {
        memcpy(hosts->senders, hosts->order + hosts->set * (hosts->degree + 1) + 1,
               hosts->degree * sizeof(*hosts->senders));
        return;
    }
    oche_sender_pool_draw(&hosts->pool, hosts->degree, &hosts->random);
    for (uint32_t i = 0; i < hosts->degree; i++)
        hosts->senders[i] = oche_workload_sender(hosts->facts, &hosts->pool, hosts->receiver, i);
    oche_sender_pool_put_back(&hosts->pool, hosts->degree);
}
