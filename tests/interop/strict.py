#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`oche exec --strict`: other people's programs are well-behaved. They work as without it, and it
reports nothing.

usage: strict.py OCHE
"""
import os
import sys

import pairs

PAIRS = [("ibv_rc_pingpong", "-g 0 -c -n 300"),
         ("ibv_ud_pingpong", "-g 0 -c -e -n 300"), ("ibv_srq_pingpong", "-g 0 -c -q 4 -n 300"),
         ("ib_write_bw", "-n 300"), ("ib_write_bw", "-n 1000 -b -q 4 -t 100"),
         ("ib_write_bw", "-n 400 -l 8 -s 1000"), ("ib_write_lat", "-n 100"),
         ("ib_send_bw", "-n 300 -r 60"), ("ib_send_bw", "-n 1000 -b -q 4"),
         ("ib_send_bw", "-n 300 -c UD"),
         ("ib_send_bw", "-n 300 --use-srq"), ("ib_read_bw", "-n 300"),
         ("ib_atomic_bw", "-n 300 -b")]
LONG_PAIRS = [("ibv_uc_pingpong", "-g 0 -c -n 300"), ("ib_send_lat", "-n 100 -c UC"),
              ("ib_write_bw", "-n 5 -a"), ("ib_send_bw", "-n 5 -a"), ("ib_read_lat", "-n 300"),
              ("ib_send_lat", "-n 300 -e"), ("ib_atomic_lat", "-n 300")]


def main(arguments):
    oche = os.path.abspath(arguments[0])
    pairs.need("ib_write_bw", "ibv_rc_pingpong")
    options = ["--strict"]
    for command, words in PAIRS + LONG_PAIRS * pairs.LONG:
        outcome = pairs.run(oche, command, words, pairs.Side(pairs.SERVER, options),
                            pairs.Side(pairs.CLIENT, options))
        if outcome.error:
            pairs.fail(command, words, outcome.error)
        for said in (outcome.served, outcome.called):
            if "strict:" in said:
                pairs.fail(command, words, said)
        print(command, words)
    print("ok")


if __name__ == "__main__":
    main(sys.argv[1:])
