/* SPDX-License-Identifier: Apache-2.0 */
/* A number that changes when what decides a figure's verdicts changes, and not otherwise. */
#ifndef OCHE_LAB_REPRODUCE_DIGEST_H
#define OCHE_LAB_REPRODUCE_DIGEST_H

#include "sim/scenario/document.h"

/*
 * Of the figure's quantities, claims and `at`, and those quantities of the paper (or NULL) that the
 * claims name, without explanations, texts, places and labels. The files need not be right.
 */
uint64_t oche_claims_digest(struct oche_document *figure, const struct oche_document *paper);

#endif
