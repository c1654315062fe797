# SPDX-License-Identifier: Apache-2.0
"""perftest between interfaces of 9000 bytes, over a route of 1500."""
import os
import shutil


def check(case):
    """The client ends with status 0 and a path MTU of 1024."""
    if not all(shutil.which(name) for name in ("unshare", "ip", "ib_write_bw")):
        case.skip("unshare, ip or ib_write_bw is missing")
    if os.environ.get("SANITIZED") == "yes":
        case.skip("Debian's programs do not begin with a sanitizer's library there")
    own = ("unshare", "-Urnm", "sh", "-c", 'mount -t tmpfs none /run && exec "$@"', "sh")
    if case.run(*own, "ip", "netns", "add", "some").returncode != 0:
        case.skip("no network namespaces can be made")
    done = case.run(*own, "bash", "run.sh", os.path.abspath(os.environ["OCHE"]))
    case.must("client rc 0\n" in done.stdout, f"the client: {done.stdout}{done.stderr}")
    case.must("1024[B]" in done.stdout, f"another path MTU: {done.stdout}")
