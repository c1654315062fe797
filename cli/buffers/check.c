/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks a scenario's switches. Data uses one class, and only data is marked. Control packets
 * (ACKs, CNPs) are not considered: they are small, few and have priority, so their queue is nearly
 * empty.
 */
#include "cli/buffers/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/buffers/sizes.h"
#include "cli/run/pathologies.h"
#include "fabric/chips.h"
#include "fabric/ecn.h"
#include "fabric/shared_buffer.h"
#include "lab/measures/unfit.h"
#include "params/figures.h"
#include "params/text_stream.h"

/* Everything about a switch that determines its result; equal switches are one kind. */
struct kind {
    uint32_t node_kind, ports, chip_ports, fan_out, fan_in;
    uint64_t least_headroom, most_headroom, headroom_total, shared, xoff, reserve;
    /*
     * how fast the fastest-growing queue grows when other ports feed it at line rate, in bits per
     * second
     */
    uint64_t growth_bps;
    /* headroom needed by the port that lacks the most headroom; 0: every port has enough */
    uint64_t needed;
    uint64_t buffer_bytes, kmin, kmax; /* thresholds of the port that marks last */
    uint64_t least_kmin, least_kmax;   /* … and of the one that marks first */
    unsigned priorities;
    uint32_t marks, is_static; /* 1: true */
    uint32_t sure;             /* 1: ECN is sure to act before PFC */
    double beta;
};

struct switches {
    const struct oche_world *world;
    /* for each port: the ports that it can feed, and the ports that can feed it */
    uint32_t *fan_out, *fan_in;
    struct kind *kinds;  /* one kind per switch */
    bool all_priorities; /* data is in all of them; else in one class */
};

static struct oche_figure number(uint64_t value)
{
    return oche_figure_count(value);
}

/* ---- the switches ---- */

static int compare_rates(const void *a, const void *b)
{
    const uint64_t *first = a, *second = b;

    return *first < *second ? 1 : *first > *second ? -1 : 0;
}

/*
 * Returns the growth of the fastest-growing queue, in bits per second. If n ports can feed a queue,
 * the n fastest ports are assumed to feed it.
 */
static uint64_t growth(const struct oche_switch_config *config, const uint32_t *fan_in_of,
                       uint32_t fan_in)
{
    uint64_t rates[OCHE_MAX_PORTS + 1] = {0}, sum = 0, most = 0;

    fan_in = fan_in < config->port_count ? fan_in : config->port_count;
    for (uint32_t port = 0; port < config->port_count; port++)
        rates[port] = config->ports[port].rate_bps;
    qsort(rates, config->port_count, sizeof(rates[0]), compare_rates);
    for (uint32_t i = 0; i < fan_in; i++)
        sum += rates[i];
    for (uint32_t port = 0; fan_in > 0 && port < config->port_count; port++) {
        uint64_t own = config->ports[port].rate_bps;
        /* if the port itself is among the fastest, the next fastest takes its place */
        uint64_t in = own >= rates[fan_in - 1] ? sum - own + rates[fan_in] : sum;

        if (fan_in_of[port] == fan_in && in > own && in - own > most)
            most = in - own;
    }
    return most;
}

/* Returns the number of classes that hold data. */
static unsigned classes_of(const struct switches *all, const struct kind *kind)
{
    return all->all_priorities ? kind->priorities : 1;
}

static struct oche_buffer_worst worst_of(const struct switches *all, const struct kind *kind)
{
    return (struct oche_buffer_worst){.fan_out = kind->fan_out, .classes = classes_of(all, kind)};
}

static void describe(const struct switches *all, uint32_t sw, struct kind *kind)
{
    const struct oche_topology *topology = oche_world_topology(all->world);
    const struct oche_topology_node *node = &topology->nodes[topology->host_count + sw];
    struct oche_switch_port_config ports[OCHE_MAX_PORTS];
    struct oche_switch_config config;

    oche_world_switch_config(all->world, sw, &config, ports);
    struct oche_buffer_plan plan = oche_buffer_plan(&config);

    /* clears the padding too, because kinds are compared with memcmp */
    memset(kind, 0, sizeof(*kind));
    kind->node_kind = node->kind;
    kind->ports = config.port_count;
    kind->chip_ports = (uint32_t)plan.ports;
    kind->headroom_total = plan.headroom_total;
    kind->shared = plan.shared;
    kind->xoff = plan.xoff;
    kind->reserve = plan.reserve;
    kind->priorities = plan.priorities;
    kind->beta = plan.beta;
    kind->marks = config.params->ecn;
    kind->is_static = config.params->threshold == OCHE_THRESHOLD_STATIC;
    kind->least_headroom = kind->least_kmin = kind->least_kmax = OCHE_NEVER;
    kind->buffer_bytes = oche_switch_memory(&config);
    for (uint32_t port = 0; port < config.port_count; port++) {
        uint64_t headroom = oche_buffer_headroom(&config, port);
        uint64_t needed = oche_buffer_headroom_needed(&config, port);
        uint32_t out = all->fan_out[node->first_port + port];
        uint32_t in = all->fan_in[node->first_port + port];
        struct oche_red_ramp ramp = oche_red_ramp(config.params, ports[port].rate_bps);

        kind->least_kmin = ramp.kmin < kind->least_kmin ? ramp.kmin : kind->least_kmin;
        kind->least_kmax = ramp.kmax < kind->least_kmax ? ramp.kmax : kind->least_kmax;
        kind->kmin = ramp.kmin > kind->kmin ? ramp.kmin : kind->kmin;
        kind->kmax = ramp.kmax > kind->kmax ? ramp.kmax : kind->kmax;
        kind->least_headroom = headroom < kind->least_headroom ? headroom : kind->least_headroom;
        kind->most_headroom = headroom > kind->most_headroom ? headroom : kind->most_headroom;
        if (needed > headroom && needed > kind->needed)
            kind->needed = needed;
        kind->fan_out = out > kind->fan_out ? out : kind->fan_out;
        kind->fan_in = in > kind->fan_in ? in : kind->fan_in;
    }
    kind->growth_bps = growth(&config, &all->fan_in[node->first_port], kind->fan_in);
    kind->sure =
        kind->marks && (double)kind->kmin <= oche_buffer_ecn_bound(&config, worst_of(all, kind));
}

static void init(struct switches *all, const struct oche_world *world, bool all_priorities)
{
    const struct oche_topology *topology = oche_world_topology(world);
    uint32_t ports = 0;

    *all = (struct switches){.world = world, .all_priorities = all_priorities};
    for (uint32_t i = 0; i < oche_topology_nodes(topology); i++)
        ports += topology->nodes[i].port_count;
    all->fan_out = calloc(ports, sizeof(*all->fan_out));
    all->fan_in = calloc(ports, sizeof(*all->fan_in));
    all->kinds = calloc(topology->switch_count, sizeof(*all->kinds));
    OCHE_GOT(all->fan_out != NULL && all->fan_in != NULL && all->kinds != NULL);
    oche_topology_fan(oche_world_used_routes(world), all->fan_out, all->fan_in);
    for (uint32_t sw = 0; sw < topology->switch_count; sw++)
        describe(all, sw, &all->kinds[sw]);
}

static void done(struct switches *all)
{
    free(all->fan_out);
    free(all->fan_in);
    free(all->kinds);
}

/* ---- one kind ---- */

static const char *const names[] = {
    [OCHE_NODE_TOR] = "ToR", [OCHE_NODE_AGGREGATION] = "aggregation", [OCHE_NODE_CORE] = "core"};

/* Returns the number of switches that are like this one. */
static uint32_t count_alike(const struct switches *all, uint32_t sw)
{
    uint32_t alike = 0;

    for (uint32_t i = 0; i < oche_world_topology(all->world)->switch_count; i++)
        alike += memcmp(&all->kinds[i], &all->kinds[sw], sizeof(all->kinds[i])) == 0;
    return alike;
}

static void print_name(const struct switches *all, uint32_t sw, FILE *out)
{
    const struct oche_topology *topology = oche_world_topology(all->world);
    const struct kind *kind = &all->kinds[sw];
    const uint32_t alike = count_alike(all, sw);

    if (alike == 1)
        fprintf(out, "%s: %u ports\n", topology->nodes[topology->host_count + sw].name,
                kind->ports);
    else
        fprintf(out, "%u %s switches of %u ports, such as %s\n", alike, names[kind->node_kind],
                kind->ports, topology->nodes[topology->host_count + sw].name);
}

static void print_division(const struct kind *kind, FILE *out)
{
    fprintf(out, "  headroom of a port and priority: %s B", number(kind->least_headroom).text);
    if (kind->most_headroom != kind->least_headroom)
        fprintf(out, " to %s B, by link", number(kind->most_headroom).text);
    if (kind->needed > 0)
        fprintf(out, ":\n  TOO LITTLE for a link that needs %s B; packets may be lost",
                number(kind->needed).text);
    if (kind->chip_ports != kind->ports)
        fprintf(out, "\n  kept for the %u ports of the chip", kind->chip_ports);
    fprintf(out, "\n  H = p x (sum over ports) = %s B; S = B - H = %s B - %s B = %s B\n",
            number(kind->headroom_total).text, number(kind->buffer_bytes).text,
            number(kind->headroom_total).text, number(kind->shared).text);
    fprintf(out, "  one port can feed m = %u other%s; up to %u can feed one\n", kind->fan_out,
            kind->fan_out == 1 ? "" : "s", kind->fan_in);
}

static void print_formula(const struct switches *all, const struct kind *kind, double bound,
                          double paper, FILE *out)
{
    unsigned c = classes_of(all, kind);

    if (kind->is_static)
        fprintf(out, "  t_ECN <= t_PFC / m = %s B / %u = %s B\n", number(kind->xoff).text,
                kind->fan_out, oche_buffers_tenths(paper).text);
    else
        fprintf(out,
                "  t_ECN <= beta S / (p m + beta c n)\n"
                "         = %g x %s B / (%u x %u + %g x %u x %u) = %s B\n",
                kind->beta, number(kind->shared).text, kind->priorities, kind->fan_out, kind->beta,
                c, kind->ports, oche_buffers_tenths(paper).text);
    if (bound < paper)
        fprintf(out, "  and, for the reserve, t_ECN <= (S - %s B) / (c n) = %s B, which is less\n",
                number(kind->reserve).text, oche_buffers_tenths(bound).text);
}

static void print_incast(const struct oche_switch_config *config, const struct kind *kind,
                         FILE *out)
{
    double queue = oche_buffer_incast_queue(config, kind->fan_in);
    const char *meaning = queue >= (double)kind->kmax ? "above kmax: every packet is marked by then"
                          : queue >= (double)kind->kmin
                              ? "between kmin and kmax: few packets are marked by then"
                              : "below kmin: PFC acts alone";

    if (kind->fan_in > 1)
        fprintf(out, "  an incast of %u ports is paused from a queue of %s on,\n", kind->fan_in,
                oche_figure_bytes((uint64_t)queue).text);
    else
        fprintf(out, "  no incast, one port feeds a queue: it is paused from a queue of %s on,\n",
                oche_figure_bytes((uint64_t)queue).text);
    fprintf(out, "    %s\n", meaning);
    if (kind->growth_bps > 0 && queue > (double)kind->kmin) {
        uint64_t bytes = (uint64_t)queue - kind->kmin;

        fprintf(out, "    at line rate, %s after it was at kmin\n",
                oche_figure_time(oche_time_of_bytes(bytes, kind->growth_bps)).text);
    }
}

/* Prints the limit to configure: the paper's case, in which all priorities hold data. */
static void print_all_priorities(const struct switches *all,
                                 const struct oche_switch_config *config, const struct kind *kind,
                                 double bound, FILE *out)
{
    const struct oche_buffer_worst worst = {kind->fan_out, kind->priorities};

    if (classes_of(all, kind) < kind->priorities && !kind->is_static)
        fprintf(out,
                "  configure kmin <= %s B: sure with data in all %u priorities; %s B only in 1\n",
                number((uint64_t)oche_buffer_ecn_bound(config, worst)).text, kind->priorities,
                number((uint64_t)bound).text);
}

/* ---- what would suffice ---- */

#define SECTION_BYTES 32

/* True if there are switches of other tiers, and ECN is sure to act before PFC in all of them. */
static bool others_are_sure(const struct switches *all, unsigned tier)
{
    bool others = false;

    for (uint32_t sw = 0; sw < oche_world_topology(all->world)->switch_count; sw++) {
        if (all->kinds[sw].node_kind == tier)
            continue;
        if (!all->kinds[sw].sure)
            return false;
        others = true;
    }
    return others;
}

/*
 * Writes the section to change: "switch", or "switch.leaf" if that tier has its own or is the only
 * one that needs the change.
 */
static void name_section(const struct switches *all, unsigned kind, char *text)
{
    const struct oche_world_config *config = oche_world_config(all->world);

    if (config->tiers[kind] != NULL ||
        (config->topology->tiers[kind] != NULL && others_are_sure(all, kind)))
        snprintf(text, SECTION_BYTES, "switch.%s", config->topology->tiers[kind]);
    else
        snprintf(text, SECTION_BYTES, "switch");
}

/* True if with these parameters of the switch kmin is sure to act before PFC. */
static bool would_do(const struct switches *all, struct oche_switch_config config,
                     const struct kind *kind, const struct oche_switch_params *params)
{
    struct oche_error why;

    config.params = params;
    return oche_switch_check(&config, &why) &&
           (double)kind->kmin <= oche_buffer_ecn_bound(&config, worst_of(all, kind));
}

/* Finds the smallest sufficient value from `low` to `high`, by bisection. */
static bool least_that_does(const struct switches *all, const struct oche_switch_config *config,
                            const struct kind *kind, double low, double high, bool beta,
                            double *found)
{
    struct oche_switch_params params = *config->params;

    params.chip = 0;
    for (unsigned i = 0; i < 60; i++) {
        double value = i == 0 ? high : (low + high) / 2;

        if (beta)
            params.beta = value;
        else
            params.buffer_bytes = (uint64_t)ceil(value);
        if (would_do(all, *config, kind, &params))
            high = value;
        else if (i == 0)
            return false;
        else
            low = value;
    }
    *found = high;
    return true;
}

static void print_kmin_advice(const struct oche_switch_config *config, const struct kind *kind,
                              const char *section, double bound, FILE *out)
{
    fprintf(out, "    %s.kmin=%lluB", section, (unsigned long long)bound);
    if (bound < config->mtu_frame_bytes)
        fprintf(out, " (less than a frame)");
    else if ((double)kind->least_kmin < bound)
        fprintf(out, " (of all its ports; now %s B at the slowest)", number(kind->least_kmin).text);
    fputc('\n', out);
}

static void print_advice(const struct switches *all, const struct oche_switch_config *config,
                         const struct kind *kind, double bound, FILE *out)
{
    const double most_buffer = 0x7fffffff, most_beta = 1024;
    struct oche_switch_params params = *config->params;
    char section[SECTION_BYTES];
    double value;

    name_section(all, kind->node_kind, section);
    if (!kind->marks) {
        fprintf(out, "    %s.ecn=true\n", section);
        return;
    }
    if (bound >= 1)
        print_kmin_advice(config, kind, section, bound, out);
    params.threshold = OCHE_THRESHOLD_DYNAMIC;
    if (kind->is_static && would_do(all, *config, kind, &params))
        fprintf(out, "    %s.threshold=dynamic (beta %g)\n", section, kind->beta);
    params = *config->params;
    if (!kind->is_static && least_that_does(all, config, kind, kind->beta, most_beta, true, &value))
        fprintf(out, "    %s.beta=%.3g\n", section, ceil(value * 100) / 100);
    for (unsigned p = kind->priorities; p > 0; p--) {
        params.pfc_priorities = p;
        if (!would_do(all, *config, kind, &params))
            continue;
        fprintf(out, "    %s.pfc_priorities=%u\n", section, p);
        break;
    }
    if (least_that_does(all, config, kind, (double)kind->buffer_bytes, most_buffer, false, &value))
        fprintf(out, "    %s.buffer=%.0fKB\n", section, ceil(value / 1000));
}

static bool check_kind(const struct switches *all, uint32_t sw, FILE *out)
{
    const struct kind *kind = &all->kinds[sw];
    struct oche_switch_port_config ports[OCHE_MAX_PORTS];
    struct oche_switch_config config;
    double kmin = (double)kind->kmin;

    oche_world_switch_config(all->world, sw, &config, ports);
    double bound = oche_buffer_ecn_bound(&config, worst_of(all, kind));
    double paper = oche_buffer_ecn_bound_of_paper(&config, worst_of(all, kind));
    bool sure = kind->sure;

    fputc('\n', out);
    print_name(all, sw, out);
    print_division(kind, out);
    print_formula(all, kind, bound, paper, out);
    if (!kind->marks)
        fprintf(out, "  marks nothing: PFC acts alone\n");
    else if (kind->least_kmin < kind->kmin)
        fprintf(out,
                "  kmin by port: %s B at the slowest, %s B at the fastest; the largest decides\n",
                number(kind->least_kmin).text, number(kind->kmin).text);
    if (kind->marks && kmin == 0)
        fprintf(out, "  kmin 0: sure, every queue is marked\n");
    else if (kind->marks)
        fprintf(out, "  kmin %s B: %s; it may be at most %s B\n", number(kind->kmin).text,
                sure ? "sure" : "not sure", number((uint64_t)bound).text);
    print_all_priorities(all, &config, kind, bound, out);
    if (kind->marks)
        print_incast(&config, kind, out);
    if (!sure) {
        fprintf(out, "  each of these changes alone is enough:\n");
        print_advice(all, &config, kind, bound, out);
    }
    return sure;
}

/* ---- all switches ---- */

static bool is_first_of_kind(const struct switches *all, uint32_t sw)
{
    for (uint32_t i = 0; i < sw; i++)
        if (memcmp(&all->kinds[i], &all->kinds[sw], sizeof(*all->kinds)) == 0)
            return false;
    return true;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Prints "kmin 100,000 to 400,000 B, ". */
static void print_range(const char *name, uint64_t least, uint64_t most, const char *end, FILE *out)
{
    fprintf(out, "%s %s", name, number(least).text);
    if (most > least)
        fprintf(out, " to %s", number(most).text);
    fprintf(out, " B%s", end);
}

/* Prints how many priorities there are, and the kind of threshold if all switches have one. */
static void print_classes(const struct switches *all, FILE *out)
{
    const struct kind *first = &all->kinds[0];
    unsigned least = first->priorities, most = least;
    bool differ = false;

    for (uint32_t i = 1; i < oche_world_topology(all->world)->switch_count; i++) {
        const struct kind *kind = &all->kinds[i];

        least = kind->priorities < least ? kind->priorities : least;
        most = kind->priorities > most ? kind->priorities : most;
        differ |= kind->is_static != first->is_static ||
                  (!kind->is_static && fabs(kind->beta - first->beta) > 0);
    }
    fprintf(out, "p = %u", least);
    if (most > least)
        fprintf(out, " to %u", most);
    fprintf(out, " PFC priorities, data in c = %u", all->all_priorities ? least : 1);
    if (all->all_priorities && most > least)
        fprintf(out, " to %u", most);
    if (differ)
        fprintf(out, "; thresholds by tier\n");
    else if (first->is_static)
        fprintf(out, "; static threshold\n");
    else if (most == 0)
        fputc('\n', out);
    else if (least < most)
        fprintf(out, "; dynamic threshold, beta %g\n", first->beta);
    else
        fprintf(out, "; dynamic threshold, beta %g (alpha %g)\n", first->beta, first->beta / least);
}

static bool has_tiers(const struct oche_world_config *config)
{
    for (unsigned kind = 0; kind < OCHE_NODE_KINDS; kind++)
        if (config->tiers[kind] != NULL)
            return true;
    return false;
}

static void print_heading(const struct switches *all, FILE *out)
{
    uint32_t switches = oche_world_topology(all->world)->switch_count;
    struct kind least = all->kinds[0], most = {.node_kind = 0};

    least.least_kmin = least.least_kmax = OCHE_NEVER;
    for (uint32_t i = 0; i < switches; i++) {
        const struct kind *kind = &all->kinds[i];

        least.buffer_bytes = smaller(least.buffer_bytes, kind->buffer_bytes);
        most.buffer_bytes = larger(most.buffer_bytes, kind->buffer_bytes);
        if (!kind->marks)
            continue;
        least.least_kmin = smaller(least.least_kmin, kind->least_kmin);
        least.least_kmax = smaller(least.least_kmax, kind->least_kmax);
        most.kmin = larger(most.kmin, kind->kmin);
        most.kmax = larger(most.kmax, kind->kmax);
    }
    print_range("B =", least.buffer_bytes, most.buffer_bytes, ", ", out);
    print_range("kmin", least.least_kmin, most.kmin, ", ", out);
    print_range("kmax", least.least_kmax, most.kmax, "", out);
    fprintf(out, "%s\n",
            least.least_kmin == most.kmin              ? ""
            : has_tiers(oche_world_config(all->world)) ? " (by tier and port)"
                                                       : " (by the port's rate)");
    print_classes(all, out);
}

/* Lists the settings of the switches that do not fit or have no effect, as `oche run` does. */
static struct json_object *remarks_json(const struct oche_scenario *scenario,
                                        const struct oche_world *world)
{
    struct json_object *list = oche_json_array(0);
    struct oche_unfit unfit = {.count = 0};
    struct oche_idle_keys idle;

    oche_unfit_judge_buffers(&unfit, world);
    for (unsigned i = 0; i < unfit.count; i++)
        oche_json_push(list, oche_json_text(unfit.text[i]));
    oche_idle_keys_find(scenario, &idle);
    for (unsigned i = 0; i < idle.count; i++)
        if (strncmp(idle.text[i], "switch.", strlen("switch.")) == 0)
            oche_json_push(list, oche_json_text(idle.text[i]));
    return list;
}

static void print_remarks(const struct oche_scenario *scenario, const struct oche_world *world,
                          FILE *out)
{
    struct json_object *list = remarks_json(scenario, world);

    for (size_t i = 0; i < json_object_array_length(list); i++)
        fprintf(out, "%s%s\n", i == 0 ? "\n" : "",
                json_object_get_string(json_object_array_get_idx(list, i)));
    json_object_put(list);
}

static void print_route_faults(const struct oche_world *world, FILE *out)
{
    struct oche_route_faults faults;

    if (!oche_world_find_route_faults(world, &faults))
        return;
    char *lost = oche_route_faults_lost_text(world, &faults);
    char *circle = oche_route_faults_circle_text(world, &faults);
    fputc('\n', out);
    oche_print_route_faults(lost, circle, out);
    free(lost);
    free(circle);
    oche_route_faults_free(&faults);
}

/* True if packets are ECN-capable. Otherwise no ECN threshold has an effect. */
static bool asks_for_marks(const struct oche_world_config *config)
{
    uint32_t needs = config->endpoint != NULL ? config->endpoint->needs : config->cc->needs;

    return (needs & OCHE_CC_NEEDS_ECN) != 0;
}

/* True if there is a switch that marks. */
static bool some_mark(const struct oche_world *world)
{
    const struct oche_topology *topology = oche_world_topology(world);

    for (uint32_t i = topology->host_count; i < oche_topology_nodes(topology); i++)
        if (oche_world_of_tier(oche_world_config(world), topology->nodes[i].kind)->ecn)
            return true;
    return false;
}

/* Returns asks_for_marks. */
static bool print_scheme(const struct oche_world_config *config, FILE *out)
{
    if (asks_for_marks(config))
        return true;
    fprintf(out,
            "congestion_control is %s, whose packets ask for no marks: PFC acts alone. With a "
            "scheme that\nanswers them, such as dcqcn:\n",
            oche_world_scheme_name(config));
    return false;
}

bool oche_buffers_check(const struct oche_scenario *scenario, const struct oche_world *world,
                        bool all_priorities, FILE *out)
{
    const struct oche_switch_params *params = &oche_world_config(world)->switches;
    const struct oche_world_config *config = oche_world_config(world);
    const struct oche_topology *topology = oche_world_topology(world);
    struct switches all;
    bool sure = true, lossy = false, marked;

    if (!params->pfc) {
        fprintf(out, "switch.pfc is false: there is no PAUSE that ECN must come before\n");
        return true;
    }
    if (config->endpoint != NULL && !oche_world_lossless(config)) {
        fprintf(out,
                "congestion_control is %s with lossless: false: switches drop its packets, and "
                "there is no\nPAUSE that ECN must come before\n",
                oche_world_scheme_name(config));
        return true;
    }
    if (!some_mark(world)) {
        fprintf(out, "switch.ecn is false: nothing is marked, PFC acts alone; set it to true\n");
        return false;
    }
    init(&all, world, all_priorities);
    print_heading(&all, out);
    fprintf(out, "round trip where nothing waits: up to %s\n",
            oche_figure_time(oche_world_empty_rtt(world)).text);
    marked = print_scheme(config, out);
    for (uint32_t sw = 0; sw < topology->switch_count; sw++)
        if (is_first_of_kind(&all, sw)) {
            sure &= check_kind(&all, sw, out);
            lossy |= all.kinds[sw].needed > 0;
        }
    print_remarks(scenario, world, out);
    print_route_faults(world, out);
    if (lossy)
        fprintf(out, "\nheadroom is too little: packets may be lost; switch.headroom=auto and "
                     "switch.headroom_scale=1\nare enough\n");
    if (marked)
        fprintf(out, "\n%s\n",
                sure ? "ECN is sure to act before PFC"
                     : "ECN is not sure to act before PFC: make one of the changes listed");
    else
        fprintf(out, "\nECN does not act before PFC: congestion_control is %s\n",
                oche_world_scheme_name(config));
    done(&all);
    return sure && marked && !lossy;
}

/* ---- as JSON ---- */

/* Returns the changes that print_advice prints, each as text. */
static struct json_object *advice_json(const struct switches *all,
                                       const struct oche_switch_config *config,
                                       const struct kind *kind, double bound)
{
    struct json_object *list = oche_json_array(0);
    char *text = NULL, *rest, *line;
    size_t bytes;
    FILE *out = oche_text_stream_open(&text, &bytes);

    print_advice(all, config, kind, bound, out);
    oche_text_stream_close(out);
    rest = text;
    while ((line = strsep(&rest, "\n")) != NULL)
        if (line[0] != '\0')
            oche_json_push(list, oche_json_text(line + strspn(line, " ")));
    free(text);
    return list;
}

static struct json_object *kind_json(const struct switches *all, uint32_t sw, bool *sure)
{
    const struct oche_topology *topology = oche_world_topology(all->world);
    const struct kind *kind = &all->kinds[sw];
    struct oche_switch_port_config ports[OCHE_MAX_PORTS];
    struct oche_switch_config config;
    struct json_object *json = oche_json_object();

    oche_world_switch_config(all->world, sw, &config, ports);
    const double bound = oche_buffer_ecn_bound(&config, worst_of(all, kind));

    *sure = kind->sure;
    oche_json_add_text(json, "tier", names[kind->node_kind]);
    oche_json_add_text(json, "such_as", topology->nodes[topology->host_count + sw].name);
    oche_json_add_int(json, "switches", count_alike(all, sw));
    oche_json_add_int(json, "ports", kind->ports);
    oche_json_add_int(json, "priorities", kind->priorities);
    oche_json_add(json, "beta", oche_json_exact(kind->beta));
    oche_json_add_int(json, "buffer_bytes", kind->buffer_bytes);
    oche_json_add_int(json, "headroom_least_bytes", kind->least_headroom);
    oche_json_add_int(json, "headroom_most_bytes", kind->most_headroom);
    oche_json_add_int(json, "headroom_total_bytes", kind->headroom_total);
    oche_json_add(json, "headroom_enough", oche_json_truth(kind->needed == 0));
    oche_json_add_int(json, "shared_bytes", kind->shared);
    oche_json_add_int(json, "fan_out", kind->fan_out);
    oche_json_add_int(json, "fan_in", kind->fan_in);
    oche_json_add(json, "ecn", oche_json_truth(kind->marks));
    if (kind->marks) {
        oche_json_add_int(json, "kmin_least_bytes", kind->least_kmin);
        oche_json_add_int(json, "kmin_most_bytes", kind->kmin);
        oche_json_add_int(json, "kmax_least_bytes", kind->least_kmax);
        oche_json_add_int(json, "kmax_most_bytes", kind->kmax);
    }
    oche_json_add(json, "ecn_bound_bytes", oche_json_exact(bound));
    oche_json_add(json, "incast_pauses_from_bytes",
                  oche_json_exact(oche_buffer_incast_queue(&config, kind->fan_in)));
    oche_json_add(json, "sure", oche_json_truth(*sure));
    oche_json_add(json, "changes",
                  *sure ? oche_json_array(0) : advice_json(all, &config, kind, bound));
    return json;
}

/*
 * Returns the switches, one entry for each kind. Sets *sure and *enough (headroom) for all of them.
 */
static struct json_object *kinds_json(const struct oche_world *world, bool all_priorities,
                                      bool *sure, bool *enough)
{
    struct json_object *list = oche_json_array(0);
    struct switches all;

    init(&all, world, all_priorities);
    for (uint32_t sw = 0; sw < oche_world_topology(world)->switch_count; sw++) {
        bool one;

        if (!is_first_of_kind(&all, sw))
            continue;
        oche_json_push(list, kind_json(&all, sw, &one));
        *sure &= one;
        *enough &= all.kinds[sw].needed == 0;
    }
    done(&all);
    return list;
}

struct json_object *oche_buffers_check_json(const struct oche_scenario *scenario,
                                            const struct oche_world *world, const char *path,
                                            bool all_priorities, bool *yes)
{
    const struct oche_world_config *config = oche_world_config(world);
    const bool pauses =
        config->switches.pfc && (config->endpoint == NULL || oche_world_lossless(config));
    const bool ecn = some_mark(world), marks = ecn && asks_for_marks(config);
    struct json_object *json = oche_json_object();
    bool sure = true, enough = true;

    oche_json_add_text(json, "kind", "buffers_check");
    oche_json_add_text(json, "scenario", path);
    oche_json_add_text(json, "congestion_control", oche_world_scheme_name(config));
    oche_json_add(json, "pfc", oche_json_truth(pauses));
    oche_json_add(json, "ecn", oche_json_truth(marks));
    oche_json_add(json, "empty_rtt_s",
                  oche_json_exact((double)oche_world_empty_rtt(world) / (double)OCHE_SEC));
    oche_json_add(json, "switches",
                  pauses && ecn ? kinds_json(world, all_priorities, &sure, &enough)
                                : oche_json_array(0));
    oche_json_add(json, "remarks",
                  pauses && ecn ? remarks_json(scenario, world) : oche_json_array(0));
    *yes = !pauses || (marks && sure && enough);
    oche_json_add(json, "yes", oche_json_truth(*yes));
    return json;
}
