/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer target: any text as a configuration of HPCC's ns-3 simulator. A network of two rates
 * stands for its topology. The scenario that it becomes is read, and makes a world that runs for a
 * moment. tools/fuzz 60 ns3_config runs it.
 */
#include "sim/foreign/ns3_scenario.h"

#include "params/text_stream.h"
#include "sim/topology/builder.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/small_world.h"
#include "tests/fuzz/target.h"

#define HOSTS 4

static bool is_line(const struct oche_error *error)
{
    return strchr(error->text, '\n') == NULL && strstr(error->text, ": ") != NULL;
}

/* Two switches of two hosts each, below a third. */
static struct oche_topology network(void)
{
    struct oche_error error;
    struct oche_topology t;

    if (!oche_topology_begin(&t, HOSTS, 3, HOSTS + 2, &error))
        abort();
    for (uint32_t i = 0; i < HOSTS; i++)
        oche_topology_name(&t, i, OCHE_NODE_HOST, 0, "host", i);
    for (uint32_t i = HOSTS; i < HOSTS + 3; i++)
        oche_topology_name(&t, i, i < HOSTS + 2 ? OCHE_NODE_TOR : OCHE_NODE_AGGREGATION, 0,
                           "switch", i);
    for (uint32_t i = 0; i < HOSTS; i++)
        oche_topology_link(&t, i, HOSTS + i / 2, 25 * OCHE_GBPS, OCHE_US);
    for (uint32_t i = 0; i < 2; i++)
        oche_topology_link(&t, HOSTS + i, HOSTS + 2, 100 * OCHE_GBPS, OCHE_US);
    if (!oche_topology_finish(&t, &error))
        abort();
    return t;
}

/* The names of nodes and tiers are those of a topology file, which gives the scenario its own. */
static const char topology[] = "host host0\nhost host1\nhost host2\nhost host3\nswitch switch4\n"
                               "switch switch5\nswitch switch6\nlink host0 switch4 25Gbps 1us\n"
                               "link host1 switch4 25Gbps 1us\nlink host2 switch5 25Gbps 1us\n"
                               "link host3 switch5 25Gbps 1us\nlink switch4 switch6 100Gbps 1us\n"
                               "link switch5 switch6 100Gbps 1us\n";

static const char *check(struct oche_translation *to)
{
    char *text;
    size_t bytes;
    struct oche_error error = {""};
    struct oche_scenario *scenario;
    const char *wrong;
    FILE *out;

    oche_translation_set(to, "topology", "type", NULL, "from_file");
    oche_translation_set(to, "topology", "file", NULL, "%s",
                         fuzz_file("network", (const uint8_t *)topology, strlen(topology)));
    oche_translation_set(to, "workload", "type", NULL, "incast");
    oche_translation_set(to, "workload", "degree", NULL, "3");
    out = oche_text_stream_open(&text, &bytes);
    oche_translation_write(to, out);
    oche_text_stream_close(out);
    scenario = oche_scenario_parse("fuzz.yaml", text, bytes, &error);
    wrong =
        scenario == NULL ? "a scenario that cannot be read" : small_world_check(text, bytes, true);
    oche_scenario_close(scenario);
    free(text);
    return wrong;
}

const char *fuzz_input(const uint8_t *bytes, size_t count)
{
    struct oche_topology t = network();
    const struct oche_ns3_files files = {.network = &t};
    struct oche_translation to = {.settings = NULL};
    struct oche_ns3_config config;
    struct oche_error error = {""};
    const char *wrong = NULL;

    (void)oche_ns3_is_config((const char *)bytes, count);
    if (!oche_ns3_config_read(&config, "fuzz", (const char *)bytes, count, &error)) {
        wrong = is_line(&error) ? NULL : "a configuration is refused without a reason";
    } else {
        if (!oche_ns3_translate(&config, "fuzz", &files, &to, &error))
            wrong = is_line(&error) ? NULL : "a value is refused without a reason";
        else
            wrong = check(&to);
        oche_ns3_config_free(&config);
    }
    oche_translation_free(&to);
    oche_topology_free(&t);
    return wrong;
}
