/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state changes of a queue pair that the standard allows. For each change and transport: the
 * required and the optional attributes (InfiniBand specification, "Modify Queue Pair").
 */
#include "device/verbs/internal.h"

enum { RC, UC, UD, TRANSPORTS };

struct transition {
    bool valid;
    int required[TRANSPORTS], optional[TRANSPORTS];
};

/* Attributes that may be changed in a connected queue pair. */
#define UD_LATER (IBV_QP_CUR_STATE | IBV_QP_QKEY)
#define UC_LATER (IBV_QP_CUR_STATE | IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PATH_MIG_STATE)
#define RC_LATER (UC_LATER | IBV_QP_MIN_RNR_TIMER)

#define UD_INIT  (IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY)
#define CON_INIT (IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS)

#define UC_PATH (IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN)
#define RC_PATH (UC_PATH | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER)
#define CON_ALT (IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX)

#define RC_SEND                                                                                    \
    (IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC)

#define UC_SQD                                                                                     \
    (IBV_QP_AV | IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX | IBV_QP_PATH_MIG_STATE)
#define RC_SQD                                                                                     \
    (UC_SQD | IBV_QP_PORT | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |                 \
     IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER)

static const struct transition table[IBV_QPS_ERR + 1][IBV_QPS_ERR + 1] = {
    [IBV_QPS_RESET][IBV_QPS_INIT] = {true, {CON_INIT, CON_INIT, UD_INIT}, {0}},
    [IBV_QPS_INIT][IBV_QPS_INIT] = {true, {0}, {CON_INIT, CON_INIT, UD_INIT}},
    [IBV_QPS_INIT][IBV_QPS_RTR] = {true,
                                   {RC_PATH, UC_PATH, 0},
                                   {CON_ALT, CON_ALT, IBV_QP_PKEY_INDEX | IBV_QP_QKEY}},
    [IBV_QPS_RTR][IBV_QPS_RTS] = {true,
                                  {RC_SEND, IBV_QP_SQ_PSN, IBV_QP_SQ_PSN},
                                  {RC_LATER, UC_LATER, UD_LATER}},
    [IBV_QPS_RTS][IBV_QPS_RTS] = {true, {0}, {RC_LATER, UC_LATER, UD_LATER}},
    [IBV_QPS_RTS][IBV_QPS_SQD] = {true,
                                  {0},
                                  {IBV_QP_EN_SQD_ASYNC_NOTIFY, IBV_QP_EN_SQD_ASYNC_NOTIFY,
                                   IBV_QP_EN_SQD_ASYNC_NOTIFY}},
    [IBV_QPS_SQD][IBV_QPS_RTS] = {true, {0}, {RC_LATER, UC_LATER, UD_LATER}},
    [IBV_QPS_SQD][IBV_QPS_SQD] = {true, {0}, {RC_SQD, UC_SQD, IBV_QP_PKEY_INDEX | IBV_QP_QKEY}},
    /* RC has no state SQE. */
    [IBV_QPS_SQE][IBV_QPS_RTS] = {true, {0}, {0, IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS, UD_LATER}},
};

static int transport_of(enum ibv_qp_type type)
{
    switch (type) {
    case IBV_QPT_RC:
        return RC;
    case IBV_QPT_UC:
        return UC;
    case IBV_QPT_UD:
        return UD;
    default:
        return -1;
    }
}

bool ov_transition_ok(enum ibv_qp_type type, enum ibv_qp_state from, enum ibv_qp_state to,
                      int attr_mask)
{
    const int transport = transport_of(type);
    const int others = attr_mask & ~IBV_QP_STATE;
    const struct transition *transition;

    if (transport < 0 || from > IBV_QPS_ERR || to > IBV_QPS_ERR)
        return false;
    /* allowed from any state, without other attributes */
    if (to == IBV_QPS_RESET || to == IBV_QPS_ERR)
        return others == 0;
    transition = &table[from][to];
    if (!transition->valid || (transport == RC && from == IBV_QPS_SQE))
        return false;
    return (others & transition->required[transport]) == transition->required[transport] &&
           (others & ~(transition->required[transport] | transition->optional[transport])) == 0;
}
