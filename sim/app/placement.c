/* SPDX-License-Identifier: Apache-2.0 */
/* Places ranks on hosts; see placement.h. */
#include "sim/app/placement.h"

#include <stdlib.h>
#include <string.h>

#include "sim/app/host_names.h"

const char *const oche_placement_names[] = {"packed", "strided", "random", NULL};

/* Puts the hosts that the list names into `chosen`, which has room for `count`. */
static bool take_named(const struct oche_placement_params *params,
                       const struct oche_workload_facts *facts, uint32_t count, uint32_t *chosen,
                       struct oche_error *error)
{
    struct oche_host_names names = {.topology = facts->topology};
    char *text = strdup(params->hosts), *rest = text, *name;
    uint32_t named = 0;
    bool *taken = calloc(facts->host_count, sizeof(*taken));
    bool good = true;

    OCHE_GOT(text != NULL && taken != NULL);
    while (good && (name = strsep(&rest, ", ")) != NULL) {
        uint32_t host;

        if (*name == '\0')
            continue;
        if (!oche_host_names_find(&names, name, &host))
            good = oche_fail(error, "hosts: there is no host %s", name);
        else if (taken[host])
            good = oche_fail(error, "hosts: %s is in the list twice; once is enough", name);
        else if (named == count)
            good = oche_fail(error, "hosts: more than %u, which is what the ranks need", count);
        else
            taken[chosen[named++] = host] = true;
    }
    if (good && named < count)
        good = oche_fail(error, "hosts: %u of them; the ranks need %u", named, count);
    oche_host_names_free(&names);
    free(taken);
    free(text);
    return good;
}

/* Puts `count` hosts into `chosen`. */
static bool choose(const struct oche_placement_params *params,
                   const struct oche_workload_facts *facts, uint32_t count, uint32_t *chosen,
                   struct oche_error *error)
{
    const uint32_t all = facts->host_count;
    uint32_t *order;

    if (params->hosts != NULL)
        return take_named(params, facts, count, chosen, error);
    switch ((enum oche_placement)params->placement) {
    case OCHE_PLACE_PACKED:
        if (params->first_host + count > all)
            return oche_fail(error,
                             "first_host: from host %llu on there are %u hosts, and the ranks need "
                             "%u; a lower one, or more ranks_per_host",
                             (unsigned long long)params->first_host,
                             params->first_host < all ? all - (uint32_t)params->first_host : 0,
                             count);
        for (uint32_t i = 0; i < count; i++)
            chosen[i] = (uint32_t)params->first_host + i;
        return true;
    case OCHE_PLACE_STRIDED:
        for (uint32_t i = 0; i < count; i++)
            chosen[i] = (uint32_t)((uint64_t)i * all / count);
        return true;
    case OCHE_PLACE_RANDOM:
        order = malloc(all * sizeof(*order));
        OCHE_GOT(order != NULL);
        struct oche_random random = oche_workload_stream(facts, "placement", 0);

        oche_workload_shuffle_hosts(facts, &random, order);
        memcpy(chosen, order, count * sizeof(*chosen));
        free(order);
        return true;
    }
    return false;
}

uint64_t oche_place_hosts(const struct oche_placement_params *params,
                          const struct oche_workload_facts *facts)
{
    uint64_t named = 0;

    if (params->hosts != NULL) {
        for (const char *at = params->hosts; *at != '\0'; named++) {
            at += strspn(at, ", ");
            if (*at == '\0')
                break;
            at += strcspn(at, ", ");
        }
        return named;
    }
    return params->first_host < facts->host_count ? facts->host_count - params->first_host : 0;
}

/* True if no key is without effect. */
static bool check_keys(const struct oche_placement_params *params, struct oche_error *error)
{
    if (params->first_host > 0 && (params->placement != OCHE_PLACE_PACKED || params->hosts != NULL))
        return oche_fail(error, "first_host: has no effect here; it is for placement: packed");
    if (params->hosts != NULL && params->placement != OCHE_PLACE_PACKED)
        return oche_fail(error,
                         "placement: %s has no effect here, where hosts are listed; leave "
                         "one of them out",
                         oche_placement_names[params->placement]);
    return true;
}

uint32_t *oche_place_ranks(const struct oche_placement_params *params, uint32_t ranks,
                           const struct oche_workload_facts *facts, struct oche_error *error)
{
    const uint32_t each = (uint32_t)params->ranks_per_host;
    const uint32_t count = ranks / each + (ranks % each > 0);
    uint32_t *host_of = NULL, *chosen;

    if (count > facts->host_count) {
        oche_fail(error,
                  "ranks_per_host: %u ranks need %u hosts, and there are %u; at least %u of them "
                  "on each",
                  ranks, count, facts->host_count,
                  ranks / facts->host_count + (ranks % facts->host_count > 0));
        return NULL;
    }
    if (!check_keys(params, error))
        return NULL;
    chosen = malloc(count * sizeof(*chosen));
    OCHE_GOT(chosen != NULL);
    if (choose(params, facts, count, chosen, error)) {
        host_of = malloc(ranks * sizeof(*host_of));
        OCHE_GOT(host_of != NULL);
        for (uint32_t i = 0; i < ranks; i++)
            host_of[i] = chosen[i / each];
    }
    free(chosen);
    return host_of;
}
