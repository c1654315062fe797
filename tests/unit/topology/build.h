/* SPDX-License-Identifier: Apache-2.0 */
/* Topologies by type and parameters, as a scenario would make them. */
#ifndef OCHE_TESTS_UNIT_TOPOLOGY_BUILD_H
#define OCHE_TESTS_UNIT_TOPOLOGY_BUILD_H

#include "sim/topology/routes.h"
#include "tests/support/test.h"

struct setting {
    const char *name; /* NULL ends a list */
    uint64_t u;
    double real; /* for parameters of unit REAL */
    const char *text;
};

/* Builds, or fills `error` and returns false. Also checks ranges, as the scenario reader does. */
bool try_build(const char *type, const struct setting *settings, struct oche_topology *topology,
               struct oche_error *error);
/* Builds what must be right. */
struct oche_topology built(const char *type, const struct setting *settings);
struct oche_topology_routes routed(const struct oche_topology *topology);
/* Asserts that `settings` are rejected with this error. */
void assert_error(const char *type, const struct setting *settings, const char *expected);

#define SET(...)                                                                                   \
    (const struct setting[])                                                                       \
    {                                                                                              \
        __VA_ARGS__,                                                                               \
        {                                                                                          \
            .name = NULL                                                                           \
        }                                                                                          \
    }
#define NO_SETTINGS ((const struct setting[]){{.name = NULL}})

#endif
