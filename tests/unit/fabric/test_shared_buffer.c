/* SPDX-License-Identifier: Apache-2.0 */
/* The buffer's arithmetic against the table of dcqcn.md#buffers, headroom, admission, the check. */
#include "tests/unit/fabric/rig.h"

#include <string.h>

#include "fabric/shared_buffer.h"

/* The paper's switch: 12 MB, 32 ports of 40 Gbit/s, 8 priorities, 22.4 KB. */
static void paper_switch(struct rig *rig)
{
    rig_init(rig, 32);
    rig->params.pfc_priorities = 8;
    rig->params.headroom_bytes = 22400;
}

/* A class's share of the free space, alpha, is 1 for any number of classes. */
static void automatic_shares(void **state)
{
    struct oche_buffer buffer[2];

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct rig rig;

        rig_init(&rig, 8);
        rig.params.pfc_priorities = OCHE_NEVER;
        rig.params.beta = 0;
        rig.params.buffer_bytes = 64000000;
        rig.config.lossless_classes = i == 0 ? 1 : 0xf;
        assert_int_equal(oche_buffer_plan(&rig.config).priorities, i == 0 ? 2 : 4);
        assert_true(oche_buffer_plan(&rig.config).beta == (i == 0 ? 2 : 4));
        oche_buffer_init(&buffer[i], &rig.config);
        rig.params.beta = 3; /* given values do not change */
        assert_true(oche_buffer_plan(&rig.config).beta == 3);
    }
    assert_int_equal(buffer[0].share, 65536);
    assert_int_equal(buffer[1].share, 65536);
}

static void paper_plan(void **state)
{
    struct rig rig;
    struct oche_buffer_plan plan;

    (void)state;
    paper_switch(&rig);
    plan = oche_buffer_plan(&rig.config);
    assert_int_equal(plan.headroom_total, 5734400);
    assert_int_equal(plan.shared, 6265600);
    assert_int_equal(plan.xoff, 24475);            /* "24.47 KB" */
    assert_int_equal(plan.xoff / 32, 764);         /* the static bound on t_ECN: below one MTU */
    assert_int_equal(plan.reserve, 2 * 32 * 1500); /* two lossless classes are in use */

    /* The same chip with eight ports in use. */
    rig_init(&rig, 8);
    rig.params.pfc_priorities = 8;
    rig.params.headroom_bytes = 22400;
    rig.params.chip_ports = 32;
    plan = oche_buffer_plan(&rig.config);
    assert_int_equal(plan.headroom_total, 5734400);
    assert_int_equal(plan.shared, 6265600);
    assert_int_equal(plan.xoff, 24475);
    assert_int_equal(plan.reserve, 2 * 8 * 1500);
    rig.params.headroom_bytes = OCHE_NEVER;
    rig.ports[3].delay *= 2; /* a port that is not in use counts as the largest */
    plan = oche_buffer_plan(&rig.config);
    assert_int_equal(plan.headroom_total, 8 * (7 * oche_buffer_headroom(&rig.config, 0) +
                                               25 * oche_buffer_headroom(&rig.config, 3)));
    assert_true(oche_buffer_headroom(&rig.config, 3) > oche_buffer_headroom(&rig.config, 0));
    paper_switch(&rig);

    rig.params.headroom_scale = 0.5;
    assert_int_equal(oche_buffer_plan(&rig.config).headroom_total, 5734400 / 2);
    rig.params.headroom_scale = 1;
    rig.params.pfc_priorities = 0; /* as many as are in use */
    assert_int_equal(oche_buffer_plan(&rig.config).headroom_total, 5734400 / 4);
    rig.params.xoff_bytes = 30000;
    assert_int_equal(oche_buffer_plan(&rig.config).xoff, 30000);
    rig.params.pfc = false;
    plan = oche_buffer_plan(&rig.config);
    assert_int_equal(plan.shared, 12000000);
    assert_int_equal(plan.reserve, 0);
    assert_int_equal(oche_buffer_headroom(&rig.config, 0), 0);
}

/* "24.47 KB" / 32, which the paper prints as 0.85 KB; and "21.75 KB" (dcqcn.md#buffers). */
static void paper_bounds(void **state)
{
    const struct oche_buffer_worst all = {.fan_out = 32, .classes = 8};
    struct rig rig;

    (void)state;
    paper_switch(&rig);
    double bound = oche_buffer_ecn_bound_of_paper(&rig.config, all);

    assert_true(bound > 21755.5 && bound < 21755.6); /* beta = 8 */
    rig.params.beta = 1e3;
    bound = oche_buffer_ecn_bound_of_paper(&rig.config, all);
    assert_true(bound > 24450 && bound < 24475); /* more beta, up to what all may have */
    rig.params.threshold = OCHE_THRESHOLD_STATIC;
    bound = oche_buffer_ecn_bound_of_paper(&rig.config, all);
    assert_true(bound > 764.8 && bound < 764.9);
}

/*
 * The worst case, carried out. All queues of the data class that ingress port 1 can feed grow in
 * turn by one small packet. Returns their length when port 1 is paused.
 */
static unsigned queue_at_pause(struct rig *rig, unsigned bytes)
{
    unsigned ports = rig->config.port_count, queue = 0;

    for (;; queue += bytes)
        for (unsigned out = 0; out < ports; out++) {
            assert_true(rig_in(rig, out == 1 ? 2 : 1, out, 0, (uint16_t)bytes, 0));
            for (unsigned in = 1; in <= 2; in++)
                if (oche_switch_is_pausing(rig->sw, in, 0) ||
                    rig_pause_frame(rig, in, 0, 0) == 0xffff)
                    return queue;
        }
}

/* The bound holds, and is not larger than necessary. */
static void bound_carried_out(void **state)
{
    (void)state;
    for (unsigned threshold = 0; threshold < 2; threshold++)
        for (double beta = 0.25; beta < 100; beta *= 4) {
            struct rig rig;

            rig_init(&rig, 6);
            rig.params.buffer_bytes = 1500000;
            rig.params.threshold = threshold;
            rig.params.beta = beta;
            rig_make(&rig);
            double bound = oche_buffer_ecn_bound(
                &rig.config, (struct oche_buffer_worst){.fan_out = 5, .classes = 1});
            double queue = queue_at_pause(&rig, 100);

            /* Queues of at most the bound: no PAUSE. One packet more everywhere: a PAUSE. */
            assert_true(queue >= bound - 100 && queue <= bound + 100);
            rig_free(&rig);
        }
}

/* A plain incast: the first of `ports` - 1 senders is paused. */
static void incast_carried_out(void **state)
{
    (void)state;
    for (unsigned threshold = 0; threshold < 3; threshold++) {
        struct rig rig;
        unsigned queue = 0;
        bool paused = false;

        rig_init(&rig, 9);
        rig.params.buffer_bytes = 3000000;
        rig.params.threshold = threshold % 2;
        rig.params.beta = threshold == 2 ? 1000 : 8; /* 1000: the reserve decides */
        rig_make(&rig);
        double expected = oche_buffer_incast_queue(&rig.config, 8);

        for (; !paused; queue += 8 * 100)
            for (unsigned in = 1; in < 9; in++) {
                assert_true(rig_in(&rig, in, 0, 0, 100, 0));
                paused |= rig_pause_frame(&rig, in, 0, 0) == 0xffff;
            }
        assert_true(queue >= expected && queue <= expected + 2 * 8 * 100);
        rig_free(&rig);
    }
}

static void dynamic_threshold(void **state)
{
    struct rig rig;
    struct oche_buffer buffer;
    uint64_t low = 0, high = 1000000;

    (void)state;
    paper_switch(&rig);
    oche_buffer_init(&buffer, &rig.config);
    /* beta = 8, 8 priorities: the free space. */
    assert_int_equal(oche_buffer_xoff_at(&buffer, 0), 6265600);
    assert_int_equal(oche_buffer_xoff_at(&buffer, 265600), 6000000);
    assert_int_equal(oche_buffer_xoff_at(&buffer, 6265600), 0);
    assert_int_equal(oche_buffer_xoff_at(&buffer, 9000000), 0);
    rig.params.beta = 2;
    oche_buffer_init(&buffer, &rig.config);
    assert_int_equal(oche_buffer_xoff_at(&buffer, 0), 6265600 / 4);
    rig.params.beta = 1.0 / 16;
    oche_buffer_init(&buffer, &rig.config);
    assert_int_equal(oche_buffer_xoff_at(&buffer, 0), 6265600 / 128);

    /*
     * The largest t_ECN that marks before PFC pauses: all 8 * 32 egress queues stand at it, and the
     * 32 of one priority were filled from a single ingress: "21.75 KB".
     */
    rig.params.beta = 8;
    oche_buffer_init(&buffer, &rig.config);
    while (high - low > 1) {
        uint64_t t_ecn = (low + high) / 2;
        if (oche_buffer_xoff_at(&buffer, UINT64_C(8) * 32 * t_ecn) > 32 * t_ecn)
            low = t_ecn;
        else
            high = t_ecn;
    }
    assert_int_equal(low, 21755);
}

static void static_threshold(void **state)
{
    struct rig rig;
    struct oche_buffer buffer;

    (void)state;
    paper_switch(&rig);
    rig.params.threshold = OCHE_THRESHOLD_STATIC;
    oche_buffer_init(&buffer, &rig.config);
    assert_int_equal(oche_buffer_xoff_at(&buffer, 0), 24475);
    assert_int_equal(oche_buffer_xoff_at(&buffer, 5000000), 24475);
}

static void headroom_from_link(void **state)
{
    struct rig rig;

    (void)state;
    rig_init(&rig, 2);
    rig.params.pfc_response = 500 * OCHE_NS;
    /* 40 Gbit/s is 5 bytes a nanosecond: 2 us of delay, 0.5 us of response, 2 MTU, 84 bytes. */
    assert_int_equal(oche_buffer_headroom(&rig.config, 0), 10000 + 2500 + 3000 + 84);
    rig.ports[1].delay = 5 * OCHE_US;
    rig.ports[1].rate_bps = 100 * OCHE_GBPS;
    assert_int_equal(oche_buffer_headroom(&rig.config, 1), 125000 + 6250 + 3000 + 84);
    /* The slower to obey counts. */
    rig.ports[1].peer_response = OCHE_US;
    assert_int_equal(oche_buffer_headroom(&rig.config, 1), 125000 + 12500 + 3000 + 84);
    rig.ports[1].peer_response = 100 * OCHE_NS;
    assert_int_equal(oche_buffer_headroom(&rig.config, 1), 125000 + 6250 + 3000 + 84);
    rig.params.headroom_scale = 0.5;
    assert_int_equal(oche_buffer_headroom(&rig.config, 0), 15584 / 2);
    assert_int_equal(oche_buffer_headroom_needed(&rig.config, 0), 15584);
    rig.params.headroom_scale = 1;
    rig.params.headroom_bytes = 1000;
    assert_int_equal(oche_buffer_headroom(&rig.config, 0), 1000);
    assert_int_equal(oche_buffer_headroom_needed(&rig.config, 0), 15584);
    rig.params.headroom_bytes = OCHE_NEVER;
    rig.params.headroom_scale = 1;
    rig_make(&rig);
    assert_int_equal(oche_switch_headroom_bytes(rig.sw, 0), 15584);
    assert_int_equal(oche_switch_headroom_bytes(rig.sw, 1), 134334);
    rig_free(&rig);
}

/* XOFF when the class holds more than t_PFC, the packet included; not when it holds just that. */
static void crossing(void **state)
{
    struct rig rig;

    (void)state;
    rig_init(&rig, 4);
    rig.params.threshold = OCHE_THRESHOLD_STATIC;
    rig.params.xoff_bytes = 5000;
    rig_make(&rig);
    for (int i = 0; i < 5; i++)
        assert_true(rig_in(&rig, 1, 2, 0, 1000, 0));
    assert_int_equal(oche_switch_pause_port(rig.sw), -1);
    assert_int_equal(oche_switch_ingress_bytes(rig.sw, 1, 0), 5000);
    assert_true(rig_in(&rig, 1, 2, 0, 64, 0));
    assert_int_equal(oche_switch_pause_port(rig.sw), 1);
    /* From now on the headroom, 15584 bytes, and not one byte more. */
    for (int i = 0; i < 15; i++)
        assert_true(rig_in(&rig, 1, 2, 0, 1000, 0));
    assert_true(rig_in(&rig, 1, 2, 0, 584, 0));
    assert_false(rig_in(&rig, 1, 2, 0, 64, 0));
    assert_int_equal(rig_stats(&rig, 2, 0).drops[OCHE_DROP_BUFFER], 1);
    assert_int_equal(oche_switch_occupied_bytes(rig.sw), 5064 + 15584);
    /* Another class, and another port, have their own accounts. */
    assert_true(rig_in(&rig, 1, 2, 1, 1000, 0));
    assert_true(rig_in(&rig, 3, 2, 0, 1000, 0));
    assert_int_equal(oche_switch_pause_port(rig.sw), -1);
    while (rig_out(&rig, 2, 0) > 0)
        continue;
    assert_int_equal(oche_switch_occupied_bytes(rig.sw), 0);
    assert_int_equal(oche_switch_ingress_bytes(rig.sw, 1, 0), 0);
    rig_free(&rig);
}

/*
 * A shared part that is almost full. A class that holds nothing crosses the threshold with its
 * first packet, which is still stored. The same is true of every class of every port.
 */
static void crossing_reserve(void **state)
{
    struct rig rig;
    struct oche_buffer_plan plan;
    uint64_t before;

    (void)state;
    rig_init(&rig, 8);
    rig.params.beta = 1024;
    plan = oche_buffer_plan(&rig.config);
    rig.params.buffer_bytes = plan.headroom_total + plan.reserve + 10000;
    rig_make(&rig);
    while (oche_switch_pause_port(rig.sw) != 0)
        assert_true(rig_in(&rig, 0, 7, 0, RIG_MTU, 0));
    before = oche_switch_occupied_bytes(rig.sw);
    assert_in_range(before, 10001, 10000 + RIG_MTU);
    for (unsigned port = 0; port < 8; port++)
        for (unsigned cls = 0; cls < 2; cls++) {
            if (port == 0 && cls == 0)
                continue;
            assert_true(rig_in(&rig, port, 7, cls, RIG_MTU, 0));
        }
    assert_int_equal(oche_switch_occupied_bytes(rig.sw), before + 15 * RIG_MTU);
    for (unsigned port = 0; port < 8; port++)
        assert_int_equal(rig_pause_frame(&rig, port, 0, 0), 0xffff);
    for (unsigned port = 0; port < 8; port++) /* and all headrooms are still whole */
        for (unsigned i = 0; i < oche_switch_headroom_bytes(rig.sw, port) / RIG_MTU; i++)
            assert_true(rig_in(&rig, port, 7, 0, RIG_MTU, 0));
    assert_true(oche_switch_occupied_bytes(rig.sw) <= rig.params.buffer_bytes);
    while (rig_out(&rig, 7, 0) > 0)
        continue;
    for (unsigned port = 0; port < 8; port++)
        assert_int_equal(rig_pause_frame(&rig, port, 0, 0), 0);
    rig_free(&rig);
}

static void drop_tail(void **state)
{
    struct rig rig;
    unsigned taken = 0;

    (void)state;
    rig_init(&rig, 4);
    rig.params.pfc = false;
    rig.params.buffer_bytes = 100000;
    rig.params.egress_alpha = 0;
    rig_make(&rig);
    while (rig_in(&rig, 0, 1, 0, 1000, 0))
        taken++;
    assert_int_equal(taken, 100); /* the whole buffer */
    assert_int_equal(oche_switch_pause_port(rig.sw), -1);
    rig_free(&rig);

    /* alpha = 1: a queue takes half of the space; the next one takes half of the rest. */
    rig.params.egress_alpha = 1;
    rig_make(&rig);
    for (taken = 0; rig_in(&rig, 0, 1, 0, 1000, 0); taken++)
        continue;
    assert_int_equal(taken, 50);
    for (taken = 0; rig_in(&rig, 0, 2, 0, 1000, 0); taken++)
        continue;
    assert_int_equal(taken, 25);
    assert_int_equal(rig_stats(&rig, 2, 0).drops[OCHE_DROP_BUFFER], 1);
    rig_free(&rig);

    /* 22.5 KB a port, all classes together. */
    rig.params.port_buffer_bytes = 22500;
    rig.params.egress_alpha = 0;
    rig_make(&rig);
    for (taken = 0; rig_in(&rig, 0, 1, taken % 2, 1000, 0); taken++)
        continue;
    assert_int_equal(taken, 22);
    assert_true(rig_in(&rig, 0, 1, 0, 500, 0));
    assert_false(rig_in(&rig, 0, 1, 0, 1, 0));
    assert_true(rig_in(&rig, 0, 2, 0, 1000, 0));
    rig_free(&rig);
}

/* A lossy class beside a lossless one: it can neither take the reserve nor cause a PAUSE. */
static void mixed_classes(void **state)
{
    struct rig rig;
    struct oche_buffer_plan plan;

    (void)state;
    rig_init(&rig, 4);
    rig.config.lossless_classes = 2;
    rig.params.pfc_priorities = 1;
    rig.params.egress_alpha = 0;
    plan = oche_buffer_plan(&rig.config);
    rig.params.buffer_bytes = plan.headroom_total + plan.reserve + 20000;
    rig_make(&rig);
    for (unsigned i = 0; i < 20; i++)
        assert_true(rig_in(&rig, 0, 1, 0, 1000, 0));
    assert_false(rig_in(&rig, 0, 1, 0, 1000, 0));
    assert_int_equal(oche_switch_pause_port(rig.sw), -1);
    assert_true(rig_in(&rig, 0, 1, 1, RIG_MTU, 0));
    assert_int_equal(oche_switch_pause_port(rig.sw), 0);
    assert_int_equal(rig_pause_frame(&rig, 0, 1, 0), 0xffff);
    assert_int_equal(rig_out(&rig, 1, 0), RIG_MTU); /* class 1 first */
    assert_int_equal(rig_pause_frame(&rig, 0, 1, 0), 0);
    rig_free(&rig);
}

static void check_refuses(struct rig *rig, const char *expected)
{
    struct oche_error why = {""};

    assert_false(oche_switch_check(&rig->config, &why));
    assert_string_equal(why.text, expected);
}

static void impossible(void **state)
{
    struct rig rig;

    (void)state;
    rig_init(&rig, 32);
    rig.params.pfc_priorities = 8;
    for (unsigned i = 0; i < 32; i++)
        rig.ports[i].delay = 5 * OCHE_US;
    check_refuses(&rig, "buffer: 12000000 bytes is less than the PFC headroom of 14229504 bytes "
                        "(32 ports, 8 pfc_priorities, up to 55584 bytes each) and 96000 bytes for "
                        "packets that cross a threshold; would be right: more than 14325504 bytes, "
                        "with which nothing is left to share, fewer pfc_priorities, or pfc: false");
    rig.params.buffer_bytes = 14325504;
    assert_true(oche_switch_check(&rig.config, NULL));
    rig.params.buffer_bytes--;
    assert_false(oche_switch_check(&rig.config, NULL));

    rig_init(&rig, 4);
    rig.params.pfc_priorities = 1;
    check_refuses(&rig, "pfc_priorities: 1 for 2 lossless classes; would be right: 2 or more");
    rig_init(&rig, 4);
    rig.params.kmin_bytes = 300000;
    check_refuses(&rig, "kmin: 300000 bytes is above kmax, 200000 bytes; would be right: at most "
                        "kmax");
    rig.params.ecn = false;
    assert_true(oche_switch_check(&rig.config, NULL));
    rig_init(&rig, 4);
    rig.params.port_buffer_bytes = 225000;
    check_refuses(&rig, "port_buffer: 225000 bytes limits lossy classes, and PFC makes all 2 "
                        "classes lossless; would be right: 0, or pfc: false");
    rig_init(&rig, 4);
    rig.params.chip_ports = 3;
    check_refuses(&rig, "chip_ports: 3 for a switch with 4 ports; would be right: 4 or more, or 0");
    rig.params.chip_ports = 4;
    assert_true(oche_switch_check(&rig.config, NULL));
    rig_init(&rig, 4);
    rig.params.headroom_bytes = UINT64_C(1) << 40;
    check_refuses(&rig, "headroom: 1099511627776 bytes a port and class; at most 2147483647 bytes");
    rig_init(&rig, 4);
    rig.config.class_count = 9;
    check_refuses(&rig, "classes: 9; would be right: 1 to 8");
    rig_init(&rig, 4);
    rig.config.lossless_classes = 4;
    check_refuses(&rig, "lossless classes: mask 4 names a class that is not in use; 2 are");
    rig_init(&rig, 4);
    rig.ports[2].rate_bps = 0;
    check_refuses(&rig, "rate: 0 at port 2; would be right: above 0");
    rig_init(&rig, 0);
    check_refuses(&rig, "ports: 0; would be right: 1 to 65535");
}

/* Every default lies in its own range. The table covers each field of the struct once. */
static void parameters(void **state)
{
    (void)state;
    for (size_t i = 0; i < oche_switch_params.count; i++) {
        const struct oche_param *param = &oche_switch_params.params[i];
        struct oche_switch_params params;

        assert_true(oche_param_in_range(param, param->preset));
        oche_param_defaults(&oche_switch_params, &params);
        assert_int_equal(oche_param_get(param, &params).u, param->preset.u);
        assert_ptr_equal(oche_param_find(&oche_switch_params, param->name), param);
        for (size_t j = 0; j < i; j++)
            assert_int_not_equal(param->offset, oche_switch_params.params[j].offset);
    }
}

/*
 * A class that holds nothing resumes even if the buffer is full. Its next packet crosses again,
 * within the reserve. A class that holds something waits until the reserve is whole.
 */
static void empty_class_resumes(void **state)
{
    struct rig rig;
    struct oche_buffer buffer;
    struct oche_ingress in = {.xoff = 1};

    (void)state;
    paper_switch(&rig);
    oche_buffer_init(&buffer, &rig.config);
    buffer.used = buffer.limit + 1500;
    assert_true(oche_buffer_resume_level(&buffer, &in) > (int64_t)buffer.size);
    in.xoff = 0;
    assert_false(oche_buffer_admit(&buffer, &in, 1500));
    assert_int_equal(oche_buffer_cross(&buffer, &in, 1500, 22400), OCHE_BUFFER_CROSSED);
    assert_int_equal(in.headroom_used, 0);
    assert_true(oche_buffer_resume_level(&buffer, &in) <= (int64_t)buffer.limit);
    oche_buffer_release(&buffer, &in, 1500);
    assert_true(oche_buffer_resume_level(&buffer, &in) > (int64_t)buffer.used);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paper_plan),
        cmocka_unit_test(automatic_shares),
        cmocka_unit_test(paper_bounds),
        cmocka_unit_test(bound_carried_out),
        cmocka_unit_test(incast_carried_out),
        cmocka_unit_test(dynamic_threshold),
        cmocka_unit_test(static_threshold),
        cmocka_unit_test(headroom_from_link),
        cmocka_unit_test(crossing),
        cmocka_unit_test(crossing_reserve),
        cmocka_unit_test(drop_tail),
        cmocka_unit_test(mixed_classes),
        cmocka_unit_test(empty_class_resumes),
        cmocka_unit_test(impossible),
        cmocka_unit_test(parameters),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
