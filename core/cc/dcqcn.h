/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DCQCN's parameters and state, for schemes that fall back on DCQCN. A scheme whose parameters,
 * flow state and NIC state begin with these may call the hooks of oche_cc_dcqcn on its own flows.
 * During such a call `rate_bps` must be DCQCN's rate: a scheme that lowers it further sets it back
 * before the call and reads the new rate after the call. All timers of the flow are DCQCN's.
 */
#ifndef OCHE_CORE_CC_DCQCN_H
#define OCHE_CORE_CC_DCQCN_H

#include "core/cc/cc.h"
#include "core/cc/cc_advice.h"

struct dcqcn_params {
    uint32_t preset; /* enum oche_preset */
    uint32_t mode;
    double g, initial_alpha;
    oche_time alpha_interval;
    uint32_t alpha_update, alpha_timer;
    uint32_t cut, first_cnp, target_at_cut;
    oche_time reduce_monitor_period;
    double rate_on_first_cnp;
    uint32_t increase_on, stage_count, hyper, hai_multiplier, hyper_halves, target_guard;
    uint32_t clamp_target_rate;
    oche_time timer;
    uint64_t byte_counter;
    uint64_t fast_recovery_steps;
    uint64_t rai, rhai;
    uint64_t min_rate;
    double min_rate_fraction;
    uint32_t release;
    oche_time idle_timeout;
    uint32_t np;
    oche_time cnp_interval, min_cnp_gap;
};

/* The reaction point of a queue pair. */
struct dcqcn_rp {
    bool limited;     /* true: a CNP has come, so the members below are valid */
    bool cnp_pending; /* cut=periodic: the next check will cut the rate */
    bool alpha_cnp;   /* alpha_update=timer: a CNP came in this interval */
    bool hyper;       /* the last increase was hyper increase */
    bool idle;
    uint32_t t, bc;      /* events of the timer and of the byte counter since the last cut */
    double rc, rt;       /* bits per second */
    double alpha;        /* alpha in the interval that ends at alpha_due */
    uint64_t bytes_left; /* bytes until the byte counter's next event */
    oche_time alpha_due; /* when alpha's interval ends */
    oche_time first_cnp; /* cut=periodic: the checks are multiples of the period after this */
    oche_time check_due; /* cut=periodic: time of the next check; OCHE_NEVER: no CNP is pending */
    oche_time idle_due;  /* end of the idle timeout, or OCHE_NEVER */
};

/* The notification point of a queue pair. */
struct dcqcn_np {
    bool started;     /* a data packet has come */
    bool waiting;     /* a CNP is due when TIMER_NP expires */
    bool echo;        /* np=ack: a marked packet came since the last ACK or NAK */
    bool has_slot;    /* the time of the waiting CNP was assigned by min_cnp_gap */
    oche_time origin; /* time of the first data packet */
    oche_time next;   /* no CNP leaves before this time */
};

struct dcqcn_state {
    struct dcqcn_rp rp;
    struct dcqcn_np np;
};

/* The NIC's CNP generator, one for all queue pairs. */
struct dcqcn_nic_state {
    oche_time free_at;
};

/* The values of NICs in use, for every table whose struct begins with struct dcqcn_params. */
#define DCQCN_DEPLOYED_COUNT 7
extern const struct oche_deployed dcqcn_deployed[DCQCN_DEPLOYED_COUNT];

/* The hook oche_cc_advice.derived of schemes whose parameters begin with struct dcqcn_params. */
bool dcqcn_derived(const void *params, const struct oche_param *param, uint64_t line_bps,
                   struct oche_derived *derived);

/* Return the value of a parameter that may be `auto`, on a line of `line_bps`. */
oche_time dcqcn_timer_of(const struct dcqcn_params *params, uint64_t line_bps);
uint64_t dcqcn_rai_of(const struct dcqcn_params *params, uint64_t line_bps);
uint64_t dcqcn_rhai_of(const struct dcqcn_params *params, uint64_t line_bps);

/*
 * The hook oche_cc_advice.fit of a scheme whose parameters begin with struct dcqcn_params. Sets
 * only these parameters; `table` is the scheme's. dcqcn_fit_unit returns the time from which all
 * other times are scaled, the paper's 50us.
 */
void dcqcn_fit_rows(const struct oche_param_table *table, void *params, uint64_t free,
                    const struct oche_cc_network *network);
oche_time dcqcn_fit_unit(const struct oche_cc_network *network);

/* True if ACKs and NAKs tell of marks, in place of CNPs (np=ack). */
bool dcqcn_echoes(const void *params);

extern const struct oche_cc_scheme oche_cc_dcqcn;

#endif
