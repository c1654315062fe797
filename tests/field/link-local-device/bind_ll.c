/* SPDX-License-Identifier: Apache-2.0 */
/* gcc bind_ll.c -o bind_ll -lrdmacm -libverbs; oche exec -- ./bind_ll fe80::...  IFNAME */
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <string.h>
int main(int n, char **v)
{
    struct sockaddr_in6 a = {.sin6_family = AF_INET6, .sin6_port = htons(7471)};
    struct rdma_cm_id *id;
    if (n < 3 || inet_pton(AF_INET6, v[1], &a.sin6_addr) != 1)
        return 2;
    a.sin6_scope_id = if_nametoindex(v[2]);
    if (rdma_create_id(rdma_create_event_channel(), &id, NULL, RDMA_PS_TCP))
        return 2;
    int r = rdma_bind_addr(id, (struct sockaddr *)&a);
    printf("rdma_bind_addr: %s\n", r ? strerror(errno) : "ok");
    return r != 0;
}
