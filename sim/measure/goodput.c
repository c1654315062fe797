/* SPDX-License-Identifier: Apache-2.0 */
/* Goodput of several entities; see the header. */
#include "sim/measure/goodput.h"

#include <stdlib.h>

#include "sim/measure/fairness.h"
#include "sim/measure/percentile.h"

struct oche_goodput oche_goodput(const uint64_t *bytes, size_t count, oche_time measured)
{
    struct oche_goodput goodput = {.jain = -1};
    uint64_t *sorted = calloc(count + 1, sizeof(*sorted));
    double *shares = calloc(count + 1, sizeof(*shares));

    if (sorted == NULL || shares == NULL)
        oche_panic(__FILE__, __LINE__, "out of memory for goodput");
    for (size_t i = 0; i < count; i++) {
        goodput.bytes += bytes[i];
        sorted[i] = oche_rate_of(bytes[i], measured);
        shares[i] = (double)bytes[i];
    }
    goodput.total_bps = oche_rate_of(goodput.bytes, measured);
    if (count > 0) {
        oche_sort_u64(sorted, count);
        goodput.smallest_bps = sorted[0];
        goodput.median_bps = oche_percentile_u64(sorted, count, 500);
        goodput.largest_bps = sorted[count - 1];
        goodput.jain = oche_jain_index(shares, count);
    }
    free(sorted);
    free(shares);
    return goodput;
}
