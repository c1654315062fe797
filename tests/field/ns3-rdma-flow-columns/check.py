# SPDX-License-Identifier: Apache-2.0
"""A flow file of the first RDMA simulator (ns3-rdma): src dst pg packets start stop. HPCC's files
have as many columns, with other meanings."""


def check(case):
    """Flows of as many packets as column 4 says, starting at column 5: short.yaml has 2,000 packets
    of 1,024 bytes at 2.0 s. Those of case.yaml have 10 million packets, more than a message can:
    each is several messages, and a run of 1 ms of them says how many bytes they have. Neither
    may give flows of 2 bytes at 9.5 s."""
    done = case.oche("run", "short.yaml")
    case.same(case.rows("out/short/run.sqlite",
                        "SELECT src, dst, bytes, start_ps, status FROM flows ORDER BY id"),
              [(src, 1, 2000 * 1024, 2 * 10**12, "completed") for src in (2, 3, 4, 5)], "the flows")
    case.must("columns src dst pg packets start stop (ns3-rdma)" in done.stdout,
              f"no remark on the columns: {done.stdout}")
    case.oche("run", "case.yaml", "--set", "duration=2001ms")
    case.same(case.rows("out/case/duration=2001ms/run.sqlite",
                        "SELECT src, dst, bytes, start_ps, status FROM flows ORDER BY id"),
              [(src, 1, 10**7 * 1024, 2 * 10**12, "unfinished") for src in (2, 3, 4, 5)],
              "the flows of 10 GB")
