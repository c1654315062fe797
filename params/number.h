/* SPDX-License-Identifier: Apache-2.0 */
/* Reads values as plain numbers, in the units of results, and writes numbers. */
#ifndef OCHE_PARAMS_NUMBER_H
#define OCHE_PARAMS_NUMBER_H

#include <stdbool.h>

/*
 * Reads a number that may have a unit of any kind: a time in seconds, a rate in bit/s, a size in
 * bytes, a fraction or a plain count. "5us" is 5e-06, "10KB" 10000, "1%" 0.01, "1/256" 0.00390625.
 * Returns false and sets *number to NAN for any other text.
 */
bool oche_number_parse(const char *text, double *number);

/* Writes the shortest decimal that reads back as the same double, which is finite. */
#define OCHE_NUMBER_BYTES 32
void oche_number_format(double number, char text[OCHE_NUMBER_BYTES]);

#endif
