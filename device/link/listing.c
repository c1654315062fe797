/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes which links are in force, in the words of `oche exec --link` (spec.h), for people who ask
 * a running program by `oche fault`.
 */
#include <stdio.h>
#include <string.h>

#include "device/link/links_internal.h"
#include "params/units.h"

#define KEYS_BYTES  1024 /* all keys with their longest values */
#define VALUE_BYTES 64

/* Appends to a text of `bytes` bytes; what does not fit is left out. */
static void append(char *text, size_t bytes, const char *more)
{
    const size_t length = strlen(text);

    snprintf(text + length, bytes - length, "%s", more);
}

/* Writes the keys that differ from those of a link without faults; none: an empty text. */
static void write_keys(const struct oche_link_params *params, char *keys)
{
    char value[VALUE_BYTES], item[2 * VALUE_BYTES], none[VALUE_BYTES];

    keys[0] = '\0';
    for (size_t i = 0; i < oche_link_params.count; i++) {
        const struct oche_param *row = &oche_link_params.params[i];

        if (strcmp(row->name, "seed") == 0)
            continue;
        oche_value_show(row, oche_param_get(row, params), value, sizeof(value));
        oche_value_show(row, row->preset, none, sizeof(none));
        if (strcmp(value, none) == 0)
            continue;
        snprintf(item, sizeof(item), "%s%s=%s", keys[0] != '\0' ? "," : "", row->name, value);
        append(keys, KEYS_BYTES, item);
    }
}

/* True if both links do the same, and have the same changes. */
static bool are_alike(const struct state *one, const struct state *other)
{
    char of_one[KEYS_BYTES], of_other[KEYS_BYTES];

    write_keys(&one->link.params, of_one);
    write_keys(&other->link.params, of_other);
    if (strcmp(of_one, of_other) != 0 || one->change_count != other->change_count)
        return false;
    for (unsigned i = 0; i < one->change_count; i++)
        if (one->changes[i].until != other->changes[i].until ||
            strcmp(one->changes[i].text, other->changes[i].text) != 0)
            return false;
    return true;
}

/* Appends the changes of `oche fault`, and how long each goes on. */
static void add_changes(const struct state *state, oche_time now, char *text, size_t bytes)
{
    for (unsigned i = 0; i < state->change_count; i++) {
        const struct change *change = &state->changes[i];
        char rest[VALUE_BYTES] = "";

        if (change->until != OCHE_NEVER)
            snprintf(rest, sizeof(rest), " for %.3g s more",
                     (double)(change->until - now) / OCHE_SEC);
        append(text, bytes, i == 0 ? " (changed: " : ", ");
        append(text, bytes, change->text);
        append(text, bytes, rest);
    }
    if (state->change_count > 0)
        append(text, bytes, ")");
}

static void add_link(const struct state *state, bool both, oche_time now, char *text, size_t bytes)
{
    char keys[KEYS_BYTES], peer[OCHE_ADDRESS_TEXT];

    write_keys(&state->link.params, keys);
    if (keys[0] == '\0' && !state->rule->of_peer && state->change_count == 0)
        return;
    append(text, bytes, text[0] != '\0' ? "; link " : "link ");
    if (!both)
        append(text, bytes, state->direction == OCHE_LINK_IN ? "in " : "out ");
    if (state->rule->of_peer) {
        oche_address_print(&state->rule->peer, peer);
        append(text, bytes, strchr(peer, ':') != NULL ? "[" : "");
        append(text, bytes, peer);
        append(text, bytes, strchr(peer, ':') != NULL ? "]:" : ":");
    }
    append(text, bytes, keys[0] != '\0' ? keys : "loss=0");
    add_changes(state, now, text, bytes);
}

void oche_links_list(struct oche_links *links, oche_time now, char *text, size_t bytes)
{
    text[0] = '\0';
    for (unsigned i = 0; i < links->count; i++)
        links_advance(links, &links->states[i], now);
    for (unsigned i = 0; i < links->count; i++) {
        const struct state *state = &links->states[i], *other;
        const struct oche_address *peer = state->rule->of_peer ? &state->rule->peer : NULL;
        bool both;

        if (state->made && state->change_count == 0)
            continue;
        other = links_exact(links, OCHE_LINK_BOTH - state->direction, peer);
        both =
            other != NULL && !(other->made && other->change_count == 0) && are_alike(state, other);
        if (!both || other > state) /* else it has been written */
            add_link(state, both, now, text, bytes);
    }
}
