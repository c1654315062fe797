/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two TCP endpoints and a channel between them that loses, duplicates and reorders packets at
 * random, far more than a network does. Every flow's bytes are delivered once and in order, every
 * flow completes, and nothing is left at either end.
 *
 * usage: test_tcp_channel [FIRST [COUNT]]     seeds
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/random.h"
#include "sim/endpoint/tcp_dctcp/tcp.h"
#include "sim/network/payload.h"
#include "tests/support/seeds.h"
#include "tests/support/small_world.h"
#include "tests/support/test.h"

#define MOST_FLOWS  8
#define MOST_FLYING 8192
#define SPACING     (300 * OCHE_NS) /* of packets that one end sends */
#define FLIGHT      (20 * OCHE_US)
#define LONGEST     (1000 * OCHE_SEC)

static uint64_t first_seed = 1, seed_count;

struct flying {
    oche_time when;
    uint32_t to; /* host */
    struct oche_packet packet;
    uint8_t *bytes;
};

struct channel {
    struct small_world small;
    struct oche_random random;
    struct oche_flow_plan flows[MOST_FLOWS];
    uint32_t count;
    struct oche_tcp *end[2];
    oche_time free_at[2], now;
    uint64_t loss, twice, late, ce; /* each of 1000 packets */
    struct flying *flying;
    uint32_t flying_count;
};

static uint64_t draw(struct channel *c, uint64_t below)
{
    return oche_random_u64(&c->random) % below;
}

static void make(struct channel *c, uint64_t seed)
{
    memset(c, 0, sizeof(*c));
    c->random = oche_random_stream(seed, "tcp channel", 0);
    c->count = 1 + (uint32_t)draw(c, MOST_FLOWS);
    for (uint32_t i = 0; i < c->count; i++) {
        uint32_t src = (uint32_t)draw(c, 2);
        c->flows[i] = small_flow(src, 1 - src, 1 + draw(c, UINT64_C(1) << draw(c, 19)), OCHE_MS);
    }
    small_world_init(&c->small, "star", seed & 1 ? "dctcp" : "tcp", "go_back_n");
    c->small.config.seed = seed;
    c->small.config.run.duration = 1; /* over before any flow starts */
    c->small.config.run.payload = true;
    c->small.config.hosts.connections = (uint32_t)draw(c, 2);
    small_world_cc(&c->small, "os_overhead", draw(c, 2) * 50 * OCHE_US);
    small_world_cc(&c->small, "handshake", draw(c, 2));
    small_world_cc(&c->small, "mss", 100 + draw(c, 1400));
    small_world_cc(&c->small, "receive_window", 1500 + draw(c, 200000));
    small_world_cc(&c->small, "ack_every", 1 + draw(c, 3));
    small_world_cc(&c->small, "rto_min", OCHE_MS);
    small_world_cc(&c->small, "rto_initial", OCHE_MS);
    small_world_cc(&c->small, "rto_max", 20 * OCHE_MS);
    small_world_cc(&c->small, "retries", 1000000);
    c->loss = draw(c, 4) * draw(c, 60);
    c->twice = draw(c, 3) * draw(c, 100);
    c->late = draw(c, 3) * draw(c, 150);
    c->ce = draw(c, 3) * draw(c, 300);
    small_world_run(&c->small, c->flows, c->count);
    for (unsigned h = 0; h < 2; h++)
        c->end[h] = oche_host_endpoint_state(oche_world_host(c->small.world, h));
    c->flying = calloc(MOST_FLYING, sizeof(*c->flying));
    assert_non_null(c->flying);
}

static void fly(struct channel *c, uint32_t from, const struct oche_packet *packet)
{
    struct flying *f = &c->flying[c->flying_count++];

    assert_true(c->flying_count < MOST_FLYING);
    *f = (struct flying){.when = c->now + FLIGHT, .to = 1 - from, .packet = *packet};
    if (draw(c, 1000) < c->late)
        f->when += draw(c, 10 * FLIGHT);
    if (packet->ecn == OCHE_ECN_ECT0 && draw(c, 1000) < c->ce)
        f->packet.ecn = OCHE_ECN_CE;
    if (packet->payload_bytes > 0) {
        f->bytes = malloc(packet->payload_bytes);
        assert_non_null(f->bytes);
        memcpy(f->bytes, packet->payload, packet->payload_bytes);
        f->packet.payload = f->bytes;
    }
}

/* Returns the packet that may leave now; its buffer is `packet->payload`. */
static void transmit(struct channel *c, uint32_t from, struct oche_packet *packet)
{
    const struct oche_endpoint *endpoint = c->small.config.endpoint;

    if (c->free_at[from] > c->now || !endpoint->transmit(c->end[from], c->now, UINT8_MAX, packet))
        return;
    c->free_at[from] = c->now + SPACING;
    if (draw(c, 1000) >= c->loss)
        fly(c, from, packet);
    if (draw(c, 1000) < c->twice)
        fly(c, from, packet);
}

static void arrive(struct channel *c)
{
    for (uint32_t i = 0; i < c->flying_count;) {
        struct flying f = c->flying[i];
        if (f.when > c->now) {
            i++;
            continue;
        }
        c->flying[i] = c->flying[--c->flying_count];
        c->small.config.endpoint->receive(c->end[f.to], &f.packet, c->now);
        free(f.bytes);
    }
}

/* Returns the time of the next event; OCHE_NEVER: there is none. */
static oche_time next(struct channel *c)
{
    oche_time soonest = OCHE_NEVER;

    for (uint32_t i = 0; i < c->flying_count; i++)
        soonest = oche_time_min(soonest, c->flying[i].when);
    for (unsigned h = 0; h < 2; h++) {
        oche_time due = c->small.config.endpoint->next(c->end[h], UINT8_MAX);
        if (due == 0)
            due = c->free_at[h] > c->now ? c->free_at[h] : c->now;
        soonest = oche_time_min(soonest, due);
    }
    return soonest;
}

static void run(struct channel *c)
{
    const struct oche_endpoint *endpoint = c->small.config.endpoint;
    struct oche_packet packet = {.payload = NULL};

    oche_payload_buffer(&packet);
    c->now = OCHE_US;
    for (uint32_t i = 0; i < c->count; i++)
        endpoint->start(c->end[c->flows[i].src], i, c->now);
    for (oche_time when; (when = next(c)) != OCHE_NEVER && when < LONGEST;) {
        c->now = when;
        arrive(c);
        for (unsigned h = 0; h < 2; h++) {
            endpoint->expire(c->end[h], c->now);
            transmit(c, h, &packet);
        }
    }
    free(packet.payload);
}

static void check(struct channel *c, uint64_t seed)
{
    const struct oche_flows *flows = oche_world_flows(c->small.world);
    uint64_t delivered = 0, bytes = 0;
    uint32_t done = 0, open = 0;

    for (uint32_t i = 0; i < c->count; i++) {
        bytes += c->flows[i].bytes;
        done += flows->sent[i].completed != OCHE_NEVER && flows->sent[i].failed == 0 &&
                flows->received[i].delivered <= flows->sent[i].completed;
    }
    for (unsigned h = 0; h < 2; h++) {
        delivered += c->end[h]->stats.delivered_bytes;
        open += slots_taken(&c->end[h]->slots);
        if (c->end[h]->corrupt != 0 || c->end[h]->backlog != 0)
            fail_msg("seed %llu: %llu bytes are not what was sent, backlog %llu",
                     (unsigned long long)seed, (unsigned long long)c->end[h]->corrupt,
                     (unsigned long long)c->end[h]->backlog);
    }
    if (delivered != bytes || done != c->count || open != 0)
        fail_msg("seed %llu: %llu of %llu bytes, %u of %u flows, %u ends open",
                 (unsigned long long)seed, (unsigned long long)delivered, (unsigned long long)bytes,
                 done, c->count, open);
}

static void test_channel(void **state)
{
    uint64_t duplicates = 0, reordered = 0, again = 0, timeouts = 0;

    (void)state;
    for (uint64_t seed = first_seed; seed < first_seed + seed_count; seed++) {
        struct channel c;

        make(&c, seed);
        run(&c);
        check(&c, seed);
        for (unsigned h = 0; h < 2; h++) {
            duplicates += c.end[h]->stats.duplicate_packets;
            reordered += c.end[h]->stats.out_of_order_packets;
            again += c.end[h]->stats.retransmitted_packets;
            timeouts += c.end[h]->stats.timeouts;
        }
        free(c.flying);
        small_world_free(&c.small);
    }
    print_message("%llu duplicates, %llu out of order, %llu sent again, %llu timeouts\n",
                  (unsigned long long)duplicates, (unsigned long long)reordered,
                  (unsigned long long)again, (unsigned long long)timeouts);
    if (seed_count > 20)
        assert_true(duplicates > 0 && reordered > 0 && again > 0 && timeouts > 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_channel)};

    seed_count = seeds_of(2000);
    if (argc > 1)
        first_seed = strtoull(argv[1], NULL, 0);
    if (argc > 2)
        seed_count = strtoull(argv[2], NULL, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
