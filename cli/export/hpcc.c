/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the files of HPCC's ns-3 fork: topology, flows, nodes to trace (none), and a configuration
 * with DCQCN's parameters. Flows start 2 s later, as that program's own examples do.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/cc/cc_advice.h"
#include "cli/export/formats.h"
#include "fabric/ecn.h"
#include "params/figures.h"
#include "params/text_stream.h"

#define BEGIN      (2 * OCHE_SEC)
#define MOST_BYTES UINT32_MAX
#define DPORT      100
#define PRIORITY   3

/* Writes a rate as ns-3 reads it, with the largest unit in which it is whole. */
static void print_rate(uint64_t bps, FILE *out)
{
    if (bps % OCHE_GBPS == 0)
        fprintf(out, "%" PRIu64 "Gbps", bps / OCHE_GBPS);
    else if (bps % OCHE_MBPS == 0)
        fprintf(out, "%" PRIu64 "Mbps", bps / OCHE_MBPS);
    else
        fprintf(out, "%" PRIu64 "bps", bps);
}

static void print_delay(oche_time delay, FILE *out)
{
    if (delay % OCHE_NS == 0)
        fprintf(out, "%" PRIu64 "ns", delay / OCHE_NS);
    else
        fprintf(out, "%" PRIu64 "ps", delay);
}

static void print_topology(const struct oche_topology *topology, FILE *out)
{
    fprintf(out, "%u %u %u\n", oche_topology_nodes(topology), topology->switch_count,
            topology->link_count);
    for (uint32_t i = 0; i < topology->switch_count; i++)
        fprintf(out, "%u%c", topology->host_count + i,
                i + 1 == topology->switch_count ? '\n' : ' ');
    for (uint32_t i = 0; i < topology->link_count; i++) {
        const struct oche_topology_link *link = &topology->links[i];

        fprintf(out, "%u %u ", link->a, link->b);
        print_rate(link->rate_bps, out);
        fputc(' ', out);
        print_delay(link->delay, out);
        fputs(" 0\n", out);
    }
}

/* ---- flows ---- */

static int compare_starts(const void *left, const void *right, void *context)
{
    const struct oche_export_flow *flows = context;
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

    if (flows[a].start != flows[b].start)
        return flows[a].start < flows[b].start ? -1 : 1;
    return a < b ? -1 : a > b;
}

static bool check_flows(const struct oche_export_traffic *traffic, struct oche_error *error)
{
    for (uint32_t i = 0; i < traffic->flow_count; i++) {
        if (traffic->flows[i].start == OCHE_NEVER)
            return oche_fail(error,
                             "workload: flow %u starts when others have ended, and HPCC's flows "
                             "have a start; write --to htsim, or one message for each flow",
                             i);
        if (traffic->flows[i].bytes > MOST_BYTES)
            return oche_fail(error,
                             "workload: flow %u has %" PRIu64 " bytes; HPCC reads at most %u", i,
                             traffic->flows[i].bytes, MOST_BYTES);
    }
    return true;
}

/* The program needs them in the order of their starts. Returns how many have no whole ns. */
static uint32_t print_flows(const struct oche_export_traffic *traffic, FILE *out)
{
    uint32_t *order = malloc((size_t)traffic->flow_count * sizeof(*order)), parts = 0;

    OCHE_GOT(order != NULL);
    for (uint32_t i = 0; i < traffic->flow_count; i++)
        order[i] = i;
    qsort_r(order, traffic->flow_count, sizeof(*order), compare_starts, traffic->flows);
    fprintf(out, "%u\n", traffic->flow_count);
    for (uint32_t i = 0; i < traffic->flow_count; i++) {
        const struct oche_export_flow *flow = &traffic->flows[order[i]];
        const oche_time start = BEGIN + flow->start;

        fprintf(out, "%u %u %d %d %" PRIu64 " %" PRIu64 ".%09" PRIu64, flow->src, flow->dst,
                PRIORITY, DPORT, flow->bytes, start / OCHE_SEC, start % OCHE_SEC / OCHE_NS);
        if (start % OCHE_NS > 0)
            fprintf(out, "%03" PRIu64, start % OCHE_NS);
        parts += start % OCHE_NS > 0;
        fputc('\n', out);
    }
    free(order);
    return parts;
}

/* ---- the configuration ---- */

/* Returns a parameter of the scheme; of one that is auto, what it stands for. */
static union oche_value value_of(const struct oche_world *world, const char *name)
{
    const struct oche_param_table *table = &oche_world_config(world)->cc->table;
    const struct oche_param *param = oche_param_find(table, name);
    const struct oche_cc_advice *advice = oche_world_config(world)->cc->advice;
    const void *params = oche_world_fitted_cc(world);
    const uint64_t line_bps = oche_topology_port_link(oche_world_topology(world), 0, 0)->rate_bps;

    struct oche_derived derived;

    OCHE_MUST(param != NULL);
    if (advice != NULL && advice->derived != NULL &&
        advice->derived(params, param, line_bps, &derived))
        return derived.value;
    return oche_param_get(param, params);
}

static bool is_dcqcn(const struct oche_world_config *config)
{
    return config->cc != NULL && strcmp(config->cc->name, "dcqcn") == 0;
}

static void print_scheme(const struct oche_world *world, FILE *out)
{
    const bool dcqcn = is_dcqcn(oche_world_config(world));

    fprintf(out, "ENABLE_QCN %d\nCC_MODE %d\n", dcqcn, dcqcn);
    if (!dcqcn)
        return;
    fprintf(out, "ALPHA_RESUME_INTERVAL %g\nRATE_DECREASE_INTERVAL %g\nRP_TIMER %g\n",
            (double)value_of(world, "alpha_interval").u / OCHE_US,
            (double)value_of(world, "reduce_monitor_period").u / OCHE_US,
            (double)value_of(world, "timer").u / OCHE_US);
    fprintf(out, "EWMA_GAIN %.10g\nFAST_RECOVERY_TIMES %" PRIu64 "\nCLAMP_TARGET_RATE 0\n",
            value_of(world, "g").real, value_of(world, "fast_recovery_steps").u);
    fprintf(out, "RATE_AI %gMb/s\nRATE_HAI %gMb/s\nMIN_RATE %gMb/s\n",
            (double)value_of(world, "rai").u / OCHE_MBPS,
            (double)value_of(world, "rhai").u / OCHE_MBPS,
            (double)value_of(world, "min_rate").u / OCHE_MBPS);
}

/* Collects the rates of links, each once. Returns how many. */
static uint32_t rates_of(const struct oche_topology *topology, uint64_t *rates, uint32_t most)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < topology->link_count; i++) {
        uint32_t k = 0;

        while (k < count && rates[k] != topology->links[i].rate_bps)
            k++;
        if (k == most)
            break;
        rates[k] = topology->links[i].rate_bps;
        count += k == count;
    }
    return count;
}

static void print_marks(const struct oche_world *world, FILE *out)
{
    const struct oche_switch_params *params = &oche_world_config(world)->switches;
    uint64_t rates[16];
    const uint32_t count =
        rates_of(oche_world_topology(world), rates, (uint32_t)OCHE_COUNT_OF(rates));
    static const char *const keys[] = {"KMIN_MAP", "KMAX_MAP", "PMAX_MAP"};

    for (size_t key = 0; key < OCHE_COUNT_OF(keys); key++) {
        fprintf(out, "%s %u", keys[key], count);
        for (uint32_t i = 0; i < count; i++) {
            const struct oche_red_ramp ramp = oche_red_ramp(params, rates[i]);

            fprintf(out, " %" PRIu64 " ", rates[i]);
            if (key == 2)
                fprintf(out, "%g", params->pmax);
            else
                fprintf(out, "%" PRIu64, ((key == 0 ? ramp.kmin : ramp.kmax) + 500) / 1000);
        }
        fputc('\n', out);
    }
}

static void print_file(const struct oche_export_source *source, const char *key, const char *name,
                       FILE *out)
{
    fprintf(out, "%s ", key);
    oche_export_path(source, name, out);
    fputc('\n', out);
}

/* Returns how long the run is to last: its duration, or one second after the last start. */
static oche_time stop_of(const struct oche_export_source *source)
{
    oche_time last = 0;

    for (uint32_t i = 0; i < source->traffic->flow_count; i++)
        last = oche_time_max(last, source->traffic->flows[i].start);
    return BEGIN + (source->config->run.duration > 0 ? source->config->run.duration
                                                     : oche_time_add(last, OCHE_SEC));
}

static void print_config(const struct oche_export_source *source, FILE *out)
{
    const struct oche_world_config *config = source->config;
    const oche_time stop = stop_of(source);
    uint64_t buffer_mib = config->switches.buffer_bytes >> 20;

    if (config->switches.buffer_bytes == OCHE_NEVER || buffer_mib == 0)
        buffer_mib = config->switches.buffer_bytes == OCHE_NEVER ? 32 : 1;
    fprintf(out, "USE_DYNAMIC_PFC_THRESHOLD %d\nPACKET_PAYLOAD_SIZE %" PRIu64 "\n",
            config->switches.threshold == OCHE_THRESHOLD_DYNAMIC, config->hosts.mtu_bytes);
    print_file(source, "TOPOLOGY_FILE", "topology.txt", out);
    print_file(source, "FLOW_FILE", "flow.txt", out);
    print_file(source, "TRACE_FILE", "trace.txt", out);
    print_file(source, "TRACE_OUTPUT_FILE", "mix.tr", out);
    print_file(source, "FCT_OUTPUT_FILE", "fct.txt", out);
    print_file(source, "PFC_OUTPUT_FILE", "pfc.txt", out);
    print_file(source, "QLEN_MON_FILE", "qlen.txt", out);
    fprintf(out,
            "QLEN_MON_START 1\nQLEN_MON_END 1\nSIMULATOR_STOP_TIME %" PRIu64 ".%06" PRIu64 "\n",
            stop / OCHE_SEC, stop % OCHE_SEC / OCHE_US);
    print_scheme(source->world, out);
    fprintf(out,
            "ERROR_RATE_PER_LINK 0\nL2_CHUNK_SIZE 4000\nL2_ACK_INTERVAL %" PRIu64
            "\nL2_BACK_TO_ZERO 0\n"
            "HAS_WIN 0\nGLOBAL_T 1\nVAR_WIN 0\nRATE_BOUND 1\nACK_HIGH_PRIO %d\nLINK_DOWN 0 0 0\n"
            "ENABLE_TRACE 0\nBUFFER_SIZE %" PRIu64 "\n",
            config->hosts.ack_every_packets, config->hosts.ack_priority, buffer_mib);
    print_marks(source->world, out);
}

/* ---- what it cannot say ---- */

static void remark(const struct oche_export_source *source, uint32_t parts, FILE *remarks)
{
    const struct oche_world_config *config = source->config;
    const struct oche_topology *topology = oche_world_topology(source->world);
    uint32_t delays = 0;

    for (uint32_t i = 0; i < topology->link_count; i++)
        delays += topology->links[i].delay % OCHE_NS > 0;
    if (parts + delays > 0)
        fprintf(remarks,
                "time: that simulator has whole nanoseconds; it cuts the starts of %u flows and "
                "the delays of %u links\n",
                parts, delays);
    if (!is_dcqcn(config) && !(config->cc != NULL && strcmp(config->cc->name, "none") == 0))
        fprintf(remarks, "congestion_control: %s is not written; CC_MODE 0 is PFC alone\n",
                config->cc != NULL ? config->cc->name : config->endpoint->name);
    if (is_dcqcn(config))
        fputs("congestion_control: that simulator's DCQCN is the one of adapters, our mode: nic; "
              "other rows of dcqcn are not written\n",
              remarks);
    if (config->switches.buffer_bytes == OCHE_NEVER)
        fputs("switch.buffer: auto; BUFFER_SIZE has 32 MB\n", remarks);
    fputs("switch: headroom, xon and the PFC threshold are that simulator's own\n", remarks);
    fputs("to read the flows here: workload: {type: from_file, file: flow.txt, origin: 2s}\n",
          remarks);
    fputs("to run it: third ", remarks);
    oche_export_show_path(source, "config.txt", remarks);
    fputc('\n', remarks);
}

static bool make(struct oche_export_files *files, const struct oche_export_source *source,
                 struct oche_error *error)
{
    uint32_t parts;
    FILE *out;

    if (strpbrk(source->folder, " \t\r\n\v\f") != NULL)
        return oche_fail(error, "--out: that simulator reads paths without blanks; give a folder "
                                "of another name");
    if (!check_flows(source->traffic, error))
        return false;
    out = oche_export_file(files, "topology.txt");
    print_topology(oche_world_topology(source->world), out);
    oche_text_stream_close(out);
    out = oche_export_file(files, "flow.txt");
    parts = print_flows(source->traffic, out);
    oche_text_stream_close(out);
    out = oche_export_file(files, "trace.txt");
    fputs("0\n", out);
    oche_text_stream_close(out);
    out = oche_export_file(files, "config.txt");
    print_config(source, out);
    oche_text_stream_close(out);
    remark(source, parts, files->remarks);
    return true;
}

const struct oche_export_format oche_export_hpcc = {
    .name = "hpcc",
    .make = make,
};
