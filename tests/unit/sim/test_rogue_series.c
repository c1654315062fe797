/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Series and samples of RoGUE's connections equal the values of their libraries at the end of each
 * interval. Three senders share a link and lose packets, so shadows take over. WRITE and READ, one
 * thread and two.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/endpoint/rogue/rogue_host.h"
#include "sim/world/internal.h"
#include "tests/support/small_world.h"
#include "tests/support/test.h"

#define INTERVAL (50 * OCHE_US)
#define ROWS     60
#define FLOWS    3

static struct small_world small;
static struct oche_flow_plan flows[FLOWS];

static void open_world(bool reads, uint32_t threads, uint32_t rows)
{
    small_world_init(&small, "star", "rogue", "go_back_n");
    small_world_topology(&small, "hosts", 4);
    small_world_topology(&small, "host_rate", 10 * OCHE_GBPS);
    small_world_cc(&small, "hardware_retries", 0);
    small_world_cc(&small, "hold_off_bytes", 0);
    small_world_cc(&small, "least_base_rtt", 12 * OCHE_US);
    small_world_cc(&small, "verb", reads ? OCHE_ROGUE_READS : OCHE_ROGUE_WRITES);
    small.config.hosts.ack_timeout = 100 * OCHE_US;
    small.config.switches.pfc = false;
    small.config.loss.probability = 0.002;
    small.config.run.stop_when_done = false;
    small.config.run.duration = rows * INTERVAL;
    small.config.measure.interval = INTERVAL;
    small.config.measure.rates = true;
    small.config.threads = threads;
    for (uint32_t i = 0; i < FLOWS; i++)
        flows[i] = small_flow(i + 1, 0, 100000000, i * 330 * OCHE_US);
    small_world_run(&small, flows, FLOWS);
}

static void close_world(void)
{
    small_world_end(&small);
    small_world_free(&small);
}

/* Returns a connection's series, which has `ROWS` values. */
static const double *series(const char *name, const char *unit, uint32_t connection)
{
    char entity[32];

    snprintf(entity, sizeof(entity), "connection %u", connection);
    for (uint32_t i = 0; i < oche_world_series_count(small.world); i++) {
        struct oche_world_series found = oche_world_series(small.world, i);
        if (strcmp(found.name, name) != 0 || strcmp(found.entity, entity) != 0)
            continue;
        assert_string_equal(found.unit, unit);
        assert_int_equal(found.count, ROWS);
        return found.values;
    }
    fail_msg("no series %s of %s", name, entity);
    return NULL;
}

/* The library values of one connection. `there` is false before the connection's first flow. */
struct reading {
    bool there, sampled;
    struct rogue_window window;
    uint64_t switches;
};

static struct reading read_library(bool reads, uint32_t connection)
{
    const struct oche_rogue *rogue = oche_host_endpoint_state(small.world->hosts[connection + 1]);
    const struct oche_rogue_end *end = oche_rogue_find(rogue, connection);

    if (end == NULL)
        return (struct reading){.there = false};
    const struct rogue_window *window = rogue_window_of(end->library, reads ? ROGUE_IN : ROGUE_OUT);
    return (struct reading){.there = true,
                            .sampled = window->rtt != OCHE_NEVER,
                            .window = *window,
                            .switches = rogue_counts_of(end->library)->switches};
}

static void assert_reading(uint32_t connection, uint32_t row, const struct reading *is)
{
    double window = series("window", "bytes", connection)[row];
    double rtt = series("rtt", "s", connection)[row];
    double base = series("base_rtt", "s", connection)[row];
    double limit = series("limit", "bps", connection)[row];
    const double *switches = series("switches", "count", connection);
    double sum = 0;

    for (uint32_t i = 0; i <= row; i++)
        sum += switches[i];
    assert_true(sum == (double)is->switches);
    assert_true(isnan(window) == !is->there && isnan(limit) == !is->there);
    assert_true(isnan(rtt) == !is->sampled && isnan(base) == !is->sampled);
    if (is->there)
        assert_true(window == (double)is->window.bytes && limit == (double)is->window.rate_bps);
    if (!is->sampled)
        return;
    oche_time least = is->window.base_rtt > 12 * OCHE_US ? is->window.base_rtt : 12 * OCHE_US;
    assert_true(rtt == (double)is->window.rtt / 1e12 && base == (double)least / 1e12);
}

static void series_are_the_libraries(bool reads)
{
    static struct reading readings[ROWS][FLOWS];
    uint64_t switches = 0, differ = 0;

    for (uint32_t row = 0; row < ROWS; row++) {
        open_world(reads, 1, row + 1);
        for (uint32_t i = 0; i < FLOWS; i++)
            readings[row][i] = read_library(reads, i);
        close_world();
    }
    for (uint32_t threads = 1; threads <= 2; threads++) {
        open_world(reads, threads, ROWS);
        for (uint32_t row = 0; row < ROWS; row++)
            for (uint32_t i = 0; i < FLOWS; i++)
                assert_reading(i, row, &readings[row][i]);
        close_world();
    }
    assert_false(readings[0][2].there);
    for (uint32_t i = 0; i < FLOWS; i++) {
        assert_true(readings[ROWS - 1][i].sampled);
        switches += readings[ROWS - 1][i].switches;
        differ += readings[ROWS - 1][i].window.bytes != readings[ROWS / 2][i].window.bytes;
    }
    assert_true(differ > 0);
    assert_true(reads || switches > 0); /* lost data of READs is requested again */
}

static void series_of_writes(void **state)
{
    (void)state;
    series_are_the_libraries(false);
}

static void series_of_reads(void **state)
{
    (void)state;
    series_are_the_libraries(true);
}

/* Every round trip that changed a window is a sample, in order of time. */
static void samples_are_counted(void **state)
{
    (void)state;
    for (unsigned reads = 0; reads < 2; reads++) {
        uint64_t chunks = 0;
        open_world(reads, 1, 2000);
        for (uint32_t i = 0; i < FLOWS; i++) {
            const struct oche_rogue *rogue = oche_host_endpoint_state(small.world->hosts[i + 1]);
            const struct oche_rtt_chunk *chunk = oche_host_rtts(small.world->hosts[i + 1]);
            const struct reading last = read_library(reads, i);
            uint64_t samples = rogue_counts_of(oche_rogue_find(rogue, i)->library)->samples;
            oche_time after = OCHE_NEVER;
            bool is_base = false;

            assert_non_null(chunk);
            assert_true(chunk->samples[chunk->count - 1].rtt == last.window.rtt);
            for (; chunk != NULL; chunk = chunk->before, chunks++)
                for (uint32_t k = chunk->count; k-- > 0; samples--) {
                    assert_true(chunk->samples[k].when <= after);
                    is_base = is_base || chunk->samples[k].rtt == last.window.base_rtt;
                    after = chunk->samples[k].when;
                }
            assert_int_equal(samples, 0);
            assert_true(is_base);
        }
        assert_null(oche_host_rtts(small.world->hosts[0])); /* which only receives */
        assert_true(chunks > FLOWS);
        close_world();
    }
}

/* Noise lengthens round trips by up to the given amount, and by half of it on average. */
static void noise_is_added(void **state)
{
    double mean[2] = {0};

    (void)state;
    for (unsigned noisy = 0; noisy < 2; noisy++) {
        uint64_t count = 0;
        oche_time most = 0;
        small_world_init(&small, "star", "rogue", "go_back_n");
        small_world_topology(&small, "hosts", 2);
        small_world_topology(&small, "host_rate", 10 * OCHE_GBPS);
        small_world_cc(&small, "rtt_noise", noisy * 40 * OCHE_US);
        small_world_cc(&small, "hold_off_bytes", 0);
        small_world_cc(&small, "least_batches", 1);
        flows[0] = small_flow(0, 1, 100000000, 0);
        small.config.run.duration = OCHE_SEC;
        small_world_run(&small, flows, 1);
        const struct oche_rtt_chunk *chunk = oche_host_rtts(small.world->hosts[0]);
        for (; chunk != NULL; chunk = chunk->before)
            for (uint32_t k = 0; k < chunk->count; k++, count++) {
                mean[noisy] += (double)chunk->samples[k].rtt / 1e6;
                most = chunk->samples[k].rtt > most ? chunk->samples[k].rtt : most;
            }
        assert_true(count > 1000);
        mean[noisy] /= (double)count;
        assert_true(most < (noisy ? 60 : 20) * OCHE_US);
        close_world();
    }
    assert_true(mean[1] - mean[0] > 15 && mean[1] - mean[0] < 25);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(series_of_writes),
        cmocka_unit_test(series_of_reads),
        cmocka_unit_test(samples_are_counted),
        cmocka_unit_test(noise_is_added),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
