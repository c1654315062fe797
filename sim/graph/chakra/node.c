/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads nodes; see node.h. Numbers of attributes may have any integer type: writers differ, and
 * mlcommons' own reader takes a comm_size of another type for 0.
 */
#include "sim/graph/chakra/node.h"

#include <stdlib.h>
#include <string.h>

#include "params/printable.h"
#include "sim/graph/chakra/chakra.pb-c.h"

#define OLD_ATTRIBUTES 11 /* the attributes' field in schemas up to 0.0.3 */
#define MOST_US        UINT64_C(1000000000000)

typedef OcheChakra__Attribute Attribute;
typedef OcheChakra__Node Message;

/* ---- the first message ---- */

bool oche_chakra_head(const uint8_t *bytes, size_t count, struct oche_error *reason)
{
    OcheChakra__Head *head = oche_chakra__head__unpack(NULL, count, bytes);
    char shown[40];
    bool old;

    if (head == NULL)
        return oche_fail(reason,
                         "the first message is no GlobalMetadata; is it a trace of Chakra?");
    old = strncmp(head->version, "0.0.", 4) == 0 && strchr("0123", head->version[4]) != NULL &&
          head->version[4] != '\0' && head->version[5] == '\0';
    oche_printable(head->version, shown, sizeof(shown));
    oche_chakra__head__free_unpacked(head, NULL);
    return !old || oche_fail(reason, "schema %s is not read; 0.0.4 and later are", shown);
}

/* ---- attributes ---- */

static const Attribute *find(const Message *message, const char *name)
{
    for (size_t i = 0; i < message->n_attr; i++)
        if (strcmp(message->attr[i]->name, name) == 0)
            return message->attr[i];
    return NULL;
}

/* Returns the attribute's number. `negative`: the number is below 0 (then its two's complement). */
static bool whole(const Attribute *attribute, uint64_t *number, bool *negative)
{
    int64_t value = 0;

    *negative = false;
    switch (attribute->value_case) {
    case OCHE_CHAKRA__ATTRIBUTE__VALUE_UINT32:
        *number = attribute->uint32;
        return true;
    case OCHE_CHAKRA__ATTRIBUTE__VALUE_UINT64:
        *number = attribute->uint64;
        return true;
    case OCHE_CHAKRA__ATTRIBUTE__VALUE_FIXED32:
        *number = attribute->fixed32;
        return true;
    case OCHE_CHAKRA__ATTRIBUTE__VALUE_FIXED64:
        *number = attribute->fixed64;
        return true;
    case OCHE_CHAKRA__ATTRIBUTE__VALUE_INT32:
        value = attribute->int32;
        break;
    case OCHE_CHAKRA__ATTRIBUTE__VALUE_INT64:
        value = attribute->int64;
        break;
    case OCHE_CHAKRA__ATTRIBUTE__VALUE_SINT32:
        value = attribute->sint32;
        break;
    case OCHE_CHAKRA__ATTRIBUTE__VALUE_SINT64:
        value = attribute->sint64;
        break;
    case OCHE_CHAKRA__ATTRIBUTE__VALUE_SFIXED32:
        value = attribute->sfixed32;
        break;
    case OCHE_CHAKRA__ATTRIBUTE__VALUE_SFIXED64:
        value = attribute->sfixed64;
        break;
    default:
        return false;
    }
    *negative = value < 0;
    *number = (uint64_t)value;
    return true;
}

/* Reads an integer from 0 to `most`; `*number` stays as it is if the node has none. */
static bool take(const Message *message, const char *name, uint64_t most, int64_t *number,
                 struct oche_error *reason)
{
    const Attribute *attribute = find(message, name);
    uint64_t value;
    bool negative;

    if (attribute == NULL)
        return true;
    if (!whole(attribute, &value, &negative))
        return oche_fail(reason, "node %llu: %s is no integer", (unsigned long long)message->id,
                         name);
    if (negative || value > most)
        return oche_fail(reason, "node %llu: %s: %s%llu; 0 to %llu",
                         (unsigned long long)message->id, name, negative ? "-" : "",
                         (unsigned long long)(negative ? 0 - value : value),
                         (unsigned long long)most);
    *number = (int64_t)value;
    return true;
}

static bool is_set(const Message *message, const char *name)
{
    const Attribute *attribute = find(message, name);
    uint64_t value;
    bool negative;

    if (attribute == NULL)
        return false;
    if (attribute->value_case == OCHE_CHAKRA__ATTRIBUTE__VALUE_FLAG)
        return attribute->flag;
    return whole(attribute, &value, &negative) && value != 0;
}

static char *copy_of(const char *text)
{
    char *copy = strdup(text);

    OCHE_GOT(copy != NULL);
    return copy;
}

/* ---- types ---- */

static bool read_size(const Message *message, struct oche_chakra_node *node,
                      struct oche_error *reason)
{
    int64_t bytes = -1;

    if (!take(message, "comm_size", OCHE_CHAKRA_MOST_BYTES, &bytes, reason))
        return false;
    if (bytes < 0 && !node->barrier)
        return oche_fail(reason, "node %llu: comm_size is missing; the bytes",
                         (unsigned long long)node->id);
    node->bytes = bytes < 0 ? 0 : (uint64_t)bytes;
    return true;
}

/* Reads the ends of a message. One of them is the rank itself. */
static bool read_ends(const Message *message, uint32_t rank, struct oche_chakra_node *node,
                      struct oche_error *reason)
{
    const bool sends = node->type == OCHE_CHAKRA_SEND;
    const char *here = sends ? "comm_src" : "comm_dst", *there = sends ? "comm_dst" : "comm_src";
    int64_t own = rank;

    node->peer = -1;
    node->tag = 0;
    if (!take(message, here, UINT32_MAX, &own, reason) ||
        !take(message, there, UINT32_MAX, &node->peer, reason) ||
        !take(message, "comm_tag", OCHE_CHAKRA_MOST_TAG, &node->tag, reason))
        return false;
    if (node->peer < 0)
        return oche_fail(reason, "node %llu: %s is missing; the rank that it %s",
                         (unsigned long long)node->id, there, sends ? "sends to" : "receives from");
    return own == rank || oche_fail(reason, "node %llu: %s: %lld; it is a node of rank %u",
                                    (unsigned long long)node->id, here, (long long)own, rank);
}

static bool to_operation(int64_t number, struct oche_chakra_node *node)
{
    static const struct {
        const char *name;
        bool read;
        enum oche_collective_operation operation;
    } types[] = {{"all_reduce", true, OCHE_ALL_REDUCE},
                 {"reduce", false, OCHE_ALL_REDUCE},
                 {"all_gather", true, OCHE_ALL_GATHER},
                 {"gather", false, OCHE_ALL_GATHER},
                 {"scatter", false, OCHE_ALL_GATHER},
                 {"broadcast", true, OCHE_BROADCAST},
                 {"all_to_all", true, OCHE_ALL_TO_ALL},
                 {"reduce_scatter", true, OCHE_REDUCE_SCATTER},
                 {"reduce_scatter_block", true, OCHE_REDUCE_SCATTER},
                 {"barrier", true, OCHE_ALL_REDUCE}};

    if (number < 0 || number >= (int64_t)OCHE_COUNT_OF(types) || !types[number].read)
        return false;
    node->operation = types[number].operation;
    node->barrier = strcmp(types[number].name, "barrier") == 0;
    return true;
}

static bool read_collective(const Message *message, struct oche_chakra_node *node,
                            struct oche_error *reason)
{
    const Attribute *group = find(message, "pg_name"), *dims = find(message, "involved_dim");
    int64_t type = -1;

    if (!take(message, "comm_type", INT32_MAX, &type, reason))
        return false;
    if (!to_operation(type, node))
        return oche_fail(reason,
                         "node %llu: comm_type: %lld; 0 (all_reduce), 2 (all_gather), 5 "
                         "(broadcast), 6 (all_to_all), 7 or 8 (reduce_scatter), 9 (barrier) are "
                         "read",
                         (unsigned long long)node->id, (long long)type);
    if (dims != NULL && dims->value_case == OCHE_CHAKRA__ATTRIBUTE__VALUE_FLAGS)
        for (size_t i = 0; i < dims->flags->n_values; i++)
            node->some_dims = node->some_dims || !dims->flags->values[i];
    if (!read_size(message, node, reason))
        return false;
    if (group != NULL && group->value_case != OCHE_CHAKRA__ATTRIBUTE__VALUE_TEXT)
        return oche_fail(reason, "node %llu: pg_name is no text", (unsigned long long)node->id);
    if (group != NULL && group->text[0] != '\0')
        node->group = copy_of(group->text);
    return true;
}

/*
 * True if a communication node is only the CPU's part of it, as traces of PyTorch have it beside
 * the GPU's: on the CPU, and without a type or a peer.
 */
static bool is_launch(const Message *message, const struct oche_chakra_node *node)
{
    static const char *const needed[] = {[OCHE_CHAKRA_SEND] = "comm_dst",
                                         [OCHE_CHAKRA_RECEIVE] = "comm_src",
                                         [OCHE_CHAKRA_COLLECTIVE] = "comm_type"};

    return node->on_cpu && node->type >= OCHE_CHAKRA_SEND &&
           find(message, needed[node->type]) == NULL;
}

static bool read_type(const Message *message, uint32_t rank, struct oche_chakra_node *node,
                      struct oche_error *reason)
{
    static const enum oche_chakra_type types[] = {
        OCHE_CHAKRA_NOTHING, OCHE_CHAKRA_NOTHING, OCHE_CHAKRA_MEMORY,  OCHE_CHAKRA_MEMORY,
        OCHE_CHAKRA_COMPUTE, OCHE_CHAKRA_SEND,    OCHE_CHAKRA_RECEIVE, OCHE_CHAKRA_COLLECTIVE};

    if (message->type < 0 || message->type >= (int32_t)OCHE_COUNT_OF(types))
        return oche_fail(reason, "node %llu: type %d; 0 to 7", (unsigned long long)node->id,
                         message->type);
    node->type = types[message->type];
    if (message->duration_us > MOST_US)
        return oche_fail(reason, "node %llu: duration: %llu us; at most %llu",
                         (unsigned long long)node->id, (unsigned long long)message->duration_us,
                         (unsigned long long)MOST_US);
    node->ns = message->duration_us * 1000;
    node->on_cpu = is_set(message, "is_cpu_op");
    node->launch = is_launch(message, node);
    if (node->launch)
        node->type = OCHE_CHAKRA_COMPUTE;
    node->untimed =
        node->type == OCHE_CHAKRA_COMPUTE && node->ns == 0 && is_set(message, "num_ops");
    switch (node->type) {
    case OCHE_CHAKRA_SEND:
    case OCHE_CHAKRA_RECEIVE:
        return read_size(message, node, reason) && read_ends(message, rank, node, reason);
    case OCHE_CHAKRA_COLLECTIVE:
        return read_collective(message, node, reason);
    case OCHE_CHAKRA_NOTHING:
        if (message->inputs != NULL && strstr(message->inputs->values, "\"pg_name\"") != NULL)
            node->groups = copy_of(message->inputs->values);
        return true;
    case OCHE_CHAKRA_MEMORY:
    case OCHE_CHAKRA_COMPUTE:
        return true;
    }
    return true;
}

/* Takes the ids that a node waits for. */
static void read_deps(const Message *message, struct oche_chakra_node *node)
{
    const size_t count = message->n_data_deps + message->n_ctrl_deps;

    node->deps = malloc((count + 1) * sizeof(*node->deps));
    OCHE_GOT(node->deps != NULL);
    if (message->n_data_deps > 0)
        memcpy(node->deps, message->data_deps, message->n_data_deps * sizeof(*node->deps));
    if (message->n_ctrl_deps > 0)
        memcpy(node->deps + message->n_data_deps, message->ctrl_deps,
               message->n_ctrl_deps * sizeof(*node->deps));
    node->data_count = (uint32_t)message->n_data_deps;
    node->count = (uint32_t)count;
}

static bool is_old(const Message *message)
{
    for (unsigned i = 0; i < message->base.n_unknown_fields; i++)
        if (message->base.unknown_fields[i].tag == OLD_ATTRIBUTES)
            return true;
    return false;
}

bool oche_chakra_node(const uint8_t *bytes, size_t count, uint32_t rank,
                      struct oche_chakra_node *node, struct oche_error *reason)
{
    Message *message = oche_chakra__node__unpack(NULL, count, bytes);
    bool good;

    if (message == NULL)
        return oche_fail(reason, "a message is no Node of Chakra, or of a schema before 0.0.4");
    *node = (struct oche_chakra_node){.id = message->id};
    if (is_old(message))
        good = oche_fail(reason, "node %llu has field 11: its schema is before 0.0.4, and not read",
                         (unsigned long long)node->id);
    else
        good = read_type(message, rank, node, reason);
    if (good)
        read_deps(message, node);
    else
        oche_chakra_node_free(node);
    oche_chakra__node__free_unpacked(message, NULL);
    return good;
}

void oche_chakra_node_free(struct oche_chakra_node *node)
{
    free(node->group);
    free(node->groups);
    free(node->deps);
    node->group = node->groups = NULL;
    node->deps = NULL;
}
