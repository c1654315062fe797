/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `oche buffers`: computes how to divide a switch's memory, or checks that the switches of a
 * scenario are configured that way.
 */
#include <argp.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/buffers/check.h"
#include "cli/buffers/ports.h"
#include "cli/buffers/presets.h"
#include "cli/buffers/sizes.h"
#include "cli/commands.h"
#include "cli/installed.h"
#include "cli/json_line.h"
#include "cli/refuse.h"
#include "core/wire/opcode.h"
#include "fabric/in_use.h"
#include "sim/network/host.h"
#include "sim/scenario/scenario.h"
#include "params/units.h"
#include "params/printable.h"

#define MOST_SIZE UINT64_C(0x7fffffff)

/* The switch of DCQCN sec 4 (dcqcn.md#buffers), beside its chip's memory and ports. */
#define PAPER_PRIORITIES 8
#define PAPER_BETA       8
#define PAPER_MTU        1500
#define PAPER_HEADROOM   22400

enum key {
    KEY_LIST_PRESETS = 256,
    KEY_RESPONSE,
    KEY_HEADROOM,
    KEY_ALPHA,
    KEY_BETA,
    KEY_KMIN,
    KEY_KMAX,
    KEY_PMAX,
    KEY_XOFF,
    KEY_ALL_PRIORITIES,
    KEY_JSON,
};

struct options {
    struct oche_buffers_input input;
    bool sized; /* at least one option for the calculation was given */
    bool has_cable, has_delay, has_response, has_mtu, has_headroom;
    double alpha;                  /* 0: not given */
    struct oche_buffers_links all; /* rate and length of the ports for which --ports gives none */
    const char *preset;
    char *check; /* path of a scenario, or NULL */
    /* options that were given, which replace the preset's values */
    bool has_buffer, has_ports, has_rate;
    const char **sets;
    size_t set_count;
    bool all_priorities, list_presets, json;
};

/* ---- reading ---- */

#define SIZE(low, high) ((struct oche_param){.name = "size", OCHE_IS_BYTES(0, low, high)})
#define SIZE_OR_AUTO(low, high)                                                                    \
    ((struct oche_param){.name = "size", OCHE_IS_BYTES(0, low, high), .automatic = true})
#define COUNT(low, high) ((struct oche_param){.name = "number", OCHE_IS_COUNT(0, low, high)})
#define TIME(low, high)  ((struct oche_param){.name = "time", OCHE_IS_TIME(0, low, high)})
#define RATE(low, high)  ((struct oche_param){.name = "rate", OCHE_IS_BPS(0, low, high)})
#define REAL(low, high)  ((struct oche_param){.name = "number", OCHE_IS_REAL(0, low, high)})

static union oche_value read_value(struct oche_param param, const char *option, const char *text,
                                   struct argp_state *state)
{
    union oche_value value;
    struct oche_error why;

    if (!oche_value_parse(&param, text, &value, &why))
        argp_failure(state, 2, 0, "--%s %s: %s", option, text, why.text);
    return value;
}

static void read_cable(struct options *options, const char *text, struct argp_state *state)
{
    struct oche_error why;

    if (!oche_buffers_length(text, &options->all.cable_m, &why))
        argp_failure(state, 2, 0, "--cable %s: %s", text, why.text);
    options->all.delay = oche_buffers_delay(options->all.cable_m);
    options->has_cable = true;
}

static void read_ports(struct options *options, const char *text, struct argp_state *state)
{
    struct oche_error why;

    if (!oche_buffers_ports(text, &options->input, &why))
        argp_failure(state, 2, 0, "--ports %s: %s", text, why.text);
    options->has_ports = true;
}

static void add_set(struct options *options, const char *set)
{
    options->sets = realloc(options->sets, (options->set_count + 1) * sizeof(*options->sets));
    OCHE_GOT(options->sets != NULL);
    options->sets[options->set_count++] = set;
}

/* Reads the option if it belongs to the calculation. Returns false if it does not. */
static bool parse_size(struct options *options, int key, const char *text, struct argp_state *state)
{
    struct oche_buffers_input *in = &options->input;

    switch (key) {
    case 'P':
        options->preset = text;
        break;
    case 'b':
        in->buffer_bytes = read_value(SIZE(1, MOST_SIZE), "buffer", text, state).u;
        options->has_buffer = true;
        break;
    case 'n':
        read_ports(options, text, state);
        break;
    case 'p':
        in->priorities = (unsigned)read_value(COUNT(1, OCHE_CLASSES), "priorities", text, state).u;
        break;
    case 'r':
        options->all.rate_bps =
            read_value(RATE(OCHE_BUFFERS_LEAST_RATE, OCHE_BUFFERS_MOST_RATE), "rate", text, state)
                .u;
        options->has_rate = true;
        break;
    case 'l':
        read_cable(options, text, state);
        break;
    case 'd':
        options->all.delay = read_value(TIME(0, 10 * OCHE_MS), "delay", text, state).u;
        options->all.cable_m = -1;
        options->has_delay = true;
        break;
    case 'm':
        in->mtu_bytes = read_value(SIZE(64, 65536), "mtu", text, state).u;
        options->has_mtu = true;
        break;
    case KEY_RESPONSE:
        in->response = read_value(TIME(0, OCHE_MS), "response", text, state).u;
        options->has_response = true;
        break;
    case KEY_HEADROOM:
        in->headroom_bytes = read_value(SIZE_OR_AUTO(1, MOST_SIZE), "headroom", text, state).u;
        options->has_headroom = true;
        break;
    case KEY_ALPHA:
        options->alpha = read_value(REAL(1.0 / 1024, 128), "alpha", text, state).real;
        break;
    case KEY_BETA:
        in->beta = read_value(REAL(1.0 / 1024, 1024), "beta", text, state).real;
        break;
    case KEY_KMIN:
        in->kmin_bytes = read_value(SIZE(1, MOST_SIZE), "kmin", text, state).u;
        break;
    case KEY_KMAX:
        in->kmax_bytes = read_value(SIZE(1, MOST_SIZE), "kmax", text, state).u;
        break;
    case KEY_PMAX:
        in->pmax = read_value(REAL(0, 1), "pmax", text, state).real;
        break;
    case KEY_XOFF:
        in->xoff_bytes = read_value(SIZE(1, MOST_SIZE), "xoff", text, state).u;
        break;
    default:
        return false;
    }
    options->sized = true;
    return true;
}

/* Takes the paper's values of its switch, except those that options give. */
static void use_paper(struct options *options)
{
    struct oche_buffers_input *in = &options->input;

    if (in->priorities == 0)
        in->priorities = PAPER_PRIORITIES;
    if (!(in->beta > 0) && !(options->alpha > 0))
        in->beta = PAPER_BETA;
    /* Its headroom is that of its links. */
    if (!options->has_headroom && !options->has_cable && !options->has_delay &&
        !options->has_response && !options->has_mtu && !options->has_ports && !options->has_rate)
        in->headroom_bytes = PAPER_HEADROOM;
    if (!options->has_mtu)
        in->mtu_bytes = PAPER_MTU;
}

static const struct oche_chip *use_preset(struct options *options, struct argp_state *state)
{
    const char *nearest = NULL;
    const struct oche_chip *chip = oche_buffers_preset_find(options->preset, &nearest);

    if (chip == NULL) {
        argp_failure(state, 2, 0, "--preset %s: no such chip; %s%s%s", options->preset,
                     nearest != NULL ? "did you mean " : "--list-presets lists them",
                     nearest != NULL ? nearest : "", nearest != NULL ? "?" : "");
        return NULL;
    }
    if (chip->buffer_bytes == 0 && !options->has_buffer)
        argp_failure(state, 2, 0, "--preset %s: its memory is not known; give it with --buffer",
                     options->preset);
    if (chip->ports == 0 && !options->has_ports)
        argp_failure(state, 2, 0,
                     "--preset %s: how many ports it has is not known; give them with --ports",
                     options->preset);
    options->input.chip = chip->chip;
    options->input.chip_note = chip->note;
    if (strcmp(options->preset, OCHE_BUFFERS_PAPER) == 0)
        use_paper(options);
    if (!options->has_buffer)
        options->input.buffer_bytes = chip->buffer_bytes;
    if (!options->has_ports)
        options->all.ports = chip->ports;
    if (!options->has_rate)
        options->all.rate_bps = chip->rate_bps;
    return chip;
}

/* Takes beta from alpha. Rejects both if they contradict each other. */
static void use_alpha(struct options *options, struct argp_state *state)
{
    struct oche_buffers_input *in = &options->input;
    double beta;

    if (!(options->alpha > 0)) {
        in->by_beta = in->beta > 0;
        oche_buffers_fill_in(in);
        return;
    }
    double given = in->beta;

    oche_buffers_fill_in(in);
    beta = options->alpha * in->priorities;
    if (given > 0 && fabs(given - beta) > 1e-9 * beta)
        argp_failure(state, 2, 0,
                     "--alpha %g makes beta %g with %u priorities, and --beta says %g; give one of "
                     "them",
                     options->alpha, beta, in->priorities, given);
    in->beta = beta;
}

/*
 * Fills in the rates and lengths that --ports does not give. Rejects an option that has no effect.
 */
static void complete_ports(struct options *options, struct argp_state *state)
{
    struct oche_buffers_input *in = &options->input;
    bool rate_used = false, delay_used = false;

    if (!options->has_ports) {
        in->kinds = 1;
        in->ports = options->all.ports;
        in->links[0] = options->all;
        return;
    }
    for (unsigned kind = 0; kind < in->kinds; kind++) {
        struct oche_buffers_links *links = &in->links[kind];

        if (links->rate_bps == 0) {
            links->rate_bps = options->all.rate_bps;
            rate_used = true;
        }
        if (links->delay == OCHE_NEVER) {
            links->delay = options->all.delay;
            links->cable_m = options->all.cable_m;
            delay_used = true;
        }
    }
    if (options->has_rate && !rate_used)
        argp_failure(state, 2, 0, "--rate is of ports that --ports gives no rate; leave it out");
    if ((options->has_cable || options->has_delay) && !delay_used)
        argp_failure(state, 2, 0, "--%s is of ports that --ports gives no length; leave it out",
                     options->has_cable ? "cable" : "delay");
}

/* Checks that the ports do not exceed a chip's lanes. */
static void check_capacity(const struct oche_buffers_input *in, const struct oche_chip *preset,
                           struct argp_state *state)
{
    uint64_t all_bps = 0, chip_bps = preset->ports * preset->rate_bps;

    if (preset->ports == 0)
        return;
    for (unsigned kind = 0; kind < in->kinds; kind++)
        all_bps += in->links[kind].ports * in->links[kind].rate_bps;
    if (all_bps > chip_bps)
        argp_failure(state, 2, 0,
                     "--preset %s: its ports have %s in all (%u x %s), and %s are asked for; write "
                     "fewer or slower ones",
                     preset->name, oche_figure_rate(chip_bps).text, preset->ports,
                     oche_figure_rate(preset->rate_bps).text, oche_figure_rate(all_bps).text);
}

/* Rejects thresholds that contradict each other, or one that nothing is compared with. */
static void check_thresholds(const struct options *options, struct argp_state *state)
{
    const struct oche_buffers_input *in = &options->input;
    const bool has_kmin = in->kmin_bytes != OCHE_NEVER, has_kmax = in->kmax_bytes != OCHE_NEVER;

    if (has_kmin && has_kmax && in->kmin_bytes > in->kmax_bytes)
        argp_failure(state, 2, 0, "--kmax is below --kmin, %llu bytes; give at least that",
                     (unsigned long long)in->kmin_bytes);
    if (in->pmax >= 0 && !(has_kmin && has_kmax))
        argp_failure(state, 2, 0,
                     "--pmax is of queues between kmin and kmax; give --kmin and --kmax, too");
    if (in->xoff_bytes > 0 && (options->alpha > 0 || in->beta > 0))
        argp_failure(state, 2, 0,
                     "--xoff is the static threshold, --%s is of the dynamic one; give one of them",
                     options->alpha > 0 ? "alpha" : "beta");
}

/* Rejects options that would have no effect. */
static void check_together(struct options *options, struct argp_state *state)
{
    check_thresholds(options, state);
    if (options->list_presets && (options->sized || options->check != NULL))
        argp_failure(state, 2, 0, "--list-presets goes alone");
    if (options->check != NULL && options->sized)
        argp_failure(state, 2, 0, "--check takes sizes from the scenario; change them with --set");
    if (options->check == NULL && (options->set_count > 0 || options->all_priorities))
        argp_failure(state, 2, 0, "--set and --all-priorities are for --check; give a scenario");
    if (options->has_cable && options->has_delay)
        argp_failure(state, 2, 0, "--cable and --delay say the same; give one");
    const struct oche_chip *preset = options->preset != NULL ? use_preset(options, state) : NULL;
    complete_ports(options, state);
    if (preset != NULL)
        check_capacity(&options->input, preset, state);
    use_alpha(options, state);
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct options *options = state->input;

    if (parse_size(options, key, argument, state))
        return 0;
    switch (key) {
    case 'c':
        if (options->check != NULL)
            argp_failure(state, 2, 0, "--check %s: one scenario at a time", argument);
        options->check = oche_scenario_argument(argument, state);
        return 0;
    case 's':
        add_set(options, argument);
        return 0;
    case KEY_ALL_PRIORITIES:
        options->all_priorities = true;
        return 0;
    case KEY_JSON:
        options->json = true;
        return 0;
    case KEY_LIST_PRESETS:
        options->list_presets = true;
        return 0;
    case ARGP_KEY_ARG:
        argp_failure(state, 2, 0, "%s: what is that? for a scenario, write --check %s", argument,
                     argument);
        return 0;
    case ARGP_KEY_END:
        check_together(options, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option known[] = {
    {NULL, 0, NULL, 0, "What the switch is:", 1},
    {"preset", 'P', "NAME", 0,
     "memory, ports and rate of a chip; paper: the whole switch of DCQCN sec 4", 1},
    {"list-presets", KEY_LIST_PRESETS, NULL, 0, "list the chips, with sources", 1},
    {"buffer", 'b', "SIZE", 0,
     "B, packet memory shared by all ports; default: of the smallest chip that has the ports", 1},
    {"ports", 'n', "LIST", 0,
     "n, number of ports; default 32; if they differ: 16x400Gbps@300m,64x100Gbps@3m", 1},
    {"priorities", 'p', "N", 0, "p, PFC priorities that headroom is kept for; default 2", 1},
    {"rate", 'r', "RATE", 0, "C, rate of every link that --ports gives no other; default 100Gbps",
     1},
    {"cable", 'l', "LENGTH", 0,
     "length of every link that --ports gives no other, 5 ns a metre; default 200m", 1},
    {"delay", 'd', "TIME", 0, "delay of every link, one way, instead of --cable", 1},
    {"mtu", 'm', "SIZE", 0,
     "largest packet without Ethernet header and FCS; default 1084B, RoCEv2 with 1KiB of payload",
     1},
    {"response", KEY_RESPONSE, "TIME", 0,
     "time from a PAUSE frame's arrival until it takes effect; default 500ns", 1},
    {"headroom", KEY_HEADROOM, "SIZE", 0,
     "t_flight, headroom of a port and priority, instead of the formula's (auto)", 1},
    {"alpha", KEY_ALPHA, "X", 0,
     "alpha of the dynamic threshold, as switches are configured; default 1", 1},
    {"beta", KEY_BETA, "X", 0, "beta of the dynamic threshold, instead: alpha times p", 1},
    {"xoff", KEY_XOFF, "SIZE", 0,
     "a static PFC threshold, instead of the dynamic one: judge kmin by it", 1},
    {"kmin", KEY_KMIN, "SIZE", 0, "an ECN threshold to judge", 1},
    {"kmax", KEY_KMAX, "SIZE", 0,
     "queue above which every packet is marked: say whether PAUSEs come before", 1},
    {"pmax", KEY_PMAX, "X", 0, "share of packets marked at kmax: say what is marked before PAUSEs",
     1},
    {NULL, 0, NULL, 0, "A scenario's switches:", 2},
    {"check", 'c', "SCENARIO", 0,
     "say for each kind of switch whether ECN is sure to act before PFC, and what to change", 2},
    {"set", 's', "KEY=VALUE", 0, "override a value of the scenario", 2},
    {"all-priorities", KEY_ALL_PRIORITIES, NULL, 0,
     "as if data came in all PFC priorities, as in the paper; default: in one, as in the scenario",
     2},
    {NULL, 0, NULL, 0, "What is printed:", 3},
    {"json", KEY_JSON, NULL, 0,
     "print JSON instead: the numbers in bytes, seconds and bit/s, and what the status says as yes",
     3},
    {0},
};

static const struct argp argp = {
    .options = known,
    .parser = parse,
    .doc = "Divides a switch's packet memory (DCQCN, SIGCOMM 2015, sec 4): headroom, static and "
           "dynamic PFC thresholds, and the ECN threshold up to which marks are sure to come "
           "before PAUSEs, line by line with the numbers."
           "\vExit status: 0 yes (headroom and xoff fit, kmin is sure, the scenario's switches are "
           "sure), "
           "or nothing was to be judged; 1 no; 2 bad arguments or a bad scenario.",
};

/* ---- work ---- */

static int check_scenario(const struct options *options)
{
    const struct oche_scenario_input input = {
        .name = options->check, .sets = options->sets, .set_count = options->set_count};
    struct oche_error message, error;
    struct oche_mistakes mistakes;
    struct oche_scenario *scenario = oche_scenario_read(&input, &mistakes);

    if (scenario == NULL) {
        oche_print_mistakes(&mistakes, NULL);
        return 2;
    }
    struct oche_world *world = oche_world_create(&scenario->config, &message);
    int status = 2;

    if (world == NULL) {
        oche_scenario_place(scenario, message.text, &error);
        oche_print_error("%s", error.text);
    } else {
        bool yes;

        if (options->json) {
            oche_json_print(oche_buffers_check_json(scenario, world, options->check,
                                                    options->all_priorities, &yes),
                            stdout);
            putchar('\n');
        } else {
            char name[1024];

            oche_printable(options->check, name, sizeof(name));
            printf("%s: ", name);
            yes = oche_buffers_check(scenario, world, options->all_priorities, stdout);
        }
        status = yes ? 0 : 1;
    }
    oche_world_free(world);
    oche_scenario_close(scenario);
    return status;
}

/* Prints the presets or the calculation. Returns the status. */
static int print_json(const struct options *options)
{
    bool yes = true;

    oche_json_print(options->list_presets ? oche_buffers_presets_json()
                                          : oche_buffers_sizes_json(&options->input, &yes),
                    stdout);
    putchar('\n');
    return yes ? 0 : 1;
}

/* Returns the default of a scenario's parameter. */
static uint64_t default_of(const struct oche_param_table *table, const char *name)
{
    return oche_param_default(table, oche_param_find(table, name), OCHE_PRESET_DEPLOYED).u;
}

/* Returns the size of a scenario's largest packets without Ethernet header and FCS. */
static uint64_t default_mtu(void)
{
    uint32_t payload = (uint32_t)default_of(&oche_host_params, "mtu");

    return oche_frame_bytes(OCHE_RC_WRITE_FIRST, payload, false) - OCHE_BUFFERS_FRAME_EXTRA;
}

int oche_cmd_buffers(int argc, char **argv)
{
    struct options options = {
        .all = {.ports = OCHE_IN_USE_PORTS,
                .rate_bps = OCHE_IN_USE_RATE,
                .delay = OCHE_IN_USE_DELAY,
                .cable_m = oche_buffers_cable_m(OCHE_IN_USE_DELAY)},
        .input = {.buffer_bytes = OCHE_NEVER,
                  .response = default_of(&oche_switch_params, "pfc_response"),
                  .mtu_bytes = default_mtu(),
                  .headroom_bytes = OCHE_NEVER,
                  .kmin_bytes = OCHE_NEVER,
                  .kmax_bytes = OCHE_NEVER,
                  .pmax = -1},
    };
    int status = 0;

    if (!oche_parse_arguments(&argp, argc, argv, 0, &options))
        return 2;
    if (options.check != NULL)
        status = check_scenario(&options);
    else if (options.json)
        status = print_json(&options);
    else if (options.list_presets)
        oche_buffers_presets_print(stdout);
    else
        status = oche_buffers_print_sizes(&options.input, stdout) ? 0 : 1;
    free(options.sets);
    free(options.check);
    return status;
}
