/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fluid model by name, with the values of its parameters in a single list of keys. The DCQCN
 * model has the keys of core/cc's dcqcn and of the switch, as far as the model has these
 * parameters.
 */
#ifndef OCHE_LAB_FLUID_MODEL_H
#define OCHE_LAB_FLUID_MODEL_H

#include <stdio.h>

#include "params/error.h"
#include "sim/world/config.h"
#include "fluid/dcqcn_fluid.h"
#include "fluid/timely_fluid.h"

enum oche_fluid_name {
    OCHE_FLUID_DCQCN,
    OCHE_FLUID_TIMELY,
    OCHE_FLUID_TIMELY_PATCHED,
    OCHE_FLUID_NAMES
};
/* The models' names as a user writes them; ends with NULL. */
extern const char *const oche_fluid_names[OCHE_FLUID_NAMES + 1];

struct oche_fluid_row {
    const struct oche_param *param;
    void *values;      /* struct that contains the parameter's value */
    const char *given; /* text of the --set that gave the value; NULL: default value */
};

#define OCHE_FLUID_MOST_ROWS 32

struct oche_fluid_model {
    enum oche_fluid_name name;
    struct oche_fluid_row rows[OCHE_FLUID_MOST_ROWS];
    size_t row_count;
    /* The structs that contain the rows' values. */
    struct oche_dcqcn_link_params link;
    struct oche_switch_params switches;
    void *scheme; /* parameters of core/cc's dcqcn; owned by the model */
    struct oche_timely_params timely_params;
    /*
     * The model with these parameters. oche_fluid_model_check sets only the one that `name`
     * selects.
     */
    struct oche_dcqcn_model dcqcn;
    struct oche_timely_model timely;
};

/*
 * Sets all parameters to their defaults. The rows point into the struct, so it must not be moved.
 * The caller frees its contents with oche_fluid_model_free.
 */
void oche_fluid_model_init(struct oche_fluid_model *model, enum oche_fluid_name name);
void oche_fluid_model_free(struct oche_fluid_model *model);

bool oche_fluid_model_has(const struct oche_fluid_model *model, const char *key);

/*
 * Parses KEY=VALUE and sets the parameter. The text must live as long as the model. Returns false,
 * with "--set KEY=VALUE: what is wrong; …" in `error`.
 */
bool oche_fluid_model_set(struct oche_fluid_model *model, const char *assignment,
                          struct oche_error *error);

/*
 * Checks the parameters against each other, and makes the equations' model from them. Returns
 * false, with one line in `error`, if they contradict each other.
 */
bool oche_fluid_model_check(struct oche_fluid_model *model, struct oche_error *error);

/* The following functions need a model that oche_fluid_model_check has accepted. */
double oche_fluid_model_capacity(const struct oche_fluid_model *model);
double oche_fluid_model_packet(const struct oche_fluid_model *model);
double oche_fluid_model_delay(const struct oche_fluid_model *model);
void oche_fluid_model_set_delay(struct oche_fluid_model *model, double delay_s);
struct oche_fluid *oche_fluid_model_create(const struct oche_fluid_model *model,
                                           const struct oche_fluid_flow *flows, size_t count,
                                           const struct oche_fluid_options *options);

#define OCHE_FLUID_VALUE_BYTES 64
/*
 * The first writes a row's value as a user would write it; the second returns the name of its unit.
 */
void oche_fluid_row_value(const struct oche_fluid_row *row, char *text, size_t bytes);
const char *oche_fluid_row_unit(const struct oche_fluid_row *row);

/* Prints every key with its value, unit, range, source and help. */
void oche_fluid_model_show(const struct oche_fluid_model *model, FILE *out);
/*
 * Prints the parameters as "kmin 5KB, kmax 200KB, …", in lines of at most 78 characters. Leaves out
 * capacity, packet and delay.
 */
void oche_fluid_model_print(const struct oche_fluid_model *model, FILE *out);

#endif
