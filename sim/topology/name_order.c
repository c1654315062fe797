/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of nodes by name, for whatever is drawn at random for a node: so the draws do not
 * depend on the order of a file's lines. Numbers within names are compared as numbers, as host10
 * comes behind host9.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/topology/builder.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Compares the numbers with which both names go on, and moves both behind them. */
static int compare_numbers(const char **a, const char **b)
{
    const char *first, *second;
    size_t of_a, of_b;

    first = *a += strspn(*a, "0");
    second = *b += strspn(*b, "0");
    *a += of_a = strspn(first, "0123456789");
    *b += of_b = strspn(second, "0123456789");
    if (of_a != of_b)
        return of_a < of_b ? -1 : 1;
    return memcmp(first, second, of_a);
}

int oche_topology_compare_names(const char *first, const char *second)
{
    const char *a = first, *b = second;

    while (*a != '\0' && *b != '\0') {
        int order = 0;

        if (is_digit(*a) && is_digit(*b))
            order = compare_numbers(&a, &b);
        else
            order = (unsigned char)*a++ - (unsigned char)*b++;
        if (order != 0)
            return order;
    }
    /* "h1" and "h01" are different names. */
    return *a != *b ? (unsigned char)*a - (unsigned char)*b : strcmp(first, second);
}

static int compare(const void *a, const void *b, void *nodes)
{
    const struct oche_topology_node *node = nodes;

    return oche_topology_compare_names(node[*(const uint32_t *)a].name,
                                       node[*(const uint32_t *)b].name);
}

bool oche_topology_order(struct oche_topology *topology, struct oche_error *error)
{
    const uint32_t hosts = topology->host_count, nodes = oche_topology_nodes(topology);
    uint32_t *by_name = malloc(2 * (size_t)nodes * sizeof(*by_name));
    bool as_numbered = true;

    if (by_name == NULL)
        return oche_fail(error, "no memory for the names of %u nodes", nodes);
    for (uint32_t n = 0; n < nodes; n++)
        by_name[n] = n;
    qsort_r(by_name, hosts, sizeof(*by_name), compare, topology->nodes);
    qsort_r(by_name + hosts, nodes - hosts, sizeof(*by_name), compare, topology->nodes);
    for (uint32_t n = 0; n < nodes; n++) {
        by_name[nodes + by_name[n]] = n;
        as_numbered = as_numbered && by_name[n] == n;
    }
    if (as_numbered)
        free(by_name);
    else
        topology->by_name = by_name;
    return true;
}

uint32_t *oche_topology_ports_by_name(const struct oche_topology *topology)
{
    uint32_t *numbers = malloc((2 * (size_t)topology->link_count + 1) * sizeof(*numbers)), next = 0;

    for (uint32_t place = 0; numbers != NULL && place < oche_topology_nodes(topology); place++) {
        const struct oche_topology_node *node =
            &topology->nodes[oche_topology_at_place(topology, place)];

        for (uint32_t port = 0; port < node->port_count; port++)
            numbers[node->first_port + port] = next++;
    }
    return numbers;
}
