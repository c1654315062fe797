/* SPDX-License-Identifier: Apache-2.0 */
/* Computes FNV-1a over everything that decides verdicts. */
#include "lab/reproduce/digest.h"

#include <string.h>

#include "lab/reproduce/flow_text.h"

static uint64_t add(uint64_t digest, const char *text)
{
    do
        digest = (digest ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    while (*text++ != '\0');
    return digest;
}

static uint64_t add_node(uint64_t digest, struct oche_document *memory,
                         const struct oche_yaml *node)
{
    static const char *const only_words[] = {"explanation", "text", "place", "confidence",
                                             "source",      "says", "label", NULL};

    return node == NULL ? digest : add(digest, oche_flow_text_without(memory, node, only_words));
}

static uint64_t add_part(uint64_t digest, struct oche_document *figure, const char *key)
{
    return add_node(add(digest, key), figure, oche_yaml_find(oche_document_root(figure), key));
}

/* True if `node`, the quantity of a claim or a list of quantities, names `quantity`. */
static bool names(const struct oche_yaml *node, const char *quantity)
{
    if (node == NULL)
        return false;
    if (node->kind == OCHE_YAML_SCALAR)
        return strcmp(node->text, quantity) == 0;
    for (uint32_t i = 0; i < node->count; i++)
        if (node->child[i]->kind == OCHE_YAML_SCALAR && names(node->child[i], quantity))
            return true;
    return false;
}

static bool is_claimed(const struct oche_document *figure, const char *quantity)
{
    const struct oche_yaml *claims = oche_yaml_find(oche_document_root(figure), "claims");

    for (uint32_t i = 0; claims != NULL && i < claims->count; i++)
        if (names(oche_yaml_find(claims->child[i], "quantity"), quantity))
            return true;
    return false;
}

/*
 * Adds only those of the paper's quantities that claims name, so that a new quantity for another
 * figure does not change the digest.
 */
static uint64_t add_claimed(uint64_t digest, struct oche_document *figure,
                            const struct oche_document *paper)
{
    const struct oche_yaml *all = oche_yaml_find(oche_document_root(paper), "quantities");

    for (uint32_t i = 0; all != NULL && all->kind == OCHE_YAML_MAP && i < all->count; i++)
        if (is_claimed(figure, all->child[i]->key))
            digest = add_node(add(digest, all->child[i]->key), figure, all->child[i]);
    return digest;
}

uint64_t oche_claims_digest(struct oche_document *figure, const struct oche_document *paper)
{
    uint64_t digest = UINT64_C(0xcbf29ce484222325);

    digest = add_part(digest, figure, "at");
    digest = add_part(digest, figure, "quantities");
    digest = add_part(digest, figure, "claims");
    return paper == NULL ? digest : add_claimed(digest, figure, paper);
}
