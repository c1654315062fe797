/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objects that an application creates on a device: peers, registered memory, completion queues
 * and queue pairs, each in memory of its own. Also how the NIC accesses registered memory.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "core/cm/mad.h"
#include "device/host/pages.h"
#include "device/internal.h"

#define DEFAULT_PKEY UINT16_C(0xffff)

/* ---- the NIC's access to memory ---- */

/*
 * Lets the kernel copy between our memory and the program's. Returns false if the program has
 * unmapped its memory; EPERM: the kernel does not permit the call, and nothing is copied.
 */
static bool copy_checked(bool write, void *ours, void *theirs, uint32_t bytes)
{
    const struct iovec here = {.iov_base = ours, .iov_len = bytes};
    const struct iovec there = {.iov_base = theirs, .iov_len = bytes};
    const ssize_t copied = write ? process_vm_writev(getpid(), &here, 1, &there, 1, 0)
                                 : process_vm_readv(getpid(), &here, 1, &there, 1, 0);

    if (copied == (ssize_t)bytes)
        return true;
    errno = copied < 0 && errno != EFAULT ? EPERM : EFAULT;
    return false;
}

/*
 * When the process ends, registered memory may be unmapped already. Packets with unreadable payload
 * are not sent.
 */
static void memory_read_at_end(struct oche_device *device, void *from, void *to, uint32_t bytes)
    OCHE_NEEDS(device_lock)
{
    if (copy_checked(false, to, from, bytes))
        return;
    if (errno == EPERM)
        memcpy(to, from, bytes);
    else
        device->unreadable = true;
}

static void memory_read(void *context, const struct oche_region *region, uint64_t offset, void *to,
                        uint32_t bytes) OCHE_NEEDS(device_lock)
{
    struct oche_device *device = context;

    if (OCHE_UNLIKELY(device->process_ends))
        memory_read_at_end(device, (uint8_t *)region->base + offset, to, bytes);
    else
        memcpy(to, (const uint8_t *)region->base + offset, bytes);
}

/*
 * Writes the end of the data after everything else, as adapters do: programs poll the last bytes of
 * what they wait for. memcpy may write them first.
 */
static void write_end_last(uint8_t *to, const uint8_t *from, uint32_t bytes)
{
    uint64_t word;

    if (bytes >= sizeof(word)) {
        memcpy(&word, from + bytes - sizeof(word), sizeof(word));
        memcpy(to, from, bytes - sizeof(word));
        atomic_thread_fence(memory_order_release);
        memcpy(to + bytes - sizeof(word), &word, sizeof(word)); /* one instruction */
    } else if (bytes > 0) {
        memcpy(to, from, bytes - 1);
        atomic_thread_fence(memory_order_release);
        to[bytes - 1] = from[bytes - 1];
    }
}

static void write_checked(const struct oche_region *region, uint64_t offset, const void *from,
                          uint32_t bytes)
{
    void *to = (uint8_t *)region->base + offset;

    if (!copy_checked(true, (void *)(uintptr_t)from, to, bytes) && errno == EPERM)
        memcpy(to, from, bytes);
}

static void memory_write(void *context, const struct oche_region *region, uint64_t offset,
                         const void *from, uint32_t bytes) OCHE_NEEDS(device_lock)
{
    const struct oche_device *device = context;

    if (OCHE_UNLIKELY(device->process_ends))
        write_checked(region, offset, from, bytes);
    else
        write_end_last((uint8_t *)region->base + offset, from, bytes);
}

/*
 * Some programs unmap registered memory that has posted receives, which they no longer need. An
 * RNIC permits this, as it has pinned the memory. Here a thread that the program did not start may
 * write there. So the kernel copies the data and discards it if the memory is gone; a plain write
 * would crash. If the kernel does not permit this call, the data is written without a check.
 */
static void memory_write_posted(void *context, const struct oche_region *region, uint64_t offset,
                                const void *from, uint32_t bytes) OCHE_NEEDS(device_lock)
{
    const struct oche_device *device = context;

    if (device->checks_writes)
        write_checked(region, offset, from, bytes);
    else
        memory_write(context, region, offset, from, bytes);
}

/*
 * The operation is atomic with respect to the program's own accesses too. The core has checked the
 * alignment.
 */
static uint64_t memory_atomic(void *context, const struct oche_region *region, uint64_t offset,
                              bool compare_swap, uint64_t compare, uint64_t swap_add)
    OCHE_NEEDS(device_lock)
{
    const struct oche_device *device = context;
    uint64_t *at = (uint64_t *)(void *)((uint8_t *)region->base + offset);
    uint64_t value;

    if (OCHE_UNLIKELY(device->process_ends) && !copy_checked(false, &value, at, sizeof(value)) &&
        errno != EPERM)
        return 0;
    if (!compare_swap)
        return __atomic_fetch_add(at, swap_add, __ATOMIC_SEQ_CST);
    __atomic_compare_exchange_n(at, &compare, swap_add, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    return compare; /* the old value, whether it was swapped or not */
}

static void pass_completion_event(void *context, struct oche_cq *cq) OCHE_NEEDS(device_lock)
{
    struct oche_device *device = context;

    device->completed = true;
    if (device->config.completion_event != NULL)
        device->config.completion_event(device->config.context, cq);
}

static void pass_cq_error(void *context, struct oche_cq *cq)
{
    struct oche_device *device = context;

    if (device->config.cq_error != NULL)
        device->config.cq_error(device->config.context, cq);
}

/*
 * Reports once that a peer has never sent anything: its packets probably do not reach us. Silent if
 * our packets do not reach the peer, which was reported already.
 */
static void report_silent_peer(struct oche_device *device, const struct oche_qp *qp)
    OCHE_NEEDS(device_lock)
{
    struct oche_qp_view view;
    const struct oche_peer *peer;

    oche_qp_look(qp, &view);
    peer = &device->peers.peers[view.remote_address];
    if (!peer->has_sent && !peer->too_large &&
        !oche_seen_addresses_add(&device->seen, &peer->address))
        device->config.silent_peer(device->config.context, &peer->address);
}

static void pass_qp_error(void *context, struct oche_qp *qp, enum oche_status status)
    OCHE_NEEDS(device_lock)
{
    struct oche_device *device = context;

    if (status == OCHE_STATUS_RETRY_EXCEEDED && device->config.silent_peer != NULL)
        report_silent_peer(device, qp);
    if (device->config.qp_error != NULL)
        device->config.qp_error(device->config.context, qp, status);
}

static void pass_qp_event(void *context, struct oche_qp *qp, enum oche_qp_event event)
{
    struct oche_device *device = context;

    if (device->config.qp_event != NULL)
        device->config.qp_event(device->config.context, qp, event);
}

static void pass_srq_limit(void *context, struct oche_srq *srq)
{
    struct oche_device *device = context;

    if (device->config.srq_limit != NULL)
        device->config.srq_limit(device->config.context, srq);
}

const struct oche_nic_port device_port = {
    .read = memory_read,
    .write = memory_write,
    .write_posted = memory_write_posted,
    .atomic = memory_atomic,
    .completion_event = pass_completion_event,
    .cq_error = pass_cq_error,
    .qp_error = pass_qp_error,
    .qp_event = pass_qp_event,
    .srq_limit = pass_srq_limit,
    .wants_room = device_reorder_note_full,
    .grh = device_grh,
};

/* ---- peers and memory ---- */

uint32_t oche_device_peer(struct oche_device *device, const char *address)
{
    struct oche_address parsed;
    uint32_t index;

    if (!oche_address_parse(address, &parsed) || !oche_address_is_unicast(&parsed) ||
        oche_address_is_ipv4(&parsed) == device->socket.ipv6) {
        errno = EINVAL;
        return OCHE_NO_PEER;
    }
    oche_device_lock(device);
    index = oche_peers_add(&device->peers, &parsed, device->port);
    oche_device_unlock(device);
    if (index == OCHE_NO_PEER)
        errno = ENOMEM;
    return index;
}

void oche_device_release_peer(struct oche_device *device, uint32_t index)
{
    oche_device_lock(device);
    oche_peers_release(&device->peers, index);
    oche_device_unlock(device);
}

uint32_t oche_device_register(struct oche_device *device, void *memory, size_t bytes,
                              uint32_t access)
{
    struct oche_region region = {
        .va = (uint64_t)(uintptr_t)memory, .length = bytes, .access = access, .base = memory};

    return oche_device_add_region(device, &region) ? region.key : 0;
}

bool oche_device_make_region_room(struct oche_device *device)
{
    const uint32_t count = oche_nic_max_regions(device->nic), most = device->config.max_regions;
    const uint32_t more = count < most / 2 ? 2 * count : most;
    void *memory;

    if (oche_nic_regions_left(device->nic) > 0)
        return true;
    if (more == count)
        return false;
    memory = oche_pages_take(oche_regions_bytes(more));
    if (memory == NULL)
        return false;
    oche_nic_move_regions(device->nic, memory, more);
    oche_pages_free(device->regions, device->regions_bytes);
    device->regions = memory;
    device->regions_bytes = oche_regions_bytes(more);
    return true;
}

bool oche_device_add_region(struct oche_device *device, struct oche_region *region)
{
    const bool choose = region->key == 0;
    bool added = false, room;

    oche_device_lock(device);
    room = oche_device_make_region_room(device);
    for (unsigned tries = 0; tries < (choose ? 100 : 1) && room && !added; tries++) {
        if (choose && !oche_device_random_key(device, &region->key))
            break;
        added = oche_nic_add_region(device->nic, region);
    }
    oche_device_unlock(device);
    return added;
}

bool oche_device_random_key(struct oche_device *device, uint32_t *key)
{
    *key = (uint32_t)oche_entropy_u64(&device->entropy);
    return !device->entropy.failed;
}

bool oche_device_change_region(struct oche_device *device, const struct oche_region *region)
{
    bool changed;

    oche_device_lock(device);
    changed = oche_nic_change_region(device->nic, region);
    oche_device_unlock(device);
    return changed;
}

bool oche_device_deregister(struct oche_device *device, uint32_t key)
{
    bool removed;

    /*
     * An adapter has read the memory of posted work by now, as it begins at once. Programs rely on
     * this: they unregister memory of messages whose completions they do not await.
     */
    oche_device_lock(device);
    device_transmit(device, oche_device_now(device));
    removed = oche_nic_remove_region(device->nic, key);
    oche_device_unlock(device);
    return removed;
}

/* ---- memory of objects ---- */

/* Allocates `bytes` for an object, and adds the object to `list`. NULL: memory is out. */
static void *own(struct owned **list, size_t bytes)
{
    const size_t rounded = oche_lines(bytes);
    struct owned *owned = aligned_alloc(OCHE_CACHE_LINE, sizeof(*owned) + rounded);

    if (owned == NULL)
        return NULL;
    *owned = (struct owned){.next = *list, .link = list};
    if (owned->next != NULL)
        owned->next->link = &owned->next;
    *list = owned;
    return owned + 1;
}

static void disown(struct oche_device *device, void *object) OCHE_NEEDS(device_lock)
{
    struct owned *owned = device_owned(object);

    *owned->link = owned->next;
    if (owned->next != NULL)
        owned->next->link = owned->link;
    device_reorder_free(device, owned);
    free(owned);
}

void objects_destroy(struct oche_device *device)
{
    while (device->qps != NULL)
        disown(device, device->qps + 1);
    while (device->cqs != NULL)
        disown(device, device->cqs + 1);
}

/* ---- completion queues and queue pairs ---- */

struct oche_cq *oche_device_create_cq(struct oche_device *device, uint32_t entries)
{
    void *memory;

    oche_device_lock(device);
    memory = own(&device->cqs, oche_cq_bytes(entries));
    oche_device_unlock(device);
    return memory != NULL ? oche_cq_create(memory, entries) : NULL;
}

void oche_device_destroy_cq(struct oche_device *device, struct oche_cq *cq)
{
    oche_device_lock(device);
    disown(device, cq);
    oche_device_unlock(device);
}

/* Makes a queue pair with this configuration, under the lock. */
static struct oche_qp *make_qp(struct oche_device *device, const struct oche_qp_config *config)
    OCHE_NEEDS(device_lock)
{
    void *memory = own(&device->qps, oche_qp_bytes(device->nic, config));
    struct oche_qp_config whole = *config;
    struct oche_qp *qp = NULL;

    if (memory == NULL)
        return NULL;
    if (device_reorder_create(device, &whole, memory))
        qp = oche_qp_create(device->nic, memory, &whole);
    if (qp == NULL)
        disown(device, memory);
    device->qp_count += qp != NULL && config->qpn != OCHE_CM_QPN;
    if (qp != NULL && config->qpn == OCHE_CM_QPN)
        oche_services_manage(&device->services, &device->share, true);
    return qp;
}

/*
 * To be called for an unreliable queue pair. Lost datagrams are not retransmitted, so the receive
 * buffer becomes as large as the system allows.
 */
static void take_room(struct oche_device *device)
{
    if (atomic_exchange(&device->has_unreliable, true) || device->config.receive_buffer_bytes != 0)
        return;
    oche_socket_take_room(&device->socket);
}

bool oche_device_take_service(struct oche_device *device, uint64_t id)
{
    bool taken;
    int error;

    oche_device_lock(device);
    taken = oche_services_take(&device->services, &device->share, id);
    error = errno;
    oche_device_unlock(device);
    errno = error;
    return taken;
}

bool oche_device_service_taken(struct oche_device *device, uint64_t id)
{
    bool held;

    oche_device_lock(device);
    held = oche_services_taken(&device->services, &device->share, id);
    oche_device_unlock(device);
    return held;
}

void oche_device_release_service(struct oche_device *device, uint64_t id)
{
    oche_device_lock(device);
    oche_services_release(&device->services, &device->share, id);
    oche_device_unlock(device);
}

unsigned oche_device_slot(const struct oche_device *device)
{
    return device_slot(device);
}

struct oche_qp *oche_device_create_qp(struct oche_device *device,
                                      const struct oche_qp_config *config)
{
    struct oche_qp_config full = *config;
    struct oche_qp *qp = NULL;
    const bool choose = full.qpn == 0;
    int error;

    if (full.mtu_bytes > device->config.mtu_bytes)
        return NULL; /* larger than our buffers */
    if (device->config.share && full.qpn > OCHE_CM_QPN &&
        full.qpn >> OCHE_SLOT_SHIFT != device_slot(device))
        return NULL;
    if (full.pkey == 0)
        full.pkey = DEFAULT_PKEY;
    if (full.transport != OCHE_TRANSPORT_RC)
        take_room(device);
    oche_device_lock(device);
    if (choose)
        full.qpn =
            oche_qp_numbers_take(&device->numbers, &device->entropy, oche_device_now(device));
    if (full.qpn != 0)
        qp = make_qp(device, &full);
    if (qp != NULL)
        device_owned(qp)->chose_number = choose;
    if (qp != NULL && !choose)
        oche_qp_numbers_claim(&device->numbers, full.qpn);
    if (qp == NULL && choose && full.qpn != 0)
        oche_qp_numbers_undo(&device->numbers, full.qpn);
    error = full.qpn == 0 && !device->entropy.failed ? EADDRNOTAVAIL : ENOMEM;
    oche_device_unlock(device);
    if (qp == NULL)
        errno = error;
    return qp;
}

unsigned oche_device_fail_qps(struct oche_device *device, const uint32_t *qpn,
                              enum oche_status status)
{
    unsigned failed = 0;

    oche_device_lock(device);
    for (struct owned *owned = device->qps; owned != NULL; owned = owned->next) {
        struct oche_qp *qp = (struct oche_qp *)(void *)(owned + 1);

        if (oche_qp_number(qp) != OCHE_CM_QPN && (qpn == NULL || oche_qp_number(qp) == *qpn))
            failed += oche_qp_fail_as(qp, status, oche_clock_now(&device->clock));
    }
    oche_device_unlock(device);
    return failed;
}

void oche_device_flush_qps(struct oche_device *device)
{
    oche_device_lock(device);
    for (struct owned *owned = device->qps; owned != NULL; owned = owned->next) {
        struct oche_qp *qp = (struct oche_qp *)(void *)(owned + 1);

        if (oche_qp_number(qp) != OCHE_CM_QPN && oche_qp_state(qp) != OCHE_QP_RESET)
            oche_qp_fail(qp, oche_clock_now(&device->clock));
    }
    oche_device_unlock(device);
}

void oche_device_destroy_qp(struct oche_device *device, struct oche_qp *qp)
{
    oche_device_lock(device);
    device_settle(device);
    if (device_owned(qp)->chose_number)
        oche_qp_numbers_rest(&device->numbers, oche_qp_number(qp),
                             device_owned(qp)->has_received || oche_qp_has_worked(qp),
                             oche_device_now(device));
    device->qp_count -= oche_qp_number(qp) != OCHE_CM_QPN;
    if (oche_qp_number(qp) == OCHE_CM_QPN)
        oche_services_manage(&device->services, &device->share, false);
    oche_qp_destroy(qp);
    disown(device, qp);
    oche_device_unlock(device);
}

static bool is_peer(const struct oche_device *device, uint32_t index) OCHE_NEEDS(device_lock)
{
    return index < device->peers.count && device->peers.peers[index].references > 0;
}

void oche_device_forget_ports(struct oche_qp *qp)
{
    device_owned(qp)->ports = (struct oche_peer_ports){0};
}

bool oche_device_connect(struct oche_device *device, struct oche_qp *qp,
                         const struct oche_qp_connection *connection)
{
    struct oche_qp_connection full = *connection;
    oche_time now;
    bool done;

    if (full.udp_source_port == 0)
        full.udp_source_port = oche_udp_source_port(oche_qp_number(qp), full.remote_qpn);
    oche_device_lock(device);
    now = oche_device_now(device);
    oche_device_forget_ports(qp);
    done = is_peer(device, full.remote_address) && oche_qp_init(qp, now) &&
           oche_qp_ready_to_receive(qp, &full, now) && oche_qp_ready_to_send(qp, now);
    oche_device_unlock(device);
    return done;
}

int oche_device_post_send(struct oche_device *device, struct oche_qp *qp,
                          const struct oche_send_work *work)
{
    const int status = oche_qp_post_send(qp, work);

    if (status == 0)
        oche_device_posted(device);
    return status;
}

void oche_device_posted_quietly(struct oche_device *device)
{
    atomic_store_explicit(&device->posted, true, memory_order_relaxed);
}

void oche_device_posted(struct oche_device *device)
{
    /*
     * Either we see the sleeper or it sees the work: a sleeper announces itself before it checks
     * for work.
     */
    atomic_store_explicit(&device->posted, true, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&device->waiting, memory_order_relaxed) > 0)
        device_ring(device);
}
