#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The table of vendor_err in docs/verbs.md has each number of core/qp/cause.h, and no other."""
import os
import re
import sys

SOURCE = os.environ["SOURCE"]


def text_of(path):
    with open(os.path.join(SOURCE, path), encoding="utf-8") as file:
        return file.read()


def main():
    defined = [int(number) for number in
               re.findall(r"^    OCHE_CAUSE_[A-Z_]+ = (\d+),", text_of("core/qp/cause.h"),
                          re.MULTILINE)]
    page = text_of("docs/verbs.md")
    table = page[page.index("| vendor_err |"):]
    rows = re.findall(r"^\| (\d+) \|", table[:table.index("\n\n")], re.MULTILINE)
    if defined != list(range(len(defined))) or [int(number) for number in rows] != defined:
        sys.exit(f"FAILED: {defined} are defined, {rows} are in docs/verbs.md")
    print("ok")


main()
