/* SPDX-License-Identifier: Apache-2.0 */
/* RED marking. The header says which rules are the paper's and which are ours. */
#include "fabric/ecn.h"

void oche_red_init(struct oche_red *red, const struct oche_switch_params *params, uint64_t seed,
                   uint32_t node)
{
    *red = (struct oche_red){
        .kmin = UINT64_MAX, .kmax = UINT64_MAX, .random = oche_random_stream(seed, "red", node)};
    if (!params->ecn)
        return;
    red->kmin = params->kmin_bytes;
    red->kmax = params->kmax_bytes;
    if (red->kmax > red->kmin)
        red->slope = (uint64_t)(params->pmax * 0x1p63 / (double)(red->kmax - red->kmin));
}

bool oche_red_mark(struct oche_red *red, struct oche_packet *packet, uint64_t queue)
{
    if (packet->ecn != OCHE_ECN_ECT0 && packet->ecn != OCHE_ECN_ECT1)
        return false;
    if ((oche_random_u64(&red->random) >> 1) >= oche_red_probability(red, queue))
        return false;
    packet->ecn = OCHE_ECN_CE;
    return true;
}
