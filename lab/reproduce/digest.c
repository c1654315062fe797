/* SPDX-License-Identifier: Apache-2.0 */
/* FNV-1a over what decides. */
#include "lab/reproduce/digest.h"

#include "lab/reproduce/flow_text.h"

static uint64_t add(uint64_t digest, const char *text)
{
    do
        digest = (digest ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    while (*text++ != '\0');
    return digest;
}

static uint64_t add_part(uint64_t digest, struct oche_document *memory,
                         const struct oche_document *document, const char *key)
{
    static const char *const only_words[] = {"explanation", "text",  "place", "confidence",
                                             "says",        "label", NULL};
    const struct oche_yaml *node = oche_yaml_find(oche_document_root(document), key);

    digest = add(digest, key);
    return node == NULL ? digest : add(digest, oche_flow_text_without(memory, node, only_words));
}

uint64_t oche_claims_digest(struct oche_document *figure, const struct oche_document *paper)
{
    uint64_t digest = UINT64_C(0xcbf29ce484222325);

    digest = add_part(digest, figure, figure, "at");
    digest = add_part(digest, figure, figure, "quantities");
    digest = add_part(digest, figure, figure, "claims");
    if (paper != NULL)
        digest = add_part(digest, figure, paper, "quantities");
    return digest;
}
