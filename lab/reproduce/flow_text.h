/* SPDX-License-Identifier: Apache-2.0 */
/* A node of a YAML tree as text: for overrides ("recovery={name: go_back_n}") and for digests. */
#ifndef OCHE_LAB_REPRODUCE_FLOW_TEXT_H
#define OCHE_LAB_REPRODUCE_FLOW_TEXT_H

#include "sim/scenario/document.h"

/*
 * Returns the node on one line in YAML's flow style: "{name: dcqcn, g: 1/16}". Reading it gives an
 * equal tree. Owned by `document`.
 */
const char *oche_flow_text(struct oche_document *document, const struct oche_yaml *node);

/* The same without children, at any depth, whose key is one of `without` (NULL-terminated). */
const char *oche_flow_text_without(struct oche_document *document, const struct oche_yaml *node,
                                   const char *const *without);

#endif
