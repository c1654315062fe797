/* SPDX-License-Identifier: Apache-2.0 */
/* A number that changes if and only if something changes that decides a figure's verdicts. */
#ifndef OCHE_LAB_REPRODUCE_DIGEST_H
#define OCHE_LAB_REPRODUCE_DIGEST_H

#include "sim/scenario/document.h"

/*
 * Returns the digest of the figure's quantities, claims and `at`, and of those quantities of the
 * paper (or NULL) that the claims name, without explanations, texts, places and labels. The files
 * need not be valid.
 */
uint64_t oche_claims_digest(struct oche_document *figure, const struct oche_document *paper);

#endif
