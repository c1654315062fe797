/* SPDX-License-Identifier: Apache-2.0 */
/* Writes YAML nodes as text on one line. */
#include "lab/reproduce/flow_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "params/text_stream.h"

/* True if the text needs no quotes, even inside brackets. */
static bool is_plain(const char *text)
{
    static const char first[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/+";
    static const char more[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/+-%=";

    return text[0] != '\0' && strchr(first, text[0]) != NULL && text[strspn(text, more)] == '\0' &&
           strcmp(text, "null") != 0;
}

static void write_scalar(const char *text, FILE *out)
{
    if (is_plain(text)) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (const char *c = text; *c != '\0'; c++) {
        if ((unsigned char)*c < ' ' || *c == '\x7f')
            fprintf(out, "\\x%02x", (unsigned)*c);
        else if (*c == '"' || *c == '\\')
            fprintf(out, "\\%c", *c);
        else
            fputc(*c, out);
    }
    fputc('"', out);
}

static bool is_left_out(const char *key, const char *const *without)
{
    for (; without != NULL && *without != NULL; without++)
        if (strcmp(key, *without) == 0)
            return true;
    return false;
}

static void write_node(const struct oche_yaml *node, const char *const *without, FILE *out)
{
    bool first = true;

    if (node->kind == OCHE_YAML_SCALAR) {
        write_scalar(node->text, out);
        return;
    }
    fputc(node->kind == OCHE_YAML_MAP ? '{' : '[', out);
    for (uint32_t i = 0; i < node->count; i++) {
        const struct oche_yaml *child = node->child[i];

        if (node->kind == OCHE_YAML_MAP && is_left_out(child->key, without))
            continue;
        if (!first)
            fputs(", ", out);
        first = false;
        if (node->kind == OCHE_YAML_MAP) {
            write_scalar(child->key, out);
            fputs(": ", out);
        }
        write_node(child, without, out);
    }
    fputc(node->kind == OCHE_YAML_MAP ? '}' : ']', out);
}

const char *oche_flow_text_without(struct oche_document *document, const struct oche_yaml *node,
                                   const char *const *without)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = oche_text_stream_open(&text, &bytes);

    write_node(node, without, out);
    oche_text_stream_close(out);
    const char *kept = oche_document_print(document, "%s", text);

    free(text);
    return kept;
}

const char *oche_flow_text(struct oche_document *document, const struct oche_yaml *node)
{
    return oche_flow_text_without(document, node, NULL);
}
