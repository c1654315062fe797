/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer target: any text as a fat tree of htsim (.topo), up to a world that runs for a moment
 * if the tree is small. tools/fuzz 60 fat_tree runs it.
 */
#include "sim/topology/types.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/small_world.h"
#include "tests/fuzz/target.h"

#define HEAD       "Nodes "
#define MOST_NODES 100 /* of which a world is made */

/* Returns the broken rule of a tree that has been read, or NULL. */
static const char *wrong_with(const struct oche_topology *topology)
{
    for (uint32_t i = 0; i < oche_topology_nodes(topology); i++)
        if (topology->nodes[i].port_count == 0 ||
            (i < topology->host_count && topology->nodes[i].port_count != 1))
            return "a node has no link, or a host several";
    return NULL;
}

const char *fuzz_input(const uint8_t *bytes, size_t count)
{
    char *file = malloc(count + sizeof(HEAD)), text[300];
    struct oche_topology topology;
    struct oche_error error = {""};
    const char *path, *wrong;
    uint32_t nodes;

    if (file == NULL)
        abort();
    /* The first word decides the format: inputs have what follows it. */
    memcpy(file, HEAD, sizeof(HEAD) - 1);
    memcpy(file + sizeof(HEAD) - 1, bytes, count);
    path = fuzz_file("fat_tree", (const uint8_t *)file, sizeof(HEAD) - 1 + count);
    free(file);
    if (!oche_topology_from_file.build(&path, &topology, &error))
        return small_world_refusal(&error) ? NULL : "a tree is refused without a reason";
    wrong = wrong_with(&topology);
    nodes = oche_topology_nodes(&topology);
    oche_topology_free(&topology);
    if (wrong != NULL || nodes > MOST_NODES)
        return wrong;
    const int length = snprintf(text, sizeof(text),
                                "defaults: paper\nduration: 20us\n"
                                "topology: {type: from_file, file: %s}\n"
                                "workload: {type: permutation, bytes: 10KB, messages: 2}\n",
                                path);

    return small_world_check(text, (size_t)length, true);
}
