#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every C file is as clang-format leaves it (.clang-format; `make format` does it). The working
# directory is the source root. Status 77: there is no clang-format.
set -eu
command -v clang-format >/dev/null || { echo "clang-format is missing"; exit 77; }
find . \( -path './build*' -o -name node_modules -o -name .git \) -prune -o \
    -name '*.[ch]' -print0 | xargs -0 -P 2 -n 100 clang-format --dry-run -Werror
