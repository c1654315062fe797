/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/pair_check.h"

#include <stdio.h>

#include "core/qp/check.h"

#define CHECK_EVERY 4 /* steps; a check at each step would double the time of the random tests */

void pair_check(struct pair *pair)
{
    const struct oche_qp *which;

    if (++pair->steps % CHECK_EVERY != 0)
        return;
    for (int s = 0; s < 2; s++) {
        const char *broken = oche_nic_check(pair->side[s].nic, &which);
        if (broken == NULL)
            continue;
        fprintf(stderr, "side %d, queue pair %x: it does not hold that %s\n", s,
                which == NULL ? 0 : oche_qp_number(which), broken);
        pair_dump(pair);
        oche_panic(__FILE__, __LINE__, broken);
    }
}
