#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/tally adds up what passed and what failed, and fails when anything did or nothing ran."""
import json
import os
import subprocess
import sys
import tempfile

OK = {"name": "a", "result": "OK", "stdout": "", "stderr": "[==========] Running 3 test(s).\n"
      "[  PASSED  ] 3 test(s).\n"}
PARTLY = {"name": "b", "result": "FAIL", "stdout": "",
          "stderr": "[  PASSED  ] 4 test(s).\n[  FAILED  ] 2 test(s), listed below:\n"}
SCRIPT = {"name": "c", "result": "OK", "stdout": "fine\n"}
CRASHED = {"name": "d", "result": "FAIL", "stdout": "", "stderr": "Segmentation fault\n"}
LATE = {"name": "e", "result": "TIMEOUT", "stdout": "", "stderr": ""}
SKIPPED = {"name": "f", "result": "SKIP", "stdout": "", "stderr": ""}

CASES = [
    ([[OK, SCRIPT]], [], "4 passed, 0 failed", 0),
    ([[OK], [OK, SCRIPT]], [], "7 passed, 0 failed", 0),
    ([[OK, PARTLY]], [], "7 passed, 2 failed", 1),
    ([[OK, CRASHED]], [], "3 passed, 1 failed", 1),
    ([[OK, LATE]], [], "3 passed, 1 failed", 1),
    ([[OK, SKIPPED]], [], "3 passed, 0 failed", 0),
    ([[OK]], ["--broken", "1"], "3 passed, 1 failed", 1),
    ([[]], [], "0 passed, 0 failed", 1),
]


def main():
    tally = os.path.join(os.environ["SOURCE"], "tools", "tally")
    failures = 0
    for logs, options, want, status in CASES:
        with tempfile.TemporaryDirectory() as folder:
            paths = []
            for i, log in enumerate(logs):
                paths.append(os.path.join(folder, f"{i}.json"))
                with open(paths[-1], "w", encoding="utf-8") as file:
                    file.writelines(json.dumps(test) + "\n" for test in log)
            run = subprocess.run([tally, *options, *paths], capture_output=True, text=True,
                                 check=False)
            last = run.stdout.strip().split("\n")[-1]
            if last != want or run.returncode != status:
                print(f"want '{want}' and {status}, have {run.returncode} and:\n{run.stdout}"
                      f"{run.stderr}")
                failures += 1
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
