/* SPDX-License-Identifier: Apache-2.0 */
/* The endpoints that a scenario can name. The RNIC is not among them: sim/network/rnic.h. */
#ifndef OCHE_SIM_ENDPOINT_REGISTRY_H
#define OCHE_SIM_ENDPOINT_REGISTRY_H

#include "sim/network/endpoint.h"

/* All endpoints except the RNIC; NULL ends the list. */
extern const struct oche_endpoint *const oche_endpoints[];
/* Returns the endpoint that a scenario calls `name`, or NULL. */
const struct oche_endpoint *oche_endpoint_find(const char *name);

#endif
