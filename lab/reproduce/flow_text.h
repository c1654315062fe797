/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a node of a YAML tree as text: for overrides ("recovery={name: go_back_n}") and digests.
 */
#ifndef OCHE_LAB_REPRODUCE_FLOW_TEXT_H
#define OCHE_LAB_REPRODUCE_FLOW_TEXT_H

#include "sim/scenario/document.h"

/*
 * Returns the node on one line in YAML's flow style: "{name: dcqcn, g: 1/16}". Parsing the text
 * gives an equal tree. `document` owns the text.
 */
const char *oche_flow_text(struct oche_document *document, const struct oche_yaml *node);

/* Like oche_flow_text, but leaves out, at any depth, the keys in `without` (NULL-terminated). */
const char *oche_flow_text_without(struct oche_document *document, const struct oche_yaml *node,
                                   const char *const *without);

#endif
