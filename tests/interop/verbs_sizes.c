/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every path MTU, sizes from nothing to a mebibyte and odd ones around each packet's end, RC, UC
 * and UD, SEND, WRITE and READ through the verbs library: every byte is compared, and those beside
 * the message. Then: a queue pair keeps to its rate limit.
 */
#include "tests/interop/verbs_bench.h"

#include <stdlib.h>
#include <string.h>

#include "core/base.h"

#define GRH        40
#define GUARD      64
#define UC_PACKETS 500

static const enum ibv_mtu mtus[] = {IBV_MTU_256, IBV_MTU_512, IBV_MTU_1024, IBV_MTU_2048,
                                    IBV_MTU_4096};

static uint32_t bytes_of(enum ibv_mtu mtu)
{
    return UINT32_C(128) << mtu;
}

/* Sizes for a path MTU, as many as fit; returns how many. */
static unsigned sizes_of(uint32_t mtu, uint32_t *sizes)
{
    static const uint32_t fixed[] = {0, 1, 2, 3, 5, 64, 1000, 65535, 65536, 65537, 100001, 1000003};
    const uint32_t largest = BYTES - 2 * GUARD;
    unsigned count = 0;

    for (unsigned i = 0; i < OCHE_COUNT_OF(fixed); i++)
        sizes[count++] = fixed[i];
    for (uint32_t packets = 1; packets <= 16; packets *= 2)
        for (uint32_t i = 0; i < 3; i++)
            sizes[count++] = packets * mtu + i - 1;
    sizes[count++] = largest;
    return count;
}

static bool untouched(const struct end *end, uint32_t from, uint32_t to, uint8_t fill)
{
    for (uint32_t i = from; i < to; i++)
        if (end->memory[i] != fill)
            return false;
    return true;
}

/* Checks that `to` has the bytes of `from` at `offset`, and that nothing beside them changed. */
static void compare(const struct end *from, const struct end *to, uint32_t offset, uint32_t size,
                    const char *what, uint32_t mtu)
{
    if (memcmp(from->memory + GUARD, to->memory + offset, size) != 0)
        fail_msg("%s of %u bytes, MTU %u: wrong data", what, size, mtu);
    if (!untouched(to, offset - GUARD / 2, offset, 0xee) ||
        !untouched(to, offset + size, offset + size + GUARD / 2, 0xee))
        fail_msg("%s of %u bytes, MTU %u: a byte beside the message changed", what, size, mtu);
}

static void prepare(struct bench *bench, uint32_t size)
{
    fill(bench->end[0].memory, BYTES, size + 1);
    memset(bench->end[1].memory, 0xee, BYTES);
}

static void one_send(struct bench *bench, uint32_t size, uint32_t mtu, bool datagrams)
{
    struct end *from = &bench->end[0], *to = &bench->end[1];
    struct ibv_sge sge = sge_of(from, GUARD, size);
    struct ibv_ah_attr address = address_of(bench);
    struct ibv_send_wr wr = {.wr_id = 7,
                             .opcode = IBV_WR_SEND,
                             .sg_list = &sge,
                             .num_sge = 1,
                             .send_flags = IBV_SEND_SIGNALED};
    const uint32_t header = datagrams ? GRH : 0;
    struct ibv_ah *ah = NULL;
    struct ibv_wc wc;

    prepare(bench, size);
    if (datagrams) {
        ah = ibv_create_ah(bench->pd, &address);
        assert_non_null(ah);
        wr.wr.ud.ah = ah;
        wr.wr.ud.remote_qpn = to->qp->qp_num;
        wr.wr.ud.remote_qkey = QKEY;
    }
    post_recv(to, 8, GUARD - header, size + header);
    post(from, &wr);
    expect(from->cq, 7, IBV_WC_SUCCESS);
    wc = expect(to->cq, 8, IBV_WC_SUCCESS);
    assert_int_equal(wc.byte_len, size + header);
    if (!datagrams)
        compare(from, to, GUARD, size, "SEND", mtu);
    else if (memcmp(from->memory + GUARD, to->memory + GUARD, size) != 0 ||
             !untouched(to, GUARD + size, 2 * GUARD + size, 0xee))
        fail_msg("datagram of %u bytes, MTU %u: wrong", size, mtu);
    if (ah != NULL)
        assert_int_equal(ibv_destroy_ah(ah), 0);
}

/* An unreliable WRITE completes when it has left, so the last one's immediate shows the arrival. */
static void one_write(struct bench *bench, uint32_t size, uint32_t mtu)
{
    struct end *from = &bench->end[0], *to = &bench->end[1];
    struct ibv_sge sge = sge_of(from, GUARD, size);
    struct ibv_send_wr wr = remote(IBV_WR_RDMA_WRITE_WITH_IMM, 7, &sge, to, GUARD);

    prepare(bench, size);
    post_recv(to, 8, 0, 0);
    post(from, &wr);
    expect(from->cq, 7, IBV_WC_SUCCESS);
    expect(to->cq, 8, IBV_WC_SUCCESS);
    compare(from, to, GUARD, size, "WRITE", mtu);
}

static void one_read(struct bench *bench, uint32_t size, uint32_t mtu)
{
    struct end *from = &bench->end[0], *to = &bench->end[1];
    struct ibv_sge sge = sge_of(to, GUARD, size);
    struct ibv_send_wr wr = remote(IBV_WR_RDMA_READ, 7, &sge, from, GUARD);

    prepare(bench, size);
    post(to, &wr);
    expect(to->cq, 7, IBV_WC_SUCCESS);
    compare(from, to, GUARD, size, "READ", mtu);
}

static void sweep(enum ibv_qp_type type)
{
    for (unsigned i = 0; i < OCHE_COUNT_OF(mtus); i++) {
        const uint32_t mtu = bytes_of(mtus[i]);
        struct bench *bench = open_bench(type, mtus[i], NULL);
        uint32_t sizes[64];
        const unsigned count = sizes_of(mtu, sizes);

        for (unsigned j = 0; j < count; j++) {
            if (type == IBV_QPT_UD) { /* a datagram is one packet, of the port's MTU */
                if (sizes[j] <= bytes_of(IBV_MTU_4096))
                    one_send(bench, sizes[j], mtu, true);
                continue;
            }
            /* UC: packets that do not fit into the socket's buffer are lost for good. */
            if (type == IBV_QPT_UC && sizes[j] / mtu > UC_PACKETS)
                continue;
            one_send(bench, sizes[j], mtu, false);
            one_write(bench, sizes[j], mtu);
            if (type == IBV_QPT_RC)
                one_read(bench, sizes[j], mtu);
        }
        close_bench(bench, false);
    }
}

static void test_rc(void **state)
{
    (void)state;
    sweep(IBV_QPT_RC);
}

static void test_uc(void **state)
{
    (void)state;
    sweep(IBV_QPT_UC);
}

static void test_ud(void **state)
{
    (void)state;
    sweep(IBV_QPT_UD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rc),
        cmocka_unit_test(test_uc),
        cmocka_unit_test(test_ud),
    };

    setenv("OCHE_DEVICE", "127.34.0.5", 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
