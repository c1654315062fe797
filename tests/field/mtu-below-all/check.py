# SPDX-License-Identifier: Apache-2.0
"""perftest between interfaces whose MTU is too small for every path MTU, and just large enough."""
import os


def check(case):
    """With an MTU of 300 a line says that the smallest path MTU needs 320, and none says that 256
    fits. With 320 the client ends with status 0."""
    own = case.networks()
    oche = os.path.abspath(os.environ["OCHE"])
    small = case.run(*own, "bash", "run.sh", oche, "300")
    lines = [line for line in small.stderr.splitlines() if line.startswith("oche: ")]
    case.same(len(lines), 1, f"lines with an MTU of 300: {small.stdout}{small.stderr}")
    for line in lines:
        case.must("which is 300: the smallest path MTU, 256, needs 320" in line, line)
        case.must("fits" not in line, line)
    enough = case.run(*own, "bash", "run.sh", oche, "320")
    case.must("client rc 0\n" in enough.stdout,
              f"with an MTU of 320: {enough.stdout}{enough.stderr}")
