/* SPDX-License-Identifier: Apache-2.0 */
/* The table of endpoints, made from the list in sim/endpoint/meson.build. */
#include "sim/endpoint/registry.h"

#include <string.h>

#include "sim/endpoint/endpoints.h" /* made by Meson: OCHE_ENDPOINTS is X(dctcp) X(tcp) … */

#define X(name) extern const struct oche_endpoint oche_endpoint_##name;
OCHE_ENDPOINTS
#undef X

const struct oche_endpoint *const oche_endpoints[] = {
#define X(name) &oche_endpoint_##name,
    OCHE_ENDPOINTS
#undef X
        NULL,
};

const struct oche_endpoint *oche_endpoint_find(const char *name)
{
    for (size_t i = 0; oche_endpoints[i] != NULL; i++)
        if (strcmp(oche_endpoints[i]->name, name) == 0)
            return oche_endpoints[i];
    return NULL;
}
