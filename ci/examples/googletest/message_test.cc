// SPDX-License-Identifier: Apache-2.0
// Two queue pairs of one process exchange messages: googletest on verbs. Run it by ctest under
// `oche exec`, with a lossy link or without one (docs/ci.md).
#include <infiniband/verbs.h>

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <vector>

namespace {

constexpr uint32_t kBytes = 1 << 16;
constexpr int kMessages = 64;

class Messages : public ::testing::Test {
  protected:
    void SetUp() override
    {
        ibv_device **list = ibv_get_device_list(nullptr);
        ASSERT_TRUE(list && list[0]) << "there is no RDMA device; run this by `oche exec`";
        context_ = ibv_open_device(list[0]);
        ibv_free_device_list(list);
        ASSERT_TRUE(context_);
        pd_ = ibv_alloc_pd(context_);
        ASSERT_TRUE(pd_);
        cq_ = ibv_create_cq(context_, 2 * kMessages, nullptr, nullptr, 0);
        ASSERT_TRUE(cq_);
        mr_ = ibv_reg_mr(pd_, memory_.data(), memory_.size(), IBV_ACCESS_LOCAL_WRITE);
        ASSERT_TRUE(mr_);
        ASSERT_EQ(ibv_query_gid(context_, 1, 0, &gid_), 0);
        for (ibv_qp *&qp : qp_) {
            ibv_qp_init_attr init = {};
            init.send_cq = init.recv_cq = cq_;
            init.qp_type = IBV_QPT_RC;
            init.cap = {kMessages, kMessages, 1, 1, 0};
            qp = ibv_create_qp(pd_, &init);
            ASSERT_TRUE(qp);
        }
    }

    void TearDown() override
    {
        for (ibv_qp *qp : qp_)
            if (qp)
                ibv_destroy_qp(qp);
        if (mr_)
            ibv_dereg_mr(mr_);
        if (cq_)
            ibv_destroy_cq(cq_);
        if (pd_)
            ibv_dealloc_pd(pd_);
        if (context_)
            ibv_close_device(context_);
    }

    // Connects a queue pair to the one with that number. timeout: of 4.096 us * 2^timeout.
    void Connect(ibv_qp *qp, uint32_t to, uint8_t timeout, uint8_t retries)
    {
        ibv_qp_attr attr = {};
        attr.qp_state = IBV_QPS_INIT;
        attr.port_num = 1;
        ASSERT_EQ(ibv_modify_qp(qp, &attr,
                                IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
                                    IBV_QP_ACCESS_FLAGS),
                  0);
        attr.qp_state = IBV_QPS_RTR;
        attr.path_mtu = IBV_MTU_1024;
        attr.dest_qp_num = to;
        attr.max_dest_rd_atomic = 1;
        attr.min_rnr_timer = 12;
        attr.ah_attr.is_global = 1;
        attr.ah_attr.port_num = 1;
        attr.ah_attr.grh.dgid = gid_;
        attr.ah_attr.grh.hop_limit = 64;
        ASSERT_EQ(ibv_modify_qp(qp, &attr,
                                IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                                    IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
                                    IBV_QP_MIN_RNR_TIMER),
                  0);
        attr.qp_state = IBV_QPS_RTS;
        attr.timeout = timeout;
        attr.retry_cnt = retries;
        attr.rnr_retry = 7;
        attr.max_rd_atomic = 1;
        ASSERT_EQ(ibv_modify_qp(qp, &attr,
                                IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
                                    IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC),
                  0);
    }

    ibv_sge Piece(size_t offset)
    {
        return {reinterpret_cast<uintptr_t>(memory_.data()) + offset, kBytes, mr_->lkey};
    }

    void Send(ibv_qp *qp, size_t offset)
    {
        ibv_sge piece = Piece(offset);
        ibv_send_wr work = {}, *bad;
        work.opcode = IBV_WR_SEND;
        work.send_flags = IBV_SEND_SIGNALED;
        work.sg_list = &piece;
        work.num_sge = 1;
        ASSERT_EQ(ibv_post_send(qp, &work, &bad), 0);
    }

    void Receive(ibv_qp *qp, size_t offset)
    {
        ibv_sge piece = Piece(offset);
        ibv_recv_wr work = {}, *bad;
        work.sg_list = &piece;
        work.num_sge = 1;
        ASSERT_EQ(ibv_post_recv(qp, &work, &bad), 0);
    }

    ibv_wc Wait()
    {
        ibv_wc done = {};
        int count;
        while ((count = ibv_poll_cq(cq_, 1, &done)) == 0)
            ;
        EXPECT_EQ(count, 1);
        return done;
    }

    ibv_context *context_ = nullptr;
    ibv_pd *pd_ = nullptr;
    ibv_cq *cq_ = nullptr;
    ibv_mr *mr_ = nullptr;
    ibv_qp *qp_[2] = {};
    ibv_gid gid_ = {};
    std::vector<char> memory_ = std::vector<char>(2 * kBytes);
};

TEST_F(Messages, ArriveInOrderAndWhole)
{
    Connect(qp_[0], qp_[1]->qp_num, 14, 7);
    Connect(qp_[1], qp_[0]->qp_num, 14, 7);
    for (int i = 0; i < kMessages; i++) {
        memset(memory_.data(), 'a' + i % 26, kBytes);
        Receive(qp_[1], kBytes);
        Send(qp_[0], 0);
        for (int completions = 0; completions < 2; completions++) {
            ibv_wc done = Wait();
            ASSERT_EQ(done.status, IBV_WC_SUCCESS) << ibv_wc_status_str(done.status);
        }
        ASSERT_EQ(memcmp(memory_.data(), memory_.data() + kBytes, kBytes), 0) << "message " << i;
    }
}

// An application must come to terms with a peer that is gone.
TEST_F(Messages, FailWhereNobodyIs)
{
    Connect(qp_[0], 0xfffffe, 8, 1);
    Send(qp_[0], 0);
    ASSERT_EQ(Wait().status, IBV_WC_RETRY_EXC_ERR);
}

} // namespace
