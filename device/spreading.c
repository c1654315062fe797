/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a device spreads the packets of its queue pairs over its source ports (load-balancing.md).
 * ACKs name a path by the remainder of their port, so both ends must divide by the same number.
 */
#include "device/internal.h"

bool device_suits_paths(const struct oche_device_config *config, struct oche_error *error)
{
    const uint32_t ports = config->source_ports;

    if (config->paths == NULL || !config->paths->hears)
        return true;
    if (ports < 2 || (ports & (ports - 1)) != 0)
        return oche_fail(
            error,
            "%s: %u source ports; a scheme that learns from ACKs needs 2, 4, 8, 16, 32 "
            "or 64, at both ends the same number",
            config->address, ports);
    if (!config->any_peer_ports)
        return oche_fail(error,
                         "%s: the peer's ports are pinned; a scheme that learns from ACKs needs "
                         "--peer-ports=any at both ends, as ACKs come from all ports",
                         config->address);
    return true;
}

struct oche_spreading device_spreading(const struct oche_device_config *config)
{
    uint16_t paths = 1;

    while (paths * 2u <= config->source_ports)
        paths = (uint16_t)(paths * 2);
    return (struct oche_spreading){
        .scheme = paths > 1 ? config->paths : NULL, .paths = paths, .by_remainder = true};
}
