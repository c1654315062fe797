/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cost of a packet in a switch: nanoseconds for one receive plus one transmit, with warm
 * caches, PFC and RED on, 32 ports, random arrivals and destinations. `standing` is the number of
 * packets that wait at each port: 0 for an idle port, the usual case in a network; 8 for a busy
 * port.
 *
 *     build/bench/bench_switch [million packets]
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "core/random.h"
#include "fabric/switch.h"

#define PORTS     32
#define ADDRESSES 1024
#define GROUPS    32
#define MTU       1086

_Noreturn void oche_panic(const char *file, int line, const char *what)
{
    fprintf(stderr, "%s:%d: broken: %s\n", file, line, what);
    abort();
}

/* A ToR: hosts of group 0 are at ports 0-15; ECMP spreads the other groups over ports 16-31. */
struct world {
    struct oche_switch_params params;
    struct oche_switch_port_config ports[PORTS];
    uint32_t group_of[ADDRESSES];
    uint16_t set_of_group[GROUPS];
    uint16_t port_of_address[ADDRESSES];
    uint16_t candidates[PORTS];
    struct oche_port_set sets[1];
};

static struct oche_switch *make_switch(struct world *world, unsigned classes)
{
    struct oche_switch_config config = {.params = &world->params,
                                        .node = 7,
                                        .seed = 1,
                                        .port_count = PORTS,
                                        .ports = world->ports,
                                        .class_count = (uint8_t)classes,
                                        .lossless_classes = (uint8_t)((1U << classes) - 1),
                                        .mtu_frame_bytes = MTU};
    struct oche_error why;

    oche_param_defaults(&oche_switch_params, &world->params);
    for (unsigned i = 0; i < PORTS; i++) {
        world->ports[i] = (struct oche_switch_port_config){100 * OCHE_GBPS, OCHE_US, 0};
        world->candidates[i] = (uint16_t)(i % 16 + 16);
    }
    for (unsigned i = 0; i < ADDRESSES; i++) {
        world->group_of[i] = i / (ADDRESSES / GROUPS);
        world->port_of_address[i] = (uint16_t)(i % 16);
    }
    world->sets[0] = (struct oche_port_set){.first = 0, .count = 16};
    config.routes = (struct oche_routes){.group_of = world->group_of,
                                         .set_of_group = world->set_of_group,
                                         .sets = world->sets,
                                         .ports = world->candidates,
                                         .port_of_address = world->port_of_address,
                                         .own_group = 0,
                                         .addresses = ADDRESSES};
    if (!oche_switch_check(&config, &why)) {
        fprintf(stderr, "%s\n", why.text);
        exit(1);
    }
    size_t bytes = oche_switch_bytes(&config);
    return oche_switch_create(aligned_alloc(OCHE_CACHE_LINE, bytes), &config);
}

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void run(unsigned classes, unsigned standing, uint64_t count)
{
    static struct world world;
    struct oche_switch *sw = make_switch(&world, classes);
    struct oche_random random = oche_random_stream(1, "bench", 0);
    unsigned packets = PORTS * (standing + 1) + 64;
    struct oche_packet *pool = aligned_alloc(OCHE_CACHE_LINE, packets * sizeof(struct oche_packet));
    struct oche_packet *free_list = NULL;
    uint64_t sent = 0, drops = 0, marks = 0, pauses = 0;
    double start = 0;

    for (unsigned i = 0; i < packets; i++) {
        pool[i] = (struct oche_packet){.next = free_list, .frame_bytes = MTU, .ecn = OCHE_ECN_ECT0};
        free_list = &pool[i];
    }
    for (uint64_t i = 0; sent < count; i++) {
        uint64_t draw = oche_random_u64(&random);
        struct oche_packet *packet = free_list;
        int port;

        if (i == count / 10) {
            start = seconds();
            sent = 0;
        }
        free_list = packet->next;
        packet->hops = 0;
        packet->ecn = OCHE_ECN_ECT0;
        packet->dst = (uint32_t)draw % ADDRESSES;
        packet->flow_hash = (uint32_t)(draw >> 16);
        packet->traffic_class = (uint8_t)(classes > 1 && (draw >> 60) == 0);
        port = oche_switch_receive(sw, (unsigned)(draw >> 40) % PORTS, packet, i);
        if (port < 0) {
            packet->next = free_list;
            free_list = packet;
            continue;
        }
        if (oche_switch_queue_bytes(sw, (unsigned)port) <= (uint64_t)standing * MTU)
            continue;
        packet = oche_switch_transmit(sw, (unsigned)port, i);
        while (oche_switch_pause_port(sw) >= 0)
            pauses++;
        packet->next = free_list;
        free_list = packet;
        sent++;
    }
    double nanoseconds = (seconds() - start) * 1e9 / (double)sent;
    for (unsigned port = 0; port < PORTS; port++) {
        struct oche_switch_port_stats stats;
        oche_switch_port_stats(sw, port, count, &stats);
        drops += stats.drops[OCHE_DROP_BUFFER];
        marks += stats.marks;
    }
    printf("switch: classes=%u standing=%u: %.1f ns per receive+transmit"
           " (marks %llu, pauses %llu, drops %llu)\n",
           classes, standing, nanoseconds, (unsigned long long)marks, (unsigned long long)pauses,
           (unsigned long long)drops);
    free(pool);
    free(sw);
}

int main(int argc, char **argv)
{
    uint64_t count = (argc > 1 ? strtoull(argv[1], NULL, 10) : 10) * 1000000;

    if (count == 0) {
        fprintf(stderr, "usage: bench_switch [million packets]\n");
        return 2;
    }
    run(2, 0, count);
    run(2, 8, count);
    run(2, 40, count);
    run(2, 100, count);
    run(8, 0, count);
    return 0;
}
