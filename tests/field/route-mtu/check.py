# SPDX-License-Identifier: Apache-2.0
"""perftest between interfaces of 9000 bytes, over a route of 1500."""
import os


def check(case):
    """The client ends with status 0 and a path MTU of 1024."""
    own = case.networks()
    done = case.run(*own, "bash", "run.sh", os.path.abspath(os.environ["OCHE"]))
    case.must("client rc 0\n" in done.stdout, f"the client: {done.stdout}{done.stderr}")
    case.must("1024[B]" in done.stdout, f"another path MTU: {done.stdout}")
