/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/cc/cc_bench.h"

#include <string.h>

#include "core/wire/aeth.h"
#include "core/wire/opcode.h"
#include "tests/support/test.h"

static void record(void *context, uint32_t node, const struct oche_trace_record *event)
{
    struct bench *bench = context;

    (void)node;
    if (event->kind == OCHE_TRACE_RATE_CHANGED) {
        assert_in_range(bench->rate_count, 0, BENCH_RECORDS - 1);
        bench->rates[bench->rate_count++] = *event;
    } else if (event->kind == OCHE_TRACE_CC_STATE) {
        assert_in_range(bench->state_count, 0, BENCH_RECORDS - 1);
        bench->states[bench->state_count++] = *event;
    }
}

void bench_init(struct bench *bench, const char *name, uint64_t line_bps)
{
    const struct oche_cc_scheme *scheme = oche_cc_find(name);

    assert_non_null(scheme);
    memset(bench, 0, sizeof(*bench));
    assert_true(scheme->table.struct_bytes <= sizeof(bench->params));
    assert_true(scheme->flow_state_bytes <= sizeof(bench->state));
    assert_true(scheme->nic_state_bytes <= sizeof(bench->nic_state));
    oche_param_defaults(&scheme->table, bench->params);
    oche_trace_init(&bench->trace, 0, bench->ring, 8);
    bench->trace.sink = record;
    bench->trace.sink_context = bench;
    bench->random = oche_random_stream(1, "cc", 0);
    bench->scheme = scheme;
    bench->next_packet = OCHE_NEVER;
    bench->flow = (struct oche_cc_flow){.line_rate_bps = line_bps,
                                        .initial_rate_bps = line_bps,
                                        .timer = {OCHE_NEVER, OCHE_NEVER, OCHE_NEVER},
                                        .qpn = 7,
                                        .mtu_bytes = 1000,
                                        .params = bench->params,
                                        .random = &bench->random,
                                        .trace = &bench->trace,
                                        .state = bench->state,
                                        .nic_state = bench->nic_state};
}

static const struct oche_param *find(struct bench *bench, const char *name)
{
    const struct oche_param *param = oche_param_find(&bench->scheme->table, name);

    assert_non_null(param);
    return param;
}

void bench_set(struct bench *bench, const char *name, uint64_t value)
{
    const struct oche_param *param = find(bench, name);

    assert_true(param->unit != OCHE_UNIT_REAL && param->unit != OCHE_UNIT_CHOICE);
    assert_true(oche_param_in_range(param, (union oche_value){.u = value}));
    oche_param_set(param, bench->params, (union oche_value){.u = value});
}

void bench_set_real(struct bench *bench, const char *name, double value)
{
    const struct oche_param *param = find(bench, name);

    assert_int_equal(param->unit, OCHE_UNIT_REAL);
    assert_true(oche_param_in_range(param, (union oche_value){.real = value}));
    oche_param_set(param, bench->params, (union oche_value){.real = value});
}

void bench_choose(struct bench *bench, const char *name, const char *choice)
{
    const struct oche_param *param = find(bench, name);
    uint64_t index = 0;

    assert_int_equal(param->unit, OCHE_UNIT_CHOICE);
    while (param->choices[index] != NULL && strcmp(param->choices[index], choice) != 0)
        index++;
    assert_non_null(param->choices[index]);
    oche_param_set(param, bench->params, (union oche_value){.u = index});
}

void bench_start(struct bench *bench, bool greedy)
{
    memset(bench->state, 0, sizeof(bench->state));
    bench->flow.rate_bps = bench->flow.initial_rate_bps;
    bench->flow.window_bytes = UINT64_MAX;
    bench->scheme->start(&bench->flow, 0);
    bench->next_packet = greedy ? 0 : OCHE_NEVER;
}

static void reply_at(struct bench *bench, oche_time now, const struct oche_cc_reply *reply)
{
    if (!reply->send_cnp)
        return;
    assert_in_range(bench->cnp_count, 0, BENCH_RECORDS - 1);
    bench->cnps[bench->cnp_count++] = now;
}

static void send_packet(struct bench *bench)
{
    struct oche_packet packet = {.frame_bytes = BENCH_LINE_BYTES - OCHE_GAP_BYTES};
    oche_time now = bench->next_packet;

    bench->now = now;
    if (bench->scheme->sent != NULL)
        bench->scheme->sent(&bench->flow, now, &packet, BENCH_LINE_BYTES);
    bench->next_packet = now + oche_time_of_bytes(BENCH_LINE_BYTES, bench->flow.rate_bps);
}

static void run_timer(struct bench *bench, unsigned index)
{
    struct oche_cc_reply reply = {0};

    bench->now = bench->flow.timer[index];
    bench->flow.timer[index] = OCHE_NEVER;
    bench->timer_calls++;
    bench->scheme->timer(&bench->flow, bench->now, index, &reply);
    reply_at(bench, bench->now, &reply);
}

/* Runs packets up to and including `packets`, timers up to and including `timers`. */
static void run(struct bench *bench, oche_time packets, oche_time timers)
{
    for (;;) {
        unsigned index = 0;

        for (unsigned i = 1; i < OCHE_CC_TIMERS; i++)
            if (bench->flow.timer[i] < bench->flow.timer[index])
                index = i;
        if (bench->next_packet <= packets && bench->next_packet <= bench->flow.timer[index])
            send_packet(bench);
        else if (bench->flow.timer[index] <= timers)
            run_timer(bench, index);
        else
            return;
    }
}

void bench_run(struct bench *bench, oche_time until)
{
    run(bench, until, until);
    bench->now = until;
}

static void run_before(struct bench *bench, oche_time at)
{
    assert_true(at >= bench->now);
    if (at == 0)
        run(bench, 0, 0);
    else
        run(bench, at, at - 1);
    bench->now = at;
}

void bench_cnp(struct bench *bench, oche_time at)
{
    struct oche_packet cnp = {.kind = OCHE_PACKET_ROCE};

    run_before(bench, at);
    bench->scheme->cnp(&bench->flow, at, &cnp);
}

void bench_data(struct bench *bench, oche_time at, bool marked)
{
    struct oche_packet packet = {.ecn = marked ? OCHE_ECN_CE : OCHE_ECN_ECT0};
    struct oche_cc_reply reply = {0};

    run_before(bench, at);
    bench->scheme->arrived(&bench->flow, at, &packet, &reply);
    reply_at(bench, at, &reply);
}

struct oche_packet bench_send(struct bench *bench, oche_time at, uint32_t psn, uint32_t payload)
{
    struct oche_packet packet = {.kind = OCHE_PACKET_ROCE,
                                 .opcode = OCHE_RC_WRITE_MIDDLE,
                                 .psn = psn & OCHE_PSN_MASK,
                                 .payload_bytes = (uint16_t)payload};
    uint32_t line_bytes = payload + BENCH_LINE_BYTES - bench->flow.mtu_bytes;

    packet.frame_bytes = (uint16_t)(line_bytes - OCHE_GAP_BYTES);
    assert_true(at >= bench->now);
    bench->now = at;
    bench->scheme->sent(&bench->flow, at, &packet, line_bytes);
    return packet;
}

void bench_ack(struct bench *bench, oche_time at, uint32_t psn)
{
    struct oche_packet packet = {.kind = OCHE_PACKET_ROCE,
                                 .opcode = OCHE_RC_ACK,
                                 .psn = psn & OCHE_PSN_MASK,
                                 .aeth = oche_aeth(OCHE_SYNDROME_ACK, 0)};
    struct oche_cc_ack ack = {.packet = &packet, .acked_bytes = 1, .rtt = OCHE_NEVER};

    assert_true(at >= bench->now);
    bench->now = at;
    bench->scheme->acked(&bench->flow, at, &ack);
}

double bench_alpha(const struct bench *bench)
{
    assert_true(bench->state_count > 0);
    return (double)bench->states[bench->state_count - 1].a * 0x1p-32;
}
