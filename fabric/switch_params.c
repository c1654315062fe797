/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A switch's parameters, and the check of a configuration. Defaults: the paper's switch (Trident
 * II: 12 MB, 8 PFC priorities, beta 8) and its deployed marking (dcqcn.md#parameters), with
 * headroom computed from each link.
 */
#include "fabric/switch.h"

#include "fabric/chips.h"
#include "fabric/shared_buffer.h"
#include "fabric/text.h"

/* Occupancies are 32 bits wide. */
#define MAX_BUFFER UINT64_C(0x7fffffff)

static const char *const thresholds[] = {
    [OCHE_THRESHOLD_DYNAMIC] = "dynamic", [OCHE_THRESHOLD_STATIC] = "static", NULL};
static const char *const ecn_points[] = {
    [OCHE_ECN_AT_DEQUEUE] = "dequeue", [OCHE_ECN_AT_ENQUEUE] = "enqueue", NULL};

static const struct oche_param params[] = {
    OCHE_PRESET_ROW(struct oche_switch_params),
    {OCHE_PARAM(struct oche_switch_params, chip), OCHE_IS_CHOICE(0, oche_chip_names),
     .where = "dcqcn.md#deployed",
     .help = "whose packet memory `buffer: auto` is (oche buffers --list-presets); auto: of the "
             "smallest chip that has the switch's ports"},
    {OCHE_PARAM_AS("buffer", struct oche_switch_params, buffer_bytes),
     OCHE_IS_BYTES(12000000, 1, MAX_BUFFER), .automatic = true, .where = "DCQCN sec 4",
     .help = "packet memory, shared by all ports; auto: the chip's"},
    {OCHE_PARAM(struct oche_switch_params, threshold),
     OCHE_IS_CHOICE(OCHE_THRESHOLD_DYNAMIC, thresholds), .needs = "pfc,@pfc",
     .where = "DCQCN sec 4",
     .help = "threshold of PFC: dynamic (a share of what is free) or static"},
    {OCHE_PARAM(struct oche_switch_params, beta), OCHE_IS_REAL(8, 1.0 / 1024, 1024),
     .zero_is_auto = true, .needs = "pfc,@pfc,threshold=dynamic",
     .where = "DCQCN sec 4; dcqcn.md#deployed",
     .help =
         "dynamic: t_PFC = beta * free / pfc_priorities; a switch's alpha times pfc_priorities; "
         "auto: alpha is 1"},
    {OCHE_PARAM_AS("xoff", struct oche_switch_params, xoff_bytes), OCHE_IS_BYTES(0, 0, MAX_BUFFER),
     .needs = "pfc,@pfc,threshold=static", .where = "DCQCN sec 4",
     .help = "static t_PFC, per ingress port and class; 0: the formula's bound"},
    {OCHE_PARAM_AS("xon_offset", struct oche_switch_params, xon_offset_bytes),
     OCHE_IS_BYTES(OCHE_NEVER, 0, MAX_BUFFER), .automatic = true, .needs = "pfc,@pfc",
     .where = "dcqcn.md#headroom",
     .help = "a paused ingress port and class resumes when it holds so much less than t_PFC, or "
             "nothing; auto: two frames of the MTU (HPCC's simulator 3KiB)"},
    {OCHE_PARAM(struct oche_switch_params, pfc), OCHE_IS_BOOL(true), .of_all = true,
     .where = "rocev2.md#pfc", .help = "false: drop-tail"},
    {OCHE_PARAM(struct oche_switch_params, pfc_priorities), OCHE_IS_COUNT(8, 0, OCHE_CLASSES),
     .automatic = true, .needs = "pfc,@pfc", .where = "DCQCN sec 4",
     .help = "priorities that the buffer is divided for; 0: the lossless classes in use; auto: "
             "those, two at least"},
    {OCHE_PARAM(struct oche_switch_params, chip_ports), OCHE_IS_COUNT(0, 0, UINT16_MAX),
     .needs = "pfc,@pfc", .where = "DCQCN sec 4",
     .help = "ports that headroom is kept for, in use or not; 0: those that the topology "
             "gives the switch"},
    {OCHE_PARAM_AS("headroom", struct oche_switch_params, headroom_bytes),
     OCHE_IS_BYTES(OCHE_NEVER, 0, OCHE_NEVER), .needs = "pfc,@pfc", .where = "dcqcn.md#a12",
     .help = "per ingress port and priority; auto: from each link's rate and delay, and the slower "
             "pfc_response of its ends"},
    {OCHE_PARAM(struct oche_switch_params, headroom_scale), OCHE_IS_REAL(1, 0, 100),
     .needs = "pfc,@pfc", .where = "our choice",
     .help = "times the headroom; below 1, packets may be lost"},
    {OCHE_PARAM(struct oche_switch_params, pfc_response), OCHE_IS_TIME(500 * OCHE_NS, 0, OCHE_MS),
     .of_all = true, .needs = "pfc,@pfc", .where = "our choice",
     .help = "from a PAUSE frame's arrival until it takes effect"},
    {OCHE_PARAM(struct oche_switch_params, egress_alpha), OCHE_IS_REAL(1, 0, 1024),
     .needs = "@lossy", .where = "our choice",
     .help = "lossy classes: a queue holds at most this share of what is free; 0: no such limit"},
    {OCHE_PARAM_AS("port_buffer", struct oche_switch_params, port_buffer_bytes),
     OCHE_IS_BYTES(0, 0, MAX_BUFFER), .needs = "@lossy", .where = "Dart sec VI-A",
     .help = "lossy classes: a port's egress queues hold at most this; 0: no such limit"},
    {OCHE_PARAM(struct oche_switch_params, ecn), OCHE_IS_BOOL(true), .where = "DCQCN sec 3.1",
     .help = "RED marking on the egress queues"},
    {OCHE_PARAM_AS("kmin", struct oche_switch_params, kmin_bytes),
     OCHE_IS_BYTES(5000, 0, MAX_BUFFER), .automatic = true, .needs = "ecn,@red",
     .where = "dcqcn.md#parameters",
     .help =
         "no marks up to this queue; auto: by kmin_time, so 1KB for each Gbps of the port's rate, "
         "at least 5KB"},
    {OCHE_PARAM_AS("kmax", struct oche_switch_params, kmax_bytes),
     OCHE_IS_BYTES(200000, 0, MAX_BUFFER), .automatic = true, .needs = "ecn,@red",
     .where = "dcqcn.md#parameters",
     .help =
         "every packet is marked above this queue; auto: by kmax_time, so 4KB for each Gbps, at "
         "least 20KB and kmin"},
    {OCHE_PARAM(struct oche_switch_params, kmin_time), OCHE_IS_TIME(8 * OCHE_US, 0, OCHE_SEC),
     .needs = "ecn,@red,@kmin_auto", .where = "dcqcn.md#deployed",
     .help = "kmin: auto is what the port sends in this time, at least 5KB; HPCC's simulator has "
             "32us"},
    {OCHE_PARAM(struct oche_switch_params, kmax_time), OCHE_IS_TIME(32 * OCHE_US, 0, OCHE_SEC),
     .needs = "ecn,@red,@kmax_auto", .where = "dcqcn.md#deployed",
     .help = "kmax: auto is what the port sends in this time, at least 20KB and kmin"},
    {OCHE_PARAM(struct oche_switch_params, pmax), OCHE_IS_REAL(0.01, 0, 1), .needs = "ecn,@red",
     .where = "dcqcn.md#parameters", .help = "probability of a mark at kmax"},
    {OCHE_PARAM(struct oche_switch_params, ecn_at), OCHE_IS_CHOICE(OCHE_ECN_AT_DEQUEUE, ecn_points),
     .needs = "ecn,@red", .where = "dcqcn.md#a6",
     .help = "whether the queue length at dequeue or at enqueue decides a mark"},
    {OCHE_PARAM(struct oche_switch_params, mechanisms), OCHE_IS_TEXT, .of_all = true,
     .where = "our choice",
     .help = "further mechanisms: a list of names; each has a section of its own"},
};

/*
 * Switches in use: the chip's memory, two lossless priorities, each with the share of what is free
 * that one of the paper's eight has (alpha 1), and marks from the same delay on at every rate
 * (dcqcn.md#deployed).
 */
static const struct oche_deployed in_use[] = {
    {"buffer", {.u = OCHE_NEVER}},         {"beta", {.real = 0}},
    {"pfc_priorities", {.u = OCHE_NEVER}}, {"kmin", {.u = OCHE_NEVER}},
    {"kmax", {.u = OCHE_NEVER}},           {"pmax", {.real = 0.2}},
};

const struct oche_param_table oche_switch_params =
    OCHE_PARAM_TABLE_DEPLOYED(params, struct oche_switch_params, in_use);

/* ---- the check ---- */

static bool check_buffer(const struct oche_switch_config *config, struct oche_error *error)
{
    struct oche_buffer_plan plan = oche_buffer_plan(config);
    uint64_t buffer = oche_switch_memory(config);
    unsigned lossless = (unsigned)__builtin_popcount(config->lossless_classes);
    uint64_t most = 0;

    for (unsigned port = 0; port < config->port_count; port++) {
        uint64_t headroom = oche_buffer_headroom(config, port);
        most = headroom > most ? headroom : most;
    }
    uint64_t needed = plan.headroom_total + plan.reserve;

    if (most > INT32_MAX && config->params->headroom_bytes != OCHE_NEVER)
        return oche_fabric_refuse(error, "headroom: # bytes a port and class; at most # bytes",
                                  (uint64_t[]){most, INT32_MAX});
    if (most > INT32_MAX || needed > MAX_BUFFER)
        return oche_fabric_refuse(
            error,
            "headroom: PFC needs up to # bytes for a port and priority, # in all, and a switch's "
            "memory is at most # bytes; would be right: shorter or slower links, or pfc: false",
            (uint64_t[]){most, needed, MAX_BUFFER});
    if (needed > buffer) {
        oche_fabric_refuse(
            error,
            "buffer: # bytes is less than the PFC headroom of # bytes (# ports, # "
            "pfc_priorities, up to # bytes each) and # bytes for packets that cross "
            "a threshold; would be right: more than # bytes, with which nothing is left to "
            "share, ",
            (uint64_t[]){buffer, plan.headroom_total, plan.ports, plan.priorities, most,
                         plan.reserve, needed});
        return oche_fabric_refuse_more(
            error,
            plan.priorities > lossless ? "fewer pfc_priorities, or pfc: false" : "or pfc: false",
            NULL);
    }
    return true;
}

bool oche_switch_check(const struct oche_switch_config *config, struct oche_error *error)
{
    const struct oche_switch_params *p = config->params;
    unsigned lossless = (unsigned)__builtin_popcount(config->lossless_classes);

    if (config->class_count < 1 || config->class_count > OCHE_CLASSES)
        return oche_fabric_refuse(error, "classes: #; would be right: 1 to #",
                                  (uint64_t[]){config->class_count, OCHE_CLASSES});
    if (config->lossless_classes >> config->class_count != 0)
        return oche_fabric_refuse(
            error, "lossless classes: mask # names a class that is not in use; # are",
            (uint64_t[]){config->lossless_classes, config->class_count});
    if (config->lanes > config->class_count)
        return oche_fabric_refuse(error, "lanes: #; would be right: at most the # classes",
                                  (uint64_t[]){config->lanes, config->class_count});
    if (config->lanes > 1) {
        unsigned mask = (1U << config->lanes) - 1, under = config->lossless_classes & mask;

        if (under != 0 && under != mask)
            return oche_fabric_refuse(
                error, "lossless classes: mask # has some of the # lanes; all or none",
                (uint64_t[]){config->lossless_classes, config->lanes});
    }
    if (config->port_count < 1 || config->port_count > UINT16_MAX)
        return oche_fabric_refuse(error, "ports: #; would be right: 1 to #",
                                  (uint64_t[]){config->port_count, UINT16_MAX});
    for (unsigned port = 0; port < config->port_count; port++)
        if (config->ports[port].rate_bps == 0)
            return oche_fabric_refuse(error, "rate: 0 at port #; would be right: above 0",
                                      (uint64_t[]){port});
    if (p->chip_ports != 0 && p->chip_ports < config->port_count)
        return oche_fabric_refuse(
            error,
            "chip_ports: # for a switch with # ports; would be right: # or "
            "more, or 0",
            (uint64_t[]){p->chip_ports, config->port_count, config->port_count});
    if (p->chip != 0 && p->buffer_bytes != OCHE_NEVER)
        return oche_fabric_refuse(
            error, "chip: buffer is # bytes whatever the chip; would be right: buffer: auto",
            (uint64_t[]){p->buffer_bytes});
    if (p->buffer_bytes > MAX_BUFFER && p->buffer_bytes != OCHE_NEVER)
        return oche_fabric_refuse(error, "buffer: # bytes; would be right: at most # bytes",
                                  (uint64_t[]){p->buffer_bytes, MAX_BUFFER});
    if (p->ecn && p->kmin_bytes != OCHE_NEVER && p->kmin_bytes > p->kmax_bytes)
        return oche_fabric_refuse(
            error, "kmin: # bytes is above kmax, # bytes; would be right: at most kmax",
            (uint64_t[]){p->kmin_bytes, p->kmax_bytes});
    if (p->pfc && p->pfc_priorities != 0 && p->pfc_priorities < lossless)
        return oche_fabric_refuse(
            error, "pfc_priorities: # for # lossless classes; would be right: # or more",
            (uint64_t[]){p->pfc_priorities, lossless, lossless});
    if (p->port_buffer_bytes != 0 && p->pfc && lossless == config->class_count)
        return oche_fabric_refuse(
            error,
            "port_buffer: # bytes limits lossy classes, and PFC makes all # classes "
            "lossless; would be right: 0, or pfc: false",
            (uint64_t[]){p->port_buffer_bytes, config->class_count});
    return check_buffer(config, error);
}
