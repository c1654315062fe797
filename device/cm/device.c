/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Open devices of this process, and their queue pair 1. A device is opened when one of its
 * addresses is first used, and stays open, as programs keep id->verbs.
 */
#include "device/cm/internal.h"
#include "device/verbs/manager.h"

#define RECEIVE_BYTES (CM_GRH_BYTES + OCHE_MAD_BYTES)
#define CM_TURN       64 /* completions that are handled in a row */

struct oche_lock cm_lock = OCHE_LOCK_INITIALIZER;
struct cm_device *cm_devices OCHE_GUARDED_BY(cm_lock);

/* ---- queue pair 1 ---- */

static int post_receive(struct cm_device *device, uint64_t number)
{
    struct ibv_sge piece = {.addr = (uintptr_t)(device->receives + number * RECEIVE_BYTES),
                            .length = RECEIVE_BYTES,
                            .lkey = device->mr->lkey};
    struct ibv_recv_wr work = {.wr_id = number, .sg_list = &piece, .num_sge = 1}, *bad;

    return ibv_post_recv(device->qp1, &work, &bad);
}

/* Returns 0 or an errno. */
static int ready(struct cm_device *device)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = CM_PORT, .qkey = OCHE_CM_QKEY};
    int error = ibv_modify_qp(device->qp1, &attr,
                              IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);

    attr.qp_state = IBV_QPS_RTR;
    if (error == 0)
        error = ibv_modify_qp(device->qp1, &attr, IBV_QP_STATE);
    attr.qp_state = IBV_QPS_RTS;
    if (error == 0)
        error = ibv_modify_qp(device->qp1, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN);
    for (uint64_t i = 0; error == 0 && i < CM_RECEIVES; i++)
        error = post_receive(device, i);
    if (error == 0)
        error = ibv_req_notify_cq(device->send_cq, 0);
    return error != 0 ? error : ibv_req_notify_cq(device->cq, 0);
}

/* Returns false with errno. */
static bool create_qp1(struct cm_device *device)
{
    struct ibv_qp_init_attr attr = {.cap = {.max_send_wr = CM_SENDS,
                                            .max_recv_wr = CM_RECEIVES,
                                            .max_send_sge = 1,
                                            .max_recv_sge = 1,
                                            .max_inline_data = OCHE_MAD_BYTES}};
    int error;

    device->channel = ibv_create_comp_channel(device->verbs);
    device->receives = calloc(CM_RECEIVES, RECEIVE_BYTES);
    device->sends = calloc(CM_SENDS, sizeof(*device->sends));
    if (device->channel == NULL || device->receives == NULL || device->sends == NULL)
        return false;
    device->cq = ibv_create_cq(device->verbs, CM_RECEIVES, device, device->channel, 0);
    device->send_cq = ibv_create_cq(device->verbs, CM_SENDS, device, device->channel, 0);
    device->mr = ibv_reg_mr(device->pd, device->receives, CM_RECEIVES * RECEIVE_BYTES,
                            IBV_ACCESS_LOCAL_WRITE);
    if (device->cq == NULL || device->send_cq == NULL || device->mr == NULL)
        return false;
    attr.send_cq = device->send_cq;
    attr.recv_cq = device->cq;
    device->qp1 = oche_manager_create_qp(device->pd, &attr);
    error = device->qp1 != NULL ? ready(device) : errno;
    errno = error;
    return error == 0;
}

static void close_parts(struct cm_device *device)
{
    if (device->qp1 != NULL)
        ibv_destroy_qp(device->qp1);
    if (device->mr != NULL)
        ibv_dereg_mr(device->mr);
    if (device->cq != NULL)
        ibv_destroy_cq(device->cq);
    if (device->send_cq != NULL)
        ibv_destroy_cq(device->send_cq);
    if (device->channel != NULL)
        ibv_destroy_comp_channel(device->channel);
    if (device->pd != NULL)
        ibv_dealloc_pd(device->pd);
    if (device->verbs != NULL)
        ibv_close_device(device->verbs);
    free(device->receives);
    free(device->sends);
    free(device);
}

/* ---- opening ---- */

static bool query(struct cm_device *device)
{
    struct ibv_device_attr attr;

    if (ibv_query_gid(device->verbs, CM_PORT, 0, &device->gid) != 0 ||
        ibv_query_device(device->verbs, &attr) != 0)
        return false;
    device->guid = be64toh(attr.node_guid);
    device->most_reads = attr.max_qp_rd_atom;
    device->interface = oche_manager_interface(device->verbs);
    device->slot = oche_manager_slot(device->verbs);
    return true;
}

/* Returns NULL with errno. */
static struct cm_device *open_device(struct ibv_device *of) OCHE_NEEDS(cm_lock)
{
    struct cm_device *device = calloc(1, sizeof(*device)), **last = &cm_devices;
    struct oche_cm_hooks hooks = cm_hooks;
    int error;

    if (device == NULL)
        return NULL;
    oche_manager_gid(of, &device->listed);
    device->verbs = ibv_open_device(of);
    if (device->verbs != NULL)
        device->pd = ibv_alloc_pd(device->verbs);
    if (device->pd == NULL || !query(device) || !create_qp1(device) || !cm_thread_start() ||
        !cm_thread_watch(device)) {
        error = errno;
        close_parts(device);
        errno = error;
        return NULL;
    }
    hooks.context = device;
    oche_cm_init(&device->cm, &hooks, device->guid, device->slot, 6);
    while (*last != NULL)
        last = &(*last)->next;
    *last = device;
    return device;
}

static bool is_at(const struct cm_device *device, const union ibv_gid *gid)
{
    return memcmp(&device->gid, gid, sizeof(*gid)) == 0 ||
           memcmp(&device->listed, gid, sizeof(*gid)) == 0;
}

static struct cm_device *find_open(const union ibv_gid *gid) OCHE_NEEDS(cm_lock)
{
    struct cm_device *device = cm_devices;

    while (device != NULL && !is_at(device, gid))
        device = device->next;
    return device;
}

/*
 * Opens the device of this address, or of all addresses (`wanted` NULL), as far as they are not
 * open. Returns one of them, or NULL with errno.
 */
static struct cm_device *open_listed(const union ibv_gid *wanted) OCHE_NEEDS(cm_lock)
{
    struct ibv_device **list = ibv_get_device_list(NULL);
    struct cm_device *found = NULL;
    int error = list == NULL ? errno : ENODEV;

    for (unsigned i = 0; list != NULL && list[i] != NULL; i++) {
        union ibv_gid gid;
        struct cm_device *device;

        if (!oche_manager_is_ours(list[i]))
            continue;
        oche_manager_gid(list[i], &gid);
        if (wanted != NULL && memcmp(&gid, wanted, sizeof(gid)) != 0)
            continue;
        device = find_open(&gid);
        if (device == NULL && (device = open_device(list[i])) == NULL)
            error = errno;
        found = found == NULL ? device : found;
    }
    if (list != NULL)
        ibv_free_device_list(list);
    errno = error;
    return found;
}

/*
 * Done once in a process, since it takes milliseconds. An address that is added later is found when
 * a program names it.
 */
bool cm_devices_open(void)
{
    static bool listed;

    if (!listed || cm_devices == NULL)
        listed = open_listed(NULL) != NULL;
    return listed;
}

struct cm_device *cm_device_of(const union ibv_gid *gid)
{
    struct cm_device *device = find_open(gid);

    return device != NULL ? device : open_listed(gid);
}

/* A list of devices; programs get a pointer to `devices`. */
struct list {
    struct ibv_context **theirs; /* the list of the system's library, which must free it */
    struct ibv_context *devices[];
};

/* Returns the list of the system's library, or NULL. */
static struct ibv_context **list_theirs(int *count)
{
    struct ibv_context **theirs = NULL;
    bool with_system;

    *count = 0;
    if (cm_system_load(&with_system) && with_system)
        theirs = CM_SYSTEM(rdma_get_devices, count);
    return theirs;
}

/* Our devices come first, as in ibv_get_device_list. Returns NULL if memory is out. */
static struct list *list_all(struct ibv_context **theirs, int others, int *all) OCHE_NEEDS(cm_lock)
{
    struct list *list;
    size_t count = 0;

    for (struct cm_device *device = cm_devices; device != NULL; device = device->next)
        count++;
    list = calloc(1, sizeof(*list) + (count + (size_t)others + 1) * sizeof(list->devices[0]));
    if (list == NULL)
        return NULL;
    count = 0;
    for (struct cm_device *device = cm_devices; device != NULL; device = device->next)
        list->devices[count++] = device->verbs;
    for (int i = 0; i < others; i++)
        list->devices[count++] = theirs[i];
    list->theirs = theirs;
    *all = (int)count;
    return list;
}

struct ibv_context **rdma_get_devices(int *num_devices)
{
    struct ibv_context **theirs;
    struct list *list;
    int count = 0, others;

    CM_IF_SYSTEM_CALLS(rdma_get_devices, num_devices);
    theirs = list_theirs(&others);
    oche_lock_take(&cm_lock);
    cm_devices_open();
    list = list_all(theirs, others, &count);
    if (theirs == NULL)
        cm_warn_libfabric(__builtin_return_address(0));
    oche_lock_release(&cm_lock);
    if (list == NULL && theirs != NULL)
        CM_SYSTEM_VOID(rdma_free_devices, theirs);
    if (num_devices != NULL)
        *num_devices = count;
    return list != NULL ? list->devices : NULL;
}

void rdma_free_devices(struct ibv_context **devices)
{
    struct list *list;

    CM_IF_SYSTEM_CALLS(rdma_free_devices, devices);
    if (devices == NULL)
        return;
    list = (struct list *)(void *)((uint8_t *)devices - offsetof(struct list, devices));
    if (list->theirs != NULL)
        CM_SYSTEM_VOID(rdma_free_devices, list->theirs);
    free(list);
}

/* ---- messages ---- */

static struct cm_send_slot *free_slot(struct cm_device *device)
{
    for (unsigned i = 0; i < CM_SENDS; i++)
        if (device->sends[i].ah == NULL)
            return &device->sends[i];
    return NULL;
}

static void sent(struct cm_device *device, uint64_t number)
{
    ibv_destroy_ah(device->sends[number].ah);
    device->sends[number].ah = NULL;
}

/* Frees the slots of messages that have left. */
static void take_sent(struct cm_device *device)
{
    struct ibv_wc wc;

    for (unsigned i = 0; i < CM_SENDS && ibv_poll_cq(device->send_cq, 1, &wc) == 1; i++)
        sent(device, wc.wr_id);
}

/*
 * Waits a little for a free slot: polling sends waiting messages. Returns NULL if none becomes
 * free.
 */
static struct cm_send_slot *slot_to_send(struct cm_device *device)
{
    struct cm_send_slot *slot = free_slot(device);

    for (unsigned i = 0; slot == NULL && i < CM_SENDS; i++) {
        take_sent(device);
        slot = free_slot(device);
    }
    return slot;
}

static void received(struct cm_device *device, struct ibv_wc *wc)
{
    uint8_t *buffer = device->receives + wc->wr_id * RECEIVE_BYTES;
    struct ibv_grh grh;
    struct ibv_ah_attr from;

    memcpy(&grh, buffer, sizeof(grh));
    if (wc->status == IBV_WC_SUCCESS && wc->byte_len >= CM_GRH_BYTES &&
        (wc->wc_flags & IBV_WC_GRH) != 0 &&
        ibv_init_ah_from_wc(device->verbs, CM_PORT, wc, &grh, &from) == 0)
        oche_cm_arrive(&device->cm, cm_now(), device->gid.raw, from.grh.dgid.raw,
                       buffer + CM_GRH_BYTES, wc->byte_len - CM_GRH_BYTES);
    post_receive(device, wc->wr_id);
}

void cm_device_receive(struct cm_device *device)
{
    struct ibv_wc wc;

    take_sent(device);
    device->more = true;
    for (unsigned i = 0; i < CM_TURN; i++) {
        if (ibv_poll_cq(device->cq, 1, &wc) != 1) {
            device->more = false;
            return;
        }
        received(device, &wc);
    }
}

void cm_device_woken(struct cm_device *device)
{
    struct ibv_cq *cq;
    void *context;

    if (ibv_get_cq_event(device->channel, &cq, &context) != 0)
        return;
    ibv_ack_cq_events(cq, 1);
    ibv_req_notify_cq(cq, 0);
    device->more = true;
}

void cm_device_send(struct cm_device *device, const uint8_t *remote_gid, const uint8_t *mad)
{
    struct ibv_ah_attr to = {
        .is_global = 1, .port_num = CM_PORT, .grh = {.hop_limit = CM_HOP_LIMIT}};
    struct cm_send_slot *slot = slot_to_send(device);

    if (slot == NULL)
        return; /* treated as lost: the peer will repeat it */
    memcpy(to.grh.dgid.raw, remote_gid, sizeof(to.grh.dgid.raw));
    slot->ah = ibv_create_ah(device->pd, &to);
    if (slot->ah == NULL)
        return;
    memcpy(slot->mad, mad, OCHE_MAD_BYTES);

    struct ibv_sge piece = {.addr = (uintptr_t)slot->mad, .length = OCHE_MAD_BYTES};
    struct ibv_send_wr work = {
        .wr_id = (uint64_t)(slot - device->sends),
        .sg_list = &piece,
        .num_sge = 1,
        .opcode = IBV_WR_SEND,
        .send_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE,
        .wr.ud = {.ah = slot->ah, .remote_qpn = OCHE_CM_QPN, .remote_qkey = OCHE_CM_QKEY},
    };
    struct ibv_send_wr *bad;

    if (ibv_post_send(device->qp1, &work, &bad) != 0)
        sent(device, (uint64_t)(slot - device->sends));
    take_sent(device); /* so it leaves now, even if the program is killed next */
}

static bool sends_are_under_way(const struct cm_device *device)
{
    for (unsigned i = 0; i < CM_SENDS; i++)
        if (device->sends[i].ah != NULL)
            return true;
    return false;
}

void cm_device_flush(struct cm_device *device)
{
    const oche_time end = cm_now() + 100 * OCHE_MS;

    while (sends_are_under_way(device) && cm_now() < end)
        take_sent(device);
}
