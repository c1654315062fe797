/* SPDX-License-Identifier: Apache-2.0 */
/* A digest of everything that decides a figure's verdicts. */
#ifndef OCHE_LAB_REPRODUCE_DIGEST_H
#define OCHE_LAB_REPRODUCE_DIGEST_H

#include "sim/scenario/document.h"

/*
 * Returns a digest of everything that decides the figure's verdicts: its quantities, claims and
 * `at`, and the quantities of the paper (NULL: none) that the claims name. Leaves out explanations,
 * texts, places and labels. The files need not be valid.
 */
uint64_t oche_claims_digest(struct oche_document *figure, const struct oche_document *paper);

#endif
