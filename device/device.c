/* SPDX-License-Identifier: Apache-2.0 */
/* A device: opening and closing, the lock, progress, and waiting. */
#include "device/device.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "core/wire/frame.h"
#include "device/host/pages.h"
#include "device/internal.h"
#include "device/path/crc.h"
#include "params/error.h"

#define DEFAULT_OBJECTS        1024
#define DEFAULT_RECEIVE_BUFFER (UINT32_C(8) << 20)
#define DEFAULT_SOURCE_PORTS   4
#define FIRST_QPN              UINT32_C(0x11) /* 0 and 1 are reserved by the standard */
#define FIRST_REGIONS          256            /* room for so many regions, before it grows */
#define SHORTEST_MTU           64
#define LONGEST_MTU            9000
#define MOST_AHEAD             32768 /* PSNs: 32 MB outstanding at an MTU of 1 KB */
#define MOST_REPEATS           64    /* of a READ; verbs allow 7 */
#define MOST_FULL_RECEIVES     64    /* in a row; then timers run anyway */
#define SETTLE                 (10 * OCHE_MS)
#define FIRST_MEETING          (10 * OCHE_MS) /* waits for processes that restore their names … */
#define LAST_MEETING           (640 * OCHE_MS) /* … each twice as long: 1.3 s together */
#define NAMES_CHECK            (200 * OCHE_MS) /* between two looks for names that were lost */
/* do not sleep for less than this, since sleeping may take longer */
#define SHORT_WAIT (50 * OCHE_US)
/* On a slow line a whole datagram is a long time: so far ahead of its time no packet may leave. */
#define LONGEST_BURST SHORT_WAIT
/*
 * Longest time to send the last packets when the process ends. A process that gets no processor
 * time makes at least this number of rounds, as long as there is work.
 */
#define FINISH        (2 * OCHE_MS)
#define FINISH_ROUNDS 32
/* longest time for packets that are on links, when the process ends or closes the device */
#define LINK_FINISH (10 * OCHE_SEC)
#define LINK_NAP    (50 * OCHE_US)
/* after this time, passing on is tried again (sharing.h) */
#define QUEUE_RETRY (200 * OCHE_US)

/* ---- opening ---- */

static uint32_t or_default(uint32_t value, uint32_t preset)
{
    return value != 0 ? value : preset;
}

static void fill_defaults(struct oche_device_config *config)
{
    config->port = (uint16_t)or_default(config->port, OCHE_ROCE_UDP_PORT);
    config->mtu_bytes = or_default(config->mtu_bytes, 4096);
    config->max_qps = or_default(config->max_qps, DEFAULT_OBJECTS);
    config->max_regions = or_default(config->max_regions, DEFAULT_OBJECTS);
    config->max_peers = or_default(config->max_peers, DEFAULT_OBJECTS);
    config->source_ports = or_default(config->source_ports, DEFAULT_SOURCE_PORTS);
    if (config->line_rate_bps == 0)
        config->line_rate_bps = 100 * OCHE_GBPS;
    if (config->cc == NULL)
        config->cc = oche_cc_find("none");
    if (config->cc_params == NULL)
        config->cc_free = UINT64_MAX;
    if (config->recovery == NULL)
        config->recovery = oche_recovery_find("go_back_n");
}

/* Copies a scheme's parameters, the given ones or the defaults, to memory of our own. */
static void *copy_params(const struct oche_param_table *table, const void *given)
{
    void *copy = calloc(1, table->struct_bytes + 1); /* a table may be empty */

    if (copy == NULL)
        return NULL;
    if (given != NULL)
        memcpy(copy, given, table->struct_bytes);
    else
        oche_param_defaults(table, copy);
    return copy;
}

static bool check(struct oche_device *device, struct oche_error *error)
{
    const struct oche_device_config *config = &device->config;
    const char *wrong;

    if (config->address == NULL || !oche_address_parse(config->address, &device->address))
        return oche_fail(error, "%s: not an IP address; 192.0.2.1 or 2001:db8::1 is",
                         config->address != NULL ? config->address : "(none)");
    if (!oche_address_is_unicast(&device->address))
        return oche_fail(error, "%s: one address of this host is needed, the ICRC covers it",
                         config->address);
    if (config->mtu_bytes < SHORTEST_MTU || config->mtu_bytes > LONGEST_MTU)
        return oche_fail(error, "%s: MTU of %u bytes; %u to %u are possible", config->address,
                         config->mtu_bytes, SHORTEST_MTU, LONGEST_MTU);
    if (config->source_ports > OCHE_MAX_SOURCE_PORTS)
        return oche_fail(error, "%s: %u source ports; 1 to %u are possible", config->address,
                         config->source_ports, OCHE_MAX_SOURCE_PORTS);
    if (!device_suits_paths(config, error))
        return false;
    if (!config->cc->runs_on_wire)
        return oche_fail(error, "%s: %s needs switches that no network has", config->address,
                         config->cc->name);
    if (config->cc->check != NULL && (wrong = config->cc->check(device->cc_params)) != NULL)
        return oche_fail(error, "%s: %s: %s", config->address, config->cc->name, wrong);
    return true;
}

/* True if the device has a slot. A device that could not share its address has the first. */
static bool has_slot(const struct oche_device *device)
{
    return device->config.share || device->sharing_error.text[0] != '\0';
}

static bool create_nic(struct oche_device *device) OCHE_NEEDS(device_lock)
{
    const struct oche_device_config *config = &device->config;
    const struct oche_nic_config nic = {
        .address = 0,
        .shared_addresses = device_incast_numbers(config),
        .line_rate_bps = config->line_rate_bps,
        .gap_bytes = OCHE_GAP_BYTES,
        .ipv6 = device->socket.ipv6,
        .control_class = CONTROL_CLASS,
        .measures_rtt = device->tuning_at != OCHE_NEVER,
        .max_qps = config->max_qps,
        .max_regions = config->max_regions < FIRST_REGIONS ? config->max_regions : FIRST_REGIONS,
        .ecn_threshold_bytes = OCHE_NEVER,
        .habits = &device->habits,
        .most_repeats = MOST_REPEATS,
        .most_ahead = MOST_AHEAD,
        .peer_qpn_bits = has_slot(device) ? OCHE_SLOT_BITS : 0,
        .seed = oche_entropy_u64(&device->entropy),
        .cc = config->cc,
        .cc_params = device->cc_params,
        .recovery = config->recovery,
        .recovery_params = device->recovery_params,
        .spread = device_spreading(config),
        .port = &device_port,
        .port_context = device,
        .trace = &device->trace,
    };
    void *memory = oche_pages_take(oche_nic_bytes(&nic));

    if (memory == NULL)
        return false;
    device->nic_bytes = oche_nic_bytes(&nic);
    device->nic = oche_nic_create(memory, &nic);
    return true;
}

/* Determines our range of queue pair numbers. Returns false if memory is out. */
static bool create_numbers(struct oche_device *device) OCHE_NEEDS(device_lock)
{
    uint32_t first = FIRST_QPN, last = OCHE_PSN_MASK;

    if (has_slot(device)) {
        first = (uint32_t)device->share.slot << OCHE_SLOT_SHIFT;
        last = first + (UINT32_C(1) << OCHE_SLOT_SHIFT) - 1;
        if (first < FIRST_QPN)
            first = FIRST_QPN;
    }
    return oche_qp_numbers_create(&device->numbers, first, last);
}

static bool has_entropy(const struct oche_device *device, struct oche_error *error)
    OCHE_NEEDS(device_lock)
{
    if (!device->entropy.failed)
        return true;
    return oche_fail(error, "%s: the kernel gives no random numbers (getrandom): %s",
                     device->config.address, strerror(device->entropy.error));
}

/*
 * Takes a slot. Without a folder for names the device cannot share its address, and
 * `device->sharing_error` gives the reason.
 */
static bool take_slot(struct oche_device *device, struct oche_error *error)
{
    struct oche_error why;

    switch (oche_sharing_open(&device->share, &device->address, device->config.port,
                              &device->entropy, &why)) {
    case OCHE_SHARING_OPEN:
        return true;
    case OCHE_SHARING_ALONE:
        device->config.share = false;
        device->sharing_error = why;
        return true;
    default:
        return oche_fail(error, "%s: %s", device->config.address, why.text);
    }
}

static bool open_socket(struct oche_device *device, struct oche_error *error)
    OCHE_NEEDS(device_lock)
{
    const struct oche_device_config *config = &device->config;
    const struct oche_socket_options options = {
        .shared = config->share,
        .no_gso = config->no_gso,
        .no_gro = config->no_gro,
        .buffer_bytes = or_default(config->receive_buffer_bytes, DEFAULT_RECEIVE_BUFFER)};
    struct oche_error why;

    device_senders_open(device);
    if (oche_socket_open(&device->socket, &device->address, config->port, &options, &why))
        return true;
    if (errno == EADDRINUSE && device->sharing_error.text[0] != '\0')
        oche_fail(error,
                  "%s: %s, and this process cannot share it: that takes a folder of this user's "
                  "alone (%s)",
                  config->address, why.text, device->sharing_error.text);
    else
        oche_fail(error, "%s: %s", config->address, why.text);
    return false;
}

static bool create_parts(struct oche_device *device, struct oche_error *error)
    OCHE_NEEDS(device_lock)
{
    const struct oche_device_config *config = &device->config;

    if (!has_entropy(device, error))
        return false;
    /* The slot comes first: a process without one must not receive packets of other processes. */
    if (config->share && !take_slot(device, error))
        return false;
    if (!open_socket(device, error))
        return false;
    if (config->share &&
        !oche_sharing_join(&device->share, device->socket.fd, oche_clock_now(&device->clock)))
        return oche_fail(error, "%s: the kernel cannot steer packets: %s", config->address,
                         strerror(errno));
    oche_source_ports_open(&device->source_ports, &device->socket, &device->address, device->port,
                           config->source_ports, &device->entropy);
    device->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (device->wake_fd < 0)
        return oche_fail(error, "%s: no event descriptor: %s", config->address, strerror(errno));
    if (!oche_peers_create(&device->peers, config->max_peers) || !create_numbers(device) ||
        !transmit_create(device) || !create_nic(device))
        return oche_fail(error, "%s: out of memory", config->address);
    if (!has_entropy(device, error)) /* again: the parts may have used up the first block */
        return false;
    device->peers.busy = transmit_has_packets_for;
    device->peers.busy_context = device;
    return device_faults_open(device, error) && device_add_peers(device, error);
}

/*
 * Gives the other processes of our address time to learn of us, so that they pass on our first
 * packets. Waits for their answers, SETTLE at most.
 */
static void settle(struct oche_device *device) OCHE_NEEDS(device_lock)
{
    const oche_time end = oche_clock_now(&device->clock) + SETTLE;
    oche_time now;
    struct pollfd fds[2] = {{.fd = device->socket.fd, .events = POLLIN},
                            {.fd = device->share.fd, .events = POLLIN}};

    while (!oche_sharing_settled(&device->share) && oche_clock_now(&device->clock) < end) {
        poll(fds, 2, 1);
        atomic_store_explicit(&device->share_waiting, true, memory_order_relaxed);
        device_receive(device, &now);
    }
}

/*
 * Opens the capture after the other processes have answered. Returns false, with a line in `error`,
 * on failure; *hidden: because a process of the address has no name that we can see.
 */
static bool finish_opening(struct oche_device *device, struct oche_error *error, bool *hidden)
    OCHE_NEEDS(device_lock)
{
    const struct oche_device_config *config = &device->config;

    if (config->share)
        settle(device);
    *hidden = config->share && oche_sharing_has_hidden(&device->share);
    if (*hidden) {
        oche_fail(error,
                  "%s: UDP port %u: another process of this user has it and cannot be met in %.*s: "
                  "in another container it needs this one's /dev/shm, and the same version of oche",
                  config->address, config->port,
                  (int)(strrchr(device->share.names.path, '/') - device->share.names.path),
                  device->share.names.path);
        errno = EADDRINUSE;
        return false;
    }
    if (config->capture == NULL)
        return true;
    device->capture =
        oche_capture_open(config->capture, &device->address, oche_clock_now(&device->clock), error);
    return device->capture != NULL;
}

/* No other thread has the device any more. */
OCHE_UNCHECKED static bool destroy(struct oche_device *device)
{
    const bool whole = device->capture == NULL || oche_capture_close(device->capture);

    objects_destroy(device);
    oche_pages_free(device->nic, device->nic_bytes);
    oche_pages_free(device->regions, device->regions_bytes);
    transmit_destroy(device);
    oche_peers_destroy(&device->peers);
    oche_qp_numbers_destroy(&device->numbers);
    if (device->wake_fd >= 0)
        close(device->wake_fd);
    oche_source_ports_close(&device->source_ports);
    oche_socket_close(&device->socket);
    oche_services_clear(&device->services, &device->share);
    device_faults_close(device);
    oche_sharing_close(&device->share);
    free(device->cc_params);
    free(device->recovery_params);
    free(device->incast);
    pthread_mutex_destroy(&device->lock.mutex);
    free(device);
    return whole;
}

/*
 * Like oche_device_open; *hidden: see finish_opening. No other thread has the device yet, so no
 * lock is taken.
 */
OCHE_UNCHECKED static struct oche_device *try_to_open(const struct oche_device_config *config,
                                                      struct oche_error *error, bool *hidden)
{
    const size_t bytes = oche_lines(sizeof(struct oche_device));
    struct oche_device *device = aligned_alloc(OCHE_CACHE_LINE, bytes);
    int why;

    errno = 0;
    if (device == NULL) {
        oche_fail(error, "out of memory");
        return NULL;
    }
    memset(device, 0, bytes);
    device->socket.fd = device->wake_fd = device->share.fd = -1;
    device->share.senders.fd = device->share.names.file = -1;
    oche_device_watch(device, -1, -1);
    device->config = *config;
    device->paces = config->line_rate_bps != 0;
    fill_defaults(&device->config);
    device->port = device->config.port;
    device->burst = oche_time_min(
        LONGEST_BURST, oche_time_of_bytes(OCHE_SOCKET_BYTES, device->config.line_rate_bps));
    device->crc32 = oche_crc_choose(NULL);
    oche_entropy_init(&device->entropy, config->entropy, config->entropy_context);
    pthread_mutex_init(&device->lock.mutex, NULL);
    device->ack_delay.longest = OCHE_ACK_DELAY;
    oche_clock_start(&device->clock);
    oche_trace_init(&device->trace, 0, device->trace_ring, OCHE_COUNT_OF(device->trace_ring));
    oche_param_defaults(&oche_nic_habits_table, &device->habits);
    if (config->habits != NULL)
        device->habits = *config->habits;
    device->config.habits = &device->habits;
    device->cc_params = copy_params(&device->config.cc->table, config->cc_params);
    device->recovery_params = copy_params(&device->config.recovery->table, config->recovery_params);
    if (device->cc_params != NULL)
        device_tune_at_open(device);
    if (device->recovery_params != NULL && device->config.recovery->fit != NULL)
        device->config.recovery->fit(device->recovery_params, &(struct oche_recovery_network){0});
    if (device->cc_params == NULL || device->recovery_params == NULL)
        oche_fail(error, "out of memory");
    else if (check(device, error) && create_parts(device, error) &&
             finish_opening(device, error, hidden))
        return device;
    why = errno;
    destroy(device);
    errno = why;
    return NULL;
}

struct oche_device *oche_device_open(const struct oche_device_config *config,
                                     struct oche_error *error)
{
    bool hidden = false;
    struct oche_device *device = try_to_open(config, error, &hidden);

    for (oche_time wait = FIRST_MEETING; device == NULL && hidden && wait <= LAST_MEETING;
         wait *= 2) {
        /* until the other process ends, or restores its names */
        if (config->wait != NULL)
            config->wait(config->context, wait);
        else
            oche_clock_sleep(wait);
        hidden = false;
        device = try_to_open(config, error, &hidden);
    }
    return device;
}

/* In a forked child nobody else has the device. */
OCHE_UNCHECKED void oche_device_leave(struct oche_device *device)
{
    close(device->wake_fd);
    oche_source_ports_close(&device->source_ports);
    close(device->socket.fd);
    oche_sharing_leave(&device->share);
    oche_links_leave(device->links);
    if (device->capture != NULL)
        oche_capture_leave(device->capture);
}

const char *oche_device_capture(const struct oche_device *device)
{
    return device->capture != NULL ? oche_capture_path(device->capture) : NULL;
}

/* No other thread has the device any more. */
OCHE_UNCHECKED bool oche_device_close(struct oche_device *device)
{
    if (device->links != NULL)
        device_links_finish(device, LINK_FINISH);
    return destroy(device);
}

/* ---- the lock ---- */

OCHE_UNCHECKED void oche_device_lock(struct oche_device *device)
{
    oche_critical_enter();
    atomic_fetch_add_explicit(&device->lock_wanted, 1, memory_order_relaxed);
    oche_lock_take(&device->lock);
    atomic_fetch_sub_explicit(&device->lock_wanted, 1, memory_order_relaxed);
}

OCHE_UNCHECKED bool oche_device_lock_within(struct oche_device *device, const struct timespec *end)
{
    bool locked;

    oche_critical_enter();
    atomic_fetch_add_explicit(&device->lock_wanted, 1, memory_order_relaxed);
    locked = oche_lock_take_until(&device->lock, end);
    atomic_fetch_sub_explicit(&device->lock_wanted, 1, memory_order_relaxed);
    if (!locked)
        oche_critical_leave();
    return locked;
}

OCHE_UNCHECKED void oche_device_unlock(struct oche_device *device)
{
    if (OCHE_UNLIKELY(device->completed)) {
        device->completed = false;
        if (device->config.completion_events_over != NULL)
            device->config.completion_events_over(device->config.context);
        oche_device_wake(device);
    }
    if (OCHE_UNLIKELY(device->capture != NULL))
        oche_capture_flush(device->capture);
    oche_lock_release(&device->lock);
    oche_critical_leave();
}

/* Takes the lock if it is free. Returns false if another thread has it. */
OCHE_UNCHECKED static bool try_lock(struct oche_device *device) OCHE_TRIES(device_lock)
{
    oche_critical_enter();
    if (pthread_mutex_trylock(&device->lock.mutex) == 0)
        return true;
    oche_critical_leave();
    return false;
}

struct oche_nic *oche_device_nic(struct oche_device *device)
{
    return device->nic;
}

oche_time oche_device_now(const struct oche_device *device)
{
    return oche_clock_now(&device->clock);
}

/* ---- progress ---- */

/* Returns the time of the next timer or packet. Called under the lock. */
static oche_time next_due(struct oche_device *device) OCHE_NEEDS(device_lock)
{
    const oche_time link = device_faults_next(device);

    if (transmit_full(device) != 0) /* packets wait until a socket has room */
        return oche_time_min(
            link, oche_time_min(oche_nic_next_timer(device->nic), transmit_give_up_at(device)));
    return oche_time_min(link, transmit_due(device));
}

/*
 * True if sleepers must be woken, because a timer was set or a socket became full after they went
 * to sleep.
 */
static bool sleepers_should_know(struct oche_device *device, uint64_t full) OCHE_NEEDS(device_lock)
{
    return atomic_load_explicit(&device->waiting, memory_order_relaxed) > 0 &&
           (next_due(device) < device->waiting_until || (transmit_full(device) & ~full) != 0);
}

/*
 * True if timers may expire. After the process was stopped, an ACK may wait in the socket behind
 * the datagrams received so far; a retransmission would then be wasted. Continuous arrivals delay
 * timers only for MOST_FULL_RECEIVES receives.
 */
static bool timers_may_run(const struct oche_device *device) OCHE_NEEDS(device_lock)
{
    return device->full_receives % MOST_FULL_RECEIVES == 0;
}

/*
 * Restores our names if they were removed, and checks for processes that have ended. Called under
 * the lock.
 */
static void restore_names(struct oche_device *device, oche_time now) OCHE_NEEDS(device_lock)
{
    device->names_check_at = device->share.fd >= 0 ? now + NAMES_CHECK : OCHE_NEVER;
    if (device->share.fd < 0)
        return;
    if (oche_sharing_restore_names(&device->share, now))
        oche_services_take_again(&device->services, &device->share);
    oche_sharing_check_neighbours(&device->share, now);
}

/* Receives, runs timers and sends. Returns the number of packets. Called under the lock. */
static unsigned advance(struct oche_device *device) OCHE_NEEDS(device_lock)
{
    const uint64_t full = transmit_full(device);
    unsigned packets = 0;
    oche_time now;

    if (atomic_load_explicit(&device->posted, memory_order_relaxed)) {
        atomic_store_explicit(&device->posted, false, memory_order_relaxed);
        packets = device_transmit(device, oche_clock_now(&device->clock));
    }
    packets += device_receive(device, &now);
    atomic_store_explicit(&device->progressed, now, memory_order_relaxed);
    if (oche_nic_next_timer(device->nic) <= now && timers_may_run(device))
        oche_nic_expire(device->nic, now);
    if (device->share.senders.fd >= 0)
        device_senders_update(device, now);
    if (OCHE_UNLIKELY(device->names_check_at <= now))
        restore_names(device, now);
    if (OCHE_UNLIKELY(device->tuning_at <= now))
        device_tune(device, now);
    packets += device_transmit(device, now);
    if (sleepers_should_know(device, full))
        device_ring(device);
    return packets;
}

void oche_device_restore_names(struct oche_device *device)
{
    oche_device_lock(device);
    restore_names(device, oche_clock_now(&device->clock));
    oche_device_unlock(device);
}

static unsigned progress(struct oche_device *device, bool aside)
{
    unsigned packets;

    /* A thread that waits for the lock goes first: threads that poll would never let it in. */
    if (atomic_load_explicit(&device->lock_wanted, memory_order_relaxed) > 0) {
        sched_yield();
        return 0;
    }
    if (!try_lock(device))
        return 0;
    device->checks_writes = aside;
    packets = advance(device);
    oche_device_unlock(device);
    return packets;
}

unsigned oche_device_progress(struct oche_device *device)
{
    return progress(device, false);
}

unsigned oche_device_progress_in_turn(struct oche_device *device)
{
    unsigned packets;

    oche_device_lock(device);
    device->checks_writes = false;
    packets = advance(device);
    oche_device_unlock(device);
    return packets;
}

unsigned oche_device_progress_checked(struct oche_device *device)
{
    return progress(device, true);
}

void device_settle(struct oche_device *device)
{
    /* as the object goes, its memory may be gone already: UCX frees buffers that are posted */
    device->checks_writes = true;
    oche_ack_delay_end(&device->ack_delay, device->ack_delay.off);
    advance(device);
}

void oche_device_finish(struct oche_device *device)
{
    oche_time end = oche_clock_now(&device->clock) + FINISH, now = 0;
    const oche_time last = end + LINK_FINISH;

    device->checks_writes = device->process_ends = true;
    oche_ack_delay_end(&device->ack_delay, true);
    for (unsigned rounds = 0; rounds < FINISH_ROUNDS || now < end; rounds++) {
        const bool busy = advance(device) > 0;

        now = oche_clock_now(&device->clock);
        if (device->links != NULL) { /* what has left arrives, though the process ends */
            end = oche_time_max(end, oche_time_min(oche_links_last(device->links), last));
            if (!busy && now < end)
                oche_clock_sleep(LINK_NAP);
        }
        if (!busy && (now >= end || (transmit_full(device) == 0 && next_due(device) >= end)))
            return;
    }
}

void oche_device_resume(struct oche_device *device)
{
    device->process_ends = false;
    oche_ack_delay_end(&device->ack_delay, false);
}

bool oche_device_send_posted(struct oche_device *device)
{
    if (!try_lock(device))
        return false;
    const uint64_t full = transmit_full(device);

    atomic_store_explicit(&device->posted, false, memory_order_relaxed);
    device_transmit(device, oche_clock_now(&device->clock));
    if (sleepers_should_know(device, full) &&
        ((transmit_full(device) & ~full) != 0 ||
         atomic_load_explicit(&device->waiting, memory_order_relaxed) > 1))
        device_ring(device);
    oche_device_unlock(device);
    return true;
}

oche_time oche_device_progressed(const struct oche_device *device)
{
    return atomic_load_explicit(&device->progressed, memory_order_relaxed);
}

struct oche_uc_counts oche_device_uc_counts(const struct oche_device *device)
{
    /* In this order: packets counted between the two reads came after the message. */
    const uint32_t at_send =
        atomic_load_explicit(&device->unreliable_at_send, memory_order_acquire);

    return (struct oche_uc_counts){
        .now = atomic_load_explicit(&device->unreliable_arrivals, memory_order_relaxed),
        .at_send = at_send};
}

/* ---- waiting ---- */

/*
 * A thread that is about to sleep first announces this (`waiting`) and then checks for events. A
 * thread that causes an event first counts it and then checks for sleepers. So at least one of the
 * two notices the other. wake_fd stays readable until the last sleeper has left: a sleeper that
 * read it earlier would take the wake-up from the others.
 */

void device_ring(struct oche_device *device)
{
    const uint64_t one = 1;

    /* The write fails only if wake_fd is readable already. */
    if (write(device->wake_fd, &one, sizeof(one)) < 0)
        return;
}

void oche_device_watch(struct oche_device *device, int first, int second)
{
    atomic_store_explicit(&device->watched[0], first, memory_order_relaxed);
    atomic_store_explicit(&device->watched[1], second, memory_order_relaxed);
}

uint32_t oche_device_events(const struct oche_device *device)
{
    return atomic_load_explicit(&device->events, memory_order_acquire);
}

void oche_device_wake(struct oche_device *device)
{
    atomic_fetch_add_explicit(&device->events, 1, memory_order_seq_cst);
    if (atomic_load_explicit(&device->waiting, memory_order_seq_cst) > 0)
        device_ring(device);
}

/* Begins a wait. Returns the longest time to sleep; 0: there is work to do. */
static oche_time begin_wait(struct oche_device *device, uint32_t since, uint64_t *full)
{
    oche_time due, now;

    oche_device_lock(device);
    if (atomic_fetch_add_explicit(&device->waiting, 1, memory_order_seq_cst) == 0)
        device->waiting_until = 0;
    atomic_thread_fence(memory_order_seq_cst);
    due = next_due(device);
    if (atomic_load_explicit(&device->events, memory_order_seq_cst) != since)
        due = 0;
    if (due > device->waiting_until)
        device->waiting_until = due;
    *full = transmit_full(device);
    now = oche_clock_now(&device->clock);
    if (oche_sharing_has_queued(&device->share))
        due = oche_time_min(due, now + QUEUE_RETRY);
    oche_device_unlock(device);
    if (due == OCHE_NEVER)
        return OCHE_NEVER;
    return due > now + SHORT_WAIT ? due - now : 0;
}

static void end_wait(struct oche_device *device)
{
    uint64_t rings;

    oche_device_lock(device);
    if (atomic_fetch_sub_explicit(&device->waiting, 1, memory_order_seq_cst) == 1 &&
        read(device->wake_fd, &rings, sizeof(rings)) < 0)
        rings = 0; /* nothing was written */
    oche_device_unlock(device);
}

bool oche_device_wait(struct oche_device *device, uint32_t since, oche_time timeout)
{
    bool interrupted = false;
    struct pollfd fds[5 + OCHE_MAX_SOURCE_PORTS];
    struct timespec limit;
    oche_time time;
    uint64_t full; /* one bit per port */
    nfds_t count = 5;

    time = oche_time_min(begin_wait(device, since, &full), timeout);
    fds[0] = (struct pollfd){.fd = device->socket.fd, .events = POLLIN};
    fds[1] = (struct pollfd){.fd = device->wake_fd, .events = POLLIN};
    fds[2] = (struct pollfd){.fd = device_inbox(device), .events = POLLIN}; /* poll ignores -1 */
    for (unsigned i = 0; i < 2; i++)
        fds[3 + i] =
            (struct pollfd){.fd = atomic_load_explicit(&device->watched[i], memory_order_relaxed),
                            .events = POLLIN};
    for (unsigned port = 0; port < device->source_ports.count && full >> port != 0; port++)
        if (full >> port & 1)
            fds[count++] = (struct pollfd){.fd = device->source_ports.fds[port], .events = POLLOUT};
    limit = (struct timespec){.tv_sec = (time_t)(time / OCHE_SEC),
                              .tv_nsec = (long)(time % OCHE_SEC / OCHE_NS)};
    if (time > 0)
        interrupted =
            ppoll(fds, count, time == OCHE_NEVER ? NULL : &limit, NULL) < 0 && errno == EINTR;
    if (fds[2].revents != 0)
        atomic_store_explicit(&device->share_waiting, true, memory_order_relaxed);
    end_wait(device);
    return !interrupted;
}
