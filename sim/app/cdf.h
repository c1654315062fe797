/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Distributions of flow sizes, as files and for sampling. A file has lines `size_bytes cdf`, with
 * blanks, a comma or a semicolon between the two, perhaps below a line with names of the columns,
 * and comments as in params/text_input.h. Between lines the cdf is interpolated linearly. The cdf
 * is in percent if its last value is 100, a fraction if its last value is 1. Two lines may have the
 * same size with different cdfs: the difference is the probability of exactly that size. Two lines
 * may have the same cdf with different sizes: no flow has a size in between.
 */
#ifndef OCHE_SIM_APP_CDF_H
#define OCHE_SIM_APP_CDF_H

#include "core/base.h"
#include "core/random.h"
#include "params/error.h"
#include "sim/network/flow_plan.h"

#define OCHE_CDF_MAX_SIZE OCHE_MAX_FLOW_BYTES

struct oche_cdf_row {
    uint64_t size;  /* bytes */
    double at_most; /* the fraction (0 … 1) of all flows that have at most `size` bytes */
};

struct oche_cdf {
    struct oche_cdf_row *rows; /* malloc'd */
    uint32_t count;
    double mean; /* bytes */
};

/*
 * Reads a file. On failure returns false, with nothing to free and one line in `error` (FILE:LINE:
 * what is wrong; what would be right).
 */
bool oche_cdf_read_file(struct oche_cdf *cdf, const char *path, struct oche_error *error);
/* Names of the distributions that come with the program (data/cdf); ends with NULL. */
extern const char *const oche_cdf_names[];
/* Reads the distribution called oche_cdf_names[index]. Returns false without memory. */
bool oche_cdf_read_builtin(struct oche_cdf *cdf, size_t index, struct oche_error *error);
/*
 * Reads the file at `path`, or, if `path` is NULL or empty, the built-in distribution
 * oche_cdf_names[index].
 */
bool oche_cdf_read(struct oche_cdf *cdf, size_t index, const char *path, struct oche_error *error);
void oche_cdf_free(struct oche_cdf *cdf);

/*
 * Returns the size in bytes, at least 1, such that a fraction `u` (0 … 1) of the flows is not
 * larger.
 */
uint64_t oche_cdf_size(const struct oche_cdf *cdf, double u);
/* Returns a random size in bytes, the same on every machine. Takes one draw from `random`. */
uint64_t oche_cdf_sample(const struct oche_cdf *cdf, struct oche_random *random);

#endif
