/* SPDX-License-Identifier: Apache-2.0 */
#include <infiniband/verbs.h>
#include <stdio.h>
int main(void)
{
    int n = 0;
    ibv_get_device_list(&n);
    printf("%d devices\n", n);
    return n == 0;
}
