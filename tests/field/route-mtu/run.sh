#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# as root: sh run.sh OCHE ; two namespaces, interface MTU 9000, route MTU 1500
O=${1:-oche}
ip netns add rma && ip netns add rmb &&
    ip link add va netns rma type veth peer name vb netns rmb || exit 1
for n in a b; do ip -n rm$n link set lo up; ip -n rm$n link set v$n mtu 9000 up; done
ip -n rma addr add 10.9.0.1/24 dev va; ip -n rmb addr add 10.9.0.2/24 dev vb; sleep 1
ip -n rma route change 10.9.0.0/24 dev va src 10.9.0.1 mtu 1500
ip netns exec rmb timeout 30 "$O" exec -- ib_write_bw -s 8192 -n 20 >/dev/null 2>&1 & s=$!
sleep 2
ip netns exec rma timeout 30 "$O" exec --stats -- ib_write_bw -s 8192 -n 20 10.9.0.2
echo "client rc $?"
kill $s 2>/dev/null; wait; ip netns del rma; ip netns del rmb
