#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the cells of docs/notebooks as they stand there, and compares what they print with what the
notebook shows, to the last digit. Skipped where pandas or matplotlib is missing.

Environment: OCHE, SOURCE.
"""
import contextlib
import glob
import importlib.util
import io
import json
import os
import sys
import tempfile

DEBIANS = "/usr/bin/python3"  # the python3 that has Debian's packages


def run(path):
    """Returns what differs, or None."""
    with open(path, encoding="utf-8") as file:
        cells = [cell for cell in json.load(file)["cells"] if cell["cell_type"] == "code"]
    names = {}
    for number, cell in enumerate(cells, 1):
        shown = "".join("".join(output.get("text", "")) for output in cell["outputs"])
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec("".join(cell["source"]), names)  # pylint: disable=exec-used
        if printed.getvalue() != shown:
            return f"{path}, cell {number}: prints\n{printed.getvalue()}and shows\n{shown}"
    return None if len(cells) > 3 else f"{path}: only {len(cells)} cells"


def main():
    if not all(importlib.util.find_spec(name) for name in ("pandas", "matplotlib")):
        if os.path.realpath(sys.executable) != os.path.realpath(DEBIANS) and \
                os.path.exists(DEBIANS):
            os.execv(DEBIANS, [DEBIANS, *sys.argv])
        print("there is no pandas or no matplotlib; tools/install-deps test installs them")
        return 77
    os.environ["MPLBACKEND"] = "Agg"
    os.environ["OCHE"] = os.path.abspath(os.environ["OCHE"])
    notebooks = glob.glob(os.path.join(os.environ["SOURCE"], "docs", "notebooks", "*.ipynb"))
    failed = not notebooks
    for path in notebooks:
        with tempfile.TemporaryDirectory() as work:
            os.chdir(work)
            differs = run(os.path.abspath(path))
            os.chdir("/")
        if differs is not None:
            print("FAILED:", differs)
            failed = True
    return 1 if failed else 0


sys.exit(main())
