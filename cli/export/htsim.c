/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a connection matrix (.cm) and a fat tree (.topo) for uet-htsim. */
#include <inttypes.h>
#include <stdlib.h>

#include "cli/export/formats.h"
#include "cli/export/tree.h"
#include "params/figures.h"
#include "params/text_stream.h"

#define MOST_BYTES       2147483647 /* htsim's int */
#define UEC_HEADER_BYTES 64         /* in htsim_uec's -mtu */

static bool check_sizes(const struct oche_export_traffic *traffic, struct oche_error *error)
{
    for (uint32_t i = 0; i < traffic->flow_count; i++)
        if (traffic->flows[i].bytes > MOST_BYTES)
            return oche_fail(error,
                             "workload: flow %u has %" PRIu64 " bytes; htsim reads at most %d: "
                             "make it several flows",
                             i, traffic->flows[i].bytes, MOST_BYTES);
    return true;
}

static void print_matrix(const struct oche_export_traffic *traffic, uint32_t nodes, FILE *out)
{
    fprintf(out, "# A connection matrix of htsim, written by oche export.\nNodes %u\n", nodes);
    fprintf(out, "Connections %u\n", traffic->flow_count);
    if (traffic->trigger_count > 0)
        fprintf(out, "Triggers %u\n", traffic->trigger_count);
    for (uint32_t i = 0; i < traffic->trigger_count; i++)
        if (traffic->triggers[i].firings == 1)
            fprintf(out, "trigger id %u oneshot\n", i + 1);
        else
            fprintf(out, "trigger id %u barrier count %u\n", i + 1, traffic->triggers[i].firings);
    for (uint32_t i = 0; i < traffic->flow_count; i++) {
        const struct oche_export_flow *flow = &traffic->flows[i];

        fprintf(out, "%u->%u id %u", flow->src, flow->dst, i + 1);
        if (flow->start == OCHE_NEVER)
            fprintf(out, " trigger %u", flow->trigger + 1);
        else
            fprintf(out, " start %" PRIu64, flow->start);
        fprintf(out, " size %" PRIu64, flow->bytes);
        if (flow->send_done != OCHE_NO_TRIGGER)
            fprintf(out, " send_done_trigger %u", flow->send_done + 1);
        if (flow->recv_done != OCHE_NO_TRIGGER)
            fprintf(out, " recv_done_trigger %u", flow->recv_done + 1);
        fputc('\n', out);
    }
}

/* htsim reads a start as a float. Says how far off its starts are. */
static void remark_starts(const struct oche_export_traffic *traffic, FILE *remarks)
{
    uint64_t most = 0, starts = 0;
    uint32_t count = 0;

    for (uint32_t i = 0; i < traffic->flow_count; i++) {
        const oche_time start = traffic->flows[i].start;

        if (start == OCHE_NEVER || start == 0)
            continue;
        const uint64_t read = (uint64_t)(float)start;
        const uint64_t off = read > start ? read - start : start - read;

        starts++;
        count += off > 0;
        most = off > most ? off : most;
    }
    if (count > 0)
        fprintf(remarks,
                "start: htsim reads picoseconds as a float of 24 bits; of %u flows it rounds the "
                "start, by at most %s\n",
                count, oche_figure_time(most).text);
    if (starts > 0)
        fputs("start: htsim_uec reads it so; htsim_roce takes the same number for microseconds\n",
              remarks);
}

/*
 * True if the tree is one that htsim makes from the number of hosts alone: full, of one rate and
 * delay. htsim_roce takes no other one, as it sets the queue sizes of a file to 0 and refuses them.
 */
static bool is_full(const struct oche_export_tree *tree)
{
    const uint64_t half = tree->tier[0].radix_down;
    bool same = !tree->idle_spine;

    for (unsigned i = 0; i < tree->tiers; i++)
        same = same && tree->tier[i].rate_bps == tree->tier[0].rate_bps &&
               tree->tier[i].delay == tree->tier[0].delay && tree->tier[i].bundle == 1 &&
               tree->tier[i].oversubscribed <= 1;
    return same && tree->hosts == 2 * half * half * (tree->tiers == 3 ? half : 1);
}

/* `header_bytes`: what the program counts as a part of its mtu. */
static void print_options(const struct oche_export_source *source, uint64_t header_bytes,
                          FILE *remarks)
{
    const struct oche_world_config *config = source->config;
    const struct oche_topology *topology = oche_world_topology(source->world);
    const oche_time end = config->run.duration > 0 ? config->run.duration : OCHE_SEC;

    fprintf(remarks, " -nodes %u -tm ", topology->host_count);
    oche_export_show_path(source, "flows.cm", remarks);
    fprintf(remarks, " -linkspeed %" PRIu64 " -mtu %" PRIu64 " -end %" PRIu64 "\n",
            topology->links[0].rate_bps / OCHE_MBPS, config->hosts.mtu_bytes + header_bytes,
            (end + OCHE_US - 1) / OCHE_US);
}

static void remark_run(const struct oche_export_source *source, const struct oche_export_tree *tree,
                       FILE *remarks)
{
    uint32_t receives = 0;

    for (uint32_t i = 0; i < source->traffic->flow_count; i++)
        receives += source->traffic->flows[i].recv_done != OCHE_NO_TRIGGER;
    if (receives > 0)
        fprintf(
            remarks,
            "recv_done_trigger: %u connections fire triggers so, which htsim_uec and htsim_roce "
            "(commit 40ccb05) never do; what waits for them does not start there. "
            "tools/beside-htsim lets the sender's ACK fire in their place\n",
            receives);
    fputs("to run it: htsim_uec -sender_cc_only -topo ", remarks);
    oche_export_show_path(source, "network.topo", remarks);
    print_options(source, UEC_HEADER_BYTES, remarks);
    if (!is_full(tree))
        return;
    fprintf(remarks,
            "or: htsim_roce -strat ecmp_host -paths 256 -queue_type lossless_input -q 100000 "
            "-tiers %u -hop_latency %g",
            tree->tiers, (double)tree->tier[0].delay / OCHE_US);
    print_options(source, 0, remarks);
}

static bool make(struct oche_export_files *files, const struct oche_export_source *source,
                 struct oche_error *error)
{
    const struct oche_topology *topology = oche_world_topology(source->world);
    struct oche_export_tree tree;
    FILE *out;

    if (!check_sizes(source->traffic, error) || !oche_export_tree_find(&tree, topology, error))
        return false;
    out = oche_export_file(files, "flows.cm");
    print_matrix(source->traffic, topology->host_count, out);
    oche_text_stream_close(out);
    out = oche_export_file(files, "network.topo");
    oche_export_tree_print(&tree, out);
    oche_text_stream_close(out);
    if (tree.idle_spine)
        fputs("topology: htsim has two tiers at least; a spine without use is above the switch\n",
              files->remarks);
    remark_starts(source->traffic, files->remarks);
    if (source->traffic->jobs)
        fputs("workload: each message is a connection of its own; in htsim messages of two ranks "
              "can overtake one another\n",
              files->remarks);
    fputs("congestion_control, switch: htsim has its own, by options; PFC alone is htsim_roce, "
          "DCQCN its option -dcqcn\n",
          files->remarks);
    remark_run(source, &tree, files->remarks);
    return true;
}

const struct oche_export_format oche_export_htsim = {
    .name = "htsim",
    .make = make,
};
