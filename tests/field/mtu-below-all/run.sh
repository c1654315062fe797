#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# as root: bash run.sh OCHE MTU ; two namespaces whose interfaces have this MTU, and perftest
ip netns add rma && ip netns add rmb &&
    ip link add va netns rma type veth peer name vb netns rmb || exit 1
for n in a b; do
    ip -n rm$n link set lo up
    ip -n rm$n link set v$n mtu "$2" up
done
ip -n rma addr add 10.9.0.1/24 dev va
ip -n rmb addr add 10.9.0.2/24 dev vb
sleep 1
ip netns exec rmb timeout 30 "$1" exec -- ib_write_bw -n 20 >/dev/null 2>&1 &
server=$!
sleep 2
ip netns exec rma timeout 30 "$1" exec -- ib_write_bw -n 20 10.9.0.2
echo "client rc $?"
kill $server 2>/dev/null
wait
ip netns del rma
ip netns del rmb
