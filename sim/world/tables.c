/* SPDX-License-Identifier: Apache-2.0 */
/* The parameter tables of the scenario's sections `run`, `routes`, `measure` and `loss`. */
#include "sim/world/config.h"

#define RUN(member)     offsetof(struct oche_run_params, member)
#define ROUTES(member)  offsetof(struct oche_routes_params, member)
#define MEASURE(member) offsetof(struct oche_measure_params, member)
#define LOSS(member)    offsetof(struct oche_loss_params, member)

static const struct oche_param run_params[] = {
    {.name = "duration",
     .unit = OCHE_UNIT_TIME,
     .offset = RUN(duration),
     .preset.u = 10 * OCHE_MS,
     .minimum.u = 1,
     .maximum.u = 86400 * OCHE_SEC,
     .where = "DESIGN, The engine",
     .help = "simulated time, warm-up included"},
    {.name = "warmup",
     .unit = OCHE_UNIT_TIME,
     .offset = RUN(warmup),
     .preset.u = 0,
     .minimum.u = 0,
     .maximum.u = 86400 * OCHE_SEC,
     .where = "DESIGN, Numbers that do not lie",
     .help = "measures begin here; flows that started before are left out"},
    {.name = "stop_when_done",
     .unit = OCHE_UNIT_BOOL,
     .offset = RUN(stop_when_done),
     .preset.u = 1,
     .where = "DESIGN, The engine",
     .help = "end as soon as every flow has completed"},
    {.name = "bytes",
     .unit = OCHE_UNIT_BOOL,
     .offset = RUN(bytes),
     .preset.u = 0,
     .where = "DESIGN, A packet",
     .help = "encode and decode every packet at every link; same results, slower"},
    {.name = "payload",
     .unit = OCHE_UNIT_BOOL,
     .offset = RUN(payload),
     .preset.u = 0,
     .where = "DESIGN, The RNIC",
     .help = "generate, move and check every byte of payload; same results, slower"},
};
const struct oche_param_table oche_run_params = {
    .params = run_params,
    .count = sizeof(run_params) / sizeof(run_params[0]),
    .struct_bytes = sizeof(struct oche_run_params),
};

static const struct oche_param routes_params[] = {
    {.name = "file",
     .unit = OCHE_UNIT_TEXT,
     .offset = ROUTES(file),
     .where = "our choice",
     .help = "lines of \"SWITCH DESTINATION PORT ...\", instead of shortest paths"},
};
const struct oche_param_table oche_routes_params = {
    .params = routes_params,
    .count = sizeof(routes_params) / sizeof(routes_params[0]),
    .struct_bytes = sizeof(struct oche_routes_params),
};

static const struct oche_param measure_params[] = {
    {.name = "interval",
     .unit = OCHE_UNIT_TIME,
     .offset = MEASURE(interval),
     .preset.u = 0,
     .minimum.u = 0,
     .maximum.u = 86400 * OCHE_SEC,
     .where = "DESIGN, measure",
     .help = "of time series; 0: none are kept"},
    {.name = "queues",
     .unit = OCHE_UNIT_TEXT,
     .offset = MEASURE(queues),
     .where = "DESIGN, measure",
     .help = "switch ports whose queues are watched, such as \"tor0:host3, core1:2\""},
    {.name = "queue_step",
     .unit = OCHE_UNIT_BYTES,
     .offset = MEASURE(queue_step_bytes),
     .preset.u = 100,
     .minimum.u = 1,
     .maximum.u = 1000000,
     .where = "DESIGN, measure",
     .help = "resolution of the watched queues' histograms"},
    {.name = "rates",
     .unit = OCHE_UNIT_BOOL,
     .offset = MEASURE(rates),
     .preset.u = 0,
     .where = "DESIGN, measure",
     .help = "a time series of each connection's pacing rate (the first 128)"},
    {.name = "ways",
     .unit = OCHE_UNIT_BOOL,
     .offset = MEASURE(ways),
     .preset.u = 0,
     .where = "Dart sec VI-B",
     .help = "of each flow's packets, as they arrive: how many have CE, links crossed; always "
             "where switches deflect; queue pairs only"},
    {.name = "victim_share",
     .unit = OCHE_UNIT_REAL,
     .offset = MEASURE(victim_share),
     .preset.real = 0.1,
     .minimum.real = 0.001,
     .maximum.real = 1,
     .where = "our choice; DCQCN sec 2.2",
     .help = "a flow that loses this share of its time to congestion elsewhere is a victim"},
};
const struct oche_param_table oche_measure_params = {
    .params = measure_params,
    .count = sizeof(measure_params) / sizeof(measure_params[0]),
    .struct_bytes = sizeof(struct oche_measure_params),
};

static const char *const loss_where[] = {"all_links", "host_links", "switch_links", "last_hop",
                                         NULL};
static const struct oche_param loss_params[] = {
    {.name = "probability",
     .unit = OCHE_UNIT_REAL,
     .offset = LOSS(probability),
     .preset.real = 0,
     .minimum.real = 0,
     .maximum.real = 1,
     .where = "REFERENCE L2",
     .help = "of each packet, on each link and direction by itself"},
    {.name = "pattern",
     .unit = OCHE_UNIT_TEXT,
     .offset = LOSS(pattern),
     .where = "REFERENCE L2",
     .help = "packets to lose on each link, by number"},
    {.name = "where",
     .unit = OCHE_UNIT_CHOICE,
     .offset = LOSS(where),
     .preset.u = OCHE_LOSS_ALL_LINKS,
     .choices = loss_where,
     .where = "REFERENCE L2",
     .help = "links that lose packets; last_hop: only towards hosts, so once on each path"},
    {.name = "port",
     .unit = OCHE_UNIT_TEXT,
     .offset = LOSS(port),
     .where = "REFERENCE L2",
     .help = "only packets that this port sends are lost, such as tor0:host3"},
};
const struct oche_param_table oche_loss_params = {
    .params = loss_params,
    .count = sizeof(loss_params) / sizeof(loss_params[0]),
    .struct_bytes = sizeof(struct oche_loss_params),
};
