/* SPDX-License-Identifier: Apache-2.0 */
/* Jain's fairness index. */
#include "sim/measure/fairness.h"

double oche_jain_index(const double *shares, size_t count)
{
    double largest = 0, sum = 0, squares = 0;

    for (size_t i = 0; i < count; i++)
        largest = shares[i] > largest ? shares[i] : largest;
    if (largest <= 0)
        return -1;
    for (size_t i = 0; i < count; i++) {
        double share = shares[i] / largest; /* at most 1, so its square cannot overflow */

        sum += share;
        squares += share * share;
    }
    return sum * sum / ((double)count * squares);
}
