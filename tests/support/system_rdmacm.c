/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stands in for the system's librdmacm.so.1 on machines without an RDMA device. It connects
 * identifiers of one process: addresses of SYSTEM_RDMACM_NET are its devices', and a request for a
 * port reaches whoever listens there. Like rdma-core's it has that soname, uses "libibverbs.so.1",
 * calls functions that it exports by their names, and waits in rdma_destroy_id and rdma_migrate_id
 * until an identifier's events are acknowledged. It must never be asked to wait for an event.
 */
#include "tests/support/system_rdmacm.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "tests/support/system_verbs.h"

struct event {
    struct rdma_cm_event event;
    struct id *counts; /* the identifier that has the count */
    struct event *next;
    uint8_t private_data[256];
};

struct channel {
    struct rdma_event_channel channel;
    struct event *first;
};

struct id {
    struct rdma_cm_id id;
    struct id *next, *peer;
    uint16_t port;
    bool listens;
    unsigned delivered, acked;
};

struct system_rdmacm system_rdmacm;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t acknowledged = PTHREAD_COND_INITIALIZER;
static struct id *ids;
static struct ibv_context *context;
static struct ibv_pd *pd;
static uint16_t next_port = 40000;

static int fail(int error)
{
    errno = error;
    return -1;
}

static struct id *of(struct rdma_cm_id *id)
{
    return (struct id *)(void *)id;
}

static struct sockaddr_in *in(struct sockaddr *address)
{
    return (struct sockaddr_in *)(void *)address;
}

/* Opens the device it is given, which must be its own. */
static void open_device(void)
{
    int count;
    struct ibv_device **list;

    if (context != NULL)
        return;
    list = ibv_get_device_list(&count);
    system_rdmacm.devices = (unsigned)count;
    for (int i = 0; i < count; i++)
        if (strncmp(list[i]->name, "oche", 4) == 0)
            abort();
    context = ibv_open_device(list[0]);
    ibv_free_device_list(list);
    pd = ibv_alloc_pd(context);
}

/* ---- channels and events ---- */

struct rdma_event_channel *rdma_create_event_channel(void)
{
    struct channel *channel = calloc(1, sizeof(*channel));

    if (channel == NULL || system_rdmacm.has_no_channels) {
        free(channel);
        errno = ENODEV;
        return NULL;
    }
    open_device();
    channel->channel.fd = eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC);
    system_rdmacm.channels++;
    return &channel->channel;
}

void rdma_destroy_event_channel(struct rdma_event_channel *channel)
{
    close(channel->fd);
    free(channel);
    system_rdmacm.channels--;
}

static void append(struct channel *channel, struct event *event)
{
    struct event **last = &channel->first;
    const uint64_t one = 1;

    while (*last != NULL)
        last = &(*last)->next;
    event->next = NULL;
    *last = event;
    if (write(channel->channel.fd, &one, sizeof(one)) < 0)
        abort();
}

static struct event *take(struct channel *channel, struct event **link)
{
    struct event *event = *link;
    uint64_t count;

    *link = event->next;
    if (read(channel->channel.fd, &count, sizeof(count)) < 0)
        abort();
    return event;
}

/* Under the lock. */
static struct event *tell(struct id *id, enum rdma_cm_event_type type, int status,
                          const void *private_data, uint8_t bytes)
{
    struct event *event = calloc(1, sizeof(*event));

    if (event == NULL)
        abort();
    event->event = (struct rdma_cm_event){.id = &id->id, .event = type, .status = status};
    event->counts = id;
    if (bytes > 0) {
        memcpy(event->private_data, private_data, bytes);
        event->event.param.conn.private_data = event->private_data;
        event->event.param.conn.private_data_len = bytes;
    }
    append((struct channel *)(void *)id->id.channel, event);
    return event;
}

int rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **event)
{
    struct channel *own = (struct channel *)(void *)channel;
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR};
    struct event *taken;
    int mask;

    if ((fcntl(channel->fd, F_GETFL) & O_NONBLOCK) == 0)
        abort();
    pthread_mutex_lock(&lock);
    taken = own->first != NULL ? take(own, &own->first) : NULL;
    if (taken != NULL) {
        taken->counts->delivered++;
        system_rdmacm.events++;
    }
    pthread_mutex_unlock(&lock);
    if (taken == NULL)
        return fail(EAGAIN);
    if (taken->event.event == RDMA_CM_EVENT_ESTABLISHED &&
        rdma_init_qp_attr(taken->event.id, &attr, &mask) != SYSTEM_VERBS_INT)
        abort();
    *event = &taken->event;
    return 0;
}

int rdma_ack_cm_event(struct rdma_cm_event *event)
{
    struct event *own = (struct event *)(void *)event;

    pthread_mutex_lock(&lock);
    own->counts->acked++;
    system_rdmacm.events--;
    pthread_cond_broadcast(&acknowledged);
    pthread_mutex_unlock(&lock);
    free(own);
    return 0;
}

/* ---- identifiers ---- */

static struct id *make_id(struct rdma_event_channel *channel, void *of_program,
                          enum rdma_port_space ps)
{
    struct id *id = calloc(1, sizeof(*id));

    if (id == NULL)
        abort();
    id->id.channel = channel;
    id->id.context = of_program;
    id->id.ps = ps;
    id->id.qp_type = ps == RDMA_PS_UDP ? IBV_QPT_UD : IBV_QPT_RC;
    id->next = ids;
    ids = id;
    system_rdmacm.ids++;
    return id;
}

int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id, void *of_program,
                   enum rdma_port_space ps)
{
    if (channel == NULL) /* its own synchronous calls would wait */
        abort();
    pthread_mutex_lock(&lock);
    *id = &make_id(channel, of_program, ps)->id;
    pthread_mutex_unlock(&lock);
    return 0;
}

static void drop_events(struct id *id, struct channel *to)
{
    struct channel *from = (struct channel *)(void *)id->id.channel;

    for (struct event **link = &from->first; *link != NULL;)
        if ((*link)->counts != id)
            link = &(*link)->next;
        else if (to != NULL)
            append(to, take(from, link));
        else
            free(take(from, link));
}

int rdma_destroy_id(struct rdma_cm_id *id)
{
    struct id *own = of(id), **link = &ids;

    pthread_mutex_lock(&lock);
    while (*link != own)
        link = &(*link)->next;
    *link = own->next;
    drop_events(own, NULL);
    if (own->peer != NULL)
        own->peer->peer = NULL;
    while (own->acked != own->delivered)
        pthread_cond_wait(&acknowledged, &lock);
    pthread_mutex_unlock(&lock);
    free(id->route.path_rec);
    free(own);
    system_rdmacm.ids--;
    return 0;
}

int rdma_migrate_id(struct rdma_cm_id *id, struct rdma_event_channel *channel)
{
    struct id *own = of(id);

    pthread_mutex_lock(&lock);
    drop_events(own, (struct channel *)(void *)channel);
    id->channel = channel;
    while (own->acked != own->delivered)
        pthread_cond_wait(&acknowledged, &lock);
    pthread_mutex_unlock(&lock);
    return 0;
}

static bool is_mine(struct sockaddr *address)
{
    return address->sa_family == AF_INET &&
           (ntohl(in(address)->sin_addr.s_addr) & 0xffff0000) == SYSTEM_RDMACM_NET;
}

static void take_device(struct rdma_cm_id *id)
{
    id->verbs = context;
    id->pd = pd;
    id->port_num = 2;
}

static bool is_taken(const struct id *id, uint16_t port)
{
    for (const struct id *other = ids; other != NULL; other = other->next)
        if (other != id && other->port == port)
            return true;
    return false;
}

int rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *address)
{
    const bool any = address->sa_family == AF_INET6 || in(address)->sin_addr.s_addr == 0;
    uint16_t port = ntohs(in(address)->sin_port);

    if (!any && !is_mine(address))
        return fail(ENODEV);
    pthread_mutex_lock(&lock);
    while (port == 0 || (in(address)->sin_port == 0 && is_taken(of(id), port)))
        port = next_port++;
    if (is_taken(of(id), port)) {
        pthread_mutex_unlock(&lock);
        return fail(EADDRINUSE);
    }
    of(id)->port = system_rdmacm.port = port;
    pthread_mutex_unlock(&lock);
    memcpy(&id->route.addr.src_storage, address, sizeof(struct sockaddr_in));
    in(&id->route.addr.src_addr)->sin_port = htons(port);
    if (!any)
        take_device(id);
    return 0;
}

int rdma_listen(struct rdma_cm_id *id, int backlog)
{
    (void)backlog;
    of(id)->listens = true;
    return 0;
}

int rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *from, struct sockaddr *to,
                      int timeout_ms)
{
    (void)timeout_ms;
    if (!is_mine(to) || (from != NULL && rdma_bind_addr(id, from) != 0))
        return fail(ENODEV);
    memcpy(&id->route.addr.dst_storage, to, sizeof(struct sockaddr_in));
    take_device(id);
    pthread_mutex_lock(&lock);
    tell(of(id), RDMA_CM_EVENT_ADDR_RESOLVED, 0, NULL, 0);
    pthread_mutex_unlock(&lock);
    return 0;
}

int rdma_resolve_route(struct rdma_cm_id *id, int timeout_ms)
{
    (void)timeout_ms;
    id->route.path_rec = calloc(1, sizeof(*id->route.path_rec));
    id->route.num_paths = 1;
    pthread_mutex_lock(&lock);
    tell(of(id), RDMA_CM_EVENT_ROUTE_RESOLVED, 0, NULL, 0);
    pthread_mutex_unlock(&lock);
    return 0;
}

/* ---- connections ---- */

static void request(struct id *asking, struct id *listener, const struct rdma_conn_param *param)
{
    struct id *made = make_id(listener->id.channel, listener->id.context, listener->id.ps);
    struct event *event;

    made->id.route.addr.src_storage = asking->id.route.addr.dst_storage;
    made->id.route.addr.dst_storage = asking->id.route.addr.src_storage;
    take_device(&made->id);
    made->peer = asking;
    asking->peer = made;
    event = tell(listener, RDMA_CM_EVENT_CONNECT_REQUEST, 0, param->private_data,
                 param->private_data_len);
    event->event.id = &made->id;
    event->event.listen_id = &listener->id;
    event->event.param.conn.initiator_depth = param->initiator_depth;
    event->event.param.conn.qp_num = param->qp_num;
}

int rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
    const uint16_t port = ntohs(in(&id->route.addr.dst_addr)->sin_port);
    const struct id *all = ids;

    system_rdmacm.asked = *param;
    system_rdmacm.called = id->qp != NULL ? "rdma_connect with its queue pair" : "rdma_connect";
    pthread_mutex_lock(&lock);
    for (struct id *listener = ids; listener != NULL; listener = listener->next)
        if (listener->listens && listener->port == port) {
            request(of(id), listener, param);
            break;
        }
    if (all == ids) /* no listener */
        tell(of(id), RDMA_CM_EVENT_REJECTED, 8, NULL, 0);
    pthread_mutex_unlock(&lock);
    return 0;
}

/* Informs the other end, if it still exists. */
static int tell_peer(struct rdma_cm_id *id, enum rdma_cm_event_type type, int status,
                     const void *private_data, uint8_t bytes)
{
    pthread_mutex_lock(&lock);
    if (of(id)->peer != NULL)
        tell(of(id)->peer, type, status, private_data, bytes);
    pthread_mutex_unlock(&lock);
    return 0;
}

static void tell_itself(struct rdma_cm_id *id, enum rdma_cm_event_type type)
{
    pthread_mutex_lock(&lock);
    tell(of(id), type, 0, NULL, 0);
    pthread_mutex_unlock(&lock);
}

int rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
    system_rdmacm.called = id->qp != NULL ? "rdma_accept with its queue pair" : "rdma_accept";
    tell_itself(id, RDMA_CM_EVENT_ESTABLISHED);
    return tell_peer(id, RDMA_CM_EVENT_ESTABLISHED, 0, param != NULL ? param->private_data : NULL,
                     param != NULL ? param->private_data_len : 0);
}

int rdma_reject(struct rdma_cm_id *id, const void *private_data, uint8_t bytes)
{
    return tell_peer(id, RDMA_CM_EVENT_REJECTED, 28, private_data, bytes);
}

int rdma_disconnect(struct rdma_cm_id *id)
{
    tell_itself(id, RDMA_CM_EVENT_DISCONNECTED);
    return tell_peer(id, RDMA_CM_EVENT_DISCONNECTED, 0, NULL, 0);
}

int rdma_join_multicast(struct rdma_cm_id *id, struct sockaddr *address, void *of_program)
{
    (void)address;
    pthread_mutex_lock(&lock);
    tell(of(id), RDMA_CM_EVENT_MULTICAST_JOIN, 0, NULL, 0)->event.param.ud.private_data =
        of_program;
    pthread_mutex_unlock(&lock);
    return 0;
}

/* ---- queue pairs ---- */

int rdma_create_qp_ex(struct rdma_cm_id *id, struct ibv_qp_init_attr_ex *attr)
{
    struct ibv_qp_attr state = {.qp_state = IBV_QPS_INIT};
    int mask;

    if ((attr->cap.max_send_wr > 0) != (attr->send_cq != NULL) ||
        (attr->cap.max_recv_wr > 0) != (attr->recv_cq != NULL))
        return fail(EINVAL);
    id->qp = ibv_create_qp(attr->pd, (struct ibv_qp_init_attr *)(void *)attr);
    if (rdma_init_qp_attr(id, &state, &mask) != SYSTEM_VERBS_INT)
        abort();
    return 0;
}

void rdma_destroy_qp(struct rdma_cm_id *id)
{
    ibv_destroy_qp(id->qp);
    id->qp = NULL;
}

int rdma_create_srq_ex(struct rdma_cm_id *id, struct ibv_srq_init_attr_ex *attr)
{
    if ((attr->comp_mask & IBV_SRQ_INIT_ATTR_TYPE) == 0 ||
        (attr->srq_type == IBV_SRQT_XRC && attr->cq == NULL))
        return fail(EINVAL);
    id->srq = ibv_create_srq(id->pd, (struct ibv_srq_init_attr *)(void *)attr);
    return 0;
}

void rdma_destroy_srq(struct rdma_cm_id *id)
{
    ibv_destroy_srq(id->srq);
    id->srq = NULL;
}

/* ---- devices, and functions that only record their call ---- */

struct ibv_context **rdma_get_devices(int *count)
{
    struct ibv_context **list = calloc(2, sizeof(*list));

    if (list == NULL)
        abort();
    open_device();
    list[0] = context;
    *count = 1;
    system_rdmacm.lists++;
    return list;
}

void rdma_free_devices(struct ibv_context **list)
{
    system_rdmacm.lists--;
    free(list);
}

#define NOTED(type, value, name, ...)                                                              \
    type name(__VA_ARGS__)                                                                         \
    {                                                                                              \
        system_rdmacm.called = #name;                                                              \
        return value;                                                                              \
    }
#define NUMBER(name, ...) NOTED(int, SYSTEM_VERBS_INT, name, __VA_ARGS__)

NUMBER(rdma_init_qp_attr, struct rdma_cm_id *id, struct ibv_qp_attr *attr, int *mask)
NOTED(int, 0, rdma_set_option, struct rdma_cm_id *id, int level, int name, void *value,
      size_t bytes)
NUMBER(rdma_notify, struct rdma_cm_id *id, enum ibv_event_type event)
NUMBER(rdma_establish, struct rdma_cm_id *id)
NUMBER(rdma_join_multicast_ex, struct rdma_cm_id *id, struct rdma_cm_join_mc_attr_ex *attr,
       void *of_program)
NUMBER(rdma_leave_multicast, struct rdma_cm_id *id, struct sockaddr *address)
NUMBER(rdma_set_local_ece, struct rdma_cm_id *id, struct ibv_ece *ece)
NUMBER(rdma_get_remote_ece, struct rdma_cm_id *id, struct ibv_ece *ece)
NUMBER(rdma_reject_ece, struct rdma_cm_id *id, const void *private_data, uint8_t bytes)
NUMBER(rdma_getaddrinfo, const char *node, const char *service, const struct rdma_addrinfo *hints,
       struct rdma_addrinfo **found)
NUMBER(rdma_create_ep, struct rdma_cm_id **id, struct rdma_addrinfo *found, struct ibv_pd *of,
       struct ibv_qp_init_attr *attr)
NUMBER(rdma_create_qp, struct rdma_cm_id *id, struct ibv_pd *of, struct ibv_qp_init_attr *attr)
NUMBER(rdma_create_srq, struct rdma_cm_id *id, struct ibv_pd *of, struct ibv_srq_init_attr *attr)
NUMBER(rdma_get_request, struct rdma_cm_id *listener, struct rdma_cm_id **id)
NOTED(__be16, in(&id->route.addr.src_addr)->sin_port, rdma_get_src_port, struct rdma_cm_id *id)
NOTED(__be16, in(&id->route.addr.dst_addr)->sin_port, rdma_get_dst_port, struct rdma_cm_id *id)
NOTED(void, , rdma_destroy_ep, struct rdma_cm_id *id)
NOTED(void, , rdma_freeaddrinfo, struct rdma_addrinfo *found)
