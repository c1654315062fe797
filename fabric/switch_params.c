/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A switch's parameters, and whether a configuration can be. Defaults: the paper's switch
 * (Trident II: 12 MB, 8 PFC priorities, beta 8) and its deployed marking (REFERENCE A.3), with
 * headroom from each link.
 */
#include "fabric/switch.h"

#include "fabric/shared_buffer.h"
#include "fabric/text.h"

#define FIELD(name) .offset = offsetof(struct oche_switch_params, name)
/* Occupancies are 32 bits wide. */
#define MAX_BUFFER UINT64_C(0x7fffffff)

static const char *const thresholds[] = {
    [OCHE_THRESHOLD_DYNAMIC] = "dynamic", [OCHE_THRESHOLD_STATIC] = "static", NULL};
static const char *const ecn_points[] = {
    [OCHE_ECN_AT_DEQUEUE] = "dequeue", [OCHE_ECN_AT_ENQUEUE] = "enqueue", NULL};

static const struct oche_param params[] = {
    {"buffer",
     OCHE_UNIT_BYTES,
     FIELD(buffer_bytes),
     {.u = 12000000},
     {.u = 1},
     {.u = MAX_BUFFER},
     NULL,
     "DCQCN sec 4",
     "packet memory, shared by all ports"},
    {"threshold",
     OCHE_UNIT_CHOICE,
     FIELD(threshold),
     {.u = OCHE_THRESHOLD_DYNAMIC},
     {.u = 0},
     {.u = 0},
     thresholds,
     "DCQCN sec 4",
     "of PFC: dynamic (a share of what is free) or static"},
    {"beta",
     OCHE_UNIT_REAL,
     FIELD(beta),
     {.real = 8},
     {.real = 1.0 / 1024},
     {.real = 1024},
     NULL,
     "DCQCN sec 4",
     "dynamic: t_PFC = beta * free / pfc_priorities"},
    {"xoff",
     OCHE_UNIT_BYTES,
     FIELD(xoff_bytes),
     {.u = 0},
     {.u = 0},
     {.u = MAX_BUFFER},
     NULL,
     "DCQCN sec 4",
     "static t_PFC, per ingress port and class; 0: the formula's bound"},
    {"pfc",
     OCHE_UNIT_BOOL,
     FIELD(pfc),
     {.u = 1},
     {.u = 0},
     {.u = 1},
     NULL,
     "REFERENCE F.6",
     "false: drop-tail"},
    {"pfc_priorities",
     OCHE_UNIT_COUNT,
     FIELD(pfc_priorities),
     {.u = 8},
     {.u = 0},
     {.u = OCHE_CLASSES},
     NULL,
     "DCQCN sec 4",
     "that the buffer is divided for; 0: the lossless classes in use"},
    {"chip_ports",
     OCHE_UNIT_COUNT,
     FIELD(chip_ports),
     {.u = 0},
     {.u = 0},
     {.u = UINT16_MAX},
     NULL,
     "DCQCN sec 4",
     "that headroom is kept for, in use or not; 0: those that the topology gives the switch"},
    {"headroom",
     OCHE_UNIT_BYTES,
     FIELD(headroom_bytes),
     {.u = OCHE_NEVER},
     {.u = 0},
     {.u = OCHE_NEVER},
     NULL,
     "REFERENCE A12",
     "per ingress port and priority; auto: from each link's rate and delay, and the slower "
     "pfc_response of its ends"},
    {"headroom_scale",
     OCHE_UNIT_REAL,
     FIELD(headroom_scale),
     {.real = 1},
     {.real = 0},
     {.real = 100},
     NULL,
     "our choice",
     "times the headroom; below 1, packets may be lost"},
    {"pfc_response",
     OCHE_UNIT_TIME,
     FIELD(pfc_response),
     {.u = 500 * OCHE_NS},
     {.u = 0},
     {.u = OCHE_MS},
     NULL,
     "our choice",
     "from a PAUSE frame's arrival until it takes effect"},
    {"egress_alpha",
     OCHE_UNIT_REAL,
     FIELD(egress_alpha),
     {.real = 1},
     {.real = 0},
     {.real = 1024},
     NULL,
     "our choice",
     "lossy classes: a queue holds at most this share of what is free; 0: no such limit"},
    {"port_buffer",
     OCHE_UNIT_BYTES,
     FIELD(port_buffer_bytes),
     {.u = 0},
     {.u = 0},
     {.u = MAX_BUFFER},
     NULL,
     "Dart sec VI",
     "lossy classes: a port's egress queues hold at most this; 0: no such limit"},
    {"ecn",
     OCHE_UNIT_BOOL,
     FIELD(ecn),
     {.u = 1},
     {.u = 0},
     {.u = 1},
     NULL,
     "DCQCN sec 3.1",
     "RED marking on the egress queues"},
    {"kmin",
     OCHE_UNIT_BYTES,
     FIELD(kmin_bytes),
     {.u = 5000},
     {.u = 0},
     {.u = MAX_BUFFER},
     NULL,
     "REFERENCE A.3",
     "no marks up to this queue"},
    {"kmax",
     OCHE_UNIT_BYTES,
     FIELD(kmax_bytes),
     {.u = 200000},
     {.u = 0},
     {.u = MAX_BUFFER},
     NULL,
     "REFERENCE A.3",
     "every packet is marked above this queue"},
    {"pmax",
     OCHE_UNIT_REAL,
     FIELD(pmax),
     {.real = 0.01},
     {.real = 0},
     {.real = 1},
     NULL,
     "REFERENCE A.3",
     "probability of a mark at kmax"},
    {"ecn_at",
     OCHE_UNIT_CHOICE,
     FIELD(ecn_at),
     {.u = OCHE_ECN_AT_DEQUEUE},
     {.u = 0},
     {.u = 0},
     ecn_points,
     "REFERENCE A6",
     "the queue is seen at dequeue or at enqueue"},
    {.name = "mechanisms",
     .unit = OCHE_UNIT_TEXT,
     FIELD(mechanisms),
     .where = "DESIGN, A switch",
     .help = "beside these: a list of names; each has a section of its own"},
};

const struct oche_param_table oche_switch_params = {params, sizeof(params) / sizeof(params[0]),
                                                    sizeof(struct oche_switch_params)};

/* ---- the check ---- */

static bool check_buffer(const struct oche_switch_config *config, struct oche_error *error)
{
    struct oche_buffer_plan plan = oche_buffer_plan(config);
    uint64_t buffer = config->params->buffer_bytes;
    uint64_t most = 0;

    for (unsigned port = 0; port < config->port_count; port++) {
        uint64_t headroom = oche_buffer_headroom(config, port);
        most = headroom > most ? headroom : most;
    }
    if (most > INT32_MAX)
        return oche_fabric_refuse(error, "headroom: # bytes a port and class; at most # bytes",
                                  (uint64_t[]){most, INT32_MAX});
    if (plan.headroom_total + plan.reserve > buffer)
        return oche_fabric_refuse(
            error,
            "buffer: # bytes is less than the PFC headroom of # bytes (# ports, # "
            "pfc_priorities, up to # bytes each) and # bytes for packets that cross a "
            "threshold; would be right: at least # bytes, or fewer pfc_priorities",
            (uint64_t[]){buffer, plan.headroom_total, plan.ports, plan.priorities, most,
                         plan.reserve, plan.headroom_total + plan.reserve});
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
    if (p->buffer_bytes > MAX_BUFFER)
        return oche_fabric_refuse(error, "buffer: # bytes; would be right: at most # bytes",
                                  (uint64_t[]){p->buffer_bytes, MAX_BUFFER});
    if (p->ecn && p->kmin_bytes > p->kmax_bytes)
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
