/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of DCQCN's parameter table. This file is included inside a table: DCQCN's own, or that
 * of a scheme whose parameters begin with struct dcqcn_params (dcqcn.h).
 */
/* clang-format off */
#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})
#define mode_names NAMES("paper", "ns3", "nic")
#define alpha_update_names NAMES("auto", "cut_first", "alpha_first", "timer")
#define alpha_timer_names NAMES("auto", "restart", "free")
#define cut_names NAMES("auto", "every_cnp", "periodic")
#define first_cnp_names NAMES("auto", "cut", "set_rate")
#define target_names NAMES("auto", "always", "after_increase", "after_bytes")
#define increase_names NAMES("auto", "both", "timer", "bytes")
#define stage_count_names NAMES("auto", "after", "before")
#define hyper_names NAMES("auto", "min_above", "min_at_least", "max_above", "never")
#define hai_names NAMES("auto", "linear", "plus_one", "constant")
#define no_yes_names NAMES("auto", "no", "yes")
#define release_names NAMES("auto", "at_line", "never")
#define np_names NAMES("auto", "window", "poll", "arrival", "ack")

    OCHE_PRESET_ROW(struct dcqcn_params),
    {OCHE_PARAM(struct dcqcn_params, mode), OCHE_IS_CHOICE(0, mode_names),
     .where = "dcqcn.md#readings",
     .help = "what `auto` means in the other options: as in the paper, in the authors' ns-3 "
             "code, or in NICs as HPCC's simulator has them"},

    {OCHE_PARAM(struct dcqcn_params, g), OCHE_IS_REAL(1.0 / 256, 1e-6, 1.0),
     .where = "DCQCN eq 1; value: dcqcn.md#parameters",
     .help = "gain of alpha (strawman and QCN 1/16)"},
    {OCHE_PARAM(struct dcqcn_params, initial_alpha), OCHE_IS_REAL(1.0, 0.0, 1.0),
     .where = "DCQCN sec 3.1", .help = "alpha at a limiter's first CNP (ns-3 attribute 0.5)"},
    {OCHE_PARAM(struct dcqcn_params, alpha_interval), OCHE_IS_TIME(55 * OCHE_US, OCHE_NS, OCHE_SEC),
     .where = "DCQCN eq 2", .help = "alpha decays once per interval (NICs 1us)"},
    {OCHE_PARAM(struct dcqcn_params, alpha_update), OCHE_IS_CHOICE(0, alpha_update_names),
     .where = "DCQCN eq 1; dcqcn.md#a1",
     .help = "cut_first: a CNP cuts with the old alpha, then raises it; alpha_first: the "
             "reverse; timer: alpha rises at the end of each interval in which a CNP came, "
             "and falls otherwise"},
    {OCHE_PARAM(struct dcqcn_params, alpha_timer), OCHE_IS_CHOICE(0, alpha_timer_names),
     .where = "DCQCN Fig 7; dcqcn.md#alpha-timer",
     .help = "restart: a cut restarts alpha's interval; free: it does not"},

    {OCHE_PARAM(struct dcqcn_params, cut), OCHE_IS_CHOICE(0, cut_names),
     .where = "DCQCN eq 1; dcqcn.md#alpha-order",
     .help = "every_cnp: each CNP cuts; periodic: at most one cut per reduce_monitor_period"},
    {OCHE_PARAM(struct dcqcn_params, reduce_monitor_period),
     OCHE_IS_TIME(4 * OCHE_US, OCHE_NS, OCHE_SEC), .where = "dcqcn.md#parameters",
     .help = "cut=periodic: how often the sender checks whether a CNP came, counted from "
             "the first one"},
    {OCHE_PARAM(struct dcqcn_params, first_cnp), OCHE_IS_CHOICE(0, first_cnp_names),
     .where = "dcqcn.md#first-cnp",
     .help = "cut: a limiter's first CNP is like any other; set_rate: it sets R_C and R_T "
             "by rate_on_first_cnp"},
    {OCHE_PARAM(struct dcqcn_params, rate_on_first_cnp), OCHE_IS_REAL(1.0, 1e-6, 1.0),
     .where = "dcqcn.md#parameters",
     .help = "first_cnp=set_rate: R_C and R_T after the first CNP, as a fraction of the line "
             "rate"},
    {OCHE_PARAM(struct dcqcn_params, target_at_cut), OCHE_IS_CHOICE(0, target_names),
     .where = "DCQCN eq 1; dcqcn.md#a5",
     .help = "always: each cut sets R_T to R_C; after_increase: only if the timer or the "
             "byte counter raised the rate since the last cut; after_bytes: only if the "
             "byte counter did"},

    {OCHE_PARAM(struct dcqcn_params, increase_on), OCHE_IS_CHOICE(0, increase_names),
     .where = "DCQCN sec 3.1",
     .help = "what raises the rate: the timer and the byte counter, or one of them"},
    {OCHE_PARAM(struct dcqcn_params, timer), OCHE_IS_TIME(55 * OCHE_US, OCHE_NS, OCHE_SEC),
     .automatic = true, .where = "DCQCN sec 3.1; value: dcqcn.md#parameters",
     .help = "period of the increase timer (strawman 1.5ms, ConnectX 300us); auto: 300us on a line "
             "of 25Gbps, shorter on a faster one"},
    {OCHE_PARAM(struct dcqcn_params, byte_counter), OCHE_IS_BYTES(10000000, 1, UINT64_MAX / 2),
     .where = "DCQCN sec 3.1; value: dcqcn.md#parameters",
     .help = "bytes on the line between increase events (strawman 150KB)"},
    {OCHE_PARAM(struct dcqcn_params, fast_recovery_steps), OCHE_IS_COUNT(5, 1, 1000),
     .where = "DCQCN sec 3.1",
     .help = "F, threshold of fast recovery and of hyper increase (NICs 1)"},
    {OCHE_PARAM(struct dcqcn_params, stage_count), OCHE_IS_CHOICE(0, stage_count_names),
     .where = "DCQCN Fig 7; dcqcn.md#stage-count",
     .help = "after: the stage is chosen after the event is counted (F-1 steps of fast "
             "recovery); before: before that (F steps)"},
    {OCHE_PARAM(struct dcqcn_params, rai), OCHE_IS_BPS(40 * OCHE_MBPS, 0, 1000 * OCHE_GBPS),
     .automatic = true, .where = "DCQCN eq 4, Table 2",
     .help = "R_AI, step of additive increase; auto: 1/2000 of the line's rate"},
    {OCHE_PARAM(struct dcqcn_params, rhai), OCHE_IS_BPS(200 * OCHE_MBPS, 0, 1000 * OCHE_GBPS),
     .automatic = true, .where = "dcqcn.md#a3",
     .help = "R_HAI, unit of hyper increase; auto: 1/1000 of the line's rate"},
    {OCHE_PARAM(struct dcqcn_params, hyper), OCHE_IS_CHOICE(0, hyper_names),
     .where = "DCQCN Fig 7; dcqcn.md#a2",
     .help = "hyper increase when min(T,BC) > F, min(T,BC) >= F, max(T,BC) > F, or never"},
    {OCHE_PARAM(struct dcqcn_params, hai_multiplier), OCHE_IS_CHOICE(0, hai_names),
     .where = "dcqcn.md#a3",
     .help = "steps of R_HAI: m-F, m-F+1 or 1, where m is what `hyper` compares with F"},
    {OCHE_PARAM(struct dcqcn_params, hyper_halves), OCHE_IS_CHOICE(0, no_yes_names),
     .where = "dcqcn.md#qcn",
     .help = "events in hyper increase halve the next timer period or byte count"},
    {OCHE_PARAM(struct dcqcn_params, target_guard), OCHE_IS_CHOICE(0, no_yes_names),
     .where = "dcqcn.md#qcn",
     .help = "while T or BC is 1 and R_T > 10 R_C, R_T is divided by 8 instead of raised"},
    {OCHE_PARAM(struct dcqcn_params, clamp_target_rate), OCHE_IS_CHOICE(0, no_yes_names),
     .where = "dcqcn.md#qcn", .help = "R_T stays at or below the line rate"},

    {OCHE_PARAM(struct dcqcn_params, min_rate), OCHE_IS_BPS(0, 0, 1000 * OCHE_GBPS),
     .where = "dcqcn.md#a4",
     .help = "floor of R_C; 0: min_rate_fraction of the line rate, or 1 Mbps in mode nic"},
    {OCHE_PARAM(struct dcqcn_params, min_rate_fraction), OCHE_IS_REAL(0.001, 1e-9, 1.0),
     .where = "dcqcn.md#a4",
     .help = "floor of R_C as a fraction of the line rate, where min_rate is 0"},
    {OCHE_PARAM(struct dcqcn_params, release), OCHE_IS_CHOICE(0, release_names),
     .where = "DCQCN sec 3.3; dcqcn.md#a9",
     .help = "at_line: the limiter and its alpha are forgotten when R_C reaches line rate"},
    {OCHE_PARAM(struct dcqcn_params, idle_timeout), OCHE_IS_TIME(10 * OCHE_MS, OCHE_NS, OCHE_NEVER),
     .where = "dcqcn.md#a9",
     .help = "the limiter of a queue pair that is idle for this long is forgotten; never: "
             "it is kept"},

    {OCHE_PARAM(struct dcqcn_params, np), OCHE_IS_CHOICE(0, np_names),
     .where = "DCQCN Fig 6; dcqcn.md#np",
     .help = "window: a CNP is sent at once, then at the end of each window that had a "
             "mark; poll: only at fixed times from the first packet on; arrival: when a "
             "marked packet arrives, if the last CNP is cnp_interval ago; ack: the next ACK or NAK "
             "says that a marked packet came, and is a CNP to its sender (what has no ACKs, READ "
             "data and UC: as arrival)"},
    {OCHE_PARAM(struct dcqcn_params, cnp_interval), OCHE_IS_TIME(50 * OCHE_US, OCHE_NS, OCHE_SEC),
     .where = "DCQCN sec 3.1",
     .help = "N, least time between two CNPs of a queue pair (ConnectX 4us)"},
    {OCHE_PARAM(struct dcqcn_params, min_cnp_gap), OCHE_IS_TIME(0, 0, OCHE_SEC),
     .where = "DCQCN sec 3.3; dcqcn.md#a11",
     .help = "least time between two CNPs of a NIC, later ones wait (ConnectX-3 1us to 5us); "
             "0: no limit"},

#undef NAMES
#undef mode_names
#undef alpha_update_names
#undef alpha_timer_names
#undef cut_names
#undef first_cnp_names
#undef target_names
#undef increase_names
#undef stage_count_names
#undef hyper_names
#undef hai_names
#undef no_yes_names
#undef release_names
#undef np_names
