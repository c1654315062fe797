/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A port that goes down and comes up, and a device that vanishes, as the user asks for it. All
 * contexts on the port get the asynchronous event, and no packet leaves or arrives meanwhile.
 */
#include "device/verbs/internal.h"

static void push_to_all(struct ov_port *port, enum ibv_event_type type)
{
    const struct ibv_async_event event = {.element.port_num = OV_PORT_NUM, .event_type = type};

    pthread_mutex_lock(&port->lock);
    for (struct ov_context *context = port->contexts; context != NULL;
         context = context->next_of_port)
        ov_async_push(context, &event);
    pthread_mutex_unlock(&port->lock);
}

/* No packet leaves or arrives any more. Without memory for links, packets go on. */
static void cut(struct ov_port *port, bool is_cut)
{
    struct oche_error error;

    if (!oche_device_cut_links(port->device, is_cut, &error))
        ov_say("%s", error.text);
}

/* The files of `oche exec --files` show it, too. */
static void show(const struct ov_port *port, bool is_up)
{
    if (oche_files_port_changed != NULL)
        oche_files_port_changed(port->wanted.ip, is_up);
}

void ov_port_down(struct ov_port *port, oche_time now, oche_time lasts)
{
    port->up_at = oche_time_add(now, lasts);
    cut(port, true);
    if (atomic_exchange(&port->down, true))
        return;
    show(port, false);
    push_to_all(port, IBV_EVENT_PORT_ERR);
}

void ov_port_up(struct ov_port *port)
{
    port->up_at = OCHE_NEVER;
    if (atomic_load(&port->vanished) || !atomic_exchange(&port->down, false))
        return;
    cut(port, false);
    show(port, true);
    push_to_all(port, IBV_EVENT_PORT_ACTIVE);
}

void ov_port_vanish(struct ov_port *port)
{
    cut(port, true);
    if (atomic_exchange(&port->vanished, true))
        return;
    atomic_store(&ov_failing, true);
    show(port, false);
    push_to_all(port, IBV_EVENT_DEVICE_FATAL);
    oche_device_flush_qps(port->device);
}

void ov_health_forget(struct ov_port *port)
{
    if (atomic_load(&port->down) || atomic_load(&port->vanished))
        show(port, true);
}

void ov_health_update(struct ov_port *port, oche_time now)
{
    if (OCHE_UNLIKELY(atomic_load_explicit(&port->down, memory_order_relaxed)) &&
        now >= port->up_at)
        ov_port_up(port);
}
