# SPDX-License-Identifier: Apache-2.0
"""rdma_cm at an interface that has a link-local address alone."""
import os
import shutil

MAKE = """ip link set lo up; ip link add some0 type veth peer name some1 &&
ip link set some0 address 02:00:00:00:00:01 addrgenmode eui64 && ip link set some1 up &&
ip link set some0 up || exit 77
for i in 1 2 3 4 5 6 7 8 9 10; do ip addr show some0 | grep -q tentative && sleep 0.5; done
exec "$@" fe80::ff:fe00:1 some0
"""


def check(case):
    """rdma_bind_addr fails with ENODEV, and one line says why; docs/verbs.md names the exception
    from "one for each IP address"."""
    if not all(shutil.which(name) for name in ("unshare", "ip")):
        case.skip("unshare or ip is missing")
    built = case.run(*os.environ.get("CC", "cc").split(), "bind_ll.c", "-o", "bind_ll",
                     "-lrdmacm", "-libverbs")
    if built.returncode != 0:
        case.skip(f"it does not compile: {built.stderr}")
    done = case.run("unshare", "-Urn", "sh", "-c", MAKE, "sh", os.path.abspath(os.environ["OCHE"]),
                    "exec", "--", case.path("bind_ll"))
    if done.returncode == 77 or "unshare" in done.stderr:
        case.skip("no network namespace can be made")
    case.same(done.stdout, "rdma_bind_addr: No such device\n", "what it says")
    case.must(done.stderr.count("\n") == 1 and
              done.stderr.startswith("oche: fe80::ff:fe00:1: link-local addresses have no device"),
              f"not the line: {done.stderr}")
    with open(os.path.join(os.environ["SOURCE"], "docs", "verbs.md"), encoding="utf-8") as page:
        case.must("except link-local IPv6 addresses (fe80::/10)" in page.read(), "docs/verbs.md")
