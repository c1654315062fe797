/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Completion queues: the core's ring, with our struct. Polling an empty queue makes progress, and
 * so does every POLLS_PER_PROGRESS-th poll of a queue that is never empty.
 */
#include <arpa/inet.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "device/verbs/internal.h"

#define POLLS_PER_PROGRESS 8
#define LONGEST_SLEEP      OCHE_MS /* another thread may take our completion */
#define BATCH              16
#define CAME_WITH_UDP      8 /* a bit: the datagram came in UDP */
#define CAME_WITH_IPV6     1
#define CAME_WITH_IPV4     2

/* ---- names of completions ---- */

enum ibv_wc_status ov_wc_status_of(uint8_t status)
{
    static const enum ibv_wc_status names[OCHE_STATUSES] = {
        [OCHE_STATUS_SUCCESS] = IBV_WC_SUCCESS,
        [OCHE_STATUS_LOCAL_LENGTH] = IBV_WC_LOC_LEN_ERR,
        [OCHE_STATUS_LOCAL_QP_OPERATION] = IBV_WC_LOC_QP_OP_ERR,
        [OCHE_STATUS_LOCAL_PROTECTION] = IBV_WC_LOC_PROT_ERR,
        [OCHE_STATUS_FLUSHED] = IBV_WC_WR_FLUSH_ERR,
        [OCHE_STATUS_REMOTE_INVALID_REQUEST] = IBV_WC_REM_INV_REQ_ERR,
        [OCHE_STATUS_REMOTE_ACCESS] = IBV_WC_REM_ACCESS_ERR,
        [OCHE_STATUS_REMOTE_OPERATION] = IBV_WC_REM_OP_ERR,
        [OCHE_STATUS_RETRY_EXCEEDED] = IBV_WC_RETRY_EXC_ERR,
        [OCHE_STATUS_RNR_RETRY_EXCEEDED] = IBV_WC_RNR_RETRY_EXC_ERR,
        [OCHE_STATUS_WINDOW] = IBV_WC_MW_BIND_ERR,
        [OCHE_STATUS_BAD_RESPONSE] = IBV_WC_BAD_RESP_ERR,
        [OCHE_STATUS_LOCAL_ACCESS] = IBV_WC_LOC_ACCESS_ERR,
        [OCHE_STATUS_REMOTE_ABORT] = IBV_WC_REM_ABORT_ERR,
        [OCHE_STATUS_FATAL] = IBV_WC_FATAL_ERR,
        [OCHE_STATUS_RESPONSE_TIMEOUT] = IBV_WC_RESP_TIMEOUT_ERR,
        [OCHE_STATUS_GENERAL] = IBV_WC_GENERAL_ERR,
    };

    return status < OCHE_STATUSES ? names[status] : IBV_WC_GENERAL_ERR;
}

enum ibv_wc_opcode ov_wc_opcode_of(uint8_t opcode)
{
    static const enum ibv_wc_opcode names[] = {
        [OCHE_DONE_SEND] = IBV_WC_SEND,
        [OCHE_DONE_WRITE] = IBV_WC_RDMA_WRITE,
        [OCHE_DONE_READ] = IBV_WC_RDMA_READ,
        [OCHE_DONE_COMPARE_SWAP] = IBV_WC_COMP_SWAP,
        [OCHE_DONE_FETCH_ADD] = IBV_WC_FETCH_ADD,
        [OCHE_DONE_LOCAL_INV] = IBV_WC_LOCAL_INV,
        [OCHE_DONE_BIND_MW] = IBV_WC_BIND_MW,
        [OCHE_DONE_RECV] = IBV_WC_RECV,
        [OCHE_DONE_RECV_INV] = IBV_WC_RECV,
        [OCHE_DONE_RECV_WRITE_IMM] = IBV_WC_RECV_RDMA_WITH_IMM,
    };

    return opcode < OCHE_COUNT_OF(names) ? names[opcode] : IBV_WC_SEND;
}

/* ---- creation and destruction ---- */

static uint32_t power_of_two_from(uint32_t count)
{
    uint32_t power = 1;

    while (power < count)
        power *= 2;
    return power;
}

struct oche_cq *ov_ring_create(uint32_t entries, struct ov_cq *owner)
{
    const size_t bytes = OCHE_CACHE_LINE + oche_cq_bytes(entries);
    uint8_t *memory = aligned_alloc(OCHE_CACHE_LINE, oche_lines(bytes));

    if (memory == NULL)
        return NULL;
    memcpy(memory, &owner, sizeof(owner));
    return oche_cq_create(memory + OCHE_CACHE_LINE, entries);
}

void ov_ring_destroy(struct oche_cq *ring)
{
    free((uint8_t *)ring - OCHE_CACHE_LINE);
}

struct ov_cq *ov_ring_owner(const struct oche_cq *ring)
{
    struct ov_cq *owner;

    memcpy(&owner, (const uint8_t *)ring - OCHE_CACHE_LINE, sizeof(owner));
    return owner;
}

static struct ov_cq *create(struct ibv_context *context, const struct ibv_cq_init_attr_ex *attr)
{
    struct ov_channel *channel = (struct ov_channel *)(void *)attr->channel;
    struct ov_cq *cq;
    int error;

    if (attr->cqe < 1 || attr->cqe > OV_MAX_CQE || attr->comp_vector != 0 ||
        (channel != NULL && channel->channel.context != context))
        return ov_null(EINVAL);
    error = ov_refuses(ov_port_of(context), OCHE_CALL_CREATE_CQ);
    if (error != 0)
        return ov_null(error);
    cq = calloc(1, sizeof(*cq));
    if (cq == NULL)
        return ov_null(ENOMEM);
    cq->port = ov_port_of(context);
    cq->cq.cqe = (int)(cq->port->strict ? attr->cqe : power_of_two_from(attr->cqe));
    cq->ring = ov_ring_create(power_of_two_from(attr->cqe), cq);
    if (cq->ring == NULL) {
        free(cq);
        return ov_null(ENOMEM);
    }
    cq->cq.context = context;
    cq->cq.channel = attr->channel;
    cq->cq.cq_context = attr->cq_context;
    pthread_mutex_init(&cq->cq.mutex, NULL);
    pthread_cond_init(&cq->cq.cond, NULL);
    pthread_mutex_init(&cq->poll_lock, NULL);
    cq->single_threaded = (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS) != 0 &&
                          (attr->flags & IBV_CREATE_CQ_ATTR_SINGLE_THREADED) != 0;
    cq->datagram_sl = CAME_WITH_UDP |
                      (oche_address_is_ipv4(&cq->port->address) ? CAME_WITH_IPV4 : CAME_WITH_IPV6);
    cq->context = ov_context_take(context);
    if (channel != NULL) {
        pthread_mutex_lock(&channel->lock);
        channel->channel.refcnt++;
        pthread_mutex_unlock(&channel->lock);
    }
    return cq;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
                             struct ibv_comp_channel *channel, int comp_vector)
{
    OV_PASS_ON(context->device, ibv_create_cq, context, cqe, cq_context, channel, comp_vector);

    const struct ibv_cq_init_attr_ex attr = {.cqe = cqe < 1 ? 0 : (uint32_t)cqe,
                                             .cq_context = cq_context,
                                             .channel = channel,
                                             .comp_vector = (uint32_t)comp_vector};
    struct ov_cq *cq = create(context, &attr);

    return cq != NULL ? &cq->cq : NULL;
}

struct ibv_cq_ex *ov_create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr)
{
    const uint64_t flags = IBV_WC_STANDARD_FLAGS | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP |
                           IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK;
    const uint32_t masks = IBV_CQ_INIT_ATTR_MASK_FLAGS | IBV_CQ_INIT_ATTR_MASK_PD;
    struct ov_cq *cq;

    if ((attr->comp_mask & ~masks) != 0 || (attr->wc_flags & ~flags) != 0)
        return ov_null(EOPNOTSUPP);
    if ((attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS) != 0 &&
        (attr->flags & ~(uint32_t)IBV_CREATE_CQ_ATTR_SINGLE_THREADED) != 0)
        return ov_null(EOPNOTSUPP); /* an overrun is never ignored */
    if ((attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_PD) != 0 &&
        (attr->parent_domain == NULL || ov_pd_of(attr->parent_domain)->extends == NULL ||
         attr->parent_domain->context != context))
        return ov_null(EINVAL);
    cq = create(context, attr);
    if (cq == NULL)
        return NULL;
    if ((attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_PD) != 0) {
        cq->parent = ov_pd_of(attr->parent_domain);
        atomic_fetch_add(&cq->parent->users, 1);
    }
    ov_cq_ex_init(cq);
    return &cq->ex;
}

int ibv_destroy_cq(struct ibv_cq *cq)
{
    OV_PASS_ON(cq->context->device, ibv_destroy_cq, cq);

    struct ov_cq *own = ov_cq_of(cq);
    struct ov_context *context = own->context;

    if (ov_foreign(own->port))
        return EPERM;
    if (atomic_load(&own->users) > 0)
        return EBUSY;
    ov_channel_forget(own);
    ov_async_forget_cq(own);
    if (own->parent != NULL)
        atomic_fetch_sub(&own->parent->users, 1);
    ov_ring_destroy(own->ring);
    free(own->resized);
    pthread_mutex_destroy(&own->poll_lock);
    free(own);
    ov_context_release(context);
    return 0;
}

/*
 * Moves the ring to other memory, while the thread that polls and the thread that fills the ring
 * are locked out. Returns false if the ring's contents do not fit.
 */
static bool move_ring(struct ov_cq *cq, void *memory, uint32_t entries, int cqe)
{
    bool moved;

    if (!cq->single_threaded)
        pthread_mutex_lock(&cq->poll_lock);
    oche_device_lock(cq->port->device);
    moved = oche_cq_resize(cq->ring, memory, entries);
    oche_device_unlock(cq->port->device);
    if (moved) {
        free(cq->resized);
        cq->resized = memory;
        cq->cq.cqe = cqe;
    }
    if (!cq->single_threaded)
        pthread_mutex_unlock(&cq->poll_lock);
    return moved;
}

int ibv_resize_cq(struct ibv_cq *cq, int cqe)
{
    OV_PASS_ON(cq->context->device, ibv_resize_cq, cq, cqe);

    struct ov_cq *own = ov_cq_of(cq);
    uint32_t entries;
    void *memory;

    if (cqe < 1 || cqe > OV_MAX_CQE)
        return EINVAL;
    if (ov_gone(own->port) != 0)
        return ov_gone(own->port);
    /* there must also be room for the completions of work that an adapter would have done by now */
    oche_device_progress_in_turn(own->port->device);
    entries = power_of_two_from((uint32_t)cqe);
    memory = malloc(oche_cq_entries_bytes(entries));
    if (memory == NULL)
        return ENOMEM;
    if (move_ring(own, memory, entries, own->port->strict ? cqe : (int)entries))
        return 0;
    free(memory);
    return EINVAL; /* the ring already holds more completions than that */
}

void ov_cq_error(void *context, struct oche_cq *ring)
{
    struct ov_cq *own = ov_ring_owner(ring);
    const struct ibv_async_event event = {.element.cq = &own->cq, .event_type = IBV_EVENT_CQ_ERR};

    (void)context;
    ov_async_push(own->context, &event);
}

/* Events are never moderated, so a request for no moderation is accepted. */
int ov_modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr)
{
    (void)cq;
    if ((attr->attr_mask & ~(uint32_t)IBV_CQ_ATTR_MODERATE) != 0)
        return EINVAL;
    if (attr->attr_mask == 0 || attr->moderate.cq_count <= 1 || attr->moderate.cq_period == 0)
        return 0;
    return EOPNOTSUPP;
}

/* ---- polling ---- */

/*
 * Called after many polls without a completion: spins, yields the processor or sleeps, as OCHE_POLL
 * says. Returns the number of completions that have arrived in that time.
 */
static unsigned idle(struct ov_cq *cq, uint32_t since, struct oche_completion *done, unsigned max)
{
    unsigned count;

    if (cq->port->poll == OV_POLL_BUSY)
        return 0;
    if (cq->port->poll == OV_POLL_ADAPTIVE) {
        const oche_time before = oche_device_now(cq->port->device);

        sched_yield(); /* the peer may be a process on this processor */
        oche_poll_yield_done(&cq->poll_yield, oche_device_now(cq->port->device) - before);
        return 0;
    }
    /* So either the port's thread sees that we sleep, or we see its work. */
    atomic_fetch_add(&cq->port->sleepers, 1);
    count = oche_cq_poll(cq->ring, done, max);
    if (count == 0)
        oche_device_wait(cq->port->device, since, LONGEST_SLEEP);
    atomic_fetch_sub(&cq->port->sleepers, 1);
    return count;
}

/*
 * True if the only completion should wait for the peer's answer (device/verbs/uc_delay.h). It does
 * not wait if a thread sleeps until an event of the queue.
 */
static bool waits_for_answer(struct ov_cq *cq)
{
    const bool waited = cq->uc_delay.until != 0;
    const struct oche_completion *first;
    struct oche_uc_counts counts;
    oche_time now;
    uint32_t count;

    if (atomic_load_explicit(&cq->unreliable, memory_order_relaxed) !=
            atomic_load_explicit(&cq->users, memory_order_relaxed) ||
        cq->cq.channel != NULL)
        return false;
    first = oche_cq_peek(cq->ring, &count);
    if (count != 1 || first->status != OCHE_STATUS_SUCCESS ||
        (first->opcode != OCHE_DONE_SEND && first->opcode != OCHE_DONE_WRITE))
        return false;
    counts = oche_device_uc_counts(cq->port->device);
    now = oche_device_now(cq->port->device);
    if (!waited && first->time + OCHE_UC_DELAY < now)
        return false; /* the program did not poll while the answer could have come */
    if (oche_uc_delay_waits(&cq->uc_delay, &counts, now))
        return true;
    if (waited && cq->uc_delay.misses == 0)
        atomic_store_explicit(&cq->port->answered, true, memory_order_relaxed);
    return false;
}

/* As oche_cq_poll, but returns none while a completion waits for the peer's answer. */
static unsigned poll_ring(struct ov_cq *cq, struct oche_completion *done, unsigned max)
{
    if (OCHE_UNLIKELY(atomic_load_explicit(&cq->unreliable, memory_order_relaxed) > 0) &&
        waits_for_answer(cq))
        return 0;
    return oche_cq_poll(cq->ring, done, max);
}

unsigned ov_cq_take(struct ov_cq *cq, struct oche_completion *done, unsigned max)
{
    const uint32_t since = oche_device_events(cq->port->device);
    unsigned count = poll_ring(cq, done, max);
    bool packets;

    /*
     * If the queue has a channel, a poll that finds completions makes no progress. With progress, a
     * thread that has armed the queue would also poll the new completions, and their event would
     * wake it for nothing.
     */
    if (count > 0 && (cq->cq.channel != NULL || ++cq->since_progress < POLLS_PER_PROGRESS))
        return count;
    cq->since_progress = 0;
    packets = ov_port_progress(cq->port) > 0;
    if (count == 0)
        count = poll_ring(cq, done, max);
    if (oche_poll_yield_due(&cq->poll_yield, packets) && count == 0)
        count = idle(cq, since, done, max);
    return count;
}

void ov_cq_forget_qp(struct ov_cq *cq, uint32_t qpn)
{
    if (!cq->single_threaded)
        pthread_mutex_lock(&cq->poll_lock);
    oche_device_lock(cq->port->device);
    oche_cq_forget(cq->ring, qpn);
    oche_device_unlock(cq->port->device);
    if (!cq->single_threaded)
        pthread_mutex_unlock(&cq->poll_lock);
}

/* Only a datagram's completion has a source queue pair, and a GRH. */
unsigned int ov_wc_flags_of(const struct oche_completion *done)
{
    if (done->opcode == OCHE_DONE_RECV_INV)
        return IBV_WC_WITH_INV;
    return (done->has_imm ? IBV_WC_WITH_IMM : 0u) | (done->src_qpn != 0 ? IBV_WC_GRH : 0u);
}

/*
 * Returns the value of the service-level field. We have no service levels. For a datagram, other
 * devices store the kind of its headers in this field (RoCEv2, A17.4.5.1), and programs read that.
 */
uint8_t ov_sl_of(const struct ov_cq *cq, const struct oche_completion *done)
{
    return done->src_qpn != 0 ? cq->datagram_sl : 0;
}

uint32_t ov_vendor_err(const struct oche_completion *done)
{
    if (OCHE_LIKELY(done->status == OCHE_STATUS_SUCCESS))
        return 0;
    return oche_vendor_error(ov_vendor_errors(), done->cause, done->status == OCHE_STATUS_FLUSHED);
}

static void fill_wc(struct ibv_wc *wc, const struct ov_cq *cq, const struct oche_completion *done)
{
    wc->wr_id = done->wr_id;
    wc->status = ov_wc_status_of(done->status);
    wc->opcode = ov_wc_opcode_of(done->opcode);
    wc->vendor_err = ov_vendor_err(done);
    wc->byte_len = done->bytes;
    if (OCHE_UNLIKELY(done->opcode == OCHE_DONE_RECV_INV))
        wc->invalidated_rkey = done->imm;
    else
        wc->imm_data = done->has_imm ? htonl(done->imm) : 0;
    wc->qp_num = done->qpn;
    wc->src_qp = done->src_qpn;
    wc->wc_flags = ov_wc_flags_of(done);
    wc->pkey_index = 0;
    wc->slid = 0;
    wc->sl = ov_sl_of(cq, done);
    wc->dlid_path_bits = 0;
}

int ov_poll_cq(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc)
{
    struct ov_cq *own = ov_cq_of(cq);
    struct oche_completion done[BATCH];
    int total = 0;

    if (OCHE_UNLIKELY(ov_foreign(own->port)))
        return -1;
    if (!own->single_threaded)
        pthread_mutex_lock(&own->poll_lock);
    while (total < num_entries) {
        const int left = num_entries - total;
        const unsigned max = left < BATCH ? (unsigned)left : BATCH;
        const unsigned count =
            total == 0 ? ov_cq_take(own, done, max) : oche_cq_poll(own->ring, done, max);

        for (unsigned i = 0; i < count; i++)
            fill_wc(&wc[total++], own, &done[i]);
        if (OCHE_UNLIKELY(own->port->strict))
            ov_strict_polled(own, done, count);
        if (count < max)
            break;
    }
    if (OCHE_UNLIKELY(total == 0 && oche_cq_overflowed(own->ring)))
        total = -1;
    if (!own->single_threaded)
        pthread_mutex_unlock(&own->poll_lock);
    return total;
}

int ov_req_notify_cq(struct ibv_cq *cq, int solicited_only)
{
    struct ov_cq *own = ov_cq_of(cq);
    const struct ov_channel *channel = (const struct ov_channel *)(const void *)cq->channel;

    if (OCHE_UNLIKELY(ov_gone(own->port) != 0))
        return ov_gone(own->port);
    oche_cq_arm(own->ring, solicited_only != 0);
    if (channel != NULL && !channel->sleeps_here)
        ov_port_call_thread(own->port);
    return 0;
}
