/* SPDX-License-Identifier: Apache-2.0 */
/* See build.h. */
#include "tests/unit/topology/build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool try_build(const char *type_name, const struct setting *settings,
               struct oche_topology *topology, struct oche_error *error)
{
    const struct oche_topology_type *type = oche_topology_type_find(type_name);
    void *params;
    bool good;

    assert_non_null(type);
    params = calloc(1, type->table->struct_bytes);
    assert_non_null(params);
    oche_param_defaults(type->table, params);
    for (; settings->name != NULL; settings++) {
        const struct oche_param *param = oche_param_find(type->table, settings->name);
        union oche_value value = {.u = settings->u};

        assert_non_null(param);
        if (param->unit == OCHE_UNIT_REAL)
            value.real = settings->real;
        else if (param->unit == OCHE_UNIT_TEXT)
            value.text = settings->text;
        assert_true(oche_param_in_range(param, value));
        oche_param_set(param, params, value);
    }
    good =
        (type->check == NULL || type->check(params, error)) && type->build(params, topology, error);
    free(params);
    return good;
}

struct oche_topology built(const char *type, const struct setting *settings)
{
    struct oche_topology topology;
    struct oche_error error = {""};

    if (!try_build(type, settings, &topology, &error))
        fail_msg("%s: %s", type, error.text);
    return topology;
}

struct oche_topology_routes routed(const struct oche_topology *topology)
{
    struct oche_topology_routes routes;
    struct oche_error error = {""};

    if (!oche_topology_route(topology, &routes, &error))
        fail_msg("%s", error.text);
    return routes;
}

void assert_error(const char *type, const struct setting *settings, const char *expected)
{
    struct oche_topology topology;
    struct oche_error error = {""};

    assert_false(try_build(type, settings, &topology, &error));
    assert_string_equal(error.text, expected);
}
