/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Property: the set of senders that a Dart NIC counts follows from its trace. A few NICs send SENDs
 * and WRITEs to each other and READ from each other, on reliable and unreliable queue pairs, with
 * each recovery scheme. Some runs have no faults. In others links lose, double and reorder packets,
 * hosts crash, queue pairs fail, and connections are reset in the middle of messages. The oracle
 * below reads nothing but trace records. It agrees with the NIC at every instant. Hosts count at
 * most for the soft timeout after their last packet, and in the end none counts.
 *
 * With look-ahead first messages name lists of senders, which may be wrong. Senders come, come
 * late, come twice or never; groups overlap; first packets are lost and doubled; tenants are
 * separate (ahead_oracle.h).
 *
 * SEED=s runs this one alone. An argument: only tests that match it.
 */
#include "tests/support/seeds.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/cc/dart/dart.h"
#include "core/qp/qp_internal.h"
#include "core/wire/opcode.h"
#include "tests/property/ahead_oracle.h"

#define HOSTS       7
#define CONNECTIONS 24
#define FLIGHT      4096
#define FIRST_QPN   16
#define KEY         7
#define LINE        (25 * OCHE_GBPS)
#define SOFT        (300 * OCHE_US)
#define BUSY        (500 * OCHE_US) /* for this long work is posted and faults happen */
#define MOST_DELAY  (12 * OCHE_US)
#define AHEAD       (60 * OCHE_US) /* look-ahead's timeout */
#define TENANTS     2
#define RUNS        1000
#define NAMED       128 /* first packets that are remembered, by PSN */

/* The state of one end of a connection, from the trace. */
struct told {
    bool open;      /* a SEND or WRITE is arriving */
    uint32_t reads; /* READs that we issued and that have not completed */
    oche_time last; /* time of its last packet, or of its beginning */
    bool silent;    /* active for the soft timeout */
    bool response;  /* the last packet was READ data */
    uint32_t uc_expected;
    bool uc_begun;
    struct {
        uint32_t psn;
        uint8_t group; /* … + 1; 0: it named none */
        bool kept;     /* behind a gap, where it was announced */
    } named[NAMED];
};

struct flight {
    struct oche_packet packet;
    oche_time arrives;
    uint64_t order;
    uint32_t to, next;
};

struct host {
    struct run *run;
    struct oche_nic *nic;
    void *nic_memory;
    struct oche_cq *cq;
    void *cq_memory;
    struct oche_trace trace;
    struct oche_trace_record ring[16];
    struct told told[CONNECTIONS];
    uint32_t ends[CONNECTIONS], end_count; /* connections that we opened */
    struct announced announced[TENANTS][GROUPS];
    oche_time busy_until, last_sent[HOSTS]; /* data, by receiver */
    bool dead;
    oche_time died;
};

struct connection {
    uint32_t host[2];
    uint8_t transport, tenant;
    struct oche_qp *qp[2];
    void *memory[2];
    uint64_t posted[2]; /* receives */
};

struct run {
    uint64_t seed;
    struct oche_random random;
    oche_time now;
    bool faults, ahead;
    uint32_t tenants;
    struct list list[HOSTS][GROUPS]; /* by receiver */
    struct oche_group group[HOSTS][GROUPS];
    const struct oche_packet *arriving;
    uint64_t announcements, announced_kept, not_come;
    uint32_t host_count, connection_count;
    struct host host[HOSTS];
    struct connection connection[CONNECTIONS];
    struct flight flight[FLIGHT];
    uint32_t first, free; /* index + 1; 0: none */
    uint64_t order, checks, messages, timeouts, most;
    const struct oche_recovery_scheme *recovery;
    uint64_t recovery_params[32], cc_params[128];
};

static uint32_t below(struct run *run, uint32_t n)
{
    return (uint32_t)oche_random_below(&run->random, n);
}

/* ---- the oracle ---- */

static void begins(struct host *host, struct told *told, oche_time now)
{
    told->last = now;
    told->silent = false;
    host->run->messages++;
}

/* UC, from the packet alone: if a message lacks a packet, its rest is void. */
static void uc_arrived(struct host *host, struct told *told, const struct oche_trace_record *record)
{
    const uint32_t flags = oche_opcode((uint8_t)(record->b >> 32))->flags;
    uint32_t psn = (uint32_t)record->a;
    bool next = told->uc_begun && psn == told->uc_expected;

    if (flags & OCHE_OP_FIRST) {
        told->open = true;
        begins(host, told, record->time);
    } else if (!next || !told->open) {
        told->open = false;
        return;
    }
    told->uc_begun = true;
    told->uc_expected = oche_psn_add(psn, 1);
    if (flags & OCHE_OP_LAST)
        told->open = false;
}

/* Returns the list that the arriving packet names. */
static void note_list(struct host *host, struct told *told, uint32_t psn)
{
    const struct oche_packet *packet = host->run->arriving;
    bool names = packet != NULL && (packet->ext & OCHE_EXT_LIST);

    if (told->named[psn % NAMED].kept && told->named[psn % NAMED].psn == psn)
        return;
    told->named[psn % NAMED].kept = false;
    told->named[psn % NAMED].psn = psn;
    told->named[psn % NAMED].group = names ? (uint8_t)(oche_group_get(packet).id + 1) : 0;
}

/* A message begins with this packet, or will begin: handles the senders that it announces. */
static void hear_list(struct host *host, const struct told *told, uint32_t number, uint32_t psn,
                      bool begins)
{
    struct run *run = host->run;
    const struct connection *c = &run->connection[number];
    uint32_t self = (uint32_t)(host - run->host), from = c->host[c->host[0] == self];
    uint32_t group = told->named[psn % NAMED].group;

    if (group == 0 || told->named[psn % NAMED].psn != psn)
        return;
    struct announced *a = &host->announced[c->tenant][group - 1];
    run->announcements++;
    run->announced_kept += !begins;
    if (begins && told->named[psn % NAMED].kept)
        member_begins(a, from);
    else
        announce(a, &run->list[self][group - 1], from, begins, self, run->host_count, run->now,
                 AHEAD);
}

static void sink(void *context, uint32_t node, const struct oche_trace_record *record)
{
    struct run *run = context;
    struct host *host = &run->host[node];
    uint32_t number = record->qpn - FIRST_QPN;

    if (record->qpn < FIRST_QPN || number >= CONNECTIONS)
        return;
    struct told *told = &host->told[number];
    bool uc = run->connection[number].transport == OCHE_TRANSPORT_UC;
    switch ((enum oche_trace_kind)record->kind) {
    case OCHE_TRACE_DATA_ARRIVED:
        told->last = record->time;
        told->silent = false;
        told->response = oche_opcode_has((uint8_t)(record->b >> 32), OCHE_OP_RESPONSE);
        if (!told->response) /* its PSNs belong to the other side */
            note_list(host, told, (uint32_t)record->a);
        if (uc)
            uc_arrived(host, told, record);
        break;
    case OCHE_TRACE_DELIVERED: /* in order; READ data changes nothing */
        if (uc || told->open || told->response)
            break;
        told->open = true;
        begins(host, told, record->time);
        hear_list(host, told, number, (uint32_t)record->a, true);
        break;
    case OCHE_TRACE_PLACED:
        hear_list(host, told, number, (uint32_t)record->a, false);
        told->named[record->a % NAMED].kept = true;
        break;
    case OCHE_TRACE_MESSAGE_DELIVERED:
        if (!uc && !told->response)
            told->open = false;
        break;
    case OCHE_TRACE_DATA_SENT:
        if ((uint8_t)(record->b >> 32) == OCHE_RC_READ_REQUEST && !(record->b >> 40 & 1)) {
            told->reads++;
            begins(host, told, record->time);
        }
        break;
    case OCHE_TRACE_COMPLETED:
        if (record->a == OCHE_WORK_READ && told->reads > 0)
            told->reads--;
        break;
    case OCHE_TRACE_REJECTED: /* UC: a refused packet makes the rest of its message void */
        if (uc)
            told->open = false;
        break;
    case OCHE_TRACE_STATE:
        if (record->b == OCHE_QP_ERR)
            *told = (struct told){0};
        break;
    default:
        break;
    }
}

/* Returns the hosts whose messages should count at `host`, as bits. */
static uint32_t oracle(struct run *run, struct host *host, uint32_t tenant)
{
    uint32_t self = (uint32_t)(host - run->host), set = 0;

    for (uint32_t k = 0; k < host->end_count; k++) {
        const struct connection *c = &run->connection[host->ends[k]];
        struct told *told = &host->told[host->ends[k]];
        if (c->tenant != tenant)
            continue;
        if (!told->open && told->reads == 0)
            continue;
        told->silent |= run->now - told->last >= SOFT;
        if (!told->silent)
            set |= 1u << c->host[c->host[0] == self];
    }
    return set;
}

static uint32_t all_announced(const struct host *host, uint32_t tenant, oche_time now)
{
    uint32_t set = 0;

    for (uint32_t i = 0; i < GROUPS; i++)
        set |= still_announced(&host->announced[tenant][i], now);
    return set;
}

static void check_set(struct run *run, uint32_t index, uint32_t tenant)
{
    struct host *host = &run->host[index];
    uint32_t set = oracle(run, host, tenant), ahead = all_announced(host, tenant, run->now);
    struct oche_dart_view view = oche_dart_look_at(host->nic->cc_nic.state, tenant);

    if (view.senders != (uint32_t)__builtin_popcount(set | ahead))
        fail_msg("seed %lu: at %lu ps host %u counts %u senders of tenant %u; its trace says 0x%x, "
                 "and 0x%x are announced",
                 (unsigned long)run->seed, (unsigned long)run->now, index, view.senders, tenant,
                 set, ahead);
    for (uint32_t from = 0; from < run->host_count; from++) {
        oche_time until = run->host[from].last_sent[index] + MOST_DELAY + SOFT;
        if ((set >> from & 1) && run->now > until)
            fail_msg("seed %lu: host %u counts %u, which has been silent for long",
                     (unsigned long)run->seed, index, from);
    }
    run->most = view.senders > run->most ? view.senders : run->most;
    run->checks++;
}

static void check_host(struct run *run, uint32_t index)
{
    for (uint32_t t = 0; t < run->tenants && !run->host[index].dead; t++)
        check_set(run, index, t);
}

/* ---- links ---- */

static void put(struct run *run, const struct oche_packet *packet, oche_time arrives)
{
    uint32_t index = run->free, *at = &run->first;

    if (index == 0)
        return; /* the link is full: the packet is lost */
    struct flight *flight = &run->flight[index - 1];
    run->free = flight->next;
    flight->packet = *packet;
    flight->packet.payload = NULL;
    flight->to = packet->dst;
    flight->arrives = arrives;
    flight->order = run->order++;
    while (*at != 0 && run->flight[*at - 1].arrives <= arrives)
        at = &run->flight[*at - 1].next;
    flight->next = *at;
    *at = index;
}

static void send(struct run *run, uint32_t from, struct oche_packet *packet)
{
    oche_time on_line = oche_time_of_bytes(packet->frame_bytes + OCHE_GAP_BYTES, LINE);
    oche_time arrives = run->now + on_line + OCHE_US;
    const uint32_t luck = run->faults ? below(run, 1000) : 1000;

    run->host[from].busy_until = run->now + on_line;
    if (packet->payload_bytes > 0 || packet->opcode == OCHE_RC_READ_REQUEST)
        run->host[from].last_sent[packet->dst] = run->now;
    if (packet->opcode == OCHE_RC_READ_REQUEST) /* it counts from the issue on, at the requester */
        run->host[packet->dst].last_sent[from] = run->now;
    if (luck < 30)
        return;
    if (luck < 60)
        put(run, packet, arrives);
    if (luck < 90)
        arrives += below(run, 8) * OCHE_US;
    put(run, packet, arrives);
}

/* ---- hosts ---- */

static void open_host(struct run *run, uint32_t index)
{
    static const struct oche_nic_port port = {0};
    struct host *host = &run->host[index];
    struct oche_nic_config config = {.address = index,
                                     .shared_addresses = run->host_count,
                                     .line_rate_bps = LINE,
                                     .gap_bytes = OCHE_GAP_BYTES,
                                     .control_class = 1,
                                     .max_qps = CONNECTIONS,
                                     .max_regions = 1,
                                     .ecn_threshold_bytes = OCHE_NEVER,
                                     .seed = run->seed,
                                     .cc = oche_cc_find("dart"),
                                     .cc_params = run->cc_params,
                                     .recovery = run->recovery,
                                     .recovery_params = run->recovery_params,
                                     .port = &port,
                                     .trace = &host->trace};
    struct oche_region all = {.length = UINT64_C(1) << 40,
                              .key = KEY,
                              .access = OCHE_ACCESS_LOCAL_WRITE | OCHE_ACCESS_REMOTE_WRITE |
                                        OCHE_ACCESS_REMOTE_READ,
                              .pd = 1};

    host->run = run;
    oche_trace_init(&host->trace, index, host->ring, 16);
    host->trace.sink = sink;
    host->trace.sink_context = run;
    host->nic_memory = aligned_alloc(OCHE_CACHE_LINE, oche_nic_bytes(&config));
    host->nic = oche_nic_create(host->nic_memory, &config);
    host->cq_memory = aligned_alloc(OCHE_CACHE_LINE, (oche_cq_bytes(4096) + 63) / 64 * 64);
    host->cq = oche_cq_create(host->cq_memory, 4096);
    assert_true(oche_nic_add_region(host->nic, &all));
}

static void connect(struct run *run, struct connection *c)
{
    uint32_t number = (uint32_t)(c - run->connection);
    uint32_t psn[2] = {below(run, 1 << 24), below(run, 1 << 24)};

    for (unsigned k = 0; k < 2; k++) {
        struct oche_qp_connection to = {.remote_address = c->host[1 - k],
                                        .remote_qpn = FIRST_QPN + number,
                                        .send_psn = psn[k],
                                        .recv_psn = psn[1 - k],
                                        .ack_every_packets = 4,
                                        .ack_timeout = 60 * OCHE_US,
                                        .retry_count = 7,
                                        .rnr_retry = 7,
                                        .tenant = c->tenant,
                                        .min_rnr_timer = 1,
                                        .extensions = number % 2 == 0};
        c->posted[k] = 0;
        run->host[c->host[k]].told[number] = (struct told){0};
        assert_true(oche_qp_init(c->qp[k], run->now) &&
                    oche_qp_ready_to_receive(c->qp[k], &to, run->now) &&
                    oche_qp_ready_to_send(c->qp[k], run->now));
    }
}

static void open_connection(struct run *run, struct connection *c)
{
    uint32_t number = (uint32_t)(c - run->connection);

    c->host[0] = below(run, run->host_count);
    c->host[1] = (c->host[0] + 1 + below(run, run->host_count - 1)) % run->host_count;
    c->transport = below(run, 4) == 0 ? OCHE_TRANSPORT_UC : OCHE_TRANSPORT_RC;
    c->tenant = (uint8_t)below(run, run->tenants);
    for (unsigned k = 0; k < 2; k++) {
        struct host *host = &run->host[c->host[k]];
        host->ends[host->end_count++] = number;
        struct oche_qp_config config = {.qpn = FIRST_QPN + number,
                                        .transport = c->transport,
                                        .pkey = 0xffff,
                                        .pd = 1,
                                        .mtu_bytes = 256,
                                        .send_depth = 8,
                                        .recv_depth = 16,
                                        .responder_resources = 4,
                                        .initiator_depth = 4,
                                        .groups = run->ahead,
                                        .access =
                                            OCHE_ACCESS_REMOTE_WRITE | OCHE_ACCESS_REMOTE_READ,
                                        .send_cq = host->cq,
                                        .recv_cq = host->cq};
        c->memory[k] = aligned_alloc(OCHE_CACHE_LINE, oche_qp_bytes(host->nic, &config));
        c->qp[k] = oche_qp_create(host->nic, c->memory[k], &config);
        assert_non_null(c->qp[k]);
    }
    connect(run, c);
}

static bool well(const struct oche_qp *qp)
{
    return oche_qp_state(qp) == OCHE_QP_RTS;
}

/* The kind of a work request is its number; the oracle recognises READs by the number. */
static void post(struct run *run)
{
    static const uint8_t kinds[] = {OCHE_WORK_SEND,      OCHE_WORK_WRITE,    OCHE_WORK_WRITE,
                                    OCHE_WORK_WRITE_IMM, OCHE_WORK_SEND_IMM, OCHE_WORK_READ};
    struct connection *c = &run->connection[below(run, run->connection_count)];
    unsigned k = below(run, 2);
    uint8_t kind = kinds[below(run, c->transport == OCHE_TRANSPORT_UC ? 5 : 6)];
    struct oche_send_work work = {.wr_id = kind,
                                  .opcode = kind,
                                  .flags = OCHE_WORK_SIGNALED,
                                  .sge_count = 1,
                                  .rkey = KEY,
                                  .sge[0] = {.length = 1 + below(run, 8000), .lkey = KEY}};

    if (!well(c->qp[k]) || run->host[c->host[k]].dead)
        return;
    if (run->ahead && c->transport == OCHE_TRANSPORT_RC && kind != OCHE_WORK_READ &&
        below(run, 4) > 0)
        work.group = &run->group[c->host[1 - k]][below(run, GROUPS)];
    oche_qp_post_send(c->qp[k], &work);
}

static void post_receives(struct run *run)
{
    for (uint32_t i = 0; i < run->connection_count; i++) {
        struct connection *c = &run->connection[i];
        for (unsigned k = 0; k < 2; k++) {
            struct oche_recv_work work = {.wr_id = OCHE_WORK_OPCODES,
                                          .sge_count = 1,
                                          .sge[0] = {.length = 8192, .lkey = KEY}};
            while (well(c->qp[k]) && oche_qp_post_recv(c->qp[k], &work) == 0)
                c->posted[k]++;
        }
    }
}

/* From now on nothing happens there; timers do not run either. */
static void crash(struct run *run, struct host *host)
{
    if (host->dead)
        return;
    if (oche_nic_next_timer(host->nic) <= run->now)
        oche_nic_expire(host->nic, run->now);
    host->dead = true;
    host->died = run->now;
}

/* Something breaks. */
static void break_something(struct run *run)
{
    struct connection *c = &run->connection[below(run, run->connection_count)];
    unsigned k = below(run, 2);

    switch (below(run, 6)) {
    case 0:
        if (run->host_count - 1 > below(run, 20)) /* rare */
            crash(run, &run->host[below(run, run->host_count)]);
        break;
    case 1:
        if (!run->host[c->host[k]].dead)
            oche_qp_fail(c->qp[k], run->now);
        break;
    default: /* both ends start again, even inside a message */
        if (run->host[c->host[0]].dead || run->host[c->host[1]].dead)
            break;
        oche_qp_reset(c->qp[0]);
        oche_qp_reset(c->qp[1]);
        connect(run, c);
        break;
    }
}

/* ---- a run ---- */

static oche_time host_next(struct host *host)
{
    if (host->dead)
        return OCHE_NEVER;
    oche_time next = oche_nic_next(host->nic, UINT8_MAX);
    if (next < host->busy_until)
        next = host->busy_until;
    return oche_time_min(next, oche_nic_next_timer(host->nic));
}

static void serve(struct run *run, uint32_t index)
{
    struct host *host = &run->host[index];
    struct oche_packet packet, *out = &packet;
    struct oche_completion done[16];

    if (host->dead)
        return;
    if (oche_nic_next_timer(host->nic) <= run->now)
        oche_nic_expire(host->nic, run->now);
    packet.payload = NULL;
    if (host->busy_until <= run->now &&
        oche_nic_transmit(host->nic, run->now, run->now, UINT8_MAX, &out, 1) == 1)
        send(run, index, &packet);
    while (oche_cq_poll(host->cq, done, 16) > 0)
        ;
}

static void arrivals(struct run *run)
{
    while (run->first != 0 && run->flight[run->first - 1].arrives <= run->now) {
        uint32_t index = run->first;
        struct flight *flight = &run->flight[index - 1];
        run->first = flight->next;
        struct oche_packet packet = flight->packet;
        flight->next = run->free;
        run->free = index;
        run->arriving = &packet;
        if (!run->host[packet.dst].dead)
            oche_nic_receive(run->host[packet.dst].nic, &packet, run->now);
        run->arriving = NULL;
        serve(run, packet.dst);
        check_host(run, packet.dst);
    }
}

static oche_time next_event(struct run *run)
{
    oche_time next = run->first == 0 ? OCHE_NEVER : run->flight[run->first - 1].arrives;

    for (uint32_t i = 0; i < run->host_count; i++)
        next = oche_time_min(next, host_next(&run->host[i]));
    return next > run->now ? next : run->now;
}

/* Makes lists to each receiver. Most are correct, if their sender is in the list. */
static void make_lists(struct run *run)
{
    for (uint32_t to = 0; to < run->host_count; to++)
        for (uint32_t i = 0; i < GROUPS; i++) {
            struct list *list = &run->list[to][i];
            for (uint32_t from = 0; from < run->host_count + 1; from++) {
                /* the host itself, or no host */
                bool wrong = from == to || from == run->host_count;
                if (below(run, wrong ? 16 : 3) != 1 && (wrong || below(run, 4) == 0))
                    continue;
                list->members |= 1u << from;
                list->bytes[2 * list->count++ + 1] = (uint8_t)from;
            }
            if (list->count == 0) {
                list->members = 1u << (to == 0);
                list->bytes[2 * list->count++ + 1] = to == 0;
            }
            run->group[to][i] =
                (struct oche_group){.id = i, .count = list->count, .members = list->bytes};
        }
}

static void set(struct run *run, const struct oche_cc_scheme *cc, const char *name, uint64_t value)
{
    oche_param_set(oche_param_find(&cc->table, name), run->cc_params,
                   (union oche_value){.u = value});
}

static void open_run(struct run *run, uint64_t seed, bool faults, bool ahead)
{
    static const char *const recoveries[] = {"go_back_n", "go_back_0", "improved_go_back_n",
                                             "selective_repeat"};
    const struct oche_cc_scheme *cc = oche_cc_find("dart");

    memset(run, 0, sizeof(*run));
    run->seed = seed;
    run->faults = faults;
    run->ahead = ahead;
    run->tenants = ahead ? 1 + (uint32_t)(seed % TENANTS) : 1;
    run->random = oche_random_stream(seed, ahead ? "look-ahead" : "auss", faults);
    run->recovery = oche_recovery_find(recoveries[seed % 4]);
    oche_param_defaults(&run->recovery->table, run->recovery_params);
    oche_param_defaults(&cc->table, run->cc_params);
    set(run, cc, "soft_timeout", SOFT);
    set(run, cc, "look_ahead_timeout", AHEAD);
    set(run, cc, "tenants", run->tenants);
    for (uint32_t i = FLIGHT; i > 0; i--) {
        run->flight[i - 1].next = run->free;
        run->free = i;
    }
    run->host_count = 2 + below(run, HOSTS - 1);
    run->connection_count = 1 + below(run, CONNECTIONS);
    if (ahead)
        make_lists(run);
    for (uint32_t i = 0; i < run->host_count; i++)
        open_host(run, i);
    for (uint32_t i = 0; i < run->connection_count; i++)
        open_connection(run, &run->connection[i]);
}

/*
 * Without queue pairs no host counts as a sender. Exceptions are senders that were announced to a
 * host which crashed, as its timers stand still. Once the timers run again, none counts.
 */
static void check_closed(struct run *run, struct host *host)
{
    for (uint32_t t = 0; t < run->tenants; t++) {
        uint32_t left = host->dead ? all_announced(host, t, host->died) : 0;
        assert_int_equal(oche_dart_look_at(host->nic->cc_nic.state, t).senders,
                         __builtin_popcount(left));
    }
    oche_nic_expire(host->nic, run->now + AHEAD);
    for (uint32_t t = 0; t < run->tenants; t++)
        assert_int_equal(oche_dart_look_at(host->nic->cc_nic.state, t).senders, 0);
}

static void close_run(struct run *run)
{
    for (uint32_t i = 0; i < run->connection_count; i++)
        for (unsigned k = 0; k < 2; k++) {
            oche_qp_destroy(run->connection[i].qp[k]);
            free(run->connection[i].memory[k]);
        }
    for (uint32_t i = 0; i < run->host_count; i++) {
        check_closed(run, &run->host[i]);
        free(run->host[i].nic_memory);
        free(run->host[i].cq_memory);
    }
}

static void run_seed(struct run *run, uint64_t seed, bool faults, bool ahead)
{
    oche_time next_post = 0, next_break = faults ? 50 * OCHE_US : OCHE_NEVER;

    open_run(run, seed, faults, ahead);
    for (;;) {
        oche_time next = next_event(run);
        next = oche_time_min(next, oche_time_min(next_post, next_break));
        if (next == OCHE_NEVER)
            break;
        run->now = next > run->now ? next : run->now;
        if (next_break <= run->now) {
            break_something(run);
            next_break = run->now < BUSY ? run->now + below(run, 200) * OCHE_US : OCHE_NEVER;
        }
        if (next_post <= run->now) {
            post_receives(run);
            post(run);
            next_post = run->now < BUSY ? run->now + below(run, 3000) * OCHE_NS : OCHE_NEVER;
        }
        for (uint32_t i = 0; i < run->host_count; i++)
            serve(run, i);
        arrivals(run);
        bool settled = next_event(run) > run->now;
        for (uint32_t i = 0; i < run->host_count && settled; i++)
            check_host(run, i);
    }
    for (uint32_t i = 0; i < run->host_count; i++) {
        for (uint32_t t = 0; t < run->tenants; t++) {
            struct oche_dart_view view = oche_dart_look_at(run->host[i].nic->cc_nic.state, t);
            run->timeouts += view.timeouts;
            run->not_come += view.not_come;
            if (!run->host[i].dead)
                assert_int_equal(view.senders, 0);
            if (!faults)
                assert_int_equal(view.timeouts, 0);
        }
    }
    close_run(run);
}

static uint64_t number(const char *name, uint64_t preset)
{
    const char *text = getenv(name);

    return text == NULL ? preset : strtoull(text, NULL, 10);
}

static void seeds(bool faults, bool ahead)
{
    struct run *run = malloc(sizeof(*run));
    uint64_t one = number("SEED", 0), count = seeds_of(RUNS);
    uint64_t checks = 0, messages = 0, timeouts = 0, most = 0;
    uint64_t announcements = 0, kept = 0, not_come = 0;

    assert_non_null(run);
    for (uint64_t seed = one > 0 ? one : 1; seed <= (one > 0 ? one : count); seed++) {
        run_seed(run, seed, faults, ahead);
        checks += run->checks;
        messages += run->messages;
        timeouts += run->timeouts;
        announcements += run->announcements;
        kept += run->announced_kept;
        not_come += run->not_come;
        most = run->most > most ? run->most : most;
    }
    print_message("%lu comparisons, %lu messages, %lu timeouts, up to %lu senders; %lu lists, of "
                  "them %lu behind gaps, %lu announced that did not come in time\n",
                  (unsigned long)checks, (unsigned long)messages, (unsigned long)timeouts,
                  (unsigned long)most, (unsigned long)announcements, (unsigned long)kept,
                  (unsigned long)not_come);
    free(run);
    if (one > 0 || count < 100) /* too few for rare events */
        return;
    assert_true(!ahead || (announcements > count && not_come > count));
    assert_true((ahead && faults) == (kept > 0));
    assert_true(most >= (seeds_percent() < 100 ? 3 : 4) && (!faults || timeouts > 0));
}

static void without_faults(void **state)
{
    (void)state;
    seeds(false, false);
}

static void with_faults(void **state)
{
    (void)state;
    seeds(true, false);
}

static void look_ahead_without_faults(void **state)
{
    (void)state;
    seeds(false, true);
}

static void look_ahead_with_faults(void **state)
{
    (void)state;
    seeds(true, true);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_faults),
        cmocka_unit_test(with_faults),
        cmocka_unit_test(look_ahead_without_faults),
        cmocka_unit_test(look_ahead_with_faults),
    };
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
