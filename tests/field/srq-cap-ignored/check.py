# SPDX-License-Identifier: Apache-2.0
"""A program that makes queue pairs with a shared receive queue."""
import os


def check(case):
    """Four queue pairs are created: with a shared receive queue max_recv_wr and max_recv_sge are
    ignored (ibv_create_qp(3)), whatever they are."""
    built = case.run(*os.environ.get("CC", "cc").split(), "srq_cap.c", "-o", "srq_cap", "-libverbs")
    if built.returncode != 0:
        case.skip(f"it does not compile: {built.stderr}")
    done = case.oche("exec", "--device", "127.45.0.30", "--", case.path("srq_cap"))
    case.same(done.stdout.count(": created\n"), 4, "queue pairs")
