/* SPDX-License-Identifier: Apache-2.0 */
/* The egress queues of a port: what is not on the packet path, which is inline in the header. */
#include "fabric/priority.h"

#include <string.h>

void oche_egress_init(struct oche_egress *port, unsigned class_count)
{
    unsigned lines = oche_egress_lines(class_count);

    memset(port, 0, lines * sizeof(*port));
    port->lines = (uint8_t)lines;
}

struct oche_packet *oche_egress_take_last(struct oche_egress *port, unsigned cls)
{
    struct oche_egress *line = port + cls / OCHE_EGRESS_LINE_CLASSES;
    struct oche_egress_queue *queue = &line->queue[cls % OCHE_EGRESS_LINE_CLASSES];
    struct oche_packet *last = queue->tail, *before = NULL;

    for (struct oche_packet *packet = queue->head; packet != last; packet = packet->next)
        before = packet;
    if (before == NULL)
        port->waiting &= (uint8_t) ~(1U << cls);
    else
        before->next = NULL;
    queue->tail = before;
    line->bytes[cls % OCHE_EGRESS_LINE_CLASSES] -= last->frame_bytes;
    return last;
}
