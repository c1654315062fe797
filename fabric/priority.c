/* SPDX-License-Identifier: Apache-2.0 */
/* The egress queues of a port: initialisation. The packet path is inline in the header. */
#include "fabric/priority.h"

#include <string.h>

void oche_egress_init(struct oche_egress *port, unsigned class_count)
{
    unsigned lines = oche_egress_lines(class_count);

    memset(port, 0, lines * sizeof(*port));
    port->lines = (uint8_t)lines;
}
